/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitors.c: an informer for every resource whose objects can be listed, watched and deleted.
 *
 * What resources there are is asked when a CustomResourceDefinition changes, and every 30 seconds.
 * Of a resource that a group has in several versions the preferred one is watched. A new one gets
 * a monitor; one that two discoveries in a row do not show loses it. A resource that is gone has
 * deletions to tell before, which are the ones that matter: so its informer is kept until it has
 * found out itself. When a part of the server could not be asked, nothing is taken for gone.
 *
 * Monitors are changed by one thread, the worker of the controller that runs this; others read them
 * with the mutex held. Informers are started, and waited for when they end, without it: their
 * listeners take it.
 */
#include "gc/collector.h"

#define PERIOD (30 * KC_SECOND)
#define SOON   (1 * KC_SECOND)
/* Longer than that nobody waits for a resource that cannot be listed. */
#define PATIENCE (30 * KC_SECOND)

/* ---- one ---- */

static void saw(const kc_change *change, void *user)
{
    kc__gc_monitor *m = user;
    if (change->resync)
        return;
    kc_locked (&m->gc->mutex)
        kc__gc_saw(m->gc->graph, kc_cstr(m->type), change->object);
}

static void lost(const kc_change *change, void *user)
{
    kc__gc_monitor *m = user;
    kc_locked (&m->gc->mutex)
        kc__gc_lost(m->gc->graph, kc_object_uid(change->object));
}

static const kc_listener_ops listener = {.added = saw, .updated = saw, .deleted = lost};

static void monitor_free(kc__gc_monitor *m)
{
    kc_listener_remove(m->listener);
    kc_informer_release(m->informer);
    free(m->type);
    free(m);
}

static int start(kc__gc *gc, const kc_kind *kind, kc_error *err)
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
    m->listener = kc_informer_listen(informer, &listener, m, -1);
    kc_locked (&gc->mutex)
        kc_vec_push(&gc->monitors, m);
    return 0;
}

/* Its objects are not watched any more, whatever becomes of them. */
static void stop(kc__gc *gc, size_t at)
{
    kc__gc_monitor *m = gc->monitors.items[at];
    kc_locked (&gc->mutex)
        kc_vec_remove(&gc->monitors, at);
    m->listener = kc_listener_remove(m->listener);
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
    return kc_listener_synced(m->listener) || kc_clock_now(gc->clock) - m->since >= PATIENCE;
}

bool kc__gc_sees_all(kc__gc *gc)
{
    bool all = false;
    kc_locked (&gc->mutex) {
        all = gc->discovered;
        kc_vec_each (&gc->monitors, m)
            all = all && has_listed(gc, *m);
    }
    return all;
}

/* ---- what there is ---- */

typedef struct found {
    const kc_kind *kind;
    bool preferred, watchable;
} found;

typedef KC_VEC(found) founds;

static bool has_verb(const kc_api_resource *resource, const char *verb)
{
    return kc_str_is_any(kc_cstr(verb), resource->verbs);
}

static void note(const kc_api_resource *resource, void *user)
{
    founds *all = user;
    kc_vec_push(all,
                (found){.kind = resource->kind,
                        .preferred = resource->preferred,
                        .watchable = has_verb(resource, "list") && has_verb(resource, "watch") &&
                                     has_verb(resource, "delete")});
}

/* Events come and go in numbers, and own nothing. */
static bool is_ignored(const kc_kind *kind)
{
    return !strcmp(kind->plural, "events") &&
           (!kind->group || !*kind->group || !strcmp(kind->group, "events.k8s.io"));
}

/* Which version of each resource is watched: by "group/resource", a found. The texts are the
 * arena's. */
static void choose(const founds *all, kc_arena *arena, kc_map *ret)
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

static bool is_same(const kc_kind *a, const kc_kind *b)
{
    return text_eq(a->group, b->group) && text_eq(a->version, b->version) &&
           text_eq(a->plural, b->plural) && text_eq(a->kind, b->kind) &&
           a->namespaced == b->namespaced;
}

static bool learn(kc__gc *gc, const founds *all, bool complete)
{
    bool more = false;
    kc_locked (&gc->mutex) {
        kc__gc_serve_anew(gc, complete);
        kc_vec_each (all, f)
            kc__gc_serve(gc, f->kind);
        more = kc__gc_serves_more(gc);
    }
    return more;
}

/* ---- the monitors there should be ---- */

static const found *chosen_for(const kc__gc_monitor *m, const kc_map *chosen)
{
    kc_scoped(kc_buf) key = {0};
    kc_buf_printf(&key, "%s/%s", m->kind->group ? m->kind->group : "", m->kind->plural);
    const found *f = kc_map_get(chosen, kc_buf_str(&key));
    return f && is_same(f->kind, m->kind) ? f : NULL;
}

/* Whether the monitor of a resource that is not chosen may end, if that stays so: another version
 * is watched, or its informer has heard all there was and now finds nothing to list. */
static bool may_end(kc__gc_monitor *m)
{
    kc__gc_resource still;
    kc_scoped(kc_error) failure = {0};
    return kc__gc_resource_of(m->gc, kc_cstr(m->type), &still) ||
           kc_informer_failure(m->informer, &failure);
}

/* True when one may have to be stopped the next time. */
static bool stop_missing(kc__gc *gc, kc_map *chosen, bool complete)
{
    bool doubts = false;
    for (size_t i = gc->monitors.n; i-- > 0;) {
        kc__gc_monitor *m = gc->monitors.items[i];
        const found *f = chosen_for(m, chosen);
        m->missed = f || !complete ? 0 : m->missed + may_end(m);
        if (m->missed >= 2)
            stop(gc, i);
        else if (f)
            m->kind = f->kind;
        else
            doubts = true;
    }
    return doubts;
}

static bool is_watched(const kc__gc *gc, const kc_kind *kind)
{
    for (size_t i = 0; i < gc->monitors.n; i++)
        if (is_same(gc->monitors.items[i]->kind, kind))
            return true;
    return false;
}

static int start_new(kc__gc *gc, const kc_map *chosen, bool *ret_started, kc_error *err)
{
    int result = 0;
    kc_map_each (chosen, entry) {
        const found *f = entry->value;
        if (is_watched(gc, f->kind))
            continue;
        if (start(gc, f->kind, err) < 0)
            result = -1;
        else
            *ret_started = true;
    }
    return result;
}

/* Returns how long it is good for. */
static int64_t adjust(kc__gc *gc, const founds *all, bool complete, kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_map) chosen = {0};
    bool started = false;
    choose(all, &arena, &chosen);
    const bool more = learn(gc, all, complete);
    const bool doubts = stop_missing(gc, &chosen, complete);
    if (start_new(gc, &chosen, &started, err) < 0)
        return -1;
    kc_locked (&gc->mutex) {
        gc->discovered = true;
        if (more)
            kc__gc_reconsider(gc->graph);
    }
    return started || more || doubts ? SOON : PERIOD;
}

/* A definition has changed: the server may take a moment to show what that means. */
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
    if (kc_client_discover(ctx->client, note, &all, &why) == 0 && all.n) {
        if (why.reason)
            kc_log_warn(ctx->log, "not all groups can be discovered", kc_kv("error", &why));
        next = adjust(gc, &all, !why.reason, err);
    } else {
        kc_error_move(err, &why);
    }
    kc_vec_done(&all);
    if (next < 0) {
        kc_counter_inc(gc->sync_errors);
        return kc_retry(err);
    }
    return kc_again_after(was_definition(request) ? SOON : next);
}
