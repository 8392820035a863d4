/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lost_pods.c: marks the pods of a node that is not ready as not ready, so that they receive no
 * traffic. Only the status of the Ready condition changes: the reason is the kubelet's, which
 * writes the whole condition again when it is back.
 */
#include "nodelifecycle/lifecycle.h"

#include "common/indexes.h"

static kc_pod_condition *ready_condition(const kc_pod *pod)
{
    for (size_t i = 0; i < pod->status.n_conditions; i++)
        if (!strcmp(pod->status.conditions[i].type, "Ready"))
            return &pod->status.conditions[i];
    return NULL;
}

static int lifecycle_lost_pods_mark(kc_context *ctx, kc_pod *pod, kc_error *err)
{
    static char no[] = "False";
    kc_scoped(kc_error) why = {0};
    kc_pod_condition *ready = ready_condition(pod);
    if (!ready || !strcmp(ready->status, no))
        return 0;
    ready->status = no;
    ready->last_transition_time = (kc_timestamp){kc_clock_wall(ctx->clock)};
    if (kc_pod_update_status(ctx->client, pod, &why) < 0)
        return kc_is_not_found(&why) ? 0 : kc_error_move(err, &why);
    kc_recorder_event(ctx->recorder, pod->metadata.origin, KC_EVENT_TYPE_WARNING, "NodeNotReady",
                      "Node is not ready");
    return 0;
}

int kc__lifecycle_mark_pods_not_ready(kc_context *ctx, kc_str node, kc_error *err)
{
    kc_autofree char *name = kc_str_dup(node);
    kc_scoped(kc_pod_list) pods = {0};
    int result = kc_pod_lister_list(
        ctx->cache, &(kc_list_opts){.index = KC__COMMON_INDEX_NODE, .value = name}, &pods, err);
    for (size_t i = 0; i < pods.n; i++)
        if (lifecycle_lost_pods_mark(ctx, pods.items[i], err) < 0)
            result = kc_error_result(err);
    return result;
}
