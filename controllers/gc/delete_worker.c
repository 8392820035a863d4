/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delete_worker.c: processes one node of the graph and deletes its object if no owner is left.
 *
 *     not observed              get it from the server; if it does not exist, queue its dependents
 *     waits for dependents      none left: remove its foregroundDeletion finalizer
 *     has owners                all absent: delete it
 *                               some absent, one solid: remove the references to the absent ones
 *                               one waits for its dependents: delete it, in the foreground if it
 *                               has dependents itself
 *
 * The worker trusts what the graph has observed: an observed owner is solid; if it is deleted a
 * moment later, its dependents are queued again. The worker asks the server only for owners that
 * the graph has not observed or that a dependent refers to by another name. A stale graph cannot
 * cause a wrong deletion, because the delete carries preconditions (operations.c).
 *
 * A node that cannot be decided now (the server does not serve the kind) is requeued with growing
 * backoff, and at once when the server serves more kinds.
 */
#include "gc/collector.h"

#define FIRST_WAIT (1 * KC_SECOND)
#define LAST_WAIT  (1000 * KC_SECOND)
/* Delay until all resources have been listed. */
#define BLIND_WAIT (200 * KC_MILLISECOND)

/* Not decided: requeue with exponential backoff. */
static kc_result gc_delete_worker_later(kc__gc *gc, kc_str uid)
{
    unsigned tries = 0;
    kc_locked (&gc->mutex)
        tries = kc__gc_node_attempts(gc->graph, uid);
    return kc_requeue_after(KC_MIN(FIRST_WAIT << KC_MIN(tries, 10u), LAST_WAIT));
}

/* ---- nodes that no informer has observed ---- */

static kc_result gc_delete_worker_is_absent(kc__gc *gc, const kc__gc_identity *id)
{
    kc__gc_absents_add(&gc->absents, id);
    kc_locked (&gc->mutex)
        kc__gc_absent(gc->graph, id);
    return kc_done();
}

static kc_result check_existence(kc_context *ctx, const kc__gc_item *item, kc_error *err)
{
    kc__gc *gc = ctx->user;
    kc__gc_resource resource;
    kc__gc_identity id = item->id;
    if (!kc__gc_resource_of(gc, id.type, &resource)) /* The kind is not served any more, or not
                                                      * yet. */
        return item->unconfirmed ? gc_delete_worker_is_absent(gc, &id)
                                 : gc_delete_worker_later(gc, id.uid);
    if (!resource.kind->namespaced)
        id.ns = (kc_str){0};
    else if (!id.ns.n) /* A cluster-scoped object cannot have a namespaced owner: nothing to do. */
        return kc_done();
    kc_auto(kc_object) *object = kc__gc_get(ctx, resource.kind, &id, err);
    if (!object && !kc_is_not_found(err))
        return kc_retry(err);
    /* Requeue until an informer observes it: it may appear and disappear unobserved. */
    if (object && kc_str_eq(kc_object_uid(object), id.uid))
        return gc_delete_worker_later(gc, id.uid);
    kc_error_done(err);
    return gc_delete_worker_is_absent(gc, &id);
}

/* ---- its owners ---- */

/* Whether the owner was looked up before, in the dependent's namespace or as cluster-scoped. */
static bool is_known_absent(kc__gc *gc, const kc__gc_identity *owner)
{
    kc__gc_identity cluster = *owner;
    cluster.ns = (kc_str){0};
    return kc__gc_absents_has(&gc->absents, owner) || kc__gc_absents_has(&gc->absents, &cluster);
}

static void found(kc__gc *gc, const kc__gc_identity *owner, const kc_object *object,
                  kc__gc_owner_state *ret)
{
    const bool waits = kc_object_being_deleted(object) &&
                       kc_object_has_finalizer(object, KC_STR("foregroundDeletion"));
    *ret = waits ? KC__GC_WAITING : KC__GC_SOLID;
    kc_locked (&gc->mutex)
        kc__gc_exists(gc->graph, owner);
}

/* Looks up one owner on the server. The result is unknown if the server does not serve its kind. */
static int gc_delete_worker_request(kc_context *ctx, const kc__gc_item *item, kc__gc_ref *ref,
                                    kc_error *err)
{
    kc__gc *gc = ctx->user;
    kc__gc_identity owner = {ref->type, item->id.ns, ref->name, ref->uid};
    kc__gc_resource resource;
    if (is_known_absent(gc, &owner)) {
        ref->owner_state = KC__GC_ABSENT;
        return 0;
    }
    if (!kc__gc_resource_of(gc, ref->type, &resource))
        return 0;
    if (!resource.kind->namespaced)
        owner.ns = (kc_str){0};
    else if (!owner.ns.n) {
        ref->owner_state = KC__GC_FOREIGN;
        return 0;
    }
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_object) *object = kc__gc_get(ctx, resource.kind, &owner, &why);
    if (!object && !kc_is_not_found(&why))
        return kc_error_move(err, &why);
    if (object && kc_str_eq(kc_object_uid(object), ref->uid)) {
        found(gc, &owner, object, &ref->owner_state);
        return 0;
    }
    kc__gc_absents_add(&gc->absents, &owner);
    ref->owner_state = KC__GC_ABSENT;
    return 0;
}

/* Number of owners by state. */
typedef struct gc_delete_worker_tally {
    size_t of[KC__GC_FOREIGN + 1];
} gc_delete_worker_tally;

static int take_stock(kc_context *ctx, const kc__gc_item *item, gc_delete_worker_tally *ret,
                      kc_error *err)
{
    for (size_t i = 0; i < item->n_refs; i++) {
        kc__gc_ref *ref = &item->refs[i];
        if (ref->owner_state == KC__GC_UNSURE && gc_delete_worker_request(ctx, item, ref, err) < 0)
            return kc_error_result(err);
        ret->of[ref->owner_state]++;
    }
    return 0;
}

/* ---- decisions ---- */

static kc_result ended(int result, const kc_error *err)
{
    return result < 0 ? kc_retry(err) : kc_done();
}

/* Otherwise an owner in foreground deletion would wait forever for an object that stays. References
 * to foreign namespaces are ignored. */
static kc_result drop_refs(kc_context *ctx, const kc__gc_resource *resource,
                           const kc__gc_item *item, kc_error *err)
{
    kc_scoped(kc_map) uids = {0};
    for (size_t i = 0; i < item->n_refs; i++)
        if (item->refs[i].owner_state == KC__GC_ABSENT ||
            item->refs[i].owner_state == KC__GC_WAITING)
            kc_map_put(&uids, item->refs[i].uid, &item->refs[i]);
    return ended(kc__gc_remove_refs(ctx, resource, item, &uids, err), err);
}

/* Its own dependents are deleted first. If one of them also waits, the two may wait for each other,
 * so this object stops blocking its owners. */
static kc_result delete_in_foreground(kc_context *ctx, const kc__gc_resource *resource,
                                      kc__gc_item *item, kc_error *err)
{
    if (item->a_dependent_waits && kc__gc_unblock(ctx, resource, item, err) < 0)
        return kc_retry(err);
    return ended(kc__gc_delete(ctx, resource->kind, item, "Foreground", err), err);
}

/* References to foreign namespaces neither keep an object nor cause its deletion. */
static kc_result gc_delete_worker_decide(kc_context *ctx, const kc__gc_resource *resource,
                                         kc__gc_item *item, const gc_delete_worker_tally *owners,
                                         kc_error *err)
{
    const size_t *n = owners->of;
    if (n[KC__GC_UNSURE])
        return gc_delete_worker_later(ctx->user, item->id.uid);
    if (!n[KC__GC_ABSENT] && !n[KC__GC_WAITING])
        return kc_done();
    if (n[KC__GC_SOLID])
        return drop_refs(ctx, resource, item, err);
    if (n[KC__GC_WAITING] && item->n_dependents)
        return delete_in_foreground(ctx, resource, item, err);
    const char *propagation = item->orphan_finalizer       ? "Orphan"
                              : item->foreground_finalizer ? "Foreground"
                                                           : "Background";
    return ended(kc__gc_delete(ctx, resource->kind, item, propagation, err), err);
}

/* The object waits for its dependents, and the graph shows none. */
static kc_result end_waiting(kc_context *ctx, const kc_kind *kind, const kc__gc_item *item,
                             kc_error *err)
{
    if (item->n_blocking)
        return kc_done(); /* The deletion of its last dependent queues it again. */
    if (!kc__gc_has_synced(ctx->user))
        return kc_requeue_after(BLIND_WAIT);
    return ended(kc__gc_remove_finalizer(ctx, kind, item, KC_STR("foregroundDeletion"), err), err);
}

static kc_result gc_delete_worker_attempt(kc_context *ctx, kc__gc_item *item, kc_error *err)
{
    kc__gc_resource resource;
    gc_delete_worker_tally owners = {0};
    if (item->deleted && !item->waits)
        return kc_done(); /* Its informer reports the deletion. */
    if (!item->waits && !item->n_refs)
        return kc_done();
    if (!kc__gc_resource_of(ctx->user, item->id.type, &resource))
        return gc_delete_worker_later(ctx->user, item->id.uid);
    if (item->waits)
        return end_waiting(ctx, resource.kind, item, err);
    if (take_stock(ctx, item, &owners, err) < 0)
        return kc_retry(err);
    return gc_delete_worker_decide(ctx, &resource, item, &owners, err);
}

kc_result kc__gc_attempt_to_delete(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc__gc *gc = ctx->user;
    kc_scoped(kc_arena) arena = {0};
    kc__gc_item item;
    bool known = false;
    kc_locked (&gc->mutex)
        known = kc__gc_lookup(gc->graph, request->key.name, &arena, &item);
    if (!known || item.gone)
        return kc_done();
    return item.seen ? gc_delete_worker_attempt(ctx, &item, err) : check_existence(ctx, &item, err);
}
