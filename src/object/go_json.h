/* SPDX-License-Identifier: Apache-2.0 */
/* go_json.h: values as Go's encoding/json and field errors show them. Scripts and clients compare
 * that text. */
#ifndef KC_GO_JSON_H
#define KC_GO_JSON_H

#include "kc/buf.h"
#include "kc/view.h"

/* As json.Marshal does: names sorted, what HTML would read escaped, whole numbers beyond int64_t as
 * floats. Equal values give equal text, so it also serves as a key. */
void kc__go_json(kc_buf *out, const kc_value *value);
/* As a field error shows a bad value: strings as %q, floats as %v, the rest as json.Marshal. */
void kc__go_value(kc_buf *out, const kc_value *value);

#endif
