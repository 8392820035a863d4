/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission webhooks that match a request of another version (matchPolicy Equivalent), of a custom
 * resource with a conversion webhook.
 */
#include "conversion_testing.h"

#include "apiserver/admission/webhooks/webhook_registry.h"
#include "kc/base64.h"

/* What the admission webhook saw last, and the patch that it answers with; '' in a patch: none. */
static struct {
    char object[1024], old[1024];
    const char *patch;
} admission;

static void copy_json(char *to, size_t n, const kc_value *value)
{
    kc_scoped(kc_buf) json = {0};
    if (value)
        kc_json_write(&json, value);
    snprintf(to, n, "%s", kc_buf_cstr(&json));
}

static void send_to_admission(kc__http_client *client, const kc__http_client_request *request,
                              kc__loop *loop, kc__http_client_done_fn *done, void *user)
{
    (void)client;
    kc_auto(kc_view) *view = kc_view_parse(request->body, NULL, NULL);
    const kc_value *review = kc_value_get(kc_view_root(view), "request");
    sent_conversion *s = kc_new(sent_conversion);
    *s = (sent_conversion){
        .task.run = deliver_answer, .loop = loop, .done = done, .user = user, .status = 200};
    copy_json(admission.object, sizeof(admission.object), kc_value_get(review, "object"));
    copy_json(admission.old, sizeof(admission.old), kc_value_get(review, "oldObject"));
    kc_buf_printf(&s->answer,
                  "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\","
                  "\"response\":{\"uid\":\"%.*s\",\"allowed\":true",
                  KC_ARG(kc_value_as_str(kc_value_get(review, "uid"))));
    if (admission.patch) {
        kc_buf_puts(&s->answer, ",\"patchType\":\"JSONPatch\",\"patch\":\"");
        kc_base64_write(&s->answer, kc_cstr(admission.patch), KC_BASE64);
        kc_buf_putc(&s->answer, '"');
    }
    kc_buf_puts(&s->answer, "}}");
    kc__loop_post(loop, &s->task);
}

/* A webhook for v1, which requests of v2 match as well. */
static void admit(api *a, const char *kind, const char *patch)
{
    memset(&admission, 0, sizeof(admission));
    admission.patch = patch;
    api_inside(a)->hooks->send = send_to_admission;
    assert_code(
        api_post(a, text(a, "/apis/admissionregistration.k8s.io/v1/%swebhookconfigurations", kind),
                 "{'metadata':{'name':'h'},'webhooks':[{'name':'h.x.io','sideEffects':'None',"
                 "'clientConfig':{'url':'https://test.invalid/'},'admissionReviewVersions':['v1'],"
                 "'rules':[{'operations':['*'],'apiGroups':['x.io'],'apiVersions':['v1'],"
                 "'resources':['robots']}]}]}"),
        201);
}

static void mutating_webhook_of_another_version_gets_and_patches_that_version(void **state)
{
    (void)state;
    api *a = start("/convert");
    admit(a, "mutating", "[{\"op\":\"replace\",\"path\":\"/spec/one\",\"value\":\"patched\"}]");
    const reply *r = api_post(a, V2,
                              "{'apiVersion':'x.io/v2','kind':'Robot','metadata':{'name':'a'},"
                              "'spec':{'two':'sent'}}");
    assert_code(r, 201);
    assert_contains(admission.object, "\"apiVersion\":\"x.io/v1\"");
    assert_contains(admission.object, "\"one\":\"sent\"");
    assert_at(r, "spec.two", "patched");
    assert_at(api_get(a, V1 "/a"), "spec.one", "patched");
    stop(a);
}

static void validating_webhook_of_another_version_gets_both_states_in_it(void **state)
{
    (void)state;
    api *a = start("/convert");
    create(a, "a");
    admit(a, "validating", NULL);
    assert_code(api_patch(a, V2 "/a", "{'spec':{'two':'new'}}"), 200);
    assert_contains(admission.object, "\"one\":\"new\"");
    assert_contains(admission.old, "\"one\":\"xa\"");
    assert_code(api_delete(a, V2 "/a", NULL), 200);
    assert_contains(admission.old, "\"one\":\"new\"");
    stop(a);
}

static void admission_fails_if_the_object_cannot_be_converted(void **state)
{
    (void)state;
    api *a = start("/convert");
    create(a, "a");
    admit(a, "validating", NULL);
    use_path(a, "/failb");
    const reply *r = api_post(a, V2,
                              "{'apiVersion':'x.io/v2','kind':'Robot','metadata':{'name':'b'},"
                              "'spec':{'two':'sent'}}");
    assert_status(r, 500, "InternalError",
                  "Internal error occurred: conversion webhook for x.io/v2, Kind=Robot failed: no");
    stop(a);
}

TESTS(mutating_webhook_of_another_version_gets_and_patches_that_version,
      validating_webhook_of_another_version_gets_both_states_in_it,
      admission_fails_if_the_object_cannot_be_converted)
