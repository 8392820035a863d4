/* SPDX-License-Identifier: Apache-2.0 */
/* config_errors.c: field errors of configuration files. */
#include "apiserver/config/config_errors.h"

#include "object/gofmt/go_quote.h"

void kc__config_required(kc_field_errors *errors, const char *path, const char *detail)
{
    kc_field_errors_add(errors, KC_FIELD_REQUIRED, path, (kc_str){0}, "%s", detail);
}

void kc__config_invalid(kc_field_errors *errors, const char *path, kc_str value, const char *detail)
{
    kc_scoped(kc_buf) quoted = {0};
    kc__go_quote(&quoted, value);
    kc_field_errors_add(errors, KC_FIELD_INVALID, path, kc_buf_str(&quoted), "%s", detail);
}

void kc__config_duplicate(kc_field_errors *errors, const char *path, kc_str value)
{
    kc_scoped(kc_buf) quoted = {0};
    kc__go_quote(&quoted, value);
    kc_field_errors_add(errors, KC_FIELD_DUPLICATE, path, kc_buf_str(&quoted), NULL);
}

void kc__config_unsupported(kc_field_errors *errors, const char *path, kc_str value,
                            const char *const *supported)
{
    kc_scoped(kc_buf) quoted = {0}, all = {0};
    kc__go_quote(&quoted, value);
    for (; *supported; supported++) {
        kc_buf_puts(&all, all.n ? ", " : "");
        kc__go_quote(&all, kc_cstr(*supported));
    }
    kc_field_errors_add(errors, KC_FIELD_NOT_SUPPORTED, path, kc_buf_str(&quoted),
                        "supported values: %s", kc_buf_cstr(&all));
}

int kc__config_errors(const kc_field_errors *errors, kc_error *err)
{
    kc_scoped(kc_field_errors) distinct = {0};
    kc_scoped(kc_buf) text = {0};
    kc_field_errors_merge(&distinct, errors);
    kc_vec_each (&distinct.list, e)
        kc_buf_printf(&text, "%s%s: %s", text.n ? ", " : "", e->field, e->body);
    if (!distinct.list.n)
        return 0;
    const bool several = distinct.list.n > 1;
    return kc_error_set(err, KC_INVALID, "%s%s%s", several ? "[" : "", kc_buf_cstr(&text),
                        several ? "]" : "");
}
