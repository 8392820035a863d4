/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_watch.c: passes informer events of nodes, leases and assigned pods to the table of nodes.
 * This is a source of its own and not a watch spec of the controller, because most changes of a
 * node are heartbeats, which update the table and queue no key.
 */
#include "nodelifecycle/lifecycle.h"

#include "kc/kinds.h"
#include "kc/view.h"

#define LEASES "kube-node-lease"

static void node_changed(const kc_change *change, void *user)
{
    kc__lifecycle_controller *l = user;
    kc__lifecycle_nodes_observe(&l->nodes, change->object);
}

static void node_gone(const kc_change *change, void *user)
{
    kc__lifecycle_controller *l = user;
    const kc_str name = kc_object_name(change->object);
    kc__lifecycle_nodes_remove(&l->nodes, name);
    kc_recorder_event(l->recorder, change->object, KC_EVENT_TYPE_NORMAL, "RemovingNode",
                      "Node %.*s event: Removing Node %.*s from Controller", KC_ARG(name),
                      KC_ARG(name));
}

static void nodes_synced(void *user)
{
    kc__lifecycle_controller *l = user;
    kc__lifecycle_nodes_complete(&l->nodes);
}

static bool is_of_node(const kc_change *change)
{
    return kc_str_is(kc_object_namespace(change->object), LEASES);
}

static void lease_changed(const kc_change *change, void *user)
{
    kc__lifecycle_controller *l = user;
    if (is_of_node(change))
        kc__lifecycle_nodes_renewed(&l->nodes, change->object);
}

static void lease_gone(const kc_change *change, void *user)
{
    kc__lifecycle_controller *l = user;
    if (is_of_node(change))
        kc__lifecycle_nodes_lease_removed(&l->nodes, kc_object_name(change->object));
}

static void pod_changed(const kc_change *change, void *user)
{
    kc__lifecycle_controller *l = user;
    kc_auto(kc_view) *now = kc_view_of(change->object);
    kc_auto(kc_view) *old = change->old ? kc_view_of(change->old) : NULL;
    const kc_str node = kc_value_as_str(kc_value_nested(kc_view_root(now), "spec.nodeName"));
    if (node.n && !(old && kc_str_eq(node, kc_value_as_str(kc_value_nested(kc_view_root(old),
                                                                           "spec.nodeName")))))
        kc__lifecycle_nodes_add_pod(&l->nodes, node);
}

/* Leases before nodes: new nodes then need no second reconcile. */
static const struct {
    const kc_kind *kind;
    kc_event_handler_ops ops;
} watched[] = {
    {&kc_kind_lease, {.added = lease_changed, .updated = lease_changed, .deleted = lease_gone}},
    {&kc_kind_pod, {.added = pod_changed, .updated = pod_changed}},
    {&kc_kind_node,
     {.added = node_changed,
      .updated = node_changed,
      .deleted = node_gone,
      .synced = nodes_synced}},
};

static void lifecycle_watch_stop(void *state)
{
    kc__lifecycle_controller *l = state;
    for (size_t i = 0; i < KC_COUNT(watched); i++) {
        l->listeners[i] = kc_event_handler_remove(l->listeners[i]);
        l->informers[i] = kc_informer_release(l->informers[i]);
    }
    kc__lifecycle_nodes_run(&l->nodes, NULL);
}

static int lifecycle_watch_start(void *state, kc_queue *queue, kc_error *err)
{
    kc__lifecycle_controller *l = state;
    kc__lifecycle_nodes_run(&l->nodes, queue);
    for (size_t i = 0; i < KC_COUNT(watched); i++) {
        l->informers[i] = kc_cache_informer(l->cache, watched[i].kind, err);
        if (!l->informers[i]) {
            lifecycle_watch_stop(l);
            return kc_error_result(err);
        }
        l->listeners[i] = kc_informer_add_handler(l->informers[i], &watched[i].ops, l, 0);
    }
    return 0;
}

static bool wait_synced(void *state, int64_t deadline, kc_cancel *cancel, kc_error *err)
{
    kc__lifecycle_controller *l = state;
    for (size_t i = 0; i < KC_COUNT(watched); i++)
        if (!kc_informer_wait_synced(l->informers[i], deadline, cancel)) {
            kc_error_set(err, KC_TIMEOUT, "timed out waiting for the cache of %s to sync",
                         watched[i].kind->kind);
            return false;
        }
    return true;
}

kc_source *kc__lifecycle_node_watch(kc__lifecycle_controller *lifecycle)
{
    static const kc_source_ops ops = {lifecycle_watch_start, wait_synced, lifecycle_watch_stop,
                                      NULL};
    return kc_source_new(&ops, lifecycle);
}
