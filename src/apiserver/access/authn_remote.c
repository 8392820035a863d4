/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authn_remote.c: shares the verifications of remote authenticators and caches their results.
 *
 * A token and its audiences are identified by SipHash-128 with a random key of this
 * process, as in token_cache.c: clients cannot make tokens collide, and cached results contain no
 * token. A verification has a copy of its token, which is wiped at its end.
 *
 *     verifications    by hash; each has the requests that wait for it
 *     cached results   by hash, in the order of arrival; the oldest is dropped above the limits
 *
 * Both have a limit, and above the limit of waiting requests further ones are refused at once, so
 * a client that sends many different tokens cannot make the server hold more than that. One lock
 * guards both; it is held for a look-up at most, and no other lock is taken meanwhile.
 */
#include "apiserver/access/authn_remote.h"

#include "apiserver/access/siphash.h"
#include "kc/buf.h"
#include "kc/dlist.h"
#include "kc/map.h"
#include "kc/thread.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdarg.h>

typedef struct cached_result {
    kc__siphash_result key;
    kc__authn_result *result;
    int64_t expires; /* Monotonic. */
    size_t bytes;
    kc_dlist_link link;
} cached_result;

/* A request that waits for a result. */
typedef struct result_waiter {
    kc__loop_task task;
    kc__loop *loop;
    kc__authn_result *result;
    void (*done)(kc__authn_result *result, void *user);
    void *user;
    kc_dlist_link link; /* In the verification. */
} result_waiter;

struct kc__authn_verification {
    kc__authn_remote *remote;
    kc__siphash_result key;
    kc_arena arena; /* Holds the token and the audiences. */
    kc_str token;
    kc__user_audiences wanted;
    uint64_t clears;  /* The remote's, when the verification began. */
    kc_dlist waiters; /* Of result_waiter. Guarded by the remote's mutex. */
};

struct kc__authn_remote {
    kc__authn_remote_opts opts;
    kc__siphash_key salt;
    kc_mutex mutex;       /* Guards what follows, and the waiters of verifications. */
    kc_map verifications; /* Maps to kc__authn_verification *, which contains the key. */
    kc_map cache;         /* Maps to cached_result *, which contains the key. */
    kc_dlist oldest;      /* Of cached_result, in the order of arrival. */
    size_t bytes;         /* Of cached results. */
    size_t waiting;       /* Requests that wait. */
    uint64_t clears;      /* Number of calls of kc__authn_remote_clear_cache. */
    kc_counter *hits, *valid, *invalid, *errors, *refused;
    kc_gauge *cached, *waiting_gauge;
};

/* ---- results ---- */

kc__authn_result *kc__authn_result_new(int found)
{
    kc__authn_result *result = kc_new(kc__authn_result);
    kc_ref_init(&result->refs);
    result->found = found;
    return result;
}

kc__authn_result *kc__authn_result_error(const char *format, ...)
{
    kc_scoped(kc_buf) text = {0};
    va_list args;
    va_start(args, format);
    kc_buf_vprintf(&text, format, args);
    va_end(args);
    kc__authn_result *result = kc__authn_result_new(-1);
    result->error = kc_arena_strndup(&result->arena, kc_buf_cstr(&text), text.n);
    return result;
}

kc__authn_result *kc__authn_result_ref(kc__authn_result *result)
{
    kc_ref_add(&result->refs);
    return result;
}

kc__authn_result *kc__authn_result_unref(kc__authn_result *result)
{
    if (!result || !kc_ref_drop(&result->refs))
        return NULL;
    kc_arena_done(&result->arena);
    free(result);
    return NULL;
}

/* ---- keys ---- */

/* Lengths precede the texts, so that no two inputs have the same form. */
static kc__siphash_result cache_key(const kc__authn_remote *remote, kc_str token,
                                    kc__user_audiences wanted)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text, "%zu:", token.n);
    kc_buf_append(&text, token);
    for (size_t i = 0; i < wanted.n; i++) {
        kc_buf_printf(&text, "%zu:", wanted.items[i].n);
        kc_buf_append(&text, wanted.items[i]);
    }
    const kc__siphash_result key = kc__siphash_of(&remote->salt, kc_buf_str(&text));
    kc_buf_wipe(&text);
    return key;
}

static kc_str key_bytes(const kc__siphash_result *key)
{
    return kc_str_of((const char *)key, sizeof(*key));
}

/* ---- cached results; the mutex is locked ---- */

static void drop_cached(kc__authn_remote *remote, cached_result *entry)
{
    kc_map_remove(&remote->cache, key_bytes(&entry->key));
    kc_dlist_remove(&entry->link);
    remote->bytes -= entry->bytes;
    kc_gauge_dec(remote->cached);
    kc__authn_result_unref(entry->result);
    free(entry);
}

static bool cached_is_fresh(const kc__authn_remote *remote, const cached_result *entry)
{
    const int64_t until = entry->result->valid_until;
    return entry->expires > kc_clock_now(remote->opts.clock) &&
           (!until || until > kc_clock_wall(remote->opts.clock));
}

static void drop_oldest_cached(kc__authn_remote *remote)
{
    for (kc_dlist_link *first; (first = kc_dlist_first(&remote->oldest));) {
        cached_result *entry = kc_container_of(first, cached_result, link);
        if (remote->cache.n <= KC__AUTHN_MAX_CACHED_RESULTS &&
            remote->bytes <= KC__AUTHN_MAX_CACHED_BYTES && cached_is_fresh(remote, entry))
            return;
        drop_cached(remote, entry);
    }
}

static void cache_result(kc__authn_remote *remote, const kc__siphash_result *key,
                         kc__authn_result *result)
{
    const int64_t ttl = result->found > 0 ? remote->opts.success_ttl : remote->opts.failure_ttl;
    if (result->found < 0 || ttl <= 0)
        return;
    cached_result *old = kc_map_get(&remote->cache, key_bytes(key));
    if (old)
        drop_cached(remote, old);
    cached_result *entry = kc_new(cached_result);
    *entry = (cached_result){.key = *key,
                             .result = kc__authn_result_ref(result),
                             .expires = kc_clock_deadline(remote->opts.clock, ttl),
                             .bytes = sizeof(*entry) + sizeof(*result) + result->arena.used};
    kc_map_put(&remote->cache, key_bytes(&entry->key), entry);
    kc_dlist_push(&remote->oldest, &entry->link);
    remote->bytes += entry->bytes;
    kc_gauge_inc(remote->cached);
    drop_oldest_cached(remote);
}

kc__authn_result *kc__authn_remote_cached(kc__authn_remote *remote, kc_str token,
                                          kc__user_audiences wanted)
{
    const kc__siphash_result key = cache_key(remote, token, wanted);
    kc__authn_result *result = NULL;
    kc_locked (&remote->mutex) {
        cached_result *entry = kc_map_get(&remote->cache, key_bytes(&key));
        if (entry && !cached_is_fresh(remote, entry))
            drop_cached(remote, entry);
        else if (entry)
            result = kc__authn_result_ref(entry->result);
    }
    if (result)
        kc_counter_inc(remote->hits);
    return result;
}

void kc__authn_remote_clear_cache(kc__authn_remote *remote)
{
    kc_locked (&remote->mutex) {
        remote->clears++;
        kc_dlist_each (&remote->oldest, cached_result, link, entry)
            drop_cached(remote, entry);
    }
}

/* ---- verifications ---- */

kc_str kc__authn_verification_token(const kc__authn_verification *verification)
{
    return verification->token;
}

kc__user_audiences kc__authn_verification_wanted(const kc__authn_verification *verification)
{
    return verification->wanted;
}

static kc__authn_verification *verification_new(kc__authn_remote *remote,
                                                const kc__siphash_result *key, kc_str token,
                                                kc__user_audiences wanted)
{
    kc__authn_verification *verification = kc_new(kc__authn_verification);
    kc_str *items = kc_arena_calloc(&verification->arena, wanted.n + 1, sizeof(*items));
    for (size_t i = 0; i < wanted.n; i++)
        items[i] = kc_arena_str(&verification->arena, wanted.items[i]);
    verification->remote = remote;
    verification->key = *key;
    verification->token = kc_arena_str(&verification->arena, token);
    verification->wanted = (kc__user_audiences){items, wanted.n};
    kc_dlist_init(&verification->waiters);
    return verification;
}

static void verification_free(kc__authn_verification *verification)
{
    OPENSSL_cleanse((char *)verification->token.p, verification->token.n);
    kc_arena_done(&verification->arena);
    free(verification);
}

static void deliver_result(kc__loop_task *task)
{
    result_waiter *waiter = kc_container_of(task, result_waiter, task);
    waiter->done(waiter->result, waiter->user);
    kc__authn_result_unref(waiter->result);
    free(waiter);
}

static void post_result(result_waiter *waiter, kc__authn_result *result)
{
    waiter->result = kc__authn_result_ref(result);
    waiter->task.run = deliver_result;
    kc__loop_post(waiter->loop, &waiter->task);
}

static void count_result(const kc__authn_remote *remote, const kc__authn_result *result)
{
    kc_counter_inc(result->found > 0    ? remote->valid
                   : result->found == 0 ? remote->invalid
                                        : remote->errors);
}

void kc__authn_verification_end(kc__authn_verification *verification, kc__authn_result *result)
{
    kc__authn_remote *remote = verification->remote;
    count_result(remote, result);
    kc_locked (&remote->mutex) {
        kc_map_remove(&remote->verifications, key_bytes(&verification->key));
        if (verification->clears == remote->clears)
            cache_result(remote, &verification->key, result);
    }
    /* The verification is not in the map any more: nothing joins it. */
    for (kc_dlist_link *first; (first = kc_dlist_first(&verification->waiters));) {
        result_waiter *waiter = kc_container_of(first, result_waiter, link);
        kc_dlist_remove(&waiter->link);
        kc_locked (&remote->mutex)
            remote->waiting--;
        kc_gauge_dec(remote->waiting_gauge);
        post_result(waiter, result);
    }
    kc__authn_result_unref(result);
    verification_free(verification);
}

/* Adds the waiter to the verification of its token. Returns a new verification, which is to be
 * started; NULL if there is one. */
static kc__authn_verification *join_verification(kc__authn_remote *remote, result_waiter *waiter,
                                                 kc_str token, kc__user_audiences wanted,
                                                 bool *ret_refused)
{
    const kc__siphash_result key = cache_key(remote, token, wanted);
    kc__authn_verification *made = NULL;
    kc_locked (&remote->mutex) {
        *ret_refused = remote->waiting >= KC__AUTHN_MAX_WAITING;
        if (*ret_refused)
            return NULL;
        kc__authn_verification *verification = kc_map_get(&remote->verifications, key_bytes(&key));
        if (!verification) {
            verification = made = verification_new(remote, &key, token, wanted);
            verification->clears = remote->clears;
            kc_map_put(&remote->verifications, key_bytes(&made->key), made);
        }
        kc_dlist_push(&verification->waiters, &waiter->link);
        remote->waiting++;
    }
    kc_gauge_inc(remote->waiting_gauge);
    return made;
}

void kc__authn_remote_verify(kc__authn_remote *remote, kc_str token, kc__user_audiences wanted,
                             kc__loop *loop, void (*done)(kc__authn_result *result, void *user),
                             void *user)
{
    bool refused = false;
    result_waiter *waiter = kc_new(result_waiter);
    *waiter = (result_waiter){.loop = loop, .done = done, .user = user};
    kc__authn_verification *verification =
        join_verification(remote, waiter, token, wanted, &refused);
    if (verification)
        remote->opts.ops->verify(remote->opts.self, verification, loop);
    if (!refused)
        return;
    kc_counter_inc(remote->refused);
    kc__authn_result *busy = kc__authn_result_error("too many tokens are being verified");
    busy->busy = true;
    post_result(waiter, busy);
    kc__authn_result_unref(busy);
}

bool kc__authn_remote_accepts(kc__authn_remote *remote, kc_str token)
{
    const kc__authn_remote_ops *ops = remote->opts.ops;
    return token.n <= KC__AUTHN_MAX_TOKEN &&
           (!ops->accepts || ops->accepts(remote->opts.self, token));
}

/* ---- start and end ---- */

static int make_remote_metrics(kc__authn_remote *remote, kc_metrics *metrics, kc_error *err)
{
    const kc_str name = kc_cstr(remote->opts.ops->name);
    const kc_metric_label label = {"authenticator", .max_values = 8};
    if (!metrics)
        return 0;
    kc_metric *total = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){
            .name = "kc_authentication_remote_total",
            .help = "Token verifications by remote authenticators, by result.",
            .labels = {label,
                       {"result", KC_LABEL_VALUES("hit", "valid", "invalid", "error", "refused")}}},
        err);
    kc_metric *cached =
        kc_metrics_gauge(metrics,
                         &(kc_metric_opts){.name = "kc_authentication_remote_cache_entries",
                                           .help = "Cached results of remote authenticators.",
                                           .labels = {label}},
                         err);
    kc_metric *waiting =
        kc_metrics_gauge(metrics,
                         &(kc_metric_opts){.name = "kc_authentication_remote_waiting_requests",
                                           .help = "Requests waiting for remote authenticators.",
                                           .labels = {label}},
                         err);
    if (!total || !cached || !waiting)
        return kc_error_result(err);
    remote->hits = kc_metric_counter(total, name, KC_STR("hit"));
    remote->valid = kc_metric_counter(total, name, KC_STR("valid"));
    remote->invalid = kc_metric_counter(total, name, KC_STR("invalid"));
    remote->errors = kc_metric_counter(total, name, KC_STR("error"));
    remote->refused = kc_metric_counter(total, name, KC_STR("refused"));
    remote->cached = kc_metric_gauge(cached, name);
    remote->waiting_gauge = kc_metric_gauge(waiting, name);
    return 0;
}

kc__authn_remote *kc__authn_remote_new(const kc__authn_remote_opts *opts, kc_error *err)
{
    kc__authn_remote *remote = kc_new(kc__authn_remote);
    remote->opts = *opts;
    kc_mutex_init(&remote->mutex);
    kc_dlist_init(&remote->oldest);
    if (RAND_bytes((unsigned char *)&remote->salt, sizeof(remote->salt)) != 1)
        kc_error_set(err, KC_INTERNAL, "cannot get random bytes");
    else if (make_remote_metrics(remote, opts->metrics, err) == 0)
        return remote;
    return kc__authn_remote_free(remote);
}

kc__authn_remote *kc__authn_remote_free(kc__authn_remote *remote)
{
    if (!remote)
        return NULL;
    kc__authn_remote_clear_cache(remote);
    remote->opts.ops->free(remote->opts.self);
    kc_map_done(&remote->verifications);
    kc_map_done(&remote->cache);
    kc_mutex_done(&remote->mutex);
    free(remote);
    return NULL;
}

void kc__authn_remote_end_by(kc__authn_remote *remote, int64_t deadline)
{
    if (remote->opts.ops->end_by)
        remote->opts.ops->end_by(remote->opts.self, deadline);
}

void kc__authn_remote_stop(kc__authn_remote *remote)
{
    remote->opts.ops->stop(remote->opts.self);
}
