/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflector.c: the state machine of a reflector: list, watch, back off, repeat.
 *
 *     ┌─► LIST ─┬─► STREAM ─► STREAMING ─────────────┬─► WATCHING ─► CLOSING ─► WATCH ─┐
 *     │         └─► PLAIN ──► LISTING ──► WATCH ─────┘       ▲          │              │
 *     │                                                      └──────────┼──────────────┘
 *     └───────────────── BACKING_OFF ◄────── 410, errors ◄──────────────┘
 *
 * The rules are those of client-go's reflector:
 *
 *   - the first list accepts any state the server has (resourceVersion 0), later ones nothing older
 *     than what was seen;
 *   - a watch that ended normally, or whose connection broke, is restarted at once at its last
 *     revision;
 *   - if the server is down or busy the same watch is retried after a backoff, without a list;
 *   - 410 and other errors lead to a relist, after a backoff.
 *
 * Two rules are added. A streamed list has a deadline: some proxies drop the bookmark at its end,
 * and the reflector would wait forever. And a watch that has delivered nothing for a long time, not
 * even a bookmark, counts as stalled and is restarted.
 *
 * Threads: steps run one at a time, on any thread (executor.h). Transport callbacks reach the
 * reflector through its stream, which wakes the owner. Health can be queried from any thread.
 */
#include "runtime/cache/reflector_internal.h"

#include <assert.h>

enum { STEP_BUDGET = 1024 }; /* Changes per step; then other kinds get their turn. */

kc__reflector *kc__reflector_new(const kc__reflector_opts *opts)
{
    kc__reflector *r = kc_new(kc__reflector);
    r->opts = *opts;
    r->backoff = (kc__backoff){.clock = opts->clock, .rand = kc_rand_split(&r->opts.rand)};
    r->plain = opts->plain_lists;
    r->last_received = kc_clock_now(opts->clock);
    r->state = KC__REFLECTOR_LIST;
    kc_mutex_init(&r->mutex);
    return r;
}

kc__reflector *kc__reflector_free(kc__reflector *r)
{
    if (!r)
        return NULL;
    assert(!r->stream);
    kc_buf_done(&r->last);
    kc_buf_done(&r->list_version);
    kc_error_done(&r->stream_failure);
    kc_error_done(&r->failure);
    kc_mutex_done(&r->mutex);
    free(r);
    return NULL;
}

/* ---- states ---- */

int64_t kc__reflector_go(kc__reflector *r, kc__reflector_state state)
{
    r->state = state;
    return KC__REFLECTOR_GO_ON;
}

int64_t kc__reflector_close(kc__reflector *r, kc__reflector_state after)
{
    if (r->stream)
        kc__client_stream_cancel(r->stream);
    r->after = after;
    r->backs_off = false;
    return kc__reflector_go(r, KC__REFLECTOR_CLOSING);
}

int64_t kc__reflector_close_and_back_off(kc__reflector *r, kc__reflector_state after)
{
    kc__reflector_close(r, after);
    r->backs_off = true;
    return KC__REFLECTOR_GO_ON;
}

static bool close_stream(kc__reflector *r)
{
    if (r->stream && !kc__client_stream_is_over(r->stream))
        return false;
    r->stream = kc__client_stream_free(r->stream);
    return true;
}

static int64_t wait_for_close(kc__reflector *r)
{
    if (!close_stream(r))
        return KC_FOREVER;
    if (!r->backs_off)
        return kc__reflector_go(r, r->after);
    r->resume_at = kc_clock_deadline(r->opts.clock, kc__backoff_next(&r->backoff));
    return kc__reflector_go(r, KC__REFLECTOR_BACKING_OFF);
}

static int64_t wait_for_resume(kc__reflector *r)
{
    if (kc_clock_now(r->opts.clock) < r->resume_at)
        return r->resume_at;
    return kc__reflector_go(r, r->after);
}

int64_t kc__reflector_step(kc__reflector *r)
{
    static int64_t (*const states[])(kc__reflector *r) = {
        [KC__REFLECTOR_LIST] = kc__reflector_begin_list,
        [KC__REFLECTOR_STREAM] = kc__reflector_begin_stream,
        [KC__REFLECTOR_STREAMING] = kc__reflector_read_stream,
        [KC__REFLECTOR_PLAIN] = kc__reflector_begin_plain,
        [KC__REFLECTOR_LISTING] = kc__reflector_read_plain,
        [KC__REFLECTOR_WATCH] = kc__reflector_begin_watch,
        [KC__REFLECTOR_WATCHING] = kc__reflector_read_watch,
        [KC__REFLECTOR_CLOSING] = wait_for_close,
        [KC__REFLECTOR_BACKING_OFF] = wait_for_resume,
    };
    int64_t next = KC__REFLECTOR_GO_ON;
    r->budget = STEP_BUDGET;
    while (next == KC__REFLECTOR_GO_ON && !r->ending)
        next = states[r->state](r);
    return r->ending ? KC_FOREVER : next;
}

bool kc__reflector_end(kc__reflector *r)
{
    if (!r->ending && r->stream)
        kc__client_stream_cancel(r->stream);
    r->ending = true;
    return close_stream(r);
}

/* ---- health ---- */

void kc__reflector_note_activity(kc__reflector *r)
{
    kc_locked (&r->mutex) {
        r->last_received = kc_clock_now(r->opts.clock);
        r->stalled = false;
    }
}

void kc__reflector_stalled(kc__reflector *r)
{
    kc_locked (&r->mutex)
        r->stalled = true;
    kc_counter_inc(r->opts.metrics.stalls);
    kc_log_warn(r->opts.log, "watch stalled; restarting", kc_kv("resource", r->opts.kind->plural),
                kc_kv("namespace", r->opts.scope->ns),
                kc_kv_duration("timeout", r->opts.watch_stall_timeout));
}

static int64_t silence(kc__reflector *r)
{
    int64_t last_received = 0;
    kc_locked (&r->mutex)
        last_received = r->last_received;
    return kc_clock_now(r->opts.clock) - last_received;
}

void kc__reflector_show_staleness(kc__reflector *r)
{
    kc_gauge_set(r->opts.metrics.staleness, (double)silence(r) / (double)KC_SECOND);
}

static void copy_error(kc_error *to, const kc_error *from)
{
    kc_error_done(to);
    kc_error_set(to, from->reason, "%s", kc_error_text(from));
    to->code = from->code;
}

void kc__reflector_failed(kc__reflector *r, const char *doing, const kc_error *why)
{
    kc_locked (&r->mutex)
        copy_error(&r->failure, why);
    kc_log_warn(r->opts.log, doing, kc_kv("resource", r->opts.kind->plural),
                kc_kv("namespace", r->opts.scope->ns), kc_kv("err", why));
}

void kc__reflector_note_success(kc__reflector *r)
{
    kc_locked (&r->mutex)
        kc_error_done(&r->failure);
}

bool kc__reflector_failure(kc__reflector *r, kc_error *ret)
{
    bool failed = false;
    kc_locked (&r->mutex) {
        failed = r->failure.reason != KC_OK;
        if (failed && ret)
            copy_error(ret, &r->failure);
    }
    return failed;
}

int kc__reflector_check(kc__reflector *r, kc_error *err)
{
    bool stalled = false;
    kc_locked (&r->mutex)
        stalled = r->stalled;
    const int64_t silent = silence(r);
    if (!stalled && silent <= r->opts.watch_stall_timeout)
        return 0;
    kc_scoped(kc_buf) since = {0};
    kc_duration_write(&since, silent / KC_SECOND * KC_SECOND);
    return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "the watch of %s%s%s stalled: no event for %s",
                        r->opts.kind->plural, r->opts.scope->ns ? " in namespace " : "",
                        r->opts.scope->ns ? r->opts.scope->ns : "", kc_buf_cstr(&since));
}

/* ---- push ---- */

void kc__reflector_set_revision(kc__reflector *r, kc_str resource_version)
{
    if (!resource_version.n)
        return;
    kc_buf_clear(&r->last);
    kc_buf_append(&r->last, resource_version);
}

bool kc__reflector_is_ours(const kc__reflector *r, const kc_object *object)
{
    return r->opts.metadata_only || kc_gvk_eq(kc_object_gvk(object), kc_kind_gvk(r->opts.kind));
}

/* Objects shared with a server in the same process need no extra memory; a copy without
 * managedFields would. */
static bool is_kept_as_it_is(const kc__reflector *r, bool shared)
{
    return shared && r->opts.transform == kc_transform_strip_managed_fields;
}

void kc__reflector_note_shared(kc__reflector *r, bool shared)
{
    if (shared && r->opts.shares)
        atomic_store_explicit(r->opts.shares, true, memory_order_relaxed);
}

void kc__reflector_push(kc__reflector *r, kc__fifo_delta_type type, kc_object *object, bool shared,
                        uint64_t revision)
{
    kc__reflector_note_shared(r, shared);
    if (object && !is_kept_as_it_is(r, shared))
        object = r->opts.transform(object, r->opts.transform_user);
    kc__fifo_push(r->opts.fifo, &(kc__fifo_delta){.type = type,
                                                  .origin = r->opts.origin,
                                                  .object = object,
                                                  .revision = revision});
    r->budget -= r->budget > 0;
}

/* ---- errors ---- */

bool kc__reflector_is_expired(const kc_error *err)
{
    return err->reason == KC_EXPIRED || err->reason == KC_GONE;
}

bool kc__reflector_is_too_large_version(const kc_error *err)
{
    kc_vec_each (&err->causes, cause)
        if (kc_str_is(kc_cstr(cause->reason), "ResourceVersionTooLarge") ||
            kc_str_is(kc_cstr(cause->message), "Too large resource version"))
            return true;
    return err->reason == KC_TIMEOUT &&
           kc_str_contains(kc_cstr(kc_error_text(err)), KC_STR("Too large resource version"));
}

bool kc__reflector_is_retriable(const kc_error *err)
{
    return err->reason == KC_TOO_MANY_REQUESTS ||
           (err->reason == KC_SERVICE_UNAVAILABLE && err->code == 0);
}
