/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonpath_print.c: formats values as kubectl does, which uses Go's formats: scalars as fmt's %v,
 * containers as encoding/json. Scripts compare this output, so it is identical.
 */
#include "object/path/jsonpath_internal.h"

#include "kc/number.h"
#include "object/gofmt/go_json.h"

void kc_jsonpath_print_value(kc_buf *out, const kc_value *value)
{
    double number;
    switch (kc_value_type(value)) {
    case KC_JSON_STRING: kc_buf_append(out, kc_value_as_str(value)); break;
    case KC_JSON_FLOAT:
        kc_value_as_f64(value, &number);
        kc_double_write(out, number, false);
        break;
    default: kc__go_json(out, value);
    }
}
