/* SPDX-License-Identifier: Apache-2.0 */
/* Canonical text must parse to the same requirements, in some order. */
#include "fuzzing.h"

#include "kc/field_selector.h"

static kc_str first_letter(kc_str field, void *user)
{
    (void)user;
    return kc_str_sub(field, 0, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) text = {0};
    kc_auto(kc_field_selector) *selector =
        kc_field_selector_parse(kc_str_of((const char *)data, size), &err);
    if (!selector) {
        assert(err.reason == KC_BAD_REQUEST);
        return 0;
    }
    kc_field_selector_write(&text, selector);
    kc_auto(kc_field_selector) *again = kc_field_selector_parse(kc_buf_str(&text), NULL);
    assert(again);
    size_t n, n_again;
    const kc_field_requirement *list = kc_field_selector_requirements(selector, &n);
    kc_field_selector_requirements(again, &n_again);
    assert(n == n_again);
    assert(kc_field_selector_match(selector, first_letter, NULL) ==
           kc_field_selector_match(again, first_letter, NULL));
    for (size_t i = 0; i < n && i < 100; i++) {
        kc_str value;
        assert(list[i].negated || kc_field_selector_exact(again, list[i].field, &value));
    }
    return 0;
}
