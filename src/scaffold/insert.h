/* SPDX-License-Identifier: Apache-2.0 */
/* insert.h: inserts lines into existing files at markers. */
#ifndef KC_SCAFFOLD_INSERT_H
#define KC_SCAFFOLD_INSERT_H

#include "kc/buf.h"

typedef enum kc__scaffold_inserted {
    KC__SCAFFOLD_INSERTED,
    KC__SCAFFOLD_INSERT_PRESENT,   /* The lines exist already; nothing is written to `out`. */
    KC__SCAFFOLD_INSERT_NO_MARKER, /* The marker is missing; the same. */
} kc__scaffold_inserted;

/*
 * Appends `text` with `lines` inserted before the line that holds "+kubebuilder:scaffold:NAME",
 * with that line's indentation. `lines` are complete, each with its line break.
 */
kc__scaffold_inserted kc__scaffold_insert_at_marker(kc_str text, const char *name, kc_str lines,
                                                    kc_buf *out);

#endif
