/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rate_limit.c: the delay of a failed key. Each limiter is a table of functions and a state;
 * composed limiters own their parts.
 *
 *     per key:       exponential, fast_slow     a table of failures; a success removes the key
 *     all keys:      bucket                     as golang.org/x/time/rate: tokens may go below zero
 *     composed:      max, jitter
 *
 * Nearly all keys never fail, and every success calls forget: an atomic count of the keys with
 * failures answers that without a lock.
 *
 * To add one: a state, its four functions, a constructor.
 */
#include "kc/rate_limit.h"

#include "kc/thread.h"
#include "runtime/queue/key_table.h"

#include <math.h>

struct kc_rate_limiter {
    const kc_rate_limiter_ops *ops;
    void *state;
};

kc_rate_limiter *kc_rate_limiter_new(const kc_rate_limiter_ops *ops, void *state)
{
    kc_rate_limiter *limiter = kc_new(kc_rate_limiter);
    *limiter = (kc_rate_limiter){ops, state};
    return limiter;
}

int64_t kc_rate_limiter_when(kc_rate_limiter *limiter, kc_key key)
{
    return limiter->ops->when(limiter->state, key);
}

void kc_rate_limiter_forget(kc_rate_limiter *limiter, kc_key key)
{
    if (limiter->ops->forget)
        limiter->ops->forget(limiter->state, key);
}

int kc_rate_limiter_num_requeues(kc_rate_limiter *limiter, kc_key key)
{
    return limiter->ops->failures ? limiter->ops->failures(limiter->state, key) : 0;
}

kc_rate_limiter *kc_rate_limiter_free(kc_rate_limiter *limiter)
{
    if (!limiter)
        return NULL;
    if (limiter->ops->free)
        limiter->ops->free(limiter->state);
    free(limiter);
    return NULL;
}

/* ---- failures per key ---- */

typedef struct rate_limit_failure {
    kc__key_node node;
    int n;
    char text[];
} rate_limit_failure;

typedef struct rate_limit_failures {
    kc_mutex mutex;        /* Guards the table. No lock is taken under it. */
    kc__key_table table;   /* Of failure. */
    _Atomic size_t failed; /* Number of keys in the table; lets forget skip the lock. */
} rate_limit_failures;

static void failures_init(rate_limit_failures *f)
{
    kc_mutex_init(&f->mutex);
    kc__key_table_init(&f->table);
}

static void rate_limit_failures_done(rate_limit_failures *f)
{
    kc__key_table_each(&f->table, node) free(kc_container_of(node, rate_limit_failure, node));
    kc__key_table_done(&f->table);
    kc_mutex_done(&f->mutex);
}

static rate_limit_failure *find_failure(const rate_limit_failures *f, kc_key key, uint64_t hash)
{
    kc__key_node *node = kc__key_table_find(&f->table, key, hash);
    return node ? kc_container_of(node, rate_limit_failure, node) : NULL;
}

static rate_limit_failure *add_failure(rate_limit_failures *f, kc_key key, uint64_t hash)
{
    rate_limit_failure *one = kc_calloc(1, sizeof(*one) + key.ns.n + key.name.n);
    if (key.ns.n)
        memcpy(one->text, key.ns.p, key.ns.n);
    if (key.name.n)
        memcpy(one->text + key.ns.n, key.name.p, key.name.n);
    one->node.hash = hash;
    one->node.key = (kc_key){{one->text, key.ns.n}, {one->text + key.ns.n, key.name.n}};
    kc__key_table_insert(&f->table, &one->node);
    atomic_fetch_add(&f->failed, 1);
    return one;
}

/* Number of failures before this one. */
static int count_failure(rate_limit_failures *f, kc_key key)
{
    uint64_t hash = kc__key_hash(f->table.seed, key);
    int before = 0;
    kc_locked (&f->mutex) {
        rate_limit_failure *one = find_failure(f, key, hash);
        if (!one)
            one = add_failure(f, key, hash);
        before = one->n;
        if (one->n < INT32_MAX)
            one->n++;
    }
    return before;
}

static void forget_failures(rate_limit_failures *f, kc_key key)
{
    if (!atomic_load(&f->failed))
        return;
    uint64_t hash = kc__key_hash(f->table.seed, key);
    rate_limit_failure *one = NULL;
    kc_locked (&f->mutex) {
        one = find_failure(f, key, hash);
        if (!one)
            break;
        kc__key_table_remove(&f->table, &one->node);
        atomic_fetch_sub(&f->failed, 1);
    }
    free(one);
}

static int failures_of(rate_limit_failures *f, kc_key key)
{
    int n = 0;
    kc_locked (&f->mutex) {
        const rate_limit_failure *one = find_failure(f, key, kc__key_hash(f->table.seed, key));
        n = one ? one->n : 0;
    }
    return n;
}

/* ---- exponential ---- */

typedef struct exponential {
    rate_limit_failures failures;
    int64_t base, cap;
} exponential;

static int64_t exponential_when(void *state, kc_key key)
{
    exponential *e = state;
    int before = count_failure(&e->failures, key);
    double wait = ldexp((double)e->base, KC_MIN(before, 1000));
    return wait > (double)e->cap ? e->cap : (int64_t)wait;
}

static void exponential_forget(void *state, kc_key key)
{
    forget_failures(&((exponential *)state)->failures, key);
}

static int exponential_failures(void *state, kc_key key)
{
    return failures_of(&((exponential *)state)->failures, key);
}

static void exponential_free(void *state)
{
    rate_limit_failures_done(&((exponential *)state)->failures);
    free(state);
}

kc_rate_limiter *kc_rate_limiter_exponential(int64_t base, int64_t cap)
{
    static const kc_rate_limiter_ops ops = {exponential_when, exponential_forget,
                                            exponential_failures, exponential_free};
    exponential *e = kc_new(exponential);
    failures_init(&e->failures);
    e->base = base ? base : 5 * KC_MILLISECOND;
    e->cap = cap ? cap : 1000 * KC_SECOND;
    return kc_rate_limiter_new(&ops, e);
}

/* ---- fast-slow ---- */

typedef struct fast_slow {
    rate_limit_failures failures;
    int64_t fast, slow;
    int tries;
} fast_slow;

static int64_t fast_slow_when(void *state, kc_key key)
{
    fast_slow *f = state;
    return count_failure(&f->failures, key) < f->tries ? f->fast : f->slow;
}

static void fast_slow_forget(void *state, kc_key key)
{
    forget_failures(&((fast_slow *)state)->failures, key);
}

static int fast_slow_failures(void *state, kc_key key)
{
    return failures_of(&((fast_slow *)state)->failures, key);
}

static void fast_slow_free(void *state)
{
    rate_limit_failures_done(&((fast_slow *)state)->failures);
    free(state);
}

kc_rate_limiter *kc_rate_limiter_fast_slow(int64_t fast, int64_t slow, int tries)
{
    static const kc_rate_limiter_ops ops = {fast_slow_when, fast_slow_forget, fast_slow_failures,
                                            fast_slow_free};
    fast_slow *f = kc_new(fast_slow);
    failures_init(&f->failures);
    f->fast = fast;
    f->slow = slow;
    f->tries = tries;
    return kc_rate_limiter_new(&ops, f);
}

/* ---- bucket ---- */

typedef struct bucket {
    const kc_clock *clock;
    double qps, burst;
    kc_mutex mutex; /* Guards the fields below. */
    double tokens;
    int64_t at;
} bucket;

/* Takes a token, possibly one that becomes available only later. */
static int64_t bucket_when(void *state, kc_key key)
{
    (void)key;
    bucket *b = state;
    int64_t wait = 0;
    kc_locked (&b->mutex) {
        int64_t now = kc_clock_now(b->clock);
        double filled = b->tokens + (double)KC_MAX(now - b->at, 0) / 1e9 * b->qps;
        b->tokens = fmin(b->burst, filled) - 1;
        b->at = now;
        double seconds = b->tokens < 0 ? -b->tokens / b->qps : 0;
        wait = seconds * 1e9 < 0x1p62 ? (int64_t)(seconds * 1e9) : INT64_C(1) << 62;
    }
    return wait;
}

static void bucket_free(void *state)
{
    kc_mutex_done(&((bucket *)state)->mutex);
    free(state);
}

kc_rate_limiter *kc_rate_limiter_bucket(const kc_clock *clock, double qps, int burst)
{
    static const kc_rate_limiter_ops ops = {.when = bucket_when, .free = bucket_free};
    bucket *b = kc_new(bucket);
    kc_mutex_init(&b->mutex);
    b->clock = clock ? clock : kc_clock_real();
    b->qps = qps;
    b->tokens = b->burst = burst;
    b->at = kc_clock_now(b->clock);
    return kc_rate_limiter_new(&ops, b);
}

/* ---- max ---- */

typedef struct longer {
    kc_rate_limiter *a, *b;
} longer;

static int64_t max_when(void *state, kc_key key)
{
    longer *m = state;
    int64_t a = kc_rate_limiter_when(m->a, key), b = kc_rate_limiter_when(m->b, key);
    return KC_MAX(a, b);
}

static void max_forget(void *state, kc_key key)
{
    longer *m = state;
    kc_rate_limiter_forget(m->a, key);
    kc_rate_limiter_forget(m->b, key);
}

static int max_failures(void *state, kc_key key)
{
    longer *m = state;
    int a = kc_rate_limiter_num_requeues(m->a, key), b = kc_rate_limiter_num_requeues(m->b, key);
    return KC_MAX(a, b);
}

static void max_free(void *state)
{
    longer *m = state;
    kc_rate_limiter_free(m->a);
    kc_rate_limiter_free(m->b);
    free(m);
}

kc_rate_limiter *kc_rate_limiter_max_of(kc_rate_limiter *a, kc_rate_limiter *b)
{
    static const kc_rate_limiter_ops ops = {max_when, max_forget, max_failures, max_free};
    longer *m = kc_new(longer);
    *m = (longer){a, b};
    return kc_rate_limiter_new(&ops, m);
}

/* ---- jitter ---- */

typedef struct rate_limit_jitter {
    kc_rate_limiter *of;
    double factor;
    kc_mutex mutex; /* Guards rand. */
    kc_rand rand;
} rate_limit_jitter;

static int64_t jitter_when(void *state, kc_key key)
{
    rate_limit_jitter *j = state;
    int64_t wait = kc_rate_limiter_when(j->of, key);
    kc_locked (&j->mutex)
        wait = kc_rand_jitter(&j->rand, wait, j->factor);
    return wait;
}

static void jitter_forget(void *state, kc_key key)
{
    kc_rate_limiter_forget(((rate_limit_jitter *)state)->of, key);
}

static int jitter_failures(void *state, kc_key key)
{
    return kc_rate_limiter_num_requeues(((rate_limit_jitter *)state)->of, key);
}

static void jitter_free(void *state)
{
    rate_limit_jitter *j = state;
    kc_rate_limiter_free(j->of);
    kc_mutex_done(&j->mutex);
    free(j);
}

kc_rate_limiter *kc_rate_limiter_jitter(kc_rate_limiter *limiter, double factor, kc_rand rand)
{
    static const kc_rate_limiter_ops ops = {jitter_when, jitter_forget, jitter_failures,
                                            jitter_free};
    rate_limit_jitter *j = kc_new(rate_limit_jitter);
    kc_mutex_init(&j->mutex);
    j->of = limiter;
    j->factor = factor;
    j->rand = rand;
    return kc_rate_limiter_new(&ops, j);
}
