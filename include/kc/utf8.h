/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h: decodes UTF-8, one character at a time. */
#ifndef KC_UTF8_H
#define KC_UTF8_H

#include "kc/str.h"

/*
 * The length of the sequence at the start of `text`, and its code point in *ret_code (which may be
 * NULL). 0 at the end, or for an invalid sequence: truncated, overlong, a surrogate, or beyond
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

/* Returns whether the text is a sequence of code points. */
static inline bool kc_utf8_is_valid(kc_str text)
{
    while (text.n) {
        const size_t n = kc_utf8_next(text, NULL);
        if (!n)
            return false;
        text = kc_str_sub(text, n, text.n);
    }
    return true;
}

#endif
