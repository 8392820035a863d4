/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_plain.h: the length of the text that a JSON string has unchanged. Nearly every name and
 * value is plain as a whole, so writers look at eight bytes at once and copy.
 */
#ifndef KC_OBJECT_JSON_PLAIN_H
#define KC_OBJECT_JSON_PLAIN_H

#include "kc/str.h"

#include <stdint.h>

/* A bit in each byte from the first one on that is no plain character: a control character, a
 * quote, a backslash, or part of a character beyond ASCII. The first byte is the lowest one. Bits
 * above the lowest one are not exact. */
static inline uint64_t kc__json_special_in_word(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
    const uint64_t quote = word ^ (ones * '"'), backslash = word ^ (ones * '\\');
    return (word | ((word - ones * ' ') & ~word) | ((quote - ones) & ~quote) |
            ((backslash - ones) & ~backslash)) &
           high;
}

/* The same of eight bytes. */
static inline uint64_t kc__json_special_in_8(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return kc__json_special_in_word(word);
}

/* True when four to seven bytes are plain characters: the first and the last four overlap. */
static inline bool kc__json_is_plain_short(kc_str text)
{
    uint32_t first, last;
    memcpy(&first, text.p, sizeof(first));
    memcpy(&last, text.p + text.n - sizeof(last), sizeof(last));
    return !kc__json_special_in_word(first | (uint64_t)last << 32);
}

/* The number of bytes before the first one that is no plain character. */
static inline size_t kc__json_plain_length(kc_str text)
{
    size_t n = 0;
    if (text.n < 8) {
        if (text.n >= 4 && kc__json_is_plain_short(text))
            return text.n;
        while (n < text.n && (signed char)text.p[n] >= ' ' && text.p[n] != '"' && text.p[n] != '\\')
            n++;
        return n;
    }
    /* The last eight bytes overlap those before. */
    for (;; n = KC_MIN(n + 8, text.n - 8)) {
        uint64_t special = kc__json_special_in_8(text.p + n);
        if (special)
            return n + (size_t)__builtin_ctzll(special) / 8;
        if (n == text.n - 8)
            return text.n;
    }
}

#endif
