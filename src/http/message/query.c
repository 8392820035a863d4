/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.c: query parameters.
 *
 * They are an array in the order of the text: a request has few of them, and a limit keeps the
 * linear search cheap for hostile input. Names and values are decoded into one block, which is no
 * longer than the text. To read another type, add a getter beside kc__query_i64 that names the
 * value in its error.
 */
#include "http/message/query.h"

#include "http/message/escape.h"

enum { MAX_BYTES = 64 * 1024, MAX_PARAMS = 1000 };

/* Output of the decoder. */
typedef struct query_sink {
    char *at;
} query_sink;

static bool decode_into(query_sink *out, kc_str text, kc_str *ret)
{
    size_t n;
    if (!kc__http_percent_decode(text, KC__HTTP_PLUS_IS_SPACE, out->at, &n, NULL))
        return false;
    *ret = kc_str_of(out->at, n);
    out->at += n;
    return true;
}

static bool read_param(query_sink *out, kc_str part, kc__query_param *ret)
{
    if (kc_str_find(part, ';') >= 0)
        return false;
    kc_str value = part, name = kc_str_cut(&value, '=');
    return decode_into(out, name, &ret->name) && decode_into(out, value, &ret->value);
}

static size_t count_parts(kc_str text)
{
    size_t count = 0;
    while (text.p)
        count += kc_str_cut(&text, '&').n > 0;
    return count;
}

int kc__query_parse(kc_str text, const kc__query_opts *opts, kc_arena *arena, kc__query *ret,
                    kc_error *err)
{
    size_t max_bytes = opts && opts->max_bytes ? opts->max_bytes : MAX_BYTES;
    size_t max_params = opts && opts->max_params ? opts->max_params : MAX_PARAMS;
    if (text.n > max_bytes)
        return kc_error_set(err, KC_TOO_LARGE, "the query has %zu bytes: the limit is %zu", text.n,
                            max_bytes);
    size_t count = count_parts(text);
    if (count > max_params)
        return kc_error_set(err, KC_BAD_REQUEST, "the query has %zu parameters: the limit is %zu",
                            count, max_params);
    kc__query_param *params = kc_arena_calloc(arena, count, sizeof(*params));
    query_sink out = {kc_arena_alloc(arena, text.n)};
    if (!params || !out.at)
        return kc_error_set(err, KC_TOO_LARGE, "the query exceeds the memory limit");
    kc__query query = {.params = params};
    while (text.p) {
        kc_str part = kc_str_cut(&text, '&');
        if (part.n == 0)
            continue;
        if (read_param(&out, part, &params[query.n]))
            query.n++;
        else
            query.n_skipped++;
    }
    *ret = query;
    return 0;
}

bool kc__query_next(const kc__query *query, kc_str name, size_t *at, kc_str *ret)
{
    for (; *at < query->n; ++*at) {
        if (!kc_str_eq(query->params[*at].name, name))
            continue;
        *ret = query->params[(*at)++].value;
        return true;
    }
    return false;
}

bool kc__query_get(const kc__query *query, kc_str name, kc_str *ret)
{
    size_t at = 0;
    return kc__query_next(query, name, &at, ret);
}

bool kc__query_flag(const kc__query *query, kc_str name)
{
    kc_str value;
    if (!kc__query_get(query, name, &value))
        return false;
    return !kc_str_is(value, "0") && !kc_str_eq_nocase(value, KC_STR("false"));
}

static int refuse_query(const char *function, kc_str value, const char *why, kc_error *err)
{
    kc_scoped(kc_buf) quoted = {0};
    kc__http_quote(&quoted, value);
    return kc_error_set(err, KC_BAD_REQUEST, "strconv.%s: parsing %s: %s", function,
                        kc_buf_cstr(&quoted), why);
}

int kc__query_bool(const kc__query *query, kc_str name, bool absent, bool *ret, kc_error *err)
{
    static const char *const words[][6] = {
        {"0", "f", "F", "false", "FALSE", "False"},
        {"1", "t", "T", "true", "TRUE", "True"},
    };
    kc_str value;
    if (!kc__query_get(query, name, &value)) {
        *ret = absent;
        return 0;
    }
    for (size_t i = 0; i < KC_COUNT(words); i++)
        for (size_t j = 0; j < KC_COUNT(words[i]); j++)
            if (kc_str_is(value, words[i][j])) {
                *ret = i == 1;
                return 0;
            }
    return refuse_query("ParseBool", value, "invalid syntax", err);
}

/* Returns NULL, or the error. In Go's order: digits beyond 64 bits are out of range even if
 * other characters follow. */
static const char *read_i64(kc_str value, int64_t *ret)
{
    bool negative = value.n && value.p[0] == '-';
    bool sign = negative || (value.n && value.p[0] == '+');
    uint64_t magnitude = 0;
    if (value.n == sign)
        return "invalid syntax";
    for (size_t i = sign; i < value.n; i++) {
        unsigned digit = (unsigned char)value.p[i] - (unsigned)'0';
        if (digit > 9)
            return "invalid syntax";
        if (__builtin_mul_overflow(magnitude, 10, &magnitude) ||
            __builtin_add_overflow(magnitude, digit, &magnitude))
            return "value out of range";
    }
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return "value out of range";
    *ret = (int64_t)(negative ? 0 - magnitude : magnitude);
    return NULL;
}

int kc__query_i64(const kc__query *query, kc_str name, int64_t absent, int64_t *ret, kc_error *err)
{
    kc_str value;
    if (!kc__query_get(query, name, &value)) {
        *ret = absent;
        return 0;
    }
    const char *wrong = read_i64(value, ret);
    return wrong ? refuse_query("ParseInt", value, wrong, err) : 0;
}
