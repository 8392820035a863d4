/* SPDX-License-Identifier: Apache-2.0 */
/* rest_bind.c: Bindings, which give pods their nodes. */
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

static void a_binding_gives_a_pod_its_node(void **state)
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

static void a_condition_keeps_the_time_of_its_status(void **state)
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

static void a_pod_is_bound_once(void **state)
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

static void a_pod_that_goes_or_is_held_back_is_not_bound(void **state)
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

static void the_pod_must_be_the_one_that_is_named(void **state)
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

static void a_binding_that_makes_no_sense_is_refused(void **state)
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

static void old_schedulers_write_to_bindings(void **state)
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

static void a_dry_run_binds_nothing(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "", "");
    assert_code(api_post(a, PODS "/p/binding?dryRun=All", text(a, BINDING, "", "n1")), 201);
    assert_at(api_get(a, PODS "/p"), "spec.nodeName", "");
}

TESTS(a_binding_gives_a_pod_its_node, a_condition_keeps_the_time_of_its_status, a_pod_is_bound_once,
      a_pod_that_goes_or_is_held_back_is_not_bound, the_pod_must_be_the_one_that_is_named,
      a_binding_that_makes_no_sense_is_refused, old_schedulers_write_to_bindings,
      a_dry_run_binds_nothing)
