/* SPDX-License-Identifier: Apache-2.0 */
/*
 * element_read.c: parses the names of FieldsV1: f:spec, k:{"name":"web"}, v:"a", i:3.
 *
 * Values are JSON within a name. Nearly all are strings without escapes, or small numbers, in keys
 * of one or two members: a short path handles these. yyjson parses all others into the arena.
 * Upstream reads numbers as floating point and ignores what follows a value; so does this parser.
 */
#include "object/fields/fields_internal.h"

/* ---- yyjson's allocator on an arena; blocks are never freed ---- */

static void *arena_take(void *ctx, size_t size)
{
    return kc_arena_alloc(ctx, size);
}

static void *arena_resize(void *ctx, void *block, size_t old_size, size_t size)
{
    void *copy = kc_arena_alloc(ctx, size);
    if (copy && block)
        memcpy(copy, block, KC_MIN(old_size, size));
    return copy;
}

static void arena_return(void *ctx, void *block)
{
    (void)ctx;
    (void)block;
}

/* Makes all numbers floating point. */
static void numbers_to_real(yyjson_val *cells, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (yyjson_is_num(&cells[i]) && !yyjson_is_real(&cells[i])) {
            double real =
                yyjson_is_uint(&cells[i]) ? (double)cells[i].uni.u64 : (double)cells[i].uni.i64;
            yyjson_set_real(&cells[i], real);
        }
}

static bool too_deep(kc_str json)
{
    size_t depth = 0;
    for (size_t i = 0; i < json.n; i++)
        depth += json.p[i] == '[' || json.p[i] == '{';
    return depth > KC_JSON_MAX_DEPTH;
}

/* The first value of a text, or NULL. */
static const kc_value *read_any(kc_arena *arena, kc_str json)
{
    yyjson_alc alc = {arena_take, arena_resize, arena_return, arena};
    if (too_deep(json))
        return NULL;
    yyjson_doc *doc =
        yyjson_read_opts((char *)json.p, json.n, YYJSON_READ_STOP_WHEN_DONE, &alc, NULL);
    if (!doc)
        return NULL;
    numbers_to_real(yyjson_doc_get_root(doc), yyjson_doc_get_val_count(doc));
    return yyjson_doc_get_root(doc);
}

/* ---- the short path: a scalar at *at, which advances; all of it is canonical ---- */

static bool is_plain(unsigned char c)
{
    return c >= ' ' && c < 0x80 && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

static bool read_plain_string(kc_str json, size_t *at, yyjson_val *ret)
{
    size_t from = *at + 1, to = from;
    while (to < json.n && is_plain((unsigned char)json.p[to]))
        to++;
    if (to == json.n || json.p[to] != '"')
        return false;
    ret->tag = (uint64_t)(to - from) << YYJSON_TAG_BIT | YYJSON_TYPE_STR;
    ret->uni.str = json.p + from;
    *at = to + 1;
    return true;
}

static bool read_plain_number(kc_str json, size_t *at, yyjson_val *ret)
{
    size_t from = *at, to = from;
    uint64_t number = 0;
    for (; to < json.n && json.p[to] >= '0' && json.p[to] <= '9' && to - from < 9; to++)
        number = number * 10 + (uint64_t)(json.p[to] - '0');
    bool leading_zero = to - from > 1 && json.p[from] == '0';
    if (to == from || leading_zero || (to < json.n && json.p[to] != ',' && json.p[to] != '}'))
        return false;
    yyjson_set_real(ret, (double)number);
    *at = to;
    return true;
}

static bool read_plain(kc_str json, size_t *at, yyjson_val *ret)
{
    *ret = (yyjson_val){0};
    if (*at >= json.n)
        return false;
    return json.p[*at] == '"' ? read_plain_string(json, at, ret) : read_plain_number(json, at, ret);
}

enum { PLAIN_PARTS = 4 };

/* A key, with its values behind its parts in memory. */
typedef struct plain_key {
    kc__fields_key_part parts[PLAIN_PARTS];
    yyjson_val values[PLAIN_PARTS];
} plain_key;

/* The parts of {"name":"web","port":80}, sorted; 0 when the text is not that simple. */
static uint32_t read_plain_key(kc_str json, plain_key *key)
{
    size_t at = 0;
    uint32_t n = 0;
    if (!json.n || json.p[at++] != '{')
        return 0;
    for (;; at++) {
        yyjson_val name;
        if (n == PLAIN_PARTS || at >= json.n || json.p[at] != '"' ||
            !read_plain_string(json, &at, &name) || at >= json.n || json.p[at] != ':')
            return 0;
        at++;
        if (!read_plain(json, &at, &key->values[n]) || at >= json.n ||
            (n && kc_str_cmp(key->parts[n - 1].name, kc__fields_text(&name)) >= 0))
            return 0;
        key->parts[n++].name = kc__fields_text(&name);
        if (json.p[at] == '}')
            return at + 1 == json.n ? n : 0;
        if (json.p[at] != ',')
            return 0;
    }
}

/* ---- elements ---- */

static kc__fields_read read_failed(kc_error *err, const char *why, kc_str text)
{
    kc_error_set(err, KC_BAD_REQUEST, "parsing key as path element: %s%.*s", why, KC_ARG(text));
    return KC__FIELDS_READ_FAILED;
}

/* Copies a plain key to the arena. */
static kc__fields_element keep_plain_key(kc_arena *arena, const plain_key *key, uint32_t n)
{
    kc__fields_key_part *parts = kc_arena_alloc(arena, n * (sizeof(*parts) + sizeof(*key->values)));
    yyjson_val *values = (yyjson_val *)(parts + n);
    for (uint32_t i = 0; i < n; i++) {
        values[i] = key->values[i];
        parts[i] = (kc__fields_key_part){key->parts[i].name, &values[i]};
    }
    return (kc__fields_element){.parts = parts, .n = n, .kind = KC__FIELDS_KEY};
}

static kc__fields_read read_key(kc_arena *arena, kc_str json, kc__fields_element *ret,
                                bool *ret_plain, kc_error *err)
{
    plain_key plain;
    uint32_t n = read_plain_key(json, &plain);
    *ret_plain = n > 0;
    if (n) {
        *ret = keep_plain_key(arena, &plain, n);
        return KC__FIELDS_READ_OK;
    }
    const kc_value *object = read_any(arena, json);
    if (!kc__fields_is_object(object))
        return read_failed(err, "invalid key: ", json);
    n = 0;
    kc__fields_key_part *parts = kc_arena_calloc(arena, kc__fields_len(object) + 1, sizeof(*parts));
    kc__fields_each_member(object, key) parts[n++] =
        (kc__fields_key_part){kc__fields_text(key), key + 1};
    *ret = kc__fields_key(parts, n);
    return KC__FIELDS_READ_OK;
}

static kc__fields_read read_value(kc_arena *arena, kc_str json, kc__fields_element *ret,
                                  bool *ret_plain, kc_error *err)
{
    size_t at = 0;
    yyjson_val plain;
    const kc_value *value;
    *ret_plain = read_plain(json, &at, &plain) && at == json.n;
    if (*ret_plain) {
        yyjson_val *copy = kc_arena_alloc(arena, sizeof(*copy));
        *copy = plain;
        value = copy;
    } else {
        value = read_any(arena, json);
    }
    if (!value)
        return read_failed(err, "invalid value: ", json);
    *ret = kc__fields_value_element(value);
    return KC__FIELDS_READ_OK;
}

static kc__fields_read read_index(kc_str text, kc__fields_element *ret, kc_error *err)
{
    int64_t index;
    kc_str digits = kc_str_starts(text, KC_STR("+")) ? kc_str_sub(text, 1, text.n) : text;
    if (!kc_str_to_i64(digits, &index))
        return read_failed(err, "invalid index: ", text);
    *ret = kc__fields_index(index);
    return KC__FIELDS_READ_OK;
}

static kc__fields_read read_element(kc_arena *arena, kc_str text, kc__fields_element *ret,
                                    bool *ret_plain, kc_error *err)
{
    if (text.n < 2)
        return read_failed(err, "key must be 2 characters long:", (kc_str){0});
    if (text.p[1] != ':')
        return read_failed(err, "missing colon: ", text);
    kc_str rest = kc_str_of(text.p + 2, text.n - 2);
    switch (text.p[0]) {
    case 'f':
        *ret = kc__fields_name(rest);
        *ret_plain = true;
        return KC__FIELDS_READ_OK;
    case 'k': return read_key(arena, rest, ret, ret_plain, err);
    case 'v': return read_value(arena, rest, ret, ret_plain, err);
    case 'i': return read_index(rest, ret, err);
    default: return KC__FIELDS_READ_UNKNOWN;
    }
}

static bool is_written_so(const kc__fields_element *element, kc_str text)
{
    kc_scoped(kc_buf) written = {0};
    kc__fields_element_write(&written, element);
    return kc_str_eq(kc_buf_str(&written), text);
}

kc__fields_read kc__fields_element_read(kc_arena *arena, kc_str text, kc__fields_element *ret,
                                        bool *ret_canonical, kc_error *err)
{
    bool plain = false;
    kc__fields_read read = read_element(arena, text, ret, &plain, err);
    if (read == KC__FIELDS_READ_OK)
        *ret_canonical = plain || is_written_so(ret, text);
    return read;
}
