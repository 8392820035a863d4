/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builtin.c: CRDs in built-in groups are refused. One that an older version has stored is not
 * served, and its deletion does not affect built-in objects.
 */
#include "api_testing.h"

#include "apiserver/kinds/key_layout.h"
#include "apiserver/storage/stored_key.h"
#include "kc/thread.h"

#include <unistd.h>

#define CRDS  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define ROLES "/apis/rbac.authorization.k8s.io/v1/clusterroles"

static const char *definition(api *a, const char *group, const char *plural, const char *more)
{
    return text(
        a,
        "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition',"
        "'metadata':{'name':'%s.%s','annotations':{'api-approved.kubernetes.io':"
        "'unapproved, a test'}%s},'spec':{'group':'%s','scope':'Cluster','names':{'plural':"
        "'%s','singular':'thing','kind':'Thing','listKind':'ThingList'},'versions':[{'name':"
        "'v9','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object'}}}]"
        "},'status':{'acceptedNames':{'plural':'%s','kind':'Thing'},'conditions':[{'type':"
        "'NamesAccepted','status':'True'},{'type':'Established','status':'True'}],"
        "'storedVersions':['v9']}}",
        plural, group, more, group, plural, plural);
}

/* ---- objects stored by an older version ---- */

typedef struct storing {
    kc__store_write write;
    kc_latch latch;
} storing;

static void stored(kc__store_write *write)
{
    storing *s = kc_container_of(write, storing, write);
    assert_int_equal(write->outcome, KC__STORAGE_STORED);
    kc_object_unref(write->result);
    kc_latch_count_down(&s->latch);
}

/* Past all validation. */
static void store(api *a, kc_str prefix, const char *key, const char *json)
{
    kc__rest_api *inside = api_inside(a);
    kc_auto(kc_object) *object = object_of(json);
    storing s = {.write = {.cache = kc__store_watch_cache(inside->store, prefix),
                           .verb = KC__STORAGE_PUT,
                           .key = kc_cstr(key),
                           .expected = KC__STORAGE_ANY,
                           .object = object,
                           .loop = inside->contexts[0].loop,
                           .done = stored}};
    kc_latch_init(&s.latch);
    kc_latch_add(&s.latch, 1);
    kc__store_submit(inside->store, &s.write);
    kc_latch_wait(&s.latch);
    kc_latch_done(&s.latch);
}

static void store_crd(api *a, const char *group, const char *plural, const char *more)
{
    store(a, kc__resource_key_builtin_prefix("apiextensions.k8s.io", "customresourcedefinitions"),
          text(a, "%s.%s", plural, group), definition(a, group, plural, more));
}

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

static void make_role(api *a, const char *name)
{
    assert_code(api_post(a, ROLES,
                         text(a,
                              "{'kind':'ClusterRole','apiVersion':'rbac.authorization.k8s.io/v1',"
                              "'metadata':{'name':'%s'},'rules':[]}",
                              name)),
                201);
}

/* ---- refusing ---- */

static void crd_in_built_in_group_is_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const struct {
        const char *group, *plural;
    } bad[] = {
        {"rbac.authorization.k8s.io", "clusterroles"},
        {"rbac.authorization.k8s.io", "widgets"},
        {"apiextensions.k8s.io", "customresourcedefinitions"},
        {"apiregistration.k8s.io", "apiservices"},
    };
    for (size_t i = 0; i < KC_COUNT(bad); i++) {
        const reply *r = api_post(a, CRDS, definition(a, bad[i].group, bad[i].plural, ""));
        assert_code(r, 422);
        assert_at(r, "details.causes[0].field", "spec.group");
        assert_at(r, "details.causes[0].message",
                  text(a,
                       "Invalid value: \"%s\": must not be a group that is served by built-in "
                       "APIs",
                       bad[i].group));
    }
    assert_code(api_post(a, CRDS, definition(a, "apps", "deployments", "")), 422);
    assert_int_equal(r_count(api_get(a, CRDS), "items"), 0);
}

/* ---- stored objects ---- */

static void stored_crd_in_built_in_group_is_not_served(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    store_crd(a, "rbac.authorization.k8s.io", "clusterroles", "");
    const char *name = CRDS "/clusterroles.rbac.authorization.k8s.io";
    const reply *r = wait_for(a, name, "status.conditions[1].status", "False");
    assert_at(r, "status.conditions[0].status", "False");
    assert_at(r, "status.conditions[0].reason", "GroupConflict");
    assert_code(api_get(a, "/apis/rbac.authorization.k8s.io/v9/clusterroles"), 404);
    assert_int_equal(r_count(api_get(a, "/apis/rbac.authorization.k8s.io"), "versions"), 1);
    assert_code(api_patch(a, name, "{'metadata':{'labels':{'a':'b'}}}"), 200);
    api_restart(a);
    assert_code(api_get(a, "/apis/rbac.authorization.k8s.io/v9/clusterroles"), 404);
}

static void deleting_stored_crd_keeps_built_in_objects(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make_role(a, "admin");
    store_crd(a, "rbac.authorization.k8s.io", "clusterroles", "");
    store_crd(a, "apiextensions.k8s.io", "customresourcedefinitions", "");
    store_crd(a, "x.example.com", "things", "");
    wait_for(a, "/apis/x.example.com/v9", "kind", "APIResourceList");
    assert_code(api_delete(a, CRDS "/clusterroles.rbac.authorization.k8s.io", NULL), 200);
    assert_code(api_delete(a, CRDS "/customresourcedefinitions.apiextensions.k8s.io", NULL), 200);
    wait_for(a, CRDS "/clusterroles.rbac.authorization.k8s.io", "code", "404");
    wait_for(a, CRDS "/customresourcedefinitions.apiextensions.k8s.io", "code", "404");
    assert_string_equal(r_names(api_get(a, ROLES)), "admin");
    assert_string_equal(r_names(api_get(a, CRDS)), "things.x.example.com");
}

/* An older version was stopped in the middle of it. */
static void resumed_crd_deletion_keeps_built_in_objects(void **state)
{
    (void)state;
    static const char dying[] = ",'deletionTimestamp':'2026-01-02T03:04:05Z','finalizers':["
                                "'customresourcecleanup.apiextensions.k8s.io']";
    kc_auto(api) *a = api_start(NULL);
    make_role(a, "admin");
    store_crd(a, "apiextensions.k8s.io", "customresourcedefinitions", dying);
    store_crd(a, "rbac.authorization.k8s.io", "clusterroles", dying);
    store_crd(a, "x.example.com", "things", "");
    wait_for(a, CRDS "/clusterroles.rbac.authorization.k8s.io", "code", "404");
    wait_for(a, CRDS "/customresourcedefinitions.apiextensions.k8s.io", "code", "404");
    assert_string_equal(r_names(api_get(a, ROLES)), "admin");
    assert_string_equal(r_names(api_get(a, CRDS)), "things.x.example.com");
}

static void deleting_stored_crd_deletes_its_own_objects(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const kc_str prefix = KC_STR(KC__STORAGE_KEY_ROOT "rbac.authorization.k8s.io/widgets/");
    kc__watch_cache *widgets = kc__store_watch_cache(api_inside(a)->store, prefix);
    store(a, prefix, "w",
          "{'kind':'Thing','apiVersion':'rbac.authorization.k8s.io/v9','metadata':{'name':'w',"
          "'finalizers':['example.com/held']}}");
    store_crd(a, "rbac.authorization.k8s.io", "widgets", "");
    const char *name = CRDS "/widgets.rbac.authorization.k8s.io";
    wait_for(a, name, "status.conditions[1].status", "False");
    assert_code(api_delete(a, name, NULL), 200);
    wait_for(a, name, "code", "404");
    assert_null(kc__watch_cache_get(widgets, KC_STR("w")));
}

TESTS(crd_in_built_in_group_is_refused, stored_crd_in_built_in_group_is_not_served,
      deleting_stored_crd_keeps_built_in_objects, resumed_crd_deletion_keeps_built_in_objects,
      deleting_stored_crd_deletes_its_own_objects)
