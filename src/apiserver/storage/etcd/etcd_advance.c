/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd_advance.c: raises the revision of etcd, for a store that replaces another one.
 *
 * The revision of etcd cannot be set while etcd runs: each transaction that changes something
 * raises it by one. So the backend puts one small key (PREFIX/kc/revision) again and again, WINDOW
 * requests at a time, which etcd combines into few writes of its log; a million takes one to three
 * minutes. The key is deleted at the end. Servers do not see it: it is no object.
 *
 * After each STEP the backend compacts, so that the database does not grow with the number of puts.
 * The puts need no order and no exact number: a request that is sent twice raises the revision once
 * more. An interrupted run is continued by the next one, because the revision of etcd is all the
 * state that there is.
 *
 * Threads: the caller waits; the callbacks of the client, on one thread, start the next requests.
 */
#include "apiserver/storage/etcd/etcd_internal.h"

#include "apiserver/storage/stored_key.h"

#define SCRATCH_KEY KC__STORAGE_KEY_OWN "revision"

enum { WINDOW = 1024, STEP = 50000 };

/* Puts that are made. */
typedef struct etcd_raise {
    kc__etcd *client;
    kc_str key;
    kc_mutex mutex; /* Guards the fields below. */
    kc_cond changed;
    uint64_t left; /* Puts that have not been started. */
    size_t in_flight;
    kc_error err; /* The first one; no put is started after it. */
} etcd_raise;

static void raise_done(kc__etcd_reply *arrived, void *user);

static void start_put(etcd_raise *r)
{
    const kc__etcd_request request = {
        .method = KC__ETCD_PUT, .idempotent = true, .put = {.key = r->key}};
    kc__etcd_call_start(r->client, &request, raise_done, r);
}

/* Takes one of the puts that are left. With the mutex locked. */
static bool take_put(etcd_raise *r)
{
    if (!r->left || r->err.reason)
        return false;
    r->left--;
    r->in_flight++;
    return true;
}

static void raise_done(kc__etcd_reply *arrived, void *user)
{
    kc_auto(kc__etcd_reply) *reply = arrived;
    etcd_raise *r = user;
    bool next = false;
    kc_locked (&r->mutex) {
        if (reply->code != KC__ETCD_OK && !r->err.reason)
            kc__storage_etcd_error(reply, &r->err);
        r->in_flight--;
        next = take_put(r);
        if (!r->in_flight)
            kc_cond_signal(&r->changed);
    }
    if (next)
        start_put(r);
}

static void raise_wait(etcd_raise *r)
{
    for (int i = 0; i < WINDOW; i++) {
        bool next = false;
        kc_locked (&r->mutex)
            next = take_put(r);
        if (!next)
            break;
        start_put(r);
    }
    kc_locked (&r->mutex)
        while (r->in_flight)
            kc_cond_wait(&r->changed, &r->mutex);
}

/* Makes `n` puts. */
static int put_many_times(const kc__storage_etcd *s, kc_str key, uint64_t n, kc_error *err)
{
    etcd_raise r = {.client = s->client, .key = key, .left = n};
    kc_mutex_init(&r.mutex);
    kc_cond_init(&r.changed);
    raise_wait(&r);
    kc_cond_done(&r.changed);
    kc_mutex_done(&r.mutex);
    return r.err.reason ? kc_error_move(err, &r.err) : 0;
}

/* Deletes the key. The revision does not change if there is none. */
static int delete_scratch(const kc__storage_etcd *s, kc_str key, bool *ret_deleted, kc_error *err)
{
    kc_auto(kc__etcd_reply) *reply =
        kc__etcd_call(s->client, &(kc__etcd_request){.method = KC__ETCD_DELETE_RANGE,
                                                     .idempotent = true,
                                                     .delete_range.key = key});
    if (reply->code != KC__ETCD_OK)
        return kc__storage_etcd_error(reply, err);
    *ret_deleted = reply->delete_range->deleted > 0;
    return 0;
}

static int current_revision(kc__storage *storage, uint64_t *ret, kc_error *err)
{
    kc__storage_state state;
    const int failed = kc__storage_etcd_progress(storage, &state, err);
    if (!failed)
        *ret = state.revision;
    return failed;
}

static int compact_to_latest(kc__storage *storage, kc_error *err)
{
    uint64_t revision = 0;
    const int failed = current_revision(storage, &revision, err);
    return failed ? failed : kc__storage_etcd_compact(storage, revision, err);
}

int kc__storage_etcd_advance(kc__storage *storage, uint64_t revision, kc_error *err)
{
    const kc__storage_etcd *s = kc__storage_etcd_of(storage);
    kc_scoped(kc_arena) arena = {0};
    const kc_str key = kc__storage_etcd_key(s, KC_STR(SCRATCH_KEY), &arena);
    uint64_t at = 0;
    bool deleted = false;
    if (current_revision(storage, &at, err) < 0)
        return kc_error_result(err);
    while (at < revision) {
        if (put_many_times(s, key, KC_MIN(revision - at, (uint64_t)STEP), err) < 0 ||
            compact_to_latest(storage, err) < 0 || current_revision(storage, &at, err) < 0)
            return kc_error_wrap(err, "raise the revision from %llu to %llu",
                                 (unsigned long long)at, (unsigned long long)revision);
        if (s->advanced)
            s->advanced(at, revision, s->advanced_user);
    }
    if (delete_scratch(s, key, &deleted, err) < 0)
        return kc_error_result(err);
    return deleted ? compact_to_latest(storage, err) : 0;
}

int kc__storage_etcd_snapshot(kc__storage *storage, int fd, uint64_t *ret_size, kc_error *err)
{
    return kc__etcd_snapshot(kc__storage_etcd_of(storage)->client, fd, ret_size, err);
}
