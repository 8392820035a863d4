/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonpath_print.c: values as kubectl prints them, which is as Go does: scalars as fmt's %v,
 * containers as encoding/json. Scripts compare this output, so it is followed to the letter.
 */
#include "object/jsonpath_internal.h"

#include "kc/number.h"
#include "object/go_json.h"

void kc_jsonpath_print_value(kc_buf *out, const kc_value *value)
{
    double number;
    switch (kc_type_of(value)) {
    case KC_STRING: kc_buf_append(out, kc_as_str(value)); break;
    case KC_FLOAT:
        kc_as_f64(value, &number);
        kc_double_write(out, number, false);
        break;
    default: kc__go_json(out, value);
    }
}
