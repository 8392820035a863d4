/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_quota.c: counts open watches by user, in a map that contains only users with open watches,
 * and the bytes of large selectors.
 */
#include "apiserver/governor/watch_quota.h"

#include "kc/map.h"
#include "kc/thread.h"

#include <assert.h>

enum { RETRY_AFTER_SECONDS = 10 };

typedef struct kc__watch_quota_user {
    size_t watches;
    kc_str name; /* Stored after the struct. */
} kc__watch_quota_user;

struct kc__watch_quota {
    kc__watch_quota_opts opts;
    kc_mutex mutex; /* Guards the next three fields. No lock is taken under it. */
    kc_map users;   /* By name. */
    size_t selector_bytes, watches;
    kc_gauge *open, *bytes;
    kc_counter *refused;
};

static int make_metrics(kc__watch_quota *q, kc_metrics *registry, kc_error *err)
{
    if (!registry)
        return 0;
    q->open = kc_metric_gauge(kc_metrics_gauge(
        registry, &(kc_metric_opts){.name = "kc_watches", .help = "Open watches."}, err));
    q->bytes = kc_metric_gauge(
        kc_metrics_gauge(registry,
                         &(kc_metric_opts){.name = "kc_watch_selector_bytes",
                                           .help = "Memory of large selectors of open watches."},
                         err));
    q->refused = kc_metric_counter(kc_metrics_counter(
        registry,
        &(kc_metric_opts){.name = "kc_watches_refused_total",
                          .help = "Watches refused with 429 by a limit on watches."},
        err));
    return q->open && q->bytes && q->refused ? 0 : kc_error_result(err);
}

kc__watch_quota *kc__watch_quota_new(const kc__watch_quota_opts *opts, kc_error *err)
{
    kc__watch_quota *q = kc_new(kc__watch_quota);
    q->opts = *opts;
    if (!q->opts.per_user)
        q->opts.per_user = KC__WATCH_QUOTA_PER_USER;
    if (!q->opts.selector_bytes)
        q->opts.selector_bytes = KC__WATCH_QUOTA_SELECTOR_BYTES;
    kc_mutex_init(&q->mutex);
    return make_metrics(q, opts->metrics, err) < 0 ? kc__watch_quota_free(q) : q;
}

kc__watch_quota *kc__watch_quota_free(kc__watch_quota *q)
{
    if (!q)
        return NULL;
    assert(!q->users.n);
    kc_map_done(&q->users);
    kc_mutex_done(&q->mutex);
    free(q);
    return NULL;
}

/* With the mutex held, as the following function. */
static kc__watch_quota_user *user_of(kc__watch_quota *q, kc_str name)
{
    kc__watch_quota_user *user = kc_map_get(&q->users, name);
    if (user)
        return user;
    user = kc_calloc(1, sizeof(*user) + name.n);
    if (name.n)
        memcpy(user + 1, name.p, name.n);
    user->name = kc_str_of((const char *)(user + 1), name.n);
    kc_map_put(&q->users, user->name, user);
    return user;
}

static void drop_idle(kc__watch_quota *q, kc__watch_quota_user *user)
{
    if (user->watches)
        return;
    kc_map_remove(&q->users, user->name);
    free(user);
}

static void count_watch_quota(kc__watch_quota *q)
{
    kc_gauge_set(q->open, (double)q->watches);
    kc_gauge_set(q->bytes, (double)q->selector_bytes);
}

typedef enum quota_decision { FITS, TOO_MANY, NO_ROOM } quota_decision;

static quota_decision enter_watch_user(kc__watch_quota *q, kc_str name, size_t bytes,
                                       kc__watch_quota_share *ret)
{
    kc__watch_quota_user *user = user_of(q, name);
    quota_decision v = user->watches >= q->opts.per_user                             ? TOO_MANY
                       : bytes && q->selector_bytes + bytes > q->opts.selector_bytes ? NO_ROOM
                                                                                     : FITS;
    if (v != FITS) {
        drop_idle(q, user);
        return v;
    }
    user->watches++;
    q->watches++;
    q->selector_bytes += bytes;
    *ret = (kc__watch_quota_share){user, bytes};
    count_watch_quota(q);
    return FITS;
}

int kc__watch_quota_acquire(kc__watch_quota *q, kc_str user, size_t selector_bytes,
                            kc__watch_quota_share *ret, kc_error *err)
{
    size_t bytes = selector_bytes > KC__WATCH_QUOTA_SMALL_SELECTOR ? selector_bytes : 0;
    quota_decision v = FITS;
    kc_locked (&q->mutex)
        v = enter_watch_user(q, user, bytes, ret);
    if (v == FITS)
        return 0;
    kc_counter_inc(q->refused);
    const int result =
        v == TOO_MANY
            ? kc_error_set(err, KC_TOO_MANY_REQUESTS,
                           "user \"%.*s\" has too many open watches: the limit is %zu",
                           KC_ARG(user), q->opts.per_user)
            : kc_error_set(
                  err, KC_TOO_MANY_REQUESTS,
                  "the selectors of open watches take too much memory: the limit is %zu bytes",
                  q->opts.selector_bytes);
    if (err)
        err->retry_after_seconds = RETRY_AFTER_SECONDS;
    return result;
}

void kc__watch_quota_release(kc__watch_quota *q, kc__watch_quota_share *share)
{
    if (!share->user)
        return;
    kc_locked (&q->mutex) {
        share->user->watches--;
        q->watches--;
        q->selector_bytes -= share->selector_bytes;
        drop_idle(q, share->user);
        count_watch_quota(q);
    }
    *share = (kc__watch_quota_share){0};
}
