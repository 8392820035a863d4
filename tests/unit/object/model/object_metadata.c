/* SPDX-License-Identifier: Apache-2.0 */
/* object_metadata.c: other metadata in an object and in a view. The result is compared with that of
 * parsing the whole text. */
#include "kc/diff.h"
#include "object/model/canonical.h"
#include "object/model/object_internal.h"
#include "testing.h"

#define OWNERS "[{\"manager\":\"a\",\"fieldsV1\":{\"k:{\\\"name\\\":\\\"x\\\"}\":{}}}]"

static void assert_parts_as_parsed(const kc_object *object)
{
    kc__object_span parts[KC__N_PARTS], parsed[KC__N_PARTS];
    kc_auto(kc_object) *again = kc_object_parse(kc_object_json(object), NULL, NULL);
    assert_non_null(again);
    assert_true(kc_str_eq(kc_object_json(object), kc_object_json(again)));
    kc__object_parts_unpack(object, parts);
    kc__object_parts_unpack(again, parsed);
    for (int i = 0; i < KC__N_PARTS; i++) {
        assert_int_equal(parts[i].at, parsed[i].at);
        assert_int_equal(parts[i].n, parsed[i].n);
    }
    assert_int_equal(object->has, again->has);
}

static void metadata_is_replaced_as_if_parsed(void **state)
{
    (void)state;
    static const char *const objects[] = {
        "{'metadata':{'name':'a'}}",
        "{'metadata':{},'kind':'A','apiVersion':'v1'}",
        "{'kind':'A','metadata':{'name':'a','uid':'u','managedFields':[{}]},'apiVersion':'v1'}",
        "{'apiVersion':'v1','kind':'A','metadata':{'labels':{'a':'b'}},'spec':{'a':[1,2.5,null]}}",
        "{'apiVersion':7,'kind':'A','metadata':{'uid':7},'spec':{}}",
        "{'apiVersion':'v\\n1','kind':'A','metadata':{'name':'x\\ty'}}",
    };
    static const char *const metadata[] = {
        "{}",
        "{\"name\":\"b\"}",
        "{\"name\":\"b\",\"namespace\":\"n\",\"uid\":\"u\",\"generation\":3,\"labels\":{\"x\":\"y\"}}",
        "{\"name\":\"with \\\"escapes\\\"\"}",
        "{\"generation\":\"7\",\"ownerReferences\":[{}],\"finalizers\":[]}",
    };
    static const char *const owners[] = {"", "[]", OWNERS};
    for (size_t i = 0; i < KC_COUNT(objects); i++)
        for (size_t j = 0; j < KC_COUNT(metadata); j++)
            for (size_t k = 0; k < KC_COUNT(owners); k++) {
                kc_auto(kc_object) *before = object_of(objects[i]);
                kc_auto(kc_object) *after = kc__object_with_metadata(before, kc_cstr(metadata[j]),
                                                                     kc_cstr(owners[k]), NULL);
                assert_non_null(after);
                assert_str(kc_object_managed_fields_json(after), owners[k]);
                kc_auto(kc_object) *plain = kc_object_without_managed_fields(after);
                assert_str(kc_object_metadata_json(plain), metadata[j]);
                assert_parts_as_parsed(after);
            }
}

static void metadata_that_nests_too_deeply_is_an_error(void **state)
{
    (void)state;
    kc_scoped(kc_buf) deep = {0};
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *object = object_of("{'metadata':{'name':'a'}}");
    kc_buf_puts(&deep, "{\"annotations\":");
    for (unsigned i = 0; i < KC_JSON_MAX_DEPTH - 1; i++)
        kc_buf_putc(&deep, '[');
    for (unsigned i = 0; i < KC_JSON_MAX_DEPTH - 1; i++)
        kc_buf_putc(&deep, ']');
    kc_buf_putc(&deep, '}');
    assert_null(kc__object_with_metadata(object, kc_buf_str(&deep), KC_STR(""), &err));
    assert_error(&err, KC_BAD_REQUEST, "nested too deeply");
}

static void view_with_another_member_equals_parsed_view(void **state)
{
    (void)state;
    kc_view *view = view_of("{'kind':'A','metadata':{'name':'a','labels':{}},'spec':{'l':[1,{}]}}");
    view = kc__object_view_with_member(view, "metadata", KC_STR("{\"uid\":\"u\",\"name\":\"b\"}"));
    kc_auto(kc_view) *again =
        kc__object_view_with_member(view, "metadata", KC_STR("{\"name\":\"c\",\"x\":[[]]}"));
    kc_auto(kc_view) *parsed =
        view_of("{'kind':'A','metadata':{'name':'c','x':[[]]},'spec':{'l':[1,{}]}}");
    assert_true(kc_value_equal(kc_view_root(again), kc_view_root(parsed), NULL));
    assert_int_equal(kc_value_count(kc_view_root(again)), kc_value_count(kc_view_root(parsed)));
    assert_null(kc__object_view_with_member(view_of("{'kind':'A'}"), "metadata", KC_STR("{}")));
    assert_null(kc__object_view_with_member(NULL, "metadata", KC_STR("{}")));
}

static void nulls_and_empty_containers_are_found_at_any_depth(void **state)
{
    (void)state;
    kc_auto(kc_view) *full = view_of("{'a':[{'b':'null'}],'c':{'d':false}}");
    kc_auto(kc_view) *null = view_of("{'a':[{'b':null}]}");
    kc_auto(kc_view) *list = view_of("{'a':[{'b':[]}]}");
    kc_auto(kc_view) *map = view_of("{'a':[{'b':{}}]}");
    assert_false(kc__value_has_null(kc_view_root(full)));
    assert_true(kc__value_has_null(kc_view_root(null)));
    assert_false(kc__value_has_empty(kc_view_root(full)));
    assert_false(kc__value_has_empty(kc_view_root(null)));
    assert_true(kc__value_has_empty(kc_view_root(list)));
    assert_true(kc__value_has_empty(kc_view_root(map)));
}

TESTS(metadata_is_replaced_as_if_parsed, metadata_that_nests_too_deeply_is_an_error,
      view_with_another_member_equals_parsed_view,
      nulls_and_empty_containers_are_found_at_any_depth)
