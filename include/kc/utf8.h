/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h: reading UTF-8, character by character. */
#ifndef KC_UTF8_H
#define KC_UTF8_H

#include "kc/str.h"

/*
 * The length of the sequence at the front of `text`, and its code point in *ret_code (which may be
 * NULL). 0 when there is none or it is not well-formed: cut short, overlong, a surrogate, or beyond
 * U+10FFFF.
 */
static inline size_t kc_utf8_next(kc_str text, uint32_t *ret_code)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (!text.n)
        return 0;
    const unsigned char *p = (const unsigned char *)text.p;
    size_t n = p[0] < 0x80 ? 1 : p[0] < 0xC0 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (!n || p[0] > 0xF4 || n > text.n)
        return 0;
    uint32_t code = n == 1 ? p[0] : p[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3F);
    }
    if (code < smallest[n] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return 0;
    if (ret_code)
        *ret_code = code;
    return n;
}

#endif
