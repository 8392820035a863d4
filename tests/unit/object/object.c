/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

static void metadata_is_found_without_parsing_the_rest(void **state)
{
    (void)state;
    kc_auto(kc_object) *pod = object_of(
        " { 'kind' : 'Pod', 'apiVersion':'v1', 'metadata' : {'name':'web', 'namespace':'prod', "
        "'labels': {'app' : 'x'}, 'generation': 3, 'resourceVersion':'17'}, 'spec': {} } ");
    assert_str(kc_object_kind(pod), "Pod");
    assert_str(kc_object_name(pod), "web");
    assert_str(kc_object_namespace(pod), "prod");
    assert_str(kc_object_labels_json(pod), "{\"app\":\"x\"}");
    assert_int_equal(kc_object_generation(pod), 3);
    assert_int_equal(kc_object_revision(pod), 17);
    assert_str(kc_object_uid(pod), "");
}

static void the_text_of_an_object_is_compact(void **state)
{
    (void)state;
    kc_auto(kc_object) *o = object_of("{ 'a' : [ 1 , 2.50, 1e2 ],\n 'b' : 'x\\u0041' }");
    assert_object_json(o, "{\"a\":[1,2.5,100],\"b\":\"xA\"}");
}

TESTS(metadata_is_found_without_parsing_the_rest, the_text_of_an_object_is_compact)
