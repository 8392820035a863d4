/* SPDX-License-Identifier: Apache-2.0 */
/* What admission webhooks leave in the audit log: their annotations, mutations, and failures that
 * were ignored. The transport is replaced: the path of a webhook chooses its answer. */
#include "audit_testing.h"

#include "apiserver/admission/webhooks/webhook_registry.h"
#include "kc/base64.h"

typedef struct sent_review {
    kc__loop_task task;
    kc__http_client_done_fn *done;
    void *user;
    char *path, *uid;
} sent_review;

static void write_answer(const sent_review *r, kc_buf *out)
{
    static const char patch[] =
        "[{\"op\":\"add\",\"path\":\"/metadata/labels\",\"value\":{\"a\":\"b\"}}]";
    kc_buf_printf(out,
                  "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\","
                  "\"response\":{\"uid\":\"%s\",\"allowed\":true,"
                  "\"auditAnnotations\":{\"key\":\"value\",\"no name\":\"x\"}",
                  r->uid);
    if (!strcmp(r->path, "patch")) {
        kc_buf_puts(out, ",\"patchType\":\"JSONPatch\",\"patch\":\"");
        kc_base64_write(out, kc_cstr(patch), KC_BASE64);
        kc_buf_putc(out, '"');
    }
    kc_buf_puts(out, "}}");
}

static void answer_review(kc__loop_task *task)
{
    sent_review *r = kc_container_of(task, sent_review, task);
    kc_scoped(kc_buf) body = {0};
    const bool fails = !strcmp(r->path, "unreachable");
    write_answer(r, &body);
    r->done(&(kc__http_client_response){.status = fails ? 0 : 200,
                                        .type = KC_STR("application/json"),
                                        .body = kc_buf_str(&body),
                                        .error = fails ? "connection refused" : NULL},
            r->user);
    free(r->path);
    free(r->uid);
    free(r);
}

/* Replaces kc__http_client_send. */
static void send_to_test(kc__http_client *http_client, const kc__http_client_request *request,
                         kc__loop *loop, kc__http_client_done_fn *done, void *user)
{
    (void)http_client;
    sent_review *r = kc_new(sent_review);
    kc_auto(kc_view) *view = kc_view_parse(request->body, NULL, NULL);
    const char *path = strchr(request->url + strlen("https://"), '/') + 1;
    r->task.run = answer_review;
    r->done = done;
    r->user = user;
    r->path = kc_str_dup(kc_str_of(path, strcspn(path, "?")));
    r->uid = kc_str_dup(
        kc_value_as_str(kc_value_get(kc_value_get(kc_view_root(view), "request"), "uid")));
    kc__loop_post(loop, &r->task);
}

#define HOOK(the_name, path)                                                                 \
    "{'name':'" the_name ".x.io','clientConfig':{'url':'https://hooks.test/" path "'},"      \
    "'rules':[{'operations':['CREATE'],'apiGroups':[''],'apiVersions':['v1'],'resources':["  \
    "'configmaps']}],'sideEffects':'None','admissionReviewVersions':['v1'],'failurePolicy':" \
    "'Ignore'}"

static void start_with_hooks(audit_stage *t, const char *level)
{
    kc_autofree char *rules = kc_asprintf("- level: %s\n", level);
    audit_stage_start(t, rules, (kc__audit_sink_opts){0}, false);
    api_inside(t->a)->hooks->send = send_to_test;
    assert_code(api_post(t->a,
                         "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
                         "{'metadata':{'name':'config'},'webhooks':[" HOOK("one", "patch") "," HOOK(
                             "two", "unreachable") "," HOOK("three", "allow") "]}"),
                201);
    assert_code(
        api_post(t->a, "/api/v1/namespaces/default/configmaps", "{'metadata':{'name':'a'}}"), 201);
}

static const char *event_of_create(audit_stage *t)
{
    const char *event = event_with(t, "\"verb\":\"create\"", "ResponseComplete",
                                   "\"resource\":\"configmaps\"", 300);
    assert_non_null(event);
    return event;
}

static void mutations_and_failures_of_webhooks_are_annotated(void **state)
{
    (void)state;
    kc_scoped(audit_stage) t = {0};
    start_with_hooks(&t, "Metadata");
    const char *event = event_of_create(&t);
    assert_contains(event, "\"mutation.webhook.admission.k8s.io/round_0_index_0\":"
                           "\"{\\\"configuration\\\":\\\"config\\\",\\\"webhook\\\":"
                           "\\\"one.x.io\\\",\\\"mutated\\\":true}\"");
    assert_contains(event, "\"mutation.webhook.admission.k8s.io/round_0_index_2\":"
                           "\"{\\\"configuration\\\":\\\"config\\\",\\\"webhook\\\":"
                           "\\\"three.x.io\\\",\\\"mutated\\\":false}\"");
    assert_contains(event, "\"failed-open.mutation.webhook.admission.k8s.io/round_0_index_1\":"
                           "\"two.x.io\"");
    assert_contains(event, "\"three.x.io/key\":\"value\"");
    assert_null(strstr(event, "patch.webhook"));
}

static void patch_of_a_webhook_is_annotated_at_the_level_request(void **state)
{
    (void)state;
    kc_scoped(audit_stage) t = {0};
    start_with_hooks(&t, "Request");
    assert_contains(event_of_create(&t),
                    "\"patch.webhook.admission.k8s.io/round_0_index_0\":"
                    "\"{\\\"configuration\\\":\\\"config\\\",\\\"webhook\\\":\\\"one.x.io\\\","
                    "\\\"patch\\\":[{\\\"op\\\":\\\"add\\\",\\\"path\\\":\\\"/metadata/labels\\\","
                    "\\\"value\\\":{\\\"a\\\":\\\"b\\\"}}],\\\"patchType\\\":\\\"JSONPatch\\\"}\"");
}

static void validating_webhook_that_fails_open_is_annotated(void **state)
{
    (void)state;
    kc_scoped(audit_stage) t = {0};
    audit_stage_start(&t, "- level: Metadata\n", (kc__audit_sink_opts){0}, false);
    api_inside(t.a)->hooks->send = send_to_test;
    assert_code(api_post(t.a,
                         "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
                         "{'metadata':{'name':'config'},'webhooks':[" HOOK("one", "allow") "," HOOK(
                             "two", "unreachable") "]}"),
                201);
    assert_code(api_post(t.a, "/api/v1/namespaces/default/configmaps", "{'metadata':{'name':'a'}}"),
                201);
    const char *event = event_of_create(&t);
    assert_contains(event, "\"failed-open.validating.webhook.admission.k8s.io/round_0_index_1\":"
                           "\"two.x.io\"");
    assert_contains(event, "\"one.x.io/key\":\"value\"");
    assert_null(strstr(event, "no name"));
}

TESTS(validating_webhook_that_fails_open_is_annotated,
      mutations_and_failures_of_webhooks_are_annotated,
      patch_of_a_webhook_is_annotated_at_the_level_request)
