/* SPDX-License-Identifier: Apache-2.0 */
/* The variable `authorizer` of policies, in a server with roles. */
#include "rbac_testing.h"

#define GROUP "/apis/admissionregistration.k8s.io/v1/"
#define MAPS  "/api/v1/namespaces/default/configmaps"

/* bob may create ConfigMaps; the policy requires a further permission. */
static rbac *start_with_check(const char *check)
{
    rbac *r = rbac_start();
    rbac_create(r, ROLES "/clusterroles",
                "{'metadata':{'name':'maker'},'rules':[{'verbs':['create'],'apiGroups':[''],"
                "'resources':['configmaps']}]}");
    rbac_create(r, ROLES "/clusterrolebindings",
                "{'metadata':{'name':'maker'}," CLUSTER_REF("maker") "," USER("bob") "}");
    rbac_create(r, GROUP "validatingadmissionpolicies",
                text(r->api,
                     "{'metadata':{'name':'p'},'spec':{'matchConstraints':{'resourceRules':[{"
                     "'apiGroups':[''],'apiVersions':['v1'],'operations':['CREATE'],'resources':["
                     "'configmaps']}]},'validations':[{'expression':'%s'}]}}",
                     check));
    rbac_create(r, GROUP "validatingadmissionpolicybindings",
                "{'metadata':{'name':'p'},'spec':{'policyName':'p','validationActions':['Deny']}}");
    return r;
}

static const reply *create_map(rbac *r, const char *user, const char *name)
{
    return rbac_as(r, user, "POST", MAPS, text(r->api, "{'metadata':{'name':'%s'}}", name));
}

/* The policy takes effect shortly after its write. */
static bool is_denied_soon(rbac *r, const char *user)
{
    for (int i = 0; i < 6000; i++) {
        if (create_map(r, user, text(r->api, "try-%d", i))->status == 422)
            return true;
        kc_clock_sleep(kc_clock_real(), 10 * KC_MILLISECOND);
    }
    return false;
}

static void user_without_the_right_is_denied_until_bound(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_check("authorizer.group(\\\"example.com\\\").resource("
                                        "\\\"robots\\\").namespace(\\\"default\\\").check("
                                        "\\\"paint\\\").allowed()");
    assert_true(is_denied_soon(r, "bob"));
    rbac_create(r, ROLES "/namespaces/default/roles",
                "{'metadata':{'name':'painter'},'rules':[{'verbs':['paint'],'apiGroups':["
                "'example.com'],'resources':['robots']}]}");
    rbac_create(r, ROLES "/namespaces/default/rolebindings",
                "{'metadata':{'name':'painter'}," LOCAL_REF("painter") "," USER("bob") "}");
    assert_code(create_map(r, "bob", "painted"), 201);
}

static void check_about_the_request_names_its_resource(void **state)
{
    (void)state;
    kc_auto(rbac) *r =
        start_with_check("authorizer.requestResource.check(\\\"create\\\").allowed() && "
                         "!authorizer.requestResource.check(\\\"delete\\\").allowed() && "
                         "object.metadata.name != \\\"denied\\\"");
    for (int i = 0; i < 6000 && create_map(r, "bob", "denied")->status != 422; i++) {
        rbac_admin(r, "DELETE", MAPS "/denied", NULL);
        kc_clock_sleep(kc_clock_real(), 10 * KC_MILLISECOND);
    }
    assert_code(create_map(r, "bob", "denied"), 422);
    assert_code(create_map(r, "bob", "a"), 201);
    /* The administrator may delete. */
    assert_code(rbac_admin(r, "POST", MAPS, "{'metadata':{'name':'b'}}"), 422);
}

static void check_about_a_service_account_uses_its_bindings(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_check(
        "authorizer.serviceAccount(\\\"default\\\", \\\"web\\\").path(\\\"/logs\\\").check("
        "\\\"get\\\").reason() == \\\"\\\"");
    assert_code(create_map(r, "bob", "before"), 201);
    rbac_create(r, ROLES "/clusterroles",
                "{'metadata':{'name':'logs'},'rules':[{'verbs':['get'],'nonResourceURLs':["
                "'/logs']}]}");
    rbac_create(r, ROLES "/clusterrolebindings",
                "{'metadata':{'name':'logs'}," CLUSTER_REF(
                    "logs") ",'subjects':[{'kind':"
                            "'ServiceAccount','name':'web','namespace':'default'}]}");
    assert_true(is_denied_soon(r, "bob"));
}

TESTS(user_without_the_right_is_denied_until_bound, check_about_the_request_names_its_resource,
      check_about_a_service_account_uses_its_bindings)
