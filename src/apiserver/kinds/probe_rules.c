/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_rules.c: what is checked in probes and in what runs when a container starts or stops. Both
 * have exactly one handler.
 */
#include "apiserver/kinds/pod_rules.h"

static const char *const schemes[] = {"HTTP", "HTTPS", NULL};

/* The error is about the whole list, as in Kubernetes. */
static void check_headers(const kc__place *headers)
{
    kc_items (headers->value, value) {
        kc__place shown = *headers;
        shown.value = kc_get(value, "name");
        kc__check_name(&shown, KC_NAME_HTTP_HEADER);
    }
}

static const kc__rule exec_[] = {{"command", .required = ""}};
static const kc__rule http_get_[] = {
    {"path", .required = ""},
    {"port", .code = kc__check_port_or_name},
    {"scheme", .one_of = schemes},
    {"httpHeaders", .code = check_headers},
};
static const kc__rule tcp_socket_[] = {{"port", .code = kc__check_port_or_name}};
static const kc__rule grpc_[] = {{"port", .code = kc__check_port}};
static const kc__rules exec = KC__RULES(exec_), http_get = KC__RULES(http_get_),
                       tcp_socket = KC__RULES(tcp_socket_), grpc = KC__RULES(grpc_);

static void check_handler(const kc__place *place)
{
    static const struct {
        const char *name;
        const kc__rules *rules;
    } handlers[] = {{"exec", &exec},
                    {"httpGet", &http_get},
                    {"tcpSocket", &tcp_socket},
                    {"grpc", &grpc},
                    {"sleep", NULL}};
    size_t found = 0;
    for (size_t i = 0; i < KC_COUNT(handlers); i++) {
        kc__place one = kc__member(place, handlers[i].name);
        if (!one.value)
            continue;
        if (found++)
            kc__wrong(&one, KC_FIELD_FORBIDDEN, "may not specify more than 1 handler type");
        else if (handlers[i].rules)
            kc__rules_check(handlers[i].rules, &one);
    }
    if (!found)
        kc__wrong(place, KC_FIELD_REQUIRED, "must specify a handler type");
}

static void check_grace(const kc__place *grace)
{
    if (grace->value)
        kc__check_above_0(grace);
}

static const kc__rule probe_[] = {
    {.code = check_handler},
    {"initialDelaySeconds", .number = KC__AT_LEAST_0},
    {"timeoutSeconds", .number = KC__AT_LEAST_0},
    {"periodSeconds", .number = KC__AT_LEAST_0},
    {"successThreshold", .number = KC__AT_LEAST_0},
    {"failureThreshold", .number = KC__AT_LEAST_0},
    {"terminationGracePeriodSeconds", .code = check_grace},
};
static const kc__rules probe_rules = KC__RULES(probe_);

static void check_probe(const kc__place *probe)
{
    kc__rules_check(&probe_rules, probe);
}

static void check_sleep(const kc__place *handler, int64_t grace)
{
    kc__place sleep = kc__member(handler, "sleep"), seconds = kc__member(&sleep, "seconds");
    if (!sleep.value || (kc__number(&seconds) >= 0 && kc__number(&seconds) <= grace))
        return;
    sleep.value = seconds.value;
    kc__wrong(&sleep, KC_FIELD_INVALID,
              "must be non-negative and less than terminationGracePeriodSeconds (%lld)",
              (long long)grace);
}

static void check_lifecycle(const kc__place *lifecycle, int64_t grace)
{
    static const char *const moments[] = {"postStart", "preStop"};
    for (size_t i = 0; i < KC_COUNT(moments); i++) {
        kc__place handler = kc__member(lifecycle, moments[i]);
        if (!handler.value)
            continue;
        check_handler(&handler);
        check_sleep(&handler, grace);
    }
}

/* These two say when a container is given up: one success is enough to go on. */
static void check_one_success(const kc__place *probe)
{
    kc__place threshold = kc__member(probe, "successThreshold");
    if (!probe->value)
        return;
    check_probe(probe);
    if (kc__number(&threshold) != 1)
        kc__wrong(&threshold, KC_FIELD_INVALID, "must be 1");
}

static void check_readiness(const kc__place *probe)
{
    kc__place grace = kc__member(probe, "terminationGracePeriodSeconds");
    if (!probe->value)
        return;
    check_probe(probe);
    if (grace.value)
        kc__wrong(&grace, KC_FIELD_INVALID, "must not be set for readinessProbes");
}

static const kc__rule container_probes_[] = {
    {"livenessProbe", .code = check_one_success},
    {"readinessProbe", .code = check_readiness},
    {"startupProbe", .code = check_one_success},
};
static const kc__rules container_probes = KC__RULES(container_probes_);

void kc__check_probes(const kc__place *container, int64_t grace)
{
    kc__place lifecycle = kc__member(container, "lifecycle");
    check_lifecycle(&lifecycle, grace);
    kc__rules_check(&container_probes, container);
}
