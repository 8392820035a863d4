/* SPDX-License-Identifier: Apache-2.0 */
/* rest_metadata.c: what a client may say of an object's metadata, and what it may not. */
#include "api_testing.h"

#define MAPS "/api/v1/namespaces/default/configmaps"
#define SETS "/apis/apps/v1/namespaces/default/replicasets"

static void what_only_the_server_decides_is_not_taken_from_a_client(void **state)
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

static void the_time_of_creation_stays(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    api_post(a, MAPS, "{'metadata':{'name':'a'}}");
    const reply *r = api_put(a, MAPS "/a",
                             "{'metadata':{'name':'a','creationTimestamp':'2001-01-01T00:00:00Z'},"
                             "'data':{'k':'v'}}");
    assert_at(r, "metadata.creationTimestamp", "2026-01-02T03:04:05Z");
}

static void nobody_but_a_delete_sets_the_time_of_deletion(void **state)
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

static void a_generation_counts_changes_of_the_spec(void **state)
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

static void kinds_without_a_count_keep_none(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_at(api_post(a, MAPS, "{'metadata':{'name':'a'}}"), "metadata.generation", "");
    assert_at(api_put(a, MAPS "/a", "{'metadata':{'name':'a','generation':7},'data':{'k':'v'}}"),
              "metadata.generation", "");
}

static void the_status_is_not_the_clients_of_the_object(void **state)
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

static void owners_stand_once(void **state)
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

static void finalizers_say_whose_they_are(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(
        api_post(a, MAPS, "{'metadata':{'name':'a','finalizers':['f']}}"), 422, "Invalid",
        "ConfigMap \"a\" is invalid: metadata.finalizers[0]: Invalid value: \"f\": name is "
        "neither a standard finalizer name nor is it fully qualified");
}

static void everything_wrong_is_said_at_once(void **state)
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

static void an_invalid_update_stores_nothing(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *old = api_post(a, MAPS, "{'metadata':{'name':'a'}}");
    assert_code(api_put(a, MAPS "/a", "{'metadata':{'name':'a','labels':{'a b':'c'}}}"), 422);
    assert_string_equal(api_get(a, MAPS "/a")->body, old->body);
}

TESTS(what_only_the_server_decides_is_not_taken_from_a_client, the_time_of_creation_stays,
      nobody_but_a_delete_sets_the_time_of_deletion, a_generation_counts_changes_of_the_spec,
      kinds_without_a_count_keep_none, the_status_is_not_the_clients_of_the_object,
      owners_stand_once, finalizers_say_whose_they_are, everything_wrong_is_said_at_once,
      an_invalid_update_stores_nothing)
