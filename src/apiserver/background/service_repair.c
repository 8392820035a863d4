/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_repair.c: see service_repair.h.
 *
 * Every write expects the state that it was made from, so a repair never undoes what a request does
 * meanwhile. Node ports are read before the Services: a port that a request takes or releases in
 * between changes the RangeAllocation, and the repair of that round is a conflict.
 */
#include "apiserver/background/service_repair.h"

#include "apiserver/background/bootstrap_writes.h"
#include "apiserver/services/cluster_ip.h"
#include "apiserver/services/service_numbers.h"
#include "kc/view.h"

enum {
    SIGHTINGS = 3, /* Rounds in which a port must be without a Service before it is released. */
    START_TRIES = 10,
};
#define LEAK_AGE  (60 * KC_SECOND) /* Of an IPAddress whose Service does not exist. */
#define WRONG_AGE (5 * KC_SECOND)  /* Of one that its Service does not have. */

typedef struct repair_counts {
    size_t created, removed;   /* IPAddresses. */
    size_t recorded, released; /* Node ports. */
    size_t duplicates;         /* Cluster IPs and node ports of several Services. */
} repair_counts;

struct kc__service_repair {
    kc__rest_api *api;
    kc_rand rand;
    kc_counter *created, *removed, *recorded, *released;
    kc__node_port_set seen[SIGHTINGS - 1]; /* Ports without a Service, in the last rounds. */
};

/* One round. */
typedef struct repair_round {
    kc__service_repair *repair;
    kc__watch_cache *services, *addresses;
    kc__bootstrap_writes writes;
    repair_counts counts;
    kc__node_port_set used; /* By Services. */
    kc_time now;
} repair_round;

/* ---- cluster IPs ---- */

static bool service_has_ip(kc__watch_cache *services, kc_str key, kc_str ip, bool *ret_exists)
{
    kc_auto(kc_object) *service = kc__watch_cache_get(services, key);
    *ret_exists = service;
    if (!service)
        return false;
    kc_auto(kc_view) *view = kc_view_of(service);
    const kc__cluster_ip_list list =
        kc__cluster_ip_list_of(kc_value_get(kc_view_root(view), "spec"));
    return kc__cluster_ip_list_has(&list, ip);
}

/* Whether another Service has the address, by right of the IPAddress. */
static bool is_of_another(repair_round *round, const kc_object *address, kc_str key, bool *ret_own)
{
    bool exists;
    kc_scoped(kc_buf) parent = {0};
    if (!kc__cluster_ip_parent(address, &parent))
        return false;
    *ret_own = kc_str_eq(kc_buf_str(&parent), key);
    return !*ret_own &&
           service_has_ip(round->services, kc_buf_str(&parent), kc_object_name(address), &exists);
}

static void create_address(repair_round *round, kc_str ip, const kc_object *service)
{
    const kc__cluster_ip_owner owner = {
        .ns = kc_object_namespace(service), .name = kc_object_name(service), .now = round->now};
    kc__bootstrap_writes_put(&round->writes, round->addresses, ip,
                             kc__cluster_ip_object(ip, &owner, &round->repair->rand),
                             KC__STORAGE_ABSENT);
    round->counts.created++;
}

static void repair_cluster_ip(repair_round *round, kc_str key, const kc_object *service, kc_str ip)
{
    bool own = false;
    kc_auto(kc_object) *address = kc__watch_cache_get(round->addresses, ip);
    if (address && is_of_another(round, address, key, &own)) {
        round->counts.duplicates++;
        return;
    }
    if (own && kc__cluster_ip_has_labels(address))
        return;
    if (address)
        kc__bootstrap_writes_delete(&round->writes, round->addresses, ip,
                                    kc_object_revision(address));
    create_address(round, ip, service);
}

static bool is_in_networks(const repair_round *round, kc_str ip)
{
    uint32_t address;
    return kc__service_network_parse_address(ip, &address) &&
           kc__service_numbers_has_network(round->repair->api->numbers, address);
}

static void repair_service(repair_round *round, kc_str key, const kc_object *service)
{
    kc_auto(kc_view) *view = kc_view_of(service);
    const kc_value *spec = kc_value_get(kc_view_root(view), "spec");
    const kc__cluster_ip_list list = kc__cluster_ip_list_of(spec);
    for (size_t i = 0; i < list.n; i++)
        if (is_in_networks(round, list.items[i]))
            repair_cluster_ip(round, key, service, list.items[i]);
    kc__node_port_set_add_service(&round->used, spec);
}

/* Whether an IPAddress of the allocator belongs to no Service, for some time. */
static bool is_leaked(const repair_round *round, const kc_object *address)
{
    bool exists = false;
    kc_time created = 0;
    kc_scoped(kc_buf) parent = {0};
    if (!kc__cluster_ip_parent(address, &parent))
        return true;
    if (service_has_ip(round->services, kc_buf_str(&parent), kc_object_name(address), &exists))
        return false;
    kc_time_parse(kc_object_creation_timestamp(address), &created, NULL);
    return round->now - created > (exists ? WRONG_AGE : LEAK_AGE);
}

static void repair_addresses(repair_round *round)
{
    uint64_t revision;
    kc_auto(kc__cow_snapshot) *all = kc__watch_cache_snapshot(round->addresses, &revision);
    kc__cow_iter it = kc__cow_iter_start(all, NULL);
    while (kc__cow_iter_next(&it))
        if (kc__cluster_ip_is_managed(it.object) && is_leaked(round, it.object)) {
            kc__bootstrap_writes_delete(&round->writes, round->addresses, it.key,
                                        kc_object_revision(it.object));
            round->counts.removed++;
        }
}

/* ---- node ports ---- */

/* The ports that were without a Service in this and the last rounds. */
static void find_leaks(kc__service_repair *repair, const kc__node_port_set *stored,
                       const kc__node_port_set *used, kc__node_port_set *ret)
{
    for (size_t i = 0; i < KC_COUNT(ret->words); i++) {
        const uint64_t idle = stored->words[i] & ~used->words[i];
        uint64_t leaked = idle;
        for (size_t round = 0; round < KC_COUNT(repair->seen); round++)
            leaked &= repair->seen[round].words[i];
        for (size_t round = KC_COUNT(repair->seen) - 1; round > 0; round--)
            repair->seen[round].words[i] = repair->seen[round - 1].words[i] & idle;
        repair->seen[0].words[i] = idle;
        ret->words[i] = leaked;
    }
}

/* Sets what is to be stored, and counts what differs. False: nothing does. */
static bool repair_set(repair_round *round, kc__node_port_range range, kc__node_port_set *stored)
{
    kc__node_port_set leaks = {0};
    find_leaks(round->repair, stored, &round->used, &leaks);
    for (uint32_t port = range.first; port <= range.last; port++) {
        const bool is_used = kc__node_port_set_has(&round->used, (uint16_t)port);
        if (is_used && !kc__node_port_set_has(stored, (uint16_t)port)) {
            kc__node_port_set_add(stored, (uint16_t)port);
            round->counts.recorded++;
        } else if (kc__node_port_set_has(&leaks, (uint16_t)port)) {
            kc__node_port_set_remove(stored, (uint16_t)port);
            round->counts.released++;
        }
    }
    return round->counts.recorded || round->counts.released;
}

/* `stored` is the RangeAllocation as it was before the Services were read; NULL: none. */
static void repair_ports(repair_round *round, const kc_object *stored)
{
    const kc__service_numbers *numbers = round->repair->api->numbers;
    const kc__node_port_range range = kc__service_numbers_range(numbers);
    kc__node_port_range before = {0};
    kc__node_port_set ports = {0};
    const bool is_read = stored && kc__node_port_set_read(stored, &before, &ports);
    const bool is_same = is_read && before.first == range.first && before.last == range.last;
    if (!repair_set(round, range, &ports) && is_same)
        return;
    kc__bootstrap_writes_put(&round->writes, kc__service_numbers_ranges(numbers),
                             KC_STR(KC__NODE_PORT_KEY), kc__node_port_set_write(range, &ports),
                             stored ? kc_object_revision(stored) : KC__STORAGE_ABSENT);
}

/* ---- a round ---- */

static void report_repair(const kc__service_repair *repair, const repair_counts *counts)
{
    kc_counter_add(repair->created, counts->created);
    kc_counter_add(repair->removed, counts->removed);
    kc_counter_add(repair->recorded, counts->recorded);
    kc_counter_add(repair->released, counts->released);
    if (counts->created || counts->removed || counts->recorded || counts->released)
        kc_log_info(repair->api->log, "repaired the allocations of Services",
                    kc_kv("addresses_created", counts->created),
                    kc_kv("addresses_removed", counts->removed),
                    kc_kv("ports_recorded", counts->recorded),
                    kc_kv("ports_released", counts->released));
    if (counts->duplicates)
        kc_log_warn(repair->api->log,
                    "cluster IPs are assigned to several Services; recreate one of them",
                    kc_kv("addresses", counts->duplicates));
}

static int run_round(kc__service_repair *repair, kc_error *err)
{
    const kc__service_numbers *numbers = repair->api->numbers;
    repair_round round = {.repair = repair,
                          .services = kc__service_numbers_services(numbers),
                          .addresses = kc__service_numbers_addresses(numbers),
                          .now = kc_clock_wall(repair->api->clock)};
    uint64_t revision;
    kc__bootstrap_writes_init(&round.writes, repair->api);
    kc_auto(kc_object) *range =
        kc__watch_cache_get(kc__service_numbers_ranges(numbers), KC_STR(KC__NODE_PORT_KEY));
    kc_auto(kc__cow_snapshot) *all = kc__watch_cache_snapshot(round.services, &revision);
    kc__cow_iter it = kc__cow_iter_start(all, NULL);
    while (kc__cow_iter_next(&it))
        repair_service(&round, it.key, it.object);
    repair_addresses(&round);
    repair_ports(&round, range);
    report_repair(repair, &round.counts);
    return kc__bootstrap_writes_wait(&round.writes, err);
}

void kc__service_repair_run(void *user)
{
    kc__service_repair *repair = user;
    kc_scoped(kc_error) err = {0};
    if (run_round(repair, &err) < 0)
        kc_log_error(repair->api->log, "cannot repair the allocations of Services",
                     kc_kv("err", &err));
}

/* ---- start ---- */

static bool has_ports(const kc__rest_api *api)
{
    const char *why = NULL;
    kc__node_port_set ports = {0};
    kc__service_numbers_ports(api->numbers, &ports, &why);
    return !why;
}

static int count_repairs(kc__service_repair *repair, kc_error *err)
{
    kc_metric *metric = kc_metrics_counter(
        repair->api->metrics,
        &(kc_metric_opts){.name = "kc_service_repairs_total",
                          .help = "Recorded cluster IPs and node ports that did not agree with the "
                                  "Services: missing ones created, those without a Service "
                                  "removed.",
                          .labels = {{"number", KC_LABEL_VALUES("address", "port")},
                                     {"repair", KC_LABEL_VALUES("created", "removed")}}},
        err);
    if (!metric)
        return kc_error_result(err);
    repair->created = kc_metric_counter(metric, KC_STR("address"), KC_STR("created"));
    repair->removed = kc_metric_counter(metric, KC_STR("address"), KC_STR("removed"));
    repair->recorded = kc_metric_counter(metric, KC_STR("port"), KC_STR("created"));
    repair->released = kc_metric_counter(metric, KC_STR("port"), KC_STR("removed"));
    return 0;
}

/* The first round creates the RangeAllocation, unless another server does. */
static int run_first_round(kc__service_repair *repair, kc_error *err)
{
    for (int i = 0; i < START_TRIES; i++)
        if (run_round(repair, err) < 0)
            return kc_error_result(err);
        else if (has_ports(repair->api))
            return 0;
    return kc_error_set(err, KC_INTERNAL,
                        "other servers keep changing the range of node ports: give all of them "
                        "the same --service-node-port-range");
}

kc__service_repair *kc__service_repair_start(kc__rest_api *api, kc_error *err)
{
    kc__service_repair *repair = kc_new(kc__service_repair);
    repair->api = api;
    repair->rand = kc_rand_split(&api->contexts[0].rand);
    if (count_repairs(repair, err) == 0 && run_first_round(repair, err) == 0)
        return repair;
    return kc__service_repair_free(repair);
}

kc__service_repair *kc__service_repair_free(kc__service_repair *repair)
{
    free(repair);
    return NULL;
}
