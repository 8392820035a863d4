/* SPDX-License-Identifier: Apache-2.0 */
/* portable.c: a server in portable mode does not serve kinds that are marked as not portable. */
#include "api_testing.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define BOTS "/apis/example.com/v1/bots"

#define BOT_DEFINITION                                                                           \
    "{'metadata':{'name':'bots.example.com','annotations':{'kubecontroller.io/not-portable':"    \
    "'true'}},'spec':{'group':'example.com','scope':'Cluster','names':{'plural':'bots','kind':"  \
    "'Bot'},'versions':[{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{" \
    "'type':'object'}}}]}}"

static void kind_marked_as_not_portable_is_neither_served_nor_listed(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.server = {.portable = true}});
    assert_code(api_post(a, CRDS, BOT_DEFINITION), 201);
    assert_code(api_get(a, BOTS), 404);
    assert_code(api_get(a, "/apis/example.com"), 404);
    assert_null(strstr(api_get(a, "/apis")->body, "example.com"));
    assert_code(api_patch(a, CRDS "/bots.example.com",
                          "{'metadata':{'annotations':{'kubecontroller.io/not-portable':null}}}"),
                200);
    for (int i = 0; i < 6000 && api_get(a, BOTS)->status != 200; i++)
        kc_clock_sleep(kc_clock_real(), 10 * KC_MILLISECOND);
    assert_code(api_get(a, BOTS), 200);
}

static void other_servers_serve_it(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_post(a, CRDS, BOT_DEFINITION), 201);
    for (int i = 0; i < 6000 && api_get(a, BOTS)->status != 200; i++)
        kc_clock_sleep(kc_clock_real(), 10 * KC_MILLISECOND);
    assert_code(api_get(a, BOTS), 200);
}

TESTS(kind_marked_as_not_portable_is_neither_served_nor_listed, other_servers_serve_it)
