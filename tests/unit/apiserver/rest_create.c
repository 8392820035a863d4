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
    const reply *again = api_get(a, MAPS "/a");
    assert_string_equal(again->body, r->body);
}

TESTS(an_object_is_created_and_read_back)
