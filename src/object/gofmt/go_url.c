/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_url.c: parses and writes URLs like net/url of Go 1.24, step by step, so that results and
 * errors are the same:
 *
 *     scheme ":" "//" [ user "@" ] host [ ":" port ] path [ "?" query ] [ "#" fragment ]
 *
 * Each part has its own set of bytes that appear unescaped (`unescaped`); an escape may represent
 * any byte, except in a host, where only bytes beyond ASCII may be escaped. A parsed URL refers to
 * the text; functions that write decode or escape on the way.
 */
#include "object/gofmt/go_url.h"

#include "kc/ascii.h"
#include "object/gofmt/go_quote.h"

typedef enum url_part { URL_PATH, URL_USER, URL_HOST, URL_ZONE, URL_FRAGMENT } url_part;

/* ---- errors ---- */

static bool url_fails(kc_buf *why, const char *text)
{
    if (why)
        kc_buf_puts(why, text);
    return false;
}

static bool url_fails_about(kc_buf *why, const char *before, kc_str what, const char *after)
{
    if (!why)
        return false;
    kc_buf_puts(why, before);
    kc__go_quote(why, what);
    kc_buf_puts(why, after);
    return false;
}

/* ---- escapes ---- */

static bool is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

/* Whether a byte appears unescaped in a part. */
static bool is_plain_byte(char c, url_part part)
{
    static const char *const unescaped[] = {
        [URL_PATH] = "-_.~$&+,/:;=@",          [URL_USER] = "-_.~$&+,;=",
        [URL_HOST] = "-_.~!$&'()*+,;=:[]<>\"", [URL_ZONE] = "-_.~!$&'()*+,;=:[]<>\"",
        [URL_FRAGMENT] = "-_.~$&+,/:;=?@!()*",
    };
    return kc_is_alnum(c) || is_one_of(c, unescaped[part]);
}

static int byte_of_escape(const char *escape)
{
    return kc_hex_value(escape[1]) << 4 | kc_hex_value(escape[2]);
}

static bool check_url_escape(kc_str rest, url_part part, kc_buf *why)
{
    kc_str shown = kc_str_sub(rest, 0, KC_MIN(rest.n, (size_t)3));
    bool valid = rest.n >= 3 && kc_is_hex(rest.p[1]) && kc_is_hex(rest.p[2]);
    if (valid && !kc_str_is(shown, "%25")) {
        int byte = byte_of_escape(rest.p);
        if (part == URL_HOST)
            valid = byte >= 0x80;
        else if (part == URL_ZONE)
            valid = byte == ' ' || is_plain_byte((char)byte, URL_HOST);
    }
    return valid || url_fails_about(why, "invalid URL escape ", shown, "");
}

static bool check_url_part(kc_str text, url_part part, kc_buf *why)
{
    bool host = part == URL_HOST || part == URL_ZONE;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '%') {
            if (!check_url_escape(kc_str_sub(text, i, text.n), part, why))
                return false;
            i += 2;
        } else if (host && (unsigned char)c < 0x80 && !is_plain_byte(c, part)) {
            return url_fails_about(why, "invalid character ", kc_str_sub(text, i, i + 1),
                                   " in host name");
        }
    }
    return true;
}

/* Appends the text with its escapes, which are valid, decoded. */
static void unescape_part(kc_str text, kc_buf *out)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != '%') {
            kc_buf_putc(out, text.p[i]);
            continue;
        }
        kc_buf_putc(out, (char)byte_of_escape(text.p + i));
        i += 2;
    }
}

static void escape_part(kc_str text, url_part part, kc_buf *out)
{
    for (size_t i = 0; i < text.n; i++) {
        if (is_plain_byte(text.p[i], part))
            kc_buf_putc(out, text.p[i]);
        else
            kc_buf_printf(out, "%%%02X", (unsigned char)text.p[i]);
    }
}

/* Appends a part with only the escapes that it needs. */
static void normalize_part(kc_str text, url_part part, kc_buf *out)
{
    kc_scoped(kc_buf) plain = {0};
    unescape_part(text, &plain);
    escape_part(kc_buf_str(&plain), part, out);
}

/* Appends a path or a fragment as written if no byte of it must be escaped. */
static void write_encoded(kc_str text, url_part part, kc_buf *out)
{
    for (size_t i = 0; i < text.n; i++)
        if (!is_plain_byte(text.p[i], part) && !is_one_of(text.p[i], "!$&'()*+,;=:@[]%")) {
            normalize_part(text, part, out);
            return;
        }
    kc_buf_append(out, text);
}

bool kc__go_url_unescape_query(kc_str text, kc_buf *out)
{
    if (!check_url_part(text, URL_PATH, NULL))
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '%') {
            kc_buf_putc(out, (char)byte_of_escape(text.p + i));
            i += 2;
        } else {
            kc_buf_putc(out, text.p[i] == '+' ? ' ' : text.p[i]);
        }
    }
    return true;
}

/* ---- user and host ---- */

/* "" or a colon with digits. */
static bool is_url_port(kc_str text)
{
    for (size_t i = 1; i < text.n; i++)
        if (!kc_is_digit(text.p[i]))
            return false;
    return !text.n || text.p[0] == ':';
}

/* Checks [address%25zone]:port, whose bracket closes at `close`. */
static bool check_zone(kc_str host, size_t close, kc_buf *why)
{
    const char *zone = memmem(host.p, close, "%25", 3);
    if (!zone)
        return check_url_part(host, URL_HOST, why);
    size_t at = (size_t)(zone - host.p);
    return check_url_part(kc_str_sub(host, 0, at), URL_HOST, why) &&
           check_url_part(kc_str_sub(host, at, close), URL_ZONE, why) &&
           check_url_part(kc_str_sub(host, close, host.n), URL_HOST, why);
}

static bool check_go_host(kc_str host, kc_buf *why)
{
    bool bracket = kc_str_starts(host, KC_STR("["));
    ptrdiff_t end = kc_str_rfind(host, bracket ? ']' : ':');
    if (bracket && end < 0)
        return url_fails(why, "missing ']' in host");
    kc_str port = end < 0 ? KC_STR("") : kc_str_sub(host, (size_t)(end + bracket), host.n);
    if (!is_url_port(port))
        return url_fails_about(why, "invalid port ", port, " after host");
    return bracket ? check_zone(host, (size_t)end, why) : check_url_part(host, URL_HOST, why);
}

/* Splits "name:password"; true if there is a password. */
static bool split_user(kc_str user, kc_str *ret_name, kc_str *ret_password)
{
    ptrdiff_t colon = kc_str_find(user, ':');
    *ret_name = colon < 0 ? user : kc_str_sub(user, 0, (size_t)colon);
    *ret_password = colon < 0 ? KC_STR("") : kc_str_sub(user, (size_t)colon + 1, user.n);
    return colon >= 0;
}

static bool check_go_user(kc_str user, kc_buf *why)
{
    kc_str name, password;
    for (size_t i = 0; i < user.n; i++)
        if (!kc_is_alnum(user.p[i]) && !is_one_of(user.p[i], "-._:~!$&'()*+,;=%@"))
            return url_fails(why, "net/url: invalid userinfo");
    split_user(user, &name, &password);
    return check_url_part(name, URL_USER, why) && check_url_part(password, URL_USER, why);
}

static bool parse_authority(kc_str authority, kc__go_url *u, kc_buf *why)
{
    ptrdiff_t at = kc_str_rfind(authority, '@');
    u->has_user = at >= 0;
    u->user = at < 0 ? KC_STR("") : kc_str_sub(authority, 0, (size_t)at);
    u->host = at < 0 ? authority : kc_str_sub(authority, (size_t)at + 1, authority.n);
    return check_go_host(u->host, why) && check_go_user(u->user, why);
}

/* ---- the whole URL ---- */

static bool has_control_byte(kc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < ' ' || text.p[i] == 0x7F)
            return true;
    return false;
}

/* Removes the scheme, if the text starts with a valid one. */
static bool parse_scheme(kc_str *rest, kc_str *ret, kc_buf *why)
{
    for (size_t i = 0; i < rest->n; i++) {
        char c = rest->p[i];
        if (c == ':') {
            *ret = kc_str_sub(*rest, 0, i);
            *rest = kc_str_sub(*rest, i + 1, rest->n);
            return i > 0 || url_fails(why, "missing protocol scheme");
        }
        bool letter = kc_is_alnum(c) && !kc_is_digit(c);
        if (!letter && (!i || (!kc_is_digit(c) && !is_one_of(c, "+-."))))
            return true;
    }
    return true;
}

/* A text without a slash after its scheme. */
static bool parse_rootless(kc_str rest, kc__go_url_form form, kc__go_url *u, kc_buf *why)
{
    if (u->scheme.n) {
        u->opaque = rest;
        return true;
    }
    if (form == KC__GO_URL_REQUEST)
        return url_fails(why, "invalid URI for request");
    u->path = rest;
    kc_str segment = kc_str_cut(&rest, '/');
    if (kc_str_find(segment, ':') >= 0)
        return url_fails(why, "first path segment in URL cannot contain colon");
    return check_url_part(u->path, URL_PATH, why);
}

/* Whether "//" starts an authority; in a request without a scheme it belongs to the path. */
static bool has_authority(kc_str rest, kc__go_url_form form, const kc__go_url *u)
{
    bool allowed =
        u->scheme.n || (form == KC__GO_URL_REFERENCE && !kc_str_starts(rest, KC_STR("///")));
    return allowed && kc_str_starts(rest, KC_STR("//"));
}

static bool parse_after_scheme(kc_str rest, kc__go_url_form form, kc__go_url *u, kc_buf *why)
{
    ptrdiff_t query = kc_str_find(rest, '?');
    u->has_query = query >= 0;
    if (u->has_query) {
        u->query = kc_str_sub(rest, (size_t)query + 1, rest.n);
        rest = kc_str_sub(rest, 0, (size_t)query);
    }
    if (!kc_str_starts(rest, KC_STR("/")))
        return parse_rootless(rest, form, u, why);
    if (has_authority(rest, form, u)) {
        rest = kc_str_sub(rest, 2, rest.n);
        ptrdiff_t slash = kc_str_find(rest, '/');
        size_t end = slash < 0 ? rest.n : (size_t)slash;
        if (!parse_authority(kc_str_sub(rest, 0, end), u, why))
            return false;
        rest = kc_str_sub(rest, end, rest.n);
    } else {
        u->omits_host = u->scheme.n > 0;
    }
    u->path = rest;
    return check_url_part(rest, URL_PATH, why);
}

static bool parse_url(kc_str text, kc__go_url_form form, kc__go_url *u, kc_buf *why)
{
    kc_str rest = text;
    if (has_control_byte(text))
        return url_fails(why, "net/url: invalid control character in URL");
    if (!text.n && form == KC__GO_URL_REQUEST)
        return url_fails(why, "empty url");
    if (kc_str_is(text, "*")) {
        u->path = text;
        return true;
    }
    return parse_scheme(&rest, &u->scheme, why) && parse_after_scheme(rest, form, u, why);
}

bool kc__go_url_parse(kc_str text, kc__go_url_form form, kc__go_url *ret, kc_buf *why)
{
    kc__go_url u = {0};
    kc_scoped(kc_buf) reason = {0};
    kc_str before = text;
    ptrdiff_t hash = form == KC__GO_URL_REFERENCE ? kc_str_find(text, '#') : -1;
    if (hash >= 0) {
        before = kc_str_sub(text, 0, (size_t)hash);
        u.fragment = kc_str_sub(text, (size_t)hash + 1, text.n);
    }
    kc_str shown = before;
    bool valid = parse_url(before, form, &u, &reason);
    if (valid && u.fragment.n) {
        shown = text;
        valid = check_url_part(u.fragment, URL_FRAGMENT, &reason);
    }
    if (valid) {
        *ret = u;
        return true;
    }
    url_fails_about(why, "parse ", shown, ": ");
    return url_fails(why, kc_buf_cstr(&reason));
}

/* ---- writing ---- */

void kc__go_url_write_host(const kc__go_url *url, kc_buf *out)
{
    unescape_part(url->host, out);
}

void kc__go_url_write_path(const kc__go_url *url, kc_buf *out)
{
    write_encoded(url->path, URL_PATH, out);
}

kc_str kc__go_url_split_port(kc_str host, kc_str *ret_port)
{
    ptrdiff_t colon = kc_str_rfind(host, ':');
    *ret_port = KC_STR("");
    if (colon >= 0 && is_url_port(kc_str_sub(host, (size_t)colon, host.n))) {
        *ret_port = kc_str_sub(host, (size_t)colon + 1, host.n);
        host = kc_str_sub(host, 0, (size_t)colon);
    }
    if (host.n > 1 && host.p[0] == '[' && host.p[host.n - 1] == ']')
        host = kc_str_sub(host, 1, host.n - 1);
    return host;
}

static void write_user(kc_str user, kc_buf *out)
{
    kc_str name, password;
    bool has_password = split_user(user, &name, &password);
    normalize_part(name, URL_USER, out);
    if (has_password) {
        kc_buf_putc(out, ':');
        normalize_part(password, URL_USER, out);
    }
    kc_buf_putc(out, '@');
}

static void write_authority(const kc__go_url *url, kc_buf *out)
{
    bool any = url->scheme.n || url->host.n || url->has_user;
    if (!any || (url->omits_host && !url->host.n && !url->has_user))
        return;
    if (url->host.n || url->path.n || url->has_user)
        kc_buf_puts(out, "//");
    if (url->has_user)
        write_user(url->user, out);
    normalize_part(url->host, URL_HOST, out);
}

void kc__go_url_write(const kc__go_url *url, kc_buf *out)
{
    for (size_t i = 0; i < url->scheme.n; i++)
        kc_buf_putc(out, kc_lower(url->scheme.p[i]));
    if (url->scheme.n)
        kc_buf_putc(out, ':');
    if (url->opaque.n) {
        kc_buf_append(out, url->opaque);
    } else {
        write_authority(url, out);
        kc__go_url_write_path(url, out);
    }
    if (url->has_query) {
        kc_buf_putc(out, '?');
        kc_buf_append(out, url->query);
    }
    if (url->fragment.n) {
        kc_buf_putc(out, '#');
        write_encoded(url->fragment, URL_FRAGMENT, out);
    }
}
