/* SPDX-License-Identifier: Apache-2.0 */
/*
 * orphans.c: pods of nodes that do not exist. Nobody is there to run or to end them, so they are
 * marked as failed and deleted at once.
 *
 * Keys are the names of nodes: of each that comes or goes, and of each that a pod is bound to. A
 * node that is not in the cache is in quarantine for forty seconds, in which it may appear, or be
 * made again; after that the server is asked, for a cache may be late. So what a change costs does
 * not depend on how many pods there are, and a node that is there costs a look into the cache.
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

/* ---- quarantine ---- */

/* How long it has been missing, from the first time this was asked. */
static int64_t missing_for(kc__collector *c, kc_str node, int64_t now)
{
    int64_t since = now;
    kc_locked (&c->mutex) {
        kc__missing *m = kc_map_get(&c->missing, node);
        if (!m) {
            m = kc_new(kc__missing);
            *m = (kc__missing){kc_str_dup(node), now};
            kc_map_put(&c->missing, kc_cstr(m->node), m);
        }
        since = m->since;
    }
    return now - since;
}

static void missing_free(kc__missing *m)
{
    if (!m)
        return;
    free(m->node);
    free(m);
}

static void not_missing(kc__collector *c, kc_str node)
{
    kc__missing *m = NULL;
    kc_locked (&c->mutex)
        m = kc_map_remove(&c->missing, node);
    missing_free(m);
}

void kc__forget_missing(void *collector)
{
    kc__collector *c = collector;
    kc_map_each (&c->missing, entry)
        missing_free(entry->value);
    kc_map_done(&c->missing);
    c->missing = (kc_map){0};
}

/* ---- one node ---- */

static kc_result reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc__collector *c = ctx->user;
    const kc_str node = request->key.name;
    if (node_exists(ctx, request->key, NULL, err)) {
        not_missing(c, node);
        return kc_done();
    }
    const int64_t left = QUARANTINE - missing_for(c, node, kc_clock_now(ctx->clock));
    if (left > 0)
        return kc_is_not_found(err) ? kc_again_after(left) : kc_retry(err);
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
    return kc_str_eq(kc_as_str(kc_dig(kc_view_root(a), "spec.nodeName")),
                     kc_as_str(kc_dig(kc_view_root(b), "spec.nodeName")));
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

int kc__orphans_setup(kc_manager *manager, kc__collector *collector, int workers, kc_error *err)
{
    kc_controller *made = kc_controller_new(
        manager,
        &(kc_controller_opts){
            .name = "orphaned_pods_nodes",
            .watches = KC_WATCHES(
                {.kind = &kc_kind_pod,
                 .map = kc__node_of_pod,
                 .predicate = kc_predicate_new(is_new_there, NULL)},
                {.kind = &kc_kind_node, .predicate = kc_predicate_new(comes_or_goes, NULL)}),
            .begin = kc__forget_missing,
            .reconcile = reconcile,
            .user = collector,
            .workers = workers,
        },
        err);
    return made ? 0 : -1;
}
