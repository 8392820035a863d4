/* SPDX-License-Identifier: Apache-2.0 */
/*
 * release_worker.c: orphan propagation. An owner that is deleted without its dependents ("orphan")
 * waits until none of them refers to it.
 *
 * Each dependent has a key of its own, so that many are released concurrently and a failed one is
 * retried alone. A release is complete when the informer reports it; after the last one the owner's
 * own key is queued and its orphan finalizer is removed. That happens only when the graph shows no
 * dependents, because remaining ones would be collected.
 */
#include "gc/collector.h"

#define BLIND_WAIT (200 * KC_MILLISECOND)

static kc_result gc_release_worker_release(kc_context *ctx, const kc__gc_item *dependent,
                                           kc_str owner, kc_error *err)
{
    kc_scoped(kc_map) uids = {0};
    kc__gc_resource resource;
    for (size_t i = 0; i < dependent->n_refs; i++)
        if (kc_str_eq(dependent->refs[i].uid, owner))
            kc_map_put(&uids, owner, &dependent->refs[i]);
    if (!uids.n || !kc__gc_resource_of(ctx->user, dependent->id.type, &resource))
        return kc_done();
    return kc__gc_remove_refs(ctx, &resource, dependent, &uids, err) < 0 ? kc_retry(err)
                                                                         : kc_done();
}

static kc_result gc_release_worker_finish(kc_context *ctx, const kc__gc_item *owner, kc_error *err)
{
    kc__gc_resource resource;
    if (!owner->releases || owner->n_dependents ||
        !kc__gc_resource_of(ctx->user, owner->id.type, &resource))
        return kc_done();
    if (!kc__gc_has_synced(ctx->user))
        return kc_requeue_after(BLIND_WAIT);
    return kc__gc_remove_finalizer(ctx, resource.kind, owner, KC_STR("orphan"), err) < 0
               ? kc_retry(err)
               : kc_done();
}

kc_result kc__gc_attempt_to_release(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc__gc *gc = ctx->user;
    const kc_str owner = request->key.ns;
    kc_scoped(kc_arena) arena = {0};
    kc__gc_item item;
    bool known = false;
    kc_locked (&gc->mutex)
        known = (!owner.n || kc__gc_is_orphaning(gc->graph, owner)) &&
                kc__gc_lookup(gc->graph, request->key.name, &arena, &item);
    if (!known || !item.seen)
        return kc_done();
    return owner.n ? gc_release_worker_release(ctx, &item, owner, err)
                   : gc_release_worker_finish(ctx, &item, err);
}
