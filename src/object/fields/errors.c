/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errors.c: errors about several fields of one value, in upstream's format: a single error is its
 * path and message; several are lines after "errors:". The list is bounded: a client can send an
 * object with an error in each of its values.
 */
#include "object/fields/fields_internal.h"
#include "object/fields/fields_typed.h"

void kc__fields_errors_add(kc__fields_errors *errors, const kc__fields_path *path, kc_str message)
{
    if (errors->n++ >= KC__FIELDS_MAX_ERRORS || errors->text.n > KC__FIELDS_MAX_ERROR_BYTES)
        return;
    kc_buf_puts(&errors->text, "\n  ");
    kc__fields_path_print(&errors->text, path);
    kc_buf_puts(&errors->text, path ? ": " : "");
    kc_buf_append(&errors->text, message);
}

int kc__fields_errors_result(kc__fields_errors *errors, kc_error *err)
{
    int result = 0;
    if (errors->n == 1)
        result = kc_error_set(err, KC_INVALID, "%s", kc_buf_cstr(&errors->text) + 3);
    else if (errors->n)
        result = kc_error_set(err, KC_INVALID, "errors:%s", kc_buf_cstr(&errors->text));
    kc_buf_done(&errors->text);
    return result;
}
