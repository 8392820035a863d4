/* SPDX-License-Identifier: Apache-2.0 */
/* shared_plane.h: servers (stores) over one shared storage, that a test opens and closes. */
#ifndef KC_SHARED_PLANE_H
#define KC_SHARED_PLANE_H

#include "shared_storage.h"
#include "store_testing.h"

/* A server over the storage; `opts` are those of its store. Freed by stage_leave. */
static KC_UNUSED stage *server_over(shared_storage *all, const kc__store_opts *opts)
{
    stage *s = kc_new(stage);
    kc_scoped(kc_error) err = {0};
    for (int i = 0; i < STAGE_LOOPS; i++)
        s->loops[i] = kc__loop_start("test", NULL, NULL);
    s->folder = kc_strdup("");
    s->opts = *opts;
    s->opts.storage = s->storage = shared_open(all);
    s->store = kc__store_open(&s->opts, &err);
    if (!s->store)
        fail_msg("%s", kc_error_text(&err));
    s->pods = kc__store_watch_cache(s->store, PODS);
    s->maps = kc__store_watch_cache(s->store, MAPS);
    return s;
}

/* ---- syncing ---- */

typedef struct shared_reader {
    kc__store_sync sync;
    kc_latch done;
} shared_reader;

static KC_UNUSED void on_shared_synced(kc__store_sync *sync)
{
    kc_latch_count_down(&kc_container_of(sync, shared_reader, sync)->done);
}

/* Waits until the store shows what its storage has. */
static KC_UNUSED void sync_store(stage *s, kc__store *store)
{
    shared_reader r = {.sync = {.loop = s->loops[1], .done = on_shared_synced}};
    kc_latch_init(&r.done);
    kc_latch_add(&r.done, 1);
    kc__store_sync_start(store, &r.sync);
    kc_latch_wait(&r.done);
    kc_latch_done(&r.done);
    assert_string_equal(kc_error_text(&r.sync.error), "no error");
}

/* ---- what a watch shows ---- */

typedef struct shared_watching {
    stage *s;
    kc__watch_cache *cache;
    kc__store_watcher *watcher;
    kc_buf *text;
    kc__store_watch_result last;
    uint64_t since;
} shared_watching;

static KC_UNUSED void on_shared_ready(void *user)
{
    (void)user;
}

static KC_UNUSED void run_shared_watch(void *user)
{
    shared_watching *w = user;
    kc__store_event *event = NULL;
    w->watcher = kc__store_watch_start(&(kc__store_watch_opts){.cache = w->cache,
                                                               .loop = w->s->loops[0],
                                                               .since = w->since,
                                                               .ready = on_shared_ready,
                                                               .user = w});
    while ((w->last = kc__store_watch_next(w->watcher, &event)) == KC__STORE_WATCH_EVENT) {
        kc_buf_printf(
            w->text, "%s %.*s@%llu ", (const char *[]){"ADDED", "MODIFIED", "DELETED"}[event->type],
            KC_ARG(kc_str_of(event->key, event->key_length)), (unsigned long long)event->revision);
        kc__store_event_unref(event);
    }
    w->watcher = kc__store_watch_stop(w->watcher);
}

/* A watch of the cache from a revision shows these events, and then nothing, or that it expired. */
static KC_UNUSED void expect_watch(stage *s, kc__watch_cache *cache, uint64_t since,
                                   const char *text, kc__store_watch_result last)
{
    kc_scoped(kc_buf) shown = {0};
    shared_watching w = {.s = s, .cache = cache, .since = since, .text = &shown};
    on_loop(s->loops[0], run_shared_watch, &w);
    assert_string_equal(kc_buf_cstr(&shown), text);
    assert_int_equal(w.last, last);
}

#endif
