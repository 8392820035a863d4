/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extraction from objects of a kube-apiserver v1.34.1 gives what apimachinery's ExtractInto gives.
 * scripts/compare-extract recorded the cases. The schemas are those of this server.
 */
#include "client_testing.h"

#include "kc/extract_applied.h"
#include "object/fields/fields_typed.h"

#define RECORDED "conformance/extract-cases.jsonl"

static kc_object *object_of_value(const kc_value *value)
{
    kc_scoped(kc_buf) text = {0};
    kc_json_write(&text, value);
    return kc_object_parse(kc_buf_str(&text), NULL, NULL);
}

static void check_recorded_case(bench *b, const kc_value *test)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *object = object_of_value(kc_value_get(test, "object"));
    const kc_value *expected = kc_value_get(test, "extracted");
    const kc_extract_opts opts = {
        .field_manager = kc_value_as_cstr(kc_value_get(test, "manager"), ""),
        .subresource = kc_value_as_cstr(kc_value_get(test, "subresource"), "")};
    kc_auto(kc_object) *got = kc_extract_applied(b->client, object, &opts, &err);
    if (kc_value_get(expected, "error")) {
        assert_null(got);
        return;
    }
    if (!got)
        fail_msg("%s", kc_error_text(&err));
    kc_auto(kc_view) *view = kc_view_of(got);
    kc_scoped(kc_buf) text = {0};
    kc_json_write(&text, expected);
    if (!kc__fields_equal(kc_view_root(view), expected))
        fail_msg("%.*s\nis not\n%s", KC_ARG(kc_object_json(got)), kc_buf_cstr(&text));
}

static void recorded_cases_give_upstreams_results(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    FILE *file = fopen(RECORDED, "r");
    char *line = NULL;
    size_t size = 0, count = 0;
    ssize_t n;
    assert_non_null(file);
    while ((n = getline(&line, &size, file)) > 0) {
        kc_auto(kc_view) *view = kc_view_parse(kc_str_of(line, (size_t)n), NULL, NULL);
        assert_non_null(view);
        check_recorded_case(b, kc_view_root(view));
        count++;
    }
    assert_true(count >= 100);
    free(line);
    fclose(file);
}

TESTS(recorded_cases_give_upstreams_results)
