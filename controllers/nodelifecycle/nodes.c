/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.c: the table of nodes. See nodes.h.
 *
 * A node is alive as long as something of it changes: the time of its Ready condition's heartbeat,
 * or of its lease's renewal. What these say is never compared with a clock, only with what they
 * said before; how long that is ago is measured here. So the clocks of nodes may be wrong.
 *
 * A lease may be known before its node, and outlive it: an entry is kept while there is either.
 * What was seen is never replaced by something older: our own writes are seen when they are
 * answered, before the watch has come as far.
 */
#include "nodelifecycle/nodes.h"

#include "kc/kinds.h"
#include "kc/meta.h"
#include "kc/time.h"
#include "kc/view.h"

/* Of a node whose kubelet has said nothing yet. */
#define STARTUP_GRACE KC_MINUTE
#define EXCLUDED      "node.kubernetes.io/exclude-disruption"

void kc__nodes_init(kc__nodes *nodes, const kc_clock *clock, kc_log *log, int64_t grace)
{
    *nodes = (kc__nodes){.clock = clock, .log = log, .grace = grace};
    kc_mutex_init(&nodes->mutex);
}

static void node_free(kc__node *node)
{
    free(node->name);
    free(node);
}

/* With the mutex held, or nobody else there. */
static void forget_all(kc__nodes *nodes)
{
    kc_map_each (&nodes->by_name, entry)
        node_free(entry->value);
    kc_map_each (&nodes->zones, entry)
        kc__zone_free(entry->value);
    kc_map_done(&nodes->by_name);
    kc_map_done(&nodes->zones);
    nodes->by_name = nodes->zones = (kc_map){0};
    nodes->inhabited = nodes->disrupted = 0;
    nodes->complete = nodes->stopped = false;
}

void kc__nodes_done(kc__nodes *nodes)
{
    forget_all(nodes);
    kc_mutex_done(&nodes->mutex);
}

void kc__nodes_run(kc__nodes *nodes, kc_queue *queue)
{
    kc_locked (&nodes->mutex) {
        if (!queue)
            forget_all(nodes);
        nodes->queue = queue;
    }
}

static kc__node *find(kc__nodes *nodes, kc_str name)
{
    return kc_map_get(&nodes->by_name, name);
}

static kc__node *need(kc__nodes *nodes, kc_str name)
{
    kc__node *node = find(nodes, name);
    if (node)
        return node;
    node = kc_new(kc__node);
    node->name = kc_str_dup(name);
    node->probe = kc_clock_now(nodes->clock);
    kc_map_put(&nodes->by_name, kc_cstr(node->name), node);
    return node;
}

static void drop_if_empty(kc__nodes *nodes, kc__node *node)
{
    if (node->seen || node->renewal)
        return;
    kc_map_remove(&nodes->by_name, kc_cstr(node->name));
    node_free(node);
}

/* ---- what a node says ---- */

typedef struct said {
    kc__ready ready;
    uint64_t heartbeat, print;
    bool excluded;
} said;

static kc__ready ready_from(kc_str status)
{
    return kc_str_is(status, "True")    ? KC__READY_TRUE
           : kc_str_is(status, "False") ? KC__READY_FALSE
                                        : KC__READY_UNKNOWN;
}

static uint64_t hash_members(const kc_value *object, uint64_t hash)
{
    kc_members (object, name, value) {
        hash = kc_str_hash(name, hash);
        hash = kc_str_hash(kc_as_str(value), hash);
    }
    return hash;
}

/* Whatever a reconcile looks at goes into the print. */
static said read_node(const kc_object *node)
{
    said s = {.excluded = kc_object_has_label(node, KC_STR(EXCLUDED))};
    kc_auto(kc_view) *view = kc_view_of(node);
    const kc_value *root = kc_view_root(view), *spec = kc_get(root, "spec");
    kc_items (kc_dig(root, "status.conditions"), c) {
        const kc_str type = kc_as_str(kc_get(c, "type")), status = kc_as_str(kc_get(c, "status"));
        s.print = kc_str_hash(status, kc_str_hash(type, s.print));
        if (!kc_str_is(type, "Ready"))
            continue;
        s.ready = ready_from(status);
        s.heartbeat = kc_str_hash(kc_as_str(kc_get(c, "lastHeartbeatTime")), 1);
    }
    kc_items (kc_get(spec, "taints"), taint)
        s.print = hash_members(taint, s.print);
    s.print = kc_str_hash(kc_object_labels_json(node), s.print) +
              kc_as_bool(kc_get(spec, "unschedulable"), false);
    return s;
}

/* ---- seeing one ---- */

/* A node that has said nothing is as old as it is. */
static int64_t first_probe(const kc__nodes *nodes, const kc_object *object, const said *s)
{
    kc_time created = 0;
    const int64_t now = kc_clock_now(nodes->clock), wall = kc_clock_wall(nodes->clock);
    if (s->ready != KC__READY_UNSAID ||
        kc_time_parse(kc_object_creation_timestamp(object), &created, NULL) < 0)
        return now;
    return now - KC_MAX(0, wall - created);
}

static void meet(kc__nodes *nodes, kc__node *node, const kc_object *object, const said *s)
{
    node->seen = node->is_new = true;
    if (!node->renewal)
        node->probe = first_probe(nodes, object, s);
    node->pods_pending = s->ready == KC__READY_FALSE || s->ready == KC__READY_UNKNOWN;
}

static void note_changes(kc__nodes *nodes, kc__node *node, const said *s)
{
    if (node->heartbeat != s->heartbeat)
        node->probe = kc_clock_now(nodes->clock);
    if (node->ready == KC__READY_TRUE && s->ready != KC__READY_TRUE)
        node->went_down = node->pods_pending = true;
    if (s->ready == KC__READY_TRUE)
        node->went_down = node->pods_pending = false;
}

/* Out of its old zone, into its new one; nearly always they are the same. */
static void move(kc__nodes *nodes, kc__node *node, kc__zone *zone, const said *s)
{
    kc__zone *old = node->zone;
    if (old)
        kc__zone_count(node, -1);
    if (old && old != zone)
        kc__zone_leave(nodes, node);
    node->zone = zone;
    node->excluded = s->excluded;
    node->ready = s->ready;
    kc__zone_count(node, 1);
    if (old && old != zone)
        kc__zone_judge(nodes, old);
    kc__zone_judge(nodes, zone);
}

void kc__nodes_see(kc__nodes *nodes, const kc_object *object)
{
    const said s = read_node(object);
    const uint64_t revision = kc_object_revision(object);
    kc_locked (&nodes->mutex) {
        kc__node *node = need(nodes, kc_object_name(object));
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
        move(nodes, node, kc__zone_of(nodes, object), &s);
        if (changed)
            kc__nodes_add_key(nodes, node, 0);
    }
}

void kc__nodes_gone(kc__nodes *nodes, kc_str name)
{
    kc_locked (&nodes->mutex) {
        kc__node *node = find(nodes, name);
        if (!node || !node->seen)
            break;
        kc__zone *zone = node->zone;
        kc__zone_leave(nodes, node);
        kc__zone_count(node, -1);
        kc__node empty = {.name = node->name, .renewal = node->renewal, .probe = node->probe};
        *node = empty;
        kc__zone_judge(nodes, zone);
        drop_if_empty(nodes, node);
    }
}

void kc__nodes_complete(kc__nodes *nodes)
{
    kc_locked (&nodes->mutex)
        kc__zones_begin(nodes);
}

/* ---- leases ---- */

void kc__nodes_renewed(kc__nodes *nodes, const kc_object *lease)
{
    kc_auto(kc_view) *view = kc_view_of(lease);
    const kc_str time = kc_as_str(kc_dig(kc_view_root(view), "spec.renewTime"));
    const uint64_t renewal = kc_str_hash(time, 1) | 1; /* 0 is for no lease. */
    kc_locked (&nodes->mutex) {
        kc__node *node = need(nodes, kc_object_name(lease));
        if (node->renewal != renewal)
            node->probe = kc_clock_now(nodes->clock);
        node->renewal = renewal;
    }
}

void kc__nodes_lease_gone(kc__nodes *nodes, kc_str name)
{
    kc_locked (&nodes->mutex) {
        kc__node *node = find(nodes, name);
        if (!node)
            break;
        node->renewal = 0;
        drop_if_empty(nodes, node);
    }
}

/* ---- pods ---- */

void kc__nodes_pod_came(kc__nodes *nodes, kc_str name)
{
    kc_locked (&nodes->mutex) {
        kc__node *node = find(nodes, name);
        if (!node || (node->ready != KC__READY_FALSE && node->ready != KC__READY_UNKNOWN))
            break;
        node->pods_pending = true;
        kc__nodes_add_key(nodes, node, 0);
    }
}

void kc__nodes_redo_pods(kc__nodes *nodes, kc_str name)
{
    kc_locked (&nodes->mutex) {
        kc__node *node = find(nodes, name);
        if (node && node->ready != KC__READY_TRUE)
            node->pods_pending = true;
    }
}

/* ---- looking ---- */

bool kc__nodes_look(kc__nodes *nodes, kc_str name, kc__node_news *ret)
{
    bool found = false;
    kc_locked (&nodes->mutex) {
        kc__node *node = find(nodes, name);
        found = node && node->seen;
        if (!found)
            break;
        const int64_t grace = node->ready == KC__READY_UNSAID ? STARTUP_GRACE : nodes->grace;
        *ret = (kc__node_news){
            .left = node->probe + grace - kc_clock_now(nodes->clock),
            .is_new = node->is_new,
            .went_down = node->went_down,
            .pods_pending = node->pods_pending,
        };
        node->is_new = node->went_down = node->pods_pending = false;
    }
    return found;
}

kc__may_evict kc__nodes_may_evict(kc__nodes *nodes, kc_str name, bool has)
{
    kc__may_evict answer = KC__EVICT_NOT_YET;
    kc_locked (&nodes->mutex) {
        kc__node *node = find(nodes, name);
        if (!node || !node->seen)
            break;
        if (nodes->stopped)
            answer = KC__EVICT_NEVER;
        else if (has || kc__zone_turn(nodes, node))
            answer = KC__EVICT_NOW;
        if (has || nodes->stopped)
            kc__zone_leave(nodes, node);
    }
    return answer;
}

void kc__nodes_leave_turn(kc__nodes *nodes, kc_str name)
{
    kc_locked (&nodes->mutex) {
        kc__node *node = find(nodes, name);
        if (node && node->seen)
            kc__zone_leave(nodes, node);
    }
}
