/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregated ClusterRoles on a server without controllers. */
#include "rbac_testing.h"

#define CLUSTER         ROLES "/clusterroles"
#define RULES(resource) "'rules':[{'verbs':['get'],'apiGroups':[''],'resources':['" resource "']}]"
#define GATHERS         "'aggregationRule':{'clusterRoleSelectors':[{'matchLabels':{'to':'all'}}]}"

/* Waits until the value at a path of a role is as expected. */
static void await(rbac *r, const char *role, const char *path, const char *expected)
{
    const char *target = text(r->api, CLUSTER "/%s", role);
    for (int i = 0; i < 60000; i++) {
        if (!strcmp(r_text(rbac_admin(r, "GET", target, NULL), path), expected))
            return;
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
    }
    assert_at(rbac_admin(r, "GET", target, NULL), path, expected);
}

#define RULE_JSON(resource) \
    "{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"" resource "\"]}"

static void system_roles_have_their_rules_at_the_first_request(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    static const char *const roles[] = {"view", "edit", "admin"};
    size_t least = 0;
    for (size_t i = 0; i < KC_COUNT(roles); i++) {
        const reply *role = rbac_admin(r, "GET", text(r->api, CLUSTER "/%s", roles[i]), NULL);
        assert_true(r_count(role, "rules") > least);
        least = r_count(role, "rules");
    }
}

static void rules_follow_matching_roles(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    rbac_create(r, CLUSTER, "{'metadata':{'name':'all'}," GATHERS "}");
    rbac_create(r, CLUSTER, "{'metadata':{'name':'b','labels':{'to':'all'}}," RULES("pods") "}");
    rbac_create(r, CLUSTER, "{'metadata':{'name':'a','labels':{'to':'all'}}," RULES("nodes") "}");
    rbac_create(r, CLUSTER, "{'metadata':{'name':'c','labels':{'to':'all'}}," RULES("pods") "}");
    await(r, "all", "rules", "[" RULE_JSON("nodes") "," RULE_JSON("pods") "]");
    assert_code(rbac_admin(r, "DELETE", CLUSTER "/a", NULL), 200);
    await(r, "all", "rules", "[" RULE_JSON("pods") "]");
    assert_at(rbac_admin(r, "GET", CLUSTER "/all", NULL), "metadata.managedFields[0].manager",
              "clusterrole-aggregation-controller");
    assert_code(rbac_admin(r, "DELETE", CLUSTER "/b", NULL), 200);
    assert_code(rbac_admin(r, "DELETE", CLUSTER "/c", NULL), 200);
    await(r, "all", "rules", "null");
}

static void aggregated_role_may_be_part_of_another(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    rbac_create(r, CLUSTER,
                "{'metadata':{'name':'top'},'aggregationRule':{'clusterRoleSelectors':[{"
                "'matchLabels':{'to':'top'}}]}}");
    rbac_create(r, CLUSTER, "{'metadata':{'name':'all','labels':{'to':'top'}}," GATHERS "}");
    rbac_create(r, CLUSTER, "{'metadata':{'name':'a','labels':{'to':'all'}}," RULES("pods") "}");
    await(r, "top", "rules", "[" RULE_JSON("pods") "]");
}

static void aggregated_role_grants_its_rules(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    rbac_create(r, CLUSTER, "{'metadata':{'name':'all'}," GATHERS "}");
    rbac_create(r, ROLES "/clusterrolebindings",
                "{'metadata':{'name':'b'}," CLUSTER_REF("all") "," USER("bob") "}");
    assert_code(AS(r, "bob", "GET", "/api/v1/nodes/x"), 403);
    rbac_create(r, CLUSTER, "{'metadata':{'name':'a','labels':{'to':'all'}}," RULES("nodes") "}");
    await(r, "all", "rules", "[" RULE_JSON("nodes") "]");
    assert_code(AS(r, "bob", "GET", "/api/v1/nodes/x"), 404);
}

TESTS(system_roles_have_their_rules_at_the_first_request, rules_follow_matching_roles,
      aggregated_role_may_be_part_of_another, aggregated_role_grants_its_rules)
