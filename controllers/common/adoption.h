/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adoption.h: decides which objects belong to an owner: those that it controls and that its
 * selector matches. Matching orphans are adopted; controlled objects that no longer match are
 * released.
 *
 *     kc_scoped(kc__common_claims) claims = {.client = ctx->client, .owner = rs,
 *                                     .owner_kind = &kc_kind_replica_set, .selector = selector};
 *     bool ours;
 *     if (kc__common_claim(&claims, &kc_kind_pod, pod, &ours, err) < 0)
 *         …
 *
 * Before the first adoption the owner is read from the server, because the cache may be stale: an
 * owner that is being deleted, or another owner with the same name, must not adopt. Both patches
 * carry the object's uid, so that they never change another object with the same name.
 */
#ifndef KC_CONTROLLERS_ADOPTION_H
#define KC_CONTROLLERS_ADOPTION_H

#include "kc/cache.h"
#include "kc/controller.h"
#include "kc/selector.h"

typedef struct kc__common_claims {
    kc_client *client;
    const kc_object *owner;
    const kc_kind *owner_kind;
    const kc_selector *selector;
    /* Set by kc__common_claim. */
    bool checked;
    kc_error refusal; /* Why the owner cannot adopt. */
} kc__common_claims;

void kc__common_claims_done(kc__common_claims *claims);

/* Adds to `ret` the cached objects that the owner may claim: those it controls, and the orphans of
 * its namespace that may match. The lookup uses indexes, so its cost depends on the number of
 * candidates and not on the size of the namespace. */
int kc__common_list_claimable(const kc__common_claims *claims, const kc_kind *kind,
                              kc_object_list *ret, kc_error *err);

/* Adopts or releases the object where necessary and sets whether it belongs to the owner. An object
 * that is gone by then does not. */
int kc__common_claim(kc__common_claims *claims, const kc_kind *kind, const kc_object *object,
                     bool *ret_ours, kc_error *err);

/* Maps a changed object to owner keys: adds the key of its controller if that is of the informer's
 * kind. For an orphan, adds the owners in its namespace whose spec.selector matches it and which
 * may adopt it; the index KC__COMMON_INDEX_SELECTOR finds them. Calls before the informer has
 * synced add nothing, which is safe: every owner is reconciled after the sync. */
void kc__common_enqueue_claimants(kc_cache *cache, const kc_informer *owners,
                                  const kc_object *object, kc_enqueuer *to);

#endif
