/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota_usage.c: recalculates the usage of a quota.
 *
 * The objects come from the server, not from the cache: a cache that has not seen an object yet
 * would free quota that is in use. The quota is read before the lists, and its status is written
 * only if it has not changed since: an object that was created meanwhile has charged the quota in
 * the same commit, so the write fails, and the usage is calculated again. Objects are streamed; one
 * at a time is in memory. Of resources whose objects are only counted, the server sends metadata.
 */
#include "resourcequota/quota_controller.h"

/* The sum of one resource. */
typedef struct usage_sum {
    const kc_quota_resource *resource;
    const kc_value *quota;
    const kc_quota_amounts *names; /* Those that the resource tracks. */
    kc_time now;
    kc_quota_amounts *sum;
} usage_sum;

static int add_object_usage(kc_object *object, void *user, kc_error *err)
{
    const usage_sum *s = user;
    kc_auto(kc_object) *held = object;
    kc_auto(kc_view) *view = kc_view_of(held);
    kc_scoped(kc_quota_amounts) usage = {0};
    kc_quota_amount amount;
    (void)err;
    if (!kc_quota_is_in_scopes(s->resource, s->quota, kc_view_root(view)))
        return 0;
    kc_quota_usage(s->resource, kc_view_root(view), s->now, &usage);
    kc_map_each (&s->names->summed, entry) {
        if (!kc_quota_amount_of(&usage, entry->key, &amount))
            continue;
        amount.text = kc_arena_str(&s->sum->arena, amount.text);
        kc_quota_amounts_add(s->sum, entry->key, &amount);
    }
    return 0;
}

/* The names in spec.hard that the resource tracks, each with 0. */
static void find_tracked(const kc_quota_resource *resource, const kc_value *quota,
                         kc_quota_amounts *ret)
{
    kc_value_each_member (kc_value_nested(quota, "spec.hard"), name, value) {
        (void)value;
        if (kc_quota_tracks(resource, name))
            kc_quota_amounts_set_count(ret, name, 0);
    }
}

static int add_resource(kc_client *client, const kc_kind *kind, const char *ns, usage_sum *s,
                        kc_error *err)
{
    const bool counted = !kc_quota_measures(s->resource);
    const kc_list_opts opts = {.ns = ns, .live = true, .metadata_only = counted};
    kc_quota_amounts_add_all(s->sum, s->names);
    if (counted && !kc_quota_is_in_scopes(s->resource, s->quota, NULL))
        return 0; /* A count of objects has no scopes. */
    return kc_client_list_each(client, kind, &opts, add_object_usage, s, NULL, err);
}

/* A resource to list: copied, because monitors may stop meanwhile. Kinds live as long as the
 * client. */
typedef struct listed_resource {
    const kc_kind *kind;
    kc_quota_resource resource;
} listed_resource;

typedef KC_VEC(listed_resource) listed_resources;

static void copy_resources(kc__rq *rq, listed_resources *ret)
{
    kc_locked (&rq->mutex)
        kc_vec_each (&rq->monitors, m)
            kc_vec_push(ret, (listed_resource){(*m)->kind, (*m)->resource});
}

int kc__rq_usage(kc__rq *rq, kc_client *client, kc_str ns, const kc_value *quota,
                 kc_quota_amounts *ret, kc_error *err)
{
    kc_autofree char *space = kc_str_dup(ns);
    listed_resources all = {0};
    int result = 0;
    copy_resources(rq, &all);
    for (size_t i = 0; i < all.n && result == 0; i++) {
        kc_scoped(kc_quota_amounts) names = {0};
        usage_sum s = {.resource = &all.items[i].resource,
                       .quota = quota,
                       .names = &names,
                       .now = kc_clock_wall(rq->clock),
                       .sum = ret};
        find_tracked(s.resource, quota, &names);
        if (names.summed.n && add_resource(client, all.items[i].kind, space, &s, err) < 0)
            result = kc_error_wrap(err, "list %s", all.items[i].kind->plural);
    }
    kc_vec_done(&all);
    return result;
}
