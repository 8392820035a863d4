/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitors.c: runs an informer for every resource that can be listed, watched and deleted.
 *
 * Discovery runs when a CustomResourceDefinition changes and every 30 seconds. Of a resource with
 * several versions the preferred one is watched. A new resource gets a monitor; a resource that is
 * missing from two discoveries in a row loses it. A removed resource still has deletions to report,
 * and those are the important ones: its informer is kept until it has observed them. If a part of
 * discovery fails, no resource counts as removed.
 *
 * Only the worker of this controller changes monitors; other threads read them with the mutex held.
 * Informers are started and joined without the mutex, because their event handlers take it.
 */
#include "gc/collector.h"

#define PERIOD (30 * KC_SECOND)
#define SOON   (1 * KC_SECOND)
/* Maximum wait for a resource that cannot be listed. */
#define SYNC_TIMEOUT (30 * KC_SECOND)

/* ---- one monitor ---- */

static void saw(const kc_change *change, void *user)
{
    kc__gc_monitor *m = user;
    if (change->resync)
        return;
    kc_locked (&m->gc->mutex)
        kc__gc_observe(m->gc->graph, kc_cstr(m->type), change->object);
}

static void lost(const kc_change *change, void *user)
{
    kc__gc_monitor *m = user;
    kc_locked (&m->gc->mutex)
        kc__gc_observe_delete(m->gc->graph, kc_object_uid(change->object));
}

static const kc_event_handler_ops listener = {.added = saw, .updated = saw, .deleted = lost};

static void monitor_free(kc__gc_monitor *m)
{
    kc_event_handler_remove(m->listener);
    kc_informer_release(m->informer);
    free(m->type);
    free(m);
}

static int gc_monitors_start(kc__gc *gc, const kc_kind *kind, kc_error *err)
{
    kc_informer *informer = kc_cache_metadata_informer(gc->cache, kind, err);
    if (!informer)
        return kc_error_wrap(err, "%s", kind->plural);
    kc__gc_monitor *m = kc_new(kc__gc_monitor);
    *m = (kc__gc_monitor){.gc = gc,
                          .kind = kind,
                          .type = kc__gc_type_of(kind),
                          .informer = informer,
                          .since = kc_clock_now(gc->clock)};
    m->listener = kc_informer_add_handler(informer, &listener, m, -1);
    kc_locked (&gc->mutex)
        kc_vec_push(&gc->monitors, m);
    return 0;
}

/* Its objects are not watched any more, whether they exist or not. */
static void gc_monitors_stop(kc__gc *gc, size_t at)
{
    kc__gc_monitor *m = gc->monitors.items[at];
    kc_locked (&gc->mutex)
        kc_vec_remove(&gc->monitors, at);
    m->listener = kc_event_handler_remove(m->listener);
    kc_locked (&gc->mutex)
        kc__gc_unwatched(gc->graph, kc_cstr(m->type));
    monitor_free(m);
}

void kc__gc_stop_monitors(kc__gc *gc)
{
    kc_vec_each (&gc->monitors, m)
        monitor_free(*m);
    kc_vec_done(&gc->monitors);
}

static bool has_listed(const kc__gc *gc, const kc__gc_monitor *m)
{
    return kc_event_handler_has_synced(m->listener) ||
           kc_clock_now(gc->clock) - m->since >= SYNC_TIMEOUT;
}

bool kc__gc_has_synced(kc__gc *gc)
{
    bool all = false;
    kc_locked (&gc->mutex) {
        all = gc->discovered;
        kc_vec_each (&gc->monitors, m)
            all = all && has_listed(gc, *m);
    }
    return all;
}

/* ---- discovery ---- */

typedef struct gc_monitors_found {
    const kc_kind *kind;
    bool preferred, watchable;
} gc_monitors_found;

typedef KC_VEC(gc_monitors_found) founds;

static bool has_verb(const kc_api_resource *resource, const char *verb)
{
    return kc_str_is_any(kc_cstr(verb), resource->verbs);
}

static void gc_monitors_record(const kc_api_resource *resource, void *user)
{
    founds *all = user;
    kc_vec_push(all, (gc_monitors_found){.kind = resource->kind,
                                         .preferred = resource->preferred,
                                         .watchable = has_verb(resource, "list") &&
                                                      has_verb(resource, "watch") &&
                                                      has_verb(resource, "delete")});
}

/* Events are numerous and short-lived, and own nothing. */
static bool is_ignored(const kc_kind *kind)
{
    return !strcmp(kind->plural, "events") &&
           (!kind->group || !*kind->group || !strcmp(kind->group, "events.k8s.io"));
}

/* The version to watch for each resource: "group/resource" to found. The texts are the arena's. */
static void gc_monitors_choose(const founds *all, kc_arena *arena, kc_map *ret)
{
    kc_vec_each (all, f) {
        if (!f->watchable || is_ignored(f->kind))
            continue;
        const kc_str key = kc_cstr(
            kc_arena_printf(arena, "%s/%s", f->kind->group ? f->kind->group : "", f->kind->plural));
        if (f->preferred || !kc_map_get(ret, key))
            kc_map_put(ret, key, f);
    }
}

static bool text_eq(const char *a, const char *b)
{
    return kc_str_eq(kc_cstr(a), kc_cstr(b));
}

static bool gc_monitors_is_same(const kc_kind *a, const kc_kind *b)
{
    return text_eq(a->group, b->group) && text_eq(a->version, b->version) &&
           text_eq(a->plural, b->plural) && text_eq(a->kind, b->kind) &&
           a->namespaced == b->namespaced;
}

static bool learn(kc__gc *gc, const founds *all, bool complete)
{
    bool more = false;
    kc_locked (&gc->mutex) {
        kc__gc_resources_begin(gc, complete);
        kc_vec_each (all, f)
            kc__gc_resources_add(gc, f->kind);
        more = kc__gc_resources_have_new(gc);
    }
    return more;
}

/* ---- starting and stopping monitors ---- */

static const gc_monitors_found *chosen_for(const kc__gc_monitor *m, const kc_map *chosen)
{
    kc_scoped(kc_buf) key = {0};
    kc_buf_printf(&key, "%s/%s", m->kind->group ? m->kind->group : "", m->kind->plural);
    const gc_monitors_found *f = kc_map_get(chosen, kc_buf_str(&key));
    return f && gc_monitors_is_same(f->kind, m->kind) ? f : NULL;
}

/* Whether the monitor of an unselected resource may stop if the next discovery agrees: another
 * version is watched, or its informer has delivered all deletions and its list finds nothing. */
static bool may_end(kc__gc_monitor *m)
{
    kc__gc_resource still;
    kc_scoped(kc_error) failure = {0};
    return kc__gc_resource_of(m->gc, kc_cstr(m->type), &still) ||
           kc_informer_last_error(m->informer, &failure);
}

/* True if a monitor may have to stop after the next discovery. */
static bool stop_missing(kc__gc *gc, kc_map *chosen, bool complete)
{
    bool kept_monitors = false;
    for (size_t i = gc->monitors.n; i-- > 0;) {
        kc__gc_monitor *m = gc->monitors.items[i];
        const gc_monitors_found *f = chosen_for(m, chosen);
        m->missed = f || !complete ? 0 : m->missed + may_end(m);
        if (m->missed >= 2)
            gc_monitors_stop(gc, i);
        else if (f)
            m->kind = f->kind;
        else
            kept_monitors = true;
    }
    return kept_monitors;
}

static bool is_watched(const kc__gc *gc, const kc_kind *kind)
{
    for (size_t i = 0; i < gc->monitors.n; i++)
        if (gc_monitors_is_same(gc->monitors.items[i]->kind, kind))
            return true;
    return false;
}

static int start_new(kc__gc *gc, const kc_map *chosen, bool *ret_started, kc_error *err)
{
    int result = 0;
    kc_map_each (chosen, entry) {
        const gc_monitors_found *f = entry->value;
        if (is_watched(gc, f->kind))
            continue;
        if (gc_monitors_start(gc, f->kind, err) < 0)
            result = kc_error_result(err);
        else
            *ret_started = true;
    }
    return result;
}

/* Returns the time until the next discovery. */
static int64_t adjust(kc__gc *gc, const founds *all, bool complete, kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_map) chosen = {0};
    bool started = false;
    gc_monitors_choose(all, &arena, &chosen);
    const bool more = learn(gc, all, complete);
    const bool kept_monitors = stop_missing(gc, &chosen, complete);
    if (start_new(gc, &chosen, &started, err) < 0)
        return kc_error_result(err);
    kc_locked (&gc->mutex) {
        gc->discovered = true;
        if (more)
            kc__gc_reconsider(gc->graph);
    }
    return started || more || kept_monitors ? SOON : PERIOD;
}

/* A CRD has changed: the server may need a moment to serve the change. */
static bool was_definition(const kc_request *request)
{
    return request->item && request->item->n_causes && request->item->causes[0].kind;
}

kc_result kc__gc_monitor_resources(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc__gc *gc = ctx->user;
    founds all = {0};
    kc_scoped(kc_error) why = {0};
    int64_t next = -1;
    if (kc_client_discover(ctx->client, gc_monitors_record, &all, &why) == 0 && all.n) {
        if (why.reason)
            kc_log_warn(ctx->log, "discovery failed for some API groups", kc_kv("err", &why));
        next = adjust(gc, &all, !why.reason, err);
    } else {
        kc_error_move(err, &why);
    }
    kc_vec_done(&all);
    if (next < 0) {
        kc_counter_inc(gc->sync_errors);
        return kc_retry(err);
    }
    return kc_requeue_after(was_definition(request) ? SOON : next);
}
