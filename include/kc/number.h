/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.h: numbers as text: integers, and floating-point numbers with the fewest digits that parse
 * to the same number.
 */
#ifndef KC_NUMBER_H
#define KC_NUMBER_H

#include "kc/buf.h"

/* Appends an integer in decimal. */
void kc_u64_write(kc_buf *out, uint64_t number);
void kc_i64_write(kc_buf *out, int64_t number);

/* A number as 0.DIGITS times ten to the power of `exponent` + 1: 12.5 is "125" and 1. */
typedef struct kc_digits {
    char text[20]; /* Terminated; without trailing zeros, except for "0" itself. */
    size_t n;
    int exponent; /* Of ten, for the first digit. */
} kc_digits;

/* For a finite number; its sign is ignored. With `single` the digits suffice for a float. */
kc_digits kc_double_digits(double number, bool single);

/* Appends the digits with their point, 0.0125 and 12500, or with an exponent of at least two
 * digits, 1.25e-02. */
void kc_digits_write(kc_buf *out, const kc_digits *digits);
void kc_digits_write_exponent(kc_buf *out, const kc_digits *digits);

/* Appends a number in Go's format 'g', which Prometheus expects: 0.005, 12, 1e+06, NaN, +Inf. */
void kc_double_write(kc_buf *out, double number, bool single);

#endif
