/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rolling.c: the strategy RollingUpdate: replaces old pods by new ones, some at a time.
 *
 * The current ReplicaSet grows as far as maxSurge allows; old ones shrink as far as enough pods
 * stay available. Each call does one of the two; the changed status of the ReplicaSet causes the
 * next call. Pods that are not available are removed from old ReplicaSets first: that costs no
 * availability.
 */
#include "deployment/deployment.h"

/* Limited to spec.replicas: the status may not show the latest scale-down yet. */
static int32_t available_of(const kc_replica_set *set)
{
    return KC_MIN(set->status.available_replicas, kc__rollout_set_size(set));
}

static int grow_current(kc__rollout *r, bool *ret_resized, kc_error *err)
{
    const int32_t size = kc__rollout_set_size(r->current);
    if (size == kc__rollout_desired(r))
        return 0;
    const int32_t to =
        size > kc__rollout_desired(r) ? kc__rollout_desired(r) : kc__rollout_new_size(r);
    return kc__rollout_resize_if(r, r->current, to, ret_resized, err);
}

/* Limited to `budget`. Returns 1 if the number is unknown: a ReplicaSet with more available
 * replicas than desired has not processed its last change. */
static int drop_unhealthy(kc__rollout *r, const kc__rollout_sets *old, int32_t budget,
                          bool *ret_resized, kc_error *err)
{
    kc_vec_each (old, set) {
        const int32_t unhealthy = kc__rollout_set_size(*set) - (*set)->status.available_replicas;
        if (budget <= 0 || unhealthy == 0)
            continue;
        if (unhealthy < 0)
            return 1;
        const int32_t n = KC_MIN(budget, unhealthy);
        if (kc__rollout_resize_if(r, *set, kc__rollout_set_size(*set) - n, ret_resized, err) < 0)
            return kc_error_result(err);
        budget -= n;
    }
    return 0;
}

static int drop_available(kc__rollout *r, const kc__rollout_sets *old, bool *ret_resized,
                          kc_error *err)
{
    const int32_t least = kc__rollout_desired(r) - kc__rollout_missing(r);
    int32_t budget = available_of(r->current) - least;
    kc_vec_each (old, set)
        budget += available_of(*set);
    kc_vec_each (old, set) {
        const int32_t n = KC_MIN(kc__rollout_set_size(*set), budget);
        if (n <= 0)
            continue;
        if (kc__rollout_resize_if(r, *set, kc__rollout_set_size(*set) - n, ret_resized, err) < 0)
            return kc_error_result(err);
        budget -= n;
    }
    return 0;
}

static int shrink_old(kc__rollout *r, bool *ret_resized, kc_error *err)
{
    const kc_replica_set *current = r->current;
    const int32_t least = kc__rollout_desired(r) - kc__rollout_missing(r);
    const int32_t not_yet = kc__rollout_set_size(current) - available_of(current);
    const int32_t budget = kc__rollout_sets_size(&r->sets) - least - not_yet;
    kc__rollout_sets old = kc__rollout_active(r, false);
    int result = 0;
    if (old.n && budget > 0)
        result = drop_unhealthy(r, &old, budget, ret_resized, err);
    if (old.n && budget > 0 && result == 0)
        result = drop_available(r, &old, ret_resized, err);
    kc_vec_done(&old);
    return result < 0 ? result : 0;
}

int kc__rollout_roll(kc__rollout *r, kc_error *err)
{
    bool resized = false;
    if (kc__rollout_sync_current(r, true, err) < 0 || grow_current(r, &resized, err) < 0)
        return kc_error_result(err);
    if (!resized && shrink_old(r, &resized, err) < 0)
        return kc_error_result(err);
    if (!resized && kc__rollout_is_complete(r->d, &r->d->status) &&
        kc__rollout_clean_up(r, err) < 0)
        return kc_error_result(err);
    return kc__rollout_sync_progress(r, err);
}
