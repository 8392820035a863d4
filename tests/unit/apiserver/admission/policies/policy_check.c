/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validating admission policies, in the real server: when they take effect, what they see, what
 * their decisions do to a request, and on which thread they are evaluated. Messages and codes are
 * also compared with recordings (tests/conformance/conversations/policies-*).
 */
#include "api_testing.h"

#include "apiserver/admission/policies/policy_registry.h"
#include "kc/metrics.h"

#include <unistd.h>

#define GROUP    "/apis/admissionregistration.k8s.io/v1/"
#define POLICIES GROUP "validatingadmissionpolicies"
#define BINDINGS GROUP "validatingadmissionpolicybindings"
#define MAPS     "/api/v1/namespaces/default/configmaps"

/* The rule that selects all writes of ConfigMaps. */
#define CONFIG_MAPS                                                                \
    "'matchConstraints':{'resourceRules':[{'apiGroups':[''],'apiVersions':['v1']," \
    "'operations':['*'],'resources':['configmaps']}]}"

static void create_policy(api *a, const char *name, const char *spec)
{
    assert_code(
        api_post(a, POLICIES,
                 text(a, "{'metadata':{'name':'%s'},'spec':{" CONFIG_MAPS ",%s}}", name, spec)),
        201);
}

static void create_binding(api *a, const char *policy, const char *actions, const char *more)
{
    assert_code(api_post(a, BINDINGS,
                         text(a,
                              "{'metadata':{'name':'%s'},'spec':{'policyName':'%s',"
                              "'validationActions':[%s]%s}}",
                              policy, policy, actions, more)),
                201);
}

/* Waits until so many policies are in effect. */
static void await_policies(api *a, size_t n)
{
    kc__admission_policies *policies = api_inside(a)->policies;
    for (int i = 0; i < 2000; i++) {
        kc_auto(kc__admission_policy_set) *held = NULL;
        const kc__admission_policy_set *set = kc__admission_policies_current(policies, &held);
        if ((set ? set->validating.n : 0) == n)
            return;
        usleep(5000);
    }
    fail_msg("%zu policies are not in effect", n);
}

static api *start_with_policy(const char *spec)
{
    api *a = api_start(NULL);
    create_policy(a, "p", spec);
    create_binding(a, "p", "'Deny'", "");
    await_policies(a, 1);
    return a;
}

static const reply *create_map(api *a, const char *name, const char *data)
{
    return api_post(a, MAPS, text(a, "{'metadata':{'name':'%s'},'data':{%s}}", name, data));
}

/* ---- tests ---- */

static void violation_is_denied_with_cause(void **state)
{
    (void)state;
    kc_auto(api) *a =
        start_with_policy("'validations':[{'expression':'object.data.x == \\\"1\\\"'}]");
    const reply *r = create_map(a, "a", "'x':'2'");
    assert_status(r, 422, "Invalid",
                  "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' "
                  "denied request: failed expression: object.data.x == \"1\"");
    assert_at(r, "details.kind", "configmaps");
    assert_at(r, "details.causes[0].message",
              "ValidatingAdmissionPolicy 'p' with binding 'p' denied request: failed expression: "
              "object.data.x == \"1\"");
    assert_code(create_map(a, "a", "'x':'1'"), 201);
}

/* Waits until a new ConfigMap is answered with this code. */
static void await_code(api *a, int round, int code)
{
    const int64_t end = kc_clock_deadline(kc_clock_real(), KC_MINUTE);
    for (int try = 0;; try++) {
        const reply *r = create_map(a, text(a, "a%d-%d", round, try), "'x':'2'");
        if (r->status == code)
            return;
        if (kc_clock_now(kc_clock_real()) > end)
            fail_msg("change %d has no effect", round);
        usleep(2000);
    }
}

/* The changes alternate, and forty other policies are there to be taken over, so that no change is
 * in effect by accident. How soon it is: tests/e2e/policies.bats. */
static void change_takes_effect(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_policy("'validations':[{'expression':'true'}]");
    for (int i = 0; i < 40; i++) {
        create_policy(a, text(a, "other-%d", i), "'validations':[{'expression':'true'}]");
        create_binding(a, text(a, "other-%d", i), "'Deny'", "");
    }
    await_policies(a, 41);
    for (int i = 0; i < 6; i++) {
        const bool denies = i % 2 == 0;
        assert_code(api_patch(a, POLICIES "/p",
                              text(a, "{'spec':{'validations':[{'expression':'%s'}]}}",
                                   denies ? "false" : "true")),
                    200);
        await_code(a, i, denies ? 422 : 201);
    }
}

static void policy_without_binding_has_no_effect(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    create_policy(a, "p", "'validations':[{'expression':'false'}]");
    create_policy(a, "q", "'validations':[{'expression':'false'}]");
    create_binding(a, "q", "'Deny'",
                   ",'matchResources':{'objectSelector':{'matchLabels':{'a':'b'}}}");
    create_binding(a, "absent", "'Deny'", "");
    await_policies(a, 1);
    assert_code(create_map(a, "a", ""), 201);
}

static void deleted_policy_has_no_effect(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_policy("'validations':[{'expression':'false'}]");
    assert_code(create_map(a, "a", ""), 422);
    assert_code(api_delete(a, POLICIES "/p", NULL), 200);
    await_policies(a, 0);
    assert_code(create_map(a, "a", ""), 201);
}

/* No request comes that would let the loops notice. */
static void replaced_policies_are_freed_at_once(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_policy("'validations':[{'expression':'false'}]");
    assert_code(create_map(a, "a", ""), 422);
    kc_auto(kc__admission_policy_set) *held = NULL;
    kc__admission_policies_current(api_inside(a)->policies, &held);
    assert_code(api_delete(a, POLICIES "/p", NULL), 200);
    for (int i = 0; i < 2000 && kc_ref_count(&held->refs) > 1; i++)
        usleep(5000);
    assert_int_equal(kc_ref_count(&held->refs), 1);
}

static bool is_in_metrics(api *a, const char *policy)
{
    const reply *r = api_get(a, "/metrics");
    return strstr(r->body, text(a, "{policy=\"%s\",", policy));
}

static void deleted_policy_leaves_the_metrics(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_policy("'validations':[{'expression':'false'}]");
    create_policy(a, "q", "'validations':[{'expression':'false'}]");
    create_binding(a, "q", "'Deny'", "");
    await_policies(a, 2);
    assert_code(create_map(a, "a", ""), 422);
    assert_true(is_in_metrics(a, "p") && is_in_metrics(a, "q"));
    assert_code(api_delete(a, POLICIES "/p", NULL), 200);
    for (int i = 0; i < 2000 && is_in_metrics(a, "p"); i++)
        usleep(5000);
    assert_false(is_in_metrics(a, "p"));
    assert_true(is_in_metrics(a, "q"));
}

static void policies_survive_restart(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_policy("'validations':[{'expression':'false'}]");
    api_restart(a);
    assert_code(create_map(a, "a", ""), 422);
}

static void policies_do_not_apply_to_policies(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_post(a, POLICIES,
                         "{'metadata':{'name':'p'},'spec':{'matchConstraints':{'resourceRules':[{"
                         "'apiGroups':['*'],'apiVersions':['*'],'operations':['*'],'resources':"
                         "['*/*']}]},'validations':[{'expression':'false'}]}}"),
                201);
    create_binding(a, "p", "'Deny'", "");
    await_policies(a, 1);
    assert_code(create_map(a, "a", ""), 422);
    assert_code(api_delete(a, BINDINGS "/p", NULL), 200);
    await_policies(a, 0);
    assert_code(create_map(a, "a", ""), 201);
}

/* Policies of one request share the value of equal conditions; requests do not. */
static void equal_conditions_are_evaluated_for_each_request(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    for (int i = 0; i < 3; i++) {
        create_policy(
            a, text(a, "p%d", i),
            text(a,
                 "'matchConditions':[{'name':'c','expression':'object.data.x == "
                 "\\\"1\\\"'}],'validations':[{'expression':'object.data.y != \\\"%d\\\"',"
                 "'message':'y is %d'}]",
                 i, i));
        create_binding(a, text(a, "p%d", i), "'Deny'", "");
    }
    await_policies(a, 3);
    assert_code(create_map(a, "a", "'x':'0','y':'2'"), 201);
    assert_status(create_map(a, "b", "'x':'1','y':'2'"), 422, "Invalid",
                  "configmaps \"b\" is forbidden: ValidatingAdmissionPolicy 'p2' with binding 'p2' "
                  "denied request: y is 2");
    assert_code(api_patch(a, MAPS "/a", "{'data':{'y':'1'}}"), 200);
    assert_code(api_patch(a, MAPS "/a", "{'data':{'x':'1'}}"), 422);
}

static void warning_does_not_reject(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    create_policy(a, "p",
                  "'validations':[{'expression':'false','message':'first'},"
                  "{'expression':'object.data.x == 1'}]");
    create_binding(a, "p", "'Warn'", "");
    await_policies(a, 1);
    const reply *r = create_map(a, "a", "");
    assert_code(r, 201);
    assert_string_equal(r_header_at(r, "Warning", 0),
                        "299 - \"Validation failed for ValidatingAdmissionPolicy 'p' with binding "
                        "'p': first\"");
    assert_string_equal(r_header_at(r, "Warning", 1),
                        "299 - \"Validation failed for ValidatingAdmissionPolicy 'p' with binding "
                        "'p': expression 'object.data.x == 1' resulted in error: no such key: "
                        "data\"");
}

/* ---- audit ---- */

static void collect_annotation(kc__rest_call *call, kc_str key, kc_str value, void *user)
{
    (void)call;
    kc_buf_printf(user, "%.*s=%.*s\n", KC_ARG(key), KC_ARG(value));
}

static void audit_annotations_reach_the_audit_log(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    kc_scoped(kc_buf) log = {0};
    const kc__rest_audit_log audit = {.annotate = collect_annotation, .user = &log};
    api_inside(a)->audit = &audit;
    create_policy(
        a, "p",
        "'paramKind':{'apiVersion':'v1','kind':'ConfigMap'},"
        "'validations':[{'expression':'params == null || params.data.n == \\\"1\\\"'}],"
        "'auditAnnotations':[{'key':'k','valueExpression':'\\\"v\\\" + string(params.data.n)'}]");
    assert_code(create_map(a, "n1", "'n':'1'"), 201);
    assert_code(create_map(a, "n2", "'n':'2'"), 201);
    assert_code(api_patch(a, MAPS "/n1", "{'metadata':{'labels':{'l':'x'}}}"), 200);
    assert_code(api_patch(a, MAPS "/n2", "{'metadata':{'labels':{'l':'x'}}}"), 200);
    create_binding(a, "p", "'Audit'",
                   ",'paramRef':{'selector':{'matchLabels':{'l':'x'}},"
                   "'parameterNotFoundAction':'Deny'}");
    await_policies(a, 1);
    kc_buf_clear(&log);
    assert_code(create_map(a, "a", ""), 201);
    assert_string_equal(
        kc_buf_cstr(&log),
        "validation.policy.admission.k8s.io/validation_failure=[{\"message\":\"failed expression: "
        "params == null || params.data.n == \\\"1\\\"\",\"policy\":\"p\",\"binding\":\"p\","
        "\"expressionIndex\":0,\"validationActions\":[\"Audit\"]}]\n"
        "p/k=v1, v2\n");
    api_inside(a)->audit = NULL;
}

/* ---- variables ---- */

static void unused_variable_is_not_evaluated(void **state)
{
    (void)state;
    kc_auto(api) *a =
        start_with_policy("'variables':[{'name':'bad','expression':'object.data.nope'},"
                          "{'name':'good','expression':'object.data.x'}],"
                          "'validations':[{'expression':'variables.good == \\\"1\\\"'}]");
    assert_code(create_map(a, "a", "'x':'1'"), 201);
}

static void deep_chain_of_variables_fails_instead_of_crashing(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    kc_scoped(kc_buf) spec = {0};
    kc_buf_puts(&spec, "'variables':[{'name':'v0','expression':'1'}");
    for (int i = 1; i < 2000; i++)
        kc_buf_printf(&spec, ",{'name':'v%d','expression':'variables.v%d + 1'}", i, i - 1);
    kc_buf_puts(&spec, "],'validations':[{'expression':'variables.v1999 == 2000'}]");
    create_policy(a, "p", kc_buf_cstr(&spec));
    create_binding(a, "p", "'Deny'", "");
    await_policies(a, 1);
    const reply *r = create_map(a, "a", "");
    assert_code(r, 422);
    assert_non_null(strstr(r->body, "variables are nested too deeply"));
}

/* ---- threads ---- */

static long offloaded(api *a)
{
    return api_metric(a, "apiserver_offloaded_requests_total{result=\"done\"}");
}

/* Twenty entries, nested four times: 160,000 evaluations of the innermost expression. */
#define EXPENSIVE                                                                                \
    "object.data.all(k, object.data.all(l, object.data.all(m, object.data.all(n, k + l + m + n " \
    "!= 'x'))))"

static const char *twenty_entries(api *a)
{
    kc_scoped(kc_buf) data = {0};
    for (int i = 0; i < 20; i++)
        kc_buf_printf(&data, "%s'k%d':'v'", i ? "," : "", i);
    return text(a, "%s", kc_buf_cstr(&data));
}

static void cheap_policy_runs_on_the_loop_and_expensive_one_on_a_worker(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_policy("'validations':[{'expression':'object.data.all(k, k != "
                                        "\\\"x\\\")'}]");
    assert_code(create_map(a, "cheap", "'x':'1'"), 422);
    assert_code(create_map(a, "cheap", "'y':'1'"), 201);
    assert_true(offloaded(a) == 0);
    const char *spec = "{'spec':{'validations':[{'expression':'object.data.all(k, "
                       "object.data.all(l, object.data.all(m, k + l + m != \\\"x\\\")))',"
                       "'message':'never'}]}}";
    assert_code(api_patch(a, POLICIES "/p", spec), 200);
    for (int i = 0; i < 10000 && offloaded(a) == 0; i++) /* Until the change is in effect. */
        assert_code(create_map(a, text(a, "expensive-%d", i), twenty_entries(a)), 201);
    assert_true(offloaded(a) == 1);
}

/* A check of the authorizer costs 350,000 units, and little time. */
static void budget_of_a_policy_is_limited(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    kc_scoped(kc_buf) spec = {0};
    kc_buf_puts(&spec, "'validations':[");
    for (int i = 0; i < 15; i++)
        kc_buf_printf(&spec,
                      "%s{'expression':'authorizer.path(\\\"/a\\\").check(\\\"get\\\").allowed() "
                      "&& authorizer.path(\\\"/b\\\").check(\\\"get\\\").allowed()'}",
                      i ? "," : "");
    kc_buf_putc(&spec, ']');
    create_policy(a, "p", kc_buf_cstr(&spec));
    create_binding(a, "p", "'Deny'", "");
    await_policies(a, 1);
    const reply *r = create_map(a, "a", "");
    assert_code(r, 422);
    assert_non_null(strstr(r->body, "validation failed due to running out of cost budget, no "
                                    "further validation rules will be run"));
}

static void delete_collection_stops_at_the_first_denial(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    for (int i = 0; i < 5; i++)
        assert_code(create_map(a, text(a, "m%d", i), i == 3 ? "'keep':'1'" : ""), 201);
    assert_code(api_post(a, POLICIES,
                         "{'metadata':{'name':'p'},'spec':{'matchConstraints':{'resourceRules':[{"
                         "'apiGroups':[''],'apiVersions':['v1'],'operations':['DELETE'],"
                         "'resources':['configmaps']}]},'validations':[{'expression':"
                         "'!has(oldObject.data)','message':'kept'}]}}"),
                201);
    create_binding(a, "p", "'Deny'", "");
    await_policies(a, 1);
    assert_status(api_delete(a, MAPS, NULL), 422, "Invalid",
                  "configmaps \"Unknown\" is forbidden: ValidatingAdmissionPolicy 'p' with binding "
                  "'p' denied request: kept");
    assert_string_equal(r_names(api_get(a, MAPS)), "m3 m4");
}

/* ---- status ---- */

/* Waits until the status is about this generation. */
static const reply *await_status(api *a, const char *generation)
{
    const reply *r = NULL;
    for (int i = 0; i < 6000; i++) {
        r = api_get(a, POLICIES "/p");
        if (!strcmp(r_text(r, "status.observedGeneration"), generation))
            break;
        usleep(5000);
    }
    return r;
}

/* As kube-controller-manager does it. Entries of appliers come first. */
static void status_is_applied_by_its_own_manager(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    create_policy(a, "p", "'validations':[{'expression':'object.dta.x == \\\"1\\\"'}]");
    const reply *r = await_status(a, "1");
    assert_at(r, "metadata.managedFields[0].manager", "validatingadmissionpolicy-status");
    assert_at(r, "metadata.managedFields[0].operation", "Apply");
    assert_at(r, "metadata.managedFields[0].subresource", "status");
    assert_at(r, "metadata.managedFields[0].fieldsV1",
              "{\"f:status\":{\"f:observedGeneration\":{},"
              "\"f:typeChecking\":{\"f:expressionWarnings\":{}}}}");
    assert_at(r, "metadata.managedFields[1].operation", "Update");
    /* Without warnings the manager gives up the list, and the list is removed. */
    assert_code(api_patch(a, POLICIES "/p", "{'spec':{'validations':[{'expression':'true'}]}}"),
                200);
    r = await_status(a, "2");
    assert_at(r, "status", "{\"observedGeneration\":2}");
    assert_at(r, "metadata.managedFields[0].fieldsV1",
              "{\"f:status\":{\"f:observedGeneration\":{},\"f:typeChecking\":{}}}");
}

static void status_warns_about_undefined_fields(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    create_policy(a, "p",
                  "'validations':[{'expression':'object.data.x == \\\"1\\\"'},"
                  "{'expression':'object.dta.x == \\\"1\\\"',"
                  "'messageExpression':'string(object.metadata.nme)'}]");
    const reply *r = await_status(a, "1");
    assert_at(r, "status.typeChecking.expressionWarnings[0].fieldRef",
              "spec.validations[1].expression");
    assert_at(r, "status.typeChecking.expressionWarnings[0].warning",
              "/v1, Kind=ConfigMap: ERROR: <input>:1:7: undefined field 'dta'\n"
              " | object.dta.x == \"1\"\n"
              " | ......^\n");
    assert_at(r, "status.typeChecking.expressionWarnings[1].fieldRef",
              "spec.validations[1].messageExpression");
    assert_int_equal(r_count(r, "status.typeChecking.expressionWarnings"), 2);
}

TESTS(violation_is_denied_with_cause, equal_conditions_are_evaluated_for_each_request,
      change_takes_effect, policy_without_binding_has_no_effect, deleted_policy_has_no_effect,
      replaced_policies_are_freed_at_once, deleted_policy_leaves_the_metrics,
      policies_survive_restart, policies_do_not_apply_to_policies, warning_does_not_reject,
      audit_annotations_reach_the_audit_log, unused_variable_is_not_evaluated,
      deep_chain_of_variables_fails_instead_of_crashing,
      cheap_policy_runs_on_the_loop_and_expensive_one_on_a_worker, budget_of_a_policy_is_limited,
      delete_collection_stops_at_the_first_denial, status_is_applied_by_its_own_manager,
      status_warns_about_undefined_fields)
