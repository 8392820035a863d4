/* SPDX-License-Identifier: Apache-2.0 */
/* Events of requests to a server in this process: stages, annotations, truncation, legacy lines. */
#include "audit_testing.h"

#define CONFIGMAPS "/api/v1/namespaces/default/configmaps"
#define METADATA   "- level: Metadata\n"

static void request_has_the_stages_received_and_complete(void **state)
{
    (void)state;
    kc_scoped(audit_stage) t = {0};
    audit_stage_start(&t, METADATA, (kc__audit_sink_opts){0}, false);
    SEND(t.a, "GET", CONFIGMAPS "/none", .headers = {"Audit-Id: one"});
    assert_non_null(event_with(&t, "\"auditID\":\"one\"", "RequestReceived", "", 300));
    const char *event = event_with(&t, "\"auditID\":\"one\"", "ResponseComplete", "", 300);
    assert_contains(event, "\"responseStatus\":{\"metadata\":{},\"status\":\"Failure\",");
    assert_contains(event, "\"code\":404}");
    assert_contains(event, "\"annotations\":{\"authorization.k8s.io/decision\":\"allow\"");
}

static void watch_has_the_stage_started_and_is_complete_at_its_end(void **state)
{
    (void)state;
    kc_scoped(audit_stage) t = {0};
    audit_stage_start(&t, METADATA, (kc__audit_sink_opts){0}, false);
    watch *w = WATCH(t.a, CONFIGMAPS "?watch=1");
    assert_non_null(event_with(&t, "\"verb\":\"watch\"", "ResponseStarted", "\"code\":200", 300));
    assert_null(event_with(&t, "\"verb\":\"watch\"", "ResponseComplete", "", 3));
    watch_close(w);
    assert_non_null(event_with(&t, "\"verb\":\"watch\"", "ResponseComplete", "", 300));
}

static void request_waits_for_its_event_in_blocking_mode(void **state)
{
    (void)state;
    kc_scoped(audit_stage) t = {0};
    audit_stage_start(&t, METADATA, (kc__audit_sink_opts){.mode = KC__AUDIT_BLOCKING_STRICT},
                      false);
    assert_code(SEND(t.a, "GET", CONFIGMAPS, .headers = {"Audit-Id: two"}), 200);
    assert_non_null(event_with(&t, "\"auditID\":\"two\"", "RequestReceived", "", 1));
}

static void large_event_is_recorded_without_bodies(void **state)
{
    (void)state;
    kc_scoped(audit_stage) t = {0};
    audit_stage_start(
        &t, "- level: RequestResponse\n",
        (kc__audit_sink_opts){.truncate = true, .max_event_bytes = 2000, .max_batch_bytes = 100000},
        false);
    const char *body = text(t.a, "{'metadata':{'name':'%s'},'data':{'k':'%0*d'}}", "long", 3000, 0);
    assert_code(api_post(t.a, CONFIGMAPS, body), 201);
    const char *event =
        event_with(&t, "\"verb\":\"create\"", "ResponseComplete", "\"name\":\"long\"", 300);
    assert_contains(event, "\"audit.k8s.io/truncated\":\"true\"");
    assert_null(strstr(event, "requestObject"));
    assert_code(api_post(t.a, CONFIGMAPS, "{'metadata':{'name':'short'}}"), 201);
    assert_contains(
        event_with(&t, "\"verb\":\"create\"", "ResponseComplete", "\"name\":\"short\"", 300),
        "requestObject");
}

static void legacy_line_has_the_form_of_kubernetes(void **state)
{
    (void)state;
    kc_scoped(audit_stage) t = {0};
    audit_stage_start(&t, METADATA, (kc__audit_sink_opts){0}, true);
    SEND(t.a, "GET", CONFIGMAPS "/none", .agent = "me/1", .headers = {"Audit-Id: three"});
    const char *line = event_with(&t, "AUDIT: id=\"three\"", "ResponseComplete", "", 300);
    assert_contains(line, " stage=\"ResponseComplete\" ip=");
    assert_contains(line, " method=\"get\" user=\"system:anonymous\" groups=");
    assert_contains(line, " as=\"<self>\" asgroups=\"<lookup>\" user-agent=\"me/1\" "
                          "namespace=\"default\" uri=\"" CONFIGMAPS "/none\" response=\"404\"");
}

static void pod_security_annotates_events(void **state)
{
    (void)state;
    kc_scoped(audit_stage) t = {0};
    audit_stage_start(&t, METADATA, (kc__audit_sink_opts){0}, false);
    assert_code(api_post(t.a, "/api/v1/namespaces",
                         "{'metadata':{'name':'strict','labels':{"
                         "'pod-security.kubernetes.io/audit':'restricted'}}}"),
                201);
    assert_code(api_post(t.a, "/api/v1/namespaces/strict/pods",
                         "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c',"
                         "'image':'i'}]}}"),
                201);
    const char *event = event_with(&t, "\"resource\":\"pods\"", "ResponseComplete", "", 300);
    assert_contains(event, "\"pod-security.kubernetes.io/audit-violations\":\"would violate "
                           "PodSecurity \\\"restricted:latest\\\": ");
    assert_contains(event, "\"pod-security.kubernetes.io/enforce-policy\":\"privileged:latest\"");
}

static void level_none_records_nothing(void **state)
{
    (void)state;
    kc_scoped(audit_stage) t = {0};
    audit_stage_start(&t, "- level: None\n  verbs: [get]\n" METADATA, (kc__audit_sink_opts){0},
                      false);
    api_get(t.a, CONFIGMAPS "/none");
    api_get(t.a, CONFIGMAPS);
    assert_non_null(event_with(&t, "\"verb\":\"list\"", "ResponseComplete", "", 300));
    assert_null(event_with(&t, "\"verb\":\"get\"", "", "", 1));
}

/* Large objects and long lists are streamed. */
static void streamed_bodies_are_recorded(void **state)
{
    (void)state;
    kc_scoped(audit_stage) t = {0};
    audit_stage_start(&t, "- level: RequestResponse\n  omitManagedFields: true\n",
                      (kc__audit_sink_opts){0}, false);
    for (int i = 0; i < 3; i++) {
        const char *body =
            text(t.a, "{'metadata':{'name':'long-%d'},'data':{'k':'%0*d'}}", i, 40000, 0);
        assert_code(api_post(t.a, CONFIGMAPS, body), 201);
    }
    assert_code(api_get(t.a, CONFIGMAPS "/long-1"), 200);
    assert_code(api_get(t.a, CONFIGMAPS), 200);
    const char *get = event_with(&t, "\"verb\":\"get\"", "ResponseComplete", "", 300);
    assert_contains(get, "\"responseObject\":{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",");
    assert_null(strstr(get, "managedFields"));
    const char *list = event_with(&t, "\"verb\":\"list\"", "ResponseComplete", "", 300);
    assert_contains(list, "\"responseObject\":{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",");
    assert_contains(list, "\"name\":\"long-0\"");
    assert_contains(list, "\"name\":\"long-2\"");
    assert_null(strstr(list, "managedFields"));
}

static void deprecated_api_is_annotated_when_the_request_is_complete(void **state)
{
    (void)state;
    kc_scoped(audit_stage) t = {0};
    audit_stage_start(&t, METADATA, (kc__audit_sink_opts){0}, false);
    api_get(t.a, "/api/v1/namespaces/default/endpoints");
    api_get(t.a, "/apis/apiextensions.k8s.io/v1beta1/customresourcedefinitions");
    assert_contains(event_with(&t, "\"resource\":\"endpoints\"", "ResponseComplete", "", 300),
                    "\"k8s.io/deprecated\":\"true\"}");
    assert_contains(event_with(&t, "v1beta1", "ResponseComplete", "", 300),
                    "\"k8s.io/deprecated\":\"true\",\"k8s.io/removed-release\":\"1.22\"}");
    assert_null(strstr(event_with(&t, "\"resource\":\"endpoints\"", "RequestReceived", "", 300),
                       "k8s.io/d"));
}

TESTS(request_has_the_stages_received_and_complete, streamed_bodies_are_recorded,
      deprecated_api_is_annotated_when_the_request_is_complete,
      watch_has_the_stage_started_and_is_complete_at_its_end,
      request_waits_for_its_event_in_blocking_mode, large_event_is_recorded_without_bodies,
      legacy_line_has_the_form_of_kubernetes, pod_security_annotates_events,
      level_none_records_nothing)
