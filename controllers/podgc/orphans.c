/* SPDX-License-Identifier: Apache-2.0 */
/*
 * orphans.c: deletes pods of nodes that do not exist. No kubelet is left to run or stop them, so
 * their phase becomes Failed and they are deleted with grace period 0.
 *
 * Keys are names of nodes: of each node that is added or deleted, and of each node that a pod is
 * bound to. A node that is not in the cache is in quarantine for forty seconds, in which it may be
 * created again; then the controller reads the server, because the cache may be stale. So the cost
 * of a change does not depend on the number of pods, and an existing node costs one cache lookup.
 */
#include "podgc/collector.h"

#include "common/indexes.h"
#include "internal.h"

#include "kc/kinds.h"
#include "kc/log.h"
#include "kc/view.h"

#define QUARANTINE (40 * KC_SECOND)

static bool node_exists(kc_context *ctx, kc_key node, const kc_get_opts *how, kc_error *err)
{
    kc_auto(kc_object) *found = kc_client_get(ctx->client, &kc_kind_node, node, how, err);
    return found;
}

static int collect_all(kc_context *ctx, kc_str node, kc_error *err)
{
    static const kc__common_disruption gone = {.reason = "DeletionByPodGC",
                                               .message = "PodGC: node no longer exists",
                                               .fail = true,
                                               .immediately = true};
    kc_autofree char *name = kc_str_dup(node);
    kc_scoped(kc_object_list) pods = {0};
    if (kc_cache_list(ctx->cache, &kc_kind_pod,
                      &(kc_list_opts){.index = KC__COMMON_INDEX_NODE, .value = name}, &pods,
                      err) < 0)
        return kc_error_result(err);
    int result = 0;
    for (size_t i = 0; i < pods.n; i++)
        if (kc__podgc_collect(ctx, ctx->user, pods.items[i], "orphaned", &gone, err) < 0)
            result = kc_error_result(err);
    return result;
}

/* ---- quarantine ---- */

/* How long the node has been missing, since the first call for it. */
static int64_t missing_for(kc__podgc_collector *c, kc_str node, int64_t now)
{
    int64_t since = now;
    kc_locked (&c->mutex) {
        kc__podgc_missing_node *m = kc_map_get(&c->missing, node);
        if (!m) {
            m = kc_new(kc__podgc_missing_node);
            *m = (kc__podgc_missing_node){kc_str_dup(node), now};
            kc_map_put(&c->missing, kc_cstr(m->node), m);
        }
        since = m->since;
    }
    return now - since;
}

static void missing_free(kc__podgc_missing_node *m)
{
    if (!m)
        return;
    free(m->node);
    free(m);
}

static void not_missing(kc__podgc_collector *c, kc_str node)
{
    kc__podgc_missing_node *m = NULL;
    kc_locked (&c->mutex)
        m = kc_map_remove(&c->missing, node);
    missing_free(m);
}

void kc__podgc_forget_missing(void *collector)
{
    kc__podgc_collector *c = collector;
    kc_map_each (&c->missing, entry)
        missing_free(entry->value);
    kc_map_done(&c->missing);
    c->missing = (kc_map){0};
}

/* ---- one node ---- */

static kc_result podgc_orphans_reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc__podgc_collector *c = ctx->user;
    const kc_str node = request->key.name;
    if (node_exists(ctx, request->key, NULL, err)) {
        not_missing(c, node);
        return kc_done();
    }
    const int64_t left = QUARANTINE - missing_for(c, node, kc_clock_now(ctx->clock));
    if (left > 0)
        return kc_is_not_found(err) ? kc_requeue_after(left) : kc_retry(err);
    if (!node_exists(ctx, request->key, &(kc_get_opts){.metadata_only = true, .live = true}, err)) {
        if (kc_ignore_not_found(err) < 0 || collect_all(ctx, node, err) < 0)
            return kc_retry(err);
    }
    not_missing(c, node);
    return kc_done();
}

/* ---- keys ---- */

static bool is_bound_to(const kc_object *pod, const kc_object *other)
{
    kc_auto(kc_view) *a = kc_view_of(pod), *b = kc_view_of(other);
    return kc_str_eq(kc_value_as_str(kc_value_nested(kc_view_root(a), "spec.nodeName")),
                     kc_value_as_str(kc_value_nested(kc_view_root(b), "spec.nodeName")));
}

static bool is_new_there(kc_change_type type, const kc_change *change, void *user)
{
    (void)user;
    return type == KC_CHANGE_CREATE ||
           (type == KC_CHANGE_UPDATE && !is_bound_to(change->old, change->object));
}

static bool comes_or_goes(kc_change_type type, const kc_change *change, void *user)
{
    (void)change;
    (void)user;
    return type != KC_CHANGE_UPDATE;
}

int kc__podgc_orphans_setup(kc_manager *manager, kc__podgc_collector *collector,
                            const kc_controllers_opts *opts, kc_error *err)
{
    kc_controller *made = kc_controller_new(
        manager,
        &(kc_controller_opts){
            .name = "orphaned_pods_nodes",
            .field_manager = KC__CONTROLLERS_MANAGER,
            .watches = KC_WATCHES(
                {.kind = &kc_kind_pod,
                 .map = kc__common_node_of_pod,
                 .predicate = kc_predicate_new(is_new_there, NULL)},
                {.kind = &kc_kind_node, .predicate = kc_predicate_new(comes_or_goes, NULL)}),
            .on_start = kc__podgc_forget_missing,
            .reconcile = podgc_orphans_reconcile,
            .user = collector,
            .act_as = kc__common_identity(opts, KC__COMMON_POD_COLLECTOR),
            .workers = opts->workers,
        },
        err);
    return made ? 0 : kc_error_result(err);
}
