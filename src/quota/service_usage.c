/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_usage.c: what a Service uses: node ports and load balancers. Node ports are counted by
 * what the Service asks for, because at admission they need not be allocated yet.
 */
#include "quota/quota_internal.h"

#define NODE_PORTS     "services.nodeports"
#define LOAD_BALANCERS "services.loadbalancers"

bool kc__usage_service_tracks(kc_str name)
{
    return kc_str_is(name, NODE_PORTS) || kc_str_is(name, LOAD_BALANCERS);
}

static int64_t chosen_node_ports(const kc_value *ports)
{
    int64_t n = 0;
    kc_value_each_item (ports, port)
        n += kc_value_as_i64_or(kc_value_get(port, "nodePort"), 0) != 0;
    return n;
}

static int64_t node_ports(const kc_value *spec, bool balanced)
{
    const kc_value *ports = kc_value_get(spec, "ports");
    if (balanced && !kc_value_as_bool(kc_value_get(spec, "allocateLoadBalancerNodePorts"), true))
        return chosen_node_ports(ports);
    return (int64_t)kc_value_len(ports);
}

void kc__usage_service_measure(const kc_value *service, kc_time now, kc_quota_amounts *ret)
{
    const kc_value *spec = kc_value_get(service, "spec");
    const kc_str type = kc_value_as_str(kc_value_get(spec, "type"));
    const bool balanced = kc_str_is(type, "LoadBalancer");
    (void)now;
    kc_quota_amounts_set_count(ret, KC_STR(LOAD_BALANCERS), balanced);
    kc_quota_amounts_set_count(ret, KC_STR(NODE_PORTS),
                               balanced || kc_str_is(type, "NodePort") ? node_ports(spec, balanced)
                                                                       : 0);
}

static kc_str charged_type(const kc_value *service)
{
    static const char *const charged[] = {"NodePort", "LoadBalancer", NULL};
    const kc_str type = kc_value_as_str(kc_value_nested(service, "spec.type"));
    return kc_str_is_any(type, charged) ? type : KC_STR("");
}

bool kc__usage_service_is_freed_by(const kc_value *old, const kc_value *service, kc_time now)
{
    (void)now;
    return !kc_str_eq(charged_type(old), charged_type(service));
}
