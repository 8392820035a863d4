/* SPDX-License-Identifier: Apache-2.0 */
/*
 * login_limits.c: see login_limits.h.
 *
 * A bucket is one number: the time until which its tries are spent. A try moves it by the refill
 * interval; it may be at most `tries` intervals ahead of now (the generic cell rate algorithm). An
 * unused bucket needs no refill, and zero is a full bucket.
 *
 * An IPv6 client usually has a whole /64, so the source of such an address is its network.
 */
#include "apiserver/people/login_limits.h"

#include "apiserver/access/siphash.h"
#include "kc/rand.h"
#include "kc/thread.h"

#include <arpa/inet.h>
#include <stdio.h>

enum { N_BUCKETS = 4096, IPV6_NETWORK_BYTES = 8 };

typedef struct limit_rule {
    int64_t refill;
    int tries;
} limit_rule;

static const limit_rule account_rule = {KC__PEOPLE_ACCOUNT_REFILL, KC__PEOPLE_ACCOUNT_TRIES},
                        source_rule = {KC__PEOPLE_SOURCE_REFILL, KC__PEOPLE_SOURCE_TRIES};

struct kc__people_limits {
    const kc_clock *clock;
    kc__siphash_key key;
    kc_mutex mutex; /* Guards the buckets. No lock is taken under it. */
    int64_t accounts[N_BUCKETS], sources[N_BUCKETS];
};

kc__people_limits *kc__people_limits_new(const kc_clock *clock)
{
    kc_rand rand;
    kc__people_limits *limits = kc_new(kc__people_limits);
    limits->clock = clock;
    kc_rand_seed_os(&rand);
    kc_rand_bytes(&rand, (uint8_t *)&limits->key, sizeof(limits->key));
    kc_mutex_init(&limits->mutex);
    return limits;
}

kc__people_limits *kc__people_limits_free(kc__people_limits *limits)
{
    if (!limits)
        return NULL;
    kc_mutex_done(&limits->mutex);
    free(limits);
    return NULL;
}

/* ---- buckets ---- */

static int64_t *login_bucket_of(const kc__people_limits *limits, int64_t *table, kc_str text)
{
    const kc__siphash_result hash = kc__siphash_of(&limits->key, text);
    return &table[hash.words[0] % N_BUCKETS];
}

/* The network of an IPv6 address, in `text`; every other text is its own source. */
static kc_str source_of(kc_str address, char text[64])
{
    unsigned char bytes[16];
    const size_t n = KC_MIN(address.n, (size_t)63);
    memcpy(text, address.p, n);
    text[n] = 0;
    if (inet_pton(AF_INET6, text, bytes) != 1)
        return kc_str_of(text, n);
    memset(bytes + IPV6_NETWORK_BYTES, 0, sizeof(bytes) - IPV6_NETWORK_BYTES);
    inet_ntop(AF_INET6, bytes, text, 64);
    return kc_cstr(text);
}

/* How long until the bucket has a try; 0: it has one. */
static int64_t wait_of(int64_t bucket, const limit_rule *rule, int64_t now)
{
    const int64_t earliest = bucket - (rule->tries - 1) * rule->refill;
    return earliest > now ? earliest - now : 0;
}

static void spend(int64_t *bucket, const limit_rule *rule, int64_t now)
{
    *bucket = KC_MAX(*bucket, now) + rule->refill;
}

bool kc__people_limits_take(kc__people_limits *limits, kc_str account, kc_str address,
                            int *ret_seconds)
{
    char text[64];
    int64_t wait = 0;
    const int64_t now = kc_clock_now(limits->clock);
    int64_t *by_account = account.n ? login_bucket_of(limits, limits->accounts, account) : NULL;
    int64_t *by_source =
        address.n ? login_bucket_of(limits, limits->sources, source_of(address, text)) : NULL;
    kc_locked (&limits->mutex) {
        if (by_account)
            wait = wait_of(*by_account, &account_rule, now);
        if (by_source)
            wait = KC_MAX(wait, wait_of(*by_source, &source_rule, now));
        if (!wait && by_account)
            spend(by_account, &account_rule, now);
        if (!wait && by_source)
            spend(by_source, &source_rule, now);
    }
    if (wait)
        *ret_seconds = (int)((wait + KC_SECOND - 1) / KC_SECOND);
    return !wait;
}

void kc__people_limits_return(kc__people_limits *limits, kc_str account, kc_str address)
{
    char text[64];
    kc_locked (&limits->mutex) {
        if (account.n)
            *login_bucket_of(limits, limits->accounts, account) -= account_rule.refill;
        if (address.n)
            *login_bucket_of(limits, limits->sources, source_of(address, text)) -=
                source_rule.refill;
    }
}
