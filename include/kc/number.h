/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.h: floating-point numbers as text: the fewest digits that read back as the same number.
 */
#ifndef KC_NUMBER_H
#define KC_NUMBER_H

#include "kc/buf.h"

/* A number as 0.DIGITS times ten to the power of `exponent` + 1: 12.5 is "125" and 1. */
typedef struct kc_digits {
    char text[20]; /* Terminated; without trailing zeros, except for "0" itself. */
    size_t n;
    int exponent; /* Of ten, for the first digit. */
} kc_digits;

/* Of a finite number, whose sign does not matter. With `single` the digits suffice for a float. */
kc_digits kc_double_digits(double number, bool single);

/* Appends it as Go's format 'g' does, and as Prometheus expects it: 0.005, 12, 1e+06, NaN, +Inf. */
void kc_double_write(kc_buf *out, double number, bool single);

#endif
