/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64.h: bytes as text (RFC 4648).
 *
 *     kc_base64_write(&out, bytes, KC_BASE64);
 *     if (!kc_base64_read(&out, text, KC_BASE64_URL))
 *         return …;                                             not base64
 */
#ifndef KC_BASE64_H
#define KC_BASE64_H

#include "kc/buf.h"

typedef enum kc_base64 {
    KC_BASE64,     /* '+', '/', padded with '='. */
    KC_BASE64_URL, /* '-', '_', not padded: tokens. */
} kc_base64;

/* Appends the base64 text of `bytes`. */
void kc_base64_write(kc_buf *out, kc_str bytes, kc_base64 variant);
/* Decodes `text` and appends the bytes. False, with `out` unchanged, when the text is not valid in
 * this variant or has bits set beyond its last byte. */
bool kc_base64_read(kc_buf *out, kc_str text, kc_base64 variant) KC_MUST_CHECK;

#endif
