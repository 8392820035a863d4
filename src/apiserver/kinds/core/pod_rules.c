/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_rules.c: validates the spec of a pod, in a Pod and in templates.
 */
#include "apiserver/kinds/core/pod_rules.h"

#include "apiserver/kinds/core/profile_annotations.h"
#include "kc/metadata_validation.h"

static const char *const restart_policies[] = {"Always", "OnFailure", "Never", NULL};
static const char *const dns_policies[] = {"ClusterFirstWithHostNet", "ClusterFirst", "Default",
                                           "None", NULL};
static const char *const preemption_policies[] = {"PreemptLowerPriority", "Never", NULL};
static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", NULL};

/* ---- containers ---- */

/* Two containers of a pod cannot use the same host port. */
static void check_host_ports(const kc__location *containers, const kc__location *container,
                             const kc_value *value, kc_map *seen)
{
    kc__location ports = kc__location_member(container, "ports");
    size_t i = 0;
    (void)containers;
    kc_value_each_item (kc_value_get(value, "ports"), one) {
        kc__location port = kc__location_item(&ports, one, i++),
                     host = kc__location_member(&port, "hostPort");
        if (!kc__location_is_set(&host))
            continue;
        const char *key = kc_arena_printf(&host.errors->arena, "%s/%s/%lld",
                                          kc_value_as_cstr(kc_value_get(one, "protocol"), ""),
                                          kc_value_as_cstr(kc_value_get(one, "hostIP"), ""),
                                          (long long)kc__location_number(&host));
        if (kc_map_put(seen, kc_cstr(key), (void *)one))
            kc__location_error_json(&host, KC_FIELD_DUPLICATE,
                                    kc_arena_printf(&host.errors->arena, "\"%s\"", key), NULL);
    }
}

static void check_containers(const kc__location *containers, const kc__validate_pod_context *pod,
                             kc_map *names)
{
    kc_scoped(kc_map) ports = {0};
    size_t i = 0;
    if (!kc_value_len(containers->value))
        kc__location_error(containers, KC_FIELD_REQUIRED, NULL);
    kc_value_each_item (containers->value, value) {
        kc__location container = kc__location_item(containers, value, i++);
        kc__location name = kc__location_member(&container, "name");
        kc__location policy = kc__location_member(&container, "restartPolicy");
        kc__validate_container(&container, pod);
        kc__validate_unique(&name, names);
        kc__validate_probes(&container, pod->grace);
        if (policy.value)
            kc__location_error(&policy, KC_FIELD_FORBIDDEN,
                               "may not be set for non-init containers");
    }
    i = 0;
    kc_value_each_item (containers->value, value) {
        kc__location container = kc__location_item(containers, value, i++);
        check_host_ports(containers, &container, value, &ports);
    }
}

static void forbid_probes(const kc__location *container)
{
    static const char *const members[] = {"lifecycle", "livenessProbe", "readinessProbe",
                                          "startupProbe"};
    for (size_t i = 0; i < KC_COUNT(members); i++) {
        kc__location probe = kc__location_member(container, members[i]);
        if (probe.value)
            kc__location_error(&probe, KC_FIELD_FORBIDDEN,
                               "may not be set for init containers without restartPolicy=Always");
    }
}

static void check_init_containers(const kc__location *containers,
                                  const kc__validate_pod_context *pod, kc_map *names)
{
    static const char *const policies[] = {"Always", NULL};
    size_t i = 0;
    kc_value_each_item (containers->value, value) {
        kc__location container = kc__location_item(containers, value, i++);
        kc__location name = kc__location_member(&container, "name");
        kc__location policy = kc__location_member(&container, "restartPolicy");
        kc__validate_container(&container, pod);
        if (policy.value && !kc__location_text_is(&policy, "Always"))
            kc__location_not_supported(&policy, policies);
        kc__validate_unique(&name, names);
        if (kc__location_text_is(&policy, "Always"))
            kc__validate_probes(&container, pod->grace);
        else
            forbid_probes(&container);
    }
}

/* ---- node placement ---- */

static void check_toleration(const kc__location *location)
{
    static const char *const operators[] = {"Equal", "Exists", NULL};
    kc__location key = kc__location_member(location, "key"),
                 op = kc__location_member(location, "operator");
    kc__location value = kc__location_member(location, "value"),
                 effect = kc__location_member(location, "effect");
    kc__location shown = op;
    shown.value = value.value;
    if (kc__location_is_set(&key))
        kc__validate_name(&key, KC_NAME_QUALIFIED);
    else if (!kc__location_text_is(&op, "Exists"))
        kc__location_error(
            &op, KC_FIELD_INVALID,
            "operator must be Exists when `key` is empty, which means \"match all values "
            "and all keys\"");
    if (kc_value_get(location->value, "tolerationSeconds") &&
        !kc__location_text_is(&effect, "NoExecute"))
        kc__location_error(&effect, KC_FIELD_INVALID,
                           "effect must be 'NoExecute' when `tolerationSeconds` is set");
    if (!kc__location_is_set(&op) || kc__location_text_is(&op, "Equal"))
        kc__validate_name(&shown, KC_NAME_LABEL_VALUE);
    else if (!kc__location_text_is(&op, "Exists"))
        kc__location_not_supported(&op, operators);
    else if (kc__location_is_set(&value))
        kc__location_error(&shown, KC_FIELD_INVALID,
                           "value must be empty when `operator` is 'Exists'");
}

static const kc__validate_rule toleration_[] = {
    {.code = check_toleration},
    {"effect", .one_of = effects},
};
static const kc__validate_rule_table toleration = KC__VALIDATE_RULES(toleration_);

void kc__validate_tolerations(const kc__location *tolerations)
{
    size_t i = 0;
    kc_value_each_item (tolerations->value, value) {
        kc__location item = kc__location_item(tolerations, value, i++);
        kc__validate_by_rules(&toleration, &item);
    }
}

/* With hostNetwork a host port must equal the container port; in a template it may be unset. */
static void check_host_network(const kc__location *spec)
{
    kc__location containers = kc__location_member(spec, "containers");
    size_t c = 0;
    if (!kc__location_member_is_true(spec, "hostNetwork"))
        return;
    kc_value_each_item (containers.value, value) {
        kc__location container = kc__location_item(&containers, value, c++);
        kc__location ports = kc__location_member(&container, "ports");
        size_t i = 0;
        kc_value_each_item (ports.value, one) {
            kc__location port = kc__location_item(&ports, one, i++),
                         host = kc__location_member(&port, "hostPort");
            kc__location own = kc__location_member(&port, "containerPort");
            if (kc__location_is_set(&host) &&
                kc__location_number(&host) != kc__location_number(&own))
                kc__location_error(&host, KC_FIELD_INVALID,
                                   "must match `containerPort` when `hostNetwork` is true");
        }
    }
}

/* ---- the pod spec ---- */

static const kc__validate_rule gate_[] = {{"conditionType", .name = &kc__validate_name_qualified}};
static const kc__validate_rule_table gate = KC__VALIDATE_RULES(gate_);

/* Errors are reported for the gate, not for its name. */
static void check_scheduling_gates(const kc__location *gates)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_value_each_item (gates->value, value) {
        kc__location item = kc__location_item(gates, value, i++);
        item.value = kc_value_get(value, "name");
        kc__validate_name(&item, KC_NAME_QUALIFIED);
        kc__validate_unique(&item, &seen);
    }
}

static const kc__validate_rule rest_[] = {
    {.code = check_host_network},
    {"restartPolicy", .required = "", .one_of = restart_policies},
    {"dnsPolicy", .required = "", .one_of = dns_policies},
    {"nodeSelector", .code = kc__validate_labels},
    {.code = kc__validate_pod_security},
    {"affinity", .code = kc__validate_affinity},
    {.code = kc__validate_dns_config},
    {"readinessGates", .of = &gate},
    {"schedulingGates", .code = check_scheduling_gates},
    {"topologySpreadConstraints", .code = kc__validate_spread},
    {.code = kc__validate_host_processes},
    {.code = kc__validate_host_users},
    {"serviceAccountName", .name = &kc__validate_name_dns_subdomain},
    {"nodeName", .name = &kc__validate_name_dns_subdomain},
    {"activeDeadlineSeconds", .low = 1, .high = INT32_MAX},
    {"hostname", .name = &kc__validate_name_dns_label},
    {"subdomain", .name = &kc__validate_name_dns_label},
    {"tolerations", .code = kc__validate_tolerations},
    {"hostAliases", .code = kc__validate_host_aliases},
    {"priorityClassName", .name = &kc__validate_name_dns_subdomain},
    {"runtimeClassName", .name = &kc__validate_name_dns_subdomain},
    {"preemptionPolicy", .one_of = preemption_policies},
    {.code = kc__validate_system},
};
static const kc__validate_rule_table rest_rules = KC__VALIDATE_RULES(rest_);

kc__validate_pod_context kc__validate_pod_context_of(const kc__location *spec)
{
    kc__location users = kc__location_member(spec, "hostUsers");
    return (kc__validate_pod_context){
        .host_users = !users.value || kc__location_is_set(&users),
        .grace = kc_value_as_i64_or(kc_value_get(spec->value, "terminationGracePeriodSeconds"), 0),
        .never = kc_str_is(kc__location_member_text(spec, "restartPolicy"), "Never"),
    };
}

void kc__validate_pod_spec(const kc__location *spec)
{
    kc_scoped(kc_map) names = {0};
    kc__validate_pod_context pod = kc__validate_pod_context_of(spec);
    kc__location list = kc__location_member(spec, "volumes"),
                 containers = kc__location_member(spec, "containers");
    kc__location init = kc__location_member(spec, "initContainers"),
                 claims = kc__location_member(spec, "resourceClaims");
    kc__validate_volumes(&list, &pod.volumes);
    kc__validate_resource_claims(&claims, &pod.claims);
    check_containers(&containers, &pod, &names);
    check_init_containers(&init, &pod, &names);
    kc__validate_pod_resources(spec, &pod.claims);
    kc__validate_by_rules(&rest_rules, spec);
    kc_map_done(&pod.volumes);
    kc_map_done(&pod.claims);
}

void kc__validate_pod_template(const kc__location *template)
{
    kc__location metadata = kc__location_member(template, "metadata"),
                 spec = kc__location_member(template, "spec");
    kc__location labels = kc__location_member(&metadata, "labels");
    kc__location annotations = kc__location_member(&metadata, "annotations");
    labels.up = annotations.up = template; /* Kubernetes omits the metadata from the path. */
    kc__validate_labels(&labels);
    if (annotations.value)
        kc_validate_annotations(annotations.errors, kc__location_path(&annotations),
                                annotations.value);
    kc__validate_profile_annotations(&annotations, spec.value);
    kc__validate_pod_spec(&spec);
    kc__validate_profile_fields(&annotations, &spec);
}
