/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed_text.c: scans canonical text and writes output only where it differs from the input.
 *
 * The text is that of a kc_object: compact, valid, NUL-terminated. So a string ends at the first
 * quote after an even number of backslashes, any other scalar ends before the next ',', '}' or ']',
 * and no step has to check for the end of the text.
 *
 * Output positions count the bytes in `out` plus the pending bytes (typed_internal.h). Flushing
 * pending bytes does not change them, so members are recorded by output position.
 */
#include "apiserver/codec/typed_internal.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Returns the first quote or backslash from `at` on; there must be one. */
static inline const char *quote_or_backslash(const kc__typed *t, const char *at)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    for (; t->end - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        unsigned mask = (unsigned)_mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
        if (mask)
            return at + __builtin_ctz(mask);
    }
#else
    (void)t;
#endif
    while (*at != '"' && *at != '\\')
        at++;
    return at;
}

/* Returns the closing quote; `at` is after the opening quote. */
static inline const char *closing_quote(kc__typed *t, const char *at)
{
    t->escaped = false;
    for (at = quote_or_backslash(t, at); *at != '"'; at = quote_or_backslash(t, at + 2))
        t->escaped = true;
    return at;
}

kc_str kc__typed_string(kc__typed *t)
{
    const char *from = t->at + 1, *to = closing_quote(t, from);
    t->at = to + 1;
    return kc_str_of(from, (size_t)(to - from));
}

kc_str kc__typed_word(kc__typed *t)
{
    const char *from = t->at;
    while (*t->at != ',' && *t->at != '}' && *t->at != ']')
        t->at++;
    return kc_str_of(from, (size_t)(t->at - from));
}

static void skip_container(kc__typed *t)
{
    size_t depth = 0;
    do {
        switch (*t->at) {
        case '"': t->at = closing_quote(t, t->at + 1); break;
        case '{':
        case '[': depth++; break;
        case '}':
        case ']': depth--; break;
        default: break;
        }
        t->at++;
    } while (depth);
}

void kc__typed_skip(kc__typed *t)
{
    if (*t->at == '"')
        kc__typed_string(t);
    else if (*t->at == '{' || *t->at == '[')
        skip_container(t);
    else
        kc__typed_word(t);
}

void kc__typed_flush(kc__typed *t, const char *to)
{
    kc_buf_append(&t->out, kc_str_of(t->copied, (size_t)(to - t->copied)));
    t->copied = t->at;
}

void kc__typed_roll_back(kc__typed *t, size_t position)
{
    if (t->out.n > position)
        t->out.n = position;
    else
        kc_buf_append(&t->out, kc_str_of(t->copied, position - t->out.n));
    t->copied = t->at;
}

void kc__typed_replace(kc__typed *t, const char *from, kc_str text)
{
    if (kc_str_eq(kc_str_of(from, (size_t)(t->at - from)), text))
        return;
    kc__typed_flush(t, from);
    kc_buf_append(&t->out, text);
}
