/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutating admission policies, in the real server: patches, apply configurations, order and
 * reinvocation. Messages are also compared with recordings (tests/conformance/conversations).
 */
#include "api_testing.h"

#include "apiserver/admission/policies/policy_registry.h"

#include <unistd.h>

#define GROUP    "/apis/admissionregistration.k8s.io/v1beta1/"
#define POLICIES GROUP "mutatingadmissionpolicies"
#define BINDINGS GROUP "mutatingadmissionpolicybindings"
#define MAPS     "/api/v1/namespaces/default/configmaps"

static void create_policy(api *a, const char *name, const char *reinvocation, const char *spec)
{
    assert_code(api_post(a, POLICIES,
                         text(a,
                              "{'metadata':{'name':'%s'},'spec':{'matchConstraints':{"
                              "'resourceRules':[{'apiGroups':[''],'apiVersions':['v1'],"
                              "'operations':['CREATE','UPDATE'],'resources':['configmaps']}]},"
                              "'reinvocationPolicy':'%s',%s}}",
                              name, reinvocation, spec)),
                201);
    assert_code(
        api_post(a, BINDINGS,
                 text(a, "{'metadata':{'name':'%s'},'spec':{'policyName':'%s'}}", name, name)),
        201);
}

static void await_policies(api *a, size_t n)
{
    for (int i = 0; i < 2000; i++) {
        kc_auto(kc__admission_policy_set) *held = NULL;
        const kc__admission_policy_set *set =
            kc__admission_policies_current(api_inside(a)->policies, &held);
        if ((set ? set->mutating.n : 0) == n)
            return;
        usleep(5000);
    }
    fail_msg("%zu policies are not in effect", n);
}

#define APPLY(expression)                                                                \
    "'mutations':[{'patchType':'ApplyConfiguration','applyConfiguration':{'expression':" \
    "'" expression "'}}]"
#define PATCH(expression) \
    "'mutations':[{'patchType':'JSONPatch','jsonPatch':{'expression':'" expression "'}}]"

static const reply *create_map(api *a, const char *name, const char *data)
{
    return api_post(a, MAPS, text(a, "{'metadata':{'name':'%s'},'data':{%s}}", name, data));
}

static void apply_configuration_is_merged(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    create_policy(a, "p", "Never", APPLY("Object{data: {\\\"added\\\": object.data.a}}"));
    await_policies(a, 1);
    const reply *r = create_map(a, "m", "'a':'1'");
    assert_at(r, "data", "{\"a\":\"1\",\"added\":\"1\"}");
    assert_at(api_get(a, MAPS "/m"), "data", "{\"a\":\"1\",\"added\":\"1\"}");
    r = api_patch(a, MAPS "/m", "{'data':{'a':'2'}}");
    assert_at(r, "data", "{\"a\":\"2\",\"added\":\"2\"}");
}

/* ---- bodies of subresources ---- */

#define PODS "/api/v1/namespaces/default/pods"

static void create_pod(api *a, const char *name)
{
    assert_code(api_post(a, PODS,
                         text(a,
                              "{'metadata':{'name':'%s'},'spec':{'containers':[{'name':'c',"
                              "'image':'i'}]}}",
                              name)),
                201);
}

static void create_pod_policy(api *a, const char *name, const char *resource, const char *spec)
{
    assert_code(api_post(a, POLICIES,
                         text(a,
                              "{'metadata':{'name':'%s'},'spec':{'matchConstraints':{"
                              "'resourceRules':[{'apiGroups':[''],'apiVersions':['v1'],"
                              "'operations':['CREATE'],'resources':['%s']}]},"
                              "'reinvocationPolicy':'IfNeeded',%s}}",
                              name, resource, spec)),
                201);
    assert_code(
        api_post(a, BINDINGS,
                 text(a, "{'metadata':{'name':'%s'},'spec':{'policyName':'%s'}}", name, name)),
        201);
}

static const reply *bind_pod(api *a, const char *pod, const char *node)
{
    return api_post(
        a, text(a, PODS "/%s/binding", pod),
        text(a, "{'metadata':{'name':'%s'},'target':{'kind':'Node','name':'%s'}}", pod, node));
}

static void binding_is_mutated_before_the_pod_is_assigned(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    create_pod_policy(a, "p", "pods/binding",
                      PATCH("[JSONPatch{op: \\\"replace\\\", path: \\\"/target/name\\\", "
                            "value: object.target.name + \\\"-x\\\"}]"));
    create_pod_policy(a, "q", "pods/binding",
                      APPLY("Object{metadata: Object.metadata{annotations: {\\\"by\\\": "
                            "\\\"q\\\"}}}"));
    await_policies(a, 2);
    create_pod(a, "a");
    assert_code(bind_pod(a, "a", "n"), 201);
    const reply *r = api_get(a, PODS "/a");
    /* The change of q lets p, with reinvocationPolicy IfNeeded, apply once more. */
    assert_at(r, "spec.nodeName", "n-x-x");
    assert_at(r, "metadata.annotations.by", "q");
}

static void mutated_binding_without_node_is_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    create_pod_policy(a, "p", "pods/binding",
                      PATCH("[JSONPatch{op: \\\"replace\\\", path: \\\"/target/name\\\", "
                            "value: \\\"\\\"}]"));
    await_policies(a, 1);
    create_pod(a, "a");
    const reply *r = bind_pod(a, "a", "n");
    assert_code(r, 500);
    assert_at(r, "message", "target.name: Required value");
    assert_null(strstr(api_get(a, PODS "/a")->body, "nodeName"));
}

static void eviction_options_of_a_policy_are_used(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    create_pod_policy(a, "p", "pods/eviction",
                      PATCH("[JSONPatch{op: \\\"add\\\", path: \\\"/deleteOptions\\\", value: "
                            "Object.deleteOptions{dryRun: [\\\"All\\\"]}}]"));
    await_policies(a, 1);
    create_pod(a, "a");
    assert_code(api_post(a, PODS "/a/eviction",
                         "{'apiVersion':'policy/v1','kind':'Eviction','metadata':{'name':'a'}}"),
                201);
    assert_code(api_get(a, PODS "/a"), 200);
}

static void json_patch_is_applied(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    create_policy(a, "p", "Never",
                  PATCH("[JSONPatch{op: \\\"add\\\", path: \\\"/data/b\\\", value: \\\"2\\\"}, "
                        "JSONPatch{op: \\\"remove\\\", path: \\\"/data/a\\\"}]"));
    await_policies(a, 1);
    assert_at(create_map(a, "m", "'a':'1'"), "data", "{\"b\":\"2\"}");
}

static void dry_run_and_generated_name_are_mutated_once(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    create_policy(a, "p", "Never", APPLY("Object{data: {\\\"n\\\": object.data.n + \\\"x\\\"}}"));
    await_policies(a, 1);
    assert_at(api_post(a, MAPS "?dryRun=All", "{'metadata':{'name':'m'},'data':{'n':''}}"),
              "data.n", "x");
    assert_at(api_post(a, MAPS, "{'metadata':{'generateName':'m-'},'data':{'n':''}}"), "data.n",
              "x");
}

static void earlier_policy_is_reinvoked_after_a_later_change(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    create_policy(a, "a-first", "IfNeeded",
                  APPLY("Object{data: {\\\"a\\\": has(object.data.b) ? \\\"2\\\" : \\\"1\\\"}}"));
    create_policy(a, "b-second", "Never", APPLY("Object{data: {\\\"b\\\": \\\"b\\\"}}"));
    await_policies(a, 2);
    assert_at(create_map(a, "m", "'n':'1'"), "data", "{\"a\":\"2\",\"b\":\"b\",\"n\":\"1\"}");
    assert_code(api_patch(a, POLICIES "/a-first", "{'spec':{'reinvocationPolicy':'Never'}}"), 200);
    const reply *r = create_map(a, "n", "'n':'1'");
    for (int i = 0; i < 10000 && strcmp(r_text(r, "data.a"), "1") != 0; i++) {
        usleep(5000); /* The change is not in effect yet. */
        r = create_map(a, text(a, "n-%d", i), "'n':'1'");
    }
    assert_at(r, "data", "{\"a\":\"1\",\"b\":\"b\",\"n\":\"1\"}");
}

/* Policies share the value of equal conditions, until one of them changes the object. */
static void condition_of_two_policies_sees_the_mutated_object(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const char *condition = "'matchConditions':[{'name':'c','expression':'!has(object.data.by)'}],";
    create_policy(a, "a-first", "Never",
                  text(a, "%s" APPLY("Object{data: {\\\"by\\\": \\\"first\\\"}}"), condition));
    create_policy(a, "b-second", "Never",
                  text(a, "%s" APPLY("Object{data: {\\\"by\\\": \\\"second\\\"}}"), condition));
    await_policies(a, 2);
    assert_at(create_map(a, "m", "'a':'1'"), "data.by", "first");
    assert_at(create_map(a, "n", "'by':'client'"), "data.by", "client");
}

static void failed_mutation_is_refused_or_ignored(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    create_policy(a, "p", "Never", APPLY("Object{data: {\\\"x\\\": object.data.nope}}"));
    await_policies(a, 1);
    const reply *r = create_map(a, "m", "'a':'1'");
    assert_status(r, 403, "Invalid",
                  "policy 'p' with binding 'p' denied request: expression 'Object{data: {\"x\": "
                  "object.data.nope}}' resulted in error: no such key: nope");
    assert_code(api_patch(a, POLICIES "/p", "{'spec':{'failurePolicy':'Ignore'}}"), 200);
    r = create_map(a, "m", "'a':'1'");
    for (int i = 0; i < 10000 && r->status == 403; i++) {
        usleep(5000); /* The change is not in effect yet. */
        r = create_map(a, "m", "'a':'1'");
    }
    assert_at(r, "data", "{\"a\":\"1\"}");
}

static void expensive_mutation_runs_on_a_worker(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    create_policy(a, "p", "IfNeeded",
                  APPLY("object.data.all(k, object.data.all(l, object.data.all(m, k + l + m != "
                        "\\\"x\\\"))) ? Object{data: {\\\"added\\\": \\\"1\\\"}} : Object{}"));
    await_policies(a, 1);
    kc_scoped(kc_buf) data = {0};
    for (int i = 0; i < 20; i++)
        kc_buf_printf(&data, "%s'k%d':'v'", i ? "," : "", i);
    assert_at(create_map(a, "m", kc_buf_cstr(&data)), "data.added", "1");
}

static void deletion_is_not_mutated(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    create_policy(a, "p", "Never", APPLY("Object{data: {\\\"x\\\": object.data.nope}}"));
    assert_code(api_delete(a, BINDINGS "/p", NULL), 200);
    await_policies(a, 0);
    assert_code(create_map(a, "m", "'a':'1'"), 201);
    assert_code(api_post(a, BINDINGS, "{'metadata':{'name':'p'},'spec':{'policyName':'p'}}"), 201);
    await_policies(a, 1);
    assert_code(api_delete(a, MAPS "/m", NULL), 200);
}

TESTS(apply_configuration_is_merged, condition_of_two_policies_sees_the_mutated_object,
      binding_is_mutated_before_the_pod_is_assigned, mutated_binding_without_node_is_refused,
      eviction_options_of_a_policy_are_used, json_patch_is_applied,
      dry_run_and_generated_name_are_mutated_once, earlier_policy_is_reinvoked_after_a_later_change,
      failed_mutation_is_refused_or_ignored, expensive_mutation_runs_on_a_worker,
      deletion_is_not_mutated)
