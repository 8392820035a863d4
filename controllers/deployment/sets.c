/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sets.c: lists the ReplicaSets of a Deployment by index: those it controls and orphans. Orphans
 * that its selector matches are adopted; controlled ones that no longer match are released. The
 * ReplicaSet with the Deployment's template is the current one; if there are several, the oldest.
 */
#include "deployment/deployment.h"

#include "common/adoption.h"
#include "common/template.h"

int32_t kc__rollout_desired(const kc__rollout *r)
{
    return r->d->spec.replicas ? *r->d->spec.replicas : 1;
}

int kc__rollout_sets_by_age(const void *a, const void *b)
{
    const kc_object_meta *x = &(*(kc_replica_set *const *)a)->metadata;
    const kc_object_meta *y = &(*(kc_replica_set *const *)b)->metadata;
    if (x->creation_timestamp.at != y->creation_timestamp.at)
        return x->creation_timestamp.at < y->creation_timestamp.at ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* ---- sums ---- */

int32_t kc__rollout_sets_size(const kc__rollout_sets *sets)
{
    int32_t sum = 0;
    kc_vec_each (sets, set)
        sum += kc__rollout_set_size(*set);
    return sum;
}

int32_t kc__rollout_sum(const kc__rollout *r, int32_t (*what)(const kc_replica_set *set))
{
    int32_t sum = 0;
    kc_vec_each (&r->sets, set)
        sum += what(*set);
    return sum;
}

kc__rollout_sets kc__rollout_active(const kc__rollout *r, bool with_current)
{
    kc__rollout_sets active = {0};
    kc_vec_each (&r->old, set)
        if (kc__rollout_set_size(*set) > 0)
            kc_vec_push(&active, *set);
    if (with_current && r->current && kc__rollout_set_size(r->current) > 0)
        kc_vec_push(&active, r->current);
    return active;
}

/* ---- listing ---- */

static int deployment_sets_claim(kc__rollout *r, kc__common_claims *claims, const kc_object *object,
                                 kc_error *err)
{
    bool ours = false;
    if (kc__common_claim(claims, &kc_kind_replica_set, object, &ours, err) < 0)
        return kc_error_result(err);
    if (!ours)
        return 0;
    kc_replica_set *set = kc_replica_set_of(object, err);
    if (set)
        kc_vec_push(&r->sets, set);
    return set ? 0 : kc_error_result(err);
}

static int claim_all(kc__rollout *r, kc_error *err)
{
    kc_scoped(kc_object_list) list = {0};
    kc_scoped(kc__common_claims) claims = {.client = r->ctx->client,
                                           .owner = r->d->metadata.origin,
                                           .owner_kind = &kc_kind_deployment,
                                           .selector = r->selector};
    if (kc__common_list_claimable(&claims, &kc_kind_replica_set, &list, err) < 0)
        return kc_error_result(err);
    for (size_t i = 0; i < list.n; i++)
        if (deployment_sets_claim(r, &claims, list.items[i], err) < 0)
            return kc_error_result(err);
    return 0;
}

static bool is_of_template(const kc__rollout *r, const kc_replica_set *set)
{
    kc_autofree char *text = kc__common_template_text(kc_cstr(set->spec.template.json));
    return strcmp(text, r->template) == 0;
}

int kc__rollout_find_sets(kc__rollout *r, kc_error *err)
{
    if (claim_all(r, err) < 0)
        return kc_error_result(err);
    kc_vec_sort(&r->sets, kc__rollout_sets_by_age);
    kc_vec_each (&r->sets, set) {
        if (!r->current && is_of_template(r, *set))
            r->current = *set;
        else
            kc_vec_push(&r->old, *set);
    }
    return 0;
}

void kc__rollout_add_current(kc__rollout *r, kc_replica_set *set)
{
    kc_vec_push(&r->sets, set);
    r->current = set;
}
