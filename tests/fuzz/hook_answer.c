/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what an admission webhook answers, of either kind and in either version. An answer
 * that is taken allows, or refuses with a Status that is JSON and a code of failure; what only
 * validates changes nothing. The first byte says who was asked.
 */
#include "fuzzing.h"

#include "apiserver/admission/review.h"
#include "kc/json_patch.h"

static void check_denial(const kc__hook_answer *answer)
{
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&answer->status), NULL, NULL);
    assert(view && kc_type_of(kc_view_root(view)) == KC_OBJECT);
    assert(answer->denial.code >= 400 && answer->denial.code < 600);
    assert(kc_as_i64_or(kc_get(kc_view_root(view), "code"), 0) == answer->denial.code);
    assert(*kc_error_text(&answer->denial));
}

static void try_patch(const kc__hook_answer *answer)
{
    kc_auto(kc_json_patch) *patch = kc_json_patch_parse(kc_buf_str(&answer->patch), NULL, NULL);
    kc_auto(kc_edit) *edit = kc_edit_new();
    if (patch && kc_json_patch_apply(patch, edit, NULL) == 0)
        kc_object_unref(kc_edit_freeze(edit, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_scoped(kc_error) err = {0};
    kc__hook_answer answer = {0};
    const unsigned who = size ? data[0] - '0' : 0;
    const kc__hook_from from = {
        .hook = KC_STR("a.x.io"), .uid = KC_STR("u"), .mutates = who & 1, .beta = who & 2};
    const kc_str body = kc_str_of((const char *)data + (size > 0), size - (size > 0));
    if (kc__hook_review_read(body, &from, &answer, &err) < 0) {
        assert(err.reason);
        return 0;
    }
    assert(from.mutates || !answer.patch.n);
    assert(answer.annotations.n % 2 == 0);
    if (!answer.allowed)
        check_denial(&answer);
    try_patch(&answer);
    kc__hook_answer_done(&answer);
    return 0;
}
