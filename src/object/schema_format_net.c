/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_format_net.c: addresses of the network: IP, CIDR, MAC, URI, host names; as Go's net and
 * net/url read them. The IPv4 and CIDR formats of Kubernetes allow leading zeros (10.0.0.01), which
 * Go no longer does and stored objects have; that is what `sloppy` means here.
 */
#include "kc/ascii.h"
#include "object/schema_internal.h"

/* A number of the base, cut off the front; false when there is none or it is beyond `most`. */
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

/* After a group and with bytes left: a single colon, or the one double colon. */
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

bool kc__is_ipv4(kc_str text)
{
    return is_ip(text, true) && kc_str_find(text, '.') >= 0;
}

bool kc__is_ipv6(kc_str text)
{
    return kc_str_find(text, ':') >= 0 && is_ip(text, false);
}

bool kc__is_cidr(kc_str text)
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

bool kc__is_mac(kc_str text)
{
    if (text.n < 14)
        return false;
    if (text.p[2] == ':' || text.p[2] == '-')
        return is_mac_with(text, text.p[2], 1);
    return text.p[4] == '.' && is_mac_with(text, '.', 2);
}

bool kc__is_hostname(kc_str text)
{
    if (text.n > 255)
        return false;
    for (kc_str rest = text; rest.p;)
        if (kc_str_cut(&rest, '.').n > 63)
            return false;
    return true;
}

/* Characters a host may have besides letters and digits. */
static bool is_host_char(char c)
{
    return kc_is_alnum(c) || (unsigned char)c >= 0x80 || (c && strchr("!$&'()*+,;=:[]<>\"-_.~", c));
}

typedef enum uri_part { PATH, USER, HOST, ZONE } uri_part;

/* An escape may stand for anything in a path, only for bytes beyond ASCII (and %) in a host. */
static bool escape_fits(int byte, uri_part part)
{
    if (part == HOST)
        return byte >= 0x80 || byte == '%';
    if (part == ZONE)
        return byte == '%' || byte == ' ' || is_host_char((char)byte);
    return true;
}

static bool is_escaped_well(kc_str text, uri_part part)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '%') {
            if (i + 2 >= text.n || kc_hex_value(text.p[i + 1]) < 0 ||
                kc_hex_value(text.p[i + 2]) < 0 ||
                !escape_fits(kc_hex_value(text.p[i + 1]) << 4 | kc_hex_value(text.p[i + 2]), part))
                return false;
            i += 2;
        } else if ((part == HOST || part == ZONE) && !is_host_char(c)) {
            return false;
        }
    }
    return true;
}

static bool is_optional_port(kc_str text)
{
    if (!text.n)
        return true;
    for (size_t i = 1; i < text.n; i++)
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
    return text.p[0] == ':';
}

static bool is_host(kc_str host)
{
    if (host.n && host.p[0] == '[') {
        ptrdiff_t close = kc_str_rfind(host, ']');
        if (close < 0 || !is_optional_port(kc_str_sub(host, (size_t)close + 1, host.n)))
            return false;
        kc_str inside = kc_str_sub(host, 0, (size_t)close);
        const char *zone = memmem(inside.p, inside.n, "%25", 3);
        if (zone) {
            size_t at = (size_t)(zone - host.p);
            return is_escaped_well(kc_str_sub(host, 0, at), HOST) &&
                   is_escaped_well(kc_str_sub(inside, at, inside.n), ZONE) &&
                   is_escaped_well(kc_str_sub(host, (size_t)close, host.n), HOST);
        }
    } else {
        ptrdiff_t colon = kc_str_rfind(host, ':');
        if (colon >= 0 && !is_optional_port(kc_str_sub(host, (size_t)colon, host.n)))
            return false;
    }
    return is_escaped_well(host, HOST);
}

static bool is_user(kc_str user)
{
    for (size_t i = 0; i < user.n; i++)
        if (!kc_is_alnum(user.p[i]) && (!user.p[i] || !strchr("-._:~!$&'()*+,;=%@", user.p[i])))
            return false;
    return is_escaped_well(user, USER);
}

static bool is_authority(kc_str authority)
{
    ptrdiff_t at = kc_str_rfind(authority, '@');
    if (at < 0)
        return is_host(authority);
    return is_user(kc_str_sub(authority, 0, (size_t)at)) &&
           is_host(kc_str_sub(authority, (size_t)at + 1, authority.n));
}

/* Length of "http" in "http:…"; 0 when there is no scheme, -1 when its name is missing. */
static ptrdiff_t scheme_of(kc_str text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (c == ':')
            return i ? (ptrdiff_t)i : -1;
        if (!letter && (!i || !(kc_is_alnum(c) || (c && strchr("+-.", c)))))
            return 0;
    }
    return 0;
}

/* What an HTTP request line may ask for: an absolute URI or an absolute path. */
bool kc__is_uri(kc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < ' ' || text.p[i] == 0x7F)
            return false;
    ptrdiff_t scheme = scheme_of(text);
    if (!text.n || scheme < 0)
        return false;
    if (kc_str_is(text, "*"))
        return true;
    kc_str rest = scheme ? kc_str_sub(text, (size_t)scheme + 1, text.n) : text;
    rest = kc_str_cut(&rest, '?');
    if (!rest.n || rest.p[0] != '/')
        return scheme > 0;
    if (scheme && kc_str_starts(rest, KC_STR("//"))) {
        kc_str after = kc_str_sub(rest, 2, rest.n);
        ptrdiff_t slash = kc_str_find(after, '/');
        kc_str authority = slash < 0 ? after : kc_str_sub(after, 0, (size_t)slash);
        if (!is_authority(authority))
            return false;
        rest = kc_str_sub(after, authority.n, after.n);
    }
    return is_escaped_well(rest, PATH);
}
