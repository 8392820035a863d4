/* SPDX-License-Identifier: Apache-2.0 */
/* delete.c: DELETE of one object. */
#include "api_testing.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

static const reply *make(api *a, const char *name)
{
    return api_post(a, MAPS, text(a, "{'metadata':{'name':'%s'}}", name));
}

static const reply *make_held(api *a)
{
    return api_post(a, MAPS, "{'metadata':{'name':'a','finalizers':['example.com/f']}}");
}

static void deleted_object_returns_404(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *made = make(a, "a");
    const reply *r = api_delete(a, MAPS "/a", NULL);
    assert_code(r, 200);
    assert_at(r, "status", "Success");
    assert_at(r, "details",
              text(a, "{\"name\":\"a\",\"kind\":\"configmaps\",\"uid\":\"%s\"}",
                   r_text(made, "metadata.uid")));
    assert_code(api_get(a, MAPS "/a"), 404);
    assert_code(api_delete(a, MAPS "/a", NULL), 404);
}

static void some_kinds_return_the_deleted_object(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_post(a, "/api/v1/namespaces/default/serviceaccounts", "{'metadata':{'name':'s'}}");
    assert_at(api_delete(a, "/api/v1/namespaces/default/serviceaccounts/s", NULL), "kind",
              "ServiceAccount");
}

static void object_with_finalizer_is_marked_for_deletion(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_held(a);
    const reply *r = api_delete(a, MAPS "/a", NULL);
    assert_code(r, 200);
    assert_at(r, "kind", "ConfigMap");
    assert_at(r, "metadata.deletionGracePeriodSeconds", "0");
    assert_string_not_equal(r_text(r, "metadata.deletionTimestamp"), "");
    assert_string_equal(api_delete(a, MAPS "/a", NULL)->body, r->body);
    assert_status(make(a, "a"), 409, "AlreadyExists",
                  "object is being deleted: configmaps \"a\" already exists");
}

static void removing_the_last_finalizer_deletes_the_object(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_held(a);
    api_delete(a, MAPS "/a", NULL);
    assert_code(api_patch(a, MAPS "/a?dryRun=All", "{'metadata':{'finalizers':null}}"), 200);
    assert_code(api_get(a, MAPS "/a"), 200);
    const reply *r = api_patch(a, MAPS "/a", "{'metadata':{'finalizers':null}}");
    assert_code(r, 200);
    assert_at(r, "metadata.finalizers", "");
    assert_code(api_get(a, MAPS "/a"), 404);
}

static void adding_finalizer_to_terminating_object_is_invalid(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_held(a);
    api_delete(a, MAPS "/a", NULL);
    assert_code(api_patch(a, MAPS "/a", "{'metadata':{'finalizers':['example.com/f','b/c']}}"),
                422);
    assert_code(api_patch(a, MAPS "/a", "{'data':{'still':'here'}}"), 200);
}

static void delete_with_wrong_preconditions_returns_conflict(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *made = make(a, "a");
    const reply *r = api_delete(a, MAPS "/a", "{'preconditions':{'uid':'x'}}");
    assert_status(r, 409, "Conflict",
                  text(a,
                       "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the "
                       "precondition (x) does not match the UID in record (%s). The object might "
                       "have been deleted and then recreated",
                       r_text(made, "metadata.uid")));
    assert_at(r, "details", "{\"name\":\"a\",\"kind\":\"ConfigMap\"}");
    assert_code(api_delete(a, MAPS "/a", "{'preconditions':{'uid':''}}"), 409);
    assert_code(api_delete(a, MAPS "/a", "{'preconditions':{'resourceVersion':'1'}}"), 409);
    assert_code(
        api_delete(a, MAPS "/a",
                   text(a, "{'preconditions':{'uid':'%s','resourceVersion':'%s'}}",
                        r_text(made, "metadata.uid"), r_text(made, "metadata.resourceVersion"))),
        200);
}

static void dry_run_deletes_nothing(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "a");
    assert_code(api_delete(a, MAPS "/a?dryRun=All", NULL), 200);
    assert_code(api_delete(a, MAPS "/a", "{'dryRun':['All']}"), 200);
    assert_code(api_delete(a, MAPS "/a?propagationPolicy=Foreground&dryRun=All", NULL), 200);
    assert_code(api_get(a, MAPS "/a"), 200);
    assert_at(api_get(a, MAPS "/a"), "metadata.finalizers", "");
}

static void options_in_body_replace_the_query(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "a");
    assert_code(api_delete(a, MAPS "/a?dryRun=All&propagationPolicy=nonsense", "{}"), 200);
    assert_code(api_get(a, MAPS "/a"), 404);
}

static void propagation_policy_sets_a_finalizer(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "a");
    const reply *r = api_delete(a, MAPS "/a?propagationPolicy=Foreground", NULL);
    assert_at(r, "metadata.finalizers", "[\"foregroundDeletion\"]");
    r = api_delete(a, MAPS "/a", "{'propagationPolicy':'Orphan'}");
    assert_at(r, "metadata.finalizers", "[\"orphan\"]");
    assert_at(api_delete(a, MAPS "/a?propagationPolicy=Background", NULL), "status", "Success");
    assert_code(api_get(a, MAPS "/a"), 404);
}

#define CONTROLLERS "/api/v1/namespaces/default/replicationcontrollers"
#define CONTROLLER                                                                         \
    "{'metadata':{'name':'r','finalizers':[%s]},'spec':{'selector':{'a':'b'},'template':{" \
    "'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'i'}]}}}}"

static void replication_controller_delete_orphans_by_default(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_post(a, CONTROLLERS, text(a, CONTROLLER, "")), 201);
    assert_at(api_delete(a, CONTROLLERS "/r", NULL), "metadata.finalizers", "[\"orphan\"]");
    assert_at(api_delete(a, CONTROLLERS "/r?propagationPolicy=Background", NULL), "status",
              "Success");
    assert_code(api_post(a, CONTROLLERS, text(a, CONTROLLER, "'foregroundDeletion'")), 201);
    assert_at(api_delete(a, CONTROLLERS "/r", NULL), "metadata.finalizers",
              "[\"foregroundDeletion\"]");
}

#define EVENTS "/api/v1/namespaces/default/events"

static void propagation_policy_is_ignored_for_events(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char *const policies[] = {"Foreground", "Orphan", "Background"};
    for (size_t i = 0; i < KC_COUNT(policies); i++) {
        assert_code(api_post(a, EVENTS,
                             "{'metadata':{'name':'e'},'involvedObject':{'namespace':'default'}}"),
                    201);
        assert_code(api_delete(a, text(a, EVENTS "/e?propagationPolicy=%s", policies[i]), NULL),
                    200);
        assert_code(api_get(a, EVENTS "/e"), 404);
    }
}

static void unknown_propagation_policy_is_invalid(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "a");
    assert_status(
        api_delete(a, MAPS "/a?propagationPolicy=x", NULL), 422, "Invalid",
        "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: "
        "\"x\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"");
    assert_code(api_delete(a, MAPS "/a?propagationPolicy=Orphan&orphanDependents=true", NULL), 422);
}

static void delete_with_orphan_dependents_and_finalizer_returns_202(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_held(a);
    assert_code(api_delete(a, MAPS "/a?orphanDependents=false", NULL), 202);
}

static void delete_options_of_another_kind_are_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "a");
    assert_status(api_delete(a, MAPS "/a", "{'kind':'Foo','apiVersion':'v1'}"), 500, "",
                  "no kind \"Foo\" is registered for version \"v1\" in scheme "
                  "\"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27\"");
    assert_status(api_delete(a, MAPS "/a", "{'gracePeriodSeconds':'x'}"), 500, "",
                  "json: cannot unmarshal string into Go struct field "
                  "DeleteOptions.gracePeriodSeconds of type int64");
    assert_status(api_delete(a, MAPS "/a", "x"), 500, "",
                  "couldn't get version/kind; json parse error: invalid character 'x' looking for "
                  "beginning of value");
    assert_code(api_get(a, MAPS "/a"), 200);
    assert_code(api_delete(a, MAPS "/a", "{'kind':'DeleteOptions','apiVersion':'apps/v1'}"), 200);
}

#define PODS "/api/v1/namespaces/default/pods"
#define POD \
    "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}],'nodeName':'%s'}}"

static void assert_marked_and_gone(watch *w)
{
    const char *marked = assert_event(w, "MODIFIED", "p");
    assert_string_equal(line_text(w, marked, "object.metadata.deletionGracePeriodSeconds"), "0");
    const char *last = assert_event(w, "DELETED", "p");
    assert_string_equal(line_text(w, last, "object.metadata.deletionGracePeriodSeconds"), "0");
    assert_string_equal(line_text(w, last, "object.metadata.generation"), "2");
}

static void pod_is_marked_modified_before_it_is_deleted(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    watch *w = WATCH(a, PODS "?watch=1");
    const reply *pod = api_post(a, PODS, text(a, POD, "n"));
    assert_event(w, "ADDED", "p");
    const reply *r =
        api_delete(a, PODS "/p",
                   text(a, "{'gracePeriodSeconds':0,'preconditions':{'resourceVersion':'%s'}}",
                        r_text(pod, "metadata.resourceVersion")));
    assert_code(r, 200);
    assert_at(r, "metadata.deletionGracePeriodSeconds", "0");
    assert_marked_and_gone(w);
    assert_code(api_get(a, PODS "/p"), 404);
    api_post(a, PODS, text(a, POD, ""));
    assert_event(w, "ADDED", "p");
    assert_code(api_delete(a, PODS, NULL), 200);
    assert_marked_and_gone(w);
    api_post(a, PODS, text(a, POD, ""));
    assert_event(w, "ADDED", "p");
    assert_code(api_delete(a, PODS "/p?dryRun=All", NULL), 200);
    assert_true(watch_is_silent(w));
    watch_close(w);
}

TESTS(deleted_object_returns_404, some_kinds_return_the_deleted_object,
      object_with_finalizer_is_marked_for_deletion, removing_the_last_finalizer_deletes_the_object,
      adding_finalizer_to_terminating_object_is_invalid,
      delete_with_wrong_preconditions_returns_conflict, dry_run_deletes_nothing,
      options_in_body_replace_the_query, propagation_policy_sets_a_finalizer,
      replication_controller_delete_orphans_by_default, propagation_policy_is_ignored_for_events,
      unknown_propagation_policy_is_invalid,
      delete_with_orphan_dependents_and_finalizer_returns_202,
      delete_options_of_another_kind_are_refused, pod_is_marked_modified_before_it_is_deleted)
