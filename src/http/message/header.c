/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header.c: a list of header fields and their validation.
 *
 * A request has about a dozen fields, so lookups search the list linearly; limits on number and
 * size keep that cheap. No stored field can contain a line end, so a list can be sent unchanged.
 */
#include "http/message/header.h"

enum { MAX_COUNT = 128, MAX_BYTES = 128 * 1024 };

bool kc__http_is_token_char(char c)
{
    char letter = c | 0x20;
    return (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9') ||
           kc_str_find(KC_STR("!#$%&'*+-.^_`|~"), c) >= 0;
}

bool kc__http_is_header_name(kc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!kc__http_is_token_char(text.p[i]))
            return false;
    return text.n > 0;
}

bool kc__http_is_header_value(kc_str text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if ((c < 0x20 && c != '\t') || c == 0x7F)
            return false;
    }
    return true;
}

void kc__http_headers_done(kc__http_headers *headers)
{
    kc_vec_done(&headers->list);
    headers->bytes = 0;
}

void kc__http_headers_clear(kc__http_headers *headers)
{
    kc_vec_clear(&headers->list);
    headers->bytes = 0;
}

static int check_limits(const kc__http_headers *headers, size_t more, kc_error *err)
{
    size_t max_count = headers->max_count ? headers->max_count : MAX_COUNT;
    size_t max_bytes = headers->max_bytes ? headers->max_bytes : MAX_BYTES;
    if (headers->list.n >= max_count)
        return kc_error_set(err, KC_TOO_LARGE, "more than %zu header fields", max_count);
    if (more > max_bytes || headers->bytes > max_bytes - more)
        return kc_error_set(err, KC_TOO_LARGE, "more than %zu bytes of header fields", max_bytes);
    return 0;
}

static kc_str trim_header_value(kc_str s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
        s = kc_str_sub(s, 1, s.n);
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    return s;
}

int kc__http_headers_add(kc__http_headers *headers, kc_str name, kc_str value, kc_error *err)
{
    size_t size = name.n + value.n;
    int r = check_limits(headers, size, err);
    if (r < 0)
        return r;
    if (!kc__http_is_header_name(name))
        return kc_error_set(err, KC_BAD_REQUEST, "invalid name of a header field");
    if (!kc__http_is_header_value(value))
        return kc_error_set(err, KC_BAD_REQUEST,
                            "the value of header field %.*s has a control character", KC_ARG(name));
    kc_vec_push(&headers->list, (kc__http_header){name, trim_header_value(value)});
    headers->bytes += size;
    return 0;
}

bool kc__http_headers_next(const kc__http_headers *headers, kc_str name, size_t *at, kc_str *ret)
{
    for (; *at < headers->list.n; ++*at) {
        if (!kc_str_eq_nocase(headers->list.items[*at].name, name))
            continue;
        *ret = headers->list.items[(*at)++].value;
        return true;
    }
    return false;
}

kc_str kc__http_headers_get(const kc__http_headers *headers, kc_str name)
{
    size_t at = 0;
    kc_str value = {0};
    kc__http_headers_next(headers, name, &at, &value);
    return value;
}
