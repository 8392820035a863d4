/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zones.c: the eviction rate of nodes that are not ready, by zone.
 *
 * To evict a node's pods, the node gets a NoExecute taint. Each zone allows one node every ten
 * seconds; the others queue. If most of a zone is down, its network is the likely cause, and moving
 * pods would only load the rest: then the rate is one node every hundred seconds, or, in a zone of
 * fifty nodes or less, none. If no node of any zone is ready, this process is probably
 * disconnected: evictions stop, NoExecute taints are removed, and when a node is heard of again,
 * all nodes get a full grace period. The numbers are those of Kubernetes.
 *
 *     state      rate         condition
 *     normal     0.1 / s
 *     partial    0.01 / s     more than 2 nodes and 55 % are not ready; 0 up to 50 nodes
 *     full       0.1 / s      no node is ready; 0 if all zones are full
 *
 * Counts are updated as nodes change, so a change costs O(1) for any number of nodes; only when all
 * evictions stop or resume is every node visited. All functions need the mutex of
 * kc__lifecycle_nodes.
 */
#include "nodelifecycle/nodes.h"

#include "kc/meta.h"

#define RATE           0.1
#define SECONDARY_RATE 0.01
#define UNHEALTHY      0.55
enum { LARGE = 50 };

/* ---- zone of a node ---- */

static kc_str lifecycle_zones_label_of(const kc_object *node, const char *older, const char *newer,
                                       kc_arena *arena)
{
    const kc_str value = kc_object_label(node, kc_cstr(older), arena);
    return value.p ? value : kc_object_label(node, kc_cstr(newer), arena);
}

static kc__lifecycle_zone *zone_new(kc__lifecycle_nodes *nodes, kc_str name)
{
    kc__lifecycle_zone *zone = kc_new(kc__lifecycle_zone);
    zone->name = kc_str_dup(name);
    zone->rate = RATE;
    kc_dlist_init(&zone->waiting);
    zone->size = kc_metric_gauge(nodes->size, name);
    zone->health = kc_metric_gauge(nodes->health, name);
    zone->unhealthy = kc_metric_gauge(nodes->unhealthy, name);
    zone->evictions = kc_metric_counter(nodes->evictions, name);
    kc_map_put(&nodes->zones, kc_cstr(zone->name), zone);
    return zone;
}

kc__lifecycle_zone *kc__lifecycle_zone_of(kc__lifecycle_nodes *nodes, const kc_object *node)
{
    kc_scoped(kc_arena) arena = {0};
    const kc_str region = lifecycle_zones_label_of(node, "failure-domain.beta.kubernetes.io/region",
                                                   "topology.kubernetes.io/region", &arena);
    const kc_str name = lifecycle_zones_label_of(node, "failure-domain.beta.kubernetes.io/zone",
                                                 "topology.kubernetes.io/zone", &arena);
    kc_scoped(kc_buf) text = {0};
    if (region.n || name.n)
        kc_buf_printf(&text, "%.*s::%.*s", KC_ARG(region), KC_ARG(name));
    kc__lifecycle_zone *zone = kc_map_get(&nodes->zones, kc_buf_str(&text));
    return zone ? zone : zone_new(nodes, kc_buf_str(&text));
}

void kc__lifecycle_zone_free(kc__lifecycle_zone *zone)
{
    free(zone->name);
    free(zone);
}

/* ---- counts ---- */

void kc__lifecycle_zone_count(const kc__lifecycle_node *node, int by)
{
    kc__lifecycle_zone *zone = node->zone;
    if (node->excluded)
        return;
    zone->n += (size_t)by;
    if (node->ready != KC__LIFECYCLE_READY_TRUE)
        zone->not_ready += (size_t)by;
}

static kc__lifecycle_zone_state lifecycle_zones_state_of(const kc__lifecycle_zone *zone)
{
    if (!zone->n)
        return KC__LIFECYCLE_ZONE_EMPTY;
    if (zone->not_ready == zone->n)
        return KC__LIFECYCLE_ZONE_FULL;
    const bool most = (double)zone->not_ready >= UNHEALTHY * (double)zone->n;
    return most && zone->not_ready > 2 ? KC__LIFECYCLE_ZONE_PARTIAL : KC__LIFECYCLE_ZONE_NORMAL;
}

static void lifecycle_zones_measure(const kc__lifecycle_zone *zone)
{
    const double n = (double)zone->n, bad = (double)zone->not_ready;
    kc_gauge_set(zone->size, n);
    kc_gauge_set(zone->unhealthy, bad);
    kc_gauge_set(zone->health, zone->n ? 100 * (n - bad) / n : 100);
}

/* ---- rate limit ---- */

void kc__lifecycle_nodes_add_key(kc__lifecycle_nodes *nodes, const kc__lifecycle_node *node,
                                 int64_t after)
{
    if (nodes->queue)
        kc_queue_add_after(nodes->queue, (kc_key){.name = kc_cstr(node->name)}, after);
}

static kc__lifecycle_node *first_in_line(const kc__lifecycle_zone *zone)
{
    kc_dlist_link *first = kc_dlist_first(&zone->waiting);
    return first ? kc_container_of(first, kc__lifecycle_node, turn) : NULL;
}

static void wake_first(kc__lifecycle_nodes *nodes, const kc__lifecycle_zone *zone)
{
    const kc__lifecycle_node *first = first_in_line(zone);
    if (first && zone->rate > 0)
        kc__lifecycle_nodes_add_key(nodes, first,
                                    KC_MAX(0, zone->next - kc_clock_now(nodes->clock)));
}

bool kc__lifecycle_zone_next(kc__lifecycle_nodes *nodes, kc__lifecycle_node *node)
{
    kc__lifecycle_zone *zone = node->zone;
    const int64_t now = kc_clock_now(nodes->clock);
    if (node->may_evict)
        return true;
    if (!kc_dlist_is_linked(&node->turn))
        kc_dlist_push(&zone->waiting, &node->turn);
    if (first_in_line(zone) != node || zone->rate <= 0 || now < zone->next) {
        wake_first(nodes, zone);
        return false;
    }
    kc_dlist_remove(&node->turn);
    node->may_evict = true;
    zone->next = now + (int64_t)(KC_SECOND / zone->rate);
    kc_counter_inc(zone->evictions);
    wake_first(nodes, zone);
    return true;
}

void kc__lifecycle_zone_leave(kc__lifecycle_nodes *nodes, kc__lifecycle_node *node)
{
    node->may_evict = false;
    if (!kc_dlist_is_linked(&node->turn))
        return;
    const bool was_first = first_in_line(node->zone) == node;
    kc_dlist_remove(&node->turn);
    if (was_first)
        wake_first(nodes, node->zone);
}

/* ---- states ---- */

static double rate_of(const kc__lifecycle_nodes *nodes, const kc__lifecycle_zone *zone)
{
    if (nodes->stopped)
        return 0;
    if (zone->state != KC__LIFECYCLE_ZONE_PARTIAL)
        return RATE;
    return zone->n > LARGE ? SECONDARY_RATE : 0;
}

/* The waiting time restarts at the new rate. */
static void set_rate(kc__lifecycle_nodes *nodes, kc__lifecycle_zone *zone)
{
    const double rate = rate_of(nodes, zone);
    const int64_t now = kc_clock_now(nodes->clock);
    if (rate == zone->rate)
        return;
    const bool waits = zone->rate <= 0 || now < zone->next;
    zone->rate = rate;
    zone->next = waits && rate > 0 ? now + (int64_t)(KC_SECOND / rate) : now;
    wake_first(nodes, zone);
}

static void notify_all(kc__lifecycle_nodes *nodes)
{
    kc_map_each (&nodes->by_name, entry) {
        kc__lifecycle_node *node = entry->value;
        if (!node->seen)
            continue;
        if (!nodes->stopped) /* Their heartbeats could not be observed. */
            node->probe = kc_clock_now(nodes->clock);
        kc__lifecycle_nodes_add_key(nodes, node, 0);
    }
}

/* All evictions stop or resume. */
static void stop_or_go_on(kc__lifecycle_nodes *nodes)
{
    nodes->stopped = !nodes->stopped;
    kc_log_info(nodes->log, nodes->stopped
                                ? "all nodes are not ready: entering master disruption mode"
                                : "some nodes are ready: exiting master disruption mode");
    kc_map_each (&nodes->zones, entry)
        set_rate(nodes, entry->value);
    notify_all(nodes);
}

static void set_state(kc__lifecycle_nodes *nodes, kc__lifecycle_zone *zone,
                      kc__lifecycle_zone_state state)
{
    nodes->populated -= zone->state != KC__LIFECYCLE_ZONE_EMPTY;
    nodes->disrupted -= zone->state == KC__LIFECYCLE_ZONE_FULL;
    zone->state = state;
    nodes->populated += zone->state != KC__LIFECYCLE_ZONE_EMPTY;
    nodes->disrupted += zone->state == KC__LIFECYCLE_ZONE_FULL;
}

static void lifecycle_zones_evaluate(kc__lifecycle_nodes *nodes)
{
    const bool lost = nodes->populated && nodes->disrupted == nodes->populated;
    if (lost != nodes->stopped)
        stop_or_go_on(nodes);
}

void kc__lifecycle_zone_evaluate(kc__lifecycle_nodes *nodes, kc__lifecycle_zone *zone)
{
    lifecycle_zones_measure(zone);
    if (!nodes->complete)
        return;
    set_state(nodes, zone, lifecycle_zones_state_of(zone));
    lifecycle_zones_evaluate(nodes);
    set_rate(nodes, zone);
}

void kc__lifecycle_zones_begin(kc__lifecycle_nodes *nodes)
{
    nodes->complete = true;
    kc_map_each (&nodes->zones, entry)
        set_state(nodes, entry->value, lifecycle_zones_state_of(entry->value));
    lifecycle_zones_evaluate(nodes);
    kc_map_each (&nodes->zones, entry)
        set_rate(nodes, entry->value);
}

/* ---- metrics ---- */

int kc__lifecycle_nodes_metrics(kc__lifecycle_nodes *nodes, kc_metrics *metrics, kc_error *err)
{
    const kc_metric_label zone = {"zone", .max_values = 200};
    nodes->health = kc_metrics_gauge(
        metrics,
        &(kc_metric_opts){.name = "node_collector_zone_health",
                          .help = "Gauge measuring percentage of healthy nodes per zone.",
                          .labels = {zone}},
        err);
    nodes->size = kc_metrics_gauge(
        metrics,
        &(kc_metric_opts){.name = "node_collector_zone_size",
                          .help = "Gauge measuring number of registered Nodes per zones.",
                          .labels = {zone}},
        err);
    nodes->unhealthy = kc_metrics_gauge(
        metrics,
        &(kc_metric_opts){.name = "node_collector_unhealthy_nodes_in_zone",
                          .help = "Gauge measuring number of not Ready Nodes per zones.",
                          .labels = {zone}},
        err);
    nodes->evictions = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "node_collector_evictions_total",
                          .help = "Number of Node evictions that happened since current instance "
                                  "of NodeController started.",
                          .labels = {zone}},
        err);
    return nodes->health && nodes->size && nodes->unhealthy && nodes->evictions
               ? 0
               : kc_error_result(err);
}
