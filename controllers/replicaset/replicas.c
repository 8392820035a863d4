/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replicas.c: the pods of a ReplicaSet.
 *
 * Indexes find the pods that it controls and the orphans that it may select. Of the active ones,
 * matching orphans are adopted and controlled pods that no longer match are released
 * (common/adoption.h).
 *
 * After a write of unknown outcome (expectations.c) the pods are listed from the server by the
 * ReplicaSet's selector and merged with the cache. The expectation is met when both show the same
 * pods and the same ones are terminating.
 */
#include "replicaset/replica_set.h"

#include "common/adoption.h"

/* ---- from the server ---- */

static int list_live(kc__rs_call *call, kc_object_list *ret, kc_error *err)
{
    kc_scoped(kc_buf) labels = {0};
    kc_selector_write(&labels, call->selector);
    return kc_client_list(
        call->ctx->client, &kc_kind_pod,
        &(kc_list_opts){.ns = call->rs->metadata.ns, .labels = kc_buf_cstr(&labels), .live = true},
        ret, err);
}

static void rs_replicas_take_over(kc_object_list *to, kc_object_list *from)
{
    to->items = kc_reallocarray(to->items, to->n + from->n + 1, sizeof(*to->items));
    for (size_t i = 0; i < from->n; i++)
        to->items[to->n++] = from->items[i];
    from->n = 0;
}

/* Whether both show the same state of a pod. `there` is NULL if the server did not list the pod,
 * which means nothing for a pod that does not match the selector. */
static bool agrees(const kc__rs_call *call, const kc_object *cached, const kc_object *there)
{
    const bool matches = kc_selector_match(call->selector, cached);
    if (!there)
        return !matches;
    return matches && kc_object_being_deleted(cached) == kc_object_being_deleted(there);
}

/* Merges the lists: a pod that only the cache has is gone; a pod that only the server has is added.
 * A pod that does not match, and will be released, is not in the server's list and stays. True if
 * both lists agreed. */
static bool lay_over(kc__rs_call *call, kc_object_list *live)
{
    bool same = true;
    size_t kept = 0;
    kc_scoped(kc_map) unseen = {0}; /* Pods of the server's list by uid. */
    for (size_t i = 0; i < live->n; i++)
        kc_map_put(&unseen, kc_object_uid(live->items[i]), live->items[i]);
    for (size_t i = 0; i < call->pods.n; i++) {
        kc_object *cached = call->pods.items[i];
        const kc_object *there = kc_map_remove(&unseen, kc_object_uid(cached));
        same = same && agrees(call, cached, there);
        if (!there && !kc_selector_match(call->selector, cached))
            call->pods.items[kept++] = cached;
        else
            kc_object_unref(cached);
    }
    kc_map_each (&unseen, pod)
        same = same && !kc_object_controlled_by(pod->value, kc_object_uid(call->object));
    call->pods.n = kept;
    rs_replicas_take_over(&call->pods, live);
    return same;
}

static int resolve_expectation(kc__rs_call *call, kc_error *err)
{
    kc_scoped(kc_object_list) live = {0};
    if (list_live(call, &live, err) < 0)
        return kc_error_result(err);
    if (lay_over(call, &live))
        kc__rs_expectations_remove(&call->controller->expectations, kc_object_key(call->object));
    return 0;
}

/* ---- claiming ---- */

/* All pods are tried; the first error is returned. */
static int claim_all(kc__rs_call *call, kc__common_claims *claims, kc_error *err)
{
    kc_scoped(kc_error) first = {0};
    call->active = kc_calloc(KC_MAX(call->pods.n, (size_t)1), sizeof(*call->active));
    for (size_t i = 0; i < call->pods.n; i++) {
        const kc_object *pod = call->pods.items[i];
        const kc__common_pod_state state = kc__common_pod_state_of(pod);
        bool ours = false;
        if (!kc__common_pod_is_active(&state))
            continue;
        kc_scoped(kc_error) why = {0};
        if (kc__common_claim(claims, &kc_kind_pod, pod, &ours, &why) < 0 && !first.reason)
            kc_error_move(&first, &why);
        if (ours)
            call->active[call->n_active++] = (kc__rs_replica){pod, state};
    }
    return first.reason ? kc_error_move(err, &first) : 0;
}

int kc__rs_find_replicas(kc__rs_call *call, kc_error *err)
{
    kc_scoped(kc__common_claims) claims = {.client = call->ctx->client,
                                           .owner = call->object,
                                           .owner_kind = &kc_kind_replica_set,
                                           .selector = call->selector};
    if (kc__common_list_claimable(&claims, &kc_kind_pod, &call->pods, err) < 0)
        return kc_error_result(err);
    if (kc__rs_expectations_has(&call->controller->expectations, kc_object_key(call->object)) &&
        resolve_expectation(call, err) < 0)
        return kc_error_result(err);
    return claim_all(call, &claims, err);
}
