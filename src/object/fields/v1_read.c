/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v1_read.c: parses FieldsV1, the JSON of a set of fields:
 *
 *     {"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:replicas":{}}}
 *
 * One pass over the text, without a tree: each object is a level of a set builder. A member "."
 * makes the path of its object a member; an empty object (or null) is a member without paths below
 * it. Members of unknown kinds are skipped with their content.
 *
 * The parser checks the structure that it reads. It does not check skipped values beyond finding
 * their end, nor the encoding of names: FieldsV1 comes from an object that was parsed before.
 */
#include "object/fields/v1_internal.h"

#include "object/json/json_cursor.h"
#include "object/json/json_quote.h"

#include "kc/ascii.h"

int kc__fields_reader_failed(kc__fields_reader *r, const char *why)
{
    return kc_error_set(r->err, KC_BAD_REQUEST, "ReadMapCB: %s", why);
}

void kc__fields_reader_skip_space(kc__fields_reader *r)
{
    const char *from = r->at;
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
    r->exact &= r->at == from;
}

static bool has_valid_escapes(kc_str raw)
{
    for (size_t i = 0; i < raw.n; i++) {
        if (raw.p[i] != '\\')
            continue;
        if (++i == raw.n || !memchr("\"\\/bfnrtu", raw.p[i], 9))
            return false;
        for (size_t digit = 1; raw.p[i] == 'u' && digit <= 4; digit++)
            if (i + digit >= raw.n || !kc_is_hex(raw.p[i + digit]))
                return false;
    }
    return true;
}

/* Names of keys have quotes, and rarely other escapes. */
static kc_str unescape_name(kc_arena *arena, kc_str raw)
{
    char *copy = kc_arena_alloc(arena, raw.n);
    size_t n = 0;
    for (size_t i = 0; i < raw.n; i++) {
        if (raw.p[i] == '\\') {
            if (i + 1 == raw.n || (raw.p[i + 1] != '"' && raw.p[i + 1] != '\\'))
                return kc__json_unescape(arena, raw);
            i++;
        }
        copy[n++] = raw.p[i];
    }
    return kc_str_of(copy, n);
}

int kc__fields_reader_string(kc__fields_reader *r, kc_str *ret)
{
    const char *from = r->at, *p = kc__json_find_quote(from, r->end);
    bool escaped = false;
    while (p < r->end && *p == '\\') {
        escaped = true;
        p = r->end - p < 2 ? r->end : kc__json_find_quote(p + 2, r->end);
    }
    if (p >= r->end)
        return kc__fields_reader_failed(r, "string is not ended");
    *ret = kc_str_of(from, (size_t)(p - from));
    if (escaped && !has_valid_escapes(*ret))
        return kc__fields_reader_failed(r, "invalid escape");
    if (escaped)
        *ret = unescape_name(r->builder.arena, *ret);
    r->at = p + 1;
    return 0;
}

int kc__fields_reader_skip(kc__fields_reader *r)
{
    size_t depth = 0;
    kc_str unused;
    kc__fields_reader_skip_space(r);
    const char *from = r->at;
    while (r->at < r->end) {
        char c = *r->at;
        if (!depth && r->at > from && (c == ',' || c == '}' || c == ']'))
            return 0;
        if (!depth && (c == '}' || c == ']' || c == ','))
            break;
        r->at++;
        if (c == '"' && kc__fields_reader_string(r, &unused) < 0)
            return -1;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        if (!depth && (c == '"' || c == '}' || c == ']'))
            return 0;
    }
    return kc__fields_reader_failed(r, "expect a value");
}

static int read_level(kc__fields_reader *r, const kc__fields_set **ret_set, bool *ret_member);

/* Skips the value of "." (`self`), which is {} in canonical text, or of an unknown member. */
static int skip_member(kc__fields_reader *r, bool self)
{
    const char *from = r->at;
    int result = kc__fields_reader_skip(r);
    r->exact &= self && r->at - from == 2 && from[0] == '{' && from[1] == '}';
    return result;
}

static int read_member(kc__fields_reader *r, bool *ret_self)
{
    kc_str name;
    if (!kc__fields_reader_next_is(r, '"'))
        return kc__fields_reader_failed(r, "expect \" before a field");
    if (kc__fields_reader_string(r, &name) < 0)
        return -1;
    if (!kc__fields_reader_next_is(r, ':'))
        return kc__fields_reader_failed(r, "expect : after object field");
    kc__fields_element element;
    bool canonical = false, self = name.n == 1 && name.p[0] == '.';
    kc__fields_read read =
        self ? KC__FIELDS_READ_UNKNOWN
             : kc__fields_element_read(r->builder.arena, name, &element, &canonical, r->err);
    if (read == KC__FIELDS_READ_FAILED)
        return -1;
    r->exact &= !self || !*ret_self;
    *ret_self |= self;
    if (read == KC__FIELDS_READ_UNKNOWN)
        return skip_member(r, self);
    r->exact &= canonical;
    const kc__fields_set *child = NULL;
    bool member = false;
    if (read_level(r, &child, &member) < 0)
        return -1;
    kc__fields_builder_add(&r->builder, element, member, child);
    return 0;
}

static bool next_is_null(kc__fields_reader *r)
{
    kc__fields_reader_skip_space(r);
    if (r->end - r->at < 4 || memcmp(r->at, "null", 4) != 0)
        return false;
    r->at += 4;
    return true;
}

/* An object: its set (NULL when it has no paths), and whether its own path is a member. */
static int read_level(kc__fields_reader *r, const kc__fields_set **ret_set, bool *ret_member)
{
    if (!kc__fields_reader_next_is(r, '{')) {
        if (!next_is_null(r))
            return kc__fields_reader_failed(r, "expect { or n");
        r->exact = false;
        *ret_member = true;
        return 0;
    }
    size_t level = kc__fields_builder_open(&r->builder);
    const char *from = r->at;
    bool self = false;
    if (++r->depth > KC_JSON_MAX_DEPTH)
        return kc__fields_reader_failed(r, "exceeded max depth");
    if (!kc__fields_reader_next_is(r, '}')) {
        do {
            if (read_member(r, &self) < 0)
                return -1;
        } while (kc__fields_reader_next_is(r, ','));
        if (!kc__fields_reader_next_is(r, '}'))
            return kc__fields_reader_failed(r, "object not ended with }");
    }
    r->depth--;
    *ret_set = kc__fields_builder_close(&r->builder, level);
    *ret_member = self || !*ret_set;
    /* "." is the first of several members, or absent. */
    if (self)
        r->exact &= r->end - from > 3 && memcmp(from, "\".\"", 3) == 0 && *ret_set;
    return 0;
}

int kc__fields_reader_set(kc__fields_reader *r, const kc__fields_set **ret_set, kc_str *ret_text,
                          bool *ret_canonical)
{
    const kc__fields_set *set = NULL;
    const char *from = r->at;
    bool member = false;
    r->exact = true;
    r->builder.unsorted = false;
    if (read_level(r, &set, &member) < 0)
        return -1;
    *ret_set = set;
    *ret_text = kc_str_of(from, (size_t)(r->at - from));
    *ret_canonical = r->exact && !r->builder.unsorted && !(member && set);
    return 0;
}

int kc__fields_v1_read(kc_arena *arena, kc_str json, const kc__fields_set **ret_set,
                       bool *ret_canonical, kc_error *err)
{
    json.p = json.p ? json.p : "";
    kc__fields_reader reader = {
        .at = json.p, .end = json.p + json.n, .builder = {.arena = arena}, .err = err};
    const kc__fields_set *set = NULL;
    bool canonical = false;
    kc_str text;
    int result = kc__fields_reader_set(&reader, &set, &text, &canonical);
    kc__fields_reader_skip_space(&reader);
    if (result == 0 && reader.at != reader.end)
        result = kc__fields_reader_failed(&reader, "there are bytes left");
    kc__fields_builder_done(&reader.builder);
    if (result < 0)
        return kc_error_result(err);
    *ret_set = set;
    if (ret_canonical)
        *ret_canonical = canonical && text.n == json.n;
    return 0;
}
