/* SPDX-License-Identifier: Apache-2.0 */
/* go_json.h: formats values as Go's encoding/json and field errors do. Scripts and clients compare
 * that text. */
#ifndef KC_GO_JSON_H
#define KC_GO_JSON_H

#include "kc/buf.h"
#include "kc/view.h"

/* As json.Marshal: sorted names, HTML-relevant characters escaped, integers beyond int64_t as
 * floats. Equal values yield equal text, so it can be a key. */
void kc__go_json(kc_buf *out, const kc_value *value);
/* Appends JSON text with the HTML-relevant characters escaped: <, >, &, U+2028 and U+2029. */
void kc__go_json_escape(kc_buf *out, kc_str json);
/* As a field error shows an invalid value: strings as %q, floats as %v, others as json.Marshal. */
void kc__go_value(kc_buf *out, const kc_value *value);

#endif
