/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format_net.c: validates network addresses: IP, CIDR, MAC, URI, host names, as Go's net and
 * net/url do (URIs: go_url.c). The IPv4 and CIDR formats of Kubernetes allow leading zeros
 * (10.0.0.01), which Go no longer does but stored objects contain; that is the meaning of `sloppy`.
 */
#include "kc/ascii.h"
#include "object/gofmt/go_url.h"
#include "object/schema/schema_internal.h"

/* Removes a number of the base from the front; false when there is none or it exceeds `most`. */
static bool cut_number(kc_str *text, int base, unsigned most, size_t *ret_digits)
{
    unsigned number = 0;
    size_t n = 0;
    while (n < text->n && kc_hex_value(text->p[n]) >= 0 && kc_hex_value(text->p[n]) < base) {
        number = number * (unsigned)base + (unsigned)kc_hex_value(text->p[n]);
        if (number > most)
            return false;
        n++;
    }
    *ret_digits = n;
    *text = kc_str_sub(*text, n, text->n);
    return n > 0;
}

static bool cut_char(kc_str *text, char c)
{
    if (!text->n || text->p[0] != c)
        return false;
    *text = kc_str_sub(*text, 1, text->n);
    return true;
}

static bool is_v4(kc_str text, bool sloppy)
{
    for (int i = 0; i < 4; i++) {
        size_t digits;
        bool zero_first = text.n > (i > 0) && text.p[i > 0] == '0';
        if ((i && !cut_char(&text, '.')) || !cut_number(&text, 10, 255, &digits))
            return false;
        if (!sloppy && digits > 1 && zero_first)
            return false;
    }
    return text.n == 0;
}

/* After a group, if bytes are left: a single colon, or the only double colon. */
static bool cut_colons(kc_str *text, bool *gap)
{
    if (!cut_char(text, ':') || !text->n)
        return false;
    if (!cut_char(text, ':'))
        return true;
    bool first = !*gap;
    *gap = true;
    return first;
}

static bool is_v6(kc_str text, bool sloppy)
{
    bool gap = false;
    int groups = 0;
    if (kc_str_starts(text, KC_STR("::"))) {
        gap = true;
        text = kc_str_sub(text, 2, text.n);
    }
    while (text.n && groups < 8) {
        size_t digits;
        kc_str before = text;
        if (!cut_number(&text, 16, 0xFFFF, &digits) || (!sloppy && digits > 4))
            return false;
        if (text.n && text.p[0] == '.') {
            if ((!gap && groups != 6) || groups > 6 || !is_v4(before, sloppy))
                return false;
            groups += 2;
            text.n = 0;
            break;
        }
        groups++;
        if (text.n && !cut_colons(&text, &gap))
            return false;
    }
    return !text.n && (gap ? groups < 8 : groups == 8);
}

static bool is_ip(kc_str text, bool sloppy)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '.')
            return is_v4(text, sloppy);
        if (text.p[i] == ':')
            return is_v6(text, sloppy);
    }
    return false;
}

bool kc__schema_is_ipv4(kc_str text)
{
    return is_ip(text, true) && kc_str_find(text, '.') >= 0;
}

bool kc__schema_is_ipv6(kc_str text)
{
    return kc_str_find(text, ':') >= 0 && is_ip(text, false);
}

bool kc__schema_is_cidr(kc_str text)
{
    kc_str mask = text;
    kc_str ip = kc_str_cut(&mask, '/');
    size_t digits;
    if (!mask.p)
        return false;
    unsigned most = is_v4(ip, true) ? 32 : is_v6(ip, true) ? 128 : 0;
    return most && cut_number(&mask, 10, most, &digits) && !mask.n;
}

/* Pairs of digits, `per_group` of them between separators. */
static bool is_mac_with(kc_str text, char separator, size_t per_group)
{
    size_t width = per_group * 2 + 1, pairs = (text.n + 1) / width * per_group;
    if ((text.n + 1) % width || (pairs != 6 && pairs != 8 && pairs != 20))
        return false;
    for (size_t i = 0; i < text.n; i++) {
        bool between = i % width == width - 1;
        if (between ? text.p[i] != separator : kc_hex_value(text.p[i]) < 0)
            return false;
    }
    return true;
}

bool kc__schema_is_mac(kc_str text)
{
    if (text.n < 14)
        return false;
    if (text.p[2] == ':' || text.p[2] == '-')
        return is_mac_with(text, text.p[2], 1);
    return text.p[4] == '.' && is_mac_with(text, '.', 2);
}

bool kc__schema_is_hostname(kc_str text)
{
    if (text.n > 255)
        return false;
    for (kc_str rest = text; rest.p;)
        if (kc_str_cut(&rest, '.').n > 63)
            return false;
    return true;
}

/* The target of an HTTP request line: an absolute URI or an absolute path. */
bool kc__schema_is_uri(kc_str text)
{
    kc__go_url url;
    return kc__go_url_parse(text, KC__GO_URL_REQUEST, &url, NULL);
}
