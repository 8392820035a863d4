/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authn_remote.c: shares and keeps the answers of authenticators that take their time.
 *
 * A token and the audiences that it is for are known by SipHash-128 with a random key of this
 * process, as in token_cache.c: clients cannot make tokens collide, and kept answers contain no
 * token. A flight has a copy of its token, which is wiped at its end.
 *
 *     flights    by hash; each has the requests that wait for it
 *     answers    by hash, in the order of arrival; the oldest is dropped above the limits
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

typedef struct kept_answer {
    kc__siphash_result key;
    kc__authn_answer *answer;
    int64_t expires; /* Monotonic. */
    size_t bytes;
    kc_dlist_link link;
} kept_answer;

/* A request that waits for an answer. */
typedef struct answer_waiter {
    kc__loop_task task;
    kc__loop *loop;
    kc__authn_answer *answer;
    void (*done)(kc__authn_answer *answer, void *user);
    void *user;
    kc_dlist_link link; /* In the flight. */
} answer_waiter;

struct kc__authn_flight {
    kc__authn_remote *remote;
    kc__siphash_result key;
    kc_arena arena; /* Holds the token and the audiences. */
    kc_str token;
    kc__user_audiences wanted;
    uint64_t forgotten; /* The remote's, when the flight began. */
    kc_dlist waiters;   /* Of answer_waiter. Guarded by the remote's mutex. */
};

struct kc__authn_remote {
    kc__authn_remote_opts opts;
    kc__siphash_key salt;
    kc_mutex mutex;     /* Guards what follows, and the waiters of flights. */
    kc_map flights;     /* Maps to kc__authn_flight *, which contains the key. */
    kc_map answers;     /* Maps to kept_answer *, which contains the key. */
    kc_dlist oldest;    /* Of kept_answer, in the order of arrival. */
    size_t bytes;       /* Of kept answers. */
    size_t waiting;     /* Requests that wait. */
    uint64_t forgotten; /* Number of calls of kc__authn_remote_forget. */
    kc_counter *hits, *valid, *invalid, *errors, *refused;
    kc_gauge *kept, *in_flight;
};

/* ---- answers ---- */

kc__authn_answer *kc__authn_answer_new(int found)
{
    kc__authn_answer *answer = kc_new(kc__authn_answer);
    kc_ref_init(&answer->refs);
    answer->found = found;
    return answer;
}

kc__authn_answer *kc__authn_answer_error(const char *format, ...)
{
    kc_scoped(kc_buf) text = {0};
    va_list args;
    va_start(args, format);
    kc_buf_vprintf(&text, format, args);
    va_end(args);
    kc__authn_answer *answer = kc__authn_answer_new(-1);
    answer->error = kc_arena_strndup(&answer->arena, kc_buf_cstr(&text), text.n);
    return answer;
}

kc__authn_answer *kc__authn_answer_ref(kc__authn_answer *answer)
{
    kc_ref_add(&answer->refs);
    return answer;
}

kc__authn_answer *kc__authn_answer_unref(kc__authn_answer *answer)
{
    if (!answer || !kc_ref_drop(&answer->refs))
        return NULL;
    kc_arena_done(&answer->arena);
    free(answer);
    return NULL;
}

/* ---- keys ---- */

/* Lengths precede the texts, so that no two inputs have the same form. */
static kc__siphash_result answer_key(const kc__authn_remote *remote, kc_str token,
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

/* ---- kept answers; the mutex is locked ---- */

static void drop_answer(kc__authn_remote *remote, kept_answer *kept)
{
    kc_map_remove(&remote->answers, key_bytes(&kept->key));
    kc_dlist_remove(&kept->link);
    remote->bytes -= kept->bytes;
    kc_gauge_dec(remote->kept);
    kc__authn_answer_unref(kept->answer);
    free(kept);
}

static bool answer_is_fresh(const kc__authn_remote *remote, const kept_answer *kept)
{
    const int64_t until = kept->answer->valid_until;
    return kept->expires > kc_clock_now(remote->opts.clock) &&
           (!until || until > kc_clock_wall(remote->opts.clock));
}

static void drop_oldest_answers(kc__authn_remote *remote)
{
    for (kc_dlist_link *first; (first = kc_dlist_first(&remote->oldest));) {
        kept_answer *kept = kc_container_of(first, kept_answer, link);
        if (remote->answers.n <= KC__AUTHN_MAX_ANSWERS &&
            remote->bytes <= KC__AUTHN_MAX_ANSWER_BYTES && answer_is_fresh(remote, kept))
            return;
        drop_answer(remote, kept);
    }
}

static void keep_answer(kc__authn_remote *remote, const kc__siphash_result *key,
                        kc__authn_answer *answer)
{
    const int64_t ttl = answer->found > 0 ? remote->opts.success_ttl : remote->opts.failure_ttl;
    if (answer->found < 0 || ttl <= 0)
        return;
    kept_answer *old = kc_map_get(&remote->answers, key_bytes(key));
    if (old)
        drop_answer(remote, old);
    kept_answer *kept = kc_new(kept_answer);
    *kept = (kept_answer){.key = *key,
                          .answer = kc__authn_answer_ref(answer),
                          .expires = kc_clock_deadline(remote->opts.clock, ttl),
                          .bytes = sizeof(*kept) + sizeof(*answer) + answer->arena.used};
    kc_map_put(&remote->answers, key_bytes(&kept->key), kept);
    kc_dlist_push(&remote->oldest, &kept->link);
    remote->bytes += kept->bytes;
    kc_gauge_inc(remote->kept);
    drop_oldest_answers(remote);
}

kc__authn_answer *kc__authn_remote_known(kc__authn_remote *remote, kc_str token,
                                         kc__user_audiences wanted)
{
    const kc__siphash_result key = answer_key(remote, token, wanted);
    kc__authn_answer *answer = NULL;
    kc_locked (&remote->mutex) {
        kept_answer *kept = kc_map_get(&remote->answers, key_bytes(&key));
        if (kept && !answer_is_fresh(remote, kept))
            drop_answer(remote, kept);
        else if (kept)
            answer = kc__authn_answer_ref(kept->answer);
    }
    if (answer)
        kc_counter_inc(remote->hits);
    return answer;
}

void kc__authn_remote_forget(kc__authn_remote *remote)
{
    kc_locked (&remote->mutex) {
        remote->forgotten++;
        kc_dlist_each (&remote->oldest, kept_answer, link, kept)
            drop_answer(remote, kept);
    }
}

/* ---- flights ---- */

kc_str kc__authn_flight_token(const kc__authn_flight *flight)
{
    return flight->token;
}

kc__user_audiences kc__authn_flight_wanted(const kc__authn_flight *flight)
{
    return flight->wanted;
}

static kc__authn_flight *flight_new(kc__authn_remote *remote, const kc__siphash_result *key,
                                    kc_str token, kc__user_audiences wanted)
{
    kc__authn_flight *flight = kc_new(kc__authn_flight);
    kc_str *items = kc_arena_calloc(&flight->arena, wanted.n + 1, sizeof(*items));
    for (size_t i = 0; i < wanted.n; i++)
        items[i] = kc_arena_str(&flight->arena, wanted.items[i]);
    flight->remote = remote;
    flight->key = *key;
    flight->token = kc_arena_str(&flight->arena, token);
    flight->wanted = (kc__user_audiences){items, wanted.n};
    kc_dlist_init(&flight->waiters);
    return flight;
}

static void flight_free(kc__authn_flight *flight)
{
    OPENSSL_cleanse((char *)flight->token.p, flight->token.n);
    kc_arena_done(&flight->arena);
    free(flight);
}

static void deliver_answer(kc__loop_task *task)
{
    answer_waiter *waiter = kc_container_of(task, answer_waiter, task);
    waiter->done(waiter->answer, waiter->user);
    kc__authn_answer_unref(waiter->answer);
    free(waiter);
}

static void post_answer(answer_waiter *waiter, kc__authn_answer *answer)
{
    waiter->answer = kc__authn_answer_ref(answer);
    waiter->task.run = deliver_answer;
    kc__loop_post(waiter->loop, &waiter->task);
}

static void count_answer(const kc__authn_remote *remote, const kc__authn_answer *answer)
{
    kc_counter_inc(answer->found > 0    ? remote->valid
                   : answer->found == 0 ? remote->invalid
                                        : remote->errors);
}

void kc__authn_flight_end(kc__authn_flight *flight, kc__authn_answer *answer)
{
    kc__authn_remote *remote = flight->remote;
    count_answer(remote, answer);
    kc_locked (&remote->mutex) {
        kc_map_remove(&remote->flights, key_bytes(&flight->key));
        if (flight->forgotten == remote->forgotten)
            keep_answer(remote, &flight->key, answer);
    }
    /* The flight is not in the map any more: nothing joins it. */
    for (kc_dlist_link *first; (first = kc_dlist_first(&flight->waiters));) {
        answer_waiter *waiter = kc_container_of(first, answer_waiter, link);
        kc_dlist_remove(&waiter->link);
        kc_locked (&remote->mutex)
            remote->waiting--;
        kc_gauge_dec(remote->in_flight);
        post_answer(waiter, answer);
    }
    kc__authn_answer_unref(answer);
    flight_free(flight);
}

/* Adds the waiter to the flight of its token. Returns a new flight, which is to be started; NULL if
 * there is one. */
static kc__authn_flight *join_flight(kc__authn_remote *remote, answer_waiter *waiter, kc_str token,
                                     kc__user_audiences wanted, bool *ret_refused)
{
    const kc__siphash_result key = answer_key(remote, token, wanted);
    kc__authn_flight *made = NULL;
    kc_locked (&remote->mutex) {
        *ret_refused = remote->waiting >= KC__AUTHN_MAX_WAITING;
        if (*ret_refused)
            return NULL;
        kc__authn_flight *flight = kc_map_get(&remote->flights, key_bytes(&key));
        if (!flight) {
            flight = made = flight_new(remote, &key, token, wanted);
            flight->forgotten = remote->forgotten;
            kc_map_put(&remote->flights, key_bytes(&made->key), made);
        }
        kc_dlist_push(&flight->waiters, &waiter->link);
        remote->waiting++;
    }
    kc_gauge_inc(remote->in_flight);
    return made;
}

void kc__authn_remote_ask(kc__authn_remote *remote, kc_str token, kc__user_audiences wanted,
                          kc__loop *loop, void (*done)(kc__authn_answer *answer, void *user),
                          void *user)
{
    bool refused = false;
    answer_waiter *waiter = kc_new(answer_waiter);
    *waiter = (answer_waiter){.loop = loop, .done = done, .user = user};
    kc__authn_flight *flight = join_flight(remote, waiter, token, wanted, &refused);
    if (flight)
        remote->opts.ops->ask(remote->opts.self, flight, loop);
    if (!refused)
        return;
    kc_counter_inc(remote->refused);
    kc__authn_answer *busy = kc__authn_answer_error("too many tokens are being verified");
    busy->busy = true;
    post_answer(waiter, busy);
    kc__authn_answer_unref(busy);
}

bool kc__authn_remote_concerns(kc__authn_remote *remote, kc_str token)
{
    const kc__authn_remote_ops *ops = remote->opts.ops;
    return token.n <= KC__AUTHN_MAX_TOKEN &&
           (!ops->concerns || ops->concerns(remote->opts.self, token));
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
            .help = "Tokens shown to authenticators that take their time, by result.",
            .labels = {label,
                       {"result", KC_LABEL_VALUES("hit", "valid", "invalid", "error", "refused")}}},
        err);
    kc_metric *kept =
        kc_metrics_gauge(metrics,
                         &(kc_metric_opts){.name = "kc_authentication_remote_cache_entries",
                                           .help = "Kept answers of these authenticators.",
                                           .labels = {label}},
                         err);
    kc_metric *waiting =
        kc_metrics_gauge(metrics,
                         &(kc_metric_opts){.name = "kc_authentication_remote_waiting_requests",
                                           .help = "Requests that wait for these authenticators.",
                                           .labels = {label}},
                         err);
    if (!total || !kept || !waiting)
        return kc_error_result(err);
    remote->hits = kc_metric_counter(total, name, KC_STR("hit"));
    remote->valid = kc_metric_counter(total, name, KC_STR("valid"));
    remote->invalid = kc_metric_counter(total, name, KC_STR("invalid"));
    remote->errors = kc_metric_counter(total, name, KC_STR("error"));
    remote->refused = kc_metric_counter(total, name, KC_STR("refused"));
    remote->kept = kc_metric_gauge(kept, name);
    remote->in_flight = kc_metric_gauge(waiting, name);
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
    kc__authn_remote_forget(remote);
    remote->opts.ops->free(remote->opts.self);
    kc_map_done(&remote->flights);
    kc_map_done(&remote->answers);
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
