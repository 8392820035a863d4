/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed.c: any JSON as an object of a kind with every kind of field. What comes out is a fixed
 * point with nothing unknown or doubled in it, and whoever finds nothing to complain about in the
 * text found nothing unknown in the object.
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
    kc__typed_complaints(&thing, kc_object_json(typed), &complaints);
    assert(complaints.n == 0);
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
    kc__typed_complaints(&thing, text, &complaints);
    assert(complaints.n >= unknown.n);
    if (typed)
        check_result(typed);
    else
        assert(err.reason == KC_BAD_REQUEST || err.reason == KC_TOO_LARGE);
    return 0;
}
