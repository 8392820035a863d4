/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_json.h: what is wrong with a text that is no JSON, in the words of Go's decoder: clients, and
 * the people who search for them, know these.
 */
#ifndef KC_APISERVER_GO_JSON_H
#define KC_APISERVER_GO_JSON_H

#include "kc/buf.h"
#include "kc/view.h"

/* Appends "invalid character 'h' looking for beginning of value", "unexpected end of JSON input", …
 * and is true; false when the text is one JSON value. Any bytes; one pass, no recursion. */
bool kc__go_json_complaint(kc_str text, kc_buf *out);

/* As Go names a value's type: "object", "array", "string", "number", "bool"; "" for null. */
const char *kc__go_json_type(const kc_value *value);

#endif
