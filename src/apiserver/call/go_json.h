/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_json.h: error messages for invalid JSON in the words of Go's decoder, because clients, and
 * users who search for the messages, know these.
 */
#ifndef KC_APISERVER_GO_JSON_H
#define KC_APISERVER_GO_JSON_H

#include "kc/buf.h"
#include "kc/view.h"

/* Appends "invalid character 'h' looking for beginning of value", "unexpected end of JSON input", …
 * and returns true; false if the text is one JSON value. Any bytes; one pass, no recursion. */
bool kc__rest_go_json_error(kc_str text, kc_buf *out);

/* Go's name of a value's type: "object", "array", "string", "number", "bool"; "" for null. */
const char *kc__rest_go_json_type(const kc_value *value);

#endif
