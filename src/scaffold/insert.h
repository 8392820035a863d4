/* SPDX-License-Identifier: Apache-2.0 */
/* insert.h: more lines for a file that is there already, at the line that says where. */
#ifndef KC_SCAFFOLD_INSERT_H
#define KC_SCAFFOLD_INSERT_H

#include "kc/buf.h"

typedef enum kc__inserted {
    KC__INSERTED,
    KC__INSERT_PRESENT,   /* The lines are there already; nothing is written to `out`. */
    KC__INSERT_NO_MARKER, /* There is no such line; the same. */
} kc__inserted;

/*
 * Appends `text` with `lines` before the line that holds "+kubebuilder:scaffold:NAME", indented as
 * that line is. `lines` are whole ones, each with its line break.
 */
kc__inserted kc__insert_at_marker(kc_str text, const char *name, kc_str lines, kc_buf *out);

#endif
