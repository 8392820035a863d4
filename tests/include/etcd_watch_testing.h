/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd_watch_testing.h: a watch that records its events, for tests.
 *
 *     watch_record record;
 *     watch_record_init(&record);
 *     kc__etcd_watch *watch = watch_record_start(etcd, &record, &(kc__etcd_watch_opts){…});
 *     watch_record_await(&record, 3);                     three events
 *     assert_recorded(&record, "PUT a=1 PUT b=2 DELETE a");
 */
#ifndef KC_ETCD_WATCH_TESTING_H
#define KC_ETCD_WATCH_TESTING_H

#include "etcd_process.h"

#include <assert.h>

typedef struct watch_record {
    kc_mutex mutex; /* Guards the rest. */
    kc_buf line;    /* Events, separated by spaces. */
    size_t n_events, n_batches, n_partial;
    int64_t last_revision; /* Of an event. */
    int64_t complete;      /* Everything up to here is delivered. */
    int64_t progress, compacted;
    size_t n_progress;
    bool failed;
    kc__etcd_code code;
    bool keys_only; /* Values are not recorded. */
    bool disorder;  /* Revisions decreased, or an event came after its revision was complete. */
    kc_buf keys;    /* Keys, separated by spaces. */
} watch_record;

static inline KC_UNUSED void watch_record_init(watch_record *r)
{
    *r = (watch_record){0};
    kc_mutex_init(&r->mutex);
}

static inline KC_UNUSED void watch_record_done(watch_record *r)
{
    kc_buf_done(&r->line);
    kc_buf_done(&r->keys);
    kc_mutex_done(&r->mutex);
}

static inline void record_event(watch_record *r, const kc__etcd_event *event)
{
    const kc__etcd_key_value *kv = event->kv;
    const bool put = event->type == KC__ETCD_PUT_EVENT;
    r->disorder =
        r->disorder || kv->mod_revision < r->last_revision || kv->mod_revision <= r->complete;
    r->last_revision = kv->mod_revision;
    r->n_events++;
    kc_buf_printf(&r->keys, "%s%.*s", r->keys.n ? " " : "", KC_ARG(kv->key));
    if (r->keys_only)
        return;
    kc_buf_printf(&r->line, "%s%s %.*s", r->line.n ? " " : "", put ? "PUT" : "DELETE",
                  KC_ARG(kv->key));
    if (put)
        kc_buf_printf(&r->line, "=%.*s", KC_ARG(kv->value));
    if (event->prev_kv)
        kc_buf_printf(&r->line, "(was %.*s)", KC_ARG(event->prev_kv->value));
}

static inline void record_events(const kc__etcd_batch *batch, void *user)
{
    watch_record *r = user;
    kc_locked (&r->mutex) {
        for (size_t i = 0; i < batch->n; i++)
            record_event(r, &batch->events[i]);
        r->n_batches++;
        r->n_partial += batch->revision < r->last_revision;
        r->complete = KC_MAX(r->complete, batch->revision);
    }
}

static inline void record_progress(int64_t revision, void *user)
{
    watch_record *r = user;
    kc_locked (&r->mutex) {
        r->disorder = r->disorder || revision < r->last_revision;
        r->progress = revision;
        r->complete = KC_MAX(r->complete, revision);
        r->n_progress++;
    }
}

static inline void record_compacted(int64_t compact_revision, void *user)
{
    watch_record *r = user;
    kc_locked (&r->mutex)
        r->compacted = compact_revision;
}

static inline void record_failed(kc__etcd_code code, const kc_error *err, void *user)
{
    watch_record *r = user;
    assert(err->reason != KC_OK);
    kc_locked (&r->mutex) {
        r->failed = true;
        r->code = code;
    }
}

static inline KC_UNUSED kc__etcd_watch *watch_record_start(kc__etcd *etcd, watch_record *r,
                                                           const kc__etcd_watch_opts *opts)
{
    kc__etcd_watch_opts own = *opts;
    own.events = record_events;
    own.progress = record_progress;
    own.compacted = record_compacted;
    own.failed = record_failed;
    own.user = r;
    return kc__etcd_watch_start(etcd, &own);
}

/* A field of the record, read under its lock. */
#define watch_record_get(r, field)         \
    (__extension__({                       \
        __typeof__((r)->field) value_ = 0; \
        kc_locked (&(r)->mutex)            \
            value_ = (r)->field;           \
        value_;                            \
    }))

static inline KC_UNUSED void watch_record_await(watch_record *r, size_t n_events)
{
    etcd_await(watch_record_get(r, n_events) >= n_events);
}

static inline KC_UNUSED bool watch_record_ends(watch_record *r, const char *text)
{
    bool ends = false;
    kc_locked (&r->mutex)
        ends = kc_str_ends(kc_buf_str(&r->line), kc_cstr(text));
    return ends;
}

/* Asserts all recorded events; the watch is stopped. */
static inline KC_UNUSED void assert_recorded(watch_record *r, const char *expected)
{
    assert_string_equal(kc_buf_cstr(&r->line), expected);
    assert_false(r->disorder);
}

#endif
