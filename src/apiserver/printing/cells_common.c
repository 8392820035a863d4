/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells_common.c: formats labels, selectors and lists as the text of a cell.
 */
#include "apiserver/printing/columns_internal.h"
#include "kc/selector.h"

void kc__print_append_labels(kc_buf *out, const kc_value *labels)
{
    kc_scoped(kc_buf) text = {0};
    kc_value_each_member (labels, key, value)
        kc_buf_printf(&text, "%s%.*s=%s", text.n ? "," : "", KC_ARG(key),
                      kc_value_as_cstr(value, ""));
    kc__print_cell_put_text(out, text.n ? kc_buf_str(&text) : KC_STR("<none>"));
}

void kc__print_append_selector(kc_buf *out, const kc_value *selector)
{
    kc_scoped(kc_buf) text = {0};
    kc_auto(kc_selector) *parsed = kc_selector_of(selector, NULL);
    if (parsed && !kc_selector_is_nothing(parsed))
        kc_selector_write(&text, parsed);
    if (!parsed)
        kc_buf_puts(&text, "<error>");
    kc__print_cell_put_text(out, text.n ? kc_buf_str(&text) : KC_STR("<none>"));
}

void kc__print_append_joined(kc_buf *out, const kc_value *list, const char *member,
                             const char *separator)
{
    kc_scoped(kc_buf) text = {0};
    bool first = true;
    kc_value_each_item (list, item) {
        kc_buf_puts(&text, first ? "" : separator);
        kc_buf_puts(&text, kc_value_as_cstr(member ? kc_value_get(item, member) : item, ""));
        first = false;
    }
    kc__print_cell_put_text(out, kc_buf_str(&text));
}

bool kc__print_condition_is_true(const kc_value *conditions, const char *type)
{
    kc_value_each_item (conditions, item)
        if (kc_str_is(kc_value_as_str(kc_value_get(item, "type")), type))
            return kc_str_is(kc_value_as_str(kc_value_get(item, "status")), "True");
    return false;
}
