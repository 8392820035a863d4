/* SPDX-License-Identifier: Apache-2.0 */
/* marker_value.h: the grammar of a marker's values. */
#ifndef KC_GENERATE_MARKER_VALUE_H
#define KC_GENERATE_MARKER_VALUE_H

#include "generate/marker_table.h"

#include "kc/buf.h"
#include "kc/error.h"

/* Text that is being read; `at` is where reading goes on. */
typedef struct kc__marker_scan {
    kc_str text;
    size_t at;
} kc__marker_scan;

typedef struct kc__marker_read {
    kc_buf text; /* Of a string: itself; of anything else: as written. */
    kc_buf json;
    bool quoted;
} kc__marker_read;

void kc__marker_read_done(kc__marker_read *read);

/* Reads one value of this type and stops behind it. The error is a sentence about the value,
 * without a position. `into` is empty before and may hold a part after a failure. */
int kc__marker_value(kc__marker_scan *scan, kc__marker_type type, kc__marker_read *into,
                     kc_error *err);

/* The next character that is no white space, which is passed over; 0 at the end. */
char kc__marker_peek(kc__marker_scan *scan);
/* A name of letters, digits and '_'; empty when none stands there. */
kc_str kc__marker_name(kc__marker_scan *scan);

#endif
