/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amend_words.c: the words of a line of amendments behind the name of a message or field.
 *
 *     required, optional           whether OpenAPI requires it; neither: optional
 *     pointer, omitempty, omitzero what Go leaves out of JSON
 *     unionDiscriminator           the field that says which of the others is set
 *     anyvalue                     of a message: its JSON is any value, not only an object
 *     disabled                     a feature gate that is off by default drops it; the package
 *                                  does not say so
 *     listType=, mapType=, structType=, listMapKey=, patchStrategy=, patchMergeKey=, default=
 *                                  as the markers and tags of Kubernetes; default is JSON
 *     go=TYPE                      its type in Go, where it does not follow: v1.Signal. One that
 *                                  names an enumeration of the package has its values
 *     first, after=NAME            its place in the Go struct; without one it is the last
 *
 * To add a word: a line of `flags` if it is a mark, else a line in read_value.
 */
#include "amend_internal.h"
#include "lexer.h"

kc_str amend_word(kc_str *rest)
{
    kc_str line = kc_str_trim(*rest);
    kc_str word = kc_str_cut(&line, ' ');
    *rest = line;
    return word;
}

/* ---- types ---- */

static void read_number(const amending *a, field *f, kc_str word)
{
    uint64_t number;
    if (!kc_str_to_u64(word, &number) || number == 0 || number > UINT16_MAX)
        fail_at(a->path, a->line, "'%.*s' is no field number from 1 to 65535", KC_ARG(word));
    f->number = (uint16_t)number;
}

void amend_read_type(amending *a, field *f, kc_str *words)
{
    read_number(a, f, amend_word(words));
    kc_str type = amend_word(words);
    f->shape = kc_str_is(type, "repeated") ? KC__REPEATED
               : kc_str_is(type, "map")    ? KC__MAPPED
                                           : KC__SINGLE;
    if (f->shape != KC__SINGLE)
        type = amend_word(words);
    f->type = type;
    if (scalar_kind(type, &f->kind))
        return;
    message *msg = amend_message(a, type);
    f->kind = msg->kind;
    f->message = msg->special ? NULL : msg;
}

/* Scalars have the names of Go, but for bytes; messages their package's last name. */
static const char *go_type_of(amending *a, const field *f)
{
    const char *const shapes[] = {
        [KC__SINGLE] = "", [KC__REPEATED] = "[]", [KC__MAPPED] = "map[string]"};
    kc_str inner = f->type;
    kc__type_field_kind kind;
    if (!scalar_kind(f->type, &kind))
        inner = kc_cstr(amend_message(a, f->type)->go_name);
    else if (kind == KC__FIELD_BYTES)
        inner = KC_STR("[]uint8");
    return kc_arena_printf(&a->m->arena, "%s%.*s", shapes[f->shape], KC_ARG(inner));
}

void amend_finish_field(amending *a, field *f)
{
    if (!f->go_type)
        f->go_type = go_type_of(a, f);
    kc_str name = kc_cstr(f->go_type);
    name = kc_str_sub(name, (size_t)(kc_str_rfind(name, '.') + 1), name.n);
    if (f->kind == KC__FIELD_STRING && name.n < strlen(f->go_type))
        f->enumeration = enum_find(
            a->m, kc_arena_strndup(&a->m->arena, a->package->name.p, a->package->name.n), name);
}

/* ---- words ---- */

static bool read_flag(field *f, kc_str word)
{
    static const struct {
        const char *word;
        unsigned mark;
    } flags[] = {
        {"required", KC__REQUIRED},
        {"pointer", KC__POINTER},
        {"omitempty", KC__OMIT_EMPTY},
        {"omitzero", KC__OMIT_ZERO},
        {"unionDiscriminator", KC__DISCRIMINATOR},
        {"disabled", KC__DISABLED},
        {"anyvalue", KC__ANY_VALUE},
    };
    for (size_t i = 0; i < KC_COUNT(flags); i++) {
        if (kc_str_is(word, flags[i].word)) {
            f->marks |= flags[i].mark;
            return true;
        }
    }
    if (kc_str_is(word, "optional"))
        f->marks &= ~(unsigned)KC__REQUIRED;
    return kc_str_is(word, "optional");
}

static char *kept(amending *a, kc_str text)
{
    return kc_arena_strndup(&a->m->arena, text.p, text.n);
}

/* NAME=VALUE */
static bool read_value(amending *a, field *f, kc_str name, kc_str value)
{
    unsigned marks =
        kc_str_is(name, "patchStrategy") ? patch_marks_named(value) : mark_named(name, value);
    f->marks |= marks;
    if (kc_str_is(name, "go"))
        f->go_type = kept(a, value);
    else if (kc_str_is(name, "default"))
        f->fallback = kept(a, value);
    else if (kc_str_is(name, "patchMergeKey"))
        f->merge_key = kept(a, value);
    else if (kc_str_is(name, "listMapKey"))
        f->list_keys = f->list_keys
                           ? kc_arena_printf(&a->m->arena, "%s %.*s", f->list_keys, KC_ARG(value))
                           : kept(a, value);
    else
        return marks != 0;
    return true;
}

kc_str amend_read_words(amending *a, field *f, kc_str words)
{
    kc_str after = {0};
    for (kc_str word; (word = amend_word(&words)).n;) {
        kc_str value = word, name = kc_str_cut(&value, '=');
        if (kc_str_is(word, "first"))
            after = KC_STR("");
        else if (kc_str_is(name, "after") && value.n)
            after = value;
        else if (!read_flag(f, word) && (!value.p || !read_value(a, f, name, value)))
            fail_at(a->path, a->line, "'%.*s' is not known: see amend_words.c", KC_ARG(word));
    }
    return after;
}
