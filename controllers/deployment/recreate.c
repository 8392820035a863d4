/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recreate.c: the strategy Recreate, for programs that must not run in two versions at once:
 * deletes all old pods before it creates new ones. A terminating pod still runs, and no ReplicaSet
 * status counts it; so this file waits by looking at the pods themselves.
 */
#include "deployment/deployment.h"

#include "common/indexes.h"
#include "common/pod_state.h"

static int drop_old(kc__rollout *r, bool *ret_resized, kc_error *err)
{
    kc_vec_each (&r->old, set)
        if (kc__rollout_set_size(*set) > 0 &&
            kc__rollout_resize_if(r, *set, 0, ret_resized, err) < 0)
            return kc_error_result(err);
    return 0;
}

static int has_running_pods(kc__rollout *r, const kc_replica_set *set, bool *ret, kc_error *err)
{
    kc_scoped(kc_object_list) pods = {0};
    const kc_list_opts which = {.index = KC__COMMON_INDEX_CONTROLLER, .value = set->metadata.uid};
    if (kc_client_list(r->ctx->client, &kc_kind_pod, &which, &pods, err) < 0)
        return kc_error_result(err);
    for (size_t i = 0; i < pods.n; i++) {
        const kc__common_pod_state state = kc__common_pod_state_of(pods.items[i]);
        *ret = *ret || !kc__common_pod_is_terminal(&state);
    }
    return 0;
}

static int old_pods_run(kc__rollout *r, bool *ret, kc_error *err)
{
    *ret = false;
    kc_vec_each (&r->old, set) {
        *ret = *ret || (*set)->status.replicas > 0;
        if (!*ret && has_running_pods(r, *set, ret, err) < 0)
            return kc_error_result(err);
    }
    return 0;
}

int kc__rollout_recreate(kc__rollout *r, kc_error *err)
{
    bool resized = false, running = false;
    if (kc__rollout_sync_current(r, false, err) < 0 || drop_old(r, &resized, err) < 0)
        return kc_error_result(err);
    if (!resized && old_pods_run(r, &running, err) < 0)
        return kc_error_result(err);
    if (resized || running)
        return kc__rollout_sync_progress(r, err);
    if (!r->current && kc__rollout_sync_current(r, true, err) < 0)
        return kc_error_result(err);
    if (kc__rollout_resize_if(r, r->current, kc__rollout_desired(r), NULL, err) < 0)
        return kc_error_result(err);
    if (kc__rollout_is_complete(r->d, &r->d->status) && kc__rollout_clean_up(r, err) < 0)
        return kc_error_result(err);
    return kc__rollout_sync_progress(r, err);
}
