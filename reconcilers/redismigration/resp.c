/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resp.c: RESP2, the protocol of Redis. A reply is one of
 *
 *     +OK\r\n   -ERR why\r\n   :42\r\n   $3\r\nabc\r\n   $-1\r\n   *2\r\n… …   *-1\r\n
 *
 * and the elements of an array are replies. Bytes, elements and depth of a reply are limited; a
 * reply that announces more is refused before memory is allocated. An invalid first byte is refused
 * at once, so that a server with another protocol fails immediately.
 *
 * To add a type of reply: a row in `of_mark`, and its case in header() and build().
 */
#include "resp.h"

#include <assert.h>

static const char of_mark[] = "+-:$*";

/* ---- finding the end ---- */

static int redismigration_resp_reject(kc_error *err, const char *what)
{
    return kc_error_set(err, KC_INVALID, "not a Redis server: %s", what);
}

/* The line at scan->at, without CR LF; 0 if it is incomplete. */
static int redismigration_resp_next_line(resp_scan *scan, kc_str bytes, kc_str *ret, kc_error *err)
{
    if (scan->at < bytes.n && !memchr(of_mark, bytes.p[scan->at], sizeof(of_mark) - 1))
        return redismigration_resp_reject(err, "a reply starts with another byte than + - : $ *");
    const size_t from = KC_MAX(scan->at, scan->seen);
    const char *end = from < bytes.n ? memchr(bytes.p + from, '\n', bytes.n - from) : NULL;
    const size_t n = end ? (size_t)(end - bytes.p) - scan->at : bytes.n - scan->at;
    if (n > RESP_LINE)
        return redismigration_resp_reject(err, "a line is too long");
    if (!end) {
        scan->seen = bytes.n;
        return 0;
    }
    if (n < 2 || end[-1] != '\r')
        return redismigration_resp_reject(err, "a line does not end with CR LF");
    *ret = kc_str_of(bytes.p + scan->at, n - 1);
    scan->at += n + 1;
    return 1;
}

/* A value is complete, and possibly arrays with it. 1 if the reply is complete. */
static int redismigration_resp_complete(resp_scan *scan)
{
    while (scan->depth && !--scan->left[scan->depth - 1])
        scan->depth--;
    return scan->depth == 0;
}

static int begin_body(resp_scan *scan, int64_t n, const resp_limits *limits, kc_error *err)
{
    if ((uint64_t)n > limits->max_bytes || scan->at + (size_t)n > limits->max_bytes)
        return kc_error_set(err, KC_INVALID, "a reply of %lld bytes exceeds the limit of %zu",
                            (long long)n, limits->max_bytes);
    scan->in_body = true;
    scan->body_end = scan->at + (size_t)n;
    return 0;
}

static int begin_array(resp_scan *scan, int64_t n, const resp_limits *limits, kc_error *err)
{
    if ((uint64_t)n > limits->max_items || scan->items + (size_t)n > limits->max_items)
        return kc_error_set(err, KC_INVALID, "a reply of %lld elements exceeds the limit of %zu",
                            (long long)n, limits->max_items);
    if (scan->depth == RESP_DEPTH)
        return redismigration_resp_reject(err, "arrays are nested too deeply");
    scan->items += (size_t)n;
    scan->left[scan->depth++] = (uint64_t)n;
    return 0;
}

/* 1: the reply ends with this line; 0: continue. */
static int header(resp_scan *scan, kc_str line, const resp_limits *limits, kc_error *err)
{
    int64_t n = 0;
    if (line.p[0] == '+' || line.p[0] == '-')
        return redismigration_resp_complete(scan);
    if (!kc_str_to_i64(kc_str_sub(line, 1, line.n), &n))
        return redismigration_resp_reject(err, "invalid number");
    if (line.p[0] == ':' || n == -1 || (line.p[0] == '*' && n == 0))
        return redismigration_resp_complete(scan);
    if (n < 0)
        return redismigration_resp_reject(err, "negative length");
    return line.p[0] == '$' ? begin_body(scan, n, limits, err) : begin_array(scan, n, limits, err);
}

/* 1: the reply ends here; 0: more follows. */
static int end_body(resp_scan *scan, kc_str bytes, kc_error *err)
{
    if (memcmp(bytes.p + scan->body_end, "\r\n", 2) != 0)
        return redismigration_resp_reject(err, "a bulk string does not end with CR LF");
    scan->at = scan->body_end + 2;
    scan->in_body = false;
    return redismigration_resp_complete(scan);
}

int resp_scan_more(resp_scan *scan, kc_str bytes, const resp_limits *limits, kc_error *err)
{
    const resp_limits use = {
        .max_bytes = limits && limits->max_bytes ? limits->max_bytes : RESP_BYTES_MAX,
        .max_items = limits && limits->max_items ? limits->max_items : RESP_ITEMS,
    };
    for (;;) {
        kc_str line = {0};
        int found;
        if (scan->in_body) {
            if (bytes.n < scan->body_end + 2)
                return 0;
            found = end_body(scan, bytes, err);
        } else {
            const int has = redismigration_resp_next_line(scan, bytes, &line, err);
            if (has <= 0)
                return has;
            found = header(scan, line, &use, err);
        }
        if (found)
            return found;
        if (scan->at > use.max_bytes)
            return kc_error_set(err, KC_INVALID, "a reply exceeds the limit of %zu bytes",
                                use.max_bytes);
    }
}

/* ---- building the tree ---- */

/* Builds the reply at *rest, which a scan has found complete, and advances behind it. */
static resp_value build(kc_str *rest, kc_arena *arena)
{
    const char mark = rest->p[0];
    kc_str line = kc_str_cut(rest, '\n');
    line = kc_str_sub(line, 1, line.n - 1);
    resp_value value = {.str = line};
    if (mark == '+' || mark == '-') {
        value.type = mark == '+' ? RESP_TEXT : RESP_ERROR;
        return value;
    }
    if (!kc_str_to_i64(line, &value.number))
        assert(!"a scan lets only numbers pass");
    value.str = (kc_str){0};
    if (mark == ':')
        value.type = RESP_NUMBER;
    if (mark == ':' || value.number < 0)
        return value;
    const size_t n = (size_t)value.number;
    value.number = 0;
    if (mark == '$') {
        value.type = RESP_BYTES;
        value.str = kc_str_sub(*rest, 0, n);
        *rest = kc_str_sub(*rest, n + 2, rest->n);
        return value;
    }
    value.type = RESP_ARRAY;
    value.n = n;
    value.items = kc_arena_calloc(arena, n, sizeof(*value.items));
    for (size_t i = 0; i < n; i++)
        value.items[i] = build(rest, arena);
    return value;
}

resp_value resp_build(kc_str reply, kc_arena *arena)
{
    return build(&reply, arena);
}

bool resp_equal(const resp_value *a, const resp_value *b)
{
    if (a->type != b->type || a->n != b->n || a->number != b->number || !kc_str_eq(a->str, b->str))
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!resp_equal(&a->items[i], &b->items[i]))
            return false;
    return true;
}

/* ---- commands ---- */

void resp_command(kc_buf *out, const kc_str *words, size_t n)
{
    kc_buf_printf(out, "*%zu\r\n", n);
    for (size_t i = 0; i < n; i++) {
        kc_buf_printf(out, "$%zu\r\n", words[i].n);
        kc_buf_append(out, words[i]);
        kc_buf_puts(out, "\r\n");
    }
}
