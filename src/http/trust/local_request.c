/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_request.c: decides whether a program on this machine sent a request.
 *
 * A loopback peer address is necessary, and no header can replace it. It is not sufficient, because
 * a browser on this machine connects from there too, on behalf of pages from any site:
 *
 *   - DNS rebinding: the page's own name is made to resolve to 127.0.0.1; the request is then
 *     same-origin, but Host still has that name.
 *   - Forged requests (CSRF): the page submits a form or loads an image from
 *     http://127.0.0.1:6080; Host is ours, but Origin or Sec-Fetch-Site shows the page's site.
 *
 * A proxy on this machine also connects from there, on behalf of any client; most proxies add a
 * header field. So a request with a foreign Host, Origin or Sec-Fetch-Site, or with a proxy's
 * field, is not local. Neither is a request without Host: no client that the rules are made for
 * omits it. Every rule is a row below and can only reject. A page whose origin is on a loopback
 * address was served by a program on this machine, which could send the request itself.
 *
 * To add a rule, add a row to `rules` (every field of that name must pass its test) or, for a field
 * that proxies add, to `proxy_fields`.
 */
#include "http/trust/local_request.h"

#include <arpa/inet.h>

/* ---- names of this machine ---- */

static bool is_port(kc_str text)
{
    uint64_t port;
    return text.n >= 1 && text.n <= 5 && kc_str_to_u64(text, &port) && port <= UINT16_MAX;
}

static bool is_loopback_v4(kc_str text)
{
    char copy[INET_ADDRSTRLEN];
    struct in_addr address;
    if (text.n >= sizeof(copy) || memchr(text.p, '\0', text.n))
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    return inet_pton(AF_INET, copy, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

bool kc__local_request_is_local_authority(kc_str text)
{
    static const kc_str v6 = KC_STR_INIT("[::1]");
    kc_str host = text;
    if (kc_str_starts(text, v6))
        host = v6;
    else if (kc_str_find(text, ':') >= 0)
        host = kc_str_sub(text, 0, (size_t)kc_str_find(text, ':'));
    const kc_str rest = kc_str_sub(text, host.n, text.n);
    if (rest.n && (rest.p[0] != ':' || !is_port(kc_str_sub(rest, 1, rest.n))))
        return false;
    return kc_str_eq(host, v6) || kc_str_eq_nocase(host, KC_STR("localhost")) ||
           (host.n && is_loopback_v4(host));
}

bool kc__local_request_is_local_origin(kc_str origin)
{
    static const kc_str schemes[] = {KC_STR_INIT("http://"), KC_STR_INIT("https://")};
    for (size_t i = 0; i < KC_COUNT(schemes); i++)
        if (kc_str_starts(origin, schemes[i]))
            return kc__local_request_is_local_authority(kc_str_sub(origin, schemes[i].n, origin.n));
    return false; /* "null" among others. */
}

/* ---- rules ---- */

static bool is_no_other_site(kc_str value)
{
    return kc_str_is(value, "same-origin") || kc_str_is(value, "same-site") ||
           kc_str_is(value, "none");
}

/* Header fields set by browsers: a request that fails a test was sent for a page of another
 * site. */
static const struct origin_rule {
    kc_str field;
    bool (*passes)(kc_str value);
} rules[] = {
    {KC_STR_INIT("Host"), kc__local_request_is_local_authority},
    {KC_STR_INIT("Origin"), kc__local_request_is_local_origin},
    {KC_STR_INIT("Sec-Fetch-Site"), is_no_other_site},
};

/* Header fields set by proxies, by prefix and suffix of their names: X-Real-IP,
 * CF-Connecting-IP. */
static const struct proxy_field {
    kc_str starts, ends;
} proxy_fields[] = {
    {KC_STR_INIT("Forwarded"), {0}},   {KC_STR_INIT("X-Forwarded"), {0}},
    {KC_STR_INIT("X-Original-"), {0}}, {KC_STR_INIT("X-Remote-"), {0}},
    {KC_STR_INIT("Proxy-"), {0}},      {KC_STR_INIT("Via"), KC_STR_INIT("Via")},
    {{0}, KC_STR_INIT("-IP")},
};

static bool is_proxy_field(kc_str name)
{
    for (size_t i = 0; i < KC_COUNT(proxy_fields); i++) {
        const kc_str starts = proxy_fields[i].starts, ends = proxy_fields[i].ends;
        if (name.n >= starts.n && name.n >= ends.n &&
            kc_str_eq_nocase(kc_str_sub(name, 0, starts.n), starts) &&
            kc_str_eq_nocase(kc_str_sub(name, name.n - ends.n, name.n), ends))
            return true;
    }
    return false;
}

static bool is_from_proxy(const kc__http_headers *headers)
{
    kc_vec_each (&headers->list, header)
        if (is_proxy_field(header->name))
            return true;
    return false;
}

static bool has_host(const kc__http_headers *headers)
{
    return !kc_str_empty(kc__http_headers_get(headers, KC_STR("Host")));
}

static bool all_pass(const kc__http_headers *headers, const struct origin_rule *rule)
{
    kc_str value;
    size_t at = 0;
    while (kc__http_headers_next(headers, rule->field, &at, &value))
        if (!rule->passes(value))
            return false;
    return true;
}

static bool passes_rules(const kc__http_request *request)
{
    const kc_str authority = request->target.authority;
    if (!kc_str_empty(authority) && !kc__local_request_is_local_authority(authority))
        return false;
    for (size_t i = 0; i < KC_COUNT(rules); i++)
        if (!all_pass(&request->headers, &rules[i]))
            return false;
    return true;
}

/* Returns the text between "://" and the path, if any. */
static kc_str authority_of(kc_str origin)
{
    for (size_t i = 0; i + 3 <= origin.n; i++)
        if (!memcmp(origin.p + i, "://", 3)) {
            kc_str rest = kc_str_sub(origin, i + 3, origin.n);
            return kc_str_cut(&rest, '/');
        }
    return (kc_str){0};
}

bool kc__local_request_is_cross_site(const kc__http_request *request)
{
    const kc_str host = kc__http_headers_get(&request->headers, KC_STR("Host"));
    kc_str value;
    for (size_t at = 0; kc__http_headers_next(&request->headers, KC_STR("Origin"), &at, &value);) {
        const kc_str authority = authority_of(value);
        if (!kc__local_request_is_local_authority(authority) &&
            (!authority.n || !kc_str_eq_nocase(authority, host)))
            return true;
    }
    for (size_t at = 0;
         kc__http_headers_next(&request->headers, KC_STR("Sec-Fetch-Site"), &at, &value);)
        if (!is_no_other_site(value))
            return true;
    return false;
}

bool kc__local_request_is_foreign_page(const kc__http_request *request)
{
    return request->peer && request->peer->loopback && !passes_rules(request);
}

bool kc__local_request_is_local(const kc__http_request *request)
{
    return request->peer && request->peer->loopback && has_host(&request->headers) &&
           passes_rules(request) && !is_from_proxy(&request->headers);
}
