/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h: reads a file of objects, one JSON document per line. */
#ifndef KC_APISERVER_MAINTENANCE_LINES_H
#define KC_APISERVER_MAINTENANCE_LINES_H

#include "kc/buf.h"
#include "kc/error.h"
#include "kc/object.h"

#include <stdio.h>

/* Zero but for `in`. */
typedef struct kc__maintenance_lines {
    FILE *in;      /* Borrowed. */
    size_t number; /* Of the line that was read last; the first is 1. */
    kc_buf text;
} kc__maintenance_lines;

void kc__maintenance_lines_done(kc__maintenance_lines *lines);

/* The object of the next line that is not empty, which the caller drops; NULL at the end, where
 * *ret_end is true, and on error. The error names the line: longer than a stored value may be, not
 * a JSON object, or a member that occurs twice. */
kc_object *kc__maintenance_lines_next(kc__maintenance_lines *lines, bool *ret_end, kc_error *err);

#endif
