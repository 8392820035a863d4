/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategy_ingress.c: Ingresses, which lead from names and paths to Services, and IngressClasses,
 * which say who does it.
 */
#include "apiserver/kinds/address_rules.h"
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/warnings.h"

/* ---- references to other objects ---- */

static const kc__rule reference_[] = {
    {"apiGroup", .name = &kc__dns_subdomain},
    {"kind", .required = "", .name = &kc__path_segment},
    {"name", .required = "", .name = &kc__path_segment},
};
static const kc__rules reference = KC__RULES(reference_);

static void check_reference(const kc__place *place)
{
    kc__rules_check(&reference, place);
}

/* ---- IngressClass ---- */

static const kc__default parameters_[] = {{.field = "scope", .json = "\"Cluster\""}};
static const kc__defaults parameters = KC__DEFAULTS(parameters_);
static const kc__default class_spec_[] = {{.field = "parameters", .of = &parameters}};
static const kc__defaults class_spec = KC__DEFAULTS(class_spec_);
static const kc__default class_[] = {{.field = "spec", .of = &class_spec}};
static const kc__defaults class_defaults = KC__DEFAULTS(class_);

static void check_scope(const kc__place *place)
{
    static const char *const scopes[] = {"Cluster", "Namespace", NULL};
    kc__place scope = kc__member(place, "scope"), ns = kc__member(place, "namespace");
    if (!scope.value) {
        kc__wrong(&scope, KC_FIELD_REQUIRED, NULL);
        return;
    }
    kc__check_one_of(&scope, scopes);
    if (kc__text_is(&scope, "Namespace") && !kc__there(&ns))
        kc__wrong(&ns, KC_FIELD_REQUIRED, "`parameters.scope` is set to 'Namespace'");
    else if (kc__text_is(&scope, "Namespace"))
        kc__check_name(&ns, KC_NAME_DNS_LABEL);
    else if (kc__text_is(&scope, "Cluster") && ns.value)
        kc__wrong(&ns, KC_FIELD_FORBIDDEN, "`parameters.scope` is set to 'Cluster'");
}

static void check_controller(const kc__place *controller)
{
    if (kc__text(controller).n > 250)
        kc__wrong(controller, KC_FIELD_TOO_LONG, "may not be more than 250 bytes");
    kc__check_domain_path(controller);
}

static const kc__rule parameters_rule_[] = {{.code = check_reference}, {.code = check_scope}};
static const kc__rules parameters_rules = KC__RULES(parameters_rule_);
static const kc__rule class_rule_[] = {
    {"controller", .code = check_controller},
    {"parameters", .of = &parameters_rules},
};
static const kc__rules class_rule = KC__RULES(class_rule_);
static const kc__rule class_object_[] = {{"spec", .of = &class_rule}};
static const kc__rules class_rules = KC__RULES(class_object_);

static void validate_class_update(const kc_value *object, const kc_value *old,
                                  kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    kc__place controller = kc__member(&spec, "controller");
    kc__check_same(&controller, kc_get(kc_get(old, "spec"), "controller"));
}

const kc__strategy kc__strategy_ingress_class = {
    .generation = true,
    .defaults = &class_defaults,
    .rules = &class_rules,
    .validate_update = validate_class_update,
};

/* ---- Ingress ---- */

static void check_service_port(const kc__place *backend, const kc__place *port)
{
    kc__place name = kc__member(port, "name"), number = kc__member(port, "number");
    if (kc__there(&name) && kc__there(&number))
        kc__wrong_as(backend, KC_FIELD_INVALID, "\"\"", "cannot set both port name & port number");
    else if (kc__there(&name))
        kc__check_name(&name, KC_NAME_PORT);
    else if (kc__there(&number))
        kc__check_port(&number);
    else
        kc__wrong(backend, KC_FIELD_REQUIRED, "port name or number is required");
}

static void check_backend(const kc__place *backend)
{
    kc__place service = kc__member(backend, "service"), name = kc__member(&service, "name");
    kc__place port = kc__member(&service, "port"), resource = kc__member(backend, "resource");
    if (!backend->value)
        return;
    if (service.value && resource.value) {
        kc__wrong_as(backend, KC_FIELD_INVALID, "\"\"",
                     "cannot set both resource and service backends");
    } else if (service.value) {
        kc__check_needed_name(&name, KC_NAME_DNS_1035_LABEL);
        check_service_port(backend, &port);
    } else if (resource.value) {
        check_reference(&resource);
    } else {
        kc__wrong_as(backend, KC_FIELD_INVALID, "\"\"", "resource or service backend is required");
    }
}

/* The path as it is, without ways around it. */
static void check_plain_path(const kc__place *path)
{
    static const char *const inside[] = {"//", "/./", "/../", "%2f", "%2F"};
    static const char *const at_end[] = {"/..", "/."};
    kc_str text = kc__text(path);
    if (!kc_str_starts(text, KC_STR("/")))
        kc__wrong(path, KC_FIELD_INVALID, "must be an absolute path");
    if (!text.n)
        return;
    for (size_t i = 0; i < KC_COUNT(inside); i++)
        if (kc_str_contains(text, kc_cstr(inside[i])))
            kc__wrong(path, KC_FIELD_INVALID, "must not contain '%s'", inside[i]);
    for (size_t i = 0; i < KC_COUNT(at_end); i++)
        if (kc_str_ends(text, kc_cstr(at_end[i])))
            kc__wrong(path, KC_FIELD_INVALID, "cannot end with '%s'", at_end[i]);
}

static void check_http_path(const kc__place *place)
{
    static const char *const types[] = {"Exact", "ImplementationSpecific", "Prefix", NULL};
    kc__place type = kc__member(place, "pathType"), path = kc__member(place, "path");
    kc__place backend = kc__member(place, "backend");
    bool own = kc__text_is(&type, "ImplementationSpecific");
    bool known = own || kc__text_is(&type, "Exact") || kc__text_is(&type, "Prefix");
    if (!type.value) {
        kc__wrong(&type, KC_FIELD_REQUIRED, "pathType must be specified");
        return;
    }
    if (!known)
        kc__not_supported(&type, types);
    else if (!own)
        check_plain_path(&path);
    else if (kc__there(&path) && !kc_str_starts(kc__text(&path), KC_STR("/")))
        kc__wrong(&path, KC_FIELD_INVALID, "must be an absolute path");
    check_backend(&backend);
}

static const kc__rule http_path_[] = {{.code = check_http_path}};
static const kc__rules http_path = KC__RULES(http_path_);
static const kc__rule http_[] = {{"paths", .required = "", .of = &http_path}};
static const kc__rules http = KC__RULES(http_);

static void check_host(const kc__place *host)
{
    bool wild = kc_str_find(kc__text(host), '*') >= 0;
    if (!kc__there(host))
        return;
    if (kc__address_valid(kc__text(host)))
        kc__wrong(host, KC_FIELD_INVALID, "must be a DNS name, not an IP address");
    kc__check_name(host, wild ? KC_NAME_WILDCARD : KC_NAME_DNS_SUBDOMAIN);
}

static const kc__rule ingress_rule_[] = {{"host", .code = check_host}, {"http", .of = &http}};
static const kc__rules ingress_rule = KC__RULES(ingress_rule_);

static void check_some_rule(const kc__place *spec)
{
    if (!kc_len(kc_get(spec->value, "rules")) && !kc_get(spec->value, "defaultBackend"))
        kc__wrong_as(spec, KC_FIELD_INVALID, "[]",
                     "either `defaultBackend` or `rules` must be specified");
}

static void check_tls_hosts(const kc__place *hosts)
{
    size_t i = 0;
    kc_items (hosts->value, value) {
        kc__place host = kc__item(hosts, value, i++);
        bool wild = kc_str_find(kc__text(&host), '*') >= 0;
        kc__check_name(&host, wild ? KC_NAME_WILDCARD : KC_NAME_DNS_SUBDOMAIN);
    }
}

static void check_secret(const kc__place *name)
{
    if (kc__there(name))
        kc__check_name(name, KC_NAME_DNS_SUBDOMAIN);
}

static const kc__rule tls_[] = {
    {"hosts", .code = check_tls_hosts},
    {"secretName", .code = check_secret},
};
static const kc__rules tls_rules = KC__RULES(tls_);

static const kc__rule ingress_spec_[] = {
    {.code = check_some_rule},
    {"defaultBackend", .code = check_backend},
    {"rules", .of = &ingress_rule},
    {"tls", .of = &tls_rules},
    {"ingressClassName", .name = &kc__dns_subdomain},
};
static const kc__rules ingress_spec = KC__RULES(ingress_spec_);
static const kc__rule ingress_[] = {{"spec", .of = &ingress_spec}};
static const kc__rules ingress_rules = KC__RULES(ingress_);

/* The class was an annotation once; a new one that says both says the same. */
static void validate_ingress(const kc_value *object, kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
    kc__place shown = kc__member(&root, "annotations");
    kc__place old = kc__member(&shown, "kubernetes.io/ingress.class");
    kc__place now = kc__member(&spec, "ingressClassName");
    old.value = kc_get(kc_get(kc_get(object, "metadata"), "annotations"), old.name);
    if (old.value && now.value && !kc_str_eq(kc__text(&old), kc__text(&now)))
        kc__wrong(&old, KC_FIELD_INVALID, "must match `ingressClassName` when both are specified");
}

static void check_listener(const kc__place *ingress)
{
    kc__place ip = kc__member(ingress, "ip"), host = kc__member(ingress, "hostname");
    if (kc__there(&ip))
        kc__check_ip(&ip);
    if (!kc__there(&host))
        return;
    kc__check_name(&host, KC_NAME_DNS_SUBDOMAIN);
    if (kc__address_valid(kc__text(&host)))
        kc__wrong(&host, KC_FIELD_INVALID, "must be a DNS name, not an IP address");
}

static const kc__rule listener_[] = {{.code = check_listener}};
static const kc__rules listener_rules = KC__RULES(listener_);

static void validate_ingress_status(const kc_value *object, const kc_value *old,
                                    kc_field_errors *errors)
{
    kc__place root = kc__place_root(object, errors), status = kc__member(&root, "status");
    kc__place balancer = kc__member(&status, "loadBalancer");
    kc__place list = kc__member(&balancer, "ingress");
    (void)old;
    kc__rules_check_below(&listener_rules, &list);
}

const kc__strategy kc__strategy_ingress = {
    .generation = true,
    .rules = &ingress_rules,
    .validate = validate_ingress,
    .validate_status = validate_ingress_status,
    .warn = kc__ingress_warnings,
};
