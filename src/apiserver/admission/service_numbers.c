/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_numbers.c: the two ranges, what of them a stored Service holds, and the phase that fills
 * a Service in.
 *
 * A call remembers what it took (kc__taken) until it ends. It may pass here several times, when a
 * name it drew was taken or somebody else was faster: a number is given to the same owner again.
 */
#include "apiserver/admission/service_numbers.h"

#include "apiserver/admission/allocator.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/rest/write.h"

#include <arpa/inet.h>

enum {
    FIRST_PORT = 30000,
    LAST_PORT = 32767,
    /* Kubernetes leaves the start of a range to those who choose themselves. */
    CHOSEN_ADDRESSES = 256,
    CHOSEN_PORTS = 86,
};
#define NETWORK   0x0a600000u /* 10.96.0.0/12 */
#define BROADCAST 0x0a6fffffu

struct kc__service_numbers {
    kc__cache *services;
    kc__allocator *addresses, *ports;
};

/* What a call took; in its arena. */
typedef struct kc__taken {
    struct kc__taken *next;
    kc__allocator *allocator;
    uint32_t number;
} kc__taken;

/* ---- what a stored service holds ---- */

static bool parse_address(kc_str text, uint32_t *ret)
{
    char copy[INET_ADDRSTRLEN];
    struct in_addr address;
    if (text.n >= sizeof(copy))
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = 0;
    if (inet_pton(AF_INET, copy, &address) != 1)
        return false;
    *ret = ntohl(address.s_addr);
    return true;
}

static kc_view *spec_of(kc__service_numbers *numbers, kc_str owner, const kc_value **ret_spec)
{
    kc_auto(kc_object) *object = kc__cache_get(numbers->services, owner);
    if (!object)
        return NULL;
    kc_view *view = kc_view_of(object);
    *ret_spec = kc_get(kc_view_root(view), "spec");
    return view;
}

static bool holds_address(uint32_t number, kc_str owner, void *user)
{
    const kc_value *spec = NULL;
    uint32_t address = 0;
    kc_auto(kc_view) *view = spec_of(user, owner, &spec);
    return view && parse_address(kc_as_str(kc_get(spec, "clusterIP")), &address) &&
           address == number;
}

static bool holds_port(uint32_t number, kc_str owner, void *user)
{
    const kc_value *spec = NULL;
    kc_auto(kc_view) *view = spec_of(user, owner, &spec);
    bool found = view && kc_as_i64_or(kc_get(spec, "healthCheckNodePort"), 0) == number;
    kc_items (kc_get(spec, "ports"), port)
        found = found || kc_as_i64_or(kc_get(port, "nodePort"), 0) == number;
    return found;
}

static void remember(kc__allocator *allocator, uint32_t number, kc_str owner)
{
    if (kc__allocator_take(allocator, number, owner) == KC__ALLOCATED)
        kc__allocator_settle(allocator, number);
}

static void load(kc__service_numbers *numbers)
{
    uint64_t revision;
    kc_auto(kc_cow_snapshot) *all = kc__cache_snapshot(numbers->services, &revision);
    kc_cow_iter it = kc_cow_iter_start(all, NULL);
    while (kc_cow_iter_next(&it)) {
        uint32_t address;
        kc_auto(kc_view) *view = kc_view_of(it.object);
        const kc_value *spec = kc_get(kc_view_root(view), "spec");
        if (parse_address(kc_as_str(kc_get(spec, "clusterIP")), &address))
            remember(numbers->addresses, address, it.key);
        kc_items (kc_get(spec, "ports"), port)
            remember(numbers->ports, (uint32_t)kc_as_i64_or(kc_get(port, "nodePort"), 0), it.key);
        remember(numbers->ports, (uint32_t)kc_as_i64_or(kc_get(spec, "healthCheckNodePort"), 0),
                 it.key);
    }
}

kc__service_numbers *kc__service_numbers_new(kc__cache *services)
{
    kc__service_numbers *numbers = kc_new(kc__service_numbers);
    numbers->services = services;
    numbers->addresses =
        kc__allocator_new(&(kc__allocator_opts){.first = NETWORK + 1,
                                                .last = BROADCAST - 1,
                                                .draw_from = NETWORK + 1 + CHOSEN_ADDRESSES,
                                                .holds = holds_address,
                                                .user = numbers});
    numbers->ports = kc__allocator_new(&(kc__allocator_opts){.first = FIRST_PORT,
                                                             .last = LAST_PORT,
                                                             .draw_from = FIRST_PORT + CHOSEN_PORTS,
                                                             .holds = holds_port,
                                                             .user = numbers});
    load(numbers);
    return numbers;
}

kc__service_numbers *kc__service_numbers_free(kc__service_numbers *numbers)
{
    if (!numbers)
        return NULL;
    kc__allocator_free(numbers->addresses);
    kc__allocator_free(numbers->ports);
    free(numbers);
    return NULL;
}

/* ---- taking ---- */

static void note(kc__call *call, kc__allocator *allocator, uint32_t number)
{
    kc__taken *taken = kc_arena_alloc(call->arena, sizeof(*taken));
    *taken = (kc__taken){call->taken, allocator, number};
    call->taken = taken;
}

void kc__service_numbers_settle(kc__call *call)
{
    for (kc__taken *taken = call->taken; taken; taken = taken->next)
        kc__allocator_settle(taken->allocator, taken->number);
    call->taken = NULL;
}

/* A dry run takes nothing for longer than itself. */
static kc__allocation take(kc__call *call, kc__allocator *allocator, uint32_t number)
{
    kc__allocation result = kc__allocator_take(allocator, number, call->key);
    if (result == KC__ALLOCATED)
        note(call, allocator, number);
    return result;
}

static kc__allocation draw(kc__call *call, kc__allocator *allocator, uint32_t *ret)
{
    kc__allocation result = kc__allocator_draw(allocator, &call->lane->rand, call->key, ret);
    if (result == KC__ALLOCATED)
        note(call, allocator, *ret);
    return result;
}

static kc__verdict refuse(kc__call *call, const char *path, const char *value, const char *detail)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_field_errors_add(&errors, KC_FIELD_INVALID, path, kc_cstr(value), "%s", detail);
    return kc__fail_invalid(call, kc_object_name(call->proposed), &errors);
}

/* ---- the address ---- */

static kc__verdict check_address(kc__call *call, kc_str text, uint32_t number)
{
    kc__allocation result = take(call, call->api->numbers->addresses, number);
    if (result == KC__ALLOCATED)
        return KC__NEXT;
    const char *why =
        result == KC__TAKEN
            ? "provided IP is already allocated"
            : kc_arena_printf(call->arena,
                              "the provided IP (%.*s) is not in the valid range. The range of "
                              "valid IPs is 10.96.0.0/12",
                              KC_ARG(text));
    return refuse(
        call, "spec.clusterIPs", kc_arena_printf(call->arena, "[\"%.*s\"]", KC_ARG(text)),
        kc_arena_printf(call->arena, "failed to allocate IP %.*s: %s", KC_ARG(text), why));
}

static kc__verdict draw_address(kc__call *call, kc_edit *edit, kc_node *spec)
{
    uint32_t number;
    if (draw(call, call->api->numbers->addresses, &number) != KC__ALLOCATED)
        return kc__fail(call, KC_INTERNAL,
                        "Internal error occurred: failed to allocate a serviceIP: range is full");
    const char *text = kc_arena_printf(call->arena, "%u.%u.%u.%u", number >> 24, number >> 16 & 255,
                                       number >> 8 & 255, number & 255);
    kc_node *list = kc_node_array(edit);
    kc_node_append(list, kc_node_str(edit, kc_cstr(text)));
    kc_node_set(edit, spec, KC_STR("clusterIP"), kc_node_str(edit, kc_cstr(text)));
    kc_node_set(edit, spec, KC_STR("clusterIPs"), list);
    return KC__NEXT;
}

static kc__verdict settle_address(kc__call *call, kc_edit *edit, kc_node *spec)
{
    uint32_t number;
    kc_str text = kc__node_text(spec, "clusterIP");
    if (kc_str_is(kc__node_text(spec, "type"), "ExternalName") || kc_str_is(text, "None"))
        return KC__NEXT;
    /* A list without the one is refused by the checks that follow, as is what is no address. */
    if (!text.n)
        return kc_node_len(kc_node_get(spec, KC_STR("clusterIPs")))
                   ? KC__NEXT
                   : draw_address(call, edit, spec);
    return parse_address(text, &number) ? check_address(call, text, number) : KC__NEXT;
}

/* ---- ports of nodes ---- */

/* A member that is a port of nodes: the one asked for, or any. */
static kc__verdict settle_port(kc__call *call, kc_edit *edit, kc_node *object, const char *name,
                               const char *path)
{
    static const char beyond[] = "provided port is not in the valid range. The range of valid "
                                 "ports is 30000-32767";
    int64_t asked = 0;
    uint32_t number;
    kc_node_as_i64(kc_node_get(object, kc_cstr(name)), &asked);
    if (!asked) {
        if (draw(call, call->api->numbers->ports, &number) != KC__ALLOCATED)
            return kc__fail(call, KC_INTERNAL,
                            "Internal error occurred: failed to allocate a nodePort: range is "
                            "full");
        kc_node_set(edit, object, kc_cstr(name), kc_node_i64(edit, number));
        return KC__NEXT;
    }
    kc__allocation result = asked < 0 || asked > UINT16_MAX
                                ? KC__OUT_OF_RANGE
                                : take(call, call->api->numbers->ports, (uint32_t)asked);
    if (result == KC__ALLOCATED)
        return KC__NEXT;
    return refuse(call, path, kc_arena_printf(call->arena, "%lld", (long long)asked),
                  result == KC__TAKEN ? "provided port is already allocated" : beyond);
}

static kc__verdict settle_ports(kc__call *call, kc_edit *edit, kc_node *spec)
{
    kc_str type = kc__node_text(spec, "type");
    kc_node *wanted = kc_node_get(spec, KC_STR("allocateLoadBalancerNodePorts"));
    bool balanced = kc_str_is(type, "LoadBalancer") && kc_node_as_bool(wanted, true);
    size_t i = 0;
    kc__verdict verdict = KC__NEXT;
    if (!kc_str_is(type, "NodePort") && !balanced)
        return KC__NEXT;
    kc_node_items (kc_node_get(spec, KC_STR("ports")), port)
        if (verdict == KC__NEXT)
            verdict = settle_port(call, edit, port, "nodePort",
                                  kc_arena_printf(call->arena, "spec.ports[%zu].nodePort", i++));
    return verdict;
}

/* Whom traffic reaches only where pods are, is asked by the balancer where that is. */
static kc__verdict settle_health_port(kc__call *call, kc_edit *edit, kc_node *spec)
{
    if (!kc_str_is(kc__node_text(spec, "type"), "LoadBalancer") ||
        !kc_str_is(kc__node_text(spec, "externalTrafficPolicy"), "Local"))
        return KC__NEXT;
    return settle_port(call, edit, spec, "healthCheckNodePort", "spec.healthCheckNodePort");
}

/* ---- the phase ---- */

static bool concerns(const kc__call *call)
{
    return call->resource->storage && !strcmp(call->resource->storage, "core/services") &&
           !call->subresource && !call->removes && call->verb->bit != KC__DELETE &&
           call->verb->bit != KC__DELETE_COLLECTION && call->proposed;
}

kc__verdict kc__admit_service_numbers(kc__call *call)
{
    if (!concerns(call))
        return KC__NEXT;
    kc_auto(kc_edit) *edit = kc_edit_of(call->proposed);
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    kc__verdict verdict = settle_address(call, edit, spec);
    if (verdict == KC__NEXT)
        verdict = settle_ports(call, edit, spec);
    if (verdict == KC__NEXT)
        verdict = settle_health_port(call, edit, spec);
    if (verdict != KC__NEXT)
        return verdict;
    return kc__replace_proposed(call, edit);
}
