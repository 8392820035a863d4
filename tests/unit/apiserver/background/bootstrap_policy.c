/* SPDX-License-Identifier: Apache-2.0 */
/* The roles and bindings of every cluster, at the first start and at later ones. */
#include "rbac_testing.h"

#define VIEWER     ROLES "/clusterroles/system:heapster"
#define KUBERNETES "?labelSelector=kubernetes.io/bootstrapping"
#define OWN        "?labelSelector=kubecontroller.io/bootstrapping"
#define BOUND      ROLES "/clusterrolebindings/system:kube-dns"

static void patch(rbac *r, const char *target, const char *body)
{
    assert_code(SEND(r->api, "PATCH", target, .type = "application/merge-patch+json", .body = body,
                     .headers = {"Authorization: Bearer admin"}),
                200);
}

static const reply *get(rbac *r, const char *target)
{
    return rbac_admin(r, "GET", target, NULL);
}

static void first_start_creates_roles_and_bindings(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    assert_int_equal(r_count(get(r, ROLES "/clusterroles" KUBERNETES), "items"), 68);
    assert_int_equal(r_count(get(r, ROLES "/clusterrolebindings" KUBERNETES), "items"), 49);
    assert_int_equal(r_count(get(r, ROLES "/clusterroles" OWN), "items"), 7);
    assert_int_equal(r_count(get(r, ROLES "/clusterrolebindings" OWN), "items"), 6);
    assert_int_equal(r_count(get(r, ROLES "/roles"), "items"), 7);
    assert_int_equal(r_count(get(r, ROLES "/rolebindings"), "items"), 7);
    const reply *role = get(r, ROLES "/clusterroles/cluster-admin");
    assert_at(role, "rules",
              "[{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"]},{\"verbs\":[\"*\"],"
              "\"nonResourceURLs\":[\"*\"]}]");
    assert_at(role, "metadata.managedFields[0].manager", "kube-apiserver");
}

static void unchanged_objects_are_not_written_again(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    const char *before = r_text(get(r, ROLES "/clusterroles"), "items");
    api_restart(r->api);
    assert_string_equal(r_text(get(r, ROLES "/clusterroles"), "items"), before);
}

static void missing_object_is_created_again(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    assert_code(rbac_admin(r, "DELETE", VIEWER, NULL), 200);
    assert_code(rbac_admin(r, "DELETE", BOUND, NULL), 200);
    api_restart(r->api);
    assert_code(get(r, VIEWER), 200);
    assert_code(get(r, BOUND), 200);
}

static void missing_rules_are_added_in_parts_and_others_kept(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    patch(
        r, VIEWER,
        "{'metadata':{'labels':{'kubernetes.io/bootstrapping':null,'own':'x'}},'rules':[{'verbs':["
        "'get','list','watch'],'apiGroups':['','extensions'],'resources':['events','namespaces',"
        "'nodes','deployments']},{'verbs':['own'],'apiGroups':['own'],'resources':['own']}]}");
    api_restart(r->api);
    const reply *role = get(r, VIEWER);
    assert_at(role, "metadata.labels",
              "{\"kubernetes.io/bootstrapping\":\"rbac-defaults\",\"own\":\"x\"}");
    assert_int_equal(r_count(role, "rules"), 5);
    assert_at(role, "rules[1].verbs", "[\"own\"]");
    assert_at(role, "rules[2]",
              "{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}");
    assert_at(role, "rules[4].verbs", "[\"watch\"]");
}

static void missing_subjects_are_added_and_others_kept(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    patch(r, BOUND, "{" USER("own") "}");
    api_restart(r->api);
    const reply *binding = get(r, BOUND);
    assert_int_equal(r_count(binding, "subjects"), 2);
    assert_at(binding, "subjects[0].name", "own");
    assert_at(binding, "subjects[1].name", "kube-dns");
}

static void object_without_autoupdate_is_left_alone(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    const char *off = "{'metadata':{'annotations':{'rbac.authorization.kubernetes.io/autoupdate':"
                      "'false'},'labels':null},'rules':[],'subjects':[]}";
    patch(r, VIEWER, off);
    patch(r, BOUND, off);
    api_restart(r->api);
    assert_at(get(r, VIEWER), "rules", "null");
    assert_at(get(r, VIEWER), "metadata.labels", "");
    assert_at(get(r, BOUND), "subjects", "");
}

static void binding_of_another_role_is_replaced(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    assert_code(rbac_admin(r, "DELETE", BOUND, NULL), 200);
    rbac_create(
        r, ROLES "/clusterrolebindings",
        "{'metadata':{'name':'system:kube-dns'}," CLUSTER_REF("cluster-admin") "," USER("own") "}");
    api_restart(r->api);
    assert_at(get(r, BOUND), "roleRef.name", "system:kube-dns");
    assert_at(get(r, BOUND), "subjects[0].name", "kube-dns");
}

TESTS(first_start_creates_roles_and_bindings, unchanged_objects_are_not_written_again,
      missing_object_is_created_again, missing_rules_are_added_in_parts_and_others_kept,
      missing_subjects_are_added_and_others_kept, object_without_autoupdate_is_left_alone,
      binding_of_another_role_is_replaced)
