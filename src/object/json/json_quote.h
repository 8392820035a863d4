/* SPDX-License-Identifier: Apache-2.0 */
/* json_quote.h: finds the end of a JSON string, 16 bytes at a time if 16 remain. */
#ifndef KC_OBJECT_JSON_QUOTE_H
#define KC_OBJECT_JSON_QUOTE_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The first '"' or '\' at or after p; `end` when there is none. */
static inline const char *kc__json_find_quote(const char *p, const char *end)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    for (; end - p >= 16; p += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
        unsigned mask = (unsigned)_mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
        if (mask)
            return p + __builtin_ctz(mask);
    }
#endif
    while (p < end && *p != '"' && *p != '\\')
        p++;
    return p;
}

#endif
