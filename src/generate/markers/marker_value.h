/* SPDX-License-Identifier: Apache-2.0 */
/* marker_value.h: the grammar of a marker's values. */
#ifndef KC_GENERATE_MARKER_VALUE_H
#define KC_GENERATE_MARKER_VALUE_H

#include "generate/markers/table.h"

#include "kc/buf.h"
#include "kc/error.h"

/* Text being read; `at` is the position. */
typedef struct kc__gen_marker_scan {
    kc_str text;
    size_t at;
} kc__gen_marker_scan;

typedef struct kc__gen_marker_read {
    kc_buf text; /* For a string: its content; else: as written. */
    kc_buf json;
    bool quoted;
} kc__gen_marker_read;

void kc__gen_marker_read_done(kc__gen_marker_read *read);

/* Reads one value of this type and stops after it. The error describes the value, without a
 * position. `into` must be empty and may hold a part after a failure. */
int kc__gen_marker_value(kc__gen_marker_scan *scan, kc__gen_marker_type type,
                         kc__gen_marker_read *into, kc_error *err);

/* Skips white space and returns the next character; 0 at the end. */
char kc__gen_marker_peek(kc__gen_marker_scan *scan);
/* A name of letters, digits and '_'; empty if there is none. */
kc_str kc__gen_marker_name(kc__gen_marker_scan *scan);

#endif
