/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cleanup.c: deletes ReplicaSets of old revisions beyond revisionHistoryLimit, oldest first; the
 * rest stay for rollbacks. A ReplicaSet that has pods, or whose latest change its controller has
 * not observed, is never deleted.
 */
#include "deployment/deployment.h"

static int by_revision(const void *a, const void *b)
{
    int64_t x, y;
    const bool ok = kc__rollout_set_revision(*(kc_replica_set *const *)a, &x);
    if (!kc__rollout_set_revision(*(kc_replica_set *const *)b, &y) || !ok || x == y)
        return kc__rollout_sets_by_age(a, b);
    return x < y ? -1 : 1;
}

static bool is_used(const kc_replica_set *set)
{
    return set->status.replicas != 0 || kc__rollout_set_size(set) != 0 ||
           set->metadata.generation > set->status.observed_generation;
}

static int delete_set(kc__rollout *r, const kc_replica_set *set, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    const kc_key key = KC_KEY(set->metadata.ns, set->metadata.name);
    if (kc_client_delete(r->ctx->client, &kc_kind_replica_set, key,
                         &(kc_delete_opts){.uid = set->metadata.uid}, &why) == 0 ||
        kc_is_not_found(&why))
        return 0;
    return kc_error_move(err, &why);
}

int kc__rollout_clean_up(kc__rollout *r, kc_error *err)
{
    const int32_t *limit = r->d->spec.revision_history_limit;
    if (!limit || *limit == INT32_MAX)
        return 0;
    kc__rollout_sets alive = {0};
    kc_vec_each (&r->old, set)
        if (!(*set)->metadata.deletion_timestamp.at)
            kc_vec_push(&alive, *set);
    kc_vec_sort(&alive, by_revision);
    int result = 0;
    for (size_t i = 0; i + (size_t)*limit < alive.n && result == 0; i++)
        if (!is_used(alive.items[i]))
            result = delete_set(r, alive.items[i], err);
    kc_vec_done(&alive);
    return result < 0 ? result : 0;
}
