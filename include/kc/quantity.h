/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantity.h: resource quantities: "500m", "1.5Gi", "12e6".
 *
 *     kc_quantity limit;
 *     if (kc_quantity_parse(KC_STR("1.5Gi"), &limit, err) < 0)
 *         return kc_error_result(err);
 *     char text[KC_QUANTITY_MAX];
 *     printf("%.*s\n", KC_ARG(kc_quantity_print(limit, text)));           1536Mi
 *
 * A fixed-point number, never floating-point: `mantissa` times ten to the power of `scale`, exact
 * to 38 significant digits and not finer than nano; finer values are rounded up, away from zero. It
 * keeps its form (SI, binary, exponent), and is printed in it. A zeroed kc_quantity is 0 in
 * DecimalSI.
 *
 * As in Kubernetes, a number with a binary suffix is capped at 2^63-1 in magnitude and one with a
 * decimal suffix is not. Two differences avoid wrong results: more than 38 digits and exponents
 * beyond 32 bits are rejected, and a number that is too large for the suffix E is printed with an
 * exponent (Kubernetes prints 1000E as "1").
 */
#ifndef KC_QUANTITY_H
#define KC_QUANTITY_H

#include "kc/error.h"
#include "kc/view.h"

typedef enum kc_quantity_form {
    KC_DECIMAL_SI,       /* 12M: n u m, nothing, k M G T P E. */
    KC_BINARY_SI,        /* 12Mi: Ki Mi Gi Ti Pi Ei. */
    KC_DECIMAL_EXPONENT, /* 12e6 */
} kc_quantity_form;

typedef struct kc_quantity {
    __int128 mantissa; /* Below 10^38 in magnitude, no multiple of ten unless 0. */
    int32_t scale;     /* -9 or more; 0 when the mantissa is. */
    kc_quantity_form form;
    bool as_written; /* Parsed from text that Kubernetes would return unchanged. */
} kc_quantity;

/* Size of a buffer for any quantity, with its terminator. */
#define KC_QUANTITY_MAX 64

/* KC_BAD_REQUEST with Kubernetes' message. White space around the number is not allowed. */
int kc_quantity_parse(kc_str text, kc_quantity *ret, kc_error *err);
/* From JSON: a string (white space around the number allowed) or a number; null is 0. */
int kc_quantity_from(const kc_value *value, kc_quantity *ret, kc_error *err);

kc_quantity kc_quantity_of(int64_t value, kc_quantity_form form);
kc_quantity kc_quantity_of_milli(int64_t thousandths, kc_quantity_form form);
/* value * 10^scale, rounded up to nano. */
kc_quantity kc_quantity_of_scaled(int64_t value, int scale, kc_quantity_form form);

/*
 * The canonical text: no fraction, the largest suffix that keeps the number exact. The binary form
 * is used for integers from 1024 on; other values are printed in DecimalSI. Terminated.
 */
kc_str kc_quantity_print(kc_quantity q, char out[KC_QUANTITY_MAX]);
/*
 * The text that Kubernetes returns for `text`: usually the canonical text, but `text` itself where
 * its parser takes a fast path ("1.500", "+5", "12E3"). The result is `text` or in `out`.
 */
int kc_quantity_rewrite(kc_str text, char out[KC_QUANTITY_MAX], kc_str *ret, kc_error *err);

/* <0, 0 or >0. The form does not matter: 1Ki equals 1024. */
int kc_quantity_cmp(kc_quantity a, kc_quantity b);
/* -1, 0 or 1. */
int kc_quantity_sign(kc_quantity q);

/* In place. The form stays, except that zero takes the form of `other`. False, with no change, when
 * the result needs more than 38 digits. */
bool kc_quantity_add(kc_quantity *q, kc_quantity other) KC_MUST_CHECK;
bool kc_quantity_sub(kc_quantity *q, kc_quantity other) KC_MUST_CHECK;
void kc_quantity_neg(kc_quantity *q);

/* True when it is an integer that fits. */
bool kc_quantity_as_i64(kc_quantity q, int64_t *ret);
/* In units, in thousandths, or in units of 10^scale: rounded away from zero, and clamped to the
 * range of int64_t. */
int64_t kc_quantity_value(kc_quantity q);
int64_t kc_quantity_milli_value(kc_quantity q);
int64_t kc_quantity_scaled_value(kc_quantity q, int scale);

#endif
