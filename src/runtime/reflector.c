/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflector.c: list, watch, wait, again.
 *
 *     ┌─► list (or streamed list) ──► watch ──► watch ──► … ──┐
 *     └──────────────── back off ◄─── 410, errors ◄───────────┘
 *
 * A thread of its own does all of it, blocking. It has the rules of client-go's reflector:
 *
 *   - the first list takes any state the server has at hand (resourceVersion 0), later ones what is
 *     not older than what was seen;
 *   - a watch that ends regularly is made anew at once, from where it was; so is one that broke;
 *   - a server that is down or busy is asked again for the same watch, after a while: no list;
 *   - 410 and other errors lead to a list, after a while.
 *
 * Two rules are added. A streamed list has a deadline: some proxies swallow the bookmark at its
 * end, and would have us wait for ever. And a watch on which nothing came for long, not even a
 * bookmark, is taken for dead and made anew.
 */
#include "runtime/reflector_internal.h"

#include <assert.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BATCH = 64,       /* Objects of a list pushed at a time. */
    ROOM = 120 << 10, /* Less than what malloc gives back to the system when it is freed. */
};

kc__reflector *kc__reflector_new(const kc__reflector_opts *opts)
{
    kc__reflector *r = kc_new(kc__reflector);
    r->opts = *opts;
    r->cancel = kc_cancel_new(NULL);
    r->client = kc_client_with(opts->client, &(kc_client_bind){.cancel = r->cancel});
    r->backoff = (kc__backoff){.clock = opts->clock, .rand = kc_rand_split(&r->opts.rand)};
    r->plain = opts->plain_lists;
    kc_mutex_init(&r->mutex);
    return r;
}

kc__reflector *kc__reflector_free(kc__reflector *r)
{
    if (!r)
        return NULL;
    assert(!r->thread);
    kc_client_unref(r->client);
    kc_cancel_unref(r->cancel);
    kc__deltas_done(&r->pending);
    kc_buf_done(&r->last);
    kc_error_done(&r->failure);
    kc_mutex_done(&r->mutex);
    free(r);
    return NULL;
}

/* ---- the loop ---- */

static void list_and_watch(kc__reflector *r)
{
    kc_scoped(kc_error) err = {0};
    kc_watch *watch = NULL;
    if (kc__reflector_list(r, &watch, &err) < 0) {
        kc__reflector_failed(r, "list", &err);
        return;
    }
    kc__reflector_works(r);
    kc__reflector_watch(r, watch);
}

static void run(void *user)
{
    kc__reflector *r = user;
    do
        list_and_watch(r);
    while (kc__reflector_back_off(r));
}

int kc__reflector_start(kc__reflector *r, kc_error *err)
{
    kc_locked (&r->mutex)
        r->heard = kc_clock_now(r->opts.clock);
    r->thread = kc_thread_start("kc-reflector", run, r, err);
    return r->thread ? 0 : kc_error_wrap(err, "start a reflector of %s", r->opts.kind->plural);
}

void kc__reflector_cancel(kc__reflector *r)
{
    kc_cancel_fire(r->cancel);
}

void kc__reflector_join(kc__reflector *r)
{
    r->thread = kc_thread_join(r->thread);
}

bool kc__reflector_back_off(kc__reflector *r)
{
    if (kc_cancel_fired(r->cancel))
        return false;
    const int64_t wait = kc__backoff_next(&r->backoff);
    return kc_cancel_sleep_until(r->cancel, r->opts.clock, kc_clock_deadline(r->opts.clock, wait));
}

/* ---- how it goes ---- */

void kc__reflector_heard(kc__reflector *r)
{
    kc_locked (&r->mutex) {
        r->heard = kc_clock_now(r->opts.clock);
        r->stalled = false;
    }
    kc_gauge_set(r->opts.metrics.staleness, 0);
}

void kc__reflector_stalled(kc__reflector *r)
{
    kc_locked (&r->mutex)
        r->stalled = true;
    kc_counter_inc(r->opts.metrics.stalls);
    kc_log_warn(r->opts.log, "nothing came on a watch, it is made anew",
                kc_kv("resource", r->opts.kind->plural), kc_kv("namespace", r->opts.scope->ns),
                kc_kv_duration("for", r->opts.stall));
}

static int64_t silence(kc__reflector *r)
{
    int64_t heard = 0;
    kc_locked (&r->mutex)
        heard = r->heard;
    return kc_clock_now(r->opts.clock) - heard;
}

void kc__reflector_silent(kc__reflector *r)
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
    if (kc_cancel_fired(r->cancel))
        return;
    kc_locked (&r->mutex)
        copy_error(&r->failure, why);
    kc_log_warn(r->opts.log, "could not get what the server has", kc_kv("doing", doing),
                kc_kv("resource", r->opts.kind->plural), kc_kv("namespace", r->opts.scope->ns),
                kc_kv("error", why));
}

void kc__reflector_works(kc__reflector *r)
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
    int64_t heard = 0;
    kc_locked (&r->mutex) {
        stalled = r->stalled;
        heard = r->heard;
    }
    const int64_t silent = kc_clock_now(r->opts.clock) - heard;
    kc__reflector_silent(r);
    if (!stalled && silent <= r->opts.stall)
        return 0;
    kc_scoped(kc_buf) since = {0};
    kc_duration_write(&since, silent / KC_SECOND * KC_SECOND);
    return kc_error_set(err, KC_SERVICE_UNAVAILABLE,
                        "the watch of %s%s%s is stalled: nothing came for %s", r->opts.kind->plural,
                        r->opts.scope->ns ? " in namespace " : "",
                        r->opts.scope->ns ? r->opts.scope->ns : "", kc_buf_cstr(&since));
}

/* ---- pushing ---- */

void kc__reflector_reached(kc__reflector *r, kc_str resource_version)
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

static kc__delta delta_of(kc__reflector *r, kc__delta_type type, kc_object *object,
                          uint64_t revision)
{
    if (object)
        object = r->opts.transform(object, r->opts.transform_user);
    return (kc__delta){
        .type = type, .origin = r->opts.origin, .object = object, .revision = revision};
}

bool kc__reflector_push(kc__reflector *r, kc__delta_type type, kc_object *object, uint64_t revision)
{
    assert(!r->pending.n);
    kc__delta delta = delta_of(r, type, object, revision);
    return kc__fifo_push(r->opts.fifo, &delta, 1);
}

/*
 * Memory for the next objects of a list, at once. The heap of a thread grows by just what the next
 * object needs, and then each page is missed when it is first touched: a system call and some
 * faults for every few objects took a sixth of a list's time.
 */
static void make_room(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *room = kc_alloc(ROOM);
    char *first = room + (page - (uintptr_t)room % page);
    /* A kernel that does not know it says so, and nothing is lost. */
    madvise(first, (size_t)(room + ROOM - first) / page * page, MADV_POPULATE_WRITE);
    free(room);
}

bool kc__reflector_collect(kc__reflector *r, kc__delta_type type, kc_object *object,
                           uint64_t revision)
{
    kc_vec_push(&r->pending, delta_of(r, type, object, revision));
    if (r->pending.n < BATCH)
        return true;
    bool open = kc__reflector_flush(r);
    make_room();
    return open;
}

bool kc__reflector_flush(kc__reflector *r)
{
    bool open = kc__fifo_push(r->opts.fifo, r->pending.items, r->pending.n);
    kc_vec_clear(&r->pending); /* The references are the fifo's now. */
    return open;
}

/* ---- errors ---- */

bool kc__is_expired(const kc_error *err)
{
    return err->reason == KC_EXPIRED || err->reason == KC_GONE;
}

bool kc__is_too_large_version(const kc_error *err)
{
    kc_vec_each (&err->causes, cause)
        if (kc_str_is(kc_cstr(cause->reason), "ResourceVersionTooLarge") ||
            kc_str_is(kc_cstr(cause->message), "Too large resource version"))
            return true;
    return err->reason == KC_TIMEOUT &&
           kc_str_contains(kc_cstr(kc_error_text(err)), KC_STR("Too large resource version"));
}

bool kc__is_retriable(const kc_error *err)
{
    return err->reason == KC_TOO_MANY_REQUESTS ||
           (err->reason == KC_SERVICE_UNAVAILABLE && err->code == 0);
}
