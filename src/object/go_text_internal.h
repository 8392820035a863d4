/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_text_internal.h: values as Go prints them. Clients compare the messages of an API server, and
 * those were shaped by Go's %q, %v and encoding/json.
 */
#ifndef KC_GO_TEXT_INTERNAL_H
#define KC_GO_TEXT_INTERNAL_H

#include "kc/buf.h"
#include "kc/view.h"

/* A string as %q does: "a\tb\x00é". */
void kc__go_quote(kc_buf *out, kc_str text);
/* A number as %v does: 0.1, 1e+06. */
void kc__go_float(kc_buf *out, double number);
/* As json.Marshal does: names sorted; <, > and & escaped. Equal values give equal text, so it also
 * serves as a key. */
void kc__go_json(kc_buf *out, const kc_value *value);
/* As a field error shows a bad value: %q, %v or json.Marshal, by type. */
void kc__go_value(kc_buf *out, const kc_value *value);

#endif
