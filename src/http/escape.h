/* SPDX-License-Identifier: Apache-2.0 */
/* escape.h: percent-encoding, and text in quotes for messages. */
#ifndef KC_HTTP_ESCAPE_H
#define KC_HTTP_ESCAPE_H

#include "kc/buf.h"

typedef enum kc__plus {
    KC__PLUS_IS_PLUS,  /* In a path. */
    KC__PLUS_IS_SPACE, /* In a query. */
} kc__plus;

/*
 * Decodes `text` once into `out`, which has room for text.n bytes, and gives how many it wrote in
 * *ret_n. False when a '%' is not followed by two hexadecimal digits; then *ret_bad is the broken
 * escape (it may be NULL), and `out` holds nothing of use.
 */
bool kc__percent_decode(kc_str text, kc__plus plus, char *out, size_t *ret_n, kc_str *ret_bad);

/* Appends `text` in double quotes; what is not printable ASCII or UTF-8 as \xNN. Long text is cut,
 * with "..." behind it. */
void kc__quote(kc_buf *out, kc_str text);

#endif
