/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_duplicates.h: duplicate keys of a YAML text, for errors. */
#ifndef KC_YAML_DUPLICATES_H
#define KC_YAML_DUPLICATES_H

#include "kc/buf.h"

/* Appends a line for each duplicate key of the first document, which must be valid: "\n  line 3:
 * key
 * \"k\" already set in map". */
void kc__yaml_list_duplicates(kc_buf *out, kc_str yaml);

#endif
