/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_allocators.c: the plugin that allocates cluster IPs and node ports of Services: it edits
 * the draft, with the rules and messages of kube-apiserver.
 *
 * Nothing is reserved here. The plugin reads which numbers are taken (services/service_numbers.h),
 * and the write of the Service takes the ones that it has (services/service_claim.h). If another
 * write took one in between, the request is proposed again, and comes back here.
 */
#include "apiserver/admission/plugins/service_allocators.h"

#include "apiserver/kinds/defaults.h"
#include "apiserver/services/cluster_ip.h"
#include "apiserver/services/service_numbers.h"
#include "kc/map.h"

static kc__rest_verdict refuse_field(kc__rest_call *call, const char *path, const char *value,
                                     const char *detail)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_field_errors_add(&errors, KC_FIELD_INVALID, path, kc_cstr(value), "%s", detail);
    return kc__rest_fail_invalid(call, kc__rest_proposed_name(call), &errors);
}

static bool is_external_name(const kc_value *spec)
{
    return kc_str_is(kc_value_as_str(kc_value_get(spec, "type")), "ExternalName");
}

/* ---- cluster IPs ---- */

static kc__rest_verdict check_address(kc__rest_call *call, kc_str text, uint32_t number)
{
    const char *why = NULL;
    if (!kc__service_numbers_has_network(call->api->numbers, number))
        why = "the provided network does not match the current range";
    else if (kc__service_numbers_is_taken(call->api->numbers, text))
        why = "provided IP is already allocated";
    if (!why)
        return KC__REST_NEXT;
    return refuse_field(
        call, "spec.clusterIPs", kc_arena_printf(call->arena, "[\"%.*s\"]", KC_ARG(text)),
        kc_arena_printf(call->arena, "failed to allocate IP %.*s: %s", KC_ARG(text), why));
}

static kc__rest_verdict draw_address(kc__rest_call *call, kc_edit *edit, kc_node *spec)
{
    uint32_t number;
    char text[INET_ADDRSTRLEN];
    if (!kc__service_numbers_draw(call->api->numbers, call->rand, &number))
        return kc__rest_fail(
            call, KC_INTERNAL,
            "Internal error occurred: failed to allocate a serviceIP: range is full");
    const kc_str ip = kc__service_network_print(number, text);
    kc_node *list = kc_node_array(edit);
    kc_node_append(list, kc_node_str(edit, ip));
    kc_node_set(edit, spec, KC_STR("clusterIP"), kc_node_str(edit, ip));
    kc_node_set(edit, spec, KC_STR("clusterIPs"), list);
    return KC__REST_NEXT;
}

/* `old` is the spec of the stored Service, NULL for a new one: the cluster IP of a Service that has
 * one cannot change. */
static kc__rest_verdict allocate_address(kc__rest_call *call, kc_edit *edit, kc_node *spec,
                                         const kc_value *old)
{
    uint32_t number;
    kc_str text = kc__defaults_node_text(spec, "clusterIP");
    if (kc_str_is(kc__defaults_node_text(spec, "type"), "ExternalName") || kc_str_is(text, "None"))
        return KC__REST_NEXT;
    if (old && !is_external_name(old))
        return KC__REST_NEXT;
    /* Validation rejects clusterIPs without clusterIP, and text that is not an address. */
    if (!text.n)
        return kc_node_len(kc_node_get(spec, KC_STR("clusterIPs")))
                   ? KC__REST_NEXT
                   : draw_address(call, edit, spec);
    return kc__service_network_parse_address(text, &number) ? check_address(call, text, number)
                                                            : KC__REST_NEXT;
}

/* ---- node ports ---- */

/* The node ports of one request. */
typedef struct port_draft {
    kc__rest_call *call;
    kc_edit *edit;
    kc_node *spec;
    const kc_value *old;           /* The stored spec; NULL: none. */
    kc__node_port_set taken, held; /* By any Service and this request; by the stored Service. */
    const char *unknown;           /* Why it is not known which ports are taken; NULL: it is. */
    kc_map by_port; /* New Services: the node port of a port number, shared by its protocols. */
} port_draft;

static kc_str port_number_key(const port_draft *draft, const kc_node *port)
{
    int64_t number = 0;
    kc_node_as_i64(kc_node_get(port, KC_STR("port")), &number);
    return kc_cstr(kc_arena_printf(draft->call->arena, "%lld", (long long)number));
}

static int64_t requested_port(const kc_node *object, const char *name)
{
    int64_t number = 0;
    kc_node_as_i64(kc_node_get(object, kc_cstr(name)), &number);
    return number;
}

/* Why a port cannot be allocated; NULL: it is. */
static const char *take_port(port_draft *draft, int64_t port)
{
    const kc__node_port_range range = kc__service_numbers_range(draft->call->api->numbers);
    char text[KC__NODE_PORT_RANGE_TEXT];
    if (!kc__node_port_range_contains(range, port))
        return kc_arena_printf(draft->call->arena,
                               "provided port is not in the valid range. The range of valid ports "
                               "is %s",
                               kc__node_port_range_print(range, text).p);
    if (draft->unknown)
        return draft->unknown;
    if (kc__node_port_set_has(&draft->taken, (uint16_t)port))
        return "provided port is already allocated";
    kc__node_port_set_add(&draft->taken, (uint16_t)port);
    return NULL;
}

/* Sets a member to a free port. NULL, or why there is none. */
static const char *draw_node_port(port_draft *draft, kc_node *object, const char *name,
                                  uint16_t *ret_port)
{
    const kc__node_port_range range = kc__service_numbers_range(draft->call->api->numbers);
    if (draft->unknown)
        return draft->unknown;
    if (!kc__node_port_draw(range, &draft->taken, draft->call->rand, ret_port))
        return "range is full";
    kc__node_port_set_add(&draft->taken, *ret_port);
    kc_node_set(draft->edit, object, kc_cstr(name), kc_node_i64(draft->edit, *ret_port));
    return NULL;
}

static kc__rest_verdict refuse_port(port_draft *draft, size_t i, int64_t port, const char *why)
{
    kc_arena *arena = draft->call->arena;
    return refuse_field(draft->call, kc_arena_printf(arena, "spec.ports[%zu].nodePort", i),
                        kc_arena_printf(arena, "%lld", (long long)port), why);
}

static kc__rest_verdict draw_for(port_draft *draft, kc_node *port, uint16_t *ret_port)
{
    const char *why = draw_node_port(draft, port, "nodePort", ret_port);
    return why ? kc__rest_fail(draft->call, KC_INTERNAL,
                               "Internal error occurred: failed to allocate a nodePort: %s", why)
               : KC__REST_NEXT;
}

static bool draws_ports(const kc_node *spec)
{
    const kc_str type = kc__defaults_node_text(spec, "type");
    return kc_str_is(type, "NodePort") ||
           (kc_str_is(type, "LoadBalancer") &&
            kc_node_as_bool(kc_node_get(spec, KC_STR("allocateLoadBalancerNodePorts")), true));
}

/* A new Service: ports with the same number and different protocols share a node port, unless the
 * client set different ones. */
static kc__rest_verdict take_shared_port(port_draft *draft, kc_node *port, size_t i)
{
    uint16_t drawn;
    const kc_str key = port_number_key(draft, port);
    int64_t *shared = kc_map_get(&draft->by_port, key), own = requested_port(port, "nodePort");
    if (own && own == *shared)
        return KC__REST_NEXT;
    if (own) {
        const char *why = take_port(draft, own);
        return why ? refuse_port(draft, i, own, why) : KC__REST_NEXT;
    }
    if (*shared) {
        kc_node_set(draft->edit, port, KC_STR("nodePort"), kc_node_i64(draft->edit, *shared));
        return KC__REST_NEXT;
    }
    const kc__rest_verdict verdict = draw_for(draft, port, &drawn);
    *shared = verdict == KC__REST_NEXT ? drawn : 0;
    return verdict;
}

/* A changed Service: ports that it had stay allocated. */
static kc__rest_verdict take_changed_port(port_draft *draft, kc_node *port, size_t i)
{
    uint16_t drawn;
    const int64_t own = requested_port(port, "nodePort");
    if (!own)
        return draw_for(draft, port, &drawn);
    if (own > 0 && own <= UINT16_MAX && kc__node_port_set_has(&draft->held, (uint16_t)own))
        return KC__REST_NEXT;
    const char *why = take_port(draft, own);
    if (why)
        return refuse_port(draft, i, own, why);
    kc__node_port_set_add(&draft->held, (uint16_t)own); /* For its other protocols. */
    return KC__REST_NEXT;
}

/* Allocates the first node port that the client set for a port number. */
static kc__rest_verdict find_requested(port_draft *draft, kc_node *port, size_t i)
{
    const int64_t own = requested_port(port, "nodePort");
    const kc_str key = port_number_key(draft, port);
    int64_t *shared = kc_map_get(&draft->by_port, key);
    if (!shared) {
        shared = kc_arena_new(draft->call->arena, int64_t);
        *shared = 0;
        kc_map_put(&draft->by_port, key, shared);
    }
    if (*shared || !own)
        return KC__REST_NEXT;
    const char *why = take_port(draft, own);
    *shared = own;
    return why ? refuse_port(draft, i, own, why) : KC__REST_NEXT;
}

static kc__rest_verdict each_port(port_draft *draft,
                                  kc__rest_verdict (*take)(port_draft *draft, kc_node *port,
                                                           size_t i))
{
    const bool draws = draws_ports(draft->spec);
    kc__rest_verdict verdict = KC__REST_NEXT;
    size_t i = 0;
    kc_node_each_item (kc_node_get(draft->spec, KC_STR("ports")), port) {
        if (verdict == KC__REST_NEXT && (draws || requested_port(port, "nodePort")))
            verdict = take(draft, port, i);
        i++;
    }
    return verdict;
}

static kc__rest_verdict allocate_ports(port_draft *draft)
{
    if (draft->old)
        return each_port(draft, take_changed_port);
    const kc__rest_verdict verdict = each_port(draft, find_requested);
    return verdict == KC__REST_NEXT ? each_port(draft, take_shared_port) : verdict;
}

/* ---- the port of health checks ---- */

/* With externalTrafficPolicy Local, the load balancer checks each node for pods of the Service. */
static bool node_needs_health_port(const kc_node *spec)
{
    return kc_str_is(kc__defaults_node_text(spec, "type"), "LoadBalancer") &&
           kc_str_is(kc__defaults_node_text(spec, "externalTrafficPolicy"), "Local");
}

static bool value_needs_health_port(const kc_value *spec)
{
    return kc_str_is(kc_value_as_str(kc_value_get(spec, "type")), "LoadBalancer") &&
           kc_str_is(kc_value_as_str(kc_value_get(spec, "externalTrafficPolicy")), "Local");
}

static kc__rest_verdict allocate_health_port(port_draft *draft)
{
    uint16_t drawn;
    if (!node_needs_health_port(draft->spec) || value_needs_health_port(draft->old))
        return KC__REST_NEXT;
    const int64_t own = requested_port(draft->spec, "healthCheckNodePort");
    if (!own) {
        const char *why = draw_node_port(draft, draft->spec, "healthCheckNodePort", &drawn);
        return why ? kc__rest_fail(draft->call, KC_INTERNAL,
                                   "Internal error occurred: failed to allocate a HealthCheck "
                                   "NodePort 0: %s",
                                   why)
                   : KC__REST_NEXT;
    }
    const char *why = take_port(draft, own);
    return why ? kc__rest_fail(draft->call, KC_INTERNAL,
                               "Internal error occurred: failed to allocate requested HealthCheck "
                               "NodePort %lld: %s",
                               (long long)own, why)
               : KC__REST_NEXT;
}

/* ---- the plugin ---- */

static bool is_service_write(const kc__rest_call *call)
{
    return call->resource->storage && !strcmp(call->resource->storage, "core/services") &&
           !call->subresource && !call->removes && call->verb->bit != KC__VERB_DELETE &&
           call->verb->bit != KC__VERB_DELETE_COLLECTION && !kc__draft_is_empty(&call->draft);
}

static bool uses_node_ports(const kc_node *spec)
{
    const kc_str type = kc__defaults_node_text(spec, "type");
    return kc_str_is(type, "NodePort") || kc_str_is(type, "LoadBalancer");
}

static kc__rest_verdict allocate_node_ports(kc__rest_call *call, kc_edit *edit, kc_node *spec,
                                            const kc_value *old)
{
    port_draft draft = {.call = call, .edit = edit, .spec = spec, .old = old};
    kc__service_numbers_ports(call->api->numbers, &draft.taken, &draft.unknown);
    kc__node_port_set_add_service(&draft.held, old);
    kc__rest_verdict verdict = allocate_ports(&draft);
    if (verdict == KC__REST_NEXT)
        verdict = allocate_health_port(&draft);
    kc_map_done(&draft.by_port);
    return verdict;
}

kc__rest_verdict kc__service_allocators_allocate(kc__rest_call *call)
{
    if (!is_service_write(call))
        return KC__REST_NEXT;
    kc_auto(kc_view) *stored = call->current ? kc_view_of(call->current) : NULL;
    const kc_value *old = stored ? kc_value_get(kc_view_root(stored), "spec") : NULL;
    kc_edit *edit = kc__draft_edit(&call->draft);
    kc_node *spec = kc_node_get(kc_edit_root(edit), KC_STR("spec"));
    const kc__rest_verdict verdict = allocate_address(call, edit, spec, old);
    return verdict == KC__REST_NEXT && uses_node_ports(spec)
               ? allocate_node_ports(call, edit, spec, old)
               : verdict;
}
