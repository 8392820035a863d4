/* SPDX-License-Identifier: Apache-2.0 */
/* go_text.h: values and types as Go prints them, for messages that must read the same. */
#ifndef KC_GO_TEXT_H
#define KC_GO_TEXT_H

#include "kc/edit.h"

/* Appends a value as "%v" prints it: "map[a:1 b:[x y]]". Long text ends in "...". */
void kc__go_text(kc_buf *out, const kc_value *value);
void kc__go_text_node(kc_buf *out, const kc_node *node);
/* The name of a value's type as "%T" prints it: "map[string]interface {}", "<nil>". */
const char *kc__go_type(kc_type type);

#endif
