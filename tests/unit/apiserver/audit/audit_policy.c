/* SPDX-License-Identifier: Apache-2.0 */
/* Audit policies: which rule decides, and the errors of kube-apiserver. */
#include "testing.h"

#include "apiserver/audit/audit_policy.h"

#define HEAD "apiVersion: audit.k8s.io/v1\nkind: Policy\n"

static kc__audit_policy *must_parse_policy(const char *rules)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *text = kc_asprintf(HEAD "%s", rules);
    kc__audit_policy *policy = kc__audit_policy_parse(kc_cstr(text), NULL, &err);
    if (!policy)
        fail_msg("%s", kc_error_text(&err));
    return policy;
}

static const kc_str dev_groups[] = {KC_STR_INIT("dev"), KC_STR_INIT("system:authenticated")};
static const kc__user alice = {.name = KC_STR_INIT("alice"), .groups = dev_groups, .n_groups = 2};

/* The level for a request of alice: "get pods default web" or "get /path". */
static const char *level(const kc__audit_policy *policy, const char *verb, const char *group,
                         const char *resource, const char *ns, const char *name)
{
    kc__audit_attributes a = {.user = &alice, .verb = kc_cstr(verb)};
    kc_str rest = kc_cstr(resource);
    if (*resource == '/') {
        a.path = rest;
    } else {
        a.is_resource = true;
        a.group = kc_cstr(group);
        a.resource = kc_str_cut(&rest, '/');
        a.subresource = rest;
        a.ns = kc_cstr(ns);
        a.name = kc_cstr(name);
    }
    return kc__audit_level_names[kc__audit_policy_decide(policy, &a).level];
}

#define expect_level(policy, the_level, ...) \
    assert_string_equal(level(policy, __VA_ARGS__), the_level)

static void first_matching_rule_decides(void **state)
{
    (void)state;
    kc_auto(kc__audit_policy) *p = must_parse_policy("rules:\n"
                                                     "- {level: None, users: [bob]}\n"
                                                     "- {level: Metadata, verbs: [get]}\n"
                                                     "- {level: Request, userGroups: [dev]}\n"
                                                     "- {level: RequestResponse}\n");
    expect_level(p, "Metadata", "get", "", "pods", "default", "web");
    expect_level(p, "Request", "list", "", "pods", "default", "");
    expect_level(p, "Metadata", "get", "", "/version", "", "");
}

static void request_without_matching_rule_is_not_recorded(void **state)
{
    (void)state;
    kc_auto(kc__audit_policy) *p = must_parse_policy("rules:\n- {level: Metadata, users: [bob]}\n");
    expect_level(p, "None", "get", "", "pods", "default", "web");
}

static void resources_match_with_subresources_and_wildcards(void **state)
{
    (void)state;
    kc_auto(kc__audit_policy) *p = must_parse_policy(
        "rules:\n"
        "- {level: None, resources: [{group: '', resources: ['pods/log', 'services/*', '*/scale']}]}\n"
        "- {level: Metadata, resources: [{group: '', resources: [pods]}]}\n"
        "- {level: Request, resources: [{group: apps}]}\n"
        "- {level: RequestResponse, resources: [{group: '', resources: ['*']}]}\n");
    expect_level(p, "None", "get", "", "pods/log", "default", "web");
    expect_level(p, "None", "get", "", "services/proxy", "default", "web");
    expect_level(p, "None", "get", "", "services", "default", "web");
    expect_level(p, "None", "get", "", "replicationcontrollers/scale", "default", "web");
    expect_level(p, "Metadata", "get", "", "pods", "default", "web");
    expect_level(p, "RequestResponse", "get", "", "pods/status", "default", "web");
    expect_level(p, "Request", "get", "apps", "deployments/scale", "default", "web");
    expect_level(p, "None", "get", "batch", "jobs", "default", "web");
    expect_level(p, "None", "get", "", "/version", "", "");
}

static void names_and_namespaces_restrict_a_rule(void **state)
{
    (void)state;
    kc_auto(kc__audit_policy) *p = must_parse_policy(
        "rules:\n"
        "- level: Metadata\n"
        "  namespaces: [kube-system, '']\n"
        "  resources: [{group: '', resources: [configmaps, nodes], resourceNames: [a]}]\n"
        "- {level: Request, namespaces: [kube-system]}\n");
    expect_level(p, "Metadata", "get", "", "configmaps", "kube-system", "a");
    expect_level(p, "Metadata", "get", "", "nodes", "", "a");
    expect_level(p, "Request", "get", "", "configmaps", "kube-system", "b");
    expect_level(p, "None", "get", "", "configmaps", "default", "a");
    expect_level(p, "None", "get", "", "/version", "", "");
}

static void urls_match_with_a_wildcard_at_their_end(void **state)
{
    (void)state;
    kc_auto(kc__audit_policy) *p = must_parse_policy(
        "rules:\n- {level: None, nonResourceURLs: ['/healthz*', /version]}\n- {level: Metadata}\n");
    expect_level(p, "None", "get", "", "/healthz/etcd", "", "");
    expect_level(p, "None", "get", "", "/version", "", "");
    expect_level(p, "Metadata", "get", "", "/version/x", "", "");
    expect_level(p, "Metadata", "get", "", "pods", "default", "");
}

static void stages_and_managed_fields_of_policy_and_rule_are_combined(void **state)
{
    (void)state;
    kc_auto(kc__audit_policy) *p =
        must_parse_policy("omitStages: [RequestReceived]\nomitManagedFields: true\nrules:\n"
                          "- {level: Metadata, verbs: [get], omitStages: [Panic]}\n"
                          "- {level: Request, omitManagedFields: false}\n");
    kc__audit_attributes a = {.user = &alice, .verb = KC_STR("get"), .path = KC_STR("/")};
    const kc__audit_decision first = kc__audit_policy_decide(p, &a);
    assert_int_equal(first.omit_stages, 1u << KC__AUDIT_REQUEST_RECEIVED | 1u << KC__AUDIT_PANIC);
    assert_true(first.omit_managed_fields);
    a.verb = KC_STR("put");
    const kc__audit_decision second = kc__audit_policy_decide(p, &a);
    assert_int_equal(second.omit_stages, 1u << KC__AUDIT_REQUEST_RECEIVED);
    assert_false(second.omit_managed_fields);
}

static void expect_refused_policy(const char *rules, const char *message)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *text = kc_asprintf(HEAD "%s", rules);
    kc_auto(kc__audit_policy) *policy = kc__audit_policy_parse(kc_cstr(text), NULL, &err);
    assert_null(policy);
    assert_string_equal(kc_error_text(&err), message);
}

static void invalid_policy_is_refused_with_the_words_of_kubernetes(void **state)
{
    (void)state;
    expect_refused_policy("rules: []\n", "loaded illegal policy with 0 rules");
    expect_refused_policy("rules:\n- {}\n", "rules[0].level: Required value");
    expect_refused_policy("rules:\n- {level: All}\n",
                          "rules[0].level: Unsupported value: \"All\": supported values: \"None\", "
                          "\"Metadata\", \"Request\", \"RequestResponse\"");
    expect_refused_policy("omitStages: [Begin]\nrules:\n- {level: None}\n",
                          "omitStages[0]: Invalid value: \"Begin\": allowed stages are "
                          "RequestReceived,ResponseStarted,ResponseComplete,Panic");
    expect_refused_policy("rules:\n- {level: None, nonResourceURLs: [x, '/a*b']}\n",
                          "[rules[0].nonResourceURLs[0]: Invalid value: \"x\": non-resource URL "
                          "rules must begin with a '/' character, rules[0].nonResourceURLs[1]: "
                          "Invalid value: \"/a*b\": non-resource URL wildcards '*' must be the "
                          "final character of the rule]");
    expect_refused_policy("rules:\n- {level: None, namespaces: [a], nonResourceURLs: [/x]}\n",
                          "rules[0].nonResourceURLs: Invalid value: [\"/x\"]: rules cannot apply "
                          "to both regular resources and non-resource URLs");
    expect_refused_policy(
        "rules:\n- {level: None, resources: [{group: '', resourceNames: [a]}]}\n",
        "rules[0].resources.resourceNames: Invalid value: [\"a\"]: using resourceNames requires at "
        "least one resource");
}

static void unknown_fields_are_ignored(void **state)
{
    (void)state;
    kc_auto(kc__audit_policy) *p = must_parse_policy("rules:\n- {level: Metadata, verb: [get]}\n");
    expect_level(p, "Metadata", "list", "", "pods", "default", "");
}

TESTS(first_matching_rule_decides, request_without_matching_rule_is_not_recorded,
      resources_match_with_subresources_and_wildcards, names_and_namespaces_restrict_a_rule,
      urls_match_with_a_wildcard_at_their_end,
      stages_and_managed_fields_of_policy_and_rule_are_combined,
      invalid_policy_is_refused_with_the_words_of_kubernetes, unknown_fields_are_ignored)
