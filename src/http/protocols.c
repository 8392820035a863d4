/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protocols.c: the protocols there are, best first, and how one is chosen: by ALPN on TLS, by the
 * first bytes on a plain connection, where HTTP/2 begins with a preface that no HTTP/1.1 request
 * begins with. To add one, name it in `offered`.
 */
#include "http/protocols.h"

static const kc__protocol *const offered[] = {&kc__http2, &kc__http1};

static const kc_str preface = KC_STR_INIT("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

static const kc__protocol *find(kc_str name)
{
    for (size_t i = 0; i < KC_COUNT(offered); i++)
        if (kc_str_is(name, offered[i]->name))
            return offered[i];
    return NULL;
}

const kc__protocol *kc__protocol_named(kc_str name)
{
    const kc__protocol *protocol = find(name);
    return protocol ? protocol : &kc__http1;
}

static bool offers(const unsigned char *offer, size_t n, const char *name)
{
    for (size_t at = 0; at < n && offer[at] < n - at; at += 1u + offer[at])
        if (kc_str_is(kc_str_of((const char *)offer + at + 1, offer[at]), name))
            return true;
    return false;
}

const kc__protocol *kc__protocol_of_offer(const unsigned char *offer, size_t n)
{
    for (size_t i = 0; i < KC_COUNT(offered); i++)
        if (offers(offer, n, offered[i]->name))
            return offered[i];
    return NULL;
}

const kc__protocol *kc__protocol_of_bytes(kc_str first)
{
    const kc__protocol *h2 = find(KC_STR("h2"));
    size_t n = KC_MIN(first.n, preface.n);
    if (!h2 || memcmp(first.p, preface.p, n) != 0)
        return &kc__http1;
    return n == preface.n ? h2 : NULL;
}
