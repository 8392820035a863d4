/* SPDX-License-Identifier: Apache-2.0 */
/* unrestricted_update.c: with --unrestricted-update an update of an object writes its status. */
#include "api_testing.h"

#define NODES "/api/v1/nodes"
#define CRDS  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define BOTS  "/apis/example.com/v1/bots"

#define BOT(rest) "{'apiVersion':'example.com/v1','kind':'Bot','metadata':{'name':'a'}" rest "}"

static api *start_unrestricted(bool unrestricted)
{
    api *a = api_start(&(api_opts){.server = {.unrestricted_update = unrestricted}});
    assert_code(
        api_post(a, CRDS,
                 "{'metadata':{'name':'bots.example.com'},'spec':{'group':'example.com',"
                 "'scope':'Cluster','names':{'plural':'bots','kind':'Bot'},'versions':[{"
                 "'name':'v1','served':true,'storage':true,'subresources':{'status':{}},"
                 "'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':"
                 "'object','properties':{'n':{'type':'integer'}}},'status':{'type':'object',"
                 "'properties':{'n':{'type':'integer'}}}}}}}]}}"),
        201);
    for (int i = 0; i < 6000 && api_get(a, BOTS)->status != 200; i++)
        kc_clock_sleep(kc_clock_real(), 10 * KC_MILLISECOND);
    assert_code(api_post(a, BOTS, BOT(",'spec':{'n':1}")), 201);
    assert_code(api_post(a, NODES, "{'metadata':{'name':'n'}}"), 201);
    return a;
}

static void put_and_patch_change_spec_and_status_together(void **state)
{
    (void)state;
    kc_auto(api) *a = start_unrestricted(true);
    const reply *r = api_patch(a, BOTS "/a", "{'spec':{'n':2},'status':{'n':7}}");
    assert_code(r, 200);
    assert_at(r, "spec.n", "2");
    assert_at(r, "status.n", "7");
    const char *version = r_text(r, "metadata.resourceVersion");
    r = api_put(a, BOTS "/a",
                text(a,
                     "{'apiVersion':'example.com/v1','kind':'Bot','metadata':{'name':'a',"
                     "'resourceVersion':'%s'},'spec':{'n':3},'status':{'n':8}}",
                     version));
    assert_code(r, 200);
    assert_at(r, "status.n", "8");
    r = api_patch(a, NODES "/n", "{'metadata':{'labels':{'a':'b'}},'status':{'phase':'Running'}}");
    assert_code(r, 200);
    assert_at(r, "status.phase", "Running");
    assert_at(r, "metadata.labels.a", "b");
}

static void object_without_status_keeps_the_stored_one(void **state)
{
    (void)state;
    kc_auto(api) *a = start_unrestricted(true);
    const reply *r = api_patch(a, BOTS "/a", "{'status':{'n':7}}");
    r = api_put(a, BOTS "/a",
                text(a,
                     "{'apiVersion':'example.com/v1','kind':'Bot','metadata':{'name':'a',"
                     "'resourceVersion':'%s'},'spec':{'n':3}}",
                     r_text(r, "metadata.resourceVersion")));
    assert_code(r, 200);
    assert_at(r, "status.n", "7");
}

static void invalid_status_is_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = start_unrestricted(true);
    assert_code(api_patch(a, BOTS "/a", "{'status':{'n':'seven'}}"), 422);
}

static void without_the_flag_an_update_leaves_the_status(void **state)
{
    (void)state;
    kc_auto(api) *a = start_unrestricted(false);
    const reply *r = api_patch(a, BOTS "/a", "{'spec':{'n':2},'status':{'n':7}}");
    assert_code(r, 200);
    assert_at(r, "spec.n", "2");
    assert_at(r, "status.n", "");
}

TESTS(put_and_patch_change_spec_and_status_together, object_without_status_keeps_the_stored_one,
      invalid_status_is_refused, without_the_flag_an_update_leaves_the_status)
