/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed_strict.c: what strict decoding complains about, in its order and words.
 *
 * Kubernetes names unknown fields and duplicates as it meets them in the text, each once and a
 * hundred at most. Duplicates are gone once text has become an object, so this reads the text as it
 * came, white space and escapes included; but it has been accepted before, so nothing is checked
 * here. It runs only for objects that have something to complain about.
 *
 * What counts as Kubernetes' decoder counts: inside an unknown field nothing is said, nor inside
 * values that read themselves (RawExtension, FieldsV1, JSON). Of an unknown field that stands twice
 * only "unknown" is said, once.
 */
#include "apiserver/kinds/typed_internal.h"

#include "kc/map.h"
#include "object/go_quote.h"
#include "object/json_cursor.h"

typedef struct walk {
    const char *at, *end;
    kc_buf path;
    kc_arena names; /* Those with escapes, unescaped. */
    kc_map said;
    kc_paths *complaints;
    size_t n;
} walk;

static void skip_space(walk *w)
{
    while (w->at < w->end && strchr(" \t\r\n", *w->at) && *w->at)
        w->at++;
}

static char here(walk *w)
{
    skip_space(w);
    return w->at < w->end ? *w->at : '\0';
}

/* Raw, without quotes. */
static kc_str string(walk *w)
{
    const char *from = ++w->at;
    while (w->at < w->end && *w->at != '"')
        w->at += *w->at == '\\' ? 2 : 1;
    w->at = KC_MIN(w->at, w->end);
    kc_str raw = kc_str_of(from, (size_t)(w->at - from));
    w->at += w->at < w->end;
    return raw;
}

static void skip_value(walk *w)
{
    size_t depth = 0;
    do {
        char c = here(w);
        if (!c)
            return;
        if (c == '"') {
            string(w);
            continue;
        }
        depth += c == '{' || c == '[';
        if (depth && (c == '}' || c == ']'))
            depth--;
        w->at++;
        if (!depth && !strchr("}]", c))
            while (w->at < w->end && !strchr(",]} \t\r\n", *w->at))
                w->at++;
    } while (depth);
}

/* Adds a part to the path, a name or an index; the caller cuts it off again. */
static void enter_name(walk *w, kc_str name)
{
    if (w->path.n)
        kc_buf_putc(&w->path, '.');
    kc_buf_append(&w->path, name);
}

static void complain(walk *w, const char *what, kc_str name)
{
    kc_scoped(kc_buf) sentence = {0};
    size_t before = w->path.n;
    if (w->n >= KC__TYPED_MAX_COMPLAINTS)
        return;
    enter_name(w, name);
    kc_buf_printf(&sentence, "%s field ", what);
    kc__go_quote(&sentence, kc_buf_str(&w->path));
    w->path.n = before;
    if (kc_map_get(&w->said, kc_buf_str(&sentence)))
        return;
    char *text = kc_buf_take(&sentence);
    kc_vec_push(w->complaints, text);
    kc_map_put(&w->said, kc_cstr(text), text);
    w->n++;
}

static void walk_field(walk *w, const kc__field *field);

/* The name of a member and its colon; false at the end of the object. */
static bool next_member(walk *w, kc_str *ret_name)
{
    if (here(w) == ',' || here(w) == '{')
        w->at++;
    if (here(w) != '"') {
        w->at += w->at < w->end;
        return false;
    }
    *ret_name = kc__unescape(&w->names, string(w));
    if (here(w) == ':')
        w->at++;
    return true;
}

static void walk_struct(walk *w, const kc__message *message)
{
    kc_scoped(kc_map) seen = {0};
    kc_str name;
    size_t before = w->path.n;
    while (next_member(w, &name)) {
        uint32_t place;
        const kc__field *field = kc__typed_find(message, name, 0, &place);
        if (!field) {
            complain(w, "unknown", name);
            skip_value(w);
            continue;
        }
        if (kc_map_put(&seen, field->name, (void *)field))
            complain(w, "duplicate", field->name);
        enter_name(w, field->name);
        walk_field(w, field);
        w->path.n = before;
    }
}

/* One value of what the field is, whatever its shape. */
static void walk_one(walk *w, const kc__field *field)
{
    if (field->kind == KC__FIELD_MESSAGE && field->message && here(w) == '{')
        walk_struct(w, field->message);
    else
        skip_value(w);
}

static void walk_map(walk *w, const kc__field *field)
{
    kc_scoped(kc_map) seen = {0};
    kc_str name;
    size_t before = w->path.n;
    while (next_member(w, &name)) {
        if (kc_map_put(&seen, name, w))
            complain(w, "duplicate", name);
        enter_name(w, name);
        walk_one(w, field);
        w->path.n = before;
    }
}

static void walk_array(walk *w, const kc__field *field)
{
    size_t before = w->path.n;
    w->at++;
    for (size_t i = 0; here(w) && here(w) != ']'; i++) {
        kc_buf_printf(&w->path, "[%zu]", i);
        walk_one(w, field);
        w->path.n = before;
        if (here(w) == ',')
            w->at++;
    }
    w->at += w->at < w->end;
}

static void walk_field(walk *w, const kc__field *field)
{
    if (field->shape == KC__REPEATED && here(w) == '[')
        walk_array(w, field);
    else if (field->shape == KC__MAPPED && here(w) == '{')
        walk_map(w, field);
    else if (field->shape == KC__SINGLE)
        walk_one(w, field);
    else
        skip_value(w);
}

void kc__typed_complaints(const kc__message *type, kc_str json, kc_paths *ret)
{
    walk w = {.at = json.p, .end = json.p + json.n, .complaints = ret};
    if (here(&w) == '{')
        walk_struct(&w, type);
    kc_buf_done(&w.path);
    kc_arena_done(&w.names);
    kc_map_done(&w.said);
}
