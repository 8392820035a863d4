/* SPDX-License-Identifier: Apache-2.0 */
/*
 * int_or_string.h: a field that is a number or a string: a port or its name, a count or a
 * percentage. Headers of API types (api.h) declare such fields; kc_int_or_string_from reads one
 * from a view.
 *
 *     kc_int_or_string max_surge;
 *     int64_t n;
 *     if (kc_int_or_string_from(kc_value_get(rolling, "maxSurge"), &max_surge, err) < 0 ||
 *         kc_int_or_string_scaled(max_surge, replicas, true, &n, err) < 0)
 *         return kc_error_result(err);
 */
#ifndef KC_INT_OR_STRING_H
#define KC_INT_OR_STRING_H

#include "kc/error.h"
#include "kc/view.h"

/* Zeroed is the number 0. */
typedef struct kc_int_or_string {
    bool is_string;
    int32_t number; /* If it is not a string. */
    char *text;     /* If it is a string. Borrowed: from an arena, a view or the caller; never
                     * written. NULL is empty. */
} kc_int_or_string;

/* Size of a buffer for any number, with its terminator. */
#define KC_INT_OR_STRING_TEXT 16

/* From JSON: a string, or a 32-bit integer; null is 0, as in Go. The string belongs to the view.
 * KC_BAD_REQUEST for any other value. */
int kc_int_or_string_from(const kc_value *value, kc_int_or_string *ret, kc_error *err);
/* From a command line or a URL: a number if it parses as one, else a string that borrows `text`. */
kc_int_or_string kc_int_or_string_of(const char *text);

/* The string itself, or the number formatted into `out`. */
kc_str kc_int_or_string_print(kc_int_or_string v, char out[KC_INT_OR_STRING_TEXT]);

/*
 * The number, or the given percentage of `total` for a string like "25%", rounded up or down.
 * KC_BAD_REQUEST, with Kubernetes' message, for any other string.
 */
int kc_int_or_string_scaled(kc_int_or_string v, int64_t total, bool round_up, int64_t *ret,
                            kc_error *err);

#endif
