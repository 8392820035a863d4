/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container_rules.c: what is checked in containers of all sorts, in the order of Kubernetes:
 * name, image, ports, environment, mounts, how images are pulled, resources.
 */
#include "apiserver/kinds/pod_rules.h"
#include "kc/ascii.h"

static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
static const char *const pull_policies[] = {"Always", "IfNotPresent", "Never", NULL};
static const char *const message_policies[] = {"File", "FallbackToLogsOnError", NULL};

/* ---- ports ---- */

static void check_port_name(const kc__place *name, kc_map *seen)
{
    if (!kc__there(name))
        return;
    if (kc_name_valid(KC_NAME_PORT, kc__text(name)))
        kc__check_unique(name, seen);
    else
        kc__check_name(name, KC_NAME_PORT);
}

static void check_host_port(const kc__place *port)
{
    if (kc__there(port))
        kc__check_port(port);
}

static const kc__rule port_[] = {
    {"containerPort", .required = "", .code = kc__check_port},
    {"hostPort", .code = check_host_port},
    {"protocol", .required = "", .one_of = protocols},
};
static const kc__rules port_rules = KC__RULES(port_);

static void check_ports(const kc__place *ports)
{
    kc_scoped(kc_map) names = {0};
    size_t i = 0;
    kc_items (ports->value, value) {
        kc__place port = kc__item(ports, value, i++), name = kc__member(&port, "name");
        check_port_name(&name, &names);
        kc__rules_check(&port_rules, &port);
    }
}

/* ---- the environment ---- */

static void check_variable_name(const kc__place *name)
{
    kc_str text = kc__text(name);
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] >= ' ' && text.p[i] <= '~' && text.p[i] != '=')
            continue;
        kc__wrong(name, KC_FIELD_INVALID,
                  "a valid environment variable name must consist only of printable ASCII "
                  "characters other than '='");
        return;
    }
}

static void check_key_name(const kc__place *key)
{
    kc__check_name(key, KC_NAME_CONFIG_KEY);
}

static void check_object_name(const kc__place *name)
{
    kc__check_name(name, KC_NAME_DNS_SUBDOMAIN);
}

static const kc__rule key_ref_[] = {
    {"name", .code = check_object_name},
    {"key", .required = "", .code = check_key_name},
};
static const kc__rules key_ref = KC__RULES(key_ref_);

static void check_env_field(const kc__place *ref)
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
        kc__check_field_ref(ref, paths);
}

static void check_env_resource(const kc__place *ref)
{
    if (ref->value)
        kc__check_resource_field_ref(ref, false);
}

static const kc__rule source_[] = {
    {"fieldRef", .code = check_env_field},
    {"resourceFieldRef", .code = check_env_resource},
    {"configMapKeyRef", .of = &key_ref},
    {"secretKeyRef", .of = &key_ref},
};
static const kc__rules source_rules = KC__RULES(source_);

/* A value, or one place where it comes from. */
static void check_sources(const kc__place *variable)
{
    kc__place source = kc__member(variable, "valueFrom");
    size_t n = 0;
    if (!source.value)
        return;
    kc__rules_check(&source_rules, &source);
    kc_members (source.value, name, value)
        n += name.n > 0 && kc_type_of(value) == KC_OBJECT;
    if (n == 0)
        kc__wrong_as(&source, KC_FIELD_INVALID, "\"\"",
                     "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
                     "`secretKeyRef`");
    else if (kc__text_in(variable, "value").n)
        kc__wrong_as(&source, KC_FIELD_INVALID, "\"\"",
                     "may not be specified when `value` is not empty");
    else if (n > 1)
        kc__wrong_as(&source, KC_FIELD_INVALID, "\"\"",
                     "may not have more than one field specified at a time");
}

static const kc__rule variable_[] = {
    {"name", .required = "", .code = check_variable_name},
    {.code = check_sources},
};
static const kc__rules variable_rules = KC__RULES(variable_);

static const kc__rule env_object_[] = {{"name", .required = "", .code = check_object_name}};
static const kc__rules env_object = KC__RULES(env_object_);
static const kc__rule env_from_[] = {
    {"prefix", .code = check_variable_name},
    {"configMapRef", .of = &env_object},
    {"secretRef", .of = &env_object},
};
static const kc__rules env_from_rules = KC__RULES(env_from_);

/* The error is about the whole list, as in Kubernetes. */
static void check_env_from(const kc__place *list)
{
    size_t i = 0;
    kc_items (list->value, value) {
        kc__place item = kc__item(list, value, i++);
        kc__rules_check(&env_from_rules, &item);
        int n = !!kc_get(value, "configMapRef") + !!kc_get(value, "secretRef");
        if (n == 0)
            kc__wrong_as(list, KC_FIELD_INVALID, "\"\"",
                         "must specify one of: `configMapRef` or `secretRef`");
        else if (n > 1)
            kc__wrong_as(list, KC_FIELD_INVALID, "\"\"",
                         "may not have more than one field specified at a time");
    }
}

/* ---- together ---- */

static const kc__rule start_[] = {
    {"name", .required = "", .name = &kc__dns_label},
    {"image", .required = ""},
    {"terminationMessagePolicy", .required = "", .one_of = message_policies},
    {"ports", .code = check_ports},
    {"env", .of = &variable_rules},
    {"envFrom", .code = check_env_from},
};
static const kc__rules start_rules = KC__RULES(start_);

static const kc__rule end_[] = {
    {"imagePullPolicy", .required = "", .one_of = pull_policies},
};
static const kc__rules end_rules = KC__RULES(end_);

/* Errors are about the whole list, as in Kubernetes. */
static void check_resize(const kc__place *policies, const kc__place *policy, bool never)
{
    static const char *const resources[] = {"cpu", "memory", NULL};
    static const char *const restarts[] = {"NotRequired", "RestartContainer", NULL};
    const char *const names[] = {"resourceName", "restartPolicy"};
    const char *const *const known[] = {resources, restarts};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc__place shown = *policies;
        shown.value = kc_get(policy->value, names[i]);
        if (kc__there(&shown))
            kc__check_one_of(&shown, known[i]);
        else
            kc__wrong(&shown, KC_FIELD_REQUIRED, NULL);
        if (i && never && !kc__text_is(&shown, "NotRequired"))
            kc__wrong(&shown, KC_FIELD_INVALID,
                      "must be 'NotRequired' when `restartPolicy` is 'Never'");
    }
}

static void check_resizes(const kc__place *policies, bool never)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_items (policies->value, value) {
        kc__place policy = kc__item(policies, value, i++), shown = policy;
        shown.value = kc_get(value, "resourceName");
        kc__check_unique(&shown, &seen);
        check_resize(policies, &policy, never);
    }
}

void kc__check_container(const kc__place *container, const kc__pod_around *pod)
{
    kc__place resources = kc__member(container, "resources");
    kc__place policies = kc__member(container, "resizePolicy");
    kc__place security = kc__member(container, "securityContext");
    kc__rules_check(&start_rules, container);
    kc__check_mounts(container, &pod->volumes);
    kc__rules_check(&end_rules, container);
    kc__check_resources(&resources, &pod->claims);
    check_resizes(&policies, pod->never);
    kc__check_container_security(&security, pod->host_users);
}
