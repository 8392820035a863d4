/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.c: computes maxSurge and maxUnavailable. Percentages of maxSurge are rounded up, those of
 * maxUnavailable down. If both are 0, no pod could ever be replaced, so maxUnavailable becomes 1.
 *
 * The surge counts the pods that ReplicaSets have, not only those they should have: the current
 * ReplicaSet does not grow while an old one is still deleting pods. (Kubernetes counts
 * spec.replicas, so that for a moment more pods than allowed may exist.)
 */
#include "deployment/deployment.h"

#include "kc/int_or_string.h"

bool kc__rollout_is_rolling(const kc__rollout *r)
{
    const char *type = r->d->spec.strategy.type;
    return type && strcmp(type, "RollingUpdate") == 0;
}

/* The server has validated the value; 0 if it is not set. */
static int32_t scaled(const kc_int_or_string *value, int32_t of, bool up)
{
    int64_t number = 0;
    if (!value || kc_int_or_string_scaled(*value, of, up, &number, NULL) < 0)
        return 0;
    return (int32_t)KC_MAX(INT64_C(0), KC_MIN(number, (int64_t)INT32_MAX));
}

static void deployment_limits_resolve(const kc__rollout *r, int32_t *ret_surge,
                                      int32_t *ret_unavailable)
{
    const kc_rolling_update *rolling = r->d->spec.strategy.rolling_update;
    *ret_surge = scaled(rolling ? rolling->max_surge : NULL, kc__rollout_desired(r), true);
    *ret_unavailable =
        scaled(rolling ? rolling->max_unavailable : NULL, kc__rollout_desired(r), false);
    if (!*ret_surge && !*ret_unavailable)
        *ret_unavailable = 1;
}

int32_t kc__rollout_surge(const kc__rollout *r)
{
    int32_t surge, unavailable;
    deployment_limits_resolve(r, &surge, &unavailable);
    return kc__rollout_is_rolling(r) ? surge : 0;
}

int32_t kc__rollout_missing(const kc__rollout *r)
{
    int32_t surge, unavailable;
    deployment_limits_resolve(r, &surge, &unavailable);
    return kc__rollout_is_rolling(r) ? KC_MIN(unavailable, kc__rollout_desired(r)) : 0;
}

/* Pods that a ReplicaSet has or may still create; after a scale-down some are not deleted yet. */
static int64_t most_pods(const kc_replica_set *set)
{
    return KC_MAX(kc__rollout_set_size(set), set->status.replicas);
}

int32_t kc__rollout_new_size(const kc__rollout *r)
{
    const int32_t size = r->current ? kc__rollout_set_size(r->current) : 0;
    if (!kc__rollout_is_rolling(r))
        return kc__rollout_desired(r);
    int64_t room = (int64_t)kc__rollout_desired(r) + kc__rollout_surge(r);
    kc_vec_each (&r->sets, set)
        room -= most_pods(*set);
    return room <= 0 ? size : size + (int32_t)KC_MIN(room, (int64_t)kc__rollout_desired(r) - size);
}
