/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed.c: any JSON as an object of a kind with every type of field. The result is canonical, and a
 * fixed point without unknown or duplicate fields, and a text without strict decoding errors has no
 * unknown fields in its object.
 */
#include "fuzzing.h"
#include "typed_testing.h"

static void check_result(const kc_object *typed)
{
    kc_scoped(kc_paths) complaints = {0};
    kc_scoped(kc_paths) unknown = {0};
    kc_auto(kc_object) *again = kc__typed_decode(&thing, typed, &unknown, NULL);
    assert(again == typed);
    assert(unknown.n == 0);
    kc__typed_strict_errors(&thing, kc_object_json(typed), &complaints);
    assert(complaints.n == 0);
    kc_auto(kc_object) *parsed = kc_object_parse(kc_object_json(typed), NULL, NULL);
    assert(parsed && kc_str_eq(kc_object_json(parsed), kc_object_json(typed)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str text = kc_str_of((const char *)data, size);
    the_thing();
    kc_auto(kc_object) *given = kc_object_parse(text, NULL, NULL);
    if (!given)
        return 0;
    kc_scoped(kc_paths) unknown = {0};
    kc_scoped(kc_paths) complaints = {0};
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *typed = kc__typed_decode(&thing, given, &unknown, &err);
    kc__typed_strict_errors(&thing, text, &complaints);
    assert(complaints.n >= unknown.n);
    if (typed)
        check_result(typed);
    else
        assert(err.reason == KC_BAD_REQUEST || err.reason == KC_TOO_LARGE);
    return 0;
}
