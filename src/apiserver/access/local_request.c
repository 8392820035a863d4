/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_request.c: is it a program of this machine that asks?
 *
 * That the connection comes from a loopback address is necessary, and no header can replace it. It
 * is not enough, for a browser on this machine connects from there too, on behalf of pages that
 * come from anywhere:
 *
 *   - DNS rebinding: the page's own name is made to point to 127.0.0.1; the request is then of its
 *     own origin, but Host still has that name.
 *   - Forged requests: the page sends a form or an image's request to http://127.0.0.1:6080; Host
 *     is ours, but Origin or Sec-Fetch-Site tells where the page is from.
 *
 * And a proxy on this machine connects from there on behalf of anybody; most say so. So a request
 * with a foreign Host, Origin or Sec-Fetch-Site, or with a proxy's field, is not local. Every rule
 * is a row below and can only refuse; a page whose origin is on a loopback address was served by a
 * program of this machine, which could just as well ask by itself.
 *
 * To add a rule, add a row: every field of that name must pass its test.
 */
#include "apiserver/access/local_request.h"

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

bool kc__is_local_authority(kc_str text)
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

bool kc__is_local_origin(kc_str origin)
{
    static const kc_str schemes[] = {KC_STR_INIT("http://"), KC_STR_INIT("https://")};
    for (size_t i = 0; i < KC_COUNT(schemes); i++)
        if (kc_str_starts(origin, schemes[i]))
            return kc__is_local_authority(kc_str_sub(origin, schemes[i].n, origin.n));
    return false; /* "null" among others. */
}

/* ---- rules ---- */

static bool is_no_other_site(kc_str value)
{
    return kc_str_is(value, "same-origin") || kc_str_is(value, "same-site") ||
           kc_str_is(value, "none");
}

static bool never(kc_str value)
{
    (void)value;
    return false;
}

static const struct rule {
    kc_str field;
    bool (*passes)(kc_str value);
    bool of_pages; /* What fails it was sent by a web page of elsewhere. */
} rules[] = {
    {KC_STR_INIT("Host"), kc__is_local_authority, true},
    {KC_STR_INIT("Origin"), kc__is_local_origin, true},
    {KC_STR_INIT("Sec-Fetch-Site"), is_no_other_site, true},
    {KC_STR_INIT("Forwarded"), never, false},
    {KC_STR_INIT("X-Forwarded-For"), never, false},
    {KC_STR_INIT("X-Forwarded-Host"), never, false},
    {KC_STR_INIT("X-Real-Ip"), never, false},
    {KC_STR_INIT("Via"), never, false},
};

static bool all_pass(const kc__headers *headers, const struct rule *rule)
{
    kc_str value;
    size_t at = 0;
    while (kc__headers_next(headers, rule->field, &at, &value))
        if (!rule->passes(value))
            return false;
    return true;
}

static bool passes_rules(const kc__request *request, bool of_pages)
{
    const kc_str authority = request->target.authority;
    if (of_pages && !kc_str_empty(authority) && !kc__is_local_authority(authority))
        return false;
    for (size_t i = 0; i < KC_COUNT(rules); i++)
        if (rules[i].of_pages == of_pages && !all_pass(&request->headers, &rules[i]))
            return false;
    return true;
}

/* What stands between "://" and the path, if there is any. */
static kc_str authority_of(kc_str origin)
{
    for (size_t i = 0; i + 3 <= origin.n; i++)
        if (!memcmp(origin.p + i, "://", 3)) {
            kc_str rest = kc_str_sub(origin, i + 3, origin.n);
            return kc_str_cut(&rest, '/');
        }
    return (kc_str){0};
}

bool kc__is_cross_site(const kc__request *request)
{
    const kc_str host = kc__headers_get(&request->headers, KC_STR("Host"));
    kc_str value;
    for (size_t at = 0; kc__headers_next(&request->headers, KC_STR("Origin"), &at, &value);) {
        const kc_str authority = authority_of(value);
        if (!kc__is_local_authority(authority) &&
            (!authority.n || !kc_str_eq_nocase(authority, host)))
            return true;
    }
    for (size_t at = 0; kc__headers_next(&request->headers, KC_STR("Sec-Fetch-Site"), &at, &value);)
        if (!is_no_other_site(value))
            return true;
    return false;
}

bool kc__is_from_foreign_page(const kc__request *request)
{
    return request->peer && request->peer->loopback && !passes_rules(request, true);
}

bool kc__is_local_request(const kc__request *request)
{
    return request->peer && request->peer->loopback && passes_rules(request, true) &&
           passes_rules(request, false);
}
