/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed_strict.c: strict decoding errors, in the order and with the messages of Kubernetes.
 *
 * Kubernetes reports unknown and duplicate fields as it meets them in the text, each once and at
 * most a hundred. An object no longer contains duplicates, so this code reads the original text,
 * including white space and escapes. The text has been accepted by the parser, so no syntax is
 * checked here. The walk runs only for objects that have something to report.
 *
 * It reports what Kubernetes' decoder reports: nothing inside an unknown field, and nothing inside
 * values with their own unmarshaler (RawExtension, FieldsV1, JSON). For a duplicate unknown field
 * it reports only "unknown", once.
 */
#include "apiserver/codec/typed_internal.h"

#include "kc/map.h"
#include "object/gofmt/go_quote.h"
#include "object/json/json_cursor.h"

typedef struct strict_walk {
    const char *at, *end;
    kc_buf path;
    kc_arena names; /* Names that contained escapes, unescaped. */
    kc_map reported;
    kc_paths *strict_errors;
    size_t n;
} strict_walk;

static void skip_space(strict_walk *w)
{
    while (w->at < w->end && strchr(" \t\r\n", *w->at) && *w->at)
        w->at++;
}

static char here(strict_walk *w)
{
    skip_space(w);
    return w->at < w->end ? *w->at : '\0';
}

/* Reads a string; returns it without quotes, escapes kept. */
static kc_str string(strict_walk *w)
{
    const char *from = ++w->at;
    while (w->at < w->end && *w->at != '"')
        w->at += *w->at == '\\' ? 2 : 1;
    w->at = KC_MIN(w->at, w->end);
    kc_str raw = kc_str_of(from, (size_t)(w->at - from));
    w->at += w->at < w->end;
    return raw;
}

static void skip_value(strict_walk *w)
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

/* Appends a name or an index to the path; the caller truncates the path afterwards. */
static void enter_name(strict_walk *w, kc_str name)
{
    if (w->path.n)
        kc_buf_putc(&w->path, '.');
    kc_buf_append(&w->path, name);
}

static void report_strict_error(strict_walk *w, const char *what, kc_str name)
{
    kc_scoped(kc_buf) sentence = {0};
    size_t before = w->path.n;
    if (w->n >= KC__TYPED_MAX_STRICT_ERRORS)
        return;
    enter_name(w, name);
    kc_buf_printf(&sentence, "%s field ", what);
    kc__go_quote(&sentence, kc_buf_str(&w->path));
    w->path.n = before;
    if (kc_map_get(&w->reported, kc_buf_str(&sentence)))
        return;
    char *text = kc_buf_take(&sentence);
    kc_vec_push(w->strict_errors, text);
    kc_map_put(&w->reported, kc_cstr(text), text);
    w->n++;
}

static void walk_field(strict_walk *w, const kc__type_field *field);

/* Reads the name of a member and its colon; false at the end of the object. */
static bool next_member(strict_walk *w, kc_str *ret_name)
{
    if (here(w) == ',' || here(w) == '{')
        w->at++;
    if (here(w) != '"') {
        w->at += w->at < w->end;
        return false;
    }
    *ret_name = kc__json_unescape(&w->names, string(w));
    if (here(w) == ':')
        w->at++;
    return true;
}

static void walk_struct(strict_walk *w, const kc__type_message *message)
{
    kc_scoped(kc_map) seen = {0};
    kc_str name;
    size_t before = w->path.n;
    while (next_member(w, &name)) {
        uint32_t place;
        const kc__type_field *field = kc__typed_find(message, name, 0, &place);
        if (!field) {
            report_strict_error(w, "unknown", name);
            skip_value(w);
            continue;
        }
        if (kc_map_put(&seen, field->name, (void *)field))
            report_strict_error(w, "duplicate", field->name);
        enter_name(w, field->name);
        walk_field(w, field);
        w->path.n = before;
    }
}

/* Walks one value of the field's kind, ignoring its shape. */
static void walk_one(strict_walk *w, const kc__type_field *field)
{
    if (field->kind == KC__FIELD_MESSAGE && field->message && here(w) == '{')
        walk_struct(w, field->message);
    else
        skip_value(w);
}

static void walk_map(strict_walk *w, const kc__type_field *field)
{
    kc_scoped(kc_map) seen = {0};
    kc_str name;
    size_t before = w->path.n;
    while (next_member(w, &name)) {
        if (kc_map_put(&seen, name, w))
            report_strict_error(w, "duplicate", name);
        enter_name(w, name);
        walk_one(w, field);
        w->path.n = before;
    }
}

static void walk_array(strict_walk *w, const kc__type_field *field)
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

static void walk_field(strict_walk *w, const kc__type_field *field)
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

void kc__typed_strict_errors(const kc__type_message *type, kc_str json, kc_paths *ret)
{
    strict_walk w = {.at = json.p, .end = json.p + json.n, .strict_errors = ret};
    if (here(&w) == '{')
        walk_struct(&w, type);
    kc_buf_done(&w.path);
    kc_arena_done(&w.names);
    kc_map_done(&w.reported);
}
