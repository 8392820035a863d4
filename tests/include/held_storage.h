/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_storage.h: the file backend with a hand on it: commits can be held, so that writes gather
 * behind them, counted, and made to fail.
 */
#ifndef KC_HELD_STORAGE_H
#define KC_HELD_STORAGE_H

#include "store_testing.h"

typedef struct held {
    kc_storage storage;
    kc_storage *inner;
    _Atomic bool hold;
    _Atomic int fail; /* Of a kc_reason: the next commits fail with it. */
    _Atomic size_t commits, ops;
} held;

static KC_UNUSED held *held_of(kc_storage *storage)
{
    return kc_container_of(storage, held, storage);
}

static KC_UNUSED int held_load(kc_storage *storage, kc_storage_entry_fn *each, void *user,
                               kc_storage_state *ret_state, kc_error *err)
{
    return kc_storage_load(held_of(storage)->inner, each, user, ret_state, err);
}

static KC_UNUSED int held_commit(kc_storage *storage, const kc_storage_op *ops, size_t n,
                                 kc_storage_result *ret_results, uint64_t *ret_revision,
                                 kc_error *err)
{
    held *h = held_of(storage);
    h->commits++;
    while (h->hold)
        usleep(100);
    h->ops += n;
    if (h->fail)
        return kc_error_set(err, (kc_reason)h->fail, "the disk is on fire");
    return kc_storage_commit(h->inner, ops, n, ret_results, ret_revision, err);
}

static KC_UNUSED int held_history(kc_storage *storage, uint64_t since, kc_storage_event_fn *each,
                                  void *user, kc_error *err)
{
    return kc_storage_history(held_of(storage)->inner, since, each, user, err);
}

static KC_UNUSED void held_close(kc_storage *storage)
{
    kc_storage_close(held_of(storage)->inner);
    free(held_of(storage));
}

static KC_UNUSED int held_open(const kc_storage_opts *opts, kc_storage **ret_storage,
                               kc_error *err);

/* The file backend with a hand on it. */
static const kc_storage_backend held_backend = {
    .name = "held",
    .open = held_open,
    .load = held_load,
    .commit = held_commit,
    .history = held_history,
    .close = held_close,
};

static KC_UNUSED int held_open(const kc_storage_opts *opts, kc_storage **ret_storage, kc_error *err)
{
    held *h = kc_new(held);
    h->storage.backend = &held_backend;
    if (kc_storage_open(&kc_storage_file, opts, &h->inner, err) < 0) {
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

/* Lets the committer wait in a commit. */
static KC_UNUSED void hold(stage *s, attempt *first)
{
    held *h = held_of(s->storage);
    const size_t before = h->commits;
    h->hold = true;
    attempt_start(s, first, s->pods, "first", KC_STORAGE_ANY, "1");
    while (h->commits == before)
        usleep(100);
}

#endif
