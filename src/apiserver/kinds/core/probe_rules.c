/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_rules.c: validates probes and lifecycle handlers. Both have exactly one handler.
 */
#include "apiserver/kinds/core/pod_rules.h"

static const char *const schemes[] = {"HTTP", "HTTPS", NULL};

/* Kubernetes reports the error for the whole list. */
static void check_headers(const kc__location *headers)
{
    kc_value_each_item (headers->value, value) {
        kc__location shown = *headers;
        shown.value = kc_value_get(value, "name");
        kc__validate_name(&shown, KC_NAME_HTTP_HEADER);
    }
}

static const kc__validate_rule exec_[] = {{"command", .required = ""}};
static const kc__validate_rule http_get_[] = {
    {"path", .required = ""},
    {"port", .code = kc__validate_port_or_name},
    {"scheme", .one_of = schemes},
    {"httpHeaders", .code = check_headers},
};
static const kc__validate_rule tcp_socket_[] = {{"port", .code = kc__validate_port_or_name}};
static const kc__validate_rule grpc_[] = {{"port", .code = kc__validate_port}};
static const kc__validate_rule_table exec = KC__VALIDATE_RULES(exec_),
                                     http_get = KC__VALIDATE_RULES(http_get_),
                                     tcp_socket = KC__VALIDATE_RULES(tcp_socket_),
                                     grpc = KC__VALIDATE_RULES(grpc_);

static void check_handler(const kc__location *location)
{
    static const struct {
        const char *name;
        const kc__validate_rule_table *rules;
    } handlers[] = {{"exec", &exec},
                    {"httpGet", &http_get},
                    {"tcpSocket", &tcp_socket},
                    {"grpc", &grpc},
                    {"sleep", NULL}};
    size_t found = 0;
    for (size_t i = 0; i < KC_COUNT(handlers); i++) {
        kc__location one = kc__location_member(location, handlers[i].name);
        if (!one.value)
            continue;
        if (found++)
            kc__location_error(&one, KC_FIELD_FORBIDDEN,
                               "may not specify more than 1 handler type");
        else if (handlers[i].rules)
            kc__validate_by_rules(handlers[i].rules, &one);
    }
    if (!found)
        kc__location_error(location, KC_FIELD_REQUIRED, "must specify a handler type");
}

static void check_grace(const kc__location *grace)
{
    if (grace->value)
        kc__validate_above_0(grace);
}

static const kc__validate_rule probe_[] = {
    {.code = check_handler},
    {"initialDelaySeconds", .number = KC__VALIDATE_AT_LEAST_0},
    {"timeoutSeconds", .number = KC__VALIDATE_AT_LEAST_0},
    {"periodSeconds", .number = KC__VALIDATE_AT_LEAST_0},
    {"successThreshold", .number = KC__VALIDATE_AT_LEAST_0},
    {"failureThreshold", .number = KC__VALIDATE_AT_LEAST_0},
    {"terminationGracePeriodSeconds", .code = check_grace},
};
static const kc__validate_rule_table probe_rules = KC__VALIDATE_RULES(probe_);

static void check_probe(const kc__location *probe)
{
    kc__validate_by_rules(&probe_rules, probe);
}

static void check_sleep(const kc__location *handler, int64_t grace)
{
    kc__location sleep = kc__location_member(handler, "sleep"),
                 seconds = kc__location_member(&sleep, "seconds");
    if (!sleep.value ||
        (kc__location_number(&seconds) >= 0 && kc__location_number(&seconds) <= grace))
        return;
    sleep.value = seconds.value;
    kc__location_error(&sleep, KC_FIELD_INVALID,
                       "must be non-negative and less than terminationGracePeriodSeconds (%lld)",
                       (long long)grace);
}

static void check_lifecycle(const kc__location *lifecycle, int64_t grace)
{
    static const char *const moments[] = {"postStart", "preStop"};
    for (size_t i = 0; i < KC_COUNT(moments); i++) {
        kc__location handler = kc__location_member(lifecycle, moments[i]);
        if (!handler.value)
            continue;
        check_handler(&handler);
        check_sleep(&handler, grace);
    }
}

/* Liveness and startup probes decide whether a container is restarted; successThreshold must be
 * 1. */
static void check_one_success(const kc__location *probe)
{
    kc__location threshold = kc__location_member(probe, "successThreshold");
    if (!probe->value)
        return;
    check_probe(probe);
    if (kc__location_number(&threshold) != 1)
        kc__location_error(&threshold, KC_FIELD_INVALID, "must be 1");
}

static void check_readiness(const kc__location *probe)
{
    kc__location grace = kc__location_member(probe, "terminationGracePeriodSeconds");
    if (!probe->value)
        return;
    check_probe(probe);
    if (grace.value)
        kc__location_error(&grace, KC_FIELD_INVALID, "must not be set for readinessProbes");
}

static const kc__validate_rule container_probes_[] = {
    {"livenessProbe", .code = check_one_success},
    {"readinessProbe", .code = check_readiness},
    {"startupProbe", .code = check_one_success},
};
static const kc__validate_rule_table container_probes = KC__VALIDATE_RULES(container_probes_);

void kc__validate_probes(const kc__location *container, int64_t grace)
{
    kc__location lifecycle = kc__location_member(container, "lifecycle");
    check_lifecycle(&lifecycle, grace);
    kc__validate_by_rules(&container_probes, container);
}
