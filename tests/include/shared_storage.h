/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_storage.h: a shared storage (storage.h) in memory, whose events a test can hold up.
 *
 * All stores that open the same shared_storage see the same data. Each handle has a thread, which
 * runs its submissions and queries and delivers the events of its watch, as a connection to a
 * remote storage would.
 */
#ifndef KC_SHARED_STORAGE_H
#define KC_SHARED_STORAGE_H

#include "apiserver/storage/memory/memory_backend.h"
#include "kc/dlist.h"
#include "kc/thread.h"
#include "kc/vec.h"

struct shared_handle;

typedef struct shared_storage {
    kc_mutex mutex;     /* Guards everything but the inner storage's reads; taken first. */
    kc__storage *inner; /* Exclusive; commits under the mutex. */
    KC_VEC(struct shared_handle *) handles;
    bool down;      /* Submissions and queries fail. */
    bool refusing;  /* Submissions are too large. */
    size_t queries; /* Answered. */
} shared_storage;

typedef struct shared_handle {
    kc__storage base;
    shared_storage *all;
    kc_thread *thread;
    kc_cond changed;
    kc__storage_watch_opts watch; /* Active if it has an `event`. */
    uint64_t position;            /* Delivered. */
    bool delivering, held, closing;
    KC_VEC(kc__storage_submission *) submissions;
    KC_VEC(kc__storage_query *) queries;
} shared_handle;

static inline void shared_wake_all(shared_storage *all)
{
    kc_vec_each (&all->handles, h)
        kc_cond_broadcast(&(*h)->changed);
}

static inline uint64_t shared_revision(shared_storage *all)
{
    kc__storage_state state = {0};
    kc__storage_progress(all->inner, &state, NULL);
    return state.revision;
}

static inline void shared_run_submission(shared_handle *h, kc__storage_submission *submission)
{
    kc_locked (&h->all->mutex) {
        if (h->all->down)
            kc_error_set(&submission->error, KC_SERVICE_UNAVAILABLE, "the storage is down");
        else if (h->all->refusing)
            submission->results[0].outcome = KC__STORAGE_REFUSED;
        else
            kc__storage_commit(h->all->inner, submission->ops, submission->n_ops,
                               submission->results, &submission->revision, &submission->error);
        shared_wake_all(h->all);
    }
    submission->done(submission);
}

static inline void shared_run_query(shared_handle *h, kc__storage_query *query)
{
    kc_locked (&h->all->mutex) {
        h->all->queries++;
        if (h->all->down)
            kc_error_set(&query->error, KC_SERVICE_UNAVAILABLE, "the storage is down");
        else
            query->revision = shared_revision(h->all);
    }
    query->done(query);
}

static inline void shared_deliver(shared_handle *h, uint64_t revision)
{
    kc_scoped(kc_error) err = {0};
    if (h->position < revision &&
        kc__storage_history(h->all->inner, h->position, h->watch.event, h->watch.user, &err) < 0) {
        h->watch.event = NULL;
        h->watch.failed(&err, h->watch.user);
        return;
    }
    h->position = revision;
    h->watch.progress(revision, h->watch.user);
}

static inline bool shared_is_behind(const shared_handle *h)
{
    return h->watch.event && !h->held && h->position < shared_revision(h->all);
}

static inline void shared_run(void *user)
{
    shared_handle *h = user;
    for (;;) {
        kc__storage_submission *submission = NULL;
        kc__storage_query *query = NULL;
        uint64_t deliver = 0;
        kc_locked (&h->all->mutex) {
            while (!h->closing && !h->submissions.n && !h->queries.n && !shared_is_behind(h))
                kc_cond_wait(&h->changed, &h->all->mutex);
            if (h->submissions.n)
                submission = kc_vec_pop(&h->submissions);
            else if (h->queries.n)
                query = kc_vec_pop(&h->queries);
            else if (shared_is_behind(h))
                deliver = shared_revision(h->all);
            h->delivering = deliver > 0;
        }
        if (submission)
            shared_run_submission(h, submission);
        else if (query)
            shared_run_query(h, query);
        else if (deliver)
            shared_deliver(h, deliver);
        else
            return;
        kc_locked (&h->all->mutex) {
            h->delivering = false;
            kc_cond_broadcast(&h->changed);
        }
    }
}

static inline shared_handle *shared_handle_of(kc__storage *storage)
{
    return kc_container_of(storage, shared_handle, base);
}

static inline int shared_list(kc__storage *storage, const kc__storage_list_opts *opts,
                              kc__storage_entry_fn *each, void *user, kc__storage_state *ret_state,
                              kc_error *err)
{
    return kc__storage_list(shared_handle_of(storage)->all->inner, opts, each, user, ret_state,
                            err);
}

/* Without progress: past events are delivered on this thread, and are not followed: a walk of the
 * history. Otherwise all events are delivered on the thread of the handle. */
static inline int shared_watch(kc__storage *storage, const kc__storage_watch_opts *opts,
                               kc__storage_watch **ret_watch, kc_error *err)
{
    shared_handle *h = shared_handle_of(storage);
    kc__storage_state state = {0};
    if (!opts->progress)
        return kc__storage_watch_start(h->all->inner, opts, ret_watch, err);
    kc__storage_list(h->all->inner, &(kc__storage_list_opts){.limit = 1}, NULL, NULL, &state, NULL);
    if (opts->since < state.compacted) {
        if (opts->compacted)
            opts->compacted(state.compacted, opts->user);
        return kc_error_set(err, KC_EXPIRED, "compacted");
    }
    kc_locked (&h->all->mutex) {
        h->watch = *opts;
        h->position = opts->since;
        kc_cond_broadcast(&h->changed);
    }
    *ret_watch = (kc__storage_watch *)h;
    return 0;
}

static inline void shared_unwatch(kc__storage *storage, kc__storage_watch *watch)
{
    shared_handle *h = shared_handle_of(storage);
    if ((void *)watch != (void *)h) {
        kc__storage_watch_stop(h->all->inner, watch);
        return;
    }
    kc_locked (&h->all->mutex) {
        while (h->delivering)
            kc_cond_wait(&h->changed, &h->all->mutex);
        h->watch.event = NULL;
    }
}

static inline int shared_progress(kc__storage *storage, kc__storage_state *ret_state, kc_error *err)
{
    return kc__storage_progress(shared_handle_of(storage)->all->inner, ret_state, err);
}

static inline void shared_submit(kc__storage *storage, kc__storage_submission *submission)
{
    shared_handle *h = shared_handle_of(storage);
    kc_locked (&h->all->mutex) {
        kc_vec_push(&h->submissions, submission);
        kc_cond_broadcast(&h->changed);
    }
}

static inline void shared_query(kc__storage *storage, kc__storage_query *query)
{
    shared_handle *h = shared_handle_of(storage);
    kc_locked (&h->all->mutex) {
        kc_vec_push(&h->queries, query);
        kc_cond_broadcast(&h->changed);
    }
}

static inline void shared_request_progress(kc__storage *storage, kc__storage_watch *watch,
                                           uint64_t revision)
{
    (void)storage, (void)watch, (void)revision; /* Events and progress arrive together. */
}

static inline void shared_close(kc__storage *storage)
{
    shared_handle *h = shared_handle_of(storage);
    kc_locked (&h->all->mutex) {
        h->closing = true;
        kc_cond_broadcast(&h->changed);
    }
    kc_thread_join(h->thread);
    kc_locked (&h->all->mutex)
        for (size_t i = 0; i < h->all->handles.n; i++)
            if (h->all->handles.items[i] == h)
                h->all->handles.items[i] = kc_vec_pop(&h->all->handles);
    kc_vec_done(&h->submissions);
    kc_vec_done(&h->queries);
    kc_cond_done(&h->changed);
    free(h);
}

static const kc__storage_backend shared_backend = {
    .name = "shared",
    .list = shared_list,
    .watch = shared_watch,
    .unwatch = shared_unwatch,
    .progress = shared_progress,
    .submit = shared_submit,
    .query = shared_query,
    .request_progress = shared_request_progress,
    .close = shared_close,
};

static inline kc__storage *shared_open(shared_storage *all)
{
    shared_handle *h = kc_new(shared_handle);
    h->base.backend = &shared_backend;
    h->all = all;
    kc_cond_init(&h->changed);
    kc_locked (&all->mutex)
        kc_vec_push(&all->handles, h);
    h->thread = kc_thread_start("shared", shared_run, h, NULL);
    return &h->base;
}

/* While held, the store of this handle receives no events. */
static inline void shared_hold(kc__storage *storage, bool held)
{
    shared_handle *h = shared_handle_of(storage);
    kc_locked (&h->all->mutex) {
        h->held = held;
        kc_cond_broadcast(&h->changed);
        while (h->delivering)
            kc_cond_wait(&h->changed, &h->all->mutex);
    }
}

static inline void shared_storage_init(shared_storage *all)
{
    *all = (shared_storage){0};
    kc_mutex_init(&all->mutex);
    kc__storage_open(&kc__storage_memory_backend, &(kc__storage_opts){0}, &all->inner, NULL);
}

static inline void shared_storage_done(shared_storage *all)
{
    kc__storage_close(all->inner);
    kc_vec_done(&all->handles);
    kc_mutex_done(&all->mutex);
}

#endif
