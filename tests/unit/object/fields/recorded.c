/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded.c: cases of the merge engine with the results of upstream's code, as
 * scripts/compare-fields
 * --record writes them: one {"case":…,"result":…} per line.
 */
#include "fields_cases.h"
#include "object/fields/fields_typed.h"
#include "testing.h"

#include <stdio.h>

#define RECORDED "conformance/fields-cases.jsonl"

/* Messages have several lines in any order, and contexts: only their presence is compared. */
static bool is_text(kc_str name)
{
    static const char *const names[] = {"error",  "strict", "loose", "compare",
                                        "schema", "causes", NULL};
    return kc_str_is_any(name, names);
}

/* FieldsV1 as text, whose members have any order in upstream's unstructured objects. */
static bool same_entries(const kc_value *ours, const kc_value *theirs)
{
    if (kc_value_len(ours) != kc_value_len(theirs))
        return false;
    for (size_t i = 0; i < kc_value_len(ours); i++) {
        const kc_value *a = kc_value_at(ours, i), *b = kc_value_at(theirs, i);
        kc_value_each_member (b, name, value) {
            const kc_value *other = kc_value_get_str(a, name);
            if (!kc_str_is(name, "set") && !kc__fields_equal(other, value))
                return false;
        }
        kc_auto(kc_view) *left = kc_view_parse(kc_value_as_str(kc_value_get(a, "set")), NULL, NULL);
        kc_auto(kc_view) *right =
            kc_view_parse(kc_value_as_str(kc_value_get(b, "set")), NULL, NULL);
        if (!kc__fields_equal(kc_view_root(left), kc_view_root(right)))
            return false;
    }
    return true;
}

static bool same_result(const kc_value *ours, const kc_value *theirs)
{
    if (kc_value_len(ours) != kc_value_len(theirs))
        return false;
    kc_value_each_member (theirs, name, value) {
        const kc_value *other = kc_value_get_str(ours, name);
        bool same = is_text(name)                ? other != NULL
                    : kc_str_is(name, "entries") ? same_entries(other, value)
                                                 : kc__fields_equal(other, value);
        if (!same)
            return false;
    }
    return true;
}

static void recorded_cases_have_upstreams_results(void **state)
{
    (void)state;
    FILE *file = fopen(RECORDED, "r");
    char *line = NULL;
    size_t size = 0, n = 0;
    ssize_t length;
    assert_non_null(file);
    while ((length = getline(&line, &size, file)) > 0) {
        kc_auto(kc_view) *view = kc_view_parse(kc_str_of(line, (size_t)length), NULL, NULL);
        kc_scoped(kc_buf) out = {0};
        n++;
        fields_case_run(&out, kc_value_get(kc_view_root(view), "case"));
        kc_auto(kc_view) *ours = kc_view_parse(kc_buf_str(&out), NULL, NULL);
        if (!same_result(kc_view_root(ours), kc_value_get(kc_view_root(view), "result")))
            fail_msg("line %zu of %s: %s", n, RECORDED, kc_buf_cstr(&out));
    }
    free(line);
    fclose(file);
    assert_true(n >= 200);
}

TESTS(recorded_cases_have_upstreams_results)
