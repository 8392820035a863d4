/* SPDX-License-Identifier: Apache-2.0 */
/* text.c: UTF-8 and numbers, for those who write text (log, metrics). */
#include "base/text_internal.h"

#include <math.h>
#include <stdio.h>

static bool continues(kc_str s, size_t at)
{
    return at < s.n && ((unsigned char)s.p[at] & 0xc0) == 0x80;
}

size_t kc__utf8_next(kc_str s, uint32_t *ret_code_point)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (s.n == 0)
        return 0;
    unsigned char first = (unsigned char)s.p[0];
    size_t n = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (n == 0 || first > 0xf4)
        return 0;
    uint32_t c = n == 1 ? first : first & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if (!continues(s, i))
            return 0;
        c = c << 6 | ((unsigned char)s.p[i] & 0x3f);
    }
    if (c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *ret_code_point = c;
    return n;
}

/* Go, asked for the shortest text, writes an exponent below 1e-4 and from 1e6 on. The number of
 * digits is found by trying: the first text that reads back as the same number. */
void kc__put_double(kc_buf *out, double value)
{
    if (isnan(value)) {
        kc_buf_puts(out, "NaN");
        return;
    }
    if (isinf(value)) {
        kc_buf_puts(out, value > 0 ? "+Inf" : "-Inf");
        return;
    }
    char text[40];
    int decimals = 0;
    do
        snprintf(text, sizeof(text), "%.*e", decimals, value);
    while (strtod(text, NULL) != value && ++decimals < 17);
    int exponent = atoi(strchr(text, 'e') + 1);
    if (exponent >= -4 && exponent < 6)
        snprintf(text, sizeof(text), "%.*f", KC_MAX(decimals - exponent, 0), value);
    kc_buf_puts(out, text);
}
