/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replicas.c: the pods of a set.
 *
 * Those it controls, and those nobody controls and it may select, are looked up by index. Of the
 * ones that are active, orphans that match are adopted, own ones that no longer match released
 * (common/adoption.h).
 *
 * In doubt (doubts.c) the list comes from the server: by the set's selector, laid over what the
 * cache has. Doubt ends when both have the same pods, and the same of them are being deleted.
 */
#include "replicaset/replica_set.h"

#include "common/adoption.h"

/* ---- from the server ---- */

static int list_live(kc__rs_call *call, kc_objects *ret, kc_error *err)
{
    kc_scoped(kc_buf) labels = {0};
    kc_selector_write(&labels, call->selector);
    return kc_client_list(
        call->ctx->client, &kc_kind_pod,
        &(kc_list_opts){.ns = call->rs->metadata.ns, .labels = kc_buf_cstr(&labels), .live = true},
        ret, err);
}

static void take_over(kc_objects *to, kc_objects *from)
{
    to->items = kc_reallocarray(to->items, to->n + from->n + 1, sizeof(*to->items));
    for (size_t i = 0; i < from->n; i++)
        to->items[to->n++] = from->items[i];
    from->n = 0;
}

/* Whether both show the same of a pod. `there` is NULL where the server did not list it, which for
 * one that does not match says nothing. */
static bool agrees(const kc__rs_call *call, const kc_object *cached, const kc_object *there)
{
    const bool matches = kc_selector_match(call->selector, cached);
    if (!there)
        return !matches;
    return matches && kc_object_being_deleted(cached) == kc_object_being_deleted(there);
}

/* What the cache has and the server does not is gone; what only the server has is added. What does
 * not match, and is to be released, is not listed by the server: that stays. True if both had the
 * same. */
static bool lay_over(kc__rs_call *call, kc_objects *live)
{
    bool same = true;
    size_t kept = 0;
    kc_scoped(kc_map) unseen = {0}; /* Of the live ones, by uid. */
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
    take_over(&call->pods, live);
    return same;
}

static int resolve_doubt(kc__rs_call *call, kc_error *err)
{
    kc_scoped(kc_objects) live = {0};
    if (list_live(call, &live, err) < 0)
        return -1;
    if (lay_over(call, &live))
        kc__doubts_remove(&call->controller->doubts, kc_object_key(call->object));
    return 0;
}

/* ---- claiming ---- */

/* All are tried; the first failure is the call's. */
static int claim_all(kc__rs_call *call, kc__claims *claims, kc_error *err)
{
    kc_scoped(kc_error) first = {0};
    call->active = kc_calloc(KC_MAX(call->pods.n, (size_t)1), sizeof(*call->active));
    for (size_t i = 0; i < call->pods.n; i++) {
        const kc_object *pod = call->pods.items[i];
        const kc__pod_state state = kc__pod_state_of(pod);
        bool ours = false;
        if (!kc__pod_is_active(&state))
            continue;
        kc_scoped(kc_error) why = {0};
        if (kc__claim(claims, &kc_kind_pod, pod, &ours, &why) < 0 && !first.reason)
            kc_error_move(&first, &why);
        if (ours)
            call->active[call->n_active++] = (kc__replica){pod, state};
    }
    return first.reason ? kc_error_move(err, &first) : 0;
}

int kc__rs_find_replicas(kc__rs_call *call, kc_error *err)
{
    kc_scoped(kc__claims) claims = {.client = call->ctx->client,
                                    .owner = call->object,
                                    .owner_kind = &kc_kind_replica_set,
                                    .selector = call->selector};
    if (kc__list_claimable(&claims, &kc_kind_pod, &call->pods, err) < 0)
        return -1;
    if (kc__doubts_has(&call->controller->doubts, kc_object_key(call->object)) &&
        resolve_doubt(call, err) < 0)
        return -1;
    return claim_all(call, &claims, err);
}
