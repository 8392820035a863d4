/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delete_worker.c: looks at one node and deletes the object if nobody holds it any more.
 *
 *     nobody sees it            ask the server; if it is not there, its dependents are looked at
 *     it waits for dependents   and none is left: take off the finalizer that holds it
 *     it has owners             all gone: delete it
 *                               some gone, one solid: remove the references to the others
 *                               one waits for its dependents: delete it, in the foreground if it
 *                               has dependents itself
 *
 * What the graph has seen is not asked for again: an owner that is seen is solid, and should it go
 * the next moment, its dependents are looked at again. Only what it cannot know is asked: owners it
 * has not seen, or that a dependent calls by another name. Deleting is safe even when the graph is
 * behind, since it is said which state of the object is meant (operations.c).
 *
 * What cannot be decided now (a kind the server does not have) is looked at again, later and later,
 * and at once when the server gets more kinds.
 */
#include "gc/collector.h"

#define FIRST_WAIT (1 * KC_SECOND)
#define LAST_WAIT  (1000 * KC_SECOND)
/* Until all resources have been listed. */
#define BLIND_WAIT (200 * KC_MILLISECOND)

/* Not decided: again, after twice the time each time. */
static kc_result later(kc__gc *gc, kc_str uid)
{
    unsigned tries = 0;
    kc_locked (&gc->mutex)
        tries = kc__gc_tried(gc->graph, uid);
    return kc_again_after(KC_MIN(FIRST_WAIT << KC_MIN(tries, 10u), LAST_WAIT));
}

/* ---- one that nobody sees ---- */

static kc_result is_absent(kc__gc *gc, const kc__gc_identity *id)
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
    if (!kc__gc_resource_of(gc, id.type, &resource)) /* Gone with its kind, or not known yet. */
        return item->doubted ? is_absent(gc, &id) : later(gc, id.uid);
    if (!resource.kind->namespaced)
        id.ns = (kc_str){0};
    else if (!id.ns.n) /* What has no namespace has no owners in one: nothing follows of it. */
        return kc_done();
    kc_auto(kc_object) *object = kc__gc_get(ctx, resource.kind, &id, err);
    if (!object && !kc_is_not_found(err))
        return kc_retry(err);
    /* Seen one day, or to be asked about again: it may come and go while nobody watches. */
    if (object && kc_str_eq(kc_object_uid(object), id.uid))
        return later(gc, id.uid);
    kc_error_done(err);
    return is_absent(gc, &id);
}

/* ---- its owners ---- */

/* Whether the owner was asked for before, in the dependent's namespace or without one. */
static bool is_known_absent(kc__gc *gc, const kc__gc_identity *owner)
{
    kc__gc_identity cluster = *owner;
    cluster.ns = (kc_str){0};
    return kc__gc_absents_has(&gc->absents, owner) || kc__gc_absents_has(&gc->absents, &cluster);
}

static void found(kc__gc *gc, const kc__gc_identity *owner, const kc_object *object,
                  kc__gc_standing *ret)
{
    const bool waits = kc_object_being_deleted(object) &&
                       kc_object_has_finalizer(object, KC_STR("foregroundDeletion"));
    *ret = waits ? KC__GC_WAITING : KC__GC_SOLID;
    kc_locked (&gc->mutex)
        kc__gc_exists(gc->graph, owner);
}

/* Asks the server about one owner. It stays unsure when the server does not know its kind. */
static int ask(kc_context *ctx, const kc__gc_item *item, kc__gc_ref *ref, kc_error *err)
{
    kc__gc *gc = ctx->user;
    kc__gc_identity owner = {ref->type, item->id.ns, ref->name, ref->uid};
    kc__gc_resource resource;
    if (is_known_absent(gc, &owner)) {
        ref->standing = KC__GC_ABSENT;
        return 0;
    }
    if (!kc__gc_resource_of(gc, ref->type, &resource))
        return 0;
    if (!resource.kind->namespaced)
        owner.ns = (kc_str){0};
    else if (!owner.ns.n) {
        ref->standing = KC__GC_FOREIGN;
        return 0;
    }
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_object) *object = kc__gc_get(ctx, resource.kind, &owner, &why);
    if (!object && !kc_is_not_found(&why))
        return kc_error_move(err, &why);
    if (object && kc_str_eq(kc_object_uid(object), ref->uid)) {
        found(gc, &owner, object, &ref->standing);
        return 0;
    }
    kc__gc_absents_add(&gc->absents, &owner);
    ref->standing = KC__GC_ABSENT;
    return 0;
}

/* How many owners stand how. */
typedef struct tally {
    size_t of[KC__GC_FOREIGN + 1];
} tally;

static int take_stock(kc_context *ctx, const kc__gc_item *item, tally *ret, kc_error *err)
{
    for (size_t i = 0; i < item->n_refs; i++) {
        kc__gc_ref *ref = &item->refs[i];
        if (ref->standing == KC__GC_UNSURE && ask(ctx, item, ref, err) < 0)
            return -1;
        ret->of[ref->standing]++;
    }
    return 0;
}

/* ---- what becomes of it ---- */

static kc_result ended(int result, const kc_error *err)
{
    return result < 0 ? kc_retry(err) : kc_done();
}

/* An owner that waits would wait for ever, if an object that stays held it. Foreign references are
 * not ours to judge. */
static kc_result drop_refs(kc_context *ctx, const kc__gc_resource *resource,
                           const kc__gc_item *item, kc_error *err)
{
    kc_scoped(kc_map) uids = {0};
    for (size_t i = 0; i < item->n_refs; i++)
        if (item->refs[i].standing == KC__GC_ABSENT || item->refs[i].standing == KC__GC_WAITING)
            kc_map_put(&uids, item->refs[i].uid, &item->refs[i]);
    return ended(kc__gc_remove_refs(ctx, resource, item, &uids, err), err);
}

/* Its own dependents go first. Should one of them wait already, the two may wait for each other, so
 * this one holds nobody up any more. */
static kc_result delete_in_foreground(kc_context *ctx, const kc__gc_resource *resource,
                                      kc__gc_item *item, kc_error *err)
{
    if (item->a_dependent_waits && kc__gc_unblock(ctx, resource, item, err) < 0)
        return kc_retry(err);
    return ended(kc__gc_delete(ctx, resource->kind, item, "Foreground", err), err);
}

/* Foreign references neither keep an object nor let it go. */
static kc_result decide(kc_context *ctx, const kc__gc_resource *resource, kc__gc_item *item,
                        const tally *owners, kc_error *err)
{
    const size_t *n = owners->of;
    if (n[KC__GC_UNSURE])
        return later(ctx->user, item->id.uid);
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

/* It waits for its dependents, and none is left: as far as we can see. */
static kc_result end_waiting(kc_context *ctx, const kc_kind *kind, const kc__gc_item *item,
                             kc_error *err)
{
    if (item->n_blocking)
        return kc_done(); /* The last of them says so. */
    if (!kc__gc_sees_all(ctx->user))
        return kc_again_after(BLIND_WAIT);
    return ended(kc__gc_remove_finalizer(ctx, kind, item, KC_STR("foregroundDeletion"), err), err);
}

static kc_result attempt(kc_context *ctx, kc__gc_item *item, kc_error *err)
{
    kc__gc_resource resource;
    tally owners = {0};
    if (item->deleted && !item->waits)
        return kc_done(); /* When it is gone, that is told. */
    if (!item->waits && !item->n_refs)
        return kc_done();
    if (!kc__gc_resource_of(ctx->user, item->id.type, &resource))
        return later(ctx->user, item->id.uid);
    if (item->waits)
        return end_waiting(ctx, resource.kind, item, err);
    if (take_stock(ctx, item, &owners, err) < 0)
        return kc_retry(err);
    return decide(ctx, &resource, item, &owners, err);
}

kc_result kc__gc_attempt_to_delete(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc__gc *gc = ctx->user;
    kc_scoped(kc_arena) arena = {0};
    kc__gc_item item;
    bool known = false;
    kc_locked (&gc->mutex)
        known = kc__gc_look_up(gc->graph, request->key.name, &arena, &item);
    if (!known || item.gone)
        return kc_done();
    return item.seen ? attempt(ctx, &item, err) : check_existence(ctx, &item, err);
}
