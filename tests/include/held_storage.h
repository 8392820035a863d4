/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_storage.h: wraps the file backend to hold commits, so that writes queue up behind them, to
 * count commits and to make them fail.
 */
#ifndef KC_HELD_STORAGE_H
#define KC_HELD_STORAGE_H

#include "store_testing.h"

typedef struct held {
    kc__storage storage;
    kc__storage *inner;
    _Atomic bool hold;
    _Atomic int fail; /* A kc_reason: the next commits fail with it. */
    _Atomic size_t commits, ops;
} held;

static KC_UNUSED held *held_of(kc__storage *storage)
{
    return kc_container_of(storage, held, storage);
}

static KC_UNUSED int held_get(kc__storage *storage, kc_str key, kc_buf *ret_value,
                              uint64_t *ret_revision, kc_error *err)
{
    return kc__storage_get(held_of(storage)->inner, key, ret_value, ret_revision, err);
}

static KC_UNUSED int held_list(kc__storage *storage, const kc__storage_list_opts *opts,
                               kc__storage_entry_fn *each, void *user, kc__storage_state *ret_state,
                               kc_error *err)
{
    return kc__storage_list(held_of(storage)->inner, opts, each, user, ret_state, err);
}

static KC_UNUSED int held_commit(kc__storage *storage, const kc__storage_op *ops, size_t n,
                                 kc__storage_result *ret_results, uint64_t *ret_revision,
                                 kc_error *err)
{
    held *h = held_of(storage);
    h->commits++;
    while (h->hold)
        usleep(100);
    h->ops += n;
    if (h->fail)
        return kc_error_set(err, (kc_reason)h->fail, "the disk is on fire");
    return kc__storage_commit(h->inner, ops, n, ret_results, ret_revision, err);
}

static KC_UNUSED int held_watch(kc__storage *storage, const kc__storage_watch_opts *opts,
                                kc__storage_watch **ret_watch, kc_error *err)
{
    return kc__storage_watch_start(held_of(storage)->inner, opts, ret_watch, err);
}

static KC_UNUSED void held_unwatch(kc__storage *storage, kc__storage_watch *watch)
{
    kc__storage_watch_stop(held_of(storage)->inner, watch);
}

static KC_UNUSED int held_compact(kc__storage *storage, uint64_t revision, kc_error *err)
{
    return kc__storage_compact(held_of(storage)->inner, revision, err);
}

static KC_UNUSED int held_progress(kc__storage *storage, kc__storage_state *ret_state,
                                   kc_error *err)
{
    return kc__storage_progress(held_of(storage)->inner, ret_state, err);
}

static KC_UNUSED void held_close(kc__storage *storage)
{
    kc__storage_close(held_of(storage)->inner);
    free(held_of(storage));
}

static KC_UNUSED int held_open(const kc__storage_opts *opts, kc__storage **ret_storage,
                               kc_error *err);

static const kc__storage_backend held_backend = {
    .name = "held",
    .durable = true,
    .exclusive = true,
    .open = held_open,
    .get = held_get,
    .list = held_list,
    .commit = held_commit,
    .watch = held_watch,
    .unwatch = held_unwatch,
    .compact = held_compact,
    .progress = held_progress,
    .close = held_close,
};

static KC_UNUSED int held_open(const kc__storage_opts *opts, kc__storage **ret_storage,
                               kc_error *err)
{
    held *h = kc_new(held);
    h->storage.backend = &held_backend;
    if (kc__storage_open(&kc__storage_file_backend, opts, &h->inner, err) < 0) {
        free(h);
        return -1;
    }
    *ret_storage = &h->storage;
    return 0;
}

static KC_UNUSED stage *held_stage(void)
{
    stage *s = stage_make();
    s->backend = &held_backend;
    stage_open(s);
    return s;
}

/* Blocks the committer in a commit. */
static KC_UNUSED void hold(stage *s, attempt *first)
{
    held *h = held_of(s->storage);
    const size_t before = h->commits;
    h->hold = true;
    attempt_start(s, first, s->pods, "first", KC__STORAGE_ANY, "1");
    while (h->commits == before)
        usleep(100);
}

#endif
