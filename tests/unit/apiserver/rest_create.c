/* SPDX-License-Identifier: Apache-2.0 */
/* rest_create.c: POST. */
#include "api_testing.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

static void an_object_is_created_and_read_back(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_post(a, MAPS, "{'metadata':{'name':'a'},'data':{'k':'v'}}");
    assert_code(r, 201);
    assert_at(r, "kind", "ConfigMap");
    assert_at(r, "apiVersion", "v1");
    assert_at(r, "metadata.namespace", "default");
    assert_int_equal(strlen(r_text(r, "metadata.uid")), 36);
    assert_string_equal(api_get(a, MAPS "/a")->body, r->body);
}

static void a_created_object_survives_a_restart(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_post(a, MAPS, "{'metadata':{'name':'a'},'data':{'k':'v'}}");
    api_restart(a);
    assert_string_equal(api_get(a, MAPS "/a")->body, r->body);
}

static void a_name_is_taken_once(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_post(a, MAPS, "{'metadata':{'name':'a'}}");
    const reply *r = api_post(a, MAPS, "{'metadata':{'name':'a'}}");
    assert_status(r, 409, "AlreadyExists", "configmaps \"a\" already exists");
    assert_at(r, "details", "{\"name\":\"a\",\"kind\":\"configmaps\"}");
    assert_code(api_post(a, MAPS "?dryRun=All", "{'metadata':{'name':'a'}}"), 409);
}

static void a_name_is_generated_from_its_beginning(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_post(a, MAPS, "{'metadata':{'generateName':'gen-'}}");
    const char *name = r_text(r, "metadata.name");
    assert_code(r, 201);
    assert_int_equal(strlen(name), strlen("gen-") + 5);
    assert_int_equal(strncmp(name, "gen-", 4), 0);
    assert_at(r, "metadata.generateName", "gen-");
    const reply *other = api_post(a, MAPS, "{'metadata':{'generateName':'gen-'}}");
    assert_string_not_equal(r_text(other, "metadata.name"), name);
}

static void a_name_beside_generateName_is_the_name(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_post(a, MAPS, "{'metadata':{'name':'a','generateName':'gen-'}}");
    assert_at(r, "metadata.name", "a");
    assert_at(r, "metadata.generateName", "gen-");
}

static void an_object_without_a_name_is_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char *const bodies[] = {"{}", "null", "{'metadata':null}", "{'metadata':{}}"};
    for (size_t i = 0; i < KC_COUNT(bodies); i++)
        assert_status(api_post(a, MAPS, bodies[i]), 422, "Invalid",
                      "ConfigMap \"\" is invalid: metadata.name: Required value: name or "
                      "generateName is required");
}

static void a_dry_run_stores_nothing(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_post(a, MAPS "?dryRun=All", "{'metadata':{'name':'a'}}");
    assert_code(r, 201);
    assert_at(r, "metadata.resourceVersion", "");
    assert_int_equal(strlen(r_text(r, "metadata.uid")), 36);
    assert_code(api_get(a, MAPS "/a"), 404);
}

static void a_version_on_a_new_object_is_refused_unless_it_is_nothing(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_post(a, MAPS, "{'metadata':{'name':'a','resourceVersion':'5'}}");
    assert_status(r, 500, "", "resourceVersion should not be set on objects to be created");
    assert_code(api_post(a, MAPS, "{'metadata':{'name':'a','resourceVersion':'0'}}"), 201);
    assert_code(api_post(a, MAPS "?dryRun=All", "{'metadata':{'name':'b','resourceVersion':'5'}}"),
                201);
}

static void the_namespace_of_the_body_must_be_that_of_the_path(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(api_post(a, MAPS, "{'metadata':{'name':'a','namespace':'b'}}"), 400, "BadRequest",
                  "the namespace of the provided object does not match the namespace sent on the "
                  "request");
    assert_code(api_post(a, MAPS, "{'metadata':{'name':'a','namespace':'default'}}"), 201);
}

static void objects_are_created_in_collections_only(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char text[] = "the server does not allow this method on the requested resource";
    assert_status(api_post(a, MAPS "/a", "{}"), 405, "MethodNotAllowed", text);
    assert_status(api_post(a, "/api/v1/configmaps", "{}"), 405, "MethodNotAllowed", text);
    assert_status(api_put(a, MAPS, "{}"), 405, "MethodNotAllowed", text);
}

static void a_namespace_must_be_there(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(api_post(a, "/api/v1/namespaces/nowhere/configmaps", "{'metadata':{'name':'a'}}"),
                  404, "NotFound", "namespaces \"nowhere\" not found");
}

TESTS(an_object_is_created_and_read_back, a_created_object_survives_a_restart, a_name_is_taken_once,
      a_name_is_generated_from_its_beginning, a_name_beside_generateName_is_the_name,
      an_object_without_a_name_is_refused, a_dry_run_stores_nothing,
      a_version_on_a_new_object_is_refused_unless_it_is_nothing,
      the_namespace_of_the_body_must_be_that_of_the_path, objects_are_created_in_collections_only,
      a_namespace_must_be_there)
