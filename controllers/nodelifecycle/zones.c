/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zones.c: how fast nodes that are not ready are given up, zone by zone.
 *
 * To give a node up is to give it a taint that drives its pods away. One node every ten seconds may
 * be, in each zone; the others stand in line. Where most of a zone is down it is more likely that
 * the zone's network is, and pods that move would only load the rest: then it is one every hundred
 * seconds, or, in a zone of fifty nodes or less, none. And where no node of any zone is ready it is
 * us who cannot hear: nothing is evicted, taints that evict are taken back, and once a node is
 * heard of again all of them get their time anew. The numbers are those of Kubernetes.
 *
 *     state      rate         when
 *     normal     0.1 / s
 *     partial    0.01 / s     above 2 nodes and 55 % are not ready; 0 up to 50 nodes
 *     full       0.1 / s      none is ready; 0 when all zones are full
 *
 * Counts are kept as nodes change, so a change costs the same however many nodes there are; only
 * when all evictions stop or go on is every node looked at. All functions here run with the mutex
 * of kc__nodes held.
 */
#include "nodelifecycle/nodes.h"

#include "kc/meta.h"

#define RATE           0.1
#define SECONDARY_RATE 0.01
#define UNHEALTHY      0.55
enum { LARGE = 50 };

/* ---- which ---- */

static kc_str label_of(const kc_object *node, const char *older, const char *newer, kc_arena *arena)
{
    const kc_str value = kc_object_label(node, kc_cstr(older), arena);
    return value.p ? value : kc_object_label(node, kc_cstr(newer), arena);
}

static kc__zone *zone_new(kc__nodes *nodes, kc_str name)
{
    kc__zone *zone = kc_new(kc__zone);
    zone->name = kc_str_dup(name);
    zone->rate = RATE;
    kc_list_init(&zone->waiting);
    zone->size = kc_gauge_of(nodes->size, name);
    zone->health = kc_gauge_of(nodes->health, name);
    zone->unhealthy = kc_gauge_of(nodes->unhealthy, name);
    zone->evictions = kc_counter_of(nodes->evictions, name);
    kc_map_put(&nodes->zones, kc_cstr(zone->name), zone);
    return zone;
}

kc__zone *kc__zone_of(kc__nodes *nodes, const kc_object *node)
{
    kc_scoped(kc_arena) arena = {0};
    const kc_str region = label_of(node, "failure-domain.beta.kubernetes.io/region",
                                   "topology.kubernetes.io/region", &arena);
    const kc_str name = label_of(node, "failure-domain.beta.kubernetes.io/zone",
                                 "topology.kubernetes.io/zone", &arena);
    kc_scoped(kc_buf) text = {0};
    if (region.n || name.n)
        kc_buf_printf(&text, "%.*s::%.*s", KC_ARG(region), KC_ARG(name));
    kc__zone *zone = kc_map_get(&nodes->zones, kc_buf_str(&text));
    return zone ? zone : zone_new(nodes, kc_buf_str(&text));
}

void kc__zone_free(kc__zone *zone)
{
    free(zone->name);
    free(zone);
}

/* ---- counting ---- */

void kc__zone_count(const kc__node *node, int by)
{
    kc__zone *zone = node->zone;
    if (node->excluded)
        return;
    zone->n += (size_t)by;
    if (node->ready != KC__READY_TRUE)
        zone->not_ready += (size_t)by;
}

static kc__zone_state state_of(const kc__zone *zone)
{
    if (!zone->n)
        return KC__ZONE_EMPTY;
    if (zone->not_ready == zone->n)
        return KC__ZONE_FULL;
    const bool most = (double)zone->not_ready >= UNHEALTHY * (double)zone->n;
    return most && zone->not_ready > 2 ? KC__ZONE_PARTIAL : KC__ZONE_NORMAL;
}

static void measure(const kc__zone *zone)
{
    const double n = (double)zone->n, bad = (double)zone->not_ready;
    kc_gauge_set(zone->size, n);
    kc_gauge_set(zone->unhealthy, bad);
    kc_gauge_set(zone->health, zone->n ? 100 * (n - bad) / n : 100);
}

/* ---- turns ---- */

void kc__nodes_add_key(kc__nodes *nodes, const kc__node *node, int64_t after)
{
    if (nodes->queue)
        kc_queue_add_after(nodes->queue, (kc_key){.name = kc_cstr(node->name)}, after);
}

static kc__node *first_in_line(const kc__zone *zone)
{
    kc_link *first = kc_list_first(&zone->waiting);
    return first ? kc_container_of(first, kc__node, turn) : NULL;
}

static void wake_first(kc__nodes *nodes, const kc__zone *zone)
{
    const kc__node *first = first_in_line(zone);
    if (first && zone->rate > 0)
        kc__nodes_add_key(nodes, first, KC_MAX(0, zone->next - kc_clock_now(nodes->clock)));
}

bool kc__zone_turn(kc__nodes *nodes, kc__node *node)
{
    kc__zone *zone = node->zone;
    const int64_t now = kc_clock_now(nodes->clock);
    if (node->may_evict)
        return true;
    if (!kc_link_in_list(&node->turn))
        kc_list_push(&zone->waiting, &node->turn);
    if (first_in_line(zone) != node || zone->rate <= 0 || now < zone->next) {
        wake_first(nodes, zone);
        return false;
    }
    kc_list_remove(&node->turn);
    node->may_evict = true;
    zone->next = now + (int64_t)(KC_SECOND / zone->rate);
    kc_counter_inc(zone->evictions);
    wake_first(nodes, zone);
    return true;
}

void kc__zone_leave(kc__nodes *nodes, kc__node *node)
{
    node->may_evict = false;
    if (!kc_link_in_list(&node->turn))
        return;
    const bool was_first = first_in_line(node->zone) == node;
    kc_list_remove(&node->turn);
    if (was_first)
        wake_first(nodes, node->zone);
}

/* ---- judging ---- */

static double rate_of(const kc__nodes *nodes, const kc__zone *zone)
{
    if (nodes->stopped)
        return 0;
    if (zone->state != KC__ZONE_PARTIAL)
        return RATE;
    return zone->n > LARGE ? SECONDARY_RATE : 0;
}

/* Who had to wait at the old rate has to at the new one. */
static void set_rate(kc__nodes *nodes, kc__zone *zone)
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

static void tell_all(kc__nodes *nodes)
{
    kc_map_each (&nodes->by_name, entry) {
        kc__node *node = entry->value;
        if (!node->seen)
            continue;
        if (!nodes->stopped) /* They could not be heard of. */
            node->probe = kc_clock_now(nodes->clock);
        kc__nodes_add_key(nodes, node, 0);
    }
}

/* All evictions stop, or go on. */
static void stop_or_go_on(kc__nodes *nodes)
{
    nodes->stopped = !nodes->stopped;
    kc_log_info(nodes->log, nodes->stopped
                                ? "all nodes are not ready: entering master disruption mode"
                                : "some nodes are ready: exiting master disruption mode");
    kc_map_each (&nodes->zones, entry)
        set_rate(nodes, entry->value);
    tell_all(nodes);
}

static void set_state(kc__nodes *nodes, kc__zone *zone, kc__zone_state state)
{
    nodes->inhabited -= zone->state != KC__ZONE_EMPTY;
    nodes->disrupted -= zone->state == KC__ZONE_FULL;
    zone->state = state;
    nodes->inhabited += zone->state != KC__ZONE_EMPTY;
    nodes->disrupted += zone->state == KC__ZONE_FULL;
}

static void judge(kc__nodes *nodes)
{
    const bool lost = nodes->inhabited && nodes->disrupted == nodes->inhabited;
    if (lost != nodes->stopped)
        stop_or_go_on(nodes);
}

void kc__zone_judge(kc__nodes *nodes, kc__zone *zone)
{
    measure(zone);
    if (!nodes->complete)
        return;
    set_state(nodes, zone, state_of(zone));
    judge(nodes);
    set_rate(nodes, zone);
}

void kc__zones_begin(kc__nodes *nodes)
{
    nodes->complete = true;
    kc_map_each (&nodes->zones, entry)
        set_state(nodes, entry->value, state_of(entry->value));
    judge(nodes);
    kc_map_each (&nodes->zones, entry)
        set_rate(nodes, entry->value);
}

/* ---- metrics ---- */

int kc__nodes_metrics(kc__nodes *nodes, kc_metrics *metrics, kc_error *err)
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
    return nodes->health && nodes->size && nodes->unhealthy && nodes->evictions ? 0 : -1;
}
