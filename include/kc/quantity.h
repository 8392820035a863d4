/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantity.h: amounts of resources: "500m", "1.5Gi", "12e6".
 *
 *     kc_quantity limit;
 *     if (kc_quantity_parse(KC_STR("1.5Gi"), &limit, err) < 0)
 *         return -1;
 *     char text[KC_QUANTITY_MAX];
 *     printf("%.*s\n", KC_ARG(kc_quantity_print(limit, text)));           1536Mi
 *
 * A fixed-point number, never a floating one: `mantissa` times ten to the power of `scale`, exact
 * to 38 significant digits and never finer than nano; what is finer is rounded up, away from zero.
 * It remembers the form it was written in and is printed in that form. A zeroed kc_quantity is 0 in
 * DecimalSI.
 *
 * As in Kubernetes, a number with a binary suffix is capped at 2^63-1 in magnitude and one with a
 * decimal suffix is not. Where Kubernetes would go wrong, this does not: it refuses more than 38
 * digits and exponents beyond 32 bits, and what is too large for the suffix E is printed with an
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
    bool as_written; /* It was parsed from text that Kubernetes would repeat unchanged. */
} kc_quantity;

/* Room for any quantity's text and a NUL. */
#define KC_QUANTITY_MAX 64

/* KC_BAD_REQUEST, in Kubernetes' words. No white space is allowed around it. */
int kc_quantity_parse(kc_str text, kc_quantity *ret, kc_error *err);
/* From JSON: a string (white space around it allowed) or a number; null gives 0. */
int kc_quantity_from(const kc_value *value, kc_quantity *ret, kc_error *err);

kc_quantity kc_quantity_of(int64_t value, kc_quantity_form form);
kc_quantity kc_quantity_of_milli(int64_t thousandths, kc_quantity_form form);
/* value * 10^scale, rounded up to nano. */
kc_quantity kc_quantity_of_scaled(int64_t value, int scale, kc_quantity_form form);

/*
 * The canonical text: no fraction, the largest suffix that keeps the number exact. A binary form is
 * used from 1024 on and for whole numbers; others are shown in DecimalSI. Terminated.
 */
kc_str kc_quantity_print(kc_quantity q, char out[KC_QUANTITY_MAX]);
/*
 * What Kubernetes answers when it was sent `text`: mostly the canonical text, but `text` itself
 * where its parser takes the short way ("1.500", "+5", "12E3"). The result is `text` or in `out`.
 */
int kc_quantity_rewrite(kc_str text, char out[KC_QUANTITY_MAX], kc_str *ret, kc_error *err);

/* <0, 0 or >0. Forms do not matter: 1Ki equals 1024. */
int kc_quantity_cmp(kc_quantity a, kc_quantity b);
/* -1, 0 or 1. */
int kc_quantity_sign(kc_quantity q);

/* In place. The form stays, but zero takes that of `other`. False, and nothing changes, when the
 * result needs more than 38 digits. */
bool kc_quantity_add(kc_quantity *q, kc_quantity other) KC_MUST_CHECK;
bool kc_quantity_sub(kc_quantity *q, kc_quantity other) KC_MUST_CHECK;
void kc_quantity_neg(kc_quantity *q);

/* True when it is a whole number that fits. */
bool kc_quantity_as_i64(kc_quantity q, int64_t *ret);
/* In units, in thousandths, or in units of 10^scale: rounded away from zero, and the nearest
 * int64_t when it does not fit. */
int64_t kc_quantity_value(kc_quantity q);
int64_t kc_quantity_milli_value(kc_quantity q);
int64_t kc_quantity_scaled_value(kc_quantity q, int scale);

#endif
