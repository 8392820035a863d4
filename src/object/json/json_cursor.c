/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_cursor.c: iterates over canonical JSON text.
 *
 * To skip a value of valid text, the cursor only needs the ends of strings and the nesting depth: a
 * string ends at the first quote without a backslash before it, a container at its closing bracket,
 * any other value before the next ',', '}' or ']'. Strings are searched 16 bytes at a time if 16
 * remain; nothing recurses, and nothing is read at or beyond `end`, whatever the text contains.
 *
 * Escapes are rare in these values, so every function first takes a path without them.
 */
#include "object/json/json_cursor.h"

#include "kc/ascii.h"
#include "object/json/json_quote.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

kc__json_cursor kc__json_cursor_of(kc_str json)
{
    if (json.n < 2)
        return (kc__json_cursor){0};
    return (kc__json_cursor){json.p + 1, json.p + json.n - 1};
}

/* From after an opening quote to the closing one; `end` when it is missing. */
static inline const char *closing_quote(const char *p, const char *end, bool *escaped)
{
    for (;;) {
        p = kc__json_find_quote(p, end);
        if (p == end || *p == '"')
            return p;
        *escaped = true;
        p += end - p >= 2 ? 2 : 1;
    }
}

static inline const char *after_string(const char *p, const char *end)
{
    bool escaped;
    p = closing_quote(p + 1, end, &escaped);
    return p < end ? p + 1 : end;
}

static const char *after_container(const char *p, const char *end)
{
    size_t depth = 0;
    while (p < end) {
        char c = *p;
        if (c == '"') {
            p = after_string(p, end);
            continue;
        }
        p++;
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && --depth == 0)
            return p;
    }
    return end;
}

static inline const char *after_value(const char *p, const char *end)
{
    if (p < end && *p == '"')
        return after_string(p, end);
    if (p < end && (*p == '{' || *p == '['))
        return after_container(p, end);
    while (p < end && *p != ',' && *p != '}' && *p != ']')
        p++;
    return p;
}

static inline bool json_cursor_step(kc__json_cursor *c, kc_str *ret_value_raw)
{
    const char *value = c->at, *after = after_value(value, c->end);
    if (after == value)
        return false;
    *ret_value_raw = kc_str_of(value, (size_t)(after - value));
    c->at = after < c->end ? after + 1 : after;
    return true;
}

bool kc__json_cursor_item(kc__json_cursor *c, kc_str *ret_value_raw)
{
    return json_cursor_step(c, ret_value_raw);
}

/* Sets *escaped when the key has escapes. */
static inline bool json_cursor_next_member(kc__json_cursor *c, kc_str *ret_key_raw,
                                           kc_str *ret_value_raw, bool *escaped)
{
    if (c->at >= c->end || *c->at != '"')
        return false;
    const char *key = c->at + 1, *quote = closing_quote(key, c->end, escaped);
    if (c->end - quote < 3)
        return false;
    kc__json_cursor value = {quote + 2, c->end};
    if (!json_cursor_step(&value, ret_value_raw))
        return false;
    *ret_key_raw = kc_str_of(key, (size_t)(quote - key));
    c->at = value.at;
    return true;
}

bool kc__json_cursor_member(kc__json_cursor *c, kc_str *ret_key_raw, kc_str *ret_value_raw)
{
    bool escaped;
    return json_cursor_next_member(c, ret_key_raw, ret_value_raw, &escaped);
}

static bool has_escape(kc_str raw)
{
    return raw.n && memchr(raw.p, '\\', raw.n);
}

static unsigned hex4(const char *p)
{
    return kc_hex_value(p[0]) << 12 | kc_hex_value(p[1]) << 8 | kc_hex_value(p[2]) << 4 |
           kc_hex_value(p[3]);
}

static size_t put_utf8(unsigned code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)((0xF00 >> n & 0xF0) | code);
    return n;
}

/* Decodes \uXXXX, including surrogate pairs. Advances *at. */
static size_t unescape_unicode(kc_str raw, size_t *at, char out[4])
{
    const char *p = raw.p + *at;
    size_t left = raw.n - *at;
    if (left < 6) {
        *at = raw.n;
        return 0;
    }
    unsigned code = hex4(p + 2);
    *at += 6;
    if (code >= 0xD800 && code < 0xDC00 && left >= 12 && p[6] == '\\' && p[7] == 'u') {
        code = 0x10000 + ((code - 0xD800) << 10 | (hex4(p + 8) & 0x3FF));
        *at += 6;
    }
    return put_utf8(code, out);
}

/* Decodes the next character of raw text into bytes; returns their number. Advances *at. */
static size_t next_bytes(kc_str raw, size_t *at, char out[4])
{
    static const char shorts[] = {
        ['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t'};
    char c = raw.p[*at];
    if (c != '\\' || raw.n - *at < 2) {
        ++*at;
        out[0] = c;
        return 1;
    }
    c = raw.p[*at + 1];
    if (c == 'u')
        return unescape_unicode(raw, at, out);
    *at += 2;
    out[0] = (unsigned char)c < sizeof(shorts) && shorts[(unsigned char)c]
                 ? shorts[(unsigned char)c]
                 : c;
    return 1;
}

static bool escaped_text_is(kc_str raw, kc_str text)
{
    size_t i = 0, matched = 0;
    while (i < raw.n) {
        char bytes[4];
        size_t n = next_bytes(raw, &i, bytes);
        if (n > text.n - matched || (n && memcmp(text.p + matched, bytes, n) != 0))
            return false;
        matched += n;
    }
    return matched == text.n;
}

bool kc__json_raw_text_is(kc_str raw, kc_str text)
{
    if (raw.n == text.n)
        return kc_str_eq(raw, text) ? !has_escape(raw) : false;
    /* An escape takes more bytes than the character it represents. */
    return raw.n > text.n && has_escape(raw) && escaped_text_is(raw, text);
}

bool kc__json_raw_string_is(kc_str raw, kc_str text)
{
    return kc__json_raw_is_string(raw) && kc__json_raw_text_is(kc__json_raw_inside(raw), text);
}

/* The exact path: member by member. */
static kc_str json_cursor_walk(kc_str json_object, kc_str name)
{
    kc__json_cursor c = kc__json_cursor_of(json_object);
    kc_str key, value;
    for (bool escaped = false; json_cursor_next_member(&c, &key, &value, &escaped); escaped = false)
        if (escaped ? escaped_text_is(key, name) : kc_str_eq(key, name))
            return value;
    return (kc_str){0};
}

#ifdef __SSE2__
enum finding { FOUND, NOT_THERE, NOT_SURE };

static inline __m128i load16(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* One bit for each of 16 bytes that equals `c`. */
static inline unsigned bytes_that_are(__m128i bytes, char c)
{
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
}

/* True for names that need no escapes and cannot be confused with the text between two strings. */
static bool json_cursor_is_plain(kc_str name)
{
    if (memchr(":,]}", name.p[0], 4))
        return false;
    for (size_t i = 0; i < name.n; i++)
        if ((unsigned char)name.p[i] < ' ' || name.p[i] == '"' || name.p[i] == '\\')
            return false;
    return true;
}

static inline bool opens_key(const char *before_quote)
{
    return *before_quote == '{' || *before_quote == ',';
}

/*
 * The fast path: checks 16 positions at a time for a quote, and for a colon name.n + 2 bytes
 * further, then verifies '{"name":' or ',"name":'. For a plain name such a match is always a key: a
 * quote inside a string has a backslash before it, a closing quote is not followed by the first
 * letter of a plain name, and the second quote, followed by ':', can only close a key. It remains
 * unclear whether the key belongs to this object or to a nested one; an opening bracket anywhere
 * before it makes the result "not sure".
 */
static enum finding scan_for(kc_str json, kc_str name, size_t *ret_at)
{
    size_t to_colon = name.n + 2, last = json.n - to_colon - 16, at = 1;
    unsigned brackets = 0;
    for (;;) {
        __m128i bytes = load16(json.p + at);
        unsigned found =
            bytes_that_are(bytes, '"') & bytes_that_are(load16(json.p + at + to_colon), ':');
        /* '[' and '{' differ in one bit. */
        brackets |= bytes_that_are(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), '{');
        for (; found; found &= found - 1) {
            size_t key = at + (unsigned)__builtin_ctz(found) + 1;
            if (opens_key(json.p + key - 2) && json.p[key + name.n] == '"' &&
                memcmp(json.p + key, name.p, name.n) == 0) {
                *ret_at = key + name.n + 2;
                return brackets || !json_cursor_is_plain(name) ? NOT_SURE : FOUND;
            }
        }
        if (at == last)
            return json_cursor_is_plain(name) ? NOT_THERE : NOT_SURE;
        at = at + 16 < last ? at + 16 : last;
    }
}
#endif

kc_str kc__json_cursor_find(kc_str json_object, kc_str name)
{
#ifdef __SSE2__
    size_t at = 0;
    if (name.n && json_object.n >= name.n + 2 + 16 + 1) {
        enum finding finding = scan_for(json_object, name, &at);
        kc__json_cursor c = {json_object.p + at, json_object.p + json_object.n - 1};
        kc_str value;
        if (finding == NOT_THERE)
            return (kc_str){0};
        if (finding == FOUND && json_cursor_step(&c, &value))
            return value;
    }
#endif
    return json_cursor_walk(json_object, name);
}

void kc__json_unescape_to(kc_buf *out, kc_str raw)
{
    while (raw.n) {
        ptrdiff_t plain = kc_str_find(raw, '\\');
        if (plain < 0) {
            kc_buf_append(out, raw);
            return;
        }
        size_t at = (size_t)plain;
        char bytes[4];
        kc_buf_append(out, kc_str_sub(raw, 0, at));
        size_t n = next_bytes(raw, &at, bytes);
        kc_buf_append(out, kc_str_of(bytes, n));
        raw = kc_str_sub(raw, at, raw.n);
    }
}

kc_str kc__json_unescape(kc_arena *arena, kc_str raw)
{
    if (!has_escape(raw))
        return raw;
    char *copy = kc_arena_alloc(arena, raw.n);
    size_t n = 0;
    for (size_t i = 0; i < raw.n;) {
        char bytes[4];
        size_t wrote = next_bytes(raw, &i, bytes);
        memcpy(copy + n, bytes, wrote);
        n += wrote;
    }
    return kc_str_of(copy, n);
}
