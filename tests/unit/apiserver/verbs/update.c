/* SPDX-License-Identifier: Apache-2.0 */
/* update.c: PUT. */
#include "api_testing.h"

#define MAPS "/api/v1/namespaces/default/configmaps"
#define MODIFIED                                                                               \
    "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please " \
    "apply your changes to the latest version and try again"

static const reply *make(api *a)
{
    return api_post(a, MAPS, "{'metadata':{'name':'a'},'data':{'k':'v'}}");
}

static void update_replaces_the_object(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *old = make(a);
    const reply *r = api_put(a, MAPS "/a", "{'metadata':{'name':'a'},'data':{'x':'y'}}");
    assert_code(r, 200);
    assert_at(r, "data", "{\"x\":\"y\"}");
    assert_at(r, "metadata.uid", r_text(old, "metadata.uid"));
    assert_at(r, "metadata.creationTimestamp", r_text(old, "metadata.creationTimestamp"));
    assert_string_not_equal(r_text(r, "metadata.resourceVersion"),
                            r_text(old, "metadata.resourceVersion"));
}

static void update_without_changes_is_not_written(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *old = make(a);
    static const char *const same[] = {
        "{'metadata':{'name':'a'},'data':{'k':'v'}}",
        "{'data':{'k':'v'},'metadata':{'annotations':{},'name':'a'},'binaryData':null}",
    };
    for (size_t i = 0; i < KC_COUNT(same); i++)
        assert_string_equal(api_put(a, MAPS "/a", same[i])->body, old->body);
}

static void update_with_stale_resource_version_returns_conflict(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *old = make(a);
    const char *body = text(a, "{'metadata':{'name':'a','resourceVersion':'%s'},'data':{'n':'1'}}",
                            r_text(old, "metadata.resourceVersion"));
    assert_code(api_put(a, MAPS "/a", body), 200);
    const reply *r = api_put(a, MAPS "/a", body);
    assert_status(r, 409, "Conflict", MODIFIED);
    assert_at(r, "details", "{\"name\":\"a\",\"kind\":\"configmaps\"}");
}

static void invalid_resource_version_is_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const char *version = r_text(make(a), "metadata.resourceVersion");
    static const char body[] =
        "{'metadata':{'name':'a','resourceVersion':'%s%s'},'data':{'n':'1'}}";
    assert_code(api_put(a, MAPS "/a", text(a, body, "00", version)), 200);
    assert_status(api_put(a, MAPS "/a", text(a, body, "x", "")), 500, "",
                  "strconv.ParseUint: parsing \"x\": invalid syntax");
}

static void update_with_another_uid_returns_conflict(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *old = make(a);
    const reply *r = api_put(a, MAPS "/a", "{'metadata':{'name':'a','uid':'x'}}");
    assert_status(r, 409, "Conflict",
                  text(a,
                       "Operation cannot be fulfilled on configmaps \"a\": StorageError: invalid "
                       "object, Code: 4, Key: /registry/configmaps/default/a, ResourceVersion: 0, "
                       "AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in "
                       "object meta: %s",
                       r_text(old, "metadata.uid")));
}

static void name_of_body_must_match_path(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a);
    assert_status(api_put(a, MAPS "/a", "{'metadata':{'name':'b'}}"), 400, "BadRequest",
                  "the name of the object (b) does not match the name on the URL (a)");
    assert_status(api_put(a, MAPS "/a", "{}"), 400, "BadRequest",
                  "the name of the object (a based on URL) was undeterminable: name must be "
                  "provided");
}

static void update_of_missing_object_returns_404(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(api_put(a, MAPS "/a", "{'metadata':{'name':'a'}}"), 404, "NotFound",
                  "configmaps \"a\" not found");
}

static void dry_run_changes_nothing(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *old = make(a);
    const reply *r = api_put(a, MAPS "/a?dryRun=All", "{'metadata':{'name':'a'},'data':{'x':'y'}}");
    assert_code(r, 200);
    assert_at(r, "data", "{\"x\":\"y\"}");
    assert_string_equal(api_get(a, MAPS "/a")->body, old->body);
}

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/default/leases"

static void put_of_missing_lease_creates_it(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_put(a, LEASES "/l", "{'metadata':{'name':'l'}}"), 201);
    assert_status(api_put(a, LEASES "/l", "{'metadata':{'name':'l'}}"), 422, "Invalid",
                  "leases.coordination.k8s.io \"l\" is invalid: metadata.resourceVersion: Invalid "
                  "value: 0: must be specified for an update");
    assert_code(api_put(a, LEASES "/m", "{'metadata':{'name':'m','uid':'x'}}"), 409);
}

static void only_one_of_concurrent_updates_succeeds(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *old = make(a);
    int won = 0;
    for (int i = 0; i < 10; i++)
        won += api_put(a, MAPS "/a",
                       text(a, "{'metadata':{'name':'a','resourceVersion':'%s'},'data':{'n':'%d'}}",
                            r_text(old, "metadata.resourceVersion"), i))
                   ->status == 200;
    assert_int_equal(won, 1);
}

TESTS(update_replaces_the_object, update_without_changes_is_not_written,
      update_with_stale_resource_version_returns_conflict, invalid_resource_version_is_refused,
      update_with_another_uid_returns_conflict, name_of_body_must_match_path,
      update_of_missing_object_returns_404, dry_run_changes_nothing,
      put_of_missing_lease_creates_it, only_one_of_concurrent_updates_succeeds)
