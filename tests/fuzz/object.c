/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.c: the fast scanner compared with the complete parser. For any bytes: both accept or both
 * refuse; they write the same text; the written text is accepted again and does not change; it is
 * what its view writes; a splice agrees with parsing its result.
 */
#include "fuzzing.h"

#include "kc/edit.h"

static void splices_hold(const kc_object *object)
{
    kc_auto(kc_object) *spliced = kc_object_with_revision(object, 42);
    kc_auto(kc_object) *parsed = kc_object_parse(kc_object_json(spliced), NULL, NULL);
    assert(parsed && kc_object_revision(parsed) == 42 && kc_object_revision(spliced) == 42);
    assert(kc_str_eq(kc_object_name(parsed), kc_object_name(spliced)));
    assert(kc_str_eq(kc_object_labels_json(parsed), kc_object_labels_json(spliced)));
    kc_auto(kc_object) *other = kc_object_with_api_version(spliced, KC_STR("example.io/v1"));
    kc_auto(kc_object) *again = kc_object_parse(kc_object_json(other), NULL, NULL);
    assert(again && kc_str_eq(kc_object_api_version(again), KC_STR("example.io/v1")));
    assert(kc_str_eq(kc_object_uid(again), kc_object_uid(other)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str text = kc_str_of((const char *)data, size);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *object = kc_object_parse(text, NULL, &err);
    kc_auto(kc_view) *view = kc_view_parse(text, NULL, NULL);
    if (!object) {
        assert(err.reason && kc_value_type(kc_view_root(view)) != KC_JSON_OBJECT);
        return 0;
    }
    assert(kc_value_type(kc_view_root(view)) == KC_JSON_OBJECT);

    kc_scoped(kc_buf) written = {0};
    kc_json_write(&written, kc_view_root(view));
    assert(kc_str_eq(kc_buf_str(&written), kc_object_json(object)));

    kc_auto(kc_object) *again = kc_object_parse(kc_object_json(object), NULL, NULL);
    assert(again && kc_str_eq(kc_object_json(again), kc_object_json(object)));

    kc_auto(kc_view) *own = kc_view_of(object);
    kc_scoped(kc_buf) own_text = {0};
    kc_json_write(&own_text, kc_view_root(own));
    assert(kc_str_eq(kc_buf_str(&own_text), kc_object_json(object)));

    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_auto(kc_object) *frozen = kc_edit_freeze(edit, NULL);
    assert(frozen && kc_str_eq(kc_object_json(frozen), kc_object_json(object)));
    splices_hold(object);
    return 0;
}
