/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.c: the shortest text of a floating-point number. The number of digits is found by trying:
 * the first text that reads back as the same number. That is slow as such things go, and simple;
 * floats are rare in what this program writes.
 */
#include "kc/number.h"

#include <math.h>
#include <stdio.h>

kc_digits kc_double_digits(double number, bool single)
{
    kc_digits digits = {0};
    char text[40];
    double wanted = fabs(single ? (double)(float)number : number), back;
    int most = single ? 8 : 16, decimals = 0;
    do {
        snprintf(text, sizeof(text), "%.*e", decimals, wanted);
        back = single ? (double)strtof(text, NULL) : strtod(text, NULL);
    } while (back != wanted && ++decimals <= most);
    const char *e = strchr(text, 'e');
    for (const char *p = text; p < e; p++)
        if (*p != '.')
            digits.text[digits.n++] = *p;
    digits.exponent = (int)strtol(e + 1, NULL, 10);
    return digits;
}

void kc_double_write(kc_buf *out, double number, bool single)
{
    if (isnan(number)) {
        kc_buf_puts(out, "NaN");
        return;
    }
    if (isinf(number)) {
        kc_buf_puts(out, number > 0 ? "+Inf" : "-Inf");
        return;
    }
    kc_digits digits = kc_double_digits(number, single);
    int decimals = (int)digits.n - 1;
    double wanted = single ? (double)(float)number : number;
    if (digits.exponent >= -4 && digits.exponent < 6)
        kc_buf_printf(out, "%.*f", KC_MAX(decimals - digits.exponent, 0), wanted);
    else
        kc_buf_printf(out, "%.*e", decimals, wanted);
}
