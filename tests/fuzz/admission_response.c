/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the response of an admission webhook, of either kind and in either version. A valid
 * response allows the request, or denies it with a Status that is JSON and has a failure code; a
 * validating webhook changes nothing. The first byte selects the kind and the version.
 */
#include "fuzzing.h"

#include "apiserver/admission/chain/admission_review.h"
#include "kc/json_patch.h"

static void check_denial(const kc__admission_response *answer)
{
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&answer->status), NULL, NULL);
    assert(view && kc_value_type(kc_view_root(view)) == KC_JSON_OBJECT);
    assert(answer->denial.code >= 400 && answer->denial.code < 600);
    assert(kc_value_as_i64_or(kc_value_get(kc_view_root(view), "code"), 0) == answer->denial.code);
    assert(*kc_error_text(&answer->denial));
}

static void try_patch(const kc__admission_response *answer)
{
    kc_auto(kc_json_patch) *patch = kc_json_patch_parse(kc_buf_str(&answer->patch), NULL, NULL);
    kc_auto(kc_edit) *edit = kc_edit_new();
    if (patch && kc_json_patch_apply(patch, edit, NULL) == 0)
        kc_object_unref(kc_edit_freeze(edit, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_scoped(kc_error) err = {0};
    kc__admission_response answer = {0};
    const unsigned who = size ? data[0] - '0' : 0;
    const kc__admission_review_origin from = {
        .hook = KC_STR("a.x.io"), .uid = KC_STR("u"), .mutates = who & 1, .beta = who & 2};
    const kc_str body = kc_str_of((const char *)data + (size > 0), size - (size > 0));
    if (kc__admission_review_read(body, &from, &answer, &err) < 0) {
        assert(err.reason);
        return 0;
    }
    assert(from.mutates || !answer.patch.n);
    assert(answer.annotations.n % 2 == 0);
    if (!answer.allowed)
        check_denial(&answer);
    try_patch(&answer);
    kc__admission_response_done(&answer);
    return 0;
}
