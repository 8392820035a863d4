/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adoption.h: which objects are an owner's: those it controls and its selector names. Orphans that
 * match are adopted, objects of its own that no longer match are released.
 *
 *     kc_scoped(kc__claims) claims = {.client = ctx->client, .owner = rs,
 *                                     .owner_kind = &kc_kind_replica_set, .selector = selector};
 *     bool ours;
 *     if (kc__claim(&claims, &kc_kind_pod, pod, &ours, err) < 0)
 *         …
 *
 * Before the first adoption the server is asked whether the owner is still there: a cache may be
 * late, and nothing may be given to an owner that is being deleted, or that is another one by the
 * same name. Both ways the patch names the object's uid, so that it never hits another.
 */
#ifndef KC_CONTROLLERS_ADOPTION_H
#define KC_CONTROLLERS_ADOPTION_H

#include "kc/cache.h"
#include "kc/controller.h"
#include "kc/selector.h"

typedef struct kc__claims {
    kc_client *client;
    const kc_object *owner;
    const kc_kind *owner_kind;
    const kc_selector *selector;
    /* Set here. */
    bool checked;
    kc_error refusal; /* Why nothing can be adopted. */
} kc__claims;

void kc__claims_done(kc__claims *claims);

/* Adds to `ret` from the client's cache what may be claimed: what the owner controls, and of what
 * nobody controls in its namespace what may match. By indexes, so that it costs what there is of
 * that, not what the namespace has. */
int kc__list_claimable(const kc__claims *claims, const kc_kind *kind, kc_objects *ret,
                       kc_error *err);

/* Whether the object is the owner's, once it was adopted or released where that is to be done. An
 * object that is gone meanwhile is not. */
int kc__claim(kc__claims *claims, const kc_kind *kind, const kc_object *object, bool *ret_ours,
              kc_error *err);

/* Whom a change of an object concerns: adds the key of its controller, if that is of the informer's
 * kind. An orphan concerns those in its namespace whose spec.selector matches it, who might adopt
 * it; they are found by the index KC__BY_SELECTOR. Before the informer has its objects nothing is
 * lost: they will all be looked at then. */
void kc__enqueue_claimants(kc_cache *cache, const kc_informer *owners, const kc_object *object,
                           kc_enqueuer *to);

#endif
