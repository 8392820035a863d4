/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.c: text to canonical text in one pass.
 *
 * Every object that enters the program passes here, so this is its hottest loop: it validates the
 * text, writes it without white space and notes where the metadata lies, without building a tree.
 * It accepts only what it can vouch for byte by byte: well-formed UTF-8, short escapes, whole
 * numbers of up to 18 digits, distinct member names. Anything else, be it wrong or only rare (\u
 * escapes, fractions, a name that occurs twice), makes it answer "not sure", and read.c decides
 * with a real parser and a proper error. So this file has no error messages, and a bug here can
 * only be to accept what read.c would refuse or write it differently: the fuzzer
 * tests/fuzz/object.c compares the two.
 *
 * Strings go 16 bytes at a time. The output never outruns the input, so a 16-byte store is safe
 * where a 16-byte load was.
 */
#include "object/object_internal.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { MOST_KEYS = 512, MOST_DIGITS = 18 };

enum holder { HOLDER_ROOT, HOLDER_METADATA, HOLDER_OTHER };

typedef struct scanner {
    const char *in, *end;
    char *out;
    const char *out_start;
    unsigned depth_left;
    bool trusted;
    size_t n_keys;
    uint32_t
        keys[MOST_KEYS]; /* Hashes of the names in the objects that are open, outermost first. */
    kc__span *parts;
} scanner;

static const struct part {
    enum holder holder;
    char first; /* Of the value's text; '0' stands for a number. */
    uint8_t n;
    const char *key;
} known_parts[] = {
#define FIRST_STRING '"'
#define FIRST_OBJECT '{'
#define FIRST_ARRAY  '['
#define FIRST_NUMBER '0'
#define PART_ROW(name, holder, key, type) \
    [KC__##name] = {HOLDER_##holder, FIRST_##type, sizeof(key) - 1, key},
    KC__PARTS(PART_ROW)
#undef PART_ROW
};

static bool scan_value(scanner *s, enum holder holder);

static inline void skip_space(scanner *s)
{
    while (s->in < s->end && (*s->in == ' ' || *s->in == '\n' || *s->in == '\t' || *s->in == '\r'))
        s->in++;
}

static inline bool copy_if(scanner *s, char c)
{
    if (s->in == s->end || *s->in != c)
        return false;
    *s->out++ = c;
    s->in++;
    return true;
}

static inline bool copy_word(scanner *s, const char *word, size_t n)
{
    if ((size_t)(s->end - s->in) < n || memcmp(s->in, word, n) != 0)
        return false;
    memcpy(s->out, word, n);
    s->in += n;
    s->out += n;
    return true;
}

/* Copies plain ASCII up to the first byte that needs a look. */
static inline void copy_plain(scanner *s)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    const __m128i space = _mm_set1_epi8(' ');
    while (s->end - s->in >= 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)s->in);
        _mm_storeu_si128((__m128i *)(void *)s->out, bytes);
        /* As signed bytes, control characters and everything beyond ASCII are below the space. */
        __m128i special = _mm_or_si128(
            _mm_cmplt_epi8(bytes, space),
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
        unsigned mask = (unsigned)_mm_movemask_epi8(special);
        unsigned n = mask ? (unsigned)__builtin_ctz(mask) : 16;
        s->in += n;
        s->out += n;
        if (mask)
            return;
    }
#endif
    while (s->in < s->end && *s->in >= ' ' && *s->in != '"' && *s->in != '\\' && *s->in > 0)
        *s->out++ = *s->in++;
}

static bool continues(const unsigned char *p)
{
    return (*p & 0xC0) == 0x80;
}

/* Overlong forms, surrogates and what lies beyond U+10FFFF are no sequences. */
size_t kc__utf8_length(const unsigned char *p, size_t left)
{
    if (p[0] < 0x80)
        return 1;
    if (p[0] >= 0xC2 && p[0] <= 0xDF)
        return left >= 2 && continues(p + 1) ? 2 : 0;
    if (p[0] >= 0xE0 && p[0] <= 0xEF) {
        if (left < 3 || !continues(p + 1) || !continues(p + 2))
            return 0;
        bool overlong = p[0] == 0xE0 && p[1] < 0xA0, surrogate = p[0] == 0xED && p[1] > 0x9F;
        return overlong || surrogate ? 0 : 3;
    }
    if (p[0] >= 0xF0 && p[0] <= 0xF4) {
        if (left < 4 || !continues(p + 1) || !continues(p + 2) || !continues(p + 3))
            return 0;
        bool overlong = p[0] == 0xF0 && p[1] < 0x90, beyond = p[0] == 0xF4 && p[1] > 0x8F;
        return overlong || beyond ? 0 : 4;
    }
    return 0;
}

static bool copy_sequence(scanner *s)
{
    if (*s->in >= 0)
        return false; /* A control character. */
    size_t n = kc__utf8_length((const unsigned char *)s->in, (size_t)(s->end - s->in));
    memmove(s->out, s->in, n);
    s->in += n;
    s->out += n;
    return n > 0;
}

static bool copy_escape(scanner *s)
{
    if (s->end - s->in < 2)
        return false;
    char c = s->in[1];
    bool same = c == '"' || c == '\\' || c == 'b' || c == 'f' || c == 'n' || c == 'r' || c == 't';
    if (!same && !(s->trusted && c == 'u'))
        return false;
    *s->out++ = '\\';
    *s->out++ = c;
    s->in += 2;
    return true;
}

/* From the opening quote to behind the closing one. */
static inline bool scan_string(scanner *s)
{
    if (!copy_if(s, '"'))
        return false;
    for (;;) {
        copy_plain(s);
        if (s->in == s->end)
            return false;
        if (*s->in == '"')
            return copy_if(s, '"');
        if (*s->in == '\\' ? !copy_escape(s) : !copy_sequence(s))
            return false;
    }
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool scan_number(scanner *s)
{
    const char *p = s->in;
    bool negative = p < s->end && *p == '-';
    p += negative;
    const char *digits = p;
    while (p < s->end && is_digit(*p))
        p++;
    bool whole = p == s->end || (*p != '.' && *p != 'e' && *p != 'E');
    size_t n = (size_t)(p - digits);
    bool plain = n > 0 && n <= MOST_DIGITS && whole && (digits[0] != '0' || (n == 1 && !negative));
    if (!plain && !s->trusted)
        return false;
    while (p < s->end && *p != ',' && *p != '}' && *p != ']' && s->trusted)
        p++;
    memmove(s->out, s->in, (size_t)(p - s->in));
    s->out += p - s->in;
    s->in = p;
    return true;
}

static uint32_t key_hash(const char *p, size_t n)
{
    const uint64_t k = 0x9e3779b97f4a7c15u;
    uint64_t h = n * k, word;
    for (; n > 8; p += 8, n -= 8) {
        memcpy(&word, p, 8);
        h = (h ^ word) * k;
        h ^= h >> 29;
    }
    word = 0;
    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)(unsigned char)p[i] << (8 * i);
    h = (h ^ word) * k;
    return (uint32_t)(h >> 32);
}

/* Notes a name of the object whose names start at `first`. False when it may have been there
 * already. */
static bool note_key(scanner *s, size_t first, const char *p, size_t n)
{
    if (s->trusted)
        return true;
    if (s->n_keys == MOST_KEYS || memchr(p, '\\', n))
        return false;
    uint32_t hash = key_hash(p, n), seen = 0;
    for (size_t i = first; i < s->n_keys; i++)
        seen |= s->keys[i] == hash;
    s->keys[s->n_keys++] = hash;
    return !seen;
}

static int part_of(enum holder holder, const char *key, size_t n)
{
    if (holder == HOLDER_OTHER)
        return -1;
    for (int i = 0; i < KC__N_PARTS; i++)
        if (known_parts[i].holder == holder && known_parts[i].n == n &&
            memcmp(known_parts[i].key, key, n) == 0)
            return i;
    return -1;
}

static void note_part(scanner *s, int part, const char *value)
{
    char first = is_digit(*value) || *value == '-' ? '0' : *value;
    if (first != known_parts[part].first) {
        s->parts[part].at = KC__MISTYPED;
        return;
    }
    bool quoted = first == '"';
    s->parts[part] = (kc__span){(uint32_t)(value - s->out_start + quoted),
                                (uint32_t)(s->out - value - 2 * quoted)};
}

static bool scan_member(scanner *s, enum holder holder, size_t first_key)
{
    const char *key = s->out + 1;
    if (!scan_string(s))
        return false;
    size_t n = (size_t)(s->out - key - 1);
    if (!note_key(s, first_key, key, n))
        return false;
    skip_space(s);
    if (!copy_if(s, ':'))
        return false;
    skip_space(s);

    int part = part_of(holder, key, n);
    const char *value = s->out;
    if (!scan_value(s, part == KC__METADATA ? HOLDER_METADATA : HOLDER_OTHER))
        return false;
    if (part >= 0)
        note_part(s, part, value);
    return true;
}

static bool scan_object(scanner *s, enum holder holder)
{
    size_t first_key = s->n_keys;
    copy_if(s, '{');
    skip_space(s);
    if (!copy_if(s, '}')) {
        for (;;) {
            if (!scan_member(s, holder, first_key))
                return false;
            skip_space(s);
            if (copy_if(s, '}'))
                break;
            if (!copy_if(s, ','))
                return false;
            skip_space(s);
        }
    }
    s->n_keys = first_key;
    return true;
}

static bool scan_array(scanner *s)
{
    copy_if(s, '[');
    skip_space(s);
    if (copy_if(s, ']'))
        return true;
    for (;;) {
        if (!scan_value(s, HOLDER_OTHER))
            return false;
        skip_space(s);
        if (copy_if(s, ']'))
            return true;
        if (!copy_if(s, ','))
            return false;
        skip_space(s);
    }
}

static bool scan_container(scanner *s, enum holder holder, bool object)
{
    if (s->depth_left == 0)
        return false;
    s->depth_left--;
    bool ok = object ? scan_object(s, holder) : scan_array(s);
    s->depth_left++;
    return ok;
}

static bool scan_value(scanner *s, enum holder holder)
{
    if (s->in == s->end)
        return false;
    switch (*s->in) {
    case '"': return scan_string(s);
    case '{': return scan_container(s, holder, true);
    case '[': return scan_container(s, holder, false);
    case 't': return copy_word(s, "true", 4);
    case 'f': return copy_word(s, "false", 5);
    case 'n': return copy_word(s, "null", 4);
    default: return scan_number(s);
    }
}

bool kc__scan(kc_str in, unsigned max_depth, bool trusted, char *out, size_t *ret_n,
              kc__span parts[KC__N_PARTS])
{
    scanner s;
    s.in = in.p;
    s.end = in.p + in.n;
    s.out = out;
    s.out_start = out;
    s.depth_left = max_depth;
    s.trusted = trusted;
    s.n_keys = 0;
    s.parts = parts;
    memset(parts, 0, sizeof(*parts) * KC__N_PARTS);

    skip_space(&s);
    if (s.in == s.end || *s.in != '{' || !scan_value(&s, HOLDER_ROOT))
        return false;
    skip_space(&s);
    *ret_n = (size_t)(s.out - out);
    return s.in == s.end;
}
