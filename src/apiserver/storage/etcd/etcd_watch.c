/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd_watch.c: a watch of the storage is a watch of etcd, which the client resumes on another
 * member if its own fails.
 */
#include "apiserver/storage/etcd/etcd_internal.h"

#include "apiserver/storage/stored_key.h"

/* Passed to the caller as a kc__storage_watch. */
typedef struct etcd_watch {
    const kc__storage_etcd *s;
    kc__storage_watch_opts opts;
    kc__etcd_watch *watch;
    bool stopped; /* By the callback. */
} etcd_watch;

static void deliver_event(etcd_watch *w, const kc__etcd_event *event, kc_arena *arena)
{
    const kc__etcd_key_value *was = event->prev_kv;
    const bool put = event->type == KC__ETCD_PUT_EVENT;
    const kc__storage_event delivered = {
        .verb = put ? KC__STORAGE_PUT : KC__STORAGE_DELETE,
        .revision = (uint64_t)event->kv->mod_revision,
        .key = kc__storage_etcd_own_key(w->s, event->kv->key, arena),
        .value = put ? event->kv->value : (kc_str){0},
        .previous_revision = was ? (uint64_t)was->mod_revision : 0,
        .previous_value = was ? was->value : (kc_str){0},
    };
    if (!w->stopped)
        w->stopped = w->opts.event(&delivered, w->opts.user) != 0;
}

static void report_progress(int64_t revision, void *user)
{
    const etcd_watch *w = user;
    if (!w->stopped && w->opts.progress)
        w->opts.progress((uint64_t)revision, w->opts.user);
}

static void deliver_batch(const kc__etcd_batch *batch, void *user)
{
    etcd_watch *w = user;
    kc_scoped(kc_arena) arena = {0};
    for (size_t i = 0; i < batch->n; i++)
        deliver_event(w, &batch->events[i], &arena);
    report_progress(batch->revision, w);
}

static void report_compaction(int64_t compacted, void *user)
{
    const etcd_watch *w = user;
    kc_scoped(kc_error) err = {0};
    kc_error_set(&err, KC_EXPIRED, "etcd: events up to revision %lld are compacted",
                 (long long)compacted);
    if (!w->stopped && w->opts.compacted)
        w->opts.compacted((uint64_t)compacted, w->opts.user);
    if (!w->stopped && w->opts.failed)
        w->opts.failed(&err, w->opts.user);
}

static void report_failure(kc__etcd_code code, const kc_error *err, void *user)
{
    const etcd_watch *w = user;
    (void)code;
    if (!w->stopped && w->opts.failed)
        w->opts.failed(err, w->opts.user);
}

int kc__storage_etcd_watch(kc__storage *storage, const kc__storage_watch_opts *opts,
                           kc__storage_watch **ret_watch, kc_error *err)
{
    (void)err;
    kc_scoped(kc_arena) arena = {0};
    etcd_watch *w = kc_new(etcd_watch);
    w->s = kc__storage_etcd_of(storage);
    w->opts = *opts;
    const kc_str key = kc__storage_etcd_key(
        w->s, opts->prefix.n ? opts->prefix : KC_STR(KC__STORAGE_KEY_ROOT), &arena);
    w->watch = kc__etcd_watch_start(
        w->s->client, &(kc__etcd_watch_opts){.key = key,
                                             .range_end = kc__etcd_prefix_end(&arena, key),
                                             .start_revision = (int64_t)opts->since + 1,
                                             .prev_kv = opts->previous,
                                             .progress_notify = true,
                                             .fragment = true,
                                             .events = deliver_batch,
                                             .progress = report_progress,
                                             .compacted = report_compaction,
                                             .failed = report_failure,
                                             .user = w});
    *ret_watch = (kc__storage_watch *)w;
    return 0;
}

void kc__storage_etcd_unwatch(kc__storage *storage, kc__storage_watch *watch)
{
    etcd_watch *w = (etcd_watch *)watch;
    (void)storage;
    w->watch = kc__etcd_watch_stop(w->watch);
    free(w);
}

void kc__storage_etcd_request_progress(kc__storage *storage, kc__storage_watch *watch,
                                       uint64_t revision)
{
    (void)storage;
    kc__etcd_watch_await(((etcd_watch *)watch)->watch, (int64_t)revision);
}
