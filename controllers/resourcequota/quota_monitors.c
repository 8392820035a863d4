/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota_monitors.c: runs an informer for every namespaced resource that can be created, listed,
 * watched and deleted, and enqueues the quotas whose usage a deletion may have reduced.
 *
 * Discovery runs when a CustomResourceDefinition changes and every 30 seconds. A new resource gets
 * a monitor, and quotas that name it without a usage are enqueued. A resource that is no longer
 * served loses its monitor, unless a part of discovery failed. Resources whose updates can free
 * quota (pods, services, claims) have informers of whole objects; of the others metadata suffices.
 *
 * Deletions come in bursts: a quota is enqueued with a short delay, so that one recalculation
 * serves many of them.
 */
#include "resourcequota/quota_controller.h"

#define PERIOD      (30 * KC_SECOND)
#define SOON        (1 * KC_SECOND)
#define BURST_DELAY (50 * KC_MILLISECOND)

/* ---- enqueuing quotas ---- */

static bool tracks_any(const kc_quota_resource *resource, const kc_value *hard)
{
    kc_value_each_member (hard, name, value) {
        (void)value;
        if (kc_quota_tracks(resource, name))
            return true;
    }
    return false;
}

/* Enqueues the quotas of a namespace (all namespaces: NULL) that limit the resource. */
static void enqueue_quotas(kc__rq *rq, const kc_quota_resource *resource, const char *ns)
{
    kc_scoped(kc_object_list) quotas = {0};
    if (kc_cache_list(rq->cache, &kc__rq_kind, &(kc_list_opts){.ns = ns}, &quotas, NULL) < 0)
        return;
    for (size_t i = 0; i < quotas.n; i++) {
        kc_auto(kc_view) *view = kc_view_of(quotas.items[i]);
        if (!tracks_any(resource, kc_value_nested(kc_view_root(view), "spec.hard")))
            continue;
        kc_locked (&rq->mutex)
            if (rq->queue)
                kc_queue_add_after(rq->queue, kc_object_key(quotas.items[i]), BURST_DELAY);
    }
}

static void replenish(const kc__rq_monitor *m, const kc_object *object)
{
    kc_autofree char *ns = kc_str_dup(kc_object_namespace(object));
    enqueue_quotas(m->rq, &m->resource, ns);
}

static void object_updated(const kc_change *change, void *user)
{
    const kc__rq_monitor *m = user;
    if (change->resync || !change->old || !kc_quota_measures(&m->resource))
        return;
    kc_auto(kc_view) *old = kc_view_of(change->old);
    kc_auto(kc_view) *now = kc_view_of(change->object);
    if (kc_quota_is_freed_by(&m->resource, kc_view_root(old), kc_view_root(now),
                             kc_clock_wall(m->rq->clock)))
        replenish(m, change->object);
}

static void object_deleted(const kc_change *change, void *user)
{
    replenish(user, change->object);
}

static const kc_event_handler_ops handler = {.updated = object_updated, .deleted = object_deleted};

/* ---- one monitor ---- */

static void rq_monitor_free(kc__rq_monitor *m)
{
    kc_event_handler_remove(m->handler);
    kc_informer_release(m->informer);
    free(m);
}

static int start_monitor(kc__rq *rq, const kc_kind *kind, kc_error *err)
{
    const kc_quota_resource resource = {kc_cstr(kind->group ? kind->group : ""),
                                        kc_cstr(kind->plural)};
    kc_informer *informer = kc_quota_measures(&resource)
                                ? kc_cache_informer(rq->cache, kind, err)
                                : kc_cache_metadata_informer(rq->cache, kind, err);
    if (!informer)
        return kc_error_wrap(err, "%s", kind->plural);
    kc__rq_monitor *m = kc_new(kc__rq_monitor);
    *m = (kc__rq_monitor){.rq = rq, .kind = kind, .resource = resource, .informer = informer};
    kc_locked (&rq->mutex)
        kc_vec_push(&rq->monitors, m);
    m->handler = kc_informer_add_handler(informer, &handler, m, -1);
    return 0;
}

static void stop_monitor(kc__rq *rq, size_t at)
{
    kc__rq_monitor *m = rq->monitors.items[at];
    kc_locked (&rq->mutex)
        kc_vec_remove(&rq->monitors, at);
    rq_monitor_free(m);
}

void kc__rq_stop_monitors(kc__rq *rq)
{
    kc_vec_each (&rq->monitors, m)
        rq_monitor_free(*m);
    kc_vec_done(&rq->monitors);
}

bool kc__rq_has_discovered(kc__rq *rq)
{
    bool discovered = false;
    kc_locked (&rq->mutex)
        discovered = rq->discovered;
    return discovered;
}

/* ---- discovery ---- */

typedef struct served_resource {
    const kc_kind *kind;
    bool preferred;
} served_resource;

typedef KC_VEC(served_resource) served_resources;

static bool has_all_verbs(const kc_api_resource *resource)
{
    static const char *const needed[] = {"create", "list", "watch", "delete"};
    for (size_t i = 0; i < KC_COUNT(needed); i++)
        if (!kc_str_is_any(kc_cstr(needed[i]), resource->verbs))
            return false;
    return true;
}

static void note_resource(const kc_api_resource *resource, void *user)
{
    served_resources *all = user;
    const kc_quota_resource named = {kc_cstr(resource->kind->group ? resource->kind->group : ""),
                                     kc_cstr(resource->kind->plural)};
    if (resource->kind->namespaced && has_all_verbs(resource) && !kc_quota_is_ignored(&named))
        kc_vec_push(all, (served_resource){resource->kind, resource->preferred});
}

/* One version of each resource, by "group/plural": the preferred one. Keys are the arena's. */
static void choose_versions(const served_resources *all, kc_arena *arena, kc_map *ret)
{
    kc_vec_each (all, served) {
        const kc_kind *kind = served->kind;
        const kc_str key =
            kc_cstr(kc_arena_printf(arena, "%s/%s", kind->group ? kind->group : "", kind->plural));
        if (served->preferred || !kc_map_get(ret, key))
            kc_map_put(ret, key, (void *)kind);
    }
}

static bool is_same_version(const kc_kind *a, const kc_kind *b)
{
    return !strcmp(a->version, b->version) && !strcmp(a->kind, b->kind);
}

static const kc_kind *chosen_kind(const kc_map *chosen, const kc_kind *kind)
{
    kc_scoped(kc_buf) key = {0};
    kc_buf_printf(&key, "%s/%s", kind->group ? kind->group : "", kind->plural);
    return kc_map_get(chosen, kc_buf_str(&key));
}

static void stop_missing_monitors(kc__rq *rq, const kc_map *chosen)
{
    for (size_t i = rq->monitors.n; i-- > 0;) {
        const kc_kind *kind = chosen_kind(chosen, rq->monitors.items[i]->kind);
        if (!kind || !is_same_version(kind, rq->monitors.items[i]->kind))
            stop_monitor(rq, i);
    }
}

static bool has_monitor(const kc__rq *rq, const kc_kind *kind)
{
    kc_vec_each (&rq->monitors, m)
        if (!strcmp((*m)->kind->plural, kind->plural) &&
            kc_str_eq((*m)->resource.group, kc_cstr(kind->group ? kind->group : "")))
            return true;
    return false;
}

static int start_new_monitors(kc__rq *rq, const kc_map *chosen, kc_error *err)
{
    int result = 0;
    kc_map_each (chosen, entry) {
        if (has_monitor(rq, entry->value))
            continue;
        if (start_monitor(rq, entry->value, err) < 0)
            result = kc_error_result(err);
        else if (rq->discovered)
            enqueue_quotas(rq, &(*kc_vec_last(&rq->monitors))->resource, NULL);
    }
    kc_locked (&rq->mutex)
        rq->discovered = true;
    return result;
}

static int adjust_monitors(kc__rq *rq, const served_resources *all, bool complete, kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_map) chosen = {0};
    choose_versions(all, &arena, &chosen);
    if (complete)
        stop_missing_monitors(rq, &chosen);
    return start_new_monitors(rq, &chosen, err);
}

/* A CRD has changed: the server may need a moment to serve the change. */
static bool was_definition_change(const kc_request *request)
{
    return request->item && request->item->n_causes && request->item->causes[0].kind;
}

kc_result kc__rq_monitor_resources(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc__rq *rq = ctx->user;
    served_resources all = {0};
    kc_scoped(kc_error) why = {0};
    int result = kc_client_discover(ctx->client, note_resource, &all, &why);
    if (result == 0 && all.n) {
        if (why.reason)
            kc_log_warn(ctx->log, "discovery failed for some API groups", kc_kv("err", &why));
        result = adjust_monitors(rq, &all, !why.reason, err);
    } else {
        result = kc_error_move(err, &why);
    }
    kc_vec_done(&all);
    if (result < 0)
        return kc_retry(err);
    return kc_requeue_after(was_definition_change(request) ? SOON : PERIOD);
}
