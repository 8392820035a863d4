/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recreate.c: first all old pods go, then new ones come: for programs of which two versions must
 * not run at once. A pod that is being deleted still runs; so it is waited for until it is gone,
 * which no status of a set tells: pods are looked at themselves.
 */
#include "deployment/deployment.h"

#include "common/indexes.h"
#include "common/pod_state.h"

static int drop_old(kc__rollout *r, bool *ret_resized, kc_error *err)
{
    kc_vec_each (&r->old, set)
        if (kc__set_size(*set) > 0 && kc__rollout_resize_if(r, *set, 0, ret_resized, err) < 0)
            return -1;
    return 0;
}

static int has_running_pods(kc__rollout *r, const kc_replica_set *set, bool *ret, kc_error *err)
{
    kc_scoped(kc_objects) pods = {0};
    const kc_list_opts which = {.index = KC__BY_CONTROLLER, .value = set->metadata.uid};
    if (kc_client_list(r->ctx->client, &kc_kind_pod, &which, &pods, err) < 0)
        return -1;
    for (size_t i = 0; i < pods.n; i++) {
        const kc__pod_state state = kc__pod_state_of(pods.items[i]);
        *ret = *ret || !kc__pod_is_terminal(&state);
    }
    return 0;
}

static int old_pods_run(kc__rollout *r, bool *ret, kc_error *err)
{
    *ret = false;
    kc_vec_each (&r->old, set) {
        *ret = *ret || (*set)->status.replicas > 0;
        if (!*ret && has_running_pods(r, *set, ret, err) < 0)
            return -1;
    }
    return 0;
}

int kc__rollout_recreate(kc__rollout *r, kc_error *err)
{
    bool resized = false, running = false;
    if (kc__rollout_sync_current(r, false, err) < 0 || drop_old(r, &resized, err) < 0)
        return -1;
    if (!resized && old_pods_run(r, &running, err) < 0)
        return -1;
    if (resized || running)
        return kc__rollout_sync_progress(r, err);
    if (!r->current && kc__rollout_sync_current(r, true, err) < 0)
        return -1;
    if (kc__rollout_resize_if(r, r->current, kc__rollout_wanted(r), NULL, err) < 0)
        return -1;
    if (kc__rollout_is_complete(r->d, &r->d->status) && kc__rollout_clean_up(r, err) < 0)
        return -1;
    return kc__rollout_sync_progress(r, err);
}
