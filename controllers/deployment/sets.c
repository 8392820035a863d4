/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sets.c: the replica sets of a deployment: those it controls and those nobody controls, by index;
 * orphans that its selector names are adopted, its own that it no longer names released. One of
 * them has the deployment's template: the current one; were there several, the oldest.
 */
#include "deployment/deployment.h"

#include "common/adoption.h"
#include "common/indexes.h"
#include "common/template.h"

int32_t kc__wanted(const kc__rollout *r)
{
    return r->d->spec.replicas ? *r->d->spec.replicas : 1;
}

int kc__by_age(const void *a, const void *b)
{
    const kc_object_meta *x = &(*(kc_replica_set *const *)a)->metadata;
    const kc_object_meta *y = &(*(kc_replica_set *const *)b)->metadata;
    if (x->creation_timestamp.at != y->creation_timestamp.at)
        return x->creation_timestamp.at < y->creation_timestamp.at ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* ---- sums ---- */

int32_t kc__sum_of_sizes(const kc__sets *sets)
{
    int32_t sum = 0;
    kc_vec_each (sets, set)
        sum += kc__size(*set);
    return sum;
}

int32_t kc__sum_of(const kc__rollout *r, int32_t (*what)(const kc_replica_set *set))
{
    int32_t sum = 0;
    kc_vec_each (&r->sets, set)
        sum += what(*set);
    return sum;
}

kc__sets kc__active(const kc__rollout *r, bool with_current)
{
    kc__sets active = {0};
    kc_vec_each (&r->old, set)
        if (kc__size(*set) > 0)
            kc_vec_push(&active, *set);
    if (with_current && r->current && kc__size(r->current) > 0)
        kc_vec_push(&active, r->current);
    return active;
}

/* ---- finding ---- */

static int claim_at(kc__rollout *r, kc__claims *claims, const char *value, kc_error *err)
{
    kc_scoped(kc_objects) list = {0};
    const kc_list_opts which = {.index = KC__BY_CONTROLLER, .value = value};
    if (kc_client_list(r->ctx->client, &kc_kind_replica_set, &which, &list, err) < 0)
        return -1;
    for (size_t i = 0; i < list.n; i++) {
        bool ours = false;
        if (kc__claim(claims, &kc_kind_replica_set, list.items[i], &ours, err) < 0)
            return -1;
        kc_replica_set *set = ours ? kc_replica_set_of(list.items[i], err) : NULL;
        if (ours && !set)
            return -1;
        if (set)
            kc_vec_push(&r->sets, set);
    }
    return 0;
}

static int claim_all(kc__rollout *r, kc_error *err)
{
    kc_scoped(kc_buf) orphans = {0};
    kc_scoped(kc__claims) claims = {.client = r->ctx->client,
                                    .owner = r->d->metadata.origin,
                                    .owner_kind = &kc_kind_deployment,
                                    .selector = r->selector};
    kc_buf_printf(&orphans, "%s%s", KC__ORPHANS_OF, r->d->metadata.ns);
    if (claim_at(r, &claims, r->d->metadata.uid, err) < 0)
        return -1;
    return claim_at(r, &claims, kc_buf_cstr(&orphans), err);
}

static bool is_of_template(const kc__rollout *r, const kc_replica_set *set)
{
    kc_autofree char *text = kc__template_text(kc_cstr(set->spec.template.json));
    return strcmp(text, r->template) == 0;
}

int kc__find_sets(kc__rollout *r, kc_error *err)
{
    if (claim_all(r, err) < 0)
        return -1;
    kc_vec_sort(&r->sets, kc__by_age);
    kc_vec_each (&r->sets, set) {
        if (!r->current && is_of_template(r, *set))
            r->current = *set;
        else
            kc_vec_push(&r->old, *set);
    }
    return 0;
}

void kc__add_current(kc__rollout *r, kc_replica_set *set)
{
    kc_vec_push(&r->sets, set);
    r->current = set;
}
