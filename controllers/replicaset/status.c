/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.c: the status of a ReplicaSet, counted from the pods before this call created or deleted
 * any; the events of those pods cause the next call, which counts them. So a call that created or
 * deleted pods usually skips a write that the next call would replace at once: a new ReplicaSet is
 * written once with its pods, not once without and once with them. A change of readyReplicas or
 * availableReplicas is never delayed.
 *
 * terminatingReplicas is not set: in v1.34 the feature gate DeploymentReplicaSetTerminatingReplicas
 * is off by default.
 */
#include "replicaset/replica_set.h"

#include "common/workload_conditions.h"

static bool has_labels(const kc_object *pod, const kc_value *labels)
{
    bool all = true;
    kc_value_each_member (labels, key, value)
        all = all && kc_object_label_is(pod, key, kc_value_as_str(value));
    return all;
}

static void rs_status_count(const kc__rs_call *call, kc_replica_set_status *status)
{
    kc_auto(kc_view) *template = kc_view_parse(kc_cstr(call->rs->spec.template.json), NULL, NULL);
    const kc_value *labels = kc_value_nested(kc_view_root(template), "metadata.labels");
    const kc_time now = kc_clock_wall(call->ctx->clock);
    status->replicas = (int32_t)call->n_active;
    status->fully_labeled_replicas = status->ready_replicas = status->available_replicas = 0;
    for (size_t i = 0; i < call->n_active; i++) {
        const kc__rs_replica *r = &call->active[i];
        status->fully_labeled_replicas += has_labels(r->pod, labels);
        status->ready_replicas += r->state.ready;
        status->available_replicas += kc__common_pod_is_available(&r->state, call->min_ready, now);
    }
}

static void rs_status_report_failure(const kc__rs_call *call, const kc_error *failure,
                                     kc_replica_set_status *status)
{
    kc__common_conditions conditions = {status->conditions, status->n_conditions,
                                        call->rs->metadata.arena};
    const bool reported = kc__common_conditions_get(&conditions, "ReplicaFailure") != NULL;
    const int64_t surplus = (int64_t)call->n_active - call->wanted;
    const char *reason = surplus < 0 ? "FailedCreate" : surplus > 0 ? "FailedDelete" : "";
    if (failure->reason && !reported)
        kc__common_conditions_set(&conditions, &(kc__common_condition){
                                                   .type = "ReplicaFailure",
                                                   .status = "True",
                                                   .reason = reason,
                                                   .message = kc_error_text(failure),
                                                   .changed = kc_clock_wall(call->ctx->clock),
                                               });
    else if (!failure->reason)
        kc__common_conditions_remove(&conditions, "ReplicaFailure");
    status->conditions = conditions.items;
    status->n_conditions = conditions.n;
}

/* Only replicas and observedGeneration have changed. */
static bool can_wait(const kc_replica_set_status *was, const kc_replica_set_status *is)
{
    return was->ready_replicas == is->ready_replicas &&
           was->available_replicas == is->available_replicas &&
           was->n_conditions == is->n_conditions;
}

int kc__rs_write_status(kc__rs_call *call, bool next, const kc_error *failure, kc_error *err)
{
    kc_replica_set_status *status = &call->rs->status;
    const kc_replica_set_status was = *status;
    rs_status_count(call, status);
    rs_status_report_failure(call, failure, status);
    if (next && can_wait(&was, status))
        return 0;
    status->terminating_replicas = NULL;
    status->observed_generation = call->rs->metadata.generation;
    const kc_write_opts to_status = {.subresource = "status"};
    return kc_typed_patch(call->ctx->client, &kc_replica_set_type, call->rs, &to_status, err);
}

int64_t kc__rs_requeue_after(const kc__rs_call *call)
{
    int64_t next = 0;
    const kc_time now = kc_clock_wall(call->ctx->clock);
    for (size_t i = 0; i < call->n_active && call->min_ready; i++) {
        const int64_t after =
            kc__common_pod_available_after(&call->active[i].state, call->min_ready, now);
        if (after && (!next || after < next))
            next = after;
    }
    return next;
}
