/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_claim.c: see service_claim.h.
 *
 * Requests that change node ports at the same time do not conflict with each other: the committer
 * rebases the RangeAllocation of each onto the one that is stored, unless that has one of the ports
 * already.
 *
 * A cluster IP whose IPAddress does not exist, or belongs to another Service, is not released, and
 * a port outside of the range is not counted: the repair (background/service_repair.h) deals with
 * such Services of earlier versions and other servers.
 */
#include "apiserver/services/service_claim.h"

typedef struct address_claim {
    kc__store_write write;
    kc__service_claim *claim;
    kc_object *object; /* NULL: a deletion. */
    char *name;
} address_claim;

struct kc__service_claim {
    kc__service_numbers *numbers;
    address_claim addresses[2 * KC__CLUSTER_IP_MAX];
    size_t n_addresses;
    bool changes_ports;
    kc__node_port_set added, removed;
    kc__store_write ports;
    uint64_t ports_revision; /* Of the RangeAllocation that `allocation` was made from. */
    kc_object *allocation;   /* To be stored. */
    bool lost;
    kc_error error; /* Why a write was refused. */
    size_t left;    /* Writes whose `done` has not run. */
    void (*done)(void *user);
    void *user;
};

kc__service_claim *kc__service_claim_free(kc__service_claim *claim)
{
    if (!claim)
        return NULL;
    for (size_t i = 0; i < claim->n_addresses; i++) {
        kc_object_unref(claim->addresses[i].object);
        free(claim->addresses[i].name);
    }
    kc_object_unref(claim->allocation);
    kc_error_done(&claim->error);
    free(claim);
    return NULL;
}

/* ---- cluster IPs ---- */

static address_claim *add_address(kc__service_claim *claim, kc_str ip)
{
    address_claim *address = &claim->addresses[claim->n_addresses++];
    address->claim = claim;
    address->name = kc_str_dup(ip);
    return address;
}

static void take_address(kc__service_claim *claim, kc_str ip,
                         const kc__service_claim_change *change)
{
    const kc__cluster_ip_owner owner = {.ns = kc_object_namespace(change->new),
                                        .name = kc_object_name(change->new),
                                        .now = change->now};
    address_claim *address = add_address(claim, ip);
    address->object = kc__cluster_ip_object(ip, &owner, change->rand);
    address->write = (kc__store_write){
        .verb = KC__STORAGE_PUT, .expected = KC__STORAGE_ABSENT, .object = address->object};
}

static bool is_parent(const kc_object *address, const kc_object *service)
{
    kc_scoped(kc_buf) key = {0}, own = {0};
    kc_buf_printf(&own, "%.*s/%.*s", KC_ARG(kc_object_namespace(service)),
                  KC_ARG(kc_object_name(service)));
    return kc__cluster_ip_parent(address, &key) && kc_str_eq(kc_buf_str(&key), kc_buf_str(&own));
}

static void release_address(kc__service_claim *claim, kc_str ip, const kc_object *service)
{
    kc_auto(kc_object) *stored =
        kc__watch_cache_get(kc__service_numbers_addresses(claim->numbers), ip);
    if (stored && is_parent(stored, service))
        add_address(claim, ip)->write =
            (kc__store_write){.verb = KC__STORAGE_DELETE, .expected = kc_object_revision(stored)};
}

static void claim_addresses(kc__service_claim *claim, const kc_value *old, const kc_value *new,
                            const kc__service_claim_change *change)
{
    const kc__cluster_ip_list before = kc__cluster_ip_list_of(old),
                              after = kc__cluster_ip_list_of(new);
    for (size_t i = 0; i < after.n; i++)
        if (!kc__cluster_ip_list_has(&before, after.items[i]))
            take_address(claim, after.items[i], change);
    for (size_t i = 0; i < before.n; i++)
        if (!kc__cluster_ip_list_has(&after, before.items[i]))
            release_address(claim, before.items[i], change->old);
}

/* ---- node ports ---- */

/* Applies the claim to the stored ports. NULL: a port is taken, or the range is another one. */
static kc_object *claim_allocation(const kc__service_claim *claim, const kc_object *stored)
{
    kc__node_port_set ports = {0};
    kc__node_port_range range;
    const kc__node_port_range own = kc__service_numbers_range(claim->numbers);
    if (!kc__node_port_set_read(stored, &range, &ports))
        return NULL;
    const bool takes = !kc__node_port_set_is_empty(&claim->added);
    if (takes && (range.first != own.first || range.last != own.last))
        return NULL;
    for (size_t i = 0; i < KC_COUNT(ports.words); i++) {
        if (ports.words[i] & claim->added.words[i])
            return NULL;
        ports.words[i] = (ports.words[i] | claim->added.words[i]) & ~claim->removed.words[i];
    }
    return kc__node_port_set_write(range, &ports);
}

/* On the committer's thread. */
static bool rebase_ports(kc__store_write *write, const kc_object *current)
{
    kc__service_claim *claim = kc_container_of(write, kc__service_claim, ports);
    kc_object *allocation = claim_allocation(claim, current);
    if (!allocation)
        return false;
    kc_object_unref(claim->allocation);
    write->object = claim->allocation = allocation;
    return true;
}

/* Limits the sets to ports of the range, and to what differs. */
static void compare_ports(kc__service_claim *claim, const kc__node_port_set *before,
                          const kc__node_port_set *after)
{
    const kc__node_port_range range = kc__service_numbers_range(claim->numbers);
    for (uint32_t port = range.first; port <= range.last; port++) {
        const bool had = kc__node_port_set_has(before, (uint16_t)port),
                   has = kc__node_port_set_has(after, (uint16_t)port);
        if (has && !had)
            kc__node_port_set_add(&claim->added, (uint16_t)port);
        if (had && !has)
            kc__node_port_set_add(&claim->removed, (uint16_t)port);
    }
}

static void claim_ports(kc__service_claim *claim, const kc_value *old, const kc_value *new)
{
    kc__node_port_set before = {0}, after = {0};
    kc__node_port_set_add_service(&before, old);
    kc__node_port_set_add_service(&after, new);
    compare_ports(claim, &before, &after);
    const bool takes = !kc__node_port_set_is_empty(&claim->added);
    if (!takes && kc__node_port_set_is_empty(&claim->removed))
        return;
    kc_auto(kc_object) *stored =
        kc__watch_cache_get(kc__service_numbers_ranges(claim->numbers), KC_STR(KC__NODE_PORT_KEY));
    claim->allocation = stored ? claim_allocation(claim, stored) : NULL;
    claim->changes_ports = claim->allocation;
    claim->ports_revision = stored ? kc_object_revision(stored) : 0;
    claim->lost = takes && !claim->allocation;
}

/* ---- the claim ---- */

kc__service_claim *kc__service_claim_new(kc__service_numbers *numbers,
                                         const kc__service_claim_change *change)
{
    kc__service_claim *claim = kc_new(kc__service_claim);
    kc_auto(kc_view) *old = change->old ? kc_view_of(change->old) : NULL;
    kc_auto(kc_view) *new = change->new ? kc_view_of(change->new) : NULL;
    const kc_value *old_spec = old ? kc_value_get(kc_view_root(old), "spec") : NULL,
                   *new_spec = new ? kc_value_get(kc_view_root(new), "spec") : NULL;
    claim->numbers = numbers;
    claim_addresses(claim, old_spec, new_spec, change);
    claim_ports(claim, old_spec, new_spec);
    if (claim->lost)
        kc_counter_inc(kc__service_numbers_conflicts(numbers));
    return claim->n_addresses || claim->changes_ports || claim->lost
               ? claim
               : kc__service_claim_free(claim);
}

bool kc__service_claim_is_lost(const kc__service_claim *claim)
{
    return claim && claim->lost;
}

const kc_error *kc__service_claim_error(const kc__service_claim *claim)
{
    return claim && claim->error.reason ? &claim->error : NULL;
}

/* ---- writing ---- */

static void claim_write_done(kc__service_claim *claim, kc__store_write *write)
{
    if (write->error.reason) {
        kc_error_move(&claim->error, &write->error);
    } else if (write->outcome == KC__STORAGE_CONFLICT) {
        claim->lost = true;
        kc_counter_inc(kc__service_numbers_conflicts(claim->numbers));
    }
    write->result = kc_object_unref(write->result);
    if (--claim->left == 0)
        claim->done(claim->user);
}

static void address_done(kc__store_write *write)
{
    claim_write_done(kc_container_of(write, address_claim, write)->claim, write);
}

static void ports_done(kc__store_write *write)
{
    claim_write_done(kc_container_of(write, kc__service_claim, ports), write);
}

size_t kc__service_claim_join(kc__service_claim *claim, kc__loop *loop, kc__store_write **writes,
                              void (*done)(void *user), void *user)
{
    size_t n = 0;
    for (; n < claim->n_addresses; n++) {
        address_claim *address = &claim->addresses[n];
        address->write.cache = kc__service_numbers_addresses(claim->numbers);
        address->write.key = kc_cstr(address->name);
        address->write.loop = loop;
        address->write.done = address_done;
        writes[n] = &address->write;
    }
    claim->ports = (kc__store_write){.cache = kc__service_numbers_ranges(claim->numbers),
                                     .verb = KC__STORAGE_PUT,
                                     .key = KC_STR(KC__NODE_PORT_KEY),
                                     .expected = claim->ports_revision,
                                     .object = claim->allocation,
                                     .loop = loop,
                                     .done = ports_done,
                                     .rebase = rebase_ports};
    if (claim->changes_ports)
        writes[n++] = &claim->ports;
    claim->left = n;
    claim->done = done;
    claim->user = user;
    return n;
}
