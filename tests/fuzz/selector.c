/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first line is a selector, the rest the labels it is matched against. Canonical text must
 * parse to the same selector, and matching over bytes must agree with matching over a view. The
 * rest is also used as a LabelSelector.
 */
#include "fuzzing.h"

#include "kc/selector.h"

static void check_text(const kc_selector *selector)
{
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_buf) again = {0};
    kc_selector_write(&text, selector);
    kc_auto(kc_selector) *copy = kc_selector_parse(kc_buf_str(&text), NULL);
    assert(copy);
    kc_selector_write(&again, copy);
    assert(kc_str_eq(kc_buf_str(&again), kc_buf_str(&text)));
}

static void check_match(const kc_selector *selector, const kc_value *labels)
{
    kc_scoped(kc_buf) json = {0};
    kc_json_write(&json, labels);
    bool by_value = kc_selector_match_value(selector, labels);
    if (kc_value_type(labels) == KC_JSON_OBJECT)
        assert(kc_selector_match_json(selector, kc_buf_str(&json)) == by_value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str rest = kc_str_of((const char *)data, size), line = kc_str_cut(&rest, '\n');
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_selector) *selector = kc_selector_parse(line, &err);
    assert(selector || err.reason == KC_BAD_REQUEST);
    kc_auto(kc_view) *view = kc_view_parse(rest, NULL, NULL);
    if (selector)
        check_text(selector);
    if (selector && view)
        check_match(selector, kc_view_root(view));
    if (view)
        kc_selector_free(kc_selector_of(kc_view_root(view), NULL));
    return 0;
}
