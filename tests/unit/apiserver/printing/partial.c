/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/printing/partial.h"
#include "testing.h"

#define ITEM                                                                 \
    "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\"," \
    "\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"y\"}}}"

static kc_object *sample(void)
{
    return object_of("{'apiVersion':'v1','kind':'ConfigMap',"
                     "'metadata':{'name':'a','labels':{'x':'y'}},'data':{'k':'v'}}");
}

static void partial_object_has_metadata_only(void **state)
{
    (void)state;
    kc_auto(kc_object) *object = sample();
    kc_scoped(kc_buf) out = {0};
    kc__print_partial_write(&out, object, KC__PRINT_META_V1);
    assert_str(kc_buf_str(&out), ITEM);
}

static void v1beta1_differs_in_api_version(void **state)
{
    (void)state;
    kc_auto(kc_object) *object = sample();
    kc_scoped(kc_buf) out = {0};
    kc__print_partial_write(&out, object, KC__PRINT_META_V1BETA1);
    assert_contains(kc_buf_cstr(&out), "\"apiVersion\":\"meta.k8s.io/v1beta1\"");
}

static void object_without_metadata_has_an_empty_one(void **state)
{
    (void)state;
    kc_auto(kc_object) *object = object_of("{'apiVersion':'v1','kind':'Binding'}");
    kc_scoped(kc_buf) out = {0};
    kc__print_partial_write(&out, object, KC__PRINT_META_V1);
    assert_str(kc_buf_str(&out), "{\"kind\":\"PartialObjectMetadata\","
                                 "\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{}}");
}

static void list_is_written_item_by_item(void **state)
{
    (void)state;
    kc_auto(kc_object) *object = sample();
    kc_scoped(kc_buf) out = {0};
    kc__print_partial_list list = {0};
    kc__print_partial_list_begin(&list, &out, &(kc__print_list_meta){.revision = 7});
    kc__print_partial_list_item(&list, &out, object);
    kc__print_partial_list_item(&list, &out, object);
    kc__print_partial_list_end(&list, &out);
    assert_str(kc_buf_str(&out),
               "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\","
               "\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[" ITEM "," ITEM "]}");
}

static void empty_list_has_null_items(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    kc__print_partial_list list = {.version = KC__PRINT_META_V1BETA1};
    kc__print_partial_list_begin(&list, &out, NULL);
    kc__print_partial_list_end(&list, &out);
    assert_str(kc_buf_str(&out),
               "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1beta1\","
               "\"metadata\":{},\"items\":null}");
}

static void list_metadata_has_continue_token_and_remaining_count(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    kc__print_list_meta_write(&out, &(kc__print_list_meta){.revision = UINT64_MAX,
                                                           .continue_token = KC_STR("a\"b"),
                                                           .remaining = 3});
    assert_str(kc_buf_str(&out), "{\"resourceVersion\":\"18446744073709551615\","
                                 "\"continue\":\"a\\\"b\",\"remainingItemCount\":3}");
    kc_buf_clear(&out);
    kc__print_list_meta_write(&out, &(kc__print_list_meta){.continue_token = KC_STR("t")});
    assert_str(kc_buf_str(&out), "{\"continue\":\"t\"}");
    kc_buf_clear(&out);
    kc__print_list_meta_write(&out, &(kc__print_list_meta){.remaining = 1});
    assert_str(kc_buf_str(&out), "{\"remainingItemCount\":1}");
}

static void two_versions_are_parsed(void **state)
{
    (void)state;
    kc__print_meta_version version = KC__PRINT_META_V1BETA1;
    assert_true(kc__print_meta_version_parse(KC_STR("v1"), &version));
    assert_int_equal(version, KC__PRINT_META_V1);
    assert_true(kc__print_meta_version_parse(KC_STR("v1beta1"), &version));
    assert_int_equal(version, KC__PRINT_META_V1BETA1);
    assert_false(kc__print_meta_version_parse(KC_STR("v2"), &version));
    assert_false(kc__print_meta_version_parse(KC_STR(""), &version));
    assert_int_equal(version, KC__PRINT_META_V1BETA1);
}

TESTS(partial_object_has_metadata_only, v1beta1_differs_in_api_version,
      object_without_metadata_has_an_empty_one, list_is_written_item_by_item,
      empty_list_has_null_items, list_metadata_has_continue_token_and_remaining_count,
      two_versions_are_parsed)
