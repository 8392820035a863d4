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
static const char *const systems[] = {"linux", "windows", NULL};
static const char *const unsatisfiable[] = {"DoNotSchedule", "ScheduleAnyway", NULL};

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

static void check_containers(const kc__place *containers, const kc_map *volumes, kc_map *names)
{
    kc_scoped(kc_map) ports = {0};
    size_t i = 0;
    if (!kc_len(containers->value))
        kc__wrong(containers, KC_FIELD_REQUIRED, NULL);
    kc_items (containers->value, value) {
        kc__place container = kc__item(containers, value, i++);
        kc__place name = kc__member(&container, "name");
        kc__place policy = kc__member(&container, "restartPolicy");
        kc__check_container(&container, volumes);
        kc__check_unique(&name, names);
        kc__check_probes(&container);
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

static void check_init_containers(const kc__place *containers, const kc_map *volumes, kc_map *names)
{
    static const char *const policies[] = {"Always", NULL};
    size_t i = 0;
    kc_items (containers->value, value) {
        kc__place container = kc__item(containers, value, i++);
        kc__place name = kc__member(&container, "name");
        kc__place policy = kc__member(&container, "restartPolicy");
        kc__check_container(&container, volumes);
        if (policy.value && !kc__text_is(&policy, "Always"))
            kc__not_supported(&policy, policies);
        kc__check_unique(&name, names);
        if (kc__text_is(&policy, "Always"))
            kc__check_probes(&container);
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

static void check_skew(const kc__place *skew)
{
    if (kc__number(skew) <= 0)
        kc__wrong(skew, KC_FIELD_INVALID, "must be greater than zero");
}

static const kc__rule spread_[] = {
    {"maxSkew", .code = check_skew},
    {"topologyKey", .required = "can not be empty"},
    {"whenUnsatisfiable", .required = "", .one_of = unsatisfiable},
    {"labelSelector", .code = kc__check_selector},
};
static const kc__rules spread = KC__RULES(spread_);

static void check_deadline(const kc__place *deadline)
{
    if (deadline->value)
        kc__check_between(deadline, 1, INT32_MAX);
}

/* ---- together ---- */

static const kc__rule gate_[] = {{"conditionType", .name = &kc__qualified_name}};
static const kc__rules gate = KC__RULES(gate_);
static const kc__rule scheduling_gate_[] = {{"name", .required = "", .name = &kc__qualified_name}};
static const kc__rules scheduling_gate = KC__RULES(scheduling_gate_);

/* The error is about the whole, as in Kubernetes. */
static void check_system(const kc__place *os)
{
    kc__place name = kc__member(os, "name"), shown = *os;
    shown.value = name.value;
    if (os->value && !kc__there(&name))
        kc__wrong(&name, KC_FIELD_REQUIRED, "cannot be empty");
    else if (os->value && !kc__text_is(&name, "linux") && !kc__text_is(&name, "windows"))
        kc__not_supported(&shown, systems);
}

static const kc__rule rest_[] = {
    {"restartPolicy", .required = "", .one_of = restart_policies},
    {"dnsPolicy", .required = "", .one_of = dns_policies},
    {"nodeSelector", .code = kc__check_labels},
    {"readinessGates", .of = &gate},
    {"schedulingGates", .of = &scheduling_gate},
    {"topologySpreadConstraints", .of = &spread},
    {"serviceAccountName", .name = &kc__dns_subdomain},
    {"nodeName", .name = &kc__dns_subdomain},
    {"activeDeadlineSeconds", .code = check_deadline},
    {"hostname", .name = &kc__dns_label},
    {"subdomain", .name = &kc__dns_label},
    {"tolerations", .code = kc__check_tolerations},
    {"priorityClassName", .name = &kc__dns_subdomain},
    {"runtimeClassName", .name = &kc__dns_subdomain},
    {"preemptionPolicy", .one_of = preemption_policies},
    {"os", .code = check_system},
};
static const kc__rules rest_rules = KC__RULES(rest_);

void kc__check_pod_spec(const kc__place *spec)
{
    kc_scoped(kc_map) volumes = {0}, names = {0};
    kc__place list = kc__member(spec, "volumes"), containers = kc__member(spec, "containers");
    kc__place init = kc__member(spec, "initContainers");
    kc__check_volumes(&list, &volumes);
    check_containers(&containers, &volumes, &names);
    check_init_containers(&init, &volumes, &names);
    kc__rules_check(&rest_rules, spec);
}

void kc__check_pod_template(const kc__place *template)
{
    kc__place metadata = kc__member(template, "metadata"), spec = kc__member(template, "spec");
    kc__place labels = kc__member(&metadata, "labels");
    kc__place annotations = kc__member(&metadata, "annotations");
    kc__check_labels(&labels);
    if (annotations.value)
        kc_validate_annotations(annotations.errors, kc__place_path(&annotations),
                                annotations.value);
    kc__check_pod_spec(&spec);
}
