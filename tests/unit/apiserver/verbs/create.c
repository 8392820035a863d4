/* SPDX-License-Identifier: Apache-2.0 */
/* create.c: POST. */
#include "api_testing.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

static void created_object_is_readable(void **state)
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

static void created_object_survives_restart(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_post(a, MAPS, "{'metadata':{'name':'a'},'data':{'k':'v'}}");
    api_restart(a);
    assert_string_equal(api_get(a, MAPS "/a")->body, r->body);
}

static void create_of_existing_name_returns_already_exists(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_post(a, MAPS, "{'metadata':{'name':'a'}}");
    const reply *r = api_post(a, MAPS, "{'metadata':{'name':'a'}}");
    assert_status(r, 409, "AlreadyExists", "configmaps \"a\" already exists");
    assert_at(r, "details", "{\"name\":\"a\",\"kind\":\"configmaps\"}");
    assert_code(api_post(a, MAPS "?dryRun=All", "{'metadata':{'name':'a'}}"), 409);
}

static void name_is_generated_from_generate_name(void **state)
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

static void name_takes_precedence_over_generate_name(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_post(a, MAPS, "{'metadata':{'name':'a','generateName':'gen-'}}");
    assert_at(r, "metadata.name", "a");
    assert_at(r, "metadata.generateName", "gen-");
}

static void create_without_name_is_invalid(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char *const bodies[] = {"{}", "null", "{'metadata':null}", "{'metadata':{}}"};
    for (size_t i = 0; i < KC_COUNT(bodies); i++)
        assert_status(api_post(a, MAPS, bodies[i]), 422, "Invalid",
                      "ConfigMap \"\" is invalid: metadata.name: Required value: name or "
                      "generateName is required");
}

static void dry_run_stores_nothing(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_post(a, MAPS "?dryRun=All", "{'metadata':{'name':'a'}}");
    assert_code(r, 201);
    assert_at(r, "metadata.resourceVersion", "");
    assert_int_equal(strlen(r_text(r, "metadata.uid")), 36);
    assert_code(api_get(a, MAPS "/a"), 404);
}

static void create_with_resource_version_is_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_post(a, MAPS, "{'metadata':{'name':'a','resourceVersion':'5'}}");
    assert_status(r, 500, "", "resourceVersion should not be set on objects to be created");
    assert_code(api_post(a, MAPS, "{'metadata':{'name':'a','resourceVersion':'0'}}"), 201);
    assert_code(api_post(a, MAPS "?dryRun=All", "{'metadata':{'name':'b','resourceVersion':'5'}}"),
                201);
}

static void namespace_of_body_must_match_path(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(api_post(a, MAPS, "{'metadata':{'name':'a','namespace':'b'}}"), 400, "BadRequest",
                  "the namespace of the provided object does not match the namespace sent on the "
                  "request");
    assert_code(api_post(a, MAPS, "{'metadata':{'name':'a','namespace':'default'}}"), 201);
}

static void post_to_an_object_returns_405(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char text[] = "the server does not allow this method on the requested resource";
    assert_status(api_post(a, MAPS "/a", "{}"), 405, "MethodNotAllowed", text);
    assert_status(api_post(a, "/api/v1/configmaps", "{}"), 405, "MethodNotAllowed", text);
    assert_status(api_put(a, MAPS, "{}"), 405, "MethodNotAllowed", text);
}

static void create_in_missing_namespace_returns_404(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(api_post(a, "/api/v1/namespaces/nowhere/configmaps", "{'metadata':{'name':'a'}}"),
                  404, "NotFound", "namespaces \"nowhere\" not found");
}

TESTS(created_object_is_readable, created_object_survives_restart,
      create_of_existing_name_returns_already_exists, name_is_generated_from_generate_name,
      name_takes_precedence_over_generate_name, create_without_name_is_invalid,
      dry_run_stores_nothing, create_with_resource_version_is_refused,
      namespace_of_body_must_match_path, post_to_an_object_returns_405,
      create_in_missing_namespace_returns_404)
