/* SPDX-License-Identifier: Apache-2.0 */
/* Authorization of requests by roles, and impersonation, through the whole server. */
#include "rbac_testing.h"

#define READER "'rules':[{'verbs':['list'],'apiGroups':[''],'resources':['pods']}]"
#define PODS   "/api/v1/namespaces/default/pods"

static void user_without_a_role_is_forbidden(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    const reply *got = AS(r, "bob", "GET", PODS);
    assert_status(got, 403, "Forbidden",
                  "pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" "
                  "in the namespace \"default\"");
    assert_string_equal(r_header(got, "X-Content-Type-Options"), "nosniff");
    assert_code(rbac_admin(r, "GET", PODS, NULL), 200);
    assert_code(AS(r, "bob", "GET", "/apis"), 200);
}

static void change_of_a_role_is_in_effect_for_the_next_request(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    rbac_create(r, ROLES "/namespaces/default/rolebindings",
                "{'metadata':{'name':'b'}," LOCAL_REF("reader") "," USER("bob") "}");
    for (int i = 0; i < 20; i++) {
        assert_code(AS(r, "bob", "GET", PODS), 403);
        rbac_create(r, ROLES "/namespaces/default/roles",
                    "{'metadata':{'name':'reader'}," READER "}");
        assert_code(AS(r, "bob", "GET", PODS), 200);
        assert_code(rbac_admin(r, "DELETE", ROLES "/namespaces/default/roles/reader", NULL), 200);
    }
    assert_status(AS(r, "bob", "GET", PODS), 403, "Forbidden",
                  "pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" "
                  "in the namespace \"default\": RBAC: role.rbac.authorization.k8s.io \"reader\" "
                  "not found");
}

static void path_is_forbidden_with_sanitized_message(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    const reply *got = AS(r, "bob", "GET", "/logs/a%3Cb%3E%26%22");
    assert_status(got, 403, "Forbidden",
                  "forbidden: User \"bob\" cannot get path \"/logs/a&lt;b&gt;&amp;\\\"\"");
    assert_at(got, "details", "{}");
}

static const reply *whoami(rbac *r, const char *token, const char *as, const char *group)
{
    return SEND(r->api, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                .body = "{'kind':'SelfSubjectReview','apiVersion':'authentication.k8s.io/v1'}",
                .headers = {token, as, group});
}

static void impersonation_needs_permission_for_each_part(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    const char *user = "Authorization: Bearer user";
    rbac_create(r, ROLES "/clusterroles",
                "{'metadata':{'name':'as'},'rules':[{'verbs':['impersonate'],'apiGroups':[''],"
                "'resources':['users'],'resourceNames':['bob']}]}");
    rbac_create(r, ROLES "/clusterrolebindings",
                "{'metadata':{'name':'as'}," CLUSTER_REF("as") "," USER("alice") "}");
    assert_at(whoami(r, user, "Impersonate-User: bob", NULL), "status.userInfo.username", "bob");
    assert_status(whoami(r, user, "Impersonate-User: carol", NULL), 403, "Forbidden",
                  "users \"carol\" is forbidden: User \"alice\" cannot impersonate resource "
                  "\"users\" in API group \"\" at the cluster scope");
    assert_status(whoami(r, user, "Impersonate-User: bob", "impersonate-group: system:masters"),
                  403, "Forbidden",
                  "groups \"system:masters\" is forbidden: User \"alice\" cannot impersonate "
                  "resource \"groups\" in API group \"\" at the cluster scope");
    assert_int_equal(whoami(r, user, "Impersonate-Group: dev", NULL)->status, 500);
}

/* Kept rights of the sender would be an escalation. */
static void impersonated_user_has_no_rights_of_the_sender(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    assert_code(AS(r, "bob", "DELETE", "/api/v1/namespaces/default"), 403);
    assert_status(AS(r, "bob", "POST", ROLES "/clusterroles", "{'metadata':{'name':'x'}}"), 403,
                  "Forbidden",
                  "clusterroles.rbac.authorization.k8s.io is forbidden: User \"bob\" cannot create "
                  "resource \"clusterroles\" in API group \"rbac.authorization.k8s.io\" at the "
                  "cluster scope");
}

static void unknown_token_cannot_impersonate(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    assert_int_equal(
        whoami(r, "Authorization: Bearer wrong", "Impersonate-User: root", NULL)->status, 401);
    assert_code(whoami(r, "X: y", "Impersonate-User: root", NULL), 403);
}

/* Applies a ConfigMap `c` as a user; `query` follows the manager. */
static const reply *apply_map_as(rbac *r, const char *user, const char *query)
{
    return SEND(r->api, "PATCH",
                text(r->api, "/api/v1/namespaces/default/configmaps/c?fieldManager=m%s", query),
                .body = "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c'}}",
                .type = "application/apply-patch+yaml",
                .headers = {"Authorization: Bearer admin",
                            text(r->api, "Impersonate-User: %s", user), "Impersonate-Group: g"});
}

static void apply_that_creates_needs_the_permission_to_create(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    rbac_create(r, ROLES "/clusterroles",
                "{'metadata':{'name':'patcher'},'rules':[{'verbs':['patch'],'apiGroups':[''],"
                "'resources':['configmaps']}]}");
    rbac_create(r, ROLES "/clusterrolebindings",
                "{'metadata':{'name':'patchers'}," CLUSTER_REF("patcher") "," USER("bob") "}");
    const char *forbidden = "configmaps \"c\" is forbidden: User \"bob\" cannot create resource "
                            "\"configmaps\" in API group \"\" in the namespace \"default\"";
    assert_status(apply_map_as(r, "bob", ""), 403, "Forbidden", forbidden);
    assert_status(apply_map_as(r, "bob", "&dryRun=All"), 403, "Forbidden", forbidden);
    assert_code(rbac_admin(r, "GET", "/api/v1/namespaces/default/configmaps/c", NULL), 404);
    rbac_create(r, "/api/v1/namespaces/default/configmaps", "{'metadata':{'name':'c'}}");
    assert_code(apply_map_as(r, "bob", ""), 200);
}

static void update_that_creates_needs_the_permission_to_create(void **state)
{
    (void)state;
    static const char lease[] = "{'apiVersion':'coordination.k8s.io/v1','kind':'Lease','metadata':{"
                                "'name':'l'}}";
    static const char target[] = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
    kc_auto(rbac) *r = rbac_start();
    rbac_create(r, ROLES "/clusterroles",
                "{'metadata':{'name':'updater'},'rules':[{'verbs':['update'],'apiGroups':["
                "'coordination.k8s.io'],'resources':['leases']}]}");
    rbac_create(r, ROLES "/clusterrolebindings",
                "{'metadata':{'name':'updaters'}," CLUSTER_REF("updater") "," USER("bob") "}");
    assert_status(AS(r, "bob", "PUT", target, lease), 403, "Forbidden",
                  "leases.coordination.k8s.io \"l\" is forbidden: User \"bob\" cannot create "
                  "resource \"leases\" in API group \"coordination.k8s.io\" in the namespace "
                  "\"default\"");
    assert_code(rbac_admin(r, "PUT", target, lease), 201);
    /* The object exists: the update is authorized, and lacks a resourceVersion. */
    assert_code(AS(r, "bob", "PUT", target, lease), 422);
}

TESTS(apply_that_creates_needs_the_permission_to_create,
      update_that_creates_needs_the_permission_to_create, user_without_a_role_is_forbidden,
      change_of_a_role_is_in_effect_for_the_next_request, path_is_forbidden_with_sanitized_message,
      impersonation_needs_permission_for_each_part, impersonated_user_has_no_rights_of_the_sender,
      unknown_token_cannot_impersonate)
