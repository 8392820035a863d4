/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any response of a conversion webhook is read or refused with a message. An object that is
 * accepted has the desired version, and the identity and finalizers of the object that was sent.
 */
#include "fuzzing.h"

#include "apiserver/conversion/conversion_review.h"
#include "kc/json.h"

static const char sent_json[] =
    "{\"apiVersion\":\"x.io/v1\",\"kind\":\"Robot\",\"metadata\":{\"name\":\"a\",\"namespace\":\"n\","
    "\"uid\":\"u\",\"resourceVersion\":\"7\",\"labels\":{\"l\":\"1\"},\"finalizers\":[\"f.io/x\"]}}";

static void check_object(const kc_value *item, const kc_object *sent)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *read = kc__conversion_object_read(item, sent, "x.io/v2", &err);
    assert((read == NULL) == (err.reason != 0));
    if (!read)
        return;
    assert(kc_str_is(kc_object_api_version(read), "x.io/v2"));
    assert(kc_str_eq(kc_object_kind(read), kc_object_kind(sent)));
    assert(kc_str_eq(kc_object_name(read), kc_object_name(sent)));
    assert(kc_str_eq(kc_object_namespace(read), kc_object_namespace(sent)));
    assert(kc_str_eq(kc_object_uid(read), kc_object_uid(sent)));
    assert(kc_str_eq(kc_object_resource_version(read), kc_object_resource_version(sent)));
    assert(kc_str_eq(kc_object_finalizers_json(read), kc_object_finalizers_json(sent)));
}

static void check_response(kc_str body, const char *version)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *sent = kc_object_parse(kc_cstr(sent_json), NULL, NULL);
    kc_auto(kc_view) *view = NULL;
    const kc_value *objects = NULL;
    const kc__conversion_review review = {
        .version = version, .uid = KC_STR("1"), .desired = "x.io/v2", .objects = &sent, .n = 1};
    const kc__conversion_failure failure =
        kc__conversion_review_read(body, &review, &view, &objects, &err);
    assert((failure != KC__CONVERSION_FAILURE_NONE) == (err.reason != 0));
    if (failure)
        return;
    assert(kc_value_len(objects) == 1);
    kc_value_each_item (objects, item)
        check_object(item, sent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const kc_str body = kc_str_of((const char *)data, size);
    check_response(body, "v1");
    check_response(body, "v1beta1");
    return 0;
}
