/* SPDX-License-Identifier: Apache-2.0 */
/*
 * orphans.c: pods of nodes that do not exist. Nobody is there to run or to end them, so they are
 * marked as failed and deleted at once.
 *
 * Keys are the names of nodes: of each that is deleted, and of each that a pod is bound to. A key
 * waits for forty seconds: a node that only is not in the cache yet has time to appear. After that
 * the server is asked, for a cache may be late. So what a change costs does not depend on how many
 * pods there are, and a node that is there costs a look into the cache.
 */
#include "podgc/collector.h"

#include "common/indexes.h"

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
    static const kc__disruption gone = {.reason = "DeletionByPodGC",
                                        .message = "PodGC: node no longer exists",
                                        .fail = true,
                                        .now = true};
    kc_autofree char *name = kc_str_dup(node);
    kc_scoped(kc_objects) pods = {0};
    if (kc_cache_list(ctx->cache, &kc_kind_pod,
                      &(kc_list_opts){.index = KC__BY_NODE, .value = name}, &pods, err) < 0)
        return -1;
    int result = 0;
    for (size_t i = 0; i < pods.n; i++)
        if (kc__collect(ctx, ctx->user, pods.items[i], "orphaned", &gone, err) < 0)
            result = -1;
    return result;
}

static kc_result reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    if (node_exists(ctx, request->key, NULL, err) ||
        node_exists(ctx, request->key, &(kc_get_opts){.metadata_only = true, .live = true}, err))
        return kc_done();
    if (!kc_is_not_found(err))
        return kc_retry(err);
    kc_error_done(err);
    return collect_all(ctx, request->key.name, err) < 0 ? kc_retry(err) : kc_done();
}

/* ---- keys ---- */

static void node_of(const kc_object *pod, kc_enqueuer *to, void *user)
{
    (void)user;
    kc_auto(kc_view) *view = kc_view_of(pod);
    const kc_str node = kc_as_str(kc_dig(kc_view_root(view), "spec.nodeName"));
    if (node.n)
        kc_enqueue(to, (kc_key){.name = node});
}

static bool is_bound_to(const kc_object *pod, const kc_object *other)
{
    kc_auto(kc_view) *a = kc_view_of(pod), *b = kc_view_of(other);
    return kc_str_eq(kc_as_str(kc_dig(kc_view_root(a), "spec.nodeName")),
                     kc_as_str(kc_dig(kc_view_root(b), "spec.nodeName")));
}

static bool is_new_there(kc_change_type type, const kc_change *change, void *user)
{
    (void)user;
    return type == KC_CHANGE_CREATE ||
           (type == KC_CHANGE_UPDATE && !is_bound_to(change->old, change->object));
}

static bool is_gone(kc_change_type type, const kc_change *change, void *user)
{
    (void)change;
    (void)user;
    return type == KC_CHANGE_DELETE;
}

int kc__orphans_setup(kc_manager *manager, kc__collector *collector, int workers, kc_error *err)
{
    kc_controller *made = kc_controller_new(
        manager,
        &(kc_controller_opts){
            .name = "orphaned_pods_nodes",
            .watches = KC_WATCHES({.kind = &kc_kind_pod,
                                   .map = node_of,
                                   .predicate = kc_predicate_new(is_new_there, NULL),
                                   .after = QUARANTINE},
                                  {.kind = &kc_kind_node,
                                   .predicate = kc_predicate_new(is_gone, NULL),
                                   .after = QUARANTINE}),
            .reconcile = reconcile,
            .user = collector,
            .workers = workers,
        },
        err);
    return made ? 0 : -1;
}
