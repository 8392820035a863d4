/* SPDX-License-Identifier: Apache-2.0 */
/* watch_custom.c: watches and creates of custom objects while their CRD changes or is deleted. */
#include "api_testing.h"

#include "apiserver/crd/crd_resource.h"
#include "apiserver/kinds/create_gate.h"

#include <unistd.h>

#define CRDS   "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define ROBOTS "/apis/example.com/v1/namespaces/default/robots"
#define ROBOT  CRDS "/robots.example.com"

/* Asks until what stands at a path is as expected. */
static const reply *wait_for(api *a, const char *target, const char *path, const char *expected)
{
    const reply *r = NULL;
    for (int i = 0; i < 5000; i++) {
        r = api_get(a, target);
        if (!strcmp(r_text(r, path), expected))
            return r;
        usleep(2000);
    }
    fail_msg("%s of %s is not %s", path, target, expected);
    return r;
}

static void define(api *a, const char *plural, const char *kind)
{
    const char *body = text(
        a,
        "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition','metadata':"
        "{'name':'%s.example.com'},'spec':{'group':'example.com','scope':'Namespaced','names':"
        "{'plural':'%s','kind':'%s'},'versions':[{'name':'v1','served':true,'storage':true,'schema'"
        ":{'openAPIV3Schema':{'type':'object','x-kubernetes-preserve-unknown-fields':true}}},"
        "{'name':'v2','served':true,'storage':false,'schema':{'openAPIV3Schema':{'type':'object',"
        "'x-kubernetes-preserve-unknown-fields':true}}}]}}",
        plural, plural, kind);
    assert_code(api_post(a, CRDS, body), 201);
    wait_for(a, text(a, CRDS "/%s.example.com", plural), "status.conditions[1].status", "True");
}

static void make(api *a, const char *name, const char *more)
{
    const reply *r = api_post(a, ROBOTS,
                              text(a,
                                   "{'apiVersion':'example.com/v1','kind':'Robot','metadata':"
                                   "{'name':'%s'%s}}",
                                   name, more));
    assert_code(r, 201);
}

/* ---- watches ---- */

static void deleted_crd_ends_watch_after_the_last_deleted_event(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define(a, "robots", "Robot");
    make(a, "one", "");
    make(a, "two", "");
    watch *w = WATCH(a, ROBOTS "?watch=1"),
          *other = WATCH(a, "/apis/example.com/v2/robots?watch=1");
    assert_event(w, "ADDED", "one");
    assert_event(w, "ADDED", "two");
    assert_code(api_delete(a, ROBOT, NULL), 200);
    assert_event(w, "DELETED", "one");
    assert_event(w, "DELETED", "two");
    assert_ended(w);
    assert_false(w->aborted);
    assert_event(other, "ADDED", "one");
    assert_event(other, "ADDED", "two");
    assert_event(other, "DELETED", "one");
    assert_event(other, "DELETED", "two");
    assert_ended(other);
    assert_code(api_get(a, ROBOTS "?watch=1"), 404);
}

static void watch_of_terminating_crd_continues_while_objects_exist(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define(a, "robots", "Robot");
    make(a, "held", ",'finalizers':['example.com/wait']");
    watch *w = WATCH(a, ROBOTS "?watch=1");
    assert_event(w, "ADDED", "held");
    assert_code(api_delete(a, ROBOT, NULL), 200);
    assert_event(w, "MODIFIED", "held");
    const reply *r = api_post(a, ROBOTS,
                              "{'apiVersion':'example.com/v1','kind':'Robot','metadata':{'name':"
                              "'late'}}");
    assert_status(r, 403, "Forbidden",
                  "robots.example.com \"late\" is forbidden: create not allowed while custom "
                  "resource definition is terminating");
    assert_code(api_patch(a, ROBOTS "/held", "{'metadata':{'finalizers':null}}"), 200);
    assert_event(w, "DELETED", "held");
    assert_ended(w);
}

static void changed_schema_ends_its_watches(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define(a, "robots", "Robot");
    define(a, "dogs", "Dog");
    make(a, "one", "");
    watch *w = WATCH(a, ROBOTS "?watch=1");
    watch *dogs = WATCH(a, "/apis/example.com/v1/dogs?watch=1");
    watch *maps = WATCH(a, "/api/v1/configmaps?watch=1");
    assert_event(w, "ADDED", "one");
    const reply *r = SEND(a, "PATCH", ROBOT, .type = "application/json-patch+json",
                          .body = "[{'op':'add','path':'/spec/versions/0/schema/openAPIV3Schema/"
                                  "properties','value':{'spec':{'type':'object','default':{}}}}]");
    assert_code(r, 200);
    assert_ended(w);
    w = WATCH(a, ROBOTS "?watch=1");
    const char *line = assert_event(w, "ADDED", "one");
    assert_string_equal(line_text(w, line, "object.spec"), "{}");
    assert_true(watch_is_silent(dogs));
    assert_true(watch_is_silent(maps));
    assert_code(api_patch(a, CRDS "/dogs.example.com", "{'spec':{'versions':null}}"), 422);
    assert_true(watch_is_silent(dogs));
}

static void version_no_longer_served_ends_its_watches(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define(a, "robots", "Robot");
    watch *w = WATCH(a, "/apis/example.com/v2/robots?watch=1");
    const reply *r = SEND(a, "PATCH", ROBOT, .type = "application/json-patch+json",
                          .body = "[{'op':'replace','path':'/spec/versions/1/served','value':"
                                  "false}]");
    assert_code(r, 200);
    assert_ended(w);
    assert_code(api_get(a, "/apis/example.com/v2/robots?watch=1"), 404);
}

static void change_without_effect_on_objects_keeps_watches(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define(a, "robots", "Robot");
    watch *w = WATCH(a, ROBOTS "?watch=1");
    assert_code(api_patch(a, ROBOT, "{'metadata':{'labels':{'a':'b'}}}"), 200);
    define(a, "dogs", "Dog");
    make(a, "one", "");
    assert_event(w, "ADDED", "one");
    assert_true(watch_is_silent(w));
}

/* ---- creations ---- */

static kc__resource_create_gate *gate_of_robots(api *a, kc__rest_catalog **held)
{
    const kc__rest_catalog *now = kc__rest_catalog_slot_current(api_inside(a)->catalog_slot, held);
    const kc__resource *robots =
        kc__registry_find(now->kinds, KC_STR("example.com"), KC_STR("v1"), KC_STR("robots"));
    return kc__crd_gate(robots->custom->crd);
}

static void deleted_crd_waits_for_creates_in_progress(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    kc_auto(kc__rest_catalog) *held = NULL;
    define(a, "robots", "Robot");
    kc__resource_create_gate *gate = gate_of_robots(a, &held);
    assert_true(kc__resource_create_gate_enter(gate));
    assert_code(api_delete(a, ROBOT, NULL), 200);
    wait_for(a, ROBOT, "status.conditions[2].reason", "InstanceDeletionInProgress");
    for (int i = 0; i < 30000 && !atomic_load(&gate->closed); i++)
        usleep(2000);
    assert_code(api_get(a, ROBOT), 200);
    assert_false(kc__resource_create_gate_enter(
        gate)); /* Who began with what was served before is refused. */
    kc__resource_create_gate_leave(gate);
    wait_for(a, ROBOT, "code", "404");
}

static void recreated_crd_has_its_own_create_gate(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    kc_auto(kc__rest_catalog) *before = NULL, *after = NULL;
    define(a, "robots", "Robot");
    kc__resource_create_gate *old = gate_of_robots(a, &before);
    assert_code(api_delete(a, ROBOT, NULL), 200);
    wait_for(a, ROBOT, "code", "404");
    define(a, "robots", "Robot");
    kc__resource_create_gate *new = gate_of_robots(a, &after);
    assert_ptr_not_equal(old, new);
    assert_false(kc__resource_create_gate_enter(old));
    make(a, "one", "");
    assert_code(api_patch(a, ROBOT, "{'spec':{'names':{'shortNames':['rb']}}}"), 200);
    wait_for(a, ROBOT, "status.acceptedNames.shortNames[0]", "rb");
    make(a, "two", "");
    kc_auto(kc__rest_catalog) *changed = NULL;
    assert_ptr_equal(gate_of_robots(a, &changed), new);
    assert_true(kc__resource_create_gate_is_empty(new));
}

TESTS(deleted_crd_ends_watch_after_the_last_deleted_event,
      watch_of_terminating_crd_continues_while_objects_exist, changed_schema_ends_its_watches,
      version_no_longer_served_ends_its_watches, change_without_effect_on_objects_keeps_watches,
      deleted_crd_waits_for_creates_in_progress, recreated_crd_has_its_own_create_gate)
