/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protocols.c: the supported protocols, in order of preference, and their selection: by ALPN on
 * TLS, by the first bytes on a plain connection, where HTTP/2 begins with a preface that no
 * HTTP/1.1 request begins with. To add a protocol, add it to `offered`.
 */
#include "http/server/protocols.h"

static const kc__conn_protocol *const offered[] = {&kc__h2_protocol, &kc__h1_protocol};

static const kc_str preface = KC_STR_INIT("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

static const kc__conn_protocol *find_protocol_by_name(kc_str name)
{
    for (size_t i = 0; i < KC_COUNT(offered); i++)
        if (kc_str_is(name, offered[i]->name))
            return offered[i];
    return NULL;
}

const kc__conn_protocol *kc__conn_protocol_by_name(kc_str name)
{
    const kc__conn_protocol *protocol = find_protocol_by_name(name);
    return protocol ? protocol : &kc__h1_protocol;
}

static bool offers(const unsigned char *offer, size_t n, const char *name)
{
    for (size_t at = 0; at < n && offer[at] < n - at; at += 1u + offer[at])
        if (kc_str_is(kc_str_of((const char *)offer + at + 1, offer[at]), name))
            return true;
    return false;
}

const kc__conn_protocol *kc__conn_protocol_by_alpn(const unsigned char *offer, size_t n)
{
    for (size_t i = 0; i < KC_COUNT(offered); i++)
        if (offers(offer, n, offered[i]->name))
            return offered[i];
    return NULL;
}

const kc__conn_protocol *kc__conn_protocol_by_preface(kc_str first)
{
    const kc__conn_protocol *h2 = find_protocol_by_name(KC_STR("h2"));
    size_t n = KC_MIN(first.n, preface.n);
    if (!h2 || memcmp(first.p, preface.p, n) != 0)
        return &kc__h1_protocol;
    return n == preface.n ? h2 : NULL;
}
