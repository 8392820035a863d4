/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_cache.c: verified tokens, by a salted hash.
 *
 * The key is SipHash-128 of the token with a random key of this process. Without that key a client
 * cannot make a token that has the hash of another one, and 128 bits make an accident impossible.
 * The table and a core dump contain no token.
 *
 * The first byte of the hash selects one of 16 shards, so that the I/O loops rarely wait for each
 * other. All entries live equally long, so the list of a shard is in the order of expiry: the
 * oldest is the first, and the first is dropped when the shard is full.
 */
#include "apiserver/access/token_cache.h"

#include "kc/dlist.h"
#include "kc/map.h"
#include "kc/thread.h"

#include <openssl/rand.h>

enum { SHARDS = 16 };

typedef struct cached_token {
    kc__token_cache_key key;
    kc__sa_claims *claims;
    int64_t expires;
    size_t bytes;
    kc_dlist_link link;
} cached_token;

typedef struct token_shard {
    kc_mutex mutex;  /* Guards the fields below. No other lock is taken while it is held. */
    kc_map by_key;   /* Maps to cached_token *, which contains the key. */
    kc_dlist oldest; /* Of cached_token, in the order of insertion. */
    size_t bytes;
} token_shard;

struct kc__token_cache {
    const kc_clock *clock;
    kc__siphash_key salt;
    token_shard shards[SHARDS];
    kc_counter *hits, *misses, *valid, *invalid;
    kc_gauge *entries;
};

static int make_cache_metrics(kc__token_cache *cache, kc_metrics *metrics, kc_error *err)
{
    if (!metrics)
        return 0;
    kc_metric *requests = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "authentication_token_cache_request_total",
                          .help = "Look-ups of verified tokens, by result.",
                          .labels = {{"status", KC_LABEL_VALUES("hit", "miss")}}},
        err);
    kc_metric *entries =
        kc_metrics_gauge(metrics,
                         &(kc_metric_opts){.name = "authentication_token_cache_entries",
                                           .help = "Verified tokens in the cache."},
                         err);
    kc_metric *fetches = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "authentication_token_cache_fetch_total",
                          .help = "Verified signatures of tokens, by result.",
                          .labels = {{"status", KC_LABEL_VALUES("ok", "error")}}},
        err);
    if (!requests || !entries || !fetches)
        return kc_error_result(err);
    cache->valid = kc_metric_counter(fetches, KC_STR("ok"));
    cache->invalid = kc_metric_counter(fetches, KC_STR("error"));
    cache->hits = kc_metric_counter(requests, KC_STR("hit"));
    cache->misses = kc_metric_counter(requests, KC_STR("miss"));
    cache->entries = kc_metric_gauge(entries);
    return 0;
}

kc__token_cache *kc__token_cache_new(const kc_clock *clock, kc_metrics *metrics, kc_error *err)
{
    kc_auto(kc__token_cache) *cache = kc_new(kc__token_cache);
    cache->clock = clock;
    for (size_t i = 0; i < SHARDS; i++) {
        kc_mutex_init(&cache->shards[i].mutex);
        kc_dlist_init(&cache->shards[i].oldest);
    }
    if (RAND_bytes((unsigned char *)&cache->salt, sizeof(cache->salt)) != 1) {
        kc_error_set(err, KC_INTERNAL, "cannot get random bytes");
        return NULL;
    }
    return make_cache_metrics(cache, metrics, err) < 0 ? NULL : kc_take(cache);
}

static kc_str cached_key(const kc__token_cache_key *key)
{
    return kc_str_of((const char *)key, sizeof(*key));
}

static void drop_cached(kc__token_cache *cache, token_shard *shard, cached_token *entry)
{
    kc_map_remove(&shard->by_key, cached_key(&entry->key));
    kc_dlist_remove(&entry->link);
    shard->bytes -= entry->bytes;
    kc_gauge_dec(cache->entries);
    kc__sa_claims_unref(entry->claims);
    free(entry);
}

kc__token_cache *kc__token_cache_free(kc__token_cache *cache)
{
    if (!cache)
        return NULL;
    for (size_t i = 0; i < SHARDS; i++) {
        token_shard *shard = &cache->shards[i];
        kc_dlist_each (&shard->oldest, cached_token, link, entry)
            drop_cached(cache, shard, entry);
        kc_map_done(&shard->by_key);
        kc_mutex_done(&shard->mutex);
    }
    free(cache);
    return NULL;
}

static token_shard *shard_of(kc__token_cache *cache, const kc__token_cache_key *key)
{
    return &cache->shards[key->words[0] % SHARDS];
}

kc__sa_claims *kc__token_cache_get(kc__token_cache *cache, kc_str token,
                                   kc__token_cache_key *ret_key)
{
    kc__sa_claims *claims = NULL;
    *ret_key = kc__siphash_of(&cache->salt, token);
    token_shard *shard = shard_of(cache, ret_key);
    const int64_t now = kc_clock_now(cache->clock);
    kc_locked (&shard->mutex) {
        cached_token *entry = kc_map_get(&shard->by_key, cached_key(ret_key));
        if (entry && entry->expires <= now)
            drop_cached(cache, shard, entry);
        else if (entry)
            claims = kc__sa_claims_ref(entry->claims);
    }
    kc_counter_inc(claims ? cache->hits : cache->misses);
    return claims;
}

/* Drops expired entries, and others until the limits hold. */
static void drop_oldest_tokens(kc__token_cache *cache, token_shard *shard, int64_t now)
{
    for (kc_dlist_link *first; (first = kc_dlist_first(&shard->oldest));) {
        cached_token *entry = kc_container_of(first, cached_token, link);
        const bool over = shard->by_key.n > KC__TOKEN_CACHE_ENTRIES / SHARDS ||
                          shard->bytes > KC__TOKEN_CACHE_BYTES / SHARDS;
        if (!over && entry->expires > now)
            return;
        drop_cached(cache, shard, entry);
    }
}

void kc__token_cache_put(kc__token_cache *cache, const kc__token_cache_key *key,
                         const kc__sa_claims *claims)
{
    token_shard *shard = shard_of(cache, key);
    const int64_t now = kc_clock_now(cache->clock);
    cached_token *entry = kc_new(cached_token);
    *entry = (cached_token){.key = *key,
                            .claims = kc__sa_claims_ref(claims),
                            .expires = now + KC__TOKEN_CACHE_TTL,
                            .bytes = sizeof(*entry) + sizeof(*claims) + claims->arena.used};
    kc_locked (&shard->mutex) {
        cached_token *old = kc_map_get(&shard->by_key, cached_key(key));
        if (old)
            drop_cached(cache, shard, old);
        kc_map_put(&shard->by_key, cached_key(&entry->key), entry);
        kc_dlist_push(&shard->oldest, &entry->link);
        shard->bytes += entry->bytes;
        kc_gauge_inc(cache->entries);
        drop_oldest_tokens(cache, shard, now);
    }
}

void kc__token_cache_count_fetch(kc__token_cache *cache, bool valid)
{
    kc_counter_inc(valid ? cache->valid : cache->invalid);
}

size_t kc__token_cache_count(kc__token_cache *cache)
{
    size_t n = 0;
    for (size_t i = 0; i < SHARDS; i++)
        kc_locked (&cache->shards[i].mutex)
            n += cache->shards[i].by_key.n;
    return n;
}
