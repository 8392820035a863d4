/* SPDX-License-Identifier: Apache-2.0 */
/* Roles and bindings that grant more than their writer has. */
#include "apiserver/authz/escalation.h"
#include "rbac_testing.h"

#define LOCAL ROLES "/namespaces/default"
#define RULE(verbs, groups, resources) \
    "{'verbs':[" verbs "],'apiGroups':[" groups "],'resources':[" resources "]}"
#define WRITES \
    RULE("'create','update','patch','get'", "'rbac.authorization.k8s.io'", "'roles','rolebindings'")

/* "wes" may write roles and read pods in the namespace default. */
static rbac *start_with_writer(void)
{
    rbac *r = rbac_start();
    rbac_create(r, LOCAL "/roles",
                "{'metadata':{'name':'writer'},'rules':[" WRITES
                "," RULE("'get','list'", "''", "'pods'") "]}");
    rbac_create(r, LOCAL "/rolebindings",
                "{'metadata':{'name':'writer'}," LOCAL_REF("writer") "," USER("wes") "}");
    return r;
}

#define DENIED(name)                                                                          \
    "roles.rbac.authorization.k8s.io \"" name "\" is forbidden: user \"wes\" (groups=[\"g\" " \
    "\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n"

static void role_within_the_rights_of_its_writer_is_created(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_writer();
    assert_code(AS(r, "wes", "POST", LOCAL "/roles",
                   "{'metadata':{'name':'a'},'rules':[" RULE("'list'", "''", "'pods'") "]}"),
                201);
}

static void missing_rights_are_listed_by_resource_in_order(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_writer();
    assert_status(
        AS(r, "wes", "POST", LOCAL "/roles",
           "{'metadata':{'name':'a'},'rules':[" RULE("'get','watch','delete'", "''",
                                                     "'secrets','pods'") "]}"),
        403, "Forbidden",
        DENIED("a") "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"watch\" \"delete\"]}\n"
                    "{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"watch\" "
                    "\"delete\"]}");
    assert_code(rbac_admin(r, "GET", LOCAL "/roles/a", NULL), 404);
}

static void update_by_every_verb_is_checked(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_writer();
    const char *more = "{'metadata':{'name':'a'},'rules':[" RULE("'*'", "'*'", "'*'") "]}";
    assert_code(AS(r, "wes", "POST", LOCAL "/roles", "{'metadata':{'name':'a'}}"), 201);
    assert_code(AS(r, "wes", "PUT", LOCAL "/roles/a", more), 403);
    const char *headers[] = {"Authorization: Bearer admin", "Impersonate-User: wes",
                             "Impersonate-Group: g"};
    static const char *const types[] = {"application/merge-patch+json",
                                        "application/strategic-merge-patch+json"};
    for (size_t i = 0; i < KC_COUNT(types); i++)
        assert_code(SEND(r->api, "PATCH", LOCAL "/roles/a", .type = types[i], .body = more,
                         .headers = {headers[0], headers[1], headers[2]}),
                    403);
    assert_code(AS(r, "wes", "PUT", LOCAL "/roles/new",
                   "{'metadata':{'name':'new'},'rules':[" RULE("'*'", "'*'", "'*'") "]}"),
                403);
}

static void binding_of_a_stronger_role_is_forbidden(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_writer();
    assert_code(AS(r, "wes", "POST", LOCAL "/rolebindings",
                   "{'metadata':{'name':'b'}," CLUSTER_REF("cluster-admin") "," USER("wes") "}"),
                403);
    assert_code(AS(r, "wes", "POST", LOCAL "/rolebindings",
                   "{'metadata':{'name':'b'}," LOCAL_REF("writer") "," USER("x") "}"),
                201);
    assert_status(AS(r, "wes", "POST", LOCAL "/rolebindings",
                     "{'metadata':{'name':'c'}," LOCAL_REF("none") "," USER("x") "}"),
                  404, "NotFound", "rolebindings.rbac.authorization.k8s.io \"none\" not found");
}

/* An aggregated role with no rules yet would gather those of roles that match later. */
static void aggregation_needs_every_right(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    rbac_create(r, ROLES "/clusterroles",
                "{'metadata':{'name':'w'},'rules':[" RULE("'create','update','patch'",
                                                          "'rbac.authorization.k8s.io'",
                                                          "'clusterroles'") "]}");
    rbac_create(r, ROLES "/clusterrolebindings",
                "{'metadata':{'name':'w'}," CLUSTER_REF("w") "," USER("wes") "}");
    assert_status(AS(r, "wes", "POST", ROLES "/clusterroles",
                     "{'metadata':{'name':'a'},'aggregationRule':{'clusterRoleSelectors':[{"
                     "'matchLabels':{'x':'y'}}]}}"),
                  403, "Forbidden",
                  "clusterroles.rbac.authorization.k8s.io \"a\" is forbidden: must have "
                  "cluster-admin privileges to use the aggregationRule");
    /* A label alone would add the rules of the role to "admin". */
    assert_code(
        AS(r, "wes", "POST", ROLES "/clusterroles",
           "{'metadata':{'name':'a','labels':{'rbac.authorization.k8s.io/aggregate-to-admin'"
           ":'true'}},'rules':[" RULE("'*'", "'*'", "'*'") "]}"),
        403);
}

static void change_of_owners_alone_is_allowed(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_writer();
    rbac_create(r, LOCAL "/roles",
                "{'metadata':{'name':'strong'},'rules':[" RULE("'*'", "'*'", "'*'") "]}");
    const char *const bodies[] = {"{'metadata':{'finalizers':['example.com/x']}}",
                                  "{'metadata':{'labels':{'a':'b'}}}"};
    for (size_t i = 0; i < KC_COUNT(bodies); i++)
        assert_code(SEND(r->api, "PATCH", LOCAL "/roles/strong",
                         .type = "application/merge-patch+json", .body = bodies[i],
                         .headers = {"Authorization: Bearer admin", "Impersonate-User: wes"}),
                    i == 0 ? 200 : 403);
}

/* 300 * 300 * 300 combinations. */
static void role_with_too_many_combinations_is_rejected(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_writer();
    kc_scoped(kc_buf) list = {0}, body = {0};
    for (int i = 0; i < 300; i++)
        kc_buf_printf(&list, "%s'n%d'", i ? "," : "", i);
    kc_buf_printf(&body, "{'metadata':{'name':'big'},'rules':[" RULE("%s", "%s", "%s") "]}",
                  kc_buf_cstr(&list), kc_buf_cstr(&list), kc_buf_cstr(&list));
    assert_status(AS(r, "wes", "POST", LOCAL "/roles", kc_buf_cstr(&body)), 422, "Invalid",
                  "the rules describe more than 100000 combinations of verb, group, resource and "
                  "name");
    assert_code(rbac_admin(r, "POST", LOCAL "/roles", kc_buf_cstr(&body)), 201);
}

/* 10,000 combinations are compared on a worker thread. */
static void role_with_many_combinations_is_compared_on_a_worker(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_writer();
    kc_scoped(kc_buf) list = {0}, body = {0};
    for (int i = 0; i < 100; i++)
        kc_buf_printf(&list, "%s'n%d'", i ? "," : "", i);
    kc_buf_printf(&body, "{'metadata':{'name':'big'},'rules':[" RULE("'get'", "%s", "%s") "]}",
                  kc_buf_cstr(&list), kc_buf_cstr(&list));
    const reply *got = AS(r, "wes", "POST", LOCAL "/roles", kc_buf_cstr(&body));
    assert_code(got, 403);
    assert_non_null(strstr(got->body, "… and 9000 more"));
}

TESTS(role_within_the_rights_of_its_writer_is_created,
      missing_rights_are_listed_by_resource_in_order, update_by_every_verb_is_checked,
      binding_of_a_stronger_role_is_forbidden, aggregation_needs_every_right,
      change_of_owners_alone_is_allowed, role_with_too_many_combinations_is_rejected,
      role_with_many_combinations_is_compared_on_a_worker)
