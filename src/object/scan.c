/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.c: text to canonical text, in one pass and without a tree.
 *
 * Every object that enters the program passes here, so this is its hottest loop. It validates the
 * text, notes where the metadata lies and counts white space; if there is any, the text is then
 * compacted in place. It accepts only what it can vouch for byte by byte: well-formed
 * UTF-8, short escapes, whole numbers of up to 18 digits, plain fractions of up to 15, distinct
 * member names. Anything else, be it wrong or only rare (\u escapes, exponents, a name that occurs
 * twice), makes it answer "not sure", and read.c decides with a real parser and a proper error. So
 * this file has no error messages, and a bug here can only be to accept what read.c would refuse,
 * or to write it differently: the fuzzer tests/fuzz/object.c compares the two.
 *
 * Each scan_ function takes the position before what it scans and gives the one behind it, or NULL.
 * Nothing is stored on the way, so that positions stay in registers, and the NUL behind the text
 * stops every function, so that only the 16-byte steps look where the end is.
 */
#include "object/object_internal.h"

#include "kc/ascii.h"
#include "kc/utf8.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { MOST_KEYS = 512, MOST_DIGITS = 18, MOST_EXACT = 15 };

enum holder { HOLDER_ROOT, HOLDER_METADATA, HOLDER_OTHER };

typedef struct scanner {
    const char *start, *end;
    size_t skipped; /* White space so far. */
    unsigned depth_left;
    bool trusted;
    size_t n_keys;
    uint32_t keys[MOST_KEYS]; /* Hashes of the names in the open objects, outermost first. */
    kc__scanned *result;
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
#define PART_ROW(name, holder, key, letter, type) \
    [KC__##name] = {HOLDER_##holder, FIRST_##type, sizeof(key) - 1, key},
    KC__PARTS(PART_ROW)
#undef PART_ROW
};

/* A perfect hash of the parts' keys; two in one slot would be an error of the compiler. */
#define PART_SLOT(n, letter) (((n) + 8 * (size_t)(letter)) % 32)
static const uint8_t part_slots[32] = {
#define SLOT_ROW(name, holder, key, letter, type) [PART_SLOT(sizeof(key) - 1, letter)] = KC__##name,
    KC__PARTS(SLOT_ROW)
#undef SLOT_ROW
};

static const char *scan_value(scanner *s, const char *at, enum holder holder);

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static inline const char *skip_space(scanner *s, const char *at)
{
    if (__builtin_expect((unsigned char)*at > ' ', 1))
        return at;
    const char *from = at;
    while (is_space(*at))
        at++;
    s->skipped += (size_t)(at - from);
    return at;
}

static const char *scan_word(const char *at, const char *word)
{
    for (; *word; at++, word++)
        if (*at != *word)
            return NULL;
    return at;
}

static inline bool is_plain(char c)
{
    return (signed char)c >= ' ' && c != '"' && c != '\\';
}

#ifdef __SSE2__
/* Which of 16 bytes a string does not just contain, as bits. */
static inline unsigned special_in_16(const char *p)
{
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    const __m128i space = _mm_set1_epi8(' ');
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
    /* As signed bytes, control characters and all beyond ASCII are below the space. */
    __m128i special =
        _mm_or_si128(_mm_cmplt_epi8(bytes, space),
                     _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
    return (unsigned)_mm_movemask_epi8(special);
}
#endif

/* The first byte from `at` on that is not a plain character of a string. */
static inline const char *skip_plain(const scanner *s, const char *at)
{
#ifdef __SSE2__
    for (; s->end - at >= 16; at += 16) {
        unsigned mask = special_in_16(at);
        if (mask)
            return at + __builtin_ctz(mask);
    }
#else
    (void)s;
#endif
    while (is_plain(*at))
        at++;
    return at;
}

static const char *scan_escape(const scanner *s, const char *at)
{
    switch (at[1]) {
    case '"':
    case '\\':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't': return at + 2;
    case 'u': return s->trusted ? at + 2 : NULL;
    default: return NULL;
    }
}

static const char *scan_sequence(const scanner *s, const char *at)
{
    if ((signed char)*at >= 0)
        return NULL; /* A control character. */
    size_t n = kc_utf8_next(kc_str_of(at, (size_t)(s->end - at)), NULL);
    return n ? at + n : NULL;
}

/* What stands at a special byte that is no quote: an escape, a character beyond ASCII, or an error.
 */
static const char *scan_special(const scanner *s, const char *at)
{
    return *at == '\\' ? scan_escape(s, at) : scan_sequence(s, at);
}

#ifdef __SSE2__
/*
 * As far as whole blocks of 16 bytes go: the closing quote, or where to go on byte by byte; NULL
 * for an error. Escapes are passed within the block, without loading again from behind them: where
 * the next load begins would otherwise wait for each of them.
 */
static inline const char *scan_string_blocks(const scanner *s, const char *at)
{
    while (s->end - at >= 16) {
        const char *next = at + 16;
        for (unsigned mask = special_in_16(at); mask;) {
            const char *p = at + __builtin_ctz(mask), *behind;
            if (*p == '"')
                return p;
            behind = scan_special(s, p);
            if (!behind || *p != '\\' || behind >= at + 16) {
                next = behind;
                break;
            }
            mask &= ~0u << (behind - at);
        }
        if (!next)
            return NULL;
        at = next;
    }
    return at;
}
#else
static inline const char *scan_string_blocks(const scanner *s, const char *at)
{
    (void)s;
    return at;
}
#endif

/* From behind the opening quote to the closing one. */
static inline const char *scan_string(const scanner *s, const char *at)
{
    at = scan_string_blocks(s, at);
    while (at && *at != '"')
        at = is_plain(*at) ? at + 1 : scan_special(s, at);
    return at;
}

/*
 * The end of a fraction that would be written as it stands, else NULL: without an exponent or a
 * zero at the end, not below 0.1, and with as few digits as a double keeps all of.
 */
static const char *scan_fraction(const char *digits, const char *point)
{
    const char *p = point + 1;
    while (kc_is_digit(*p))
        p++;
    size_t whole = (size_t)(point - digits), decimals = (size_t)(p - point - 1);
    bool zero = whole && digits[0] == '0';
    bool plain = whole && decimals && p[-1] != '0' && (!zero || (whole == 1 && point[1] != '0'));
    return plain && whole + decimals <= MOST_EXACT && *p != 'e' && *p != 'E' ? p : NULL;
}

static const char *scan_number(const scanner *s, const char *at)
{
    bool negative = *at == '-';
    const char *digits = at + negative, *p = digits;
    while (kc_is_digit(*p))
        p++;
    bool whole = *p != '.' && *p != 'e' && *p != 'E';
    size_t n = (size_t)(p - digits);
    bool zero_first = n && digits[0] == '0';
    if (n > 0 && n <= MOST_DIGITS && whole && (!zero_first || (n == 1 && !negative)))
        return p;
    const char *fraction = *p == '.' ? scan_fraction(digits, p) : NULL;
    if (fraction || !s->trusted)
        return fraction;
    while (*p != ',' && *p != '}' && *p != ']')
        p++;
    return p;
}

static inline uint64_t load(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof(word));
    return word;
}

static inline uint32_t key_hash(const scanner *s, const char *p, size_t n)
{
    const uint64_t k = 0x9e3779b97f4a7c15u;
    uint64_t h = n * k, last = 0;
    if (n >= 8) {
        for (const char *at = p; at < p + n - 8; at += 8)
            h = (h ^ load(at)) * k, h ^= h >> 29;
        last = load(p + n - 8);
    } else if (s->end - p >= 8) {
        last = n ? load(p) << (64 - 8 * n) : 0;
    } else {
        for (size_t i = 0; i < n; i++)
            last |= (uint64_t)(unsigned char)p[i] << (64 - 8 * (n - i));
    }
    return (uint32_t)((h ^ last) * k >> 32);
}

static inline bool seen_before(const uint32_t *keys, size_t n, uint32_t hash)
{
    size_t i = 0;
#ifdef __SSE2__
    __m128i wanted = _mm_set1_epi32((int)hash), found = _mm_setzero_si128();
    for (; i + 4 <= n; i += 4) {
        __m128i four = _mm_loadu_si128((const __m128i *)(const void *)(keys + i));
        found = _mm_or_si128(found, _mm_cmpeq_epi32(four, wanted));
    }
    if (_mm_movemask_epi8(found))
        return true;
#endif
    for (; i < n; i++)
        if (keys[i] == hash)
            return true;
    return false;
}

/* The names of one object, of those in scanner.keys. */
typedef struct name_set {
    size_t first;
    uint64_t bits; /* One for each hash, by its lowest bits: most names are new, and this tells. */
} name_set;

/* False if the name may have been there before. */
static inline bool note_name(scanner *s, name_set *names, const char *p, size_t n)
{
    if (s->trusted)
        return true;
    uint32_t hash = key_hash(s, p, n);
    uint64_t bit = (uint64_t)1 << (hash & 63);
    if (s->n_keys == MOST_KEYS)
        return false;
    if ((names->bits & bit) && seen_before(s->keys + names->first, s->n_keys - names->first, hash))
        return false;
    names->bits |= bit;
    s->keys[s->n_keys++] = hash;
    return true;
}

static int part_of(enum holder holder, const char *key, size_t n)
{
    int i = part_slots[PART_SLOT(n, (unsigned char)*key)];
    bool same = known_parts[i].n == n && known_parts[i].holder == holder &&
                memcmp(known_parts[i].key, key, n) == 0;
    return same ? i : -1;
}

static void note_part(scanner *s, int part, const char *value, size_t skipped, const char *end)
{
    char first = kc_is_digit(*value) || *value == '-' ? '0' : *value;
    if (first != known_parts[part].first) {
        s->result->parts[part].at = KC__MISTYPED;
        return;
    }
    size_t quote = first == '"';
    if (quote && skip_plain(s, value + 1) != end - 1)
        s->result->escapes |= memchr(value, '\\', (size_t)(end - value)) != NULL;
    size_t n = (size_t)(end - value) - (s->skipped - skipped);
    s->result->parts[part] = (kc__span){(uint32_t)((size_t)(value - s->start) - skipped + quote),
                                        (uint32_t)(n - 2 * quote)};
}

static const char *scan_noted_value(scanner *s, const char *at, int part)
{
    size_t skipped = s->skipped;
    const char *end = scan_value(s, at, part == KC__METADATA ? HOLDER_METADATA : HOLDER_OTHER);
    if (end)
        note_part(s, part, at, skipped, end);
    return end;
}

static inline const char *scan_member(scanner *s, const char *at, enum holder holder,
                                      name_set *names)
{
    if (*at != '"')
        return NULL;
    const char *key = at + 1;
    at = s->trusted ? scan_string(s, key) : skip_plain(s, key);
    if (!at || *at != '"')
        return NULL; /* A name with escapes could be another one in disguise. */
    size_t n = (size_t)(at - key);
    if (!note_name(s, names, key, n))
        return NULL;
    at = skip_space(s, at + 1);
    if (*at != ':')
        return NULL;
    at = skip_space(s, at + 1);
    int part = holder == HOLDER_OTHER ? -1 : part_of(holder, key, n);
    return part < 0 ? scan_value(s, at, HOLDER_OTHER) : scan_noted_value(s, at, part);
}

static const char *scan_object(scanner *s, const char *at, enum holder holder)
{
    name_set names = {.first = s->n_keys};
    at = skip_space(s, at);
    if (*at == '}')
        return at + 1;
    while ((at = scan_member(s, at, holder, &names))) {
        at = skip_space(s, at);
        if (*at == '}') {
            s->n_keys = names.first;
            return at + 1;
        }
        if (*at != ',')
            return NULL;
        at = skip_space(s, at + 1);
    }
    return NULL;
}

static const char *scan_array(scanner *s, const char *at)
{
    at = skip_space(s, at);
    if (*at == ']')
        return at + 1;
    while ((at = scan_value(s, at, HOLDER_OTHER))) {
        at = skip_space(s, at);
        if (*at == ']')
            return at + 1;
        if (*at != ',')
            return NULL;
        at = skip_space(s, at + 1);
    }
    return NULL;
}

static const char *scan_container(scanner *s, const char *at, enum holder holder)
{
    if (s->depth_left == 0)
        return NULL;
    s->depth_left--;
    at = *at == '{' ? scan_object(s, at + 1, holder) : scan_array(s, at + 1);
    s->depth_left++;
    return at;
}

static const char *scan_value(scanner *s, const char *at, enum holder holder)
{
    switch (*at) {
    case '"': at = scan_string(s, at + 1); return at ? at + 1 : NULL;
    case '{':
    case '[': return scan_container(s, at, holder);
    case 't': return scan_word(at, "true");
    case 'f': return scan_word(at, "false");
    case 'n': return scan_word(at, "null");
    default: return scan_number(s, at);
    }
}

/* Takes the white space out of valid text. */
static void compact(char *text)
{
    char *to = text;
    while (*text) {
        char *from = text;
        if (is_space(*text)) {
            text++;
            continue;
        }
        if (*text++ == '"') {
            for (; *text != '"'; text++)
                text += *text == '\\';
            text++;
        }
        memmove(to, from, (size_t)(text - from));
        to += text - from;
    }
    *to = '\0';
}

bool kc__scan(char *text, size_t n, unsigned max_depth, bool trusted, kc__scanned *ret)
{
    scanner s;
    s.start = text;
    s.end = text + n;
    s.skipped = 0;
    s.depth_left = max_depth;
    s.trusted = trusted;
    s.n_keys = 0;
    s.result = ret;
    *ret = (kc__scanned){0};

    const char *at = skip_space(&s, text);
    if (*at != '{' || !(at = scan_value(&s, at, HOLDER_ROOT)) || skip_space(&s, at) != s.end)
        return false;
    ret->n = n - s.skipped;
    if (s.skipped)
        compact(text);
    return true;
}
