/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatch of admission webhooks: which are called, in which order, with what, and what their
 * responses do to a request. The server is the real one; the transport is replaced, so a test
 * decides what a webhook answers, and when. A webhook's name chooses its answer (respond below).
 */
#include "api_testing.h"

#include "apiserver/admission/webhooks/webhook_registry.h"
#include "kc/base64.h"
#include "kc/thread.h"

#include <stdio.h>

/* A review on its way. */
typedef struct sent_review {
    kc__loop_task task;
    kc__http_client_done_fn *done;
    void *user;
    kc__loop *loop;
    char *path; /* Of the URL: which webhook it is. */
    char *body;
    kc_buf answer;
    const char *error; /* NULL: `answer` is the response. */
} sent_review;

/* The transport's state. Functions that send have no user pointer: each test begins with its
 * reset. */
static struct {
    kc_mutex mutex; /* Guards what follows. */
    KC_VEC(sent_review *) all;
    size_t hold; /* Answer only when so many have arrived, the last one first. */
    KC_VEC(sent_review *) held;
} transport;

/* ---- the webhooks ---- */

static void write_patch(kc_buf *out, const char *patch)
{
    kc_autofree char *json = strdup(patch);
    for (char *c = json; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    kc_buf_puts(out, ",\"patchType\":\"JSONPatch\",\"patch\":\"");
    kc_base64_write(out, kc_cstr(json), KC_BASE64);
    kc_buf_putc(out, '"');
}

/* The patch that a webhook of this path answers; NULL: none. */
static const char *patch_of(const char *path)
{
    static const char *const patches[][2] = {
        {"first", "[{'op':'add','path':'/metadata/labels','value':{'first':'1'}}]"},
        {"second", "[{'op':'add','path':'/metadata/annotations','value':{'second':'2'}}]"},
        {"untolerate", "[{'op':'remove','path':'/spec/tolerations'}]"},
        {"retype", "[{'op':'replace','path':'/kind','value':'Secret'}]"},
        {"mistype", "[{'op':'add','path':'/data','value':[1]}]"},
        {"three", "[{'op':'replace','path':'/spec/replicas','value':3}]"},
        {"annotate", "[{'op':'add','path':'/metadata/annotations','value':{'a':'b'}}]"},
        {"disown", "[{'op':'remove','path':'/metadata/managedFields'}]"},
        {"rename", "[{'op':'replace','path':'/metadata/managedFields/0/manager','value':'hook'}]"},
        {"miswrite", "[{'op':'replace','path':'/metadata/managedFields/0/operation','value':'x'},"
                     "{'op':'add','path':'/metadata/labels','value':{'hook':'1'}}]"},
        {"unversion", "[{'op':'remove','path':'/metadata/managedFields/0/apiVersion'}]"},
        {"mistag",
         "[{'op':'replace','path':'/metadata/managedFields/0/fieldsType','value':'FieldsV2'}]"},
    };
    for (size_t i = 0; i < KC_COUNT(patches); i++)
        if (!strcmp(path, patches[i][0]))
            return patches[i][1];
    return NULL;
}

/* Writes the response of a webhook, by its path. */
static void respond(sent_review *r)
{
    kc_auto(kc_view) *view = kc_view_parse(kc_cstr(r->body), NULL, NULL);
    kc_str uid = kc_value_as_str(kc_value_get(kc_value_get(kc_view_root(view), "request"), "uid"));
    const bool denied = !strncmp(r->path, "deny", 4);
    if (!strcmp(r->path, "unreachable")) {
        r->error = "dial tcp 127.0.0.1:1: connect: connection refused";
        return;
    }
    kc_buf_printf(&r->answer,
                  "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\","
                  "\"response\":{\"uid\":\"%.*s\",\"allowed\":%s",
                  KC_ARG(uid), denied ? "false" : "true");
    if (denied)
        kc_buf_printf(&r->answer,
                      ",\"status\":{\"code\":403,\"reason\":\"Forbidden\",\"message\":\"by %s\"}",
                      r->path);
    if (patch_of(r->path))
        write_patch(&r->answer, patch_of(r->path));
    kc_buf_puts(&r->answer, "}}");
}

static void deliver(kc__loop_task *task)
{
    sent_review *r = kc_container_of(task, sent_review, task);
    respond(r);
    r->done(&(kc__http_client_response){.status = r->error ? 0 : 200,
                                        .type = KC_STR("application/json"),
                                        .body = kc_buf_str(&r->answer),
                                        .error = r->error},
            r->user);
}

/* Replaces kc__http_client_send. */
static void send_to_test(kc__http_client *http_client, const kc__http_client_request *request,
                         kc__loop *loop, kc__http_client_done_fn *done, void *user)
{
    (void)http_client;
    sent_review *r = kc_new(sent_review);
    const char *path = strchr(request->url + strlen("https://"), '/') + 1;
    r->task.run = deliver;
    r->done = done;
    r->user = user;
    r->loop = loop;
    r->path = kc_str_dup(kc_str_of(path, strcspn(path, "?")));
    r->body = kc_str_dup(request->body);
    kc_locked (&transport.mutex) {
        kc_vec_push(&transport.all, r);
        kc_vec_push(&transport.held, r);
        if (transport.held.n >= transport.hold) {
            while (transport.held.n)
                kc__loop_post(loop, &transport.held.items[--transport.held.n]->task);
        }
    }
}

static void transport_done(void)
{
    for (size_t i = 0; i < transport.all.n; i++) {
        free(transport.all.items[i]->path);
        free(transport.all.items[i]->body);
        kc_buf_done(&transport.all.items[i]->answer);
        free(transport.all.items[i]);
    }
    kc_vec_done(&transport.all);
    kc_vec_done(&transport.held);
    transport.hold = 0;
}

/* The paths of the webhooks that were called, in order, with blanks between. */
static const char *called(api *a)
{
    kc_scoped(kc_buf) out = {0};
    for (size_t i = 0; i < transport.all.n; i++)
        kc_buf_printf(&out, "%s%s", i ? " " : "", transport.all.items[i]->path);
    return text(a, "%s", kc_buf_cstr(&out));
}

/* A value of the i-th review's request: "object.metadata.name". Texts without quotes. */
static const char *reviewed(api *a, size_t i, const char *path)
{
    assert_true(i < transport.all.n);
    kc_auto(kc_view) *view = kc_view_parse(kc_cstr(transport.all.items[i]->body), NULL, NULL);
    const kc_value *at = kc_value_get(kc_view_root(view), "request");
    kc_str rest = kc_cstr(path);
    while (rest.n)
        at = kc_value_get_str(at, kc_str_cut(&rest, '.'));
    if (kc_value_type(at) == KC_JSON_STRING)
        return text(a, "%.*s", KC_ARG(kc_value_as_str(at)));
    kc_scoped(kc_buf) json = {0};
    if (at)
        kc_json_write(&json, at);
    return text(a, "%s", kc_buf_cstr(&json));
}

/* ---- the configuration ---- */

typedef struct hook_spec {
    const char *path;   /* Chooses the answer. */
    const char *fields; /* More fields of the webhook: ",'failurePolicy':'Ignore'". */
} hook_spec;

static void configure(api *a, const char *kind, const hook_spec *specs, size_t n)
{
    kc_scoped(kc_buf) body = {0};
    kc_buf_puts(&body, "{'metadata':{'name':'hooks'},'webhooks':[");
    for (size_t i = 0; i < n; i++)
        kc_buf_printf(&body,
                      "%s{'name':'%s.x.io','clientConfig':{'url':'https://test.invalid/%s'},"
                      "'rules':[{'operations':['*'],'apiGroups':['*'],'apiVersions':['*'],"
                      "'resources':['configmaps','pods','pods/binding','pods/eviction',"
                      "'deployments/scale','services']}],"
                      "'sideEffects':'None','admissionReviewVersions':['v1']%s}",
                      i ? "," : "", specs[i].path, specs[i].path,
                      specs[i].fields ? specs[i].fields : "");
    kc_buf_puts(&body, "]}");
    const reply *r =
        api_post(a, text(a, "/apis/admissionregistration.k8s.io/v1/%swebhookconfigurations", kind),
                 kc_buf_cstr(&body));
    assert_code(r, 201);
}

#define MUTATING(a, ...)                                       \
    configure(a, "mutating", (const hook_spec[]){__VA_ARGS__}, \
              sizeof((const hook_spec[]){__VA_ARGS__}) / sizeof(hook_spec))
#define VALIDATING(a, ...)                                       \
    configure(a, "validating", (const hook_spec[]){__VA_ARGS__}, \
              sizeof((const hook_spec[]){__VA_ARGS__}) / sizeof(hook_spec))

static api *start(void)
{
    memset(&transport, 0, sizeof(transport)); /* A test that failed has left its reviews. */
    kc_mutex_init(&transport.mutex);
    api *a = api_start(NULL);
    api_inside(a)->hooks->send = send_to_test;
    return a;
}

static void stop(api *a)
{
    api_stop(a);
    transport_done();
    kc_mutex_done(&transport.mutex);
}

#define MAPS "/api/v1/namespaces/default/configmaps"
#define PODS "/api/v1/namespaces/default/pods"
#define POD  "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]}}"

static const reply *create_map(api *a, const char *query)
{
    return api_post(a, text(a, MAPS "%s", query), "{'metadata':{'name':'m'},'data':{'k':'v'}}");
}

/* ---- mutating ---- */

static void second_mutating_webhook_sees_patch_of_first(void **state)
{
    (void)state;
    api *a = start();
    MUTATING(a, {"first"}, {"second"});
    const reply *r = create_map(a, "");
    assert_code(r, 201);
    assert_at(r, "metadata.labels.first", "1");
    assert_at(r, "metadata.annotations.second", "2");
    assert_string_equal(called(a), "first second");
    assert_string_equal(reviewed(a, 0, "object.metadata.labels"), "");
    assert_string_equal(reviewed(a, 1, "object.metadata.labels.first"), "1");
    stop(a);
}

static void webhook_that_saw_object_before_last_change_is_reinvoked_once(void **state)
{
    (void)state;
    api *a = start();
    MUTATING(a, {"allow", ",'reinvocationPolicy':'IfNeeded'"}, {"first"});
    assert_code(create_map(a, ""), 201);
    assert_string_equal(called(a), "allow first allow");
    assert_string_equal(reviewed(a, 2, "object.metadata.labels.first"), "1");
    stop(a);
}

static void webhook_that_changes_nothing_causes_no_reinvocation(void **state)
{
    (void)state;
    api *a = start();
    MUTATING(a, {"allow", ",'reinvocationPolicy':'IfNeeded'"}, {"agree"});
    assert_code(create_map(a, ""), 201);
    assert_string_equal(called(a), "allow agree");
    stop(a);
}

static void plugins_run_again_after_webhook_changed_pod(void **state)
{
    (void)state;
    api *a = start();
    MUTATING(a, {"untolerate"});
    const reply *r = api_post(a, PODS, POD);
    assert_code(r, 201);
    assert_int_equal(r_count(r, "spec.tolerations"), 2);
    assert_string_equal(reviewed(a, 0, "object.spec.priority"), "0");
    stop(a);
}

static void mutating_webhook_sees_new_object_without_server_fields(void **state)
{
    (void)state;
    api *a = start();
    MUTATING(a, {"allow"});
    const reply *r = api_post(a, MAPS, "{'metadata':{'generateName':'g-','uid':'mine'}}");
    assert_code(r, 201);
    assert_string_equal(reviewed(a, 0, "name"), "");
    assert_string_equal(reviewed(a, 0, "object.metadata.uid"), "");
    assert_string_equal(reviewed(a, 0, "object.metadata.namespace"), "default");
    stop(a);
}

static void patch_that_changes_kind_is_internal_error(void **state)
{
    (void)state;
    api *a = start();
    MUTATING(a, {"retype", ",'failurePolicy':'Ignore'"});
    assert_status(create_map(a, ""), 500, "InternalError",
                  "Internal error occurred: the patch changes apiVersion or kind");
    stop(a);
}

static void patch_of_wrong_type_is_internal_error(void **state)
{
    (void)state;
    api *a = start();
    MUTATING(a, {"mistype"});
    const reply *r = create_map(a, "");
    assert_code(r, 500);
    assert_non_null(strstr(r_text(r, "message"), "json: cannot unmarshal array"));
    stop(a);
}

static void patch_of_deletion_is_internal_error(void **state)
{
    (void)state;
    api *a = start();
    assert_code(create_map(a, ""), 201);
    MUTATING(a, {"first"});
    const reply *r = api_delete(a, MAPS "/m", NULL);
    assert_code(r, 500);
    assert_non_null(strstr(r_text(r, "message"), "not supported for this operation"));
    assert_code(api_get(a, MAPS "/m"), 200);
    stop(a);
}

static void scale_patched_by_webhook_is_applied(void **state)
{
    (void)state;
    api *a = start();
    assert_code(api_post(a, "/apis/apps/v1/namespaces/default/deployments",
                         "{'metadata':{'name':'d'},'spec':{'selector':{'matchLabels':{'a':'b'}},"
                         "'template':{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{"
                         "'name':'c','image':'i'}]}}}}"),
                201);
    MUTATING(a, {"three"});
    const reply *r = api_patch(a, "/apis/apps/v1/namespaces/default/deployments/d/scale",
                               "{'spec':{'replicas':2}}");
    assert_code(r, 200);
    assert_at(r, "spec.replicas", "3");
    assert_string_equal(reviewed(a, 0, "object.kind"), "Scale");
    r = api_get(a, "/apis/apps/v1/namespaces/default/deployments/d");
    assert_at(r, "metadata.generation", "2");
    stop(a);
}

/* ---- failures ---- */

static void unreachable_webhook_with_policy_ignore_is_skipped(void **state)
{
    (void)state;
    api *a = start();
    MUTATING(a, {"unreachable", ",'failurePolicy':'Ignore'"}, {"first"});
    const reply *r = create_map(a, "");
    assert_code(r, 201);
    assert_at(r, "metadata.labels.first", "1");
    stop(a);
}

static void unreachable_webhook_with_policy_fail_fails_request(void **state)
{
    (void)state;
    api *a = start();
    MUTATING(a, {"unreachable"}, {"first"});
    assert_status(create_map(a, "?timeout=5s"), 500, "InternalError",
                  "Internal error occurred: failed calling webhook \"unreachable.x.io\": failed to "
                  "call webhook: Post \"https://test.invalid/unreachable?timeout=5s\": dial tcp "
                  "127.0.0.1:1: connect: connection refused");
    assert_string_equal(called(a), "unreachable");
    stop(a);
}

static void dry_run_calls_webhook_and_stores_nothing(void **state)
{
    (void)state;
    api *a = start();
    MUTATING(a, {"first"});
    const reply *r = create_map(a, "?dryRun=All");
    assert_code(r, 201);
    assert_at(r, "metadata.labels.first", "1");
    assert_string_equal(reviewed(a, 0, "dryRun"), "true");
    assert_code(api_get(a, MAPS "/m"), 404);
    stop(a);
}

static void service_without_endpoints_fails_without_call(void **state)
{
    (void)state;
    api *a = start();
    const reply *r = api_post(
        a, "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
        "{'metadata':{'name':'hooks'},'webhooks':[{'name':'s.x.io','clientConfig':{'service':{"
        "'namespace':'default','name':'gone'}},'rules':[{'operations':['*'],'apiGroups':[''],"
        "'apiVersions':['v1'],'resources':['configmaps']}],'sideEffects':'None',"
        "'admissionReviewVersions':['v1']}]}");
    assert_code(r, 201);
    r = create_map(a, "");
    assert_code(r, 500);
    assert_non_null(strstr(r_text(r, "message"), "failed calling webhook \"s.x.io\""));
    assert_string_equal(called(a), "");
    stop(a);
}

/* ---- managedFields ---- */

#define OWNED   "{\"f:data\":{\".\":{},\"f:k\":{}}}"
#define INVALID "managedFields was in an invalid state after admission"

static const reply *create_map_with(api *a, const char *path)
{
    MUTATING(a, {path});
    const reply *r = create_map(a, "?fieldManager=ann");
    assert_code(r, 201);
    return r;
}

static void managed_fields_that_webhook_corrupts_are_restored_with_warning(void **state)
{
    (void)state;
    static const char *const corrupting[][2] = {
        {"miswrite", "operation must be `Apply` or `Update`"},
        {"unversion", "apiVersion must not be empty"},
        {"mistag", "invalid fieldsType"},
    };
    for (size_t i = 0; i < KC_COUNT(corrupting); i++) {
        api *a = start();
        const reply *r = create_map_with(a, corrupting[i][0]);
        assert_contains(r_header(r, "Warning"), INVALID);
        assert_contains(r_header(r, "Warning"), corrupting[i][1]);
        assert_at(r, "metadata.managedFields[0].manager", "ann");
        assert_at(r, "metadata.managedFields[0].operation", "Update");
        assert_at(r, "metadata.managedFields[0].apiVersion", "v1");
        assert_at(r, "metadata.managedFields[0].fieldsV1", OWNED);
        stop(a);
    }
}

static void other_changes_of_webhook_that_corrupts_managed_fields_are_kept(void **state)
{
    (void)state;
    api *a = start();
    const reply *r = create_map_with(a, "miswrite");
    assert_at(r, "metadata.labels.hook", "1");
    r = SEND(a, "PATCH", MAPS "/m?fieldManager=bob", "{'data':{'l':'w'}}",
             .type = "application/merge-patch+json");
    assert_contains(r_header(r, "Warning"), INVALID);
    assert_int_equal(r_count(r, "metadata.managedFields"), 2);
    assert_at(r, "metadata.managedFields[1].manager", "bob");
    assert_at(r, "metadata.managedFields[1].fieldsV1", "{\"f:data\":{\"f:l\":{}}}");
    stop(a);
}

static void valid_managed_fields_of_webhook_are_kept_without_warning(void **state)
{
    (void)state;
    api *a = start();
    const reply *r = create_map_with(a, "rename");
    assert_null(r_header(r, "Warning"));
    assert_at(r, "metadata.managedFields[0].manager", "hook");
    assert_at(r, "metadata.managedFields[0].fieldsV1", OWNED);
    stop(a);
    a = start();
    r = create_map_with(a, "disown");
    assert_at(r, "metadata.managedFields", "");
    stop(a);
}

/* ---- validating ---- */

static void validating_webhook_sees_prepared_object(void **state)
{
    (void)state;
    api *a = start();
    VALIDATING(a, {"allow"});
    const reply *r = api_post(a, "/api/v1/namespaces/default/services",
                              "{'metadata':{'generateName':'g-'},'spec':{'ports':[{'port':1}]}}");
    assert_code(r, 201);
    assert_string_equal(reviewed(a, 0, "object.metadata.uid"), r_text(r, "metadata.uid"));
    assert_string_equal(reviewed(a, 0, "object.metadata.name"), r_text(r, "metadata.name"));
    assert_string_equal(reviewed(a, 0, "object.spec.clusterIP"), r_text(r, "spec.clusterIP"));
    assert_string_equal(reviewed(a, 0, "object.metadata.resourceVersion"), "");
    stop(a);
}

static void first_denial_fails_request_after_all_responses(void **state)
{
    (void)state;
    api *a = start();
    VALIDATING(a, {"deny-a"}, {"allow"}, {"deny-b"});
    transport.hold = 3; /* All three must be under way at once; the last one answers first. */
    const reply *r = create_map(a, "");
    assert_status(r, 403, "Forbidden",
                  "admission webhook \"deny-b.x.io\" denied the request: by deny-b");
    assert_string_equal(called(a), "deny-a allow deny-b");
    assert_code(api_get(a, MAPS "/m"), 404);
    stop(a);
}

static void denied_service_frees_its_node_port(void **state)
{
    (void)state;
    api *a = start();
    VALIDATING(a, {"deny"});
    const char *service = "{'metadata':{'name':'one'},'spec':{'type':'NodePort','ports':[{'port':1,"
                          "'nodePort':30500}]}}";
    assert_code(api_post(a, "/api/v1/namespaces/default/services", service), 403);
    assert_code(
        api_delete(a, "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/hooks",
                   NULL),
        200);
    const reply *r = api_post(a, "/api/v1/namespaces/default/services",
                              "{'metadata':{'name':'two'},'spec':{'type':'NodePort','ports':[{"
                              "'port':1,'nodePort':30500}]}}");
    assert_code(r, 201);
    stop(a);
}

/* ---- outside the chain of plugins ---- */

static void collection_is_deleted_up_to_first_denial(void **state)
{
    (void)state;
    api *a = start();
    for (int i = 0; i < 3; i++)
        assert_code(api_post(a, PODS,
                             text(a,
                                  "{'metadata':{'name':'p%d','labels':{'l':'x'}},"
                                  "'spec':{'containers':[{'name':'c','image':'i'}]}}",
                                  i)),
                    201);
    MUTATING(a, {"allow"});
    VALIDATING(a, {"deny", ",'objectSelector':{'matchLabels':{'l':'x'}}"});
    assert_code(api_delete(a, PODS "?labelSelector=l%3Dx", NULL), 403);
    assert_string_equal(called(a), "allow deny");
    assert_int_equal(r_count(api_get(a, PODS), "items"), 3);
    stop(a);
}

static void collection_is_deleted_when_webhooks_allow_each_object(void **state)
{
    (void)state;
    api *a = start();
    assert_code(create_map(a, ""), 201);
    assert_code(api_post(a, MAPS, "{'metadata':{'name':'n'}}"), 201);
    MUTATING(a, {"allow"});
    VALIDATING(a, {"agree"});
    assert_code(api_delete(a, MAPS, NULL), 200);
    /* kube-root-ca.crt may be there too: two calls for each object. */
    assert_int_equal(transport.all.n % 2, 0);
    assert_true(transport.all.n >= 4);
    assert_string_equal(reviewed(a, 0, "operation"), "DELETE");
    assert_int_equal(r_count(api_get(a, MAPS), "items"), 0);
    stop(a);
}

static void binding_patched_by_webhook_annotates_pod(void **state)
{
    (void)state;
    api *a = start();
    assert_code(api_post(a, PODS, POD), 201);
    MUTATING(a, {"annotate"});
    VALIDATING(a, {"allow"});
    assert_code(api_post(a, PODS "/p/binding",
                         "{'apiVersion':'v1','kind':'Binding','metadata':{'name':'p'},'target':{"
                         "'kind':'Node','name':'n'}}"),
                201);
    assert_string_equal(called(a), "annotate allow");
    assert_string_equal(reviewed(a, 1, "object.metadata.annotations.a"), "b");
    assert_string_equal(reviewed(a, 1, "object.kind"), "Binding");
    assert_at(api_get(a, PODS "/p"), "metadata.annotations.a", "b");
    stop(a);
}

static void eviction_denied_by_webhook_keeps_pod(void **state)
{
    (void)state;
    api *a = start();
    assert_code(api_post(a, PODS, POD), 201);
    VALIDATING(a, {"deny"});
    assert_code(api_post(a, PODS "/p/eviction",
                         "{'apiVersion':'policy/v1','kind':'Eviction','metadata':{'name':'p'}}"),
                403);
    assert_code(api_get(a, PODS "/p"), 200);
    stop(a);
}

/* ---- match conditions ---- */

#define CONDITION(expression) ",'matchConditions':[{'name':'c','expression':'" expression "'}]"

static void webhook_is_called_only_if_its_conditions_are_true(void **state)
{
    (void)state;
    api *a = start();
    MUTATING(a, {"first", CONDITION("object.data.k == \\\"v\\\"")},
             {"second", CONDITION("has(object.metadata.annotations)")});
    VALIDATING(a, {"allow", CONDITION("object.metadata.labels.first == \\\"1\\\"")},
               {"deny", CONDITION("request.operation == \\\"UPDATE\\\"")});
    assert_code(create_map(a, ""), 201);
    assert_string_equal(called(a), "first allow");
    stop(a);
}

static void failed_condition_rejects_request_or_skips_webhook(void **state)
{
    (void)state;
    api *a = start();
    VALIDATING(a, {"deny", CONDITION("object.data.nope == \\\"v\\\"") ",'failurePolicy':'Ignore'"},
               {"allow", CONDITION("object.data.nope == \\\"v\\\"")});
    assert_status(create_map(a, ""), 403, "Forbidden",
                  "configmaps \"m\" is forbidden: expression 'object.data.nope == \"v\"' resulted "
                  "in error: no such key: nope");
    assert_string_equal(called(a), "");
    stop(a);
}

/* Costs more than an event loop may spend. */
#define EXPENSIVE_CONDITION                                                                  \
    CONDITION("[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, "                 \
              "[1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, a + b + c + d > " \
              "0))))")

static void expensive_condition_is_evaluated_on_a_worker_and_webhook_called(void **state)
{
    (void)state;
    api *a = start();
    MUTATING(a, {"first", EXPENSIVE_CONDITION}, {"second"});
    VALIDATING(a, {"allow", EXPENSIVE_CONDITION});
    const reply *r = create_map(a, "");
    assert_code(r, 201);
    assert_at(r, "metadata.labels.first", "1");
    assert_string_equal(called(a), "first second allow");
    stop(a);
}

/* Each object moves to a worker and back, while the deletions before it are written. */
static void expensive_condition_applies_to_each_object_of_a_collection(void **state)
{
    (void)state;
    api *a = start();
    for (int i = 0; i < 5; i++)
        assert_code(api_post(a, MAPS, text(a, "{'metadata':{'name':'m%d','labels':{'l':'1'}}}", i)),
                    201);
    VALIDATING(a, {"allow", EXPENSIVE_CONDITION});
    assert_code(api_delete(a, MAPS "?labelSelector=l", NULL), 200);
    assert_string_equal(called(a), "allow allow allow allow allow");
    assert_at(api_get(a, MAPS "?labelSelector=l"), "items", "[]");
    stop(a);
}

TESTS(webhook_is_called_only_if_its_conditions_are_true,
      expensive_condition_applies_to_each_object_of_a_collection,
      failed_condition_rejects_request_or_skips_webhook,
      expensive_condition_is_evaluated_on_a_worker_and_webhook_called,
      second_mutating_webhook_sees_patch_of_first,
      webhook_that_saw_object_before_last_change_is_reinvoked_once,
      webhook_that_changes_nothing_causes_no_reinvocation,
      plugins_run_again_after_webhook_changed_pod,
      mutating_webhook_sees_new_object_without_server_fields,
      patch_that_changes_kind_is_internal_error, patch_of_wrong_type_is_internal_error,
      patch_of_deletion_is_internal_error, scale_patched_by_webhook_is_applied,
      managed_fields_that_webhook_corrupts_are_restored_with_warning,
      other_changes_of_webhook_that_corrupts_managed_fields_are_kept,
      valid_managed_fields_of_webhook_are_kept_without_warning,
      unreachable_webhook_with_policy_ignore_is_skipped,
      unreachable_webhook_with_policy_fail_fails_request, dry_run_calls_webhook_and_stores_nothing,
      service_without_endpoints_fails_without_call, validating_webhook_sees_prepared_object,
      first_denial_fails_request_after_all_responses, denied_service_frees_its_node_port,
      collection_is_deleted_up_to_first_denial,
      collection_is_deleted_when_webhooks_allow_each_object,
      binding_patched_by_webhook_annotates_pod, eviction_denied_by_webhook_keeps_pod)
