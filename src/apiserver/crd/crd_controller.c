/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_controller.c: the event loop of the CRD controller, its writes, and its publications.
 *
 *     CRD changed ─▶ status ─▶ compiled ─▶ resources published ─▶ status stored
 *
 * The controller has an event loop of its own, because compiling a CRD may take long and requests
 * must not wait for it. A watch of the CRDs only wakes the controller. It then reads all CRDs from
 * the cache, so a change that arrives during a round is handled by the next one. Resources are
 * published before a client can read that their CRD is established.
 *
 *     crd_controller_entry.c     one CRD: names, status, compiling
 *     crd_controller_delete.c    a CRD that is being deleted, with its objects
 */
#include "apiserver/crd/crd_controller.h"

#include "apiserver/crd/crd_controller_internal.h"
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "apiserver/kinds/key_layout.h"

/* The delay after the store failed. */
#define RETRY_AFTER KC_SECOND

/* ---- writing ---- */

void kc__crd_controller_put(kc__crd_entry *e, const kc_object *old, const kc_object *next)
{
    kc__crd_write *w = kc_new(kc__crd_write);
    w->cache = kc__watch_cache_ref(e->controller->crds);
    w->key = kc_str_dup(kc_cstr(e->name));
    w->object = kc_object_ref(next);
    w->expected = kc_object_revision(old);
    w->verb = KC__STORAGE_PUT;
    w->entry = e;
    e->writing = true;
    kc_vec_push(&e->controller->writes, w);
}

/* After a conflict or a failure the CRD is synced again. */
static void settle_write(kc__crd_write *w)
{
    if (!w->entry) {
        w->controller->in_flight_objects--;
        return;
    }
    w->entry->writing = false;
    if (w->write.outcome != KC__STORAGE_STORED || w->write.error.reason)
        w->entry->revision = 0;
}

static void write_done(kc__store_write *write)
{
    kc__crd_write *w = kc_container_of(write, kc__crd_write, write);
    kc__crd_controller *c = w->controller;
    int64_t delay = write->error.reason ? RETRY_AFTER : 0;
    settle_write(w);
    if (write->error.reason)
        kc_log_error(c->opts.log, "write of a CRD or a custom object failed; retrying",
                     kc_kv("key", w->key), kc_kv("err", &write->error));
    kc_object_unref(write->result);
    kc_error_done(&write->error);
    kc__watch_cache_unref(w->cache);
    kc_object_unref(w->object);
    free(w->key);
    free(w);
    if (!c->stopped)
        kc__crd_controller_wake(c, delay);
}

void kc__crd_controller_submit(kc__crd_controller *c, kc__crd_write *w)
{
    w->controller = c;
    w->write = (kc__store_write){.cache = w->cache,
                                 .verb = w->verb,
                                 .key = kc_cstr(w->key),
                                 .expected = w->expected,
                                 .object = w->object,
                                 .loop = c->loop,
                                 .done = write_done};
    c->in_flight_objects += !w->entry;
    kc__store_submit(c->opts.store, &w->write);
}

/* ---- a round ---- */

/* Drops the entries of CRDs that are no longer stored. */
static void drop_deleted_entries(kc__crd_controller *c)
{
    KC_VEC(kc__crd_entry *) gone = {0};
    kc_map_each (&c->entries, at) {
        kc__crd_entry *e = at->value;
        if (e->seen != c->round && !e->writing)
            kc_vec_push(&gone, e);
    }
    for (size_t i = 0; i < gone.n; i++) {
        c->changed |= gone.items[i]->compiled != NULL;
        kc_map_remove(&c->entries, kc_cstr(gone.items[i]->name));
        kc__crd_entry_free(gone.items[i]);
    }
    kc_vec_done(&gone);
}

static void publish_resources(kc__crd_controller *c)
{
    kc_scoped(kc_error) err = {0};
    KC_VEC(const kc__resource_set *) sets = {0};
    kc__crd_rules_list rules = {0};
    kc_map_each (&c->entries, at) {
        const kc__crd_entry *e = at->value;
        if (!e->compiled)
            continue;
        kc_vec_push(&sets, kc__crd_resources(e->compiled));
        kc__crd_rules_list_add(&rules, e->compiled);
    }
    kc__crd_rules_metrics_replace(&c->rules, &rules);
    kc__crd_publication publication = {
        .sets = sets.items, .n = sets.n, .withdraws = c->withdraws, .revision = c->seen};
    if (c->opts.publish(&publication, c->opts.user, &err) < 0)
        kc_log_error(c->opts.log, "publishing custom resources failed", kc_kv("err", &err));
    else
        c->withdraws = false;
    c->changed = false;
    kc_vec_done(&sets);
}

static void sync_crds(kc__crd_controller *c)
{
    uint64_t revision;
    kc__cow_snapshot *snapshot = kc__watch_cache_snapshot(c->crds, &revision);
    kc__cow_iter at = kc__cow_iter_start(snapshot, &(kc__cow_range){0});
    c->round++;
    c->seen = KC_MAX(c->seen, revision);
    while (kc__cow_iter_next(&at))
        kc__crd_entry_of(c, at.object)->seen = c->round;
    drop_deleted_entries(c); /* First, to free their names. */
    at = kc__cow_iter_start(snapshot, &(kc__cow_range){0});
    while (kc__cow_iter_next(&at))
        kc__crd_entry_sync(kc__crd_entry_of(c, at.object), at.object);
    kc__cow_snapshot_unref(snapshot);
    kc__crd_forget_names(c);
    if (c->changed)
        publish_resources(c);
    for (size_t i = 0; i < c->writes.n; i++)
        kc__crd_controller_submit(c, c->writes.items[i]);
    c->writes.n = 0;
}

/* ---- waking up ---- */

void kc__crd_controller_wake(kc__crd_controller *c, int64_t delay)
{
    kc__loop_timer_start(&c->timer, kc_clock_deadline(c->opts.clock, delay));
}

/* Deferred: the hub that calls this is still iterating over its watchers. */
static void watch_ready(void *user)
{
    kc__crd_controller_wake(user, 0);
}

static void start_watch(kc__crd_controller *c)
{
    uint64_t revision;
    kc__cow_snapshot_unref(kc__watch_cache_snapshot(c->crds, &revision));
    kc__store_watch_stop(c->watcher);
    c->watcher = kc__store_watch_start(&(kc__store_watch_opts){
        .cache = c->crds, .loop = c->loop, .since = revision, .ready = watch_ready, .user = c});
}

/* Discards the events: they only wake the controller, which reads the cache. */
static void drain_watch(kc__crd_controller *c)
{
    for (;;) {
        kc_auto(kc__store_event) *event = NULL;
        kc__store_watch_result state = kc__store_watch_next(c->watcher, &event);
        if (state == KC__STORE_WATCH_EMPTY)
            return;
        if (state != KC__STORE_WATCH_EVENT)
            start_watch(c);
    }
}

static void timer_fired(kc__loop_timer *timer)
{
    kc__crd_controller *c = kc_container_of(timer, kc__crd_controller, timer);
    drain_watch(c);
    sync_crds(c);
}

/* ---- starting and stopping ---- */

static void start_on_crd_loop(void *user)
{
    kc__crd_controller *c = user;
    start_watch(c);
    drain_watch(c);
    sync_crds(c);
}

static void stop_on_crd_loop(void *user)
{
    kc__crd_controller *c = user;
    c->stopped = true;
    kc__loop_timer_stop(&c->timer);
    c->watcher = kc__store_watch_stop(c->watcher);
}

kc__crd_controller *kc__crd_controller_start(const kc__crd_controller_opts *opts, kc_error *err)
{
    kc__loop *loop = kc__loop_start("crd-controller", opts->clock, err);
    if (!loop)
        return NULL;
    kc__crd_controller *c = kc_new(kc__crd_controller);
    c->opts = *opts;
    c->loop = loop;
    if (kc__crd_rules_metrics_init(&c->rules, opts->metrics, err) < 0)
        return kc__crd_controller_free(c);
    c->crds = kc__store_watch_cache(
        opts->store, kc__resource_key_builtin_prefix(KC__CRD_GROUP, "customresourcedefinitions"));
    c->timer = (kc__loop_timer){.loop = loop, .fire = timer_fired};
    kc__loop_call(c->loop, start_on_crd_loop, c);
    return c;
}

void kc__crd_controller_stop(kc__crd_controller *controller)
{
    kc__loop_call(controller->loop, stop_on_crd_loop, controller);
}

kc__crd_controller *kc__crd_controller_free(kc__crd_controller *controller)
{
    if (!controller)
        return NULL;
    kc__loop_stop(controller->loop);
    kc__crd_rules_metrics_done(&controller->rules);
    kc_map_each (&controller->entries, at)
        kc__crd_entry_free(at->value);
    kc_map_done(&controller->entries);
    kc_vec_done(&controller->writes);
    free(controller);
    return NULL;
}
