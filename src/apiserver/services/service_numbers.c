/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_numbers.c: see service_numbers.h.
 *
 * The networks are compiled again when a ServiceCIDR has changed. As in Kubernetes, one that is
 * being deleted, or whose condition Ready is not True, is not used; a ServiceCIDR without that
 * condition is.
 */
#include "apiserver/services/service_numbers.h"

#include "apiserver/kinds/key_layout.h"
#include "kc/thread.h"
#include "kc/vec.h"
#include "kc/view.h"

#define DEFAULT_NETWORK "kubernetes"

typedef KC_VEC(kc__service_network) network_list;

struct kc__service_numbers {
    kc__watch_cache *services, *addresses, *cidrs, *ranges;
    kc__node_port_range range;
    kc_counter *conflicts;
    kc_mutex mutex;       /* Guards the members below. */
    uint64_t compiled_at; /* The change counter of `cidrs` at the compilation. */
    bool compiled;
    network_list networks;
};

static kc__watch_cache *cache_of_kind(kc__store *store, const char *group, const char *plural)
{
    return kc__store_watch_cache(store, kc__resource_key_builtin_prefix(group, plural));
}

kc__service_numbers *kc__service_numbers_new(const kc__service_numbers_opts *opts, kc_error *err)
{
    static const kc__node_port_range default_range = {KC__NODE_PORT_FIRST, KC__NODE_PORT_LAST};
    kc_metric *metric = kc_metrics_counter(
        opts->metrics,
        &(kc_metric_opts){.name = "kc_service_allocation_conflicts_total",
                          .help = "Writes of Services that were repeated because another write "
                                  "took a cluster IP or node port first."},
        err);
    if (!metric)
        return NULL;
    kc__service_numbers *numbers = kc_new(kc__service_numbers);
    numbers->services = cache_of_kind(opts->store, "", "services");
    numbers->addresses = cache_of_kind(opts->store, "networking.k8s.io", "ipaddresses");
    numbers->cidrs = cache_of_kind(opts->store, "networking.k8s.io", "servicecidrs");
    numbers->ranges = kc__store_watch_cache(opts->store, KC_STR(KC__NODE_PORT_PREFIX));
    numbers->range = opts->ports.first ? opts->ports : default_range;
    numbers->conflicts = kc_metric_counter(metric);
    kc_mutex_init(&numbers->mutex);
    return numbers;
}

kc__service_numbers *kc__service_numbers_free(kc__service_numbers *numbers)
{
    if (!numbers)
        return NULL;
    kc_vec_done(&numbers->networks);
    kc_mutex_done(&numbers->mutex);
    free(numbers);
    return NULL;
}

kc__watch_cache *kc__service_numbers_services(const kc__service_numbers *numbers)
{
    return numbers->services;
}

kc__watch_cache *kc__service_numbers_addresses(const kc__service_numbers *numbers)
{
    return numbers->addresses;
}

kc__watch_cache *kc__service_numbers_ranges(const kc__service_numbers *numbers)
{
    return numbers->ranges;
}

kc__node_port_range kc__service_numbers_range(const kc__service_numbers *numbers)
{
    return numbers->range;
}

kc_counter *kc__service_numbers_conflicts(const kc__service_numbers *numbers)
{
    return numbers->conflicts;
}

/* ---- networks ---- */

static bool is_ready(const kc_value *cidr)
{
    kc_value_each_item (kc_value_nested(cidr, "status.conditions"), condition)
        if (kc_str_is(kc_value_as_str(kc_value_get(condition, "type")), "Ready"))
            return kc_str_is(kc_value_as_str(kc_value_get(condition, "status")), "True");
    return true;
}

static void add_networks(network_list *networks, const kc_object *object)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    kc__service_network network;
    if (kc_object_deletion_timestamp(object).n || !is_ready(kc_view_root(view)))
        return;
    kc_value_each_item (kc_value_nested(kc_view_root(view), "spec.cidrs"), cidr)
        if (kc__service_network_parse(kc_value_as_str(cidr), &network))
            kc_vec_push(networks, network);
}

/* The default network comes first: draws use the others when it is full. */
static void compile_networks(kc__service_numbers *numbers)
{
    uint64_t revision;
    kc_auto(kc__cow_snapshot) *all = kc__watch_cache_snapshot(numbers->cidrs, &revision);
    const kc_object *main_network = kc__cow_snapshot_get(all, KC_STR(DEFAULT_NETWORK));
    kc_vec_clear(&numbers->networks);
    if (main_network)
        add_networks(&numbers->networks, main_network);
    kc__cow_iter it = kc__cow_iter_start(all, NULL);
    while (kc__cow_iter_next(&it))
        if (it.object != main_network)
            add_networks(&numbers->networks, it.object);
}

/* A copy, because looking up addresses takes other locks. */
static void copy_networks(kc__service_numbers *numbers, network_list *ret)
{
    const uint64_t changed_at = kc__watch_cache_changed_at(numbers->cidrs);
    kc_locked (&numbers->mutex) {
        if (!numbers->compiled || numbers->compiled_at != changed_at)
            compile_networks(numbers);
        numbers->compiled = true;
        numbers->compiled_at = changed_at;
        kc_vec_each (&numbers->networks, network)
            kc_vec_push(ret, *network);
    }
}

bool kc__service_numbers_has_network(kc__service_numbers *numbers, uint32_t address)
{
    network_list networks = {0};
    bool found = false;
    copy_networks(numbers, &networks);
    kc_vec_each (&networks, network)
        found = found || kc__service_network_contains(network, address);
    kc_vec_done(&networks);
    return found;
}

bool kc__service_numbers_is_taken(const kc__service_numbers *numbers, kc_str ip)
{
    kc_auto(kc_object) *address = kc__watch_cache_get(numbers->addresses, ip);
    return address;
}

static bool is_address_taken(uint32_t address, void *user)
{
    char text[INET_ADDRSTRLEN];
    return kc__service_numbers_is_taken(user, kc__service_network_print(address, text));
}

bool kc__service_numbers_draw(kc__service_numbers *numbers, kc_rand *rand, uint32_t *ret_address)
{
    network_list networks = {0};
    bool found = false;
    copy_networks(numbers, &networks);
    for (size_t i = 0; i < networks.n && !found; i++)
        found = kc__service_network_draw(&networks.items[i], rand, is_address_taken, numbers,
                                         ret_address);
    kc_vec_done(&networks);
    return found;
}

/* ---- node ports ---- */

void kc__service_numbers_ports(const kc__service_numbers *numbers, kc__node_port_set *set,
                               const char **ret_why)
{
    kc__node_port_range range = {0};
    kc_auto(kc_object) *stored = kc__watch_cache_get(numbers->ranges, KC_STR(KC__NODE_PORT_KEY));
    *ret_why = NULL;
    if (!stored)
        *ret_why = "cannot allocate resources of type servicenodeportallocations at this time";
    else if (!kc__node_port_set_read(stored, &range, set) || range.first != numbers->range.first ||
             range.last != numbers->range.last)
        *ret_why = "the provided range does not match the current range";
}
