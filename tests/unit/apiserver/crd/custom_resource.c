/* SPDX-License-Identifier: Apache-2.0 */
/* custom_resource.c: CRDs and their objects, through the API server. */
#include "api_testing.h"

#include <unistd.h>

#define CRDS   "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define ROBOTS "/apis/example.com/v1/namespaces/default/robots"

/* Of a kind of the group example.com, with a field of its own; `names` is JSON without braces. */
static const char *definition(api *a, const char *plural, const char *names, const char *more)
{
    return text(a,
                "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition',"
                "'metadata':{'name':'%s.example.com'},'spec':{'group':'example.com','scope':"
                "'Namespaced','names':{'plural':'%s',%s},'versions':[{'name':'v1','served':true,"
                "'storage':true,'subresources':{'status':{}},'schema':{'openAPIV3Schema':{'type':"
                "'object','properties':{'spec':{'type':'object','properties':{'size':{'type':"
                "'integer','maximum':9,'default':3}%s}},'status':{'type':'object','properties':"
                "{'seen':{'type':'integer'}}}}}}}]}}",
                plural, plural, names, more);
}

/* Waits for a minute at least. */
enum { TRIES = 30000, PAUSE = 2000 };

/* Asks until what stands at a path is as expected. */
static const reply *wait_for(api *a, const char *target, const char *path, const char *expected)
{
    const reply *r = NULL;
    for (int i = 0; i < TRIES; i++) {
        r = api_get(a, target);
        if (!strcmp(r_text(r, path), expected))
            return r;
        usleep(PAUSE);
    }
    fail_msg("%s of %s is not %s", path, target, expected);
    return r;
}

static void wait_gone(api *a, const char *target)
{
    wait_for(a, target, "code", "404");
}

static void define_robots(api *a)
{
    assert_code(api_post(a, CRDS, definition(a, "robots", "'kind':'Robot'", "")), 201);
    wait_for(a, CRDS "/robots.example.com", "status.conditions[1].status", "True");
}

static const reply *make_robot(api *a, const char *name, const char *rest)
{
    return api_post(
        a, ROBOTS,
        text(a, "{'apiVersion':'example.com/v1','kind':'Robot','metadata':{'name':'%s'}%s}", name,
             rest));
}

/* No request comes that would let the loops notice. */
static void replaced_catalog_is_freed_at_once(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    kc_auto(kc__rest_catalog) *held = NULL;
    kc__rest_catalog_slot_current(api_inside(a)->catalog_slot, &held);
    assert_code(api_post(a, CRDS, definition(a, "robots", "'kind':'Robot'", "")), 201);
    for (int i = 0; i < TRIES && kc_ref_count(&held->refs) > 1; i++)
        usleep(PAUSE);
    assert_int_equal(kc_ref_count(&held->refs), 1);
}

static void established_crd_is_served(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_get(a, ROBOTS), 404);
    define_robots(a);
    const reply *r = make_robot(a, "one", ",'spec':{}");
    assert_code(r, 201);
    assert_at(r, "spec.size", "3");
    assert_at(r, "metadata.generation", "1");
    assert_at(api_get(a, ROBOTS), "items[0].kind", "Robot");
    assert_at(api_get(a, "/apis/example.com/v1"), "resources[0].name", "robots");
}

static void object_violating_schema_is_invalid(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_robots(a);
    assert_code(make_robot(a, "one", ",'spec':{'size':10}"), 422);
    const reply *r = make_robot(a, "one", ",'spec':{'wings':2}");
    assert_code(r, 201);
    assert_string_equal(r_header(r, "Warning"), "299 - \"unknown field \\\"spec.wings\\\"\"");
    assert_at(r, "spec.wings", "");
}

static void status_is_written_through_subresource_only(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_robots(a);
    make_robot(a, "one", ",'status':{'seen':1}");
    assert_at(api_get(a, ROBOTS "/one"), "status", "");
    const reply *r = api_patch(a, ROBOTS "/one/status", "{'spec':{'size':5},'status':{'seen':2}}");
    assert_at(r, "status.seen", "2");
    assert_at(r, "spec", "");
    assert_at(r, "metadata.generation", "1");
}

static void changed_schema_applies_to_new_objects(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_robots(a);
    const char *version =
        r_text(api_get(a, CRDS "/robots.example.com"), "metadata.resourceVersion");
    assert_code(api_patch(a, CRDS "/robots.example.com",
                          text(a,
                               "{'metadata':{'resourceVersion':'%s'},'spec':{'versions':[{'name':"
                               "'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':"
                               "{'type':'object','properties':{'spec':{'type':'object',"
                               "'properties':{'arms':{'type':'integer'}}}}}}}]}}",
                               version)),
                200);
    const char *arms = "";
    for (int i = 0; i < TRIES && !*arms; i++) {
        usleep(PAUSE);
        arms = r_text(make_robot(a, text(a, "r%d", i), ",'spec':{'arms':2}"), "spec.arms");
    }
    assert_string_equal(arms, "2");
}

static void deleted_crd_deletes_its_objects(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_robots(a);
    make_robot(a, "one", "");
    watch *w = WATCH(a, ROBOTS "?watch=1");
    assert_event(w, "ADDED", "one");
    assert_code(api_delete(a, CRDS "/robots.example.com", NULL), 200);
    assert_event(w, "DELETED", "one");
    wait_gone(a, CRDS "/robots.example.com");
    assert_code(api_get(a, ROBOTS), 404);
    watch_close(w);
    define_robots(a);
    assert_int_equal(r_count(api_get(a, ROBOTS), "items"), 0);
}

static void terminating_crd_refuses_creates(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_robots(a);
    api_post(a, ROBOTS,
             "{'apiVersion':'example.com/v1','kind':'Robot','metadata':{'name':'held',"
             "'finalizers':['example.com/hold']}}");
    api_delete(a, CRDS "/robots.example.com", NULL);
    wait_for(a, CRDS "/robots.example.com", "status.conditions[2].reason",
             "InstanceDeletionInProgress");
    assert_status(make_robot(a, "two", ""), 403, "Forbidden",
                  "robots.example.com \"two\" is forbidden: create not allowed while custom "
                  "resource definition is terminating");
    wait_for(a, ROBOTS "/held", "metadata.deletionGracePeriodSeconds", "0");
    assert_code(api_patch(a, ROBOTS "/held", "{'metadata':{'finalizers':null}}"), 200);
    wait_gone(a, CRDS "/robots.example.com");
}

static void released_name_is_accepted_for_the_waiting_crd(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_robots(a);
    api_post(a, CRDS, definition(a, "androids", "'kind':'Robot'", ""));
    wait_for(a, CRDS "/androids.example.com", "status.conditions[0].status", "False");
    api_delete(a, CRDS "/robots.example.com", NULL);
    wait_for(a, CRDS "/androids.example.com", "status.conditions[1].status", "True");
    assert_code(api_get(a, "/apis/example.com/v1/namespaces/default/androids"), 200);
}

static void crds_are_served_after_restart(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_robots(a);
    make_robot(a, "one", "");
    api_restart(a);
    assert_at(api_get(a, ROBOTS "/one"), "kind", "Robot");
}

/* ---- several versions, and the scale ---- */

#define THINGS "/apis/example.com/v1/namespaces/default/things"
#define OLD    "/apis/example.com/v1beta1/namespaces/default/things"

static const char *version_of(api *a, const char *name, bool stored)
{
    return text(a,
                "{'name':'%s','served':true,'storage':%s,'subresources':{'scale':"
                "{'specReplicasPath':'.spec.replicas','statusReplicasPath':'.status.replicas'}},"
                "'schema':{'openAPIV3Schema':{'type':'object','x-kubernetes-preserve-unknown-"
                "fields':true}}}",
                name, stored ? "true" : "false");
}

static void define_things(api *a)
{
    const char *body = text(a,
                            "{'metadata':{'name':'things.example.com'},'spec':{'group':"
                            "'example.com','scope':'Namespaced','names':{'plural':'things','kind':"
                            "'Thing'},'versions':[%s,%s]}}",
                            version_of(a, "v1", false), version_of(a, "v1beta1", true));
    assert_code(api_post(a, CRDS, body), 201);
    wait_for(a, CRDS "/things.example.com", "status.conditions[1].status", "True");
    assert_code(api_post(a, THINGS,
                         "{'apiVersion':'example.com/v1','kind':'Thing','metadata':{'name':'t'},"
                         "'spec':{'replicas':2}}"),
                201);
}

static void patch_of_the_scale_of_an_object_without_replicas_must_set_them(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_things(a);
    api_post(a, THINGS, "{'apiVersion':'example.com/v1','kind':'Thing','metadata':{'name':'u'}}");
    assert_status(api_patch(a, THINGS "/u/scale", "{'spec':{}}"), 400, "BadRequest",
                  "the spec replicas field \".spec.replicas\" cannot be empty");
    assert_at(api_get(a, THINGS "/u"), "spec", "");
    assert_at(api_patch(a, THINGS "/u/scale", "{'spec':{'replicas':3}}"), "spec.replicas", "3");
    assert_at(api_get(a, THINGS "/u"), "spec.replicas", "3");
    assert_code(api_patch(a, THINGS "/u/scale", "{}"), 200);
}

static void object_is_returned_in_the_requested_version(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_things(a);
    assert_at(api_post(a, THINGS,
                       "{'apiVersion':'example.com/v1','kind':'Thing','metadata':{'name':'u'}}"),
              "apiVersion", "example.com/v1");
    assert_at(api_post(a, OLD,
                       "{'apiVersion':'example.com/v1beta1','kind':'Thing','metadata':{'name':"
                       "'v'}}"),
              "apiVersion", "example.com/v1beta1");
    assert_at(api_patch(a, THINGS "/v", "{'spec':{'a':1.5}}"), "apiVersion", "example.com/v1");
    assert_at(api_get(a, THINGS "/t"), "apiVersion", "example.com/v1");
    assert_at(api_get(a, OLD "/t"), "apiVersion", "example.com/v1beta1");
    assert_at(api_get(a, OLD), "items[0].apiVersion", "example.com/v1beta1");
    watch *w = WATCH(a, THINGS "?watch=1");
    const char *line = assert_event(w, "ADDED", "t");
    assert_string_equal(line_text(w, line, "object.apiVersion"), "example.com/v1");
}

static void update_stores_object_in_storage_version(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_things(a);
    const char *before = r_text(api_get(a, THINGS "/t"), "metadata.resourceVersion");
    assert_at(api_patch(a, THINGS "/t", "{}"), "metadata.resourceVersion", before);
    assert_code(api_patch(a, CRDS "/things.example.com",
                          text(a, "{'spec':{'versions':[%s,%s]}}", version_of(a, "v1", true),
                               version_of(a, "v1beta1", false))),
                200);
    const char *after = before;
    for (int i = 0; i < TRIES && !strcmp(before, after); i++) {
        usleep(PAUSE);
        after = r_text(api_patch(a, THINGS "/t", "{}"), "metadata.resourceVersion");
    }
    assert_string_not_equal(before, after);
    assert_at(api_patch(a, THINGS "/t", "{}"), "metadata.resourceVersion", after);
}

static const char *version_with(api *a, const char *name, bool stored, const char *field)
{
    return text(a,
                "{'name':'%s','served':true,'storage':%s,'schema':{'openAPIV3Schema':{'type':"
                "'object','properties':{'%s':{'type':'string'}}}}}",
                name, stored ? "true" : "false", field);
}

static void dry_run_shows_what_the_storage_version_keeps(void **state)
{
    (void)state;
    static const char body[] = "{'apiVersion':'example.com/v1','kind':'Thing','metadata':{'name':"
                               "'t'},'lost':'x'}";
    kc_auto(api) *a = api_start(NULL);
    const char *crd =
        text(a,
             "{'metadata':{'name':'things.example.com'},'spec':{'group':"
             "'example.com','scope':'Namespaced','names':{'plural':'things','kind':"
             "'Thing'},'versions':[%s,%s]}}",
             version_with(a, "v1", false, "lost"), version_with(a, "v1beta1", true, "kept"));
    assert_code(api_post(a, CRDS, crd), 201);
    wait_for(a, CRDS "/things.example.com", "status.conditions[1].status", "True");
    const reply *dry = api_post(a, THINGS "?dryRun=All", body);
    assert_at(dry, "apiVersion", "example.com/v1");
    assert_at(dry, "lost", "");
    assert_at(api_post(a, THINGS, body), "lost", "");
    dry = api_patch(a, THINGS "/t?dryRun=All", "{'lost':'y','metadata':{'labels':{'a':'b'}}}");
    assert_at(dry, "metadata.labels.a", "b");
    assert_at(dry, "lost", "");
}

static void scale_subresource_updates_replicas(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_things(a);
    assert_at(api_get(a, THINGS "/t/scale"), "kind", "Scale");
    assert_at(api_patch(a, THINGS "/t/scale", "{'spec':{'replicas':5}}"), "spec.replicas", "5");
    const reply *r = api_put(a, THINGS "/t/scale",
                             "{'apiVersion':'autoscaling/v1','kind':'Scale','metadata':{'name':"
                             "'t','namespace':'default'},'spec':{'replicas':7}}");
    assert_at(r, "spec.replicas", "7");
    r = api_get(a, OLD "/t");
    assert_at(r, "spec.replicas", "7");
    assert_at(r, "metadata.generation", "3");
    assert_code(api_get(a, THINGS "/none/scale"), 404);
}

/* Typed clients write protobuf by default. */
static void crd_can_be_created_as_protobuf(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char body[] =
        "k8s\000\0123\012\027apiextensions.k8s.io/v1\022\030CustomResourceDefinition\022{\012"
        "\024\012\022robots.example.com\022c\012\013example.com\032\017\012\006robots\042\005"
        "Robot\042\012Namespaced:7\012\002v1\020\001\030\001\042-\012+*\006object\352\001 "
        "\012\004spec\022\030*\006object\362\001\015\010\001\022\011*\007integer";
    const reply *r = SEND(a, "POST", CRDS, .type = "application/vnd.kubernetes.protobuf",
                          .raw = kc_str_of(body, sizeof(body) - 1));
    assert_code(r, 201);
    assert_at(r,
              "spec.versions[0].schema.openAPIV3Schema.properties.spec.additionalProperties.type",
              "integer");
    wait_for(a, CRDS "/robots.example.com", "status.conditions[1].status", "True");
    assert_at(make_robot(a, "one", ",'spec':{'a':1}"), "spec.a", "1");
    assert_code(make_robot(a, "two", ",'spec':{'a':'b'}"), 422);
}

/* ---- selecting ---- */

static void selectable_fields_apply_to_defaulted_values(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_robots(a);
    make_robot(a, "old", ",'spec':{'size':5}");
    const char *path = CRDS "/robots.example.com";
    const reply *r = SEND(a, "PATCH", path, .type = "application/json-patch+json",
                          .body = "[{'op':'add','path':'/spec/versions/0/schema/openAPIV3Schema/"
                                  "properties/spec/properties/mode','value':{'type':'string',"
                                  "'default':'slow'}},{'op':'add','path':'/spec/versions/0/"
                                  "selectableFields','value':[{'jsonPath':'.spec.mode'}]}]");
    assert_code(r, 200);
    wait_for(a, ROBOTS "/old", "spec.mode", "slow");
    make_robot(a, "new", ",'spec':{'mode':'fast'}");
    assert_string_equal(r_names(api_get(a, ROBOTS "?fieldSelector=spec.mode%3Dslow")), "old");
    assert_string_equal(r_names(api_get(a, ROBOTS "?fieldSelector=spec.mode!%3Dslow")), "new");
    watch *w = WATCH(a, ROBOTS "?watch=1&fieldSelector=spec.mode%3Dslow");
    assert_event(w, "ADDED", "old");
    assert_code(api_patch(a, ROBOTS "/old", "{'spec':{'mode':'fast'}}"), 200);
    assert_event(w, "DELETED", "old");
    assert_code(api_patch(a, ROBOTS "/new", "{'spec':{'mode':null}}"), 200);
    assert_event(w, "ADDED", "new");
    assert_string_equal(r_names(api_delete(a, ROBOTS "?fieldSelector=spec.mode%3Dslow", NULL)),
                        "new");
    assert_string_equal(r_names(api_get(a, ROBOTS)), "old");
    assert_status(api_get(a, ROBOTS "?fieldSelector=spec.size%3D5"), 400, "BadRequest",
                  "field label not supported: spec.size");
}

static void openapi_lists_selectable_fields(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_robots(a);
    const char *published_fields =
        "\"x-kubernetes-selectable-fields\":[{\"fieldPath\":\"spec.size\"}]";
    assert_null(strstr(api_get(a, "/openapi/v3/apis/example.com/v1")->body, "selectable-fields"));
    const reply *r =
        SEND(a, "PATCH", CRDS "/robots.example.com", .type = "application/json-patch+json",
             .body = "[{'op':'add','path':'/spec/versions/0/selectableFields','value':"
                     "[{'jsonPath':'.spec.size'}]}]");
    assert_code(r, 200);
    const char *found = NULL;
    for (int i = 0; i < 60000 && !found; i++) {
        r = api_get(a, "/openapi/v3/apis/example.com/v1");
        found = strstr(r->body, published_fields);
        usleep(1000);
    }
    assert_non_null(found);
    assert_non_null(strstr(found + 1, published_fields)); /* Of an object, and of a list. */
    assert_non_null(strstr(api_get(a, "/openapi/v2")->body, published_fields));
}

TESTS(replaced_catalog_is_freed_at_once, established_crd_is_served,
      object_violating_schema_is_invalid, status_is_written_through_subresource_only,
      changed_schema_applies_to_new_objects, deleted_crd_deletes_its_objects,
      terminating_crd_refuses_creates, released_name_is_accepted_for_the_waiting_crd,
      crds_are_served_after_restart, object_is_returned_in_the_requested_version,
      patch_of_the_scale_of_an_object_without_replicas_must_set_them,
      update_stores_object_in_storage_version, dry_run_shows_what_the_storage_version_keeps,
      scale_subresource_updates_replicas, selectable_fields_apply_to_defaulted_values,
      openapi_lists_selectable_fields, crd_can_be_created_as_protobuf)
