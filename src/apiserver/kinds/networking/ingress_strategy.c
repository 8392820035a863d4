/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ingress_strategy.c: the strategies of Ingresses, which route hosts and paths to Services, and of
 * IngressClasses, which name the controller.
 */
#include "apiserver/kinds/networking/address_rules.h"
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/warnings.h"

/* ---- references to other objects ---- */

static const kc__validate_rule reference_[] = {
    {"apiGroup", .name = &kc__validate_name_dns_subdomain},
    {"kind", .required = "", .name = &kc__validate_name_path_segment},
    {"name", .required = "", .name = &kc__validate_name_path_segment},
};
static const kc__validate_rule_table reference = KC__VALIDATE_RULES(reference_);

static void check_reference(const kc__location *location)
{
    kc__validate_by_rules(&reference, location);
}

/* ---- IngressClass ---- */

static const kc__defaults_entry parameters_[] = {{.field = "scope", .json = "\"Cluster\""}};
static const kc__defaults parameters = KC__DEFAULTS(parameters_);
static const kc__defaults_entry class_spec_[] = {{.field = "parameters", .of = &parameters}};
static const kc__defaults class_spec = KC__DEFAULTS(class_spec_);
static const kc__defaults_entry class_[] = {{.field = "spec", .of = &class_spec}};
static const kc__defaults class_defaults = KC__DEFAULTS(class_);

static void check_scope(const kc__location *location)
{
    static const char *const scopes[] = {"Cluster", "Namespace", NULL};
    kc__location scope = kc__location_member(location, "scope"),
                 ns = kc__location_member(location, "namespace");
    if (!scope.value) {
        kc__location_error(&scope, KC_FIELD_REQUIRED, NULL);
        return;
    }
    kc__validate_one_of(&scope, scopes);
    if (kc__location_text_is(&scope, "Namespace") && !kc__location_is_set(&ns))
        kc__location_error(&ns, KC_FIELD_REQUIRED, "`parameters.scope` is set to 'Namespace'");
    else if (kc__location_text_is(&scope, "Namespace"))
        kc__validate_name(&ns, KC_NAME_DNS_LABEL);
    else if (kc__location_text_is(&scope, "Cluster") && ns.value)
        kc__location_error(&ns, KC_FIELD_FORBIDDEN, "`parameters.scope` is set to 'Cluster'");
}

static void check_controller(const kc__location *controller)
{
    if (kc__location_text(controller).n > 250)
        kc__location_error(controller, KC_FIELD_TOO_LONG, "may not be more than 250 bytes");
    kc__validate_domain_path(controller);
}

static const kc__validate_rule parameters_rule_[] = {{.code = check_reference},
                                                     {.code = check_scope}};
static const kc__validate_rule_table parameters_rules = KC__VALIDATE_RULES(parameters_rule_);
static const kc__validate_rule class_rule_[] = {
    {"controller", .code = check_controller},
    {"parameters", .of = &parameters_rules},
};
static const kc__validate_rule_table class_rule = KC__VALIDATE_RULES(class_rule_);
static const kc__validate_rule class_object_[] = {{"spec", .of = &class_rule}};
static const kc__validate_rule_table class_rules = KC__VALIDATE_RULES(class_object_);

static void validate_ingress_class_update(const kc_value *object, const kc_value *old,
                                          kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc__location controller = kc__location_member(&spec, "controller");
    kc__validate_same(&controller, kc_value_get(kc_value_get(old, "spec"), "controller"));
}

const kc__strategy kc__strategy_ingress_class = {
    .generation = true,
    .defaults = &class_defaults,
    .rules = &class_rules,
    .validate_update = validate_ingress_class_update,
};

/* ---- Ingress ---- */

static void check_service_port(const kc__location *backend, const kc__location *port)
{
    kc__location name = kc__location_member(port, "name"),
                 number = kc__location_member(port, "number");
    if (kc__location_is_set(&name) && kc__location_is_set(&number))
        kc__location_error_json(backend, KC_FIELD_INVALID, "\"\"",
                                "cannot set both port name & port number");
    else if (kc__location_is_set(&name))
        kc__validate_name(&name, KC_NAME_PORT);
    else if (kc__location_is_set(&number))
        kc__validate_port(&number);
    else
        kc__location_error(backend, KC_FIELD_REQUIRED, "port name or number is required");
}

static void check_backend(const kc__location *backend)
{
    kc__location service = kc__location_member(backend, "service"),
                 name = kc__location_member(&service, "name");
    kc__location port = kc__location_member(&service, "port"),
                 resource = kc__location_member(backend, "resource");
    if (!backend->value)
        return;
    if (service.value && resource.value) {
        kc__location_error_json(backend, KC_FIELD_INVALID, "\"\"",
                                "cannot set both resource and service backends");
    } else if (service.value) {
        kc__validate_needed_name(&name, KC_NAME_DNS_1035_LABEL);
        check_service_port(backend, &port);
    } else if (resource.value) {
        check_reference(&resource);
    } else {
        kc__location_error_json(backend, KC_FIELD_INVALID, "\"\"",
                                "resource or service backend is required");
    }
}

/* The path must be absolute and normalized. */
static void check_plain_path(const kc__location *path)
{
    static const char *const inside[] = {"//", "/./", "/../", "%2f", "%2F"};
    static const char *const at_end[] = {"/..", "/."};
    kc_str text = kc__location_text(path);
    if (!kc_str_starts(text, KC_STR("/")))
        kc__location_error(path, KC_FIELD_INVALID, "must be an absolute path");
    if (!text.n)
        return;
    for (size_t i = 0; i < KC_COUNT(inside); i++)
        if (kc_str_contains(text, kc_cstr(inside[i])))
            kc__location_error(path, KC_FIELD_INVALID, "must not contain '%s'", inside[i]);
    for (size_t i = 0; i < KC_COUNT(at_end); i++)
        if (kc_str_ends(text, kc_cstr(at_end[i])))
            kc__location_error(path, KC_FIELD_INVALID, "cannot end with '%s'", at_end[i]);
}

static void check_http_path(const kc__location *location)
{
    static const char *const types[] = {"Exact", "ImplementationSpecific", "Prefix", NULL};
    kc__location type = kc__location_member(location, "pathType"),
                 path = kc__location_member(location, "path");
    kc__location backend = kc__location_member(location, "backend");
    bool own = kc__location_text_is(&type, "ImplementationSpecific");
    bool known =
        own || kc__location_text_is(&type, "Exact") || kc__location_text_is(&type, "Prefix");
    if (!type.value) {
        kc__location_error(&type, KC_FIELD_REQUIRED, "pathType must be specified");
        return;
    }
    if (!known)
        kc__location_not_supported(&type, types);
    else if (!own)
        check_plain_path(&path);
    else if (kc__location_is_set(&path) && !kc_str_starts(kc__location_text(&path), KC_STR("/")))
        kc__location_error(&path, KC_FIELD_INVALID, "must be an absolute path");
    check_backend(&backend);
}

static const kc__validate_rule http_path_[] = {{.code = check_http_path}};
static const kc__validate_rule_table http_path = KC__VALIDATE_RULES(http_path_);
static const kc__validate_rule http_[] = {{"paths", .required = "", .of = &http_path}};
static const kc__validate_rule_table http = KC__VALIDATE_RULES(http_);

static void check_ingress_host(const kc__location *host)
{
    bool wild = kc_str_find(kc__location_text(host), '*') >= 0;
    if (!kc__location_is_set(host))
        return;
    if (kc__validate_address_is_valid(kc__location_text(host)))
        kc__location_error(host, KC_FIELD_INVALID, "must be a DNS name, not an IP address");
    kc__validate_name(host, wild ? KC_NAME_WILDCARD : KC_NAME_DNS_SUBDOMAIN);
}

static const kc__validate_rule ingress_rule_[] = {{"host", .code = check_ingress_host},
                                                  {"http", .of = &http}};
static const kc__validate_rule_table ingress_rule = KC__VALIDATE_RULES(ingress_rule_);

static void check_some_rule(const kc__location *spec)
{
    if (!kc_value_len(kc_value_get(spec->value, "rules")) &&
        !kc_value_get(spec->value, "defaultBackend"))
        kc__location_error_json(spec, KC_FIELD_INVALID, "[]",
                                "either `defaultBackend` or `rules` must be specified");
}

static void check_tls_hosts(const kc__location *hosts)
{
    size_t i = 0;
    kc_value_each_item (hosts->value, value) {
        kc__location host = kc__location_item(hosts, value, i++);
        bool wild = kc_str_find(kc__location_text(&host), '*') >= 0;
        kc__validate_name(&host, wild ? KC_NAME_WILDCARD : KC_NAME_DNS_SUBDOMAIN);
    }
}

static void check_secret(const kc__location *name)
{
    if (kc__location_is_set(name))
        kc__validate_name(name, KC_NAME_DNS_SUBDOMAIN);
}

static const kc__validate_rule tls_[] = {
    {"hosts", .code = check_tls_hosts},
    {"secretName", .code = check_secret},
};
static const kc__validate_rule_table tls_rules = KC__VALIDATE_RULES(tls_);

static const kc__validate_rule ingress_spec_[] = {
    {.code = check_some_rule},
    {"defaultBackend", .code = check_backend},
    {"rules", .of = &ingress_rule},
    {"tls", .of = &tls_rules},
    {"ingressClassName", .name = &kc__validate_name_dns_subdomain},
};
static const kc__validate_rule_table ingress_spec = KC__VALIDATE_RULES(ingress_spec_);
static const kc__validate_rule ingress_[] = {{"spec", .of = &ingress_spec}};
static const kc__validate_rule_table ingress_rules = KC__VALIDATE_RULES(ingress_);

/* The class used to be an annotation; if a new Ingress sets both, they must match. */
static void validate_ingress(const kc_value *object, kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 spec = kc__location_member(&root, "spec");
    kc__location shown = kc__location_member(&root, "annotations");
    kc__location old = kc__location_member(&shown, "kubernetes.io/ingress.class");
    kc__location now = kc__location_member(&spec, "ingressClassName");
    old.value =
        kc_value_get(kc_value_get(kc_value_get(object, "metadata"), "annotations"), old.name);
    if (old.value && now.value && !kc_str_eq(kc__location_text(&old), kc__location_text(&now)))
        kc__location_error(&old, KC_FIELD_INVALID,
                           "must match `ingressClassName` when both are specified");
}

static void check_listener(const kc__location *ingress)
{
    kc__location ip = kc__location_member(ingress, "ip"),
                 host = kc__location_member(ingress, "hostname");
    if (kc__location_is_set(&ip))
        kc__validate_ip(&ip);
    if (!kc__location_is_set(&host))
        return;
    kc__validate_name(&host, KC_NAME_DNS_SUBDOMAIN);
    if (kc__validate_address_is_valid(kc__location_text(&host)))
        kc__location_error(&host, KC_FIELD_INVALID, "must be a DNS name, not an IP address");
}

static const kc__validate_rule listener_[] = {{.code = check_listener}};
static const kc__validate_rule_table listener_rules = KC__VALIDATE_RULES(listener_);

static void validate_ingress_status(const kc_value *object, const kc_value *old,
                                    kc_field_errors *errors)
{
    kc__location root = kc__location_root(object, errors),
                 status = kc__location_member(&root, "status");
    kc__location balancer = kc__location_member(&status, "loadBalancer");
    kc__location list = kc__location_member(&balancer, "ingress");
    (void)old;
    kc__validate_items_by_rules(&listener_rules, &list);
}

const kc__strategy kc__strategy_ingress = {
    .generation = true,
    .rules = &ingress_rules,
    .validate = validate_ingress,
    .validate_status = validate_ingress_status,
    .warn = kc__warnings_ingress,
    .warns_new_only = true,
};
