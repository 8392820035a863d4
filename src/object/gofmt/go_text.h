/* SPDX-License-Identifier: Apache-2.0 */
/* go_text.h: formats values and types as Go does, for messages that must be identical. */
#ifndef KC_GO_TEXT_H
#define KC_GO_TEXT_H

#include "kc/edit.h"

/* Appends a value in the format "%v": "map[a:1 b:[x y]]". Long text ends in "...". */
void kc__go_text(kc_buf *out, const kc_value *value);
void kc__go_text_node(kc_buf *out, const kc_node *node);
/* The type of a value in the format "%T": "map[string]interface {}", "<nil>". */
const char *kc__go_type(kc_json_type type);

#endif
