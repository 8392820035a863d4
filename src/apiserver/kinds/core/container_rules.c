/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container_rules.c: validates containers of all types, in the order of Kubernetes: name, image,
 * ports, environment, mounts, image pull policy, resources.
 */
#include "apiserver/kinds/core/pod_rules.h"
#include "kc/ascii.h"

static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
static const char *const pull_policies[] = {"Always", "IfNotPresent", "Never", NULL};
static const char *const message_policies[] = {"File", "FallbackToLogsOnError", NULL};

/* ---- ports ---- */

static void check_port_name(const kc__location *name, kc_map *seen)
{
    if (!kc__location_is_set(name))
        return;
    if (kc_name_valid(KC_NAME_PORT, kc__location_text(name)))
        kc__validate_unique(name, seen);
    else
        kc__validate_name(name, KC_NAME_PORT);
}

static void check_host_port(const kc__location *port)
{
    if (kc__location_is_set(port))
        kc__validate_port(port);
}

static const kc__validate_rule port_[] = {
    {"containerPort", .required = "", .code = kc__validate_port},
    {"hostPort", .code = check_host_port},
    {"protocol", .required = "", .one_of = protocols},
};
static const kc__validate_rule_table port_rules = KC__VALIDATE_RULES(port_);

static void check_ports(const kc__location *ports)
{
    kc_scoped(kc_map) names = {0};
    size_t i = 0;
    kc_value_each_item (ports->value, value) {
        kc__location port = kc__location_item(ports, value, i++),
                     name = kc__location_member(&port, "name");
        check_port_name(&name, &names);
        kc__validate_by_rules(&port_rules, &port);
    }
}

/* ---- environment ---- */

static void check_variable_name(const kc__location *name)
{
    kc_str text = kc__location_text(name);
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] >= ' ' && text.p[i] <= '~' && text.p[i] != '=')
            continue;
        kc__location_error(name, KC_FIELD_INVALID,
                           "a valid environment variable name must consist only of printable ASCII "
                           "characters other than '='");
        return;
    }
}

static void check_key_name(const kc__location *key)
{
    kc__validate_name(key, KC_NAME_CONFIG_KEY);
}

static void check_object_name(const kc__location *name)
{
    kc__validate_name(name, KC_NAME_DNS_SUBDOMAIN);
}

static const kc__validate_rule key_ref_[] = {
    {"name", .code = check_object_name},
    {"key", .required = "", .code = check_key_name},
};
static const kc__validate_rule_table key_ref = KC__VALIDATE_RULES(key_ref_);

static void check_env_field(const kc__location *ref)
{
    static const char *const paths[] = {"metadata.name",
                                        "metadata.namespace",
                                        "metadata.uid",
                                        "spec.nodeName",
                                        "spec.serviceAccountName",
                                        "status.hostIP",
                                        "status.hostIPs",
                                        "status.podIP",
                                        "status.podIPs",
                                        NULL};
    if (ref->value)
        kc__validate_field_ref(ref, paths);
}

static void check_env_resource(const kc__location *ref)
{
    if (ref->value)
        kc__validate_resource_field_ref(ref, false);
}

static const kc__validate_rule source_[] = {
    {"fieldRef", .code = check_env_field},
    {"resourceFieldRef", .code = check_env_resource},
    {"configMapKeyRef", .of = &key_ref},
    {"secretKeyRef", .of = &key_ref},
};
static const kc__validate_rule_table source_rules = KC__VALIDATE_RULES(source_);

/* A variable has either a value or exactly one source. */
static void check_env_sources(const kc__location *variable)
{
    kc__location source = kc__location_member(variable, "valueFrom");
    size_t n = 0;
    if (!source.value)
        return;
    kc__validate_by_rules(&source_rules, &source);
    kc_value_each_member (source.value, name, value)
        n += name.n > 0 && kc_value_type(value) == KC_JSON_OBJECT;
    if (n == 0)
        kc__location_error_json(
            &source, KC_FIELD_INVALID, "\"\"",
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
            "`secretKeyRef`");
    else if (kc__location_member_text(variable, "value").n)
        kc__location_error_json(&source, KC_FIELD_INVALID, "\"\"",
                                "may not be specified when `value` is not empty");
    else if (n > 1)
        kc__location_error_json(&source, KC_FIELD_INVALID, "\"\"",
                                "may not have more than one field specified at a time");
}

static const kc__validate_rule variable_[] = {
    {"name", .required = "", .code = check_variable_name},
    {.code = check_env_sources},
};
static const kc__validate_rule_table variable_rules = KC__VALIDATE_RULES(variable_);

static const kc__validate_rule env_object_[] = {
    {"name", .required = "", .code = check_object_name}};
static const kc__validate_rule_table env_object = KC__VALIDATE_RULES(env_object_);
static const kc__validate_rule env_from_[] = {
    {"prefix", .code = check_variable_name},
    {"configMapRef", .of = &env_object},
    {"secretRef", .of = &env_object},
};
static const kc__validate_rule_table env_from_rules = KC__VALIDATE_RULES(env_from_);

/* Kubernetes reports the error for the whole list. */
static void check_env_from(const kc__location *list)
{
    size_t i = 0;
    kc_value_each_item (list->value, value) {
        kc__location item = kc__location_item(list, value, i++);
        kc__validate_by_rules(&env_from_rules, &item);
        int n = !!kc_value_get(value, "configMapRef") + !!kc_value_get(value, "secretRef");
        if (n == 0)
            kc__location_error_json(list, KC_FIELD_INVALID, "\"\"",
                                    "must specify one of: `configMapRef` or `secretRef`");
        else if (n > 1)
            kc__location_error_json(list, KC_FIELD_INVALID, "\"\"",
                                    "may not have more than one field specified at a time");
    }
}

/* ---- the container ---- */

static const kc__validate_rule start_[] = {
    {"name", .required = "", .name = &kc__validate_name_dns_label},
    {"image", .required = ""},
    {"terminationMessagePolicy", .required = "", .one_of = message_policies},
    {"ports", .code = check_ports},
    {"env", .of = &variable_rules},
    {"envFrom", .code = check_env_from},
};
static const kc__validate_rule_table start_rules = KC__VALIDATE_RULES(start_);

static const kc__validate_rule end_[] = {
    {"imagePullPolicy", .required = "", .one_of = pull_policies},
};
static const kc__validate_rule_table end_rules = KC__VALIDATE_RULES(end_);

/* Kubernetes reports the errors for the whole list. */
static void check_resize(const kc__location *policies, const kc__location *policy, bool never)
{
    static const char *const resources[] = {"cpu", "memory", NULL};
    static const char *const restarts[] = {"NotRequired", "RestartContainer", NULL};
    const char *const names[] = {"resourceName", "restartPolicy"};
    const char *const *const known[] = {resources, restarts};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc__location shown = *policies;
        shown.value = kc_value_get(policy->value, names[i]);
        if (kc__location_is_set(&shown))
            kc__validate_one_of(&shown, known[i]);
        else
            kc__location_error(&shown, KC_FIELD_REQUIRED, NULL);
        if (i && never && !kc__location_text_is(&shown, "NotRequired"))
            kc__location_error(&shown, KC_FIELD_INVALID,
                               "must be 'NotRequired' when `restartPolicy` is 'Never'");
    }
}

static void check_resizes(const kc__location *policies, bool never)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_value_each_item (policies->value, value) {
        kc__location policy = kc__location_item(policies, value, i++), shown = policy;
        shown.value = kc_value_get(value, "resourceName");
        kc__validate_unique(&shown, &seen);
        check_resize(policies, &policy, never);
    }
}

void kc__validate_container(const kc__location *container, const kc__validate_pod_context *pod)
{
    kc__location resources = kc__location_member(container, "resources");
    kc__location policies = kc__location_member(container, "resizePolicy");
    kc__location security = kc__location_member(container, "securityContext");
    kc__validate_by_rules(&start_rules, container);
    kc__validate_mounts(container, &pod->volumes);
    kc__validate_by_rules(&end_rules, container);
    kc__validate_resources(&resources, &pod->claims);
    check_resizes(&policies, pod->never);
    kc__validate_container_security(&security, pod->host_users);
}
