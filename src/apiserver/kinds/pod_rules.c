/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_rules.c: what is checked in the spec of a pod, wherever it stands.
 */
#include "apiserver/kinds/pod_rules.h"
#include "kc/metadata_validation.h"

static const char *const restart_policies[] = {"Always", "OnFailure", "Never", NULL};
static const char *const dns_policies[] = {"ClusterFirstWithHostNet", "ClusterFirst", "Default",
                                           "None", NULL};
static const char *const preemption_policies[] = {"PreemptLowerPriority", "Never", NULL};
static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", NULL};

/* ---- containers ---- */

/* Two containers of a pod cannot have the same port of the host. */
static void check_host_ports(const kc__place *containers, const kc__place *container,
                             const kc_value *value, kc_map *seen)
{
    kc__place ports = kc__member(container, "ports");
    size_t i = 0;
    (void)containers;
    kc_items (kc_get(value, "ports"), one) {
        kc__place port = kc__item(&ports, one, i++), host = kc__member(&port, "hostPort");
        if (!kc__there(&host))
            continue;
        const char *key = kc_arena_printf(
            &host.errors->arena, "%s/%s/%lld", kc_as_cstr(kc_get(one, "protocol"), ""),
            kc_as_cstr(kc_get(one, "hostIP"), ""), (long long)kc__number(&host));
        if (kc_map_put(seen, kc_cstr(key), (void *)one))
            kc__wrong_as(&host, KC_FIELD_DUPLICATE,
                         kc_arena_printf(&host.errors->arena, "\"%s\"", key), NULL);
    }
}

static void check_containers(const kc__place *containers, const kc__pod_around *pod, kc_map *names)
{
    kc_scoped(kc_map) ports = {0};
    size_t i = 0;
    if (!kc_len(containers->value))
        kc__wrong(containers, KC_FIELD_REQUIRED, NULL);
    kc_items (containers->value, value) {
        kc__place container = kc__item(containers, value, i++);
        kc__place name = kc__member(&container, "name");
        kc__place policy = kc__member(&container, "restartPolicy");
        kc__check_container(&container, pod);
        kc__check_unique(&name, names);
        kc__check_probes(&container, pod->grace);
        if (policy.value)
            kc__wrong(&policy, KC_FIELD_FORBIDDEN, "may not be set for non-init containers");
    }
    i = 0;
    kc_items (containers->value, value) {
        kc__place container = kc__item(containers, value, i++);
        check_host_ports(containers, &container, value, &ports);
    }
}

static void forbid_probes(const kc__place *container)
{
    static const char *const members[] = {"lifecycle", "livenessProbe", "readinessProbe",
                                          "startupProbe"};
    for (size_t i = 0; i < KC_COUNT(members); i++) {
        kc__place probe = kc__member(container, members[i]);
        if (probe.value)
            kc__wrong(&probe, KC_FIELD_FORBIDDEN,
                      "may not be set for init containers without restartPolicy=Always");
    }
}

static void check_init_containers(const kc__place *containers, const kc__pod_around *pod,
                                  kc_map *names)
{
    static const char *const policies[] = {"Always", NULL};
    size_t i = 0;
    kc_items (containers->value, value) {
        kc__place container = kc__item(containers, value, i++);
        kc__place name = kc__member(&container, "name");
        kc__place policy = kc__member(&container, "restartPolicy");
        kc__check_container(&container, pod);
        if (policy.value && !kc__text_is(&policy, "Always"))
            kc__not_supported(&policy, policies);
        kc__check_unique(&name, names);
        if (kc__text_is(&policy, "Always"))
            kc__check_probes(&container, pod->grace);
        else
            forbid_probes(&container);
    }
}

/* ---- where it may run ---- */

static void check_toleration(const kc__place *place)
{
    static const char *const operators[] = {"Equal", "Exists", NULL};
    kc__place key = kc__member(place, "key"), op = kc__member(place, "operator");
    kc__place value = kc__member(place, "value"), effect = kc__member(place, "effect");
    kc__place shown = op;
    shown.value = value.value;
    if (kc__there(&key))
        kc__check_name(&key, KC_NAME_QUALIFIED);
    else if (!kc__text_is(&op, "Exists"))
        kc__wrong(&op, KC_FIELD_INVALID,
                  "operator must be Exists when `key` is empty, which means \"match all values "
                  "and all keys\"");
    if (kc_get(place->value, "tolerationSeconds") && !kc__text_is(&effect, "NoExecute"))
        kc__wrong(&effect, KC_FIELD_INVALID,
                  "effect must be 'NoExecute' when `tolerationSeconds` is set");
    if (!kc__there(&op) || kc__text_is(&op, "Equal"))
        kc__check_name(&shown, KC_NAME_LABEL_VALUE);
    else if (!kc__text_is(&op, "Exists"))
        kc__not_supported(&op, operators);
    else if (kc__there(&value))
        kc__wrong(&shown, KC_FIELD_INVALID, "value must be empty when `operator` is 'Exists'");
}

static const kc__rule toleration_[] = {
    {.code = check_toleration},
    {"effect", .one_of = effects},
};
static const kc__rules toleration = KC__RULES(toleration_);

void kc__check_tolerations(const kc__place *tolerations)
{
    size_t i = 0;
    kc_items (tolerations->value, value) {
        kc__place item = kc__item(tolerations, value, i++);
        kc__rules_check(&toleration, &item);
    }
}

/* With the network of the host a port is the host's; in a template it may still be open. */
static void check_host_network(const kc__place *spec)
{
    kc__place containers = kc__member(spec, "containers");
    size_t c = 0;
    if (!kc__true_in(spec, "hostNetwork"))
        return;
    kc_items (containers.value, value) {
        kc__place container = kc__item(&containers, value, c++);
        kc__place ports = kc__member(&container, "ports");
        size_t i = 0;
        kc_items (ports.value, one) {
            kc__place port = kc__item(&ports, one, i++), host = kc__member(&port, "hostPort");
            kc__place own = kc__member(&port, "containerPort");
            if (kc__there(&host) && kc__number(&host) != kc__number(&own))
                kc__wrong(&host, KC_FIELD_INVALID,
                          "must match `containerPort` when `hostNetwork` is true");
        }
    }
}

/* ---- together ---- */

static const kc__rule gate_[] = {{"conditionType", .name = &kc__qualified_name}};
static const kc__rules gate = KC__RULES(gate_);

/* Errors are about the gate, not its name. */
static void check_scheduling_gates(const kc__place *gates)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_items (gates->value, value) {
        kc__place item = kc__item(gates, value, i++);
        item.value = kc_get(value, "name");
        kc__check_name(&item, KC_NAME_QUALIFIED);
        kc__check_unique(&item, &seen);
    }
}

static const kc__rule rest_[] = {
    {.code = check_host_network},
    {"restartPolicy", .required = "", .one_of = restart_policies},
    {"dnsPolicy", .required = "", .one_of = dns_policies},
    {"nodeSelector", .code = kc__check_labels},
    {.code = kc__check_pod_security},
    {"affinity", .code = kc__check_affinity},
    {.code = kc__check_dns_config},
    {"readinessGates", .of = &gate},
    {"schedulingGates", .code = check_scheduling_gates},
    {"topologySpreadConstraints", .code = kc__check_spread},
    {.code = kc__check_host_processes},
    {.code = kc__check_host_users},
    {"serviceAccountName", .name = &kc__dns_subdomain},
    {"nodeName", .name = &kc__dns_subdomain},
    {"activeDeadlineSeconds", .low = 1, .high = INT32_MAX},
    {"hostname", .name = &kc__dns_label},
    {"subdomain", .name = &kc__dns_label},
    {"tolerations", .code = kc__check_tolerations},
    {"hostAliases", .code = kc__check_host_aliases},
    {"priorityClassName", .name = &kc__dns_subdomain},
    {"runtimeClassName", .name = &kc__dns_subdomain},
    {"preemptionPolicy", .one_of = preemption_policies},
    {.code = kc__check_system},
};
static const kc__rules rest_rules = KC__RULES(rest_);

kc__pod_around kc__pod_around_of(const kc__place *spec)
{
    kc__place users = kc__member(spec, "hostUsers");
    return (kc__pod_around){
        .host_users = !users.value || kc__there(&users),
        .grace = kc_as_i64_or(kc_get(spec->value, "terminationGracePeriodSeconds"), 0),
        .never = kc_str_is(kc__text_in(spec, "restartPolicy"), "Never"),
    };
}

void kc__check_pod_spec(const kc__place *spec)
{
    kc_scoped(kc_map) names = {0};
    kc__pod_around pod = kc__pod_around_of(spec);
    kc__place list = kc__member(spec, "volumes"), containers = kc__member(spec, "containers");
    kc__place init = kc__member(spec, "initContainers"),
              claims = kc__member(spec, "resourceClaims");
    kc__check_volumes(&list, &pod.volumes);
    kc__check_resource_claims(&claims, &pod.claims);
    check_containers(&containers, &pod, &names);
    check_init_containers(&init, &pod, &names);
    kc__check_pod_resources(spec, &pod.claims);
    kc__rules_check(&rest_rules, spec);
    kc_map_done(&pod.volumes);
    kc_map_done(&pod.claims);
}

void kc__check_pod_template(const kc__place *template)
{
    kc__place metadata = kc__member(template, "metadata"), spec = kc__member(template, "spec");
    kc__place labels = kc__member(&metadata, "labels");
    kc__place annotations = kc__member(&metadata, "annotations");
    labels.up = annotations.up = template; /* Kubernetes leaves out the metadata. */
    kc__check_labels(&labels);
    if (annotations.value)
        kc_validate_annotations(annotations.errors, kc__place_path(&annotations),
                                annotations.value);
    kc__check_pod_spec(&spec);
}
