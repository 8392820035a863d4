/* SPDX-License-Identifier: Apache-2.0 */
/* offload_call.c: expensive requests run on worker threads and get the same responses. */
#include "api_testing.h"

#include "apiserver/request/offload.h"
#include "kc/clock.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

/* A ConfigMap with many keys; ' stands for ". */
static const char *long_map(api *a, const char *name, int keys)
{
    kc_scoped(kc_buf) out = {0};
    kc_buf_printf(&out, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'%s'},'data':{",
                  name);
    for (int i = 0; i < keys; i++)
        kc_buf_printf(&out, "%s'k%d':'value'", i ? "," : "", i);
    kc_buf_puts(&out, "}}");
    return text(a, "%s", kc_buf_cstr(&out));
}

/* How many jobs workers have done: the metric's line. */
static long offloaded(api *a)
{
    return api_metric(a, "apiserver_offloaded_requests_total{result=\"done\"}");
}

static void short_request_stays_on_the_loop(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_post(a, MAPS, long_map(a, "short", 10)), 201);
    assert_code(api_get(a, MAPS "/short"), 200);
    assert_code(api_patch(a, MAPS "/short", "{'data':{'k1':'b'}}"), 200);
    assert_code(api_get(a, MAPS), 200);
    assert_int_equal(offloaded(a), 0);
}

static void large_object_is_written_and_read_by_workers(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_post(a, MAPS, long_map(a, "long", 20000)), 201);
    assert_int_equal(offloaded(a), 1);
    assert_status(api_post(a, MAPS, long_map(a, "long", 20000)), 409, "AlreadyExists",
                  "configmaps \"long\" already exists");
    const reply *r = api_patch(a, MAPS "/long", "{'data':{'k7':'other'}}");
    assert_code(r, 200);
    assert_at(r, "data.k7", "other");
    assert_at(r, "data.k8", "value");
    assert_code(api_put(a, MAPS "/long", long_map(a, "long", 15000)), 200);
    r = SEND(a, "GET", MAPS "/long", .accept = "application/yaml");
    assert_code(r, 200);
    assert_non_null(strstr(r->body, "\n  k14999: value\n"));
    assert_null(strstr(r->body, "k15000"));
    assert_code(api_get(a, MAPS "/long?pretty=true"), 200);
    assert_code(api_delete(a, MAPS "/long", NULL), 200);
    assert_code(api_get(a, MAPS "/long"), 404);
    assert_true(offloaded(a) >= 6);
}

/* 300 containers, which cost more than most objects of 32 KB; ' stands for ". */
static const char *crowded_pod(api *a, const char *begin, const char *each, const char *end)
{
    kc_scoped(kc_buf) out = {0};
    kc_buf_puts(&out, begin);
    for (int i = 0; i < 300; i++)
        kc_buf_puts(&out, text(a, each, i));
    kc_buf_puts(&out, end);
    return text(a, "%s", kc_buf_cstr(&out));
}

static void short_body_of_many_values_is_written_by_workers(void **state)
{
    (void)state;
    static const char pods[] = "/api/v1/namespaces/default/pods";
    kc_auto(api) *a = api_start(NULL);
    const char *json = crowded_pod(a, "{'metadata':{'name':'p'},'spec':{'containers':[",
                                   "{'name':'c%d','image':'i'},", "{'name':'c','image':'i'}]}}");
    assert_code(api_post(a, pods, json), 201);
    assert_int_equal(offloaded(a), 1);
    const char *yaml =
        crowded_pod(a, "apiVersion: v1\nkind: Pod\nmetadata:\n  name: q\nspec:\n  containers:\n",
                    "  - name: c%d\n    image: i\n", "");
    assert_code(SEND(a, "POST", pods, yaml, .type = "application/yaml"), 201);
    assert_int_equal(offloaded(a), 2);
    assert_code(api_patch(a, text(a, "%s/p", pods), "{'metadata':{'labels':{'a':'b'}}}"), 200);
    assert_int_equal(offloaded(a), 3);
}

/* A ConfigMap with a field that it does not know, and n zeros there; ' stands for ". */
static const char *map_of_zeros(api *a, const char *name, int n)
{
    kc_scoped(kc_buf) out = {0};
    kc_buf_printf(&out, "{'metadata':{'name':'%s'},'x':[0", name);
    for (int i = 1; i < n; i++)
        kc_buf_puts(&out, ",0");
    kc_buf_puts(&out, "]}");
    return text(a, "%s", kc_buf_cstr(&out));
}

static void shortest_values_are_counted(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_post(a, MAPS, map_of_zeros(a, "few", 1500)), 201);
    assert_int_equal(offloaded(a), 0);
    assert_code(api_post(a, MAPS, map_of_zeros(a, "many", 1700)), 201);
    assert_int_equal(offloaded(a), 1);
}

static void error_of_a_worker_is_returned(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_post(
        a, MAPS,
        text(a, "{'metadata':{'name':'A B'},'data':%s", strchr(long_map(a, "x", 20000), '{')));
    assert_code(r, 400);
    r = api_post(a, MAPS, long_map(a, "No Name", 20000));
    assert_code(r, 422);
    assert_at(r, "reason", "Invalid");
    assert_true(offloaded(a) >= 2);
}

static void full_queue_returns_429(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    kc__offload *pool = api_inside(a)->offload;
    kc__offload_stop(pool); /* Takes no more. */
    const reply *r = api_post(a, MAPS, long_map(a, "long", 20000));
    assert_status(r, 429, "TooManyRequests",
                  "too many large requests are being processed, please try again later");
    assert_string_equal(r_header(r, "Retry-After"), "1");
    assert_code(api_post(a, MAPS, long_map(a, "short", 10)), 201);
}

static void make_many(api *a, int n)
{
    for (int i = 0; i < n; i++)
        assert_code(api_post(a, MAPS,
                             text(a,
                                  "{'metadata':{'name':'m%04d','labels':{'n':'%d'}},"
                                  "'data':{'text':'%0*d'}}",
                                  i, i % 2, 800, 0)),
                    201);
}

static void long_list_is_rendered_in_parts(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_many(a, 600);
    long before = offloaded(a);
    const reply *r = api_get(a, MAPS "?labelSelector=n%3D1");
    assert_code(r, 200);
    assert_false(r->aborted);
    assert_int_equal(r_count(r, "items"), 300);
    assert_true(offloaded(a) >= before + 2); /* It does not fit one piece. */
    assert_int_equal(r_count(api_get(a, MAPS "?limit=10"), "items"), 10);
    r = SEND(a, "GET", MAPS, .accept = "application/json;as=Table;v=v1;g=meta.k8s.io");
    assert_code(r, 200);
    assert_true(r_count(r, "rows") >= 600);
    assert_int_equal(r_count(api_get(a, MAPS "?fieldSelector=metadata.name%3Dm0007"), "items"), 1);
}

static void watch_filters_many_objects_in_turns(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_many(a, 2500);
    assert_code(api_post(a, MAPS, "{'metadata':{'name':'zz','labels':{'n':'7'}}}"), 201);
    watch *w = WATCH(a, MAPS "?watch=1&labelSelector=n%3D7");
    assert_event(w, "ADDED", "zz");
    watch_close(w);
}

static void collection_is_deleted_in_turns(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_many(a, 700);
    const reply *r = api_delete(a, MAPS "?labelSelector=n%3D0", NULL);
    assert_code(r, 200);
    assert_int_equal(r_count(r, "items"), 350);
    assert_int_equal(r_count(api_get(a, MAPS "?labelSelector=n%3D0"), "items"), 0);
    assert_int_equal(r_count(api_get(a, MAPS "?labelSelector=n%3D1"), "items"), 350);
}

/* Waits until the resource of a CRD is served. */
static void await_served(api *a, const char *path)
{
    int code = 0;
    for (int i = 0; i < 6000 && code != 200; i++) {
        code = api_get(a, path)->status;
        if (code != 200)
            kc_clock_sleep(kc_clock_real(), 10 * KC_MILLISECOND);
    }
    assert_int_equal(code, 200);
}

static const char *heap(api *a, const char *name, int numbers)
{
    kc_scoped(kc_buf) out = {0};
    kc_buf_printf(&out, "{'apiVersion':'x.io/v1','kind':'Heap','metadata':{'name':'%s'},'l':[",
                  name);
    for (int i = 0; i < numbers; i++)
        kc_buf_printf(&out, "%s%d", i ? "," : "", i);
    kc_buf_puts(&out, "]}");
    return text(a, "%s", kc_buf_cstr(&out));
}

static void expensive_rules_run_on_a_worker(void **state)
{
    (void)state;
    static const char crds[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    static const char heaps[] = "/apis/x.io/v1/namespaces/default/heaps";
    kc_auto(api) *a = api_start(NULL);
    assert_code(
        api_post(a, crds,
                 "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition',"
                 "'metadata':{'name':'heaps.x.io'},'spec':{'group':'x.io','scope':'Namespaced',"
                 "'names':{'plural':'heaps','kind':'Heap'},'versions':[{'name':'v1','served':true,"
                 "'storage':true,'schema':{'openAPIV3Schema':{'type':'object','properties':{'l':{"
                 "'type':'array','maxItems':500,'items':{'type':'integer'},"
                 "'x-kubernetes-validations':[{'rule':'self.all(x, self.all(y, x + y < 198))',"
                 "'message':'too much'}]}}}}}]}}"),
        201);
    assert_int_equal(offloaded(a), 1); /* The definition. */
    await_served(a, heaps);
    assert_code(api_post(a, heaps, heap(a, "small", 5)), 201);
    assert_int_equal(offloaded(a), 1);
    assert_code(api_post(a, heaps, heap(a, "large", 99)), 201);
    long after_large = offloaded(a); /* The validation, and perhaps the response. */
    assert_true(after_large > 1);
    assert_status(api_post(a, heaps, heap(a, "larger", 150)), 422, "Invalid",
                  "Heap.x.io \"larger\" is invalid: l: Invalid value: \"array\": too much");
    assert_true(offloaded(a) > after_large);
}

/* A definition whose schema has `fields` properties, each with a rule. */
static const char *wide_definition(api *a, int fields)
{
    kc_scoped(kc_buf) out = {0};
    kc_buf_puts(&out,
                "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition',"
                "'metadata':{'name':'wides.x.io'},'spec':{'group':'x.io','scope':'Namespaced',"
                "'names':{'plural':'wides','kind':'Wide'},'versions':[{'name':'v1','served':true,"
                "'storage':true,'schema':{'openAPIV3Schema':{'type':'object','properties':{");
    for (int i = 0; i < fields; i++)
        kc_buf_printf(&out,
                      "%s'field%d':{'type':'string','maxLength':9,'x-kubernetes-validations':"
                      "[{'rule':'self.size() > 0'}]}",
                      i ? "," : "", i);
    kc_buf_puts(&out, "}}}}]}}");
    return text(a, "%s", kc_buf_cstr(&out));
}

static void first_write_of_a_large_schema_runs_on_a_worker(void **state)
{
    (void)state;
    static const char crds[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    static const char wides[] = "/apis/x.io/v1/namespaces/default/wides";
    static const char body[] = "{'apiVersion':'x.io/v1','kind':'Wide','metadata':{'name':'%s'}}";
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_post(a, crds, wide_definition(a, 300)), 201);
    await_served(a, wides);
    long before = offloaded(a);
    assert_code(api_post(a, wides, text(a, body, "first")), 201);
    long first = offloaded(a);
    assert_true(first > before);
    assert_code(api_post(a, wides, text(a, body, "second")), 201);
    assert_int_equal(offloaded(a), first);
}

static void metrics_have_the_number_and_memory_of_compiled_rules(void **state)
{
    (void)state;
    static const char crds[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    kc_auto(api) *a = api_start(NULL);
    assert_true(api_metric(a, "kc_cel_rules") == 0);
    assert_code(api_post(a, crds, wide_definition(a, 20)), 201);
    await_served(a, "/apis/x.io/v1/namespaces/default/wides");
    assert_true(api_metric(a, "kc_cel_rules") == 20);
    assert_true(api_metric(a, "kc_cel_rules_memory_bytes") > 1000);
    assert_code(
        api_delete(a, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/wides.x.io", NULL),
        200);
    for (int i = 0; i < 6000 && api_metric(a, "kc_cel_rules") != 0; i++)
        kc_clock_sleep(kc_clock_real(), 10 * KC_MILLISECOND);
    assert_true(api_metric(a, "kc_cel_rules") == 0);
    assert_true(api_metric(a, "kc_cel_rules_memory_bytes") == 0);
}

TESTS(expensive_rules_run_on_a_worker, first_write_of_a_large_schema_runs_on_a_worker,
      metrics_have_the_number_and_memory_of_compiled_rules, short_request_stays_on_the_loop,
      large_object_is_written_and_read_by_workers, short_body_of_many_values_is_written_by_workers,
      shortest_values_are_counted, error_of_a_worker_is_returned, full_queue_returns_429,
      long_list_is_rendered_in_parts, watch_filters_many_objects_in_turns,
      collection_is_deleted_in_turns)
