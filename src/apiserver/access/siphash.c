/* SPDX-License-Identifier: Apache-2.0 */
/*
 * siphash.c: SipHash-2-4-128 (Aumasson and Bernstein). Two rounds for every eight bytes, four at
 * the end, four more for the second half of the result.
 */
#include "apiserver/access/siphash.h"

#include <endian.h>

typedef struct sip_state {
    uint64_t a, b, c, d;
} sip_state;

static inline uint64_t rotate_left(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static inline void sip_round(sip_state *s)
{
    s->a += s->b;
    s->c += s->d;
    s->b = rotate_left(s->b, 13) ^ s->a;
    s->d = rotate_left(s->d, 16) ^ s->c;
    s->a = rotate_left(s->a, 32);
    s->c += s->b;
    s->a += s->d;
    s->b = rotate_left(s->b, 17) ^ s->c;
    s->d = rotate_left(s->d, 21) ^ s->a;
    s->c = rotate_left(s->c, 32);
}

static inline void sip_absorb(sip_state *s, uint64_t word)
{
    s->d ^= word;
    sip_round(s);
    sip_round(s);
    s->a ^= word;
}

/* Little-endian, up to eight bytes; one load for eight. */
static inline uint64_t sip_word(const char *bytes, size_t n)
{
    uint64_t word = 0;
    if (n)
        memcpy(&word, bytes, n);
    return le64toh(word);
}

static uint64_t sip_finish(sip_state *s)
{
    for (int i = 0; i < 4; i++)
        sip_round(s);
    return s->a ^ s->b ^ s->c ^ s->d;
}

kc__siphash_result kc__siphash_of(const kc__siphash_key *key, kc_str text)
{
    kc__siphash_result result;
    const char *at = text.p;
    sip_state s = {key->k0 ^ 0x736f6d6570736575, key->k1 ^ 0x646f72616e646f6d ^ 0xee,
                   key->k0 ^ 0x6c7967656e657261, key->k1 ^ 0x7465646279746573};
    for (size_t left = text.n / 8; left; left--, at += 8)
        sip_absorb(&s, sip_word(at, 8));
    sip_absorb(&s, (uint64_t)text.n << 56 | sip_word(at, text.n % 8));
    s.c ^= 0xee;
    result.words[0] = sip_finish(&s);
    s.b ^= 0xdd;
    result.words[1] = sip_finish(&s);
    return result;
}
