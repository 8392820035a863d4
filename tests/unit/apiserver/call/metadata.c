/* SPDX-License-Identifier: Apache-2.0 */
/* metadata.c: which metadata a client may set. */
#include "api_testing.h"

#define MAPS "/api/v1/namespaces/default/configmaps"
#define SETS "/apis/apps/v1/namespaces/default/replicasets"

static void server_set_metadata_of_a_client_is_ignored(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    const reply *r = api_post(a, MAPS,
                              "{'metadata':{'name':'a','uid':'x','selfLink':'/x',"
                              "'creationTimestamp':'2001-01-01T00:00:00Z',"
                              "'deletionTimestamp':'2001-01-01T00:00:00Z',"
                              "'deletionGracePeriodSeconds':7}}");
    assert_code(r, 201);
    assert_int_equal(strlen(r_text(r, "metadata.uid")), 36);
    assert_at(r, "metadata.creationTimestamp", "2026-01-02T03:04:05Z");
    assert_at(r, "metadata.deletionTimestamp", "");
    assert_at(r, "metadata.deletionGracePeriodSeconds", "");
    assert_at(r, "metadata.selfLink", "");
}

static void creation_timestamp_is_kept_on_update(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    api_post(a, MAPS, "{'metadata':{'name':'a'}}");
    const reply *r = api_put(a, MAPS "/a",
                             "{'metadata':{'name':'a','creationTimestamp':'2001-01-01T00:00:00Z'},"
                             "'data':{'k':'v'}}");
    assert_at(r, "metadata.creationTimestamp", "2026-01-02T03:04:05Z");
}

static void update_of_deletion_timestamp_is_invalid(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_post(a, MAPS, "{'metadata':{'name':'a'}}");
    assert_status(api_put(a, MAPS "/a",
                          "{'metadata':{'name':'a','deletionTimestamp':'2001-01-01T00:00:00Z'}}"),
                  422, "Invalid",
                  "ConfigMap \"a\" is invalid: metadata.deletionTimestamp: Invalid value: "
                  "\"2001-01-01T00:00:00Z\": field is immutable");
}

static void generation_counts_spec_changes(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const char *body = "{'metadata':{'name':'a','generation':9},'spec':{'replicas':%d,'selector':"
                       "{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':'b'}},"
                       "'spec':{'containers':[{'name':'c','image':'i'}]}}}}";
    assert_at(api_post(a, SETS, text(a, body, 1)), "metadata.generation", "1");
    assert_at(api_put(a, SETS "/a", text(a, body, 2)), "metadata.generation", "2");
    assert_at(api_put(a, SETS "/a", text(a, body, 2)), "metadata.generation", "2");
    const reply *r = api_patch(a, SETS "/a", "{'metadata':{'labels':{'x':'y'}}}");
    assert_at(r, "metadata.generation", "2");
    r = api_patch(a, SETS "/a/status", "{'status':{'replicas':2}}");
    assert_at(r, "metadata.generation", "2");
    assert_at(r, "status.replicas", "2");
    r = api_patch(a, SETS "/a", "{'metadata':{'finalizers':['e/f']}}");
    assert_at(api_delete(a, SETS "/a", NULL), "metadata.generation", "3");
}

static void kinds_without_generation_have_none(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_at(api_post(a, MAPS, "{'metadata':{'name':'a'}}"), "metadata.generation", "");
    assert_at(api_put(a, MAPS "/a", "{'metadata':{'name':'a','generation':7},'data':{'k':'v'}}"),
              "metadata.generation", "");
}

static void status_is_ignored_outside_its_subresource(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const char *body =
        "{'metadata':{'name':'a','labels':{'l':'%s'}},'spec':{'selector':"
        "{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':'b'}},"
        "'spec':{'containers':[{'name':'c','image':'i'}]}}},'status':{'replicas':%d}}";
    api_post(a, SETS, text(a, body, "1", 5));
    assert_at(api_get(a, SETS "/a"), "status.replicas", "0");
    const reply *r = api_put(a, SETS "/a/status", text(a, body, "2", 3));
    assert_at(r, "status.replicas", "3");
    r = api_put(a, SETS "/a", text(a, body, "3", 7));
    assert_at(r, "status.replicas", "3");
    assert_at(r, "metadata.labels.l", "3");
}

static void duplicate_owner_references_are_dropped_with_a_warning(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const char *owner = "{'apiVersion':'v1','kind':'Pod','name':'p','uid':'u'}";
    const char *body = text(a, "{'metadata':{'name':'a','ownerReferences':[%s,%s]}}", owner, owner);
    const reply *r = api_post(a, MAPS, body);
    assert_code(r, 201);
    assert_int_equal(r_count(r, "metadata.ownerReferences"), 1);
    assert_contains(r_header(r, "Warning"),
                    ".metadata.ownerReferences contains duplicate entries; ");
    assert_contains(r_header(r, "Warning"), "duplicate UID(s) observed: u\"");
    assert_int_equal(r_count(api_put(a, MAPS "/a", body), "metadata.ownerReferences"), 1);
}

static void unqualified_finalizer_is_invalid(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(
        api_post(a, MAPS, "{'metadata':{'name':'a','finalizers':['f']}}"), 422, "Invalid",
        "ConfigMap \"a\" is invalid: metadata.finalizers[0]: Invalid value: \"f\": name is "
        "neither a standard finalizer name nor is it fully qualified");
}

static void all_validation_errors_are_returned(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r =
        api_post(a, MAPS, "{'metadata':{'name':'A_','labels':{'a b':'c d'}},'data':{'x y':'1'}}");
    assert_code(r, 422);
    assert_at(r, "details.name", "A_");
    assert_at(r, "details.kind", "ConfigMap");
    assert_true(r_count(r, "details.causes") >= 4);
}

static void invalid_update_stores_nothing(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *old = api_post(a, MAPS, "{'metadata':{'name':'a'}}");
    assert_code(api_put(a, MAPS "/a", "{'metadata':{'name':'a','labels':{'a b':'c'}}}"), 422);
    assert_string_equal(api_get(a, MAPS "/a")->body, old->body);
}

TESTS(server_set_metadata_of_a_client_is_ignored, creation_timestamp_is_kept_on_update,
      update_of_deletion_timestamp_is_invalid, generation_counts_spec_changes,
      kinds_without_generation_have_none, status_is_ignored_outside_its_subresource,
      duplicate_owner_references_are_dropped_with_a_warning, unqualified_finalizer_is_invalid,
      all_validation_errors_are_returned, invalid_update_stores_nothing)
