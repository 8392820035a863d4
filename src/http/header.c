/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header.c: a list of header fields, and what may be in one.
 *
 * A request has some dozen fields, so the list is searched from its front; limits on their number
 * and size keep that so. Nothing gets into a list that could end a line when it is written again,
 * so a list can be sent as it is.
 */
#include "http/header.h"

enum { MAX_COUNT = 128, MAX_BYTES = 128 * 1024 };

bool kc__is_token_char(char c)
{
    char letter = c | 0x20;
    return (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9') ||
           kc_str_find(KC_STR("!#$%&'*+-.^_`|~"), c) >= 0;
}

bool kc__is_header_name(kc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!kc__is_token_char(text.p[i]))
            return false;
    return text.n > 0;
}

bool kc__is_header_value(kc_str text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if ((c < 0x20 && c != '\t') || c == 0x7F)
            return false;
    }
    return true;
}

void kc__headers_done(kc__headers *headers)
{
    kc_vec_done(&headers->list);
    headers->bytes = 0;
}

void kc__headers_clear(kc__headers *headers)
{
    kc_vec_clear(&headers->list);
    headers->bytes = 0;
}

static int check_limits(const kc__headers *headers, size_t more, kc_error *err)
{
    size_t max_count = headers->max_count ? headers->max_count : MAX_COUNT;
    size_t max_bytes = headers->max_bytes ? headers->max_bytes : MAX_BYTES;
    if (headers->list.n >= max_count)
        return kc_error_set(err, KC_TOO_LARGE, "more than %zu header fields", max_count);
    if (more > max_bytes || headers->bytes > max_bytes - more)
        return kc_error_set(err, KC_TOO_LARGE, "more than %zu bytes of header fields", max_bytes);
    return 0;
}

static kc_str trim(kc_str s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
        s = kc_str_sub(s, 1, s.n);
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    return s;
}

int kc__headers_add(kc__headers *headers, kc_str name, kc_str value, kc_error *err)
{
    size_t size = name.n + value.n;
    int r = check_limits(headers, size, err);
    if (r < 0)
        return r;
    if (!kc__is_header_name(name))
        return kc_error_set(err, KC_BAD_REQUEST, "the name of a header field is not valid");
    if (!kc__is_header_value(value))
        return kc_error_set(err, KC_BAD_REQUEST,
                            "the value of the header field %.*s has a control character",
                            KC_ARG(name));
    kc_vec_push(&headers->list, (kc__header){name, trim(value)});
    headers->bytes += size;
    return 0;
}

bool kc__headers_next(const kc__headers *headers, kc_str name, size_t *at, kc_str *ret)
{
    for (; *at < headers->list.n; ++*at) {
        if (!kc_str_eq_nocase(headers->list.items[*at].name, name))
            continue;
        *ret = headers->list.items[(*at)++].value;
        return true;
    }
    return false;
}

kc_str kc__headers_get(const kc__headers *headers, kc_str name)
{
    size_t at = 0;
    kc_str value = {0};
    kc__headers_next(headers, name, &at, &value);
    return value;
}
