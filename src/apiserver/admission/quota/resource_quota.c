/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource_quota.c: implements the admission plugin ResourceQuota, the last one of a write.
 *
 *     admitted: check (quota_check.c) ─▶ call->charges ─▶ stored: one group with the object
 *                       ▲                                         │ a quota changed and does not
 * fit └─────────────── once more ───────────────┘
 *
 * A quota limits what its status.hard names. The quota controller sets the status; until then the
 * quota limits nothing, as in Kubernetes. A dry run is checked, and charges nothing.
 */
#include "apiserver/admission/quota/resource_quota.h"

#include "apiserver/admission/chain/plugin_config.h"
#include "apiserver/admission/chain/plugin_request.h"
#include "apiserver/admission/quota/quota_charge.h"
#include "apiserver/admission/quota/quota_check.h"
#include "apiserver/admission/quota/quota_config.h"

enum { MANY_BYTES = 8 << 10 }; /* Of quotas: parsed and checked in less than 0.2 ms. */

/* The quotas of the namespace. */
typedef struct namespace_quotas {
    KC_VEC(kc_object *) objects;
    KC_VEC(kc_view *) views;
    KC_VEC(const kc_value *) roots;
    size_t bytes;
} namespace_quotas;

static void namespace_quotas_done(namespace_quotas *quotas)
{
    kc_vec_each (&quotas->objects, object)
        kc_object_unref(*object);
    kc_vec_each (&quotas->views, view)
        kc_view_free(*view);
    kc_vec_done(&quotas->objects);
    kc_vec_done(&quotas->views);
    kc_vec_done(&quotas->roots);
}

static void find_quotas(kc__rest_call *call, namespace_quotas *ret)
{
    uint64_t revision;
    const kc__cow_range range = {.prefix = kc__rest_key_of(call, (kc_str){0})};
    kc_auto(kc__cow_snapshot) *all = kc__watch_cache_snapshot(call->api->quotas, &revision);
    kc__cow_iter it = kc__cow_iter_start(all, &range);
    while (kc__cow_iter_next(&it)) {
        kc_vec_push(&ret->objects, kc_object_ref(it.object));
        ret->bytes += kc_object_size(it.object);
    }
}

static void parse_quotas(namespace_quotas *quotas)
{
    kc_vec_each (&quotas->objects, object) {
        kc_view *view = kc_view_of(*object);
        kc_vec_push(&quotas->views, view);
        kc_vec_push(&quotas->roots, kc_view_root(view));
    }
}

static const kc_value *limited_resources(const kc__rest_call *call)
{
    const kc__admission_config *config = call->api->admission_config;
    const kc__quota_config *own = config ? config->quota : NULL;
    return own && kc_value_len(own->limited) ? own->limited : NULL;
}

static kc_quota_resource quota_resource(const kc__rest_call *call)
{
    return (kc_quota_resource){kc_cstr(call->resource->group), kc_cstr(call->resource->plural)};
}

/* ---- charging ---- */

static kc__rest_verdict charge_all(kc__rest_call *call, const namespace_quotas *quotas,
                                   const kc__quota_request *request, kc__quota_deltas *deltas)
{
    if (deltas->n > KC__QUOTA_MAX_CHARGES)
        return kc__admission_forbid(call, "the object is limited by %zu quotas: the limit is %d",
                                    deltas->n, KC__QUOTA_MAX_CHARGES);
    if (!deltas->n || call->options.dry_run)
        return KC__REST_NEXT;
    call->charges = kc__quota_charges_new(call->api, !kc_str_is(request->subresource, "status"));
    kc_vec_each (deltas, delta)
        kc__quota_charges_add(call->charges, quotas->objects.items[delta->index], &delta->amounts);
    return KC__REST_NEXT;
}

static kc__rest_verdict check_write(kc__rest_call *call, const namespace_quotas *quotas,
                                    const kc__quota_request *request)
{
    kc_scoped(kc__quota_deltas) deltas = {0};
    kc_scoped(kc_buf) why = {0};
    switch (kc__quota_check(request, quotas->roots.items, quotas->roots.n, &deltas, &why)) {
    case KC__QUOTA_FORBIDDEN: return kc__admission_forbid(call, "%s", kc_buf_cstr(&why));
    case KC__QUOTA_ERROR: return kc__rest_fail(call, KC_UNKNOWN, "%s", kc_buf_cstr(&why));
    default: return charge_all(call, quotas, request, &deltas);
    }
}

/* ---- the plugin ---- */

static bool is_quotable(const kc__rest_call *call)
{
    const kc_quota_resource resource = quota_resource(call);
    return call->info.ns.n && call->resource->namespaced && kc__admission_writes_object(call) &&
           !kc_quota_is_ignored(&resource);
}

kc__rest_verdict kc__admission_resource_quota(kc__rest_call *call)
{
    kc_scoped(namespace_quotas) quotas = {0};
    call->charges = kc__quota_charges_free(call->charges);
    if (!is_quotable(call) || kc__store_is_elsewhere(call->api->store, call->served->cache))
        return KC__REST_NEXT;
    find_quotas(call, &quotas);
    if (!quotas.objects.n && !limited_resources(call))
        return KC__REST_NEXT;
    if (kc__admission_needs_worker(call, quotas.bytes > MANY_BYTES))
        return KC__REST_ON_WORKER;
    kc_auto(kc_view) *object = kc_view_of(call->proposed);
    kc_auto(kc_view) *old = call->current ? kc_view_of(call->current) : NULL;
    const kc__quota_request request = {
        .resource = quota_resource(call),
        .subresource = kc_cstr(call->subresource ? call->subresource->name : ""),
        .object = kc_view_root(object),
        .old = old ? kc_view_root(old) : NULL,
        .limited = limited_resources(call),
        .now = kc_clock_wall(call->api->clock)};
    if (!kc__quota_handles(&request))
        return KC__REST_NEXT;
    parse_quotas(&quotas);
    return check_write(call, &quotas, &request);
}

void kc__admission_resource_quota_release(kc__rest_call *call)
{
    call->charges = kc__quota_charges_free(call->charges);
}
