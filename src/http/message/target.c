/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.c: request targets.
 *
 *     http://host:1/a%2Fb/./c/../d//e/?watch=1
 *            └─┬──┘└────────┬────────┘ └──┬──┘
 *        authority       raw_path       query        path: /a/b/d/e/    segments: a b d e
 *
 * The path is decoded first and resolved afterwards, once each and in that order. So "%2F" is a
 * separator like '/' (as in Go's URL.Path), and no spelling of a path bypasses a rule that is
 * written for another. "." and empty segments are removed, ".." removes the segment before it and
 * stops at the root, a trailing slash is kept: the result is the path to which Go's ServeMux would
 * redirect.
 *
 * Stricter than Go: spaces and '#' in the text, escaped control characters in the path and dot
 * segments with an escape ("%2e%2e", "..%2f") are rejected. No regular client sends them: a name
 * that leaves its position in the path is an attack on code that builds paths from names.
 */
#include "http/message/target.h"

#include "http/message/escape.h"

enum { MAX_BYTES = 64 * 1024, MAX_SEGMENTS = 256 };

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7F;
}

static int check_target_size(kc_str raw, size_t limit, kc_error *err)
{
    if (raw.n == 0)
        return kc_error_set(err, KC_BAD_REQUEST, "the request target is empty");
    if (raw.n > limit)
        return kc_error_set(err, KC_TOO_LARGE, "the request target has %zu bytes: the limit is %zu",
                            raw.n, limit);
    return 0;
}

static int check_bytes(kc_str raw, kc_error *err)
{
    for (size_t i = 0; i < raw.n; i++) {
        if (is_control(raw.p[i]))
            return kc_error_set(err, KC_BAD_REQUEST,
                                "the request target has a control character at byte %zu", i);
        if (raw.p[i] == ' ' || raw.p[i] == '#')
            return kc_error_set(err, KC_BAD_REQUEST,
                                "the request target has '%c' at byte %zu, which must be encoded",
                                raw.p[i], i);
    }
    return 0;
}

/* Returns the offset after "http://" or "https://", in any case; SIZE_MAX if there is no such
 * prefix. */
static size_t scheme_end(kc_str raw)
{
    static const kc_str schemes[] = {KC_STR_INIT("http://"), KC_STR_INIT("https://")};
    for (size_t i = 0; i < KC_COUNT(schemes); i++)
        if (kc_str_eq_nocase(kc_str_sub(raw, 0, schemes[i].n), schemes[i]))
            return schemes[i].n;
    return SIZE_MAX;
}

static bool has_only(kc_str text, const char *others)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i], letter = c | 0x20;
        bool alphanumeric = (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9');
        if (!alphanumeric && kc_str_find(kc_cstr(others), c) < 0)
            return false;
    }
    return true;
}

static bool is_number(kc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
    return true;
}

/* A host name or address with an optional port: no user info, no escapes. */
static bool is_authority(kc_str text)
{
    kc_str port = text, host;
    bool bracketed = text.n && text.p[0] == '[';
    if (bracketed) {
        host = kc_str_cut(&port, ']');
        if (!port.p || (port.n && port.p[0] != ':'))
            return false;
        host = kc_str_sub(host, 1, host.n);
        port = kc_str_sub(port, 1, port.n);
    } else {
        host = kc_str_cut(&port, ':');
    }
    return host.n && has_only(host, bracketed ? ":." : "-._") && is_number(port);
}

/* Splits t->raw into authority, raw_path and query. */
static int split(kc__target *t, kc_error *err)
{
    kc_str rest = t->raw;
    if (kc_str_is(rest, "*"))
        return kc_error_set(err, KC_BAD_REQUEST, "the request target \"*\" is not supported");
    kc_str before = kc_str_cut(&rest, '?');
    t->query = rest;
    if (before.n && before.p[0] == '/') {
        t->raw_path = before;
        return 0;
    }
    size_t start = scheme_end(before);
    if (start == SIZE_MAX)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "the request target must be a path that begins with '/', or a URL that "
                            "begins with http:// or https://");
    kc_str behind = kc_str_sub(before, start, before.n);
    ptrdiff_t slash = kc_str_find(behind, '/');
    size_t end = slash < 0 ? behind.n : (size_t)slash;
    t->authority = kc_str_sub(behind, 0, end);
    t->raw_path = kc_str_sub(behind, end, behind.n);
    if (!is_authority(t->authority))
        return kc_error_set(err, KC_BAD_REQUEST, "the request target has an invalid host");
    return 0;
}

/* Returns '.' or '/' if the escape at `at` encodes it; 0 otherwise. */
static char dot_or_slash(kc_str raw, size_t at)
{
    if (raw.n - at < 3 || raw.p[at] != '%' || raw.p[at + 1] != '2')
        return 0;
    char digit = raw.p[at + 2] | 0x20;
    return digit == 'e' ? '.' : digit == 'f' ? '/' : 0;
}

/* Rejects segments "." and ".." that contain an escape or are delimited by one. */
static int check_dot_segments(kc_str raw, kc_error *err)
{
    size_t dots = 0;
    bool other = false, escaped = false;
    for (size_t i = 0; i <= raw.n; i++) {
        char meant = i < raw.n ? dot_or_slash(raw, i) : 0, c = i < raw.n ? raw.p[i] : '/';
        if (meant) {
            c = meant;
            i += 2;
        }
        if (c == '/') {
            if (!other && (dots == 1 || dots == 2) && (escaped || meant))
                return kc_error_set(err, KC_BAD_REQUEST,
                                    "the path of the request has an escaped dot segment");
            dots = 0;
            other = false;
            escaped = meant != 0;
            continue;
        }
        dots += c == '.';
        other = other || c != '.';
        escaped = escaped || meant;
    }
    return 0;
}

static int target_out_of_memory(kc_error *err)
{
    return kc_error_set(err, KC_TOO_LARGE, "the request target exceeds the memory limit");
}

/* Decodes raw_path into new memory. */
static int decode_target(kc__target *t, kc_arena *arena, char **ret, size_t *ret_n, kc_error *err)
{
    kc_str encoded = t->raw_path.n ? t->raw_path : KC_STR("/"), bad;
    char *text = kc_arena_alloc(arena, encoded.n);
    size_t n;
    if (!text)
        return target_out_of_memory(err);
    if (!kc__http_percent_decode(encoded, KC__HTTP_PLUS_IS_PLUS, text, &n, &bad)) {
        kc_scoped(kc_buf) quoted = {0};
        kc__http_quote(&quoted, bad);
        return kc_error_set(err, KC_BAD_REQUEST, "invalid URL escape %s", kc_buf_cstr(&quoted));
    }
    for (size_t i = 0; i < n; i++)
        if (is_control(text[i]))
            return kc_error_set(err, KC_BAD_REQUEST,
                                "the path of the request has a control character");
    *ret = text;
    *ret_n = n;
    return 0;
}

static size_t count_slashes(kc_str text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.n; i++)
        count += text.p[i] == '/';
    return count;
}

/*
 * Resolves `text` in place: kept bytes move to the front, never past the read position, so one pass
 * suffices. `segments` is the stack that ".." pops. Returns false if there are more than `max`.
 */
static bool resolve(char *text, size_t n, kc_str *segments, size_t max, kc__target *t)
{
    size_t count = 0, end = 0;
    bool ends_in_slash = text[n - 1] == '/';
    kc_str rest = kc_str_of(text + 1, n - 1);
    while (rest.p) {
        kc_str segment = kc_str_cut(&rest, '/');
        if (segment.n == 0 || kc_str_is(segment, "."))
            continue;
        if (kc_str_is(segment, "..")) {
            if (count)
                end = (size_t)(segments[--count].p - text) - 1;
            continue;
        }
        if (count == max)
            return false;
        text[end++] = '/';
        memmove(text + end, segment.p, segment.n);
        segments[count++] = kc_str_of(text + end, segment.n);
        end += segment.n;
    }
    t->trailing_slash = count && ends_in_slash;
    if (!count || t->trailing_slash)
        text[end++] = '/';
    t->path = kc_str_of(text, end);
    t->segments = segments;
    t->n_segments = count;
    return true;
}

static int set_path(kc__target *t, size_t max_segments, kc_arena *arena, kc_error *err)
{
    char *text = NULL;
    size_t n = 0;
    int r = kc_str_find(t->raw_path, '%') < 0 ? 0 : check_dot_segments(t->raw_path, err);
    if (r < 0 || (r = decode_target(t, arena, &text, &n, err)) < 0)
        return r;
    size_t room = KC_MIN(count_slashes(kc_str_of(text, n)), max_segments);
    kc_str *segments = kc_arena_calloc(arena, room, sizeof(*segments));
    if (!segments)
        return target_out_of_memory(err);
    if (!resolve(text, n, segments, room, t))
        return kc_error_set(err, KC_BAD_REQUEST,
                            "the path of the request has more than %zu segments", max_segments);
    return 0;
}

int kc__target_parse(kc_str raw, const kc__target_opts *opts, kc_arena *arena, kc__target *ret,
                     kc_error *err)
{
    size_t max_bytes = opts && opts->max_bytes ? opts->max_bytes : MAX_BYTES;
    size_t max_segments = opts && opts->max_segments ? opts->max_segments : MAX_SEGMENTS;
    int r = check_target_size(raw, max_bytes, err);
    if (r < 0 || (r = check_bytes(raw, err)) < 0)
        return r;
    kc__target t = {.raw = kc_arena_str(arena, raw)};
    if (!t.raw.p)
        return target_out_of_memory(err);
    if ((r = split(&t, err)) < 0 || (r = set_path(&t, max_segments, arena, err)) < 0)
        return r;
    *ret = t;
    return 0;
}
