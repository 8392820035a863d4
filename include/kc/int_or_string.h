/* SPDX-License-Identifier: Apache-2.0 */
/*
 * int_or_string.h: a field that is a number or a text: a port or its name, a count or a percentage.
 *
 *     kc_int_or_string most;
 *     int64_t n;
 *     if (kc_int_or_string_from(kc_get(rolling, "maxSurge"), &most, err) < 0 ||
 *         kc_int_or_string_scaled(most, replicas, true, &n, err) < 0)
 *         return -1;
 */
#ifndef KC_INT_OR_STRING_H
#define KC_INT_OR_STRING_H

#include "kc/error.h"
#include "kc/view.h"

/* Zeroed is the number 0. */
typedef struct kc_int_or_string {
    bool is_string;
    int32_t number; /* When it is no string. */
    kc_str text;    /* When it is one; borrowed. */
} kc_int_or_string;

/* Room for the text of any number and a NUL. */
#define KC_INT_OR_STRING_TEXT 16

/* From JSON: a string, or a whole number of 32 bits; null is 0, as in Go. The text is the view's.
 * KC_BAD_REQUEST for anything else. */
int kc_int_or_string_from(const kc_value *value, kc_int_or_string *ret, kc_error *err);
/* From a command line or a URL: a number if it can be one, else a string that borrows `text`. */
kc_int_or_string kc_int_or_string_of(kc_str text);

/* As text: the string itself, or the number in `out`. */
kc_str kc_int_or_string_print(kc_int_or_string v, char out[KC_INT_OR_STRING_TEXT]);

/*
 * The number, or the percentage of `total` that a string like "25%" stands for, rounded up or down.
 * KC_BAD_REQUEST, in Kubernetes' words, for a string that is no percentage.
 */
int kc_int_or_string_scaled(kc_int_or_string v, int64_t total, bool round_up, int64_t *ret,
                            kc_error *err);

#endif
