/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin NamespaceAutoProvision, and the requests of the server to itself that it uses. */
#include "api_testing.h"

#include "apiserver/admission/plugin_selection.h"
#include "apiserver/admission/policies/policy_registry.h"

#include <unistd.h>

#define MAPS(ns) "/api/v1/namespaces/" ns "/configmaps"
#define POLICIES "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
#define BINDINGS "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"

static api *start_provisioning(void)
{
    kc__admission_selection on = 0;
    kc__admission_selection_parse("NamespaceAutoProvision", &on, NULL);
    return api_start(&(api_opts){.server.enabled_plugins = on});
}

static void object_in_a_missing_namespace_creates_the_namespace(void **state)
{
    (void)state;
    kc_auto(api) *a = start_provisioning();
    assert_code(api_post(a, MAPS("new"), "{'metadata':{'name':'a'}}"), 201);
    const reply *r = api_get(a, "/api/v1/namespaces/new");
    assert_code(r, 200);
    assert_at(r, "status.phase", "Active");
    assert_at(r, "metadata.labels", "{\"kubernetes.io/metadata.name\":\"new\"}");
    assert_at(r, "metadata.managedFields[0].manager", "kube-apiserver");
    assert_code(api_post(a, MAPS("new"), "{'metadata':{'name':'b'}}"), 201);
}

static void apply_in_a_missing_namespace_creates_the_namespace(void **state)
{
    (void)state;
    kc_auto(api) *a = start_provisioning();
    assert_code(SEND(a, "PATCH", MAPS("applied") "/a?fieldManager=m",
                     .type = "application/apply-patch+yaml",
                     .body = "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a'}}"),
                201);
    assert_code(api_get(a, "/api/v1/namespaces/applied"), 200);
}

static void dry_run_creates_no_namespace(void **state)
{
    (void)state;
    kc_auto(api) *a = start_provisioning();
    assert_code(api_post(a, MAPS("dry") "?dryRun=All", "{'metadata':{'name':'a'}}"), 404);
    assert_code(api_get(a, "/api/v1/namespaces/dry"), 404);
}

static void update_and_deletion_create_no_namespace(void **state)
{
    (void)state;
    kc_auto(api) *a = start_provisioning();
    assert_code(api_delete(a, MAPS("gone") "/a", NULL), 404);
    assert_code(api_patch(a, MAPS("gone") "/a", "{'data':{'a':'b'}}"), 404);
    assert_code(api_get(a, "/api/v1/namespaces/gone"), 404);
}

static void namespace_that_cannot_be_created_forbids_the_object(void **state)
{
    (void)state;
    kc_auto(api) *a = start_provisioning();
    const reply *r = api_post(a, MAPS("Bad"), "{'metadata':{'name':'a'}}");
    assert_code(r, 403);
    assert_contains(r_text(r, "message"),
                    "configmaps \"a\" is forbidden: Namespace \"Bad\" is invalid: metadata.name: "
                    "Invalid value: \"Bad\"");
}

static void await_policy(api *a)
{
    for (int i = 0; i < 2000; i++) {
        kc_auto(kc__admission_policy_set) *held = NULL;
        const kc__admission_policy_set *set =
            kc__admission_policies_current(api_inside(a)->policies, &held);
        if (set && set->validating.n)
            return;
        usleep(5000);
    }
    fail_msg("the policy is not in effect");
}

/* The namespace passes admission like that of a client. */
static void policy_can_deny_the_namespace(void **state)
{
    (void)state;
    kc_auto(api) *a = start_provisioning();
    assert_code(
        api_post(a, POLICIES,
                 "{'metadata':{'name':'names'},'spec':{'matchConstraints':{'resourceRules':["
                 "{'apiGroups':[''],'apiVersions':['v1'],'operations':['CREATE'],'resources':["
                 "'namespaces']}]},'validations':[{'expression':'request.userInfo.username != "
                 "\\'system:apiserver\\'','message':'no'}]}}"),
        201);
    assert_code(api_post(a, BINDINGS,
                         "{'metadata':{'name':'names'},'spec':{'policyName':'names',"
                         "'validationActions':['Deny']}}"),
                201);
    await_policy(a);
    const reply *r = api_post(a, MAPS("bad"), "{'metadata':{'name':'a'}}");
    assert_code(r, 403);
    assert_contains(r_text(r, "message"), "ValidatingAdmissionPolicy 'names' with binding 'names' "
                                          "denied request: no");
}

TESTS(object_in_a_missing_namespace_creates_the_namespace,
      apply_in_a_missing_namespace_creates_the_namespace, dry_run_creates_no_namespace,
      update_and_deletion_create_no_namespace, namespace_that_cannot_be_created_forbids_the_object,
      policy_can_deny_the_namespace)
