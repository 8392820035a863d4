/* SPDX-License-Identifier: Apache-2.0 */
/* Reviews; tests/conformance/conversations/reviews.http compares more of them with kube-apiserver.
 */
#include "rbac_testing.h"

#define AUTHORIZATION "/apis/authorization.k8s.io/v1"
#define PODS          "'resourceAttributes':{'verb':'get','resource':'pods','namespace':'default'}"

static rbac *start_with_reader(void)
{
    rbac *r = rbac_start();
    rbac_create(r, ROLES "/namespaces/default/roles",
                "{'metadata':{'name':'reader'},'rules':[{'verbs':['get'],'apiGroups':[''],"
                "'resources':['pods']}]}");
    rbac_create(r, ROLES "/namespaces/default/rolebindings",
                "{'metadata':{'name':'b'}," LOCAL_REF("reader") "," USER("bob") "}");
    return r;
}

static const reply *review(rbac *r, const char *resource, const char *body)
{
    return rbac_admin(r, "POST", text(r->api, AUTHORIZATION "/%s", resource), body);
}

static void access_review_has_decision_and_reason(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_reader();
    const reply *yes = review(r, "subjectaccessreviews", "{'spec':{'user':'bob'," PODS "}}");
    assert_code(yes, 201);
    assert_at(
        yes, "status",
        "{\"allowed\":true,\"reason\":\"RBAC: allowed by RoleBinding \\\"b/default\\\" of Role "
        "\\\"reader\\\" to User \\\"bob\\\"\"}");
    const reply *no = review(r, "subjectaccessreviews", "{'spec':{'user':'eve'," PODS "}}");
    assert_at(no, "status", "{\"allowed\":false}");
}

static void review_is_never_stored(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_reader();
    const char *before =
        r_text(rbac_admin(r, "GET", "/api/v1/namespaces", NULL), "metadata.resourceVersion");
    for (int i = 0; i < 3; i++)
        assert_code(review(r, "subjectaccessreviews", "{'spec':{'user':'bob'," PODS "}}"), 201);
    assert_at(rbac_admin(r, "GET", "/api/v1/namespaces", NULL), "metadata.resourceVersion", before);
    assert_code(rbac_admin(r, "GET", AUTHORIZATION "/subjectaccessreviews", NULL), 405);
}

static void local_review_of_another_namespace_is_invalid(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_reader();
    assert_status(
        review(r, "namespaces/kube-system/localsubjectaccessreviews",
               "{'spec':{'user':'bob'," PODS "}}"),
        422, "Invalid",
        ".authorization.k8s.io \"\" is invalid: spec.resourceAttributes.namespace: Invalid "
        "value: \"default\": must match metadata.namespace");
    assert_code(review(r, "namespaces/default/localsubjectaccessreviews",
                       "{'spec':{'user':'bob'," PODS "}}"),
                201);
}

static void unreadable_selector_is_reported(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_reader();
    const reply *got = review(
        r, "subjectaccessreviews",
        "{'spec':{'user':'bob','resourceAttributes':{'verb':'get','resource':'pods',"
        "'namespace':'default','fieldSelector':{'rawSelector':'a b'},'labelSelector':{"
        "'requirements':[{'key':'a','operator':'Near'},{'key':'a','operator':'Exists'}]}}}}");
    assert_at(got, "status.allowed", "true");
    assert_at(got, "status.evaluationError",
              "spec.resourceAttributes.fieldSelector ignored due to parse error; "
              "spec.resourceAttributes.labelSelector partially ignored due to parse error");
}

static void rules_review_lists_rules_of_the_namespace(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_reader();
    const reply *got = AS(r, "bob", "POST", AUTHORIZATION "/selfsubjectrulesreviews",
                          "{'spec':{'namespace':'default'}}");
    assert_code(got, 201);
    assert_non_null(strstr(got->body, "{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":["
                                      "\"pods\"]}"));
    assert_at(got, "status.incomplete", "false");
    got = AS(r, "bob", "POST", AUTHORIZATION "/selfsubjectrulesreviews",
             "{'spec':{'namespace':'kube-system'}}");
    assert_null(strstr(got->body, "\"pods\""));
}

static void rules_review_of_always_allow_has_everything(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *got =
        api_post(a, AUTHORIZATION "/selfsubjectrulesreviews", "{'spec':{'namespace':'default'}}");
    assert_at(
        got, "status",
        "{\"resourceRules\":[{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"]}],"
        "\"nonResourceRules\":[{\"verbs\":[\"*\"],\"nonResourceURLs\":[\"*\"]}],"
        "\"incomplete\":false}");
}

static void user_without_groups_may_not_review_others(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_reader();
    assert_code(AS(r, "bob", "POST", AUTHORIZATION "/subjectaccessreviews",
                   "{'spec':{'user':'eve'," PODS "}}"),
                403);
    assert_code(
        AS(r, "bob", "POST", AUTHORIZATION "/selfsubjectaccessreviews", "{'spec':{" PODS "}}"),
        201);
}

TESTS(access_review_has_decision_and_reason, review_is_never_stored,
      local_review_of_another_namespace_is_invalid, unreadable_selector_is_reported,
      rules_review_lists_rules_of_the_namespace, rules_review_of_always_allow_has_everything,
      user_without_groups_may_not_review_others)
