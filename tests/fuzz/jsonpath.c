/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first line is a template, the rest the document; without a document a fixed one is used.
 * Evaluating must stay within its limits, and finding and printing must agree on success.
 */
#include "fuzzing.h"

#include "kc/jsonpath.h"

static const char document[] =
    "{\"kind\":\"List\",\"items\":[{\"n\":\"a\",\"v\":1,\"t\":{\"k\":[1,2,[3]]}},{\"n\":\"b\",\"v\""
    ":2.5,\"w\":null},{\"n\":\"c\",\"v\":-3,\"b\":true}],\"a.b\":{\"c\":{}},\"s\":\"text\"}";

static void evaluate(const kc_jsonpath *path, const kc_value *root, bool allow_missing)
{
    kc_jsonpath_opts opts = {
        .allow_missing = allow_missing, .max_steps = 4000, .max_results = 500, .max_bytes = 20000};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_values) values = {0};
    int found = kc_jsonpath_find(path, root, &opts, &values, &err);
    assert(found == 0 || (found < 0 && err.reason == KC_BAD_REQUEST && !values.n));
    int printed = kc_jsonpath_print(path, root, &opts, &out, NULL);
    assert(found == 0 || printed < 0);
    assert(printed == 0 || !out.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str rest = kc_str_of((const char *)data, size), line = kc_str_cut(&rest, '\n');
    kc_jsonpath_parse_opts opts = {.bare = size % 2};
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_jsonpath) *path = kc_jsonpath_parse(line, &opts, &err);
    kc_auto(kc_view) *view = kc_view_parse(rest.n ? rest : kc_cstr(document), NULL, NULL);
    assert(path || err.reason == KC_BAD_REQUEST);
    if (path && view) {
        evaluate(path, kc_view_root(view), true);
        evaluate(path, kc_view_root(view), false);
    }
    return 0;
}
