/* SPDX-License-Identifier: Apache-2.0 */
/* bind.c: Bindings, which assign pods to nodes. */
#include "api_testing.h"

#define PODS     "/api/v1/namespaces/default/pods"
#define BINDINGS "/api/v1/namespaces/default/bindings"
#define BINDING  "{'metadata':{'name':'p'%s},'target':{'kind':'Node','name':'%s'}}"

static const reply *make(api *a, const char *metadata, const char *spec)
{
    return api_post(a, PODS,
                    text(a,
                         "{'metadata':{'name':'p'%s},'spec':{'containers':[{'name':'c','image':"
                         "'i'}]%s}}",
                         metadata, spec));
}

static const reply *bind_to(api *a, const char *metadata, const char *node)
{
    return api_post(a, PODS "/p/binding", text(a, BINDING, metadata, node));
}

static void binding_sets_the_node_of_a_pod(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    make(a, ",'annotations':{'a':'1','b':'1'}", "");
    watch *w = WATCH(a, PODS "?watch=1&resourceVersion=0");
    assert_event(w, "ADDED", "p");
    const reply *r = bind_to(a, ",'annotations':{'b':'2','c':'3'},'labels':{'x':'y'}", "n1");
    assert_string_equal(r->body, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
                                 "\"status\":\"Success\",\"code\":201}");
    assert_code(r, 201);
    const reply *pod = api_get(a, PODS "/p");
    assert_at(pod, "spec.nodeName", "n1");
    assert_at(pod, "metadata.annotations", "{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}");
    assert_at(pod, "metadata.labels", "");
    assert_at(pod, "metadata.generation", "1");
    assert_at(pod, "status.conditions",
              "[{\"type\":\"PodScheduled\",\"status\":\"True\",\"lastProbeTime\":null,"
              "\"lastTransitionTime\":\"2026-01-02T03:04:05Z\"}]");
    assert_event(w, "MODIFIED", "p");
    assert_true(watch_is_silent(w));
    watch_close(w);
}

static void scheduled_condition_keeps_its_transition_time(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    make(a, "", "");
    api_patch(a, PODS "/p/status",
              "{'status':{'conditions':[{'type':'PodScheduled','status':'True','reason':'r',"
              "'lastTransitionTime':'2020-01-01T00:00:00Z'},{'type':'Ready','status':'False'}]}}");
    assert_code(bind_to(a, "", "n1"), 201);
    const reply *pod = api_get(a, PODS "/p");
    assert_at(pod, "status.conditions[0].lastTransitionTime", "2020-01-01T00:00:00Z");
    assert_at(pod, "status.conditions[0].reason", "");
    assert_at(pod, "status.conditions[1].type", "Ready");
}

static void binding_of_assigned_pod_returns_conflict(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "", "");
    bind_to(a, "", "n1");
    const reply *r = bind_to(a, "", "n2");
    assert_status(r, 409, "Conflict",
                  "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned "
                  "to node \"n1\"");
    assert_at(r, "details", "{\"name\":\"p\",\"kind\":\"pods/binding\"}");
    assert_at(api_get(a, PODS "/p"), "spec.nodeName", "n1");
}

static void binding_of_terminating_or_gated_pod_returns_conflict(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "", ",'schedulingGates':[{'name':'a/b'}]");
    assert_status(bind_to(a, "", "n1"), 409, "Conflict",
                  "Operation cannot be fulfilled on pods/binding \"p\": pod p has non-empty "
                  ".spec.schedulingGates");
    api_delete(a, PODS "/p", NULL);
    make(a, ",'finalizers':['a/b']", "");
    api_delete(a, PODS "/p", NULL);
    assert_status(bind_to(a, "", "n1"), 409, "Conflict",
                  "Operation cannot be fulfilled on pods/binding \"p\": pod p is being deleted, "
                  "cannot be assigned to a host");
}

static void binding_with_wrong_uid_or_version_returns_conflict(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *pod = make(a, "", "");
    const char *uid = r_text(pod, "metadata.uid"),
               *version = r_text(pod, "metadata.resourceVersion");
    assert_status(bind_to(a, ",'uid':'x'", "n1"), 409, "Conflict",
                  text(a,
                       "Operation cannot be fulfilled on pods \"p\": StorageError: invalid object, "
                       "Code: 4, Key: /registry/pods/default/p, ResourceVersion: 0, "
                       "AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in "
                       "object meta: %s",
                       uid));
    assert_code(bind_to(a, ",'resourceVersion':'1'", "n1"), 409);
    assert_code(bind_to(a, text(a, ",'uid':'%s','resourceVersion':'%s'", uid, version), "n1"), 201);
}

static void invalid_binding_is_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(bind_to(a, "", "n1"), 404, "NotFound", "pods \"p\" not found");
    make(a, "", "");
    assert_status(api_post(a, PODS "/p/binding", "{'metadata':{'name':'q'},'target':{'name':'n'}}"),
                  400, "BadRequest", "name in URL does not match name in Binding object");
    assert_status(api_post(a, PODS "/p/binding", "{'metadata':{'name':'p'},'target':{'kind':'X'}}"),
                  500, "",
                  "[target.kind: Unsupported value: \"X\": supported values: \"Node\", "
                  "\"<empty>\", target.name: Required value]");
    assert_status(api_post(a, PODS "/p/binding", "{'kind':'Pod','apiVersion':'v1'}"), 400,
                  "BadRequest",
                  "Pod in version \"v1\" cannot be handled as a Binding: converting (v1.Pod) to "
                  "(core.Binding): unknown conversion");
    assert_code(api_get(a, PODS "/p/binding"), 405);
    assert_code(SEND(a, "POST", PODS "/p/binding", .body = text(a, BINDING, "", "n"),
                     .accept = "application/json;as=Table;v=v1;g=meta.k8s.io"),
                406);
}

static void post_to_bindings_collection_binds_the_pod(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "", "");
    assert_status(api_post(a, BINDINGS, "{'target':{'name':'n'}}"), 400, "BadRequest",
                  "Name parameter required.");
    assert_code(api_post(a, BINDINGS, text(a, BINDING, "", "n3")), 201);
    assert_at(api_get(a, PODS "/p"), "spec.nodeName", "n3");
    assert_code(api_get(a, BINDINGS), 405);
    assert_code(api_get(a, BINDINGS "/p"), 404);
    assert_code(api_post(a, "/api/v1/bindings", "{}"), 404);
}

static void dry_run_does_not_bind(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "", "");
    assert_code(api_post(a, PODS "/p/binding?dryRun=All", text(a, BINDING, "", "n1")), 201);
    assert_at(api_get(a, PODS "/p"), "spec.nodeName", "");
}

TESTS(binding_sets_the_node_of_a_pod, scheduled_condition_keeps_its_transition_time,
      binding_of_assigned_pod_returns_conflict,
      binding_of_terminating_or_gated_pod_returns_conflict,
      binding_with_wrong_uid_or_version_returns_conflict, invalid_binding_is_refused,
      post_to_bindings_collection_binds_the_pod, dry_run_does_not_bind)
