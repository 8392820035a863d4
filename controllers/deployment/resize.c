/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resize.c: sets made larger or smaller.
 *
 * When a deployment is scaled in the middle of a roll-out, all its sets with pods are scaled in
 * proportion to their size, so that neither old nor new pods bear it alone. What a set was when the
 * deployment had another size is noted on it (annotations.c); what rounding leaves goes to the
 * largest: the newest of them when growing, the oldest when shrinking.
 */
#include "deployment/deployment.h"

/* ---- one set ---- */

int kc__rollout_resize(kc__rollout *r, kc_replica_set *set, int32_t size, bool *ret_resized,
                       kc_error *err)
{
    const int32_t before = kc__set_size(set);
    const bool noted = kc__set_note_sizes(r, set);
    if (before == size && !noted)
        return 0;
    set->spec.replicas = kc_arena_new(set->metadata.arena, int32_t);
    *set->spec.replicas = size;
    if (kc_replica_set_update(r->ctx->client, set, err) < 0)
        return -1;
    if (before == size)
        return 0;
    kc_event(r->ctx->recorder, r->d->metadata.origin, KC_NORMAL, "ScalingReplicaSet",
             "Scaled %s replica set %s from %d to %d", before < size ? "up" : "down",
             set->metadata.name, before, size);
    if (ret_resized)
        *ret_resized = true;
    return 0;
}

int kc__rollout_resize_if(kc__rollout *r, kc_replica_set *set, int32_t size, bool *ret_resized,
                          kc_error *err)
{
    return kc__set_size(set) == size ? 0 : kc__rollout_resize(r, set, size, ret_resized, err);
}

/* ---- all of them ---- */

bool kc__rollout_was_scaled(const kc__rollout *r)
{
    bool scaled = false;
    int32_t noted;
    kc__sets active = kc__rollout_active(r, true);
    kc_vec_each (&active, set)
        scaled |= kc__set_noted_wanted(*set, &noted) && noted != kc__rollout_wanted(r);
    kc_vec_done(&active);
    return scaled;
}

static int by_size_newer(const void *a, const void *b)
{
    const int32_t x = kc__set_size(*(kc_replica_set *const *)a),
                  y = kc__set_size(*(kc_replica_set *const *)b);
    return x != y ? (x > y ? -1 : 1) : kc__sets_by_age(b, a);
}

static int by_size_older(const void *a, const void *b)
{
    const int32_t x = kc__set_size(*(kc_replica_set *const *)a),
                  y = kc__set_size(*(kc_replica_set *const *)b);
    return x != y ? (x > y ? -1 : 1) : kc__sets_by_age(a, b);
}

/* How many pods the set's share of the change is, not beyond what is left of it. */
static int32_t share(const kc__rollout *r, const kc_replica_set *set, int32_t left)
{
    int32_t before, part;
    const int32_t most = kc__rollout_wanted(r) + kc__rollout_surge(r);
    if (left == 0)
        return 0;
    if (!kc__set_noted_most(set, &before) || before == 0)
        before = r->d->status.replicas;
    if (kc__rollout_wanted(r) == 0) {
        part = -kc__set_size(set);
    } else if (before == 0) {
        part = 0;
    } else {
        const double size = (double)kc__set_size(set) * most / before;
        part = (int32_t)(size + 0.5) - kc__set_size(set);
    }
    return left > 0 ? KC_MIN(part, left) : KC_MAX(part, left);
}

static int resize_by_shares(kc__rollout *r, kc__sets *active, int32_t change, kc_error *err)
{
    int result = 0;
    int32_t left = change;
    int32_t *sizes = kc_calloc(KC_MAX(active->n, (size_t)1), sizeof(*sizes));
    for (size_t i = 0; i < active->n; i++) {
        const int32_t part = share(r, active->items[i], left);
        sizes[i] = kc__set_size(active->items[i]) + part;
        left -= part;
    }
    for (size_t i = 0; i < active->n && result == 0; i++) {
        const int32_t rest = i == 0 ? left : 0;
        result = kc__rollout_resize(r, active->items[i], KC_MAX(sizes[i] + rest, 0), NULL, err);
    }
    free(sizes);
    return result < 0 ? -1 : 0;
}

static int scale_in_proportion(kc__rollout *r, kc_error *err)
{
    kc__sets active = kc__rollout_active(r, true);
    const int32_t allowed =
        kc__rollout_wanted(r) > 0 ? kc__rollout_wanted(r) + kc__rollout_surge(r) : 0;
    const int32_t change = allowed - kc__sets_size(&active);
    if (change)
        kc_vec_sort(&active, change > 0 ? by_size_newer : by_size_older);
    const int result = resize_by_shares(r, &active, change, err);
    kc_vec_done(&active);
    return result;
}

/* All that is wanted is there and available, in the current set. */
static bool is_saturated(const kc__rollout *r)
{
    int32_t noted;
    const kc_replica_set *set = r->current;
    return set && kc__set_noted_wanted(set, &noted) && noted == kc__rollout_wanted(r) &&
           kc__set_size(set) == kc__rollout_wanted(r) &&
           set->status.available_replicas == kc__rollout_wanted(r);
}

/* The one set that has pods, or where none has, the current or newest one. NULL: several have. */
static kc_replica_set *only_one(const kc__rollout *r)
{
    kc__sets active = kc__rollout_active(r, true);
    kc_replica_set *one = active.n == 1 ? active.items[0] : NULL;
    if (!active.n)
        one = r->current ? r->current : r->old.n ? *kc_vec_last(&r->old) : NULL;
    kc_vec_done(&active);
    return one;
}

static int drop_old(kc__rollout *r, kc_error *err)
{
    kc_vec_each (&r->old, set)
        if (kc__set_size(*set) > 0 && kc__rollout_resize_if(r, *set, 0, NULL, err) < 0)
            return -1;
    return 0;
}

int kc__rollout_scale(kc__rollout *r, kc_error *err)
{
    kc_replica_set *one = only_one(r);
    if (one)
        return kc__rollout_resize_if(r, one, kc__rollout_wanted(r), NULL, err);
    if (is_saturated(r))
        return drop_old(r, err);
    return kc__rollout_is_rolling(r) ? scale_in_proportion(r, err) : 0;
}
