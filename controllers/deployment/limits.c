/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.c: how many pods there may be beyond what is wanted, and how many may be missing.
 * Percentages of the surge are rounded up, those of what may be missing down. Where both come out
 * as 0 nothing could ever be replaced: then one may be missing.
 *
 * What counts for the surge is what sets have, not only what they should have: while an old set is
 * still deleting pods, the current one does not grow in their place. (Kubernetes counts what they
 * should have, so that for a moment there may be more pods than allowed.)
 */
#include "deployment/deployment.h"

#include "kc/int_or_string.h"

bool kc__rollout_is_rolling(const kc__rollout *r)
{
    const char *type = r->d->spec.strategy.type;
    return type && strcmp(type, "RollingUpdate") == 0;
}

/* What the server accepted it can compute; 0 where it is not said. */
static int32_t scaled(const kc_int_or_text *value, int32_t of, bool up)
{
    int64_t number = 0;
    if (!value)
        return 0;
    const kc_int_or_string v = {value->is_text, value->number, kc_cstr(value->text)};
    if (kc_int_or_string_scaled(v, of, up, &number, NULL) < 0)
        return 0;
    return (int32_t)KC_MAX(INT64_C(0), KC_MIN(number, (int64_t)INT32_MAX));
}

static void resolve(const kc__rollout *r, int32_t *ret_surge, int32_t *ret_unavailable)
{
    const kc_rolling_update *rolling = r->d->spec.strategy.rolling_update;
    *ret_surge = scaled(rolling ? rolling->max_surge : NULL, kc__rollout_wanted(r), true);
    *ret_unavailable =
        scaled(rolling ? rolling->max_unavailable : NULL, kc__rollout_wanted(r), false);
    if (!*ret_surge && !*ret_unavailable)
        *ret_unavailable = 1;
}

int32_t kc__rollout_surge(const kc__rollout *r)
{
    int32_t surge, unavailable;
    resolve(r, &surge, &unavailable);
    return kc__rollout_is_rolling(r) ? surge : 0;
}

int32_t kc__rollout_missing(const kc__rollout *r)
{
    int32_t surge, unavailable;
    resolve(r, &surge, &unavailable);
    return kc__rollout_is_rolling(r) ? KC_MIN(unavailable, kc__rollout_wanted(r)) : 0;
}

/* Pods that a set has or may yet make: one that was made smaller has not deleted them all yet. */
static int64_t most_pods(const kc_replica_set *set)
{
    return KC_MAX(kc__set_size(set), set->status.replicas);
}

int32_t kc__rollout_new_size(const kc__rollout *r)
{
    const int32_t size = r->current ? kc__set_size(r->current) : 0;
    if (!kc__rollout_is_rolling(r))
        return kc__rollout_wanted(r);
    int64_t room = (int64_t)kc__rollout_wanted(r) + kc__rollout_surge(r);
    kc_vec_each (&r->sets, set)
        room -= most_pods(*set);
    return room <= 0 ? size : size + (int32_t)KC_MIN(room, (int64_t)kc__rollout_wanted(r) - size);
}
