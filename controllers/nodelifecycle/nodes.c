/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.c: the table of nodes. See nodes.h.
 *
 * A node is alive as long as its heartbeats change: the time in its Ready condition or the renew
 * time of its lease. These times are compared only with their previous values, never with a clock;
 * the time between changes is measured here. So the clocks of nodes may be wrong.
 *
 * A lease may be known before its node and outlive it: an entry exists while there is either. An
 * older observation never replaces a newer one: the controller's own writes are recorded when the
 * server responds, before the watch delivers them.
 */
#include "nodelifecycle/nodes.h"

#include "kc/kinds.h"
#include "kc/meta.h"
#include "kc/time.h"
#include "kc/view.h"

/* For a node whose kubelet has not posted a status yet. */
#define STARTUP_GRACE KC_MINUTE
#define EXCLUDED      "node.kubernetes.io/exclude-disruption"

void kc__lifecycle_nodes_init(kc__lifecycle_nodes *nodes, const kc_clock *clock, kc_log *log,
                              int64_t grace)
{
    *nodes = (kc__lifecycle_nodes){.clock = clock, .log = log, .grace = grace};
    kc_mutex_init(&nodes->mutex);
}

static void node_free(kc__lifecycle_node *node)
{
    free(node->name);
    free(node);
}

/* The caller holds the mutex or has exclusive access. */
static void forget_all(kc__lifecycle_nodes *nodes)
{
    kc_map_each (&nodes->by_name, entry)
        node_free(entry->value);
    kc_map_each (&nodes->zones, entry)
        kc__lifecycle_zone_free(entry->value);
    kc_map_done(&nodes->by_name);
    kc_map_done(&nodes->zones);
    nodes->by_name = nodes->zones = (kc_map){0};
    nodes->populated = nodes->disrupted = 0;
    nodes->complete = nodes->stopped = false;
}

void kc__lifecycle_nodes_done(kc__lifecycle_nodes *nodes)
{
    forget_all(nodes);
    kc_mutex_done(&nodes->mutex);
}

void kc__lifecycle_nodes_run(kc__lifecycle_nodes *nodes, kc_queue *queue)
{
    kc_locked (&nodes->mutex) {
        if (!queue)
            forget_all(nodes);
        nodes->queue = queue;
    }
}

static kc__lifecycle_node *lifecycle_nodes_find(kc__lifecycle_nodes *nodes, kc_str name)
{
    return kc_map_get(&nodes->by_name, name);
}

static kc__lifecycle_node *need(kc__lifecycle_nodes *nodes, kc_str name)
{
    kc__lifecycle_node *node = lifecycle_nodes_find(nodes, name);
    if (node)
        return node;
    node = kc_new(kc__lifecycle_node);
    node->name = kc_str_dup(name);
    node->probe = kc_clock_now(nodes->clock);
    kc_map_put(&nodes->by_name, kc_cstr(node->name), node);
    return node;
}

static void drop_if_empty(kc__lifecycle_nodes *nodes, kc__lifecycle_node *node)
{
    if (node->seen || node->renewal)
        return;
    kc_map_remove(&nodes->by_name, kc_cstr(node->name));
    node_free(node);
}

/* ---- the content of a node ---- */

typedef struct lifecycle_nodes_said {
    kc__lifecycle_ready_state ready;
    uint64_t heartbeat, print;
    bool excluded;
} lifecycle_nodes_said;

static kc__lifecycle_ready_state ready_from(kc_str status)
{
    return kc_str_is(status, "True")    ? KC__LIFECYCLE_READY_TRUE
           : kc_str_is(status, "False") ? KC__LIFECYCLE_READY_FALSE
                                        : KC__LIFECYCLE_READY_UNKNOWN;
}

static uint64_t hash_members(const kc_value *object, uint64_t hash)
{
    kc_value_each_member (object, name, value) {
        hash = kc_str_hash(name, hash);
        hash = kc_str_hash(kc_value_as_str(value), hash);
    }
    return hash;
}

/* The fingerprint covers every field that a reconcile reads. */
static lifecycle_nodes_said read_node(const kc_object *node)
{
    lifecycle_nodes_said s = {.excluded = kc_object_has_label(node, KC_STR(EXCLUDED))};
    kc_auto(kc_view) *view = kc_view_of(node);
    const kc_value *root = kc_view_root(view), *spec = kc_value_get(root, "spec");
    kc_value_each_item (kc_value_nested(root, "status.conditions"), c) {
        const kc_str type = kc_value_as_str(kc_value_get(c, "type")),
                     status = kc_value_as_str(kc_value_get(c, "status"));
        s.print = kc_str_hash(status, kc_str_hash(type, s.print));
        if (!kc_str_is(type, "Ready"))
            continue;
        s.ready = ready_from(status);
        s.heartbeat = kc_str_hash(kc_value_as_str(kc_value_get(c, "lastHeartbeatTime")), 1);
    }
    kc_value_each_item (kc_value_get(spec, "taints"), taint)
        s.print = hash_members(taint, s.print);
    s.print = kc_str_hash(kc_object_labels_json(node), s.print) +
              kc_value_as_bool(kc_value_get(spec, "unschedulable"), false);
    return s;
}

/* ---- observing nodes ---- */

/* A node without a heartbeat counts from its creation. */
static int64_t first_probe(const kc__lifecycle_nodes *nodes, const kc_object *object,
                           const lifecycle_nodes_said *s)
{
    kc_time created = 0;
    const int64_t now = kc_clock_now(nodes->clock), wall = kc_clock_wall(nodes->clock);
    if (s->ready != KC__LIFECYCLE_READY_ABSENT ||
        kc_time_parse(kc_object_creation_timestamp(object), &created, NULL) < 0)
        return now;
    return now - KC_MAX(0, wall - created);
}

static void meet(kc__lifecycle_nodes *nodes, kc__lifecycle_node *node, const kc_object *object,
                 const lifecycle_nodes_said *s)
{
    node->seen = node->is_new = true;
    if (!node->renewal)
        node->probe = first_probe(nodes, object, s);
    node->pods_pending =
        s->ready == KC__LIFECYCLE_READY_FALSE || s->ready == KC__LIFECYCLE_READY_UNKNOWN;
}

static void note_changes(kc__lifecycle_nodes *nodes, kc__lifecycle_node *node,
                         const lifecycle_nodes_said *s)
{
    if (node->heartbeat != s->heartbeat)
        node->probe = kc_clock_now(nodes->clock);
    if (node->ready == KC__LIFECYCLE_READY_TRUE && s->ready != KC__LIFECYCLE_READY_TRUE)
        node->went_down = node->pods_pending = true;
    if (s->ready == KC__LIFECYCLE_READY_TRUE)
        node->went_down = node->pods_pending = false;
}

/* Moves the node to its new zone; nearly always the zone is unchanged. */
static void move(kc__lifecycle_nodes *nodes, kc__lifecycle_node *node, kc__lifecycle_zone *zone,
                 const lifecycle_nodes_said *s)
{
    kc__lifecycle_zone *old = node->zone;
    if (old)
        kc__lifecycle_zone_count(node, -1);
    if (old && old != zone)
        kc__lifecycle_zone_leave(nodes, node);
    node->zone = zone;
    node->excluded = s->excluded;
    node->ready = s->ready;
    kc__lifecycle_zone_count(node, 1);
    if (old && old != zone)
        kc__lifecycle_zone_evaluate(nodes, old);
    kc__lifecycle_zone_evaluate(nodes, zone);
}

void kc__lifecycle_nodes_observe(kc__lifecycle_nodes *nodes, const kc_object *object)
{
    const lifecycle_nodes_said s = read_node(object);
    const uint64_t revision = kc_object_revision(object);
    kc_locked (&nodes->mutex) {
        kc__lifecycle_node *node = need(nodes, kc_object_name(object));
        if (node->seen && revision < node->revision)
            break;
        const bool changed = !node->seen || node->print != s.print;
        if (node->seen)
            note_changes(nodes, node, &s);
        else
            meet(nodes, node, object, &s);
        node->revision = revision;
        node->print = s.print;
        node->heartbeat = s.heartbeat;
        move(nodes, node, kc__lifecycle_zone_of(nodes, object), &s);
        if (changed)
            kc__lifecycle_nodes_add_key(nodes, node, 0);
    }
}

void kc__lifecycle_nodes_remove(kc__lifecycle_nodes *nodes, kc_str name)
{
    kc_locked (&nodes->mutex) {
        kc__lifecycle_node *node = lifecycle_nodes_find(nodes, name);
        if (!node || !node->seen)
            break;
        kc__lifecycle_zone *zone = node->zone;
        kc__lifecycle_zone_leave(nodes, node);
        kc__lifecycle_zone_count(node, -1);
        kc__lifecycle_node empty = {
            .name = node->name, .renewal = node->renewal, .probe = node->probe};
        *node = empty;
        kc__lifecycle_zone_evaluate(nodes, zone);
        drop_if_empty(nodes, node);
    }
}

void kc__lifecycle_nodes_complete(kc__lifecycle_nodes *nodes)
{
    kc_locked (&nodes->mutex)
        kc__lifecycle_zones_begin(nodes);
}

/* ---- leases ---- */

void kc__lifecycle_nodes_renewed(kc__lifecycle_nodes *nodes, const kc_object *lease)
{
    kc_auto(kc_view) *view = kc_view_of(lease);
    const kc_str time = kc_value_as_str(kc_value_nested(kc_view_root(view), "spec.renewTime"));
    const uint64_t renewal = kc_str_hash(time, 1) | 1; /* 0 means no lease. */
    kc_locked (&nodes->mutex) {
        kc__lifecycle_node *node = need(nodes, kc_object_name(lease));
        if (node->renewal != renewal)
            node->probe = kc_clock_now(nodes->clock);
        node->renewal = renewal;
    }
}

void kc__lifecycle_nodes_lease_removed(kc__lifecycle_nodes *nodes, kc_str name)
{
    kc_locked (&nodes->mutex) {
        kc__lifecycle_node *node = lifecycle_nodes_find(nodes, name);
        if (!node)
            break;
        node->renewal = 0;
        drop_if_empty(nodes, node);
    }
}

/* ---- pods ---- */

void kc__lifecycle_nodes_add_pod(kc__lifecycle_nodes *nodes, kc_str name)
{
    kc_locked (&nodes->mutex) {
        kc__lifecycle_node *node = lifecycle_nodes_find(nodes, name);
        if (!node || (node->ready != KC__LIFECYCLE_READY_FALSE &&
                      node->ready != KC__LIFECYCLE_READY_UNKNOWN))
            break;
        node->pods_pending = true;
        kc__lifecycle_nodes_add_key(nodes, node, 0);
    }
}

void kc__lifecycle_nodes_redo_pods(kc__lifecycle_nodes *nodes, kc_str name)
{
    kc_locked (&nodes->mutex) {
        kc__lifecycle_node *node = lifecycle_nodes_find(nodes, name);
        if (node && node->ready != KC__LIFECYCLE_READY_TRUE)
            node->pods_pending = true;
    }
}

/* ---- reading ---- */

bool kc__lifecycle_nodes_check(kc__lifecycle_nodes *nodes, kc_str name,
                               kc__lifecycle_node_change *ret)
{
    bool found = false;
    kc_locked (&nodes->mutex) {
        kc__lifecycle_node *node = lifecycle_nodes_find(nodes, name);
        found = node && node->seen;
        if (!found)
            break;
        const int64_t grace =
            node->ready == KC__LIFECYCLE_READY_ABSENT ? STARTUP_GRACE : nodes->grace;
        *ret = (kc__lifecycle_node_change){
            .left = node->probe + grace - kc_clock_now(nodes->clock),
            .is_new = node->is_new,
            .went_down = node->went_down,
            .pods_pending = node->pods_pending,
        };
        node->is_new = node->went_down = node->pods_pending = false;
    }
    return found;
}

kc__lifecycle_may_evict kc__lifecycle_nodes_may_evict(kc__lifecycle_nodes *nodes, kc_str name,
                                                      bool has)
{
    kc__lifecycle_may_evict result = KC__LIFECYCLE_EVICT_NOT_YET;
    kc_locked (&nodes->mutex) {
        kc__lifecycle_node *node = lifecycle_nodes_find(nodes, name);
        if (!node || !node->seen)
            break;
        if (nodes->stopped)
            result = KC__LIFECYCLE_EVICT_NEVER;
        else if (has || kc__lifecycle_zone_next(nodes, node))
            result = KC__LIFECYCLE_EVICT_NOW;
        if (has || nodes->stopped)
            kc__lifecycle_zone_leave(nodes, node);
    }
    return result;
}

void kc__lifecycle_nodes_leave_queue(kc__lifecycle_nodes *nodes, kc_str name)
{
    kc_locked (&nodes->mutex) {
        kc__lifecycle_node *node = lifecycle_nodes_find(nodes, name);
        if (node && node->seen)
            kc__lifecycle_zone_leave(nodes, node);
    }
}
