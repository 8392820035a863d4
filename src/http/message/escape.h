/* SPDX-License-Identifier: Apache-2.0 */
/* escape.h: percent-encoding, and quoting of text for messages. */
#ifndef KC_HTTP_ESCAPE_H
#define KC_HTTP_ESCAPE_H

#include "kc/buf.h"

typedef enum kc__http_plus {
    KC__HTTP_PLUS_IS_PLUS,  /* In a path. */
    KC__HTTP_PLUS_IS_SPACE, /* In a query. */
} kc__http_plus;

/*
 * Decodes `text` once into `out`, which has room for text.n bytes; *ret_n is the number of bytes
 * written. Returns false if a '%' is not followed by two hexadecimal digits; then *ret_bad (may be
 * NULL) is the invalid escape, and the content of `out` is undefined.
 */
bool kc__http_percent_decode(kc_str text, kc__http_plus plus, char *out, size_t *ret_n,
                             kc_str *ret_bad);

/* Appends `text` in double quotes, with bytes that are not printable ASCII or UTF-8 as \xNN.
 * Long text is truncated and ends with "...". */
void kc__http_quote(kc_buf *out, kc_str text);

#endif
