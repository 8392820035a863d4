/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_watch.c: what informers tell, into the table of nodes: nodes, their leases, and pods that
 * come to a node. A source of its own, not watches of the controller, because most of what happens
 * to a node is a heartbeat, which is worth a note and no key.
 */
#include "nodelifecycle/lifecycle.h"

#include "kc/kinds.h"
#include "kc/view.h"

#define LEASES "kube-node-lease"

static void node_came(const kc_change *change, void *user)
{
    kc__lifecycle *l = user;
    kc__nodes_see(&l->nodes, change->object);
}

static void node_gone(const kc_change *change, void *user)
{
    kc__lifecycle *l = user;
    const kc_str name = kc_object_name(change->object);
    kc__nodes_gone(&l->nodes, name);
    kc_event(l->recorder, change->object, KC_NORMAL, "RemovingNode",
             "Node %.*s event: Removing Node %.*s from Controller", KC_ARG(name), KC_ARG(name));
}

static void nodes_came(void *user)
{
    kc__lifecycle *l = user;
    kc__nodes_complete(&l->nodes);
}

static bool is_of_node(const kc_change *change)
{
    return kc_str_is(kc_object_namespace(change->object), LEASES);
}

static void lease_came(const kc_change *change, void *user)
{
    kc__lifecycle *l = user;
    if (is_of_node(change))
        kc__nodes_renewed(&l->nodes, change->object);
}

static void lease_gone(const kc_change *change, void *user)
{
    kc__lifecycle *l = user;
    if (is_of_node(change))
        kc__nodes_lease_gone(&l->nodes, kc_object_name(change->object));
}

static void pod_came(const kc_change *change, void *user)
{
    kc__lifecycle *l = user;
    kc_auto(kc_view) *now = kc_view_of(change->object);
    kc_auto(kc_view) *old = change->old ? kc_view_of(change->old) : NULL;
    const kc_str node = kc_as_str(kc_dig(kc_view_root(now), "spec.nodeName"));
    if (node.n && !(old && kc_str_eq(node, kc_as_str(kc_dig(kc_view_root(old), "spec.nodeName")))))
        kc__nodes_pod_came(&l->nodes, node);
}

/* The order matters in one way: leases before nodes spares new nodes a second look. */
static const struct {
    const kc_kind *kind;
    kc_listener_ops ops;
} watched[] = {
    {&kc_kind_lease, {.added = lease_came, .updated = lease_came, .deleted = lease_gone}},
    {&kc_kind_pod, {.added = pod_came, .updated = pod_came}},
    {&kc_kind_node,
     {.added = node_came, .updated = node_came, .deleted = node_gone, .synced = nodes_came}},
};

static void stop(void *state)
{
    kc__lifecycle *l = state;
    for (size_t i = 0; i < KC_COUNT(watched); i++) {
        l->listeners[i] = kc_listener_remove(l->listeners[i]);
        l->informers[i] = kc_informer_release(l->informers[i]);
    }
    kc__nodes_run(&l->nodes, NULL);
}

static int start(void *state, kc_queue *queue, kc_error *err)
{
    kc__lifecycle *l = state;
    kc__nodes_run(&l->nodes, queue);
    for (size_t i = 0; i < KC_COUNT(watched); i++) {
        l->informers[i] = kc_cache_informer(l->cache, watched[i].kind, err);
        if (!l->informers[i]) {
            stop(l);
            return -1;
        }
        l->listeners[i] = kc_informer_listen(l->informers[i], &watched[i].ops, l, 0);
    }
    return 0;
}

static bool wait_synced(void *state, int64_t deadline, kc_cancel *cancel, kc_error *err)
{
    kc__lifecycle *l = state;
    for (size_t i = 0; i < KC_COUNT(watched); i++)
        if (!kc_informer_wait_synced(l->informers[i], deadline, cancel)) {
            kc_error_set(err, KC_TIMEOUT, "the cache of %s did not sync in time",
                         watched[i].kind->kind);
            return false;
        }
    return true;
}

kc_source *kc__node_watch(kc__lifecycle *lifecycle)
{
    static const kc_source_ops ops = {start, wait_synced, stop, NULL};
    return kc_source_new(&ops, lifecycle);
}
