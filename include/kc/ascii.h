/* SPDX-License-Identifier: Apache-2.0 */
/* ascii.h: classes of ASCII characters, the same in every locale. */
#ifndef KC_ASCII_H
#define KC_ASCII_H

#include <stdbool.h>

static inline bool kc_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Converts letters; other characters are unchanged. */
static inline char kc_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static inline bool kc_is_alnum(char c)
{
    char lower = kc_lower(c);
    return kc_is_digit(c) || (lower >= 'a' && lower <= 'z');
}

/* The value of a hexadecimal digit of either case; -1 for any other character. */
static inline int kc_hex_value(char c)
{
    char lower = kc_lower(c);
    if (kc_is_digit(c))
        return c - '0';
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static inline bool kc_is_hex(char c)
{
    return kc_hex_value(c) >= 0;
}

#endif
