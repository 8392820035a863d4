/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission policies and match conditions that read a custom resource with a conversion webhook in
 * another version than that of the request: the phase waits for the webhook and starts over.
 */
#include "conversion_testing.h"

#include "apiserver/admission/policies/policy_registry.h"
#include "apiserver/admission/webhooks/webhook_registry.h"

#define GROUP "/apis/admissionregistration.k8s.io/"

/* A policy for v1 of robots, unless `rules` says otherwise, with a binding. */
static void create_policy(api *a, const char *kind, const char *name, const char *version,
                          const char *spec)
{
    const bool validates = !strcmp(kind, "validating");
    const char *group = text(a, GROUP "%s/%s", validates ? "v1" : "v1beta1", kind);
    assert_code(api_post(a, text(a, "%sadmissionpolicies", group),
                         text(a,
                              "{'metadata':{'name':'%s'},'spec':{'matchConstraints':{"
                              "'resourceRules':[{'apiGroups':['x.io'],'apiVersions':['%s'],"
                              "'operations':['*'],'resources':['robots']}]},%s}}",
                              name, version, spec)),
                201);
    assert_code(api_post(a, text(a, "%sadmissionpolicybindings", group),
                         text(a, "{'metadata':{'name':'%s'},'spec':{'policyName':'%s'%s}}", name,
                              name, validates ? ",'validationActions':['Deny']" : "")),
                201);
}

static void await_policies(api *a, size_t validating, size_t mutating)
{
    for (int i = 0; i < 2000; i++) {
        kc_auto(kc__admission_policy_set) *held = NULL;
        const kc__admission_policy_set *set =
            kc__admission_policies_current(api_inside(a)->policies, &held);
        if ((set ? set->validating.n : 0) == validating && (set ? set->mutating.n : 0) == mutating)
            return;
        kc_clock_sleep(kc_clock_real(), 5 * KC_MILLISECOND);
    }
    fail_msg("policies are not in effect");
}

static const reply *create_v2(api *a, const char *name, const char *spec)
{
    return api_post(a, V2,
                    text(a,
                         "{'apiVersion':'x.io/v2','kind':'Robot','metadata':{'name':'%s'},"
                         "'spec':{%s}}",
                         name, spec));
}

#define NOT_BAD "'validations':[{'expression':'object == null || object.spec.one != \\\"bad\\\"'}]"
#define OLD_GOOD \
    "'validations':[{'expression':'oldObject == null || oldObject.spec.one != \\\"kept\\\"'}]"

static void validating_policy_of_another_version_reads_that_version(void **state)
{
    (void)state;
    api *a = start("/convert");
    create_policy(a, "validating", "p", "v1", NOT_BAD);
    await_policies(a, 1, 0);
    assert_status(create_v2(a, "a", "'two':'bad'"), 422, "Invalid",
                  "robots.x.io \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' "
                  "denied request: failed expression: object == null || object.spec.one != "
                  "\"bad\"");
    assert_code(create_v2(a, "a", "'two':'good'"), 201);
    assert_code(api_patch(a, V2 "/a", "{'spec':{'two':'bad'}}"), 422);
    assert_code(api_patch(a, V2 "/a", "{'spec':{'two':'better'}}"), 200);
    stop(a);
}

static void old_object_is_converted_for_update_and_delete(void **state)
{
    (void)state;
    api *a = start("/convert");
    assert_code(create_v2(a, "a", "'two':'kept'"), 201);
    assert_code(create_v2(a, "b", "'two':'other'"), 201);
    create_policy(a, "validating", "p", "v1", OLD_GOOD);
    await_policies(a, 1, 0);
    assert_code(api_patch(a, V2 "/a", "{'spec':{'two':'new'}}"), 422);
    assert_code(api_delete(a, V2 "/a", NULL), 422);
    assert_code(api_delete(a, V2, NULL), 422);
    assert_code(api_delete(a, V2 "/b", NULL), 200);
    stop(a);
}

static void policies_share_the_conversion_of_an_object(void **state)
{
    (void)state;
    api *a = start("/convert");
    size_t before = calls();
    assert_code(create_v2(a, "plain", "'two':'good'"), 201);
    const size_t plain = calls() - before;
    for (int i = 0; i < 4; i++)
        create_policy(a, "validating", text(a, "p%d", i), "v1", NOT_BAD);
    await_policies(a, 4, 0);
    before = calls();
    assert_code(create_v2(a, "a", "'two':'good'"), 201);
    assert_int_equal(calls() - before, plain + 1);
    stop(a);
}

static void mutating_policy_of_another_version_changes_that_version(void **state)
{
    (void)state;
    api *a = start("/convert");
    create_policy(a, "mutating", "p", "v1",
                  "'reinvocationPolicy':'Never','mutations':["
                  "{'patchType':'ApplyConfiguration','applyConfiguration':{'expression':"
                  "'Object{spec: Object.spec{one: object.spec.one + \\\"-first\\\"}}'}},"
                  "{'patchType':'JSONPatch','jsonPatch':{'expression':'[JSONPatch{op: "
                  "\\\"replace\\\", path: \\\"/spec/one\\\", value: object.spec.one + "
                  "\\\"-second\\\"}]'}}]");
    await_policies(a, 0, 1);
    const reply *r = create_v2(a, "a", "'two':'sent'");
    assert_code(r, 201);
    assert_at(r, "spec.two", "sent-first-second");
    assert_at(api_get(a, V1 "/a"), "spec.one", "sent-first-second");
    stop(a);
}

static void failed_conversion_denies_or_is_ignored(void **state)
{
    (void)state;
    api *a = start("/fail");
    create_policy(a, "validating", "p", "v2", "'validations':[{'expression':'true'}]");
    await_policies(a, 1, 0);
    const char *body = "{'apiVersion':'x.io/v1','kind':'Robot','metadata':{'name':'a'},"
                       "'spec':{'one':'1'}}";
    assert_status(api_post(a, V1, body), 422, "Invalid",
                  "robots.x.io \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' "
                  "denied request: failed to configure binding: failed to convert object version: "
                  "conversion webhook for x.io/v1, Kind=Robot failed: no");
    assert_code(api_patch(a, GROUP "v1/validatingadmissionpolicies/p",
                          "{'spec':{'failurePolicy':'Ignore'}}"),
                200);
    for (int i = 0; i < 12000 && api_post(a, V1, body)->status == 422; i++)
        kc_clock_sleep(kc_clock_real(), 5 * KC_MILLISECOND);
    assert_code(api_get(a, V1 "/a"), 200);
    assert_code(api_delete(a, V1 "/a", NULL), 200);
    stop(a);
}

/* The first policy moves the evaluation to a worker, which cannot wait for the webhook. */
static void expensive_policy_beside_a_conversion_ends(void **state)
{
    (void)state;
    api *a = start("/convert");
    create_policy(a, "validating", "a-expensive", "v2",
                  "'validations':[{'expression':'\\\"aaaaaaaaaaaaaaaaaaaaaaaa\\\".split(\\\"\\\")"
                  ".all(x, \\\"aaaaaaaaaaaaaaaaaaaaaaaa\\\".split(\\\"\\\").all(y, "
                  "\\\"aaaaaaaaaaaaaaaaaaaaaaaa\\\".split(\\\"\\\").all(z, x + y + z != "
                  "\\\"b\\\")))'}]");
    create_policy(a, "validating", "b-other", "v1", NOT_BAD);
    await_policies(a, 2, 0);
    assert_code(create_v2(a, "a", "'two':'good'"), 201);
    assert_code(create_v2(a, "b", "'two':'bad'"), 422);
    assert_code(create_v2(a, "c", "'two':'good'"), 201);
    assert_code(api_delete(a, V2, NULL), 200);
    stop(a);
}

static void parameter_is_converted_to_the_version_of_param_kind(void **state)
{
    (void)state;
    api *a = start("/convert");
    create(a, "limits");
    assert_code(
        api_post(a, GROUP "v1/validatingadmissionpolicies",
                 "{'metadata':{'name':'p'},'spec':{'paramKind':{'apiVersion':'x.io/v2',"
                 "'kind':'Robot'},'matchConstraints':{'resourceRules':[{'apiGroups':[''],"
                 "'apiVersions':['v1'],'operations':['CREATE'],'resources':['configmaps']}]},"
                 "'validations':[{'expression':'object.data.a == params.spec.two'}]}}"),
        201);
    assert_code(api_post(a, GROUP "v1/validatingadmissionpolicybindings",
                         "{'metadata':{'name':'p'},'spec':{'policyName':'p','validationActions':"
                         "['Deny'],'paramRef':{'selector':{},'parameterNotFoundAction':'Deny'}}}"),
                201);
    await_policies(a, 1, 0);
    const char *maps = "/api/v1/namespaces/default/configmaps";
    assert_code(api_post(a, maps, "{'metadata':{'name':'a'},'data':{'a':'other'}}"), 422);
    assert_code(api_post(a, maps, "{'metadata':{'name':'a'},'data':{'a':'xlimits'}}"), 201);
    use_path(a, "/fail");
    assert_status(api_post(a, maps, "{'metadata':{'name':'b'},'data':{'a':'xlimits'}}"), 422,
                  "Invalid",
                  "configmaps \"b\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' "
                  "denied request: failed to configure binding: conversion webhook for x.io/v1, "
                  "Kind=Robot failed: no");
    stop(a);
}

static void refuse_call(kc__http_client *client, const kc__http_client_request *request,
                        kc__loop *loop, kc__http_client_done_fn *done, void *user)
{
    (void)client, (void)request;
    sent_conversion *s = kc_new(sent_conversion);
    *s = (sent_conversion){
        .task.run = deliver_answer, .loop = loop, .done = done, .user = user, .error = "refused"};
    kc__loop_post(loop, &s->task);
}

static void match_condition_of_a_webhook_reads_its_version(void **state)
{
    (void)state;
    api *a = start("/convert");
    api_inside(a)->hooks->send = refuse_call;
    assert_code(
        api_post(a, GROUP "v1/validatingwebhookconfigurations",
                 "{'metadata':{'name':'h'},'webhooks':[{'name':'h.x.io','sideEffects':'None',"
                 "'clientConfig':{'url':'https://test.invalid/'},'admissionReviewVersions':['v1'],"
                 "'matchConditions':[{'name':'c','expression':'object.spec.one == "
                 "\\\"called\\\"'}],'rules':[{'operations':['CREATE'],'apiGroups':['x.io'],"
                 "'apiVersions':['v1'],'resources':['robots']}]}]}"),
        201);
    assert_code(create_v2(a, "a", "'two':'other'"), 201);
    const reply *r = create_v2(a, "b", "'two':'called'");
    assert_code(r, 500);
    assert_contains(r->body, "failed calling webhook");
    stop(a);
}

TESTS(validating_policy_of_another_version_reads_that_version,
      old_object_is_converted_for_update_and_delete, policies_share_the_conversion_of_an_object,
      mutating_policy_of_another_version_changes_that_version,
      failed_conversion_denies_or_is_ignored, expensive_policy_beside_a_conversion_ends,
      parameter_is_converted_to_the_version_of_param_kind,
      match_condition_of_a_webhook_reads_its_version)
