/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resize.c: scales ReplicaSets up and down.
 *
 * When a Deployment is scaled during a rollout, all its ReplicaSets that have pods are scaled in
 * proportion to their size, so that the change affects old and new pods alike. Annotations of a
 * ReplicaSet record the Deployment's size at its last resize (annotations.c). The rounding
 * remainder goes to the largest: the newest ReplicaSet when growing, the oldest when shrinking.
 */
#include "deployment/deployment.h"

/* ---- one ReplicaSet ---- */

int kc__rollout_resize(kc__rollout *r, kc_replica_set *set, int32_t size, bool *ret_resized,
                       kc_error *err)
{
    const int32_t before = kc__rollout_set_size(set);
    const bool noted = kc__rollout_set_annotate_sizes(r, set);
    if (before == size && !noted)
        return 0;
    set->spec.replicas = kc_arena_new(set->metadata.arena, int32_t);
    *set->spec.replicas = size;
    if (kc_replica_set_update(r->ctx->client, set, err) < 0)
        return kc_error_result(err);
    if (before == size)
        return 0;
    kc_recorder_event(r->ctx->recorder, r->d->metadata.origin, KC_EVENT_TYPE_NORMAL,
                      "ScalingReplicaSet", "Scaled %s replica set %s from %d to %d",
                      before < size ? "up" : "down", set->metadata.name, before, size);
    if (ret_resized)
        *ret_resized = true;
    return 0;
}

int kc__rollout_resize_if(kc__rollout *r, kc_replica_set *set, int32_t size, bool *ret_resized,
                          kc_error *err)
{
    return kc__rollout_set_size(set) == size ? 0
                                             : kc__rollout_resize(r, set, size, ret_resized, err);
}

/* ---- all ReplicaSets ---- */

bool kc__rollout_was_scaled(const kc__rollout *r)
{
    bool scaled = false;
    int32_t noted;
    kc__rollout_sets active = kc__rollout_active(r, true);
    kc_vec_each (&active, set)
        scaled |=
            kc__rollout_set_annotated_desired(*set, &noted) && noted != kc__rollout_desired(r);
    kc_vec_done(&active);
    return scaled;
}

static int by_size_newer(const void *a, const void *b)
{
    const int32_t x = kc__rollout_set_size(*(kc_replica_set *const *)a),
                  y = kc__rollout_set_size(*(kc_replica_set *const *)b);
    return x != y ? (x > y ? -1 : 1) : kc__rollout_sets_by_age(b, a);
}

static int by_size_older(const void *a, const void *b)
{
    const int32_t x = kc__rollout_set_size(*(kc_replica_set *const *)a),
                  y = kc__rollout_set_size(*(kc_replica_set *const *)b);
    return x != y ? (x > y ? -1 : 1) : kc__rollout_sets_by_age(a, b);
}

/* The ReplicaSet's share of the change in pods, limited to what is left of it. */
static int32_t share(const kc__rollout *r, const kc_replica_set *set, int32_t left)
{
    int32_t before, part;
    const int32_t most = kc__rollout_desired(r) + kc__rollout_surge(r);
    if (left == 0)
        return 0;
    if (!kc__rollout_set_annotated_max(set, &before) || before == 0)
        before = r->d->status.replicas;
    if (kc__rollout_desired(r) == 0) {
        part = -kc__rollout_set_size(set);
    } else if (before == 0) {
        part = 0;
    } else {
        const double size = (double)kc__rollout_set_size(set) * most / before;
        part = (int32_t)(size + 0.5) - kc__rollout_set_size(set);
    }
    return left > 0 ? KC_MIN(part, left) : KC_MAX(part, left);
}

static int resize_by_shares(kc__rollout *r, kc__rollout_sets *active, int32_t change, kc_error *err)
{
    int result = 0;
    int32_t left = change;
    int32_t *sizes = kc_calloc(KC_MAX(active->n, (size_t)1), sizeof(*sizes));
    for (size_t i = 0; i < active->n; i++) {
        const int32_t part = share(r, active->items[i], left);
        sizes[i] = kc__rollout_set_size(active->items[i]) + part;
        left -= part;
    }
    for (size_t i = 0; i < active->n && result == 0; i++) {
        const int32_t rest = i == 0 ? left : 0;
        result = kc__rollout_resize(r, active->items[i], KC_MAX(sizes[i] + rest, 0), NULL, err);
    }
    free(sizes);
    return result < 0 ? result : 0;
}

static int scale_in_proportion(kc__rollout *r, kc_error *err)
{
    kc__rollout_sets active = kc__rollout_active(r, true);
    const int32_t allowed =
        kc__rollout_desired(r) > 0 ? kc__rollout_desired(r) + kc__rollout_surge(r) : 0;
    const int32_t change = allowed - kc__rollout_sets_size(&active);
    if (change)
        kc_vec_sort(&active, change > 0 ? by_size_newer : by_size_older);
    const int result = resize_by_shares(r, &active, change, err);
    kc_vec_done(&active);
    return result;
}

/* The current ReplicaSet has all desired pods, and all are available. */
static bool is_saturated(const kc__rollout *r)
{
    int32_t noted;
    const kc_replica_set *set = r->current;
    return set && kc__rollout_set_annotated_desired(set, &noted) &&
           noted == kc__rollout_desired(r) && kc__rollout_set_size(set) == kc__rollout_desired(r) &&
           set->status.available_replicas == kc__rollout_desired(r);
}

/* The only ReplicaSet with pods, or without any pods the current or newest one. NULL: several. */
static kc_replica_set *only_one(const kc__rollout *r)
{
    kc__rollout_sets active = kc__rollout_active(r, true);
    kc_replica_set *one = active.n == 1 ? active.items[0] : NULL;
    if (!active.n)
        one = r->current ? r->current : r->old.n ? *kc_vec_last(&r->old) : NULL;
    kc_vec_done(&active);
    return one;
}

static int drop_old(kc__rollout *r, kc_error *err)
{
    kc_vec_each (&r->old, set)
        if (kc__rollout_set_size(*set) > 0 && kc__rollout_resize_if(r, *set, 0, NULL, err) < 0)
            return kc_error_result(err);
    return 0;
}

int kc__rollout_scale(kc__rollout *r, kc_error *err)
{
    kc_replica_set *one = only_one(r);
    if (one)
        return kc__rollout_resize_if(r, one, kc__rollout_desired(r), NULL, err);
    if (is_saturated(r))
        return drop_old(r, err);
    return kc__rollout_is_rolling(r) ? scale_in_proportion(r, err) : 0;
}
