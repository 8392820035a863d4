/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.c: the status of a Deployment: the sums over its ReplicaSets, and three conditions.
 *
 *     Available       enough pods are available, given maxUnavailable
 *     Progressing     the rollout advances, is complete, or is stuck: no progress for
 *                     progressDeadlineSeconds
 *     ReplicaFailure  pods cannot be created or deleted; copied from a ReplicaSet
 *
 * The whole status is written at once, with the resourceVersion of the Deployment that was read. If
 * the Deployment has changed since, the write fails with a conflict and the status is computed
 * again. So the status of a generation was computed from that generation.
 */
#include "deployment/deployment.h"

#include "common/workload_conditions.h"

#include <stdarg.h>

/* ---- conditions ---- */

static kc__common_conditions deployment_status_conditions_of(const kc__rollout *r,
                                                             const kc_deployment_status *status)
{
    return (kc__common_conditions){status->conditions, status->n_conditions, r->d->metadata.arena};
}

static void deployment_status_retain(kc_deployment_status *status,
                                     const kc__common_conditions *conditions)
{
    status->conditions = conditions->items;
    status->n_conditions = conditions->n;
}

static void set_condition(kc__rollout *r, kc_deployment_status *status,
                          const kc__common_condition *set)
{
    kc__common_conditions conditions = deployment_status_conditions_of(r, status);
    kc__common_conditions_set(&conditions, set);
    deployment_status_retain(status, &conditions);
}

static void remove_condition(kc__rollout *r, kc_deployment_status *status, const char *type)
{
    kc__common_conditions conditions = deployment_status_conditions_of(r, status);
    kc__common_conditions_remove(&conditions, type);
    deployment_status_retain(status, &conditions);
}

static kc__common_condition condition(const kc__rollout *r, const char *type, const char *status,
                                      const char *reason, const char *message)
{
    const kc_time now = kc_clock_wall(r->ctx->clock);
    return (kc__common_condition){type, status, reason, message, now, now};
}

bool kc__rollout_has_deadline(const kc_deployment *d)
{
    const int32_t *seconds = d->spec.progress_deadline_seconds;
    return seconds && *seconds != INT32_MAX;
}

static kc_workload_condition *progress_in(const kc_deployment_status *status)
{
    return kc__common_conditions_get(
        &(kc__common_conditions){status->conditions, status->n_conditions, NULL}, "Progressing");
}

kc_workload_condition *kc__rollout_progress(const kc_deployment *d)
{
    return progress_in(&d->status);
}

void kc__rollout_set_progress(kc__rollout *r, const char *status, const char *reason,
                              const char *fmt, ...)
{
    kc_scoped(kc_buf) message = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&message, fmt, args);
    va_end(args);
    const kc__common_condition set =
        condition(r, "Progressing", status, reason, kc_buf_cstr(&message));
    set_condition(r, &r->d->status, &set);
}

/* ---- counters ---- */

static int32_t replicas_of(const kc_replica_set *set)
{
    return set->status.replicas;
}

static int32_t ready_of(const kc_replica_set *set)
{
    return set->status.ready_replicas;
}

static int32_t available_of(const kc_replica_set *set)
{
    return set->status.available_replicas;
}

static kc_deployment_status deployment_status_count(kc__rollout *r)
{
    const kc_deployment *d = r->d;
    const int32_t available = kc__rollout_sum(r, available_of);
    kc_deployment_status status = {
        .observed_generation = d->metadata.generation,
        .replicas = kc__rollout_sum(r, replicas_of),
        .updated_replicas = r->current ? r->current->status.replicas : 0,
        .ready_replicas = kc__rollout_sum(r, ready_of),
        .available_replicas = available,
        .unavailable_replicas = KC_MAX(kc__rollout_sets_size(&r->sets) - available, 0),
        .conditions = d->status.conditions,
        .n_conditions = d->status.n_conditions,
        .collision_count = d->status.collision_count,
    };
    const bool enough = available >= kc__rollout_desired(r) - kc__rollout_missing(r);
    const kc__common_condition set =
        enough ? condition(r, "Available", "True", "MinimumReplicasAvailable",
                           "Deployment has minimum availability.")
               : condition(r, "Available", "False", "MinimumReplicasUnavailable",
                           "Deployment does not have minimum availability.");
    set_condition(r, &status, &set);
    return status;
}

/* ---- progress ---- */

bool kc__rollout_is_complete(const kc_deployment *d, const kc_deployment_status *status)
{
    const int32_t wanted = d->spec.replicas ? *d->spec.replicas : 1;
    return status->updated_replicas == wanted && status->replicas == wanted &&
           status->available_replicas == wanted &&
           status->observed_generation >= d->metadata.generation;
}

/* More updated pods, fewer old ones, more ready or more available ones. */
static bool gets_on(const kc_deployment_status *before, const kc_deployment_status *now)
{
    return now->updated_replicas > before->updated_replicas ||
           now->replicas - now->updated_replicas < before->replicas - before->updated_replicas ||
           now->ready_replicas > before->ready_replicas ||
           now->available_replicas > before->available_replicas;
}

static int64_t deployment_status_deadline_of(const kc_deployment *d,
                                             const kc_workload_condition *progress)
{
    return progress->last_update_time.at + *d->spec.progress_deadline_seconds * KC_SECOND;
}

static bool is_because(const kc_workload_condition *condition, const char *reason)
{
    return condition && condition->reason && strcmp(condition->reason, reason) == 0;
}

static bool is_stuck(const kc__rollout *r, const kc_deployment_status *status)
{
    const kc_workload_condition *progress = progress_in(status);
    if (!progress || is_because(progress, "NewReplicaSetAvailable"))
        return false;
    return is_because(progress, "ProgressDeadlineExceeded") ||
           deployment_status_deadline_of(r->d, progress) < kc_clock_wall(r->ctx->clock);
}

/* "ReplicaSet "web-1" is progressing." */
static const char *sentence(const kc__rollout *r, const char *predicate)
{
    return kc_arena_printf(r->d->metadata.arena, "%s \"%s\" %s",
                           r->current ? "ReplicaSet" : "Deployment",
                           r->current ? r->current->metadata.name : r->d->metadata.name, predicate);
}

/* Progress moves the condition's lastUpdateTime, from which the deadline counts. */
static void report_progressing(kc__rollout *r, kc_deployment_status *status)
{
    const kc_workload_condition *before = kc__rollout_progress(r->d);
    kc__common_condition set =
        condition(r, "Progressing", "True", "ReplicaSetUpdated", sentence(r, "is progressing."));
    if (before && strcmp(before->status, "True") == 0)
        set.changed = before->last_transition_time.at;
    remove_condition(r, status, "Progressing");
    set_condition(r, status, &set);
}

static void report_progress(kc__rollout *r, kc_deployment_status *status)
{
    if (kc__rollout_is_complete(r->d, status)) {
        const kc__common_condition set =
            condition(r, "Progressing", "True", "NewReplicaSetAvailable",
                      sentence(r, "has successfully progressed."));
        set_condition(r, status, &set);
    } else if (gets_on(&r->d->status, status)) {
        report_progressing(r, status);
    } else if (is_stuck(r, status)) {
        const kc__common_condition set =
            condition(r, "Progressing", "False", "ProgressDeadlineExceeded",
                      sentence(r, "has timed out progressing."));
        set_condition(r, status, &set);
    }
}

/* ---- failures of ReplicaSets ---- */

static const kc_workload_condition *failure_of(const kc_replica_set *set)
{
    return set ? kc__common_conditions_get(&(kc__common_conditions){set->status.conditions,
                                                                    set->status.n_conditions, NULL},
                                           "ReplicaFailure")
               : NULL;
}

/* The failure of the current ReplicaSet, else the first one found. */
static void deployment_status_report_failure(kc__rollout *r, kc_deployment_status *status)
{
    const kc_workload_condition *failure = failure_of(r->current);
    for (size_t i = 0; i < r->sets.n && !failure; i++)
        failure = failure_of(r->sets.items[i]);
    if (!failure) {
        remove_condition(r, status, "ReplicaFailure");
        return;
    }
    const kc_time at = failure->last_transition_time.at;
    set_condition(r, status,
                  &(kc__common_condition){"ReplicaFailure", failure->status,
                                          failure->reason ? failure->reason : "",
                                          failure->message ? failure->message : "", at, at});
}

/* ---- writing ---- */

int kc__rollout_write_status(kc__rollout *r, kc_error *err)
{
    r->status_pending = false; /* On a conflict the status is computed again. */
    return kc_deployment_update_status(r->ctx->client, r->d, err);
}

int kc__rollout_record_event(kc__rollout *r, kc_error *err)
{
    return r->status_pending ? kc__rollout_write_status(r, err) : 0;
}

static int write_if_new(kc__rollout *r, const kc_deployment_status *status, kc_error *err)
{
    if (!r->status_pending && kc_struct_equal(&kc_deployment_status_struct, &r->d->status, status))
        return 0;
    r->d->status = *status;
    return kc__rollout_write_status(r, err);
}

int kc__rollout_sync_status(kc__rollout *r, kc_error *err)
{
    const kc_deployment_status status = deployment_status_count(r);
    return write_if_new(r, &status, err);
}

int kc__rollout_sync_progress(kc__rollout *r, kc_error *err)
{
    kc_deployment_status status = deployment_status_count(r);
    const kc_workload_condition *before = kc__rollout_progress(r->d);
    const bool done =
        status.replicas == status.updated_replicas && is_because(before, "NewReplicaSetAvailable");
    if (!kc__rollout_has_deadline(r->d))
        remove_condition(r, &status, "Progressing");
    else if (!done)
        report_progress(r, &status);
    deployment_status_report_failure(r, &status);
    return write_if_new(r, &status, err);
}

int64_t kc__rollout_requeue_after(const kc__rollout *r)
{
    const kc_workload_condition *progress = kc__rollout_progress(r->d);
    if (!kc__rollout_has_deadline(r->d) || !progress || r->d->spec.paused ||
        is_because(progress, "NewReplicaSetAvailable") ||
        is_because(progress, "ProgressDeadlineExceeded"))
        return 0;
    const int64_t left =
        deployment_status_deadline_of(r->d, progress) - kc_clock_wall(r->ctx->clock);
    return KC_MAX(left, INT64_C(0)) + KC_SECOND;
}
