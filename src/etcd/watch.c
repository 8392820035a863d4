/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c: watches as their users see them: start, stop, await, callbacks.
 *
 *     start ──▶ active ──▶ created on the stream (has_id) ──▶ events, progress ──▶ stop
 *                  ▲            │                                  └──▶ ended (compacted, failed)
 *                  └────────────┘ the stream broke
 *
 * A watch is reference-counted, because a response to its creation or an event may be under way
 * when its owner stops it. One callback runs at a time (`in_callback`); stop waits for the watch's
 * own.
 */
#include "etcd/etcd_internal.h"

kc__etcd_watch *kc__etcd_watch_unref(kc__etcd_watch *watch)
{
    if (!watch || !kc_ref_drop(&watch->refs))
        return NULL;
    free(watch->key);
    free(watch->range_end);
    free(watch);
    return NULL;
}

void kc__etcd_watches_done(kc__etcd *etcd)
{
    kc_map_done(&etcd->watches.by_id);
    kc_arena_done(&etcd->watches.arena);
    kc_cond_done(&etcd->watches.callback_returned);
}

kc__etcd_watch *kc__etcd_watch_start(kc__etcd *etcd, const kc__etcd_watch_opts *opts)
{
    kc__etcd_watch *watch = kc_new(kc__etcd_watch);
    watch->etcd = etcd;
    kc_ref_init(&watch->refs);
    watch->opts = *opts;
    watch->key = kc_str_dup(opts->key);
    watch->range_end = kc_str_dup(opts->range_end);
    watch->opts.key.p = watch->key;
    watch->opts.range_end.p = watch->range_end;
    watch->cursor.next = opts->start_revision;
    watch->complete = opts->start_revision - 1;
    kc_ref_add(&watch->refs);
    kc_locked (&etcd->mutex) {
        kc_dlist_push(&etcd->watches.active, &watch->link);
        if (etcd->watches.stream)
            kc__etcd_watch_stream_create(watch);
        else
            kc__etcd_watch_stream_start(etcd);
    }
    return watch;
}

/* With the mutex held. */
static void leave_stream(kc__etcd_watch *watch)
{
    kc__etcd_watches *watches = &watch->etcd->watches;
    if (watch->has_id) {
        kc_map_remove(&watches->by_id, kc_str_of((const char *)&watch->id, sizeof(watch->id)));
        kc__etcd_watch_stream_send(
            watch->etcd, &(kc__etcd_watch_request){
                             .cancel = &(kc__etcd_watch_cancel_request){.watch_id = watch->id}});
    }
    kc__etcd_watch_stream_rest(watch->etcd);
}

static bool runs_elsewhere(const kc__etcd_watch *watch)
{
    const kc__etcd_watches *watches = &watch->etcd->watches;
    return watches->in_callback == watch &&
           !pthread_equal(watches->callback_thread, pthread_self());
}

kc__etcd_watch *kc__etcd_watch_stop(kc__etcd_watch *watch)
{
    if (!watch)
        return NULL;
    kc__etcd *etcd = watch->etcd;
    bool was_active = false;
    kc_locked (&etcd->mutex) {
        watch->stopped = true;
        was_active = kc_dlist_is_linked(&watch->link);
        kc_dlist_remove(&watch->link);
        if (was_active)
            leave_stream(watch);
        while (runs_elsewhere(watch))
            kc_cond_wait(&etcd->watches.callback_returned, &etcd->mutex);
    }
    if (was_active)
        kc__etcd_watch_unref(watch);
    return kc__etcd_watch_unref(watch);
}

bool kc__etcd_watch_await(kc__etcd_watch *watch, int64_t revision)
{
    kc__etcd *etcd = watch->etcd;
    kc_locked (&etcd->mutex) {
        if (watch->complete >= revision)
            return true;
        watch->awaited = KC_MAX(watch->awaited, revision);
        kc__etcd_watch_stream_ask_progress(etcd);
    }
    return false;
}

/* ---- callbacks ---- */

static void call_user(const kc__etcd_watch_opts *opts, const kc__etcd_watch_news *news)
{
    if (news->batch.n)
        opts->events(&news->batch, opts->user);
    if (news->progress && opts->progress)
        opts->progress(news->progress, opts->user);
    if (news->compact_revision && opts->compacted)
        opts->compacted(news->compact_revision, opts->user);
    if (news->err && opts->failed)
        opts->failed(news->code, news->err, opts->user);
}

void kc__etcd_watch_tell(kc__etcd_watch *watch, const kc__etcd_watch_news *news)
{
    kc__etcd_watches *watches = &watch->etcd->watches;
    kc_locked (&watch->etcd->mutex) {
        if (watch->stopped)
            return;
        watches->in_callback = watch;
        watches->callback_thread = pthread_self();
    }
    call_user(&watch->opts, news);
    kc_locked (&watch->etcd->mutex) {
        watches->in_callback = NULL;
        kc_cond_broadcast(&watches->callback_returned);
    }
}
