/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.c: converts text to canonical text, in one pass and without a tree.
 *
 * Every object that enters the program passes through here, so this is its hottest loop. The
 * scanner validates the text, records the positions of the metadata and counts white space; if
 * there is any, it compacts the text in place. It accepts only input that it can verify byte by
 * byte: well-formed UTF-8, short escapes, integers of up to 18 digits, plain fractions of up to 15,
 * distinct member names. Each character that it accepts has one spelling, so two names are equal if
 * their texts are, with escapes too: metadata.managedFields is full of `"k:{\"name\":\"a\"}"`. For
 * any other input, invalid or only rare (\u escapes, exponents, a duplicate name), it returns "not
 * sure", and read.c decides with a full parser and a proper error. So this file has no error
 * messages, and a bug here can only accept what read.c would reject, or write it differently: the
 * fuzzer tests/fuzz/object.c compares the two.
 *
 * Each scan_ function takes the position before its input and returns the one after it, or NULL.
 * No position is stored in memory, so positions stay in registers; the NUL after the text stops
 * every function, so that only the 16-byte steps check for the end.
 */
#include "object/model/object_internal.h"

#include "kc/ascii.h"
#include "kc/utf8.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { MOST_KEYS = 512, MOST_DIGITS = 18, MOST_EXACT = 15 };

enum holder { HOLDER_ROOT, HOLDER_METADATA, HOLDER_OTHER };

typedef struct json_scan_scanner {
    const char *start, *end;
    size_t skipped; /* Bytes of white space so far. */
    unsigned depth_left;
    bool trusted;
    size_t n_keys;
    uint32_t keys[MOST_KEYS]; /* Hashes of the names in the open objects, outermost first. */
    kc__object_scan_result *result;
} json_scan_scanner;

static const struct json_scan_part {
    enum holder holder;
    char first; /* Of the value's text; '0' means a number. */
    uint8_t n;
    const char *key;
} known_parts[] = {
#define FIRST_STRING '"'
#define FIRST_OBJECT '{'
#define FIRST_ARRAY  '['
#define FIRST_NUMBER '0'
#define PART_ROW(name, holder, key, letter, type) \
    [KC__OBJECT_PART_##name] = {HOLDER_##holder, FIRST_##type, sizeof(key) - 1, key},
    KC__OBJECT_PARTS(PART_ROW)
#undef PART_ROW
};

/* A perfect hash of the parts' keys; a collision is a compile error. */
#define PART_SLOT(n, letter) (((n) + 8 * (size_t)(letter)) % 32)
static const uint8_t part_slots[32] = {
#define SLOT_ROW(name, holder, key, letter, type) \
    [PART_SLOT(sizeof(key) - 1, letter)] = KC__OBJECT_PART_##name,
    KC__OBJECT_PARTS(SLOT_ROW)
#undef SLOT_ROW
};

static const char *scan_container(json_scan_scanner *s, const char *at, enum holder holder)
    __attribute__((noinline));

static bool json_scan_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static inline const char *json_scan_skip_space(json_scan_scanner *s, const char *at)
{
    if (__builtin_expect((unsigned char)*at > ' ', 1))
        return at;
    const char *from = at;
    while (json_scan_is_space(*at))
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

static inline bool json_scan_is_plain(char c)
{
    return (signed char)c >= ' ' && c != '"' && c != '\\';
}

#ifdef __SSE2__
/* A bit for each of 16 bytes that is not a plain character of a string. */
static inline unsigned special_in_16(const char *p)
{
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    const __m128i space = _mm_set1_epi8(' ');
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
    /* As signed bytes, control characters and bytes beyond ASCII are below the space. */
    __m128i special =
        _mm_or_si128(_mm_cmplt_epi8(bytes, space),
                     _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
    return (unsigned)_mm_movemask_epi8(special);
}
#endif

/* The first byte from `at` on that is not a plain character of a string. */
static inline const char *skip_plain(const json_scan_scanner *s, const char *at)
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
    while (json_scan_is_plain(*at))
        at++;
    return at;
}

static const char *scan_escape(const json_scan_scanner *s, const char *at)
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

static const char *scan_sequence(const json_scan_scanner *s, const char *at)
{
    if ((signed char)*at >= 0)
        return NULL; /* A control character. */
    size_t n = kc_utf8_next(kc_str_of(at, (size_t)(s->end - at)), NULL);
    return n ? at + n : NULL;
}

/* Handles a special byte other than a quote: an escape, a character beyond ASCII, or an error. */
static const char *scan_special(const json_scan_scanner *s, const char *at)
{
    return *at == '\\' ? scan_escape(s, at) : scan_sequence(s, at);
}

#ifdef __SSE2__
/*
 * Scans whole blocks of 16 bytes: returns the closing quote, or where to continue byte by byte;
 * NULL for an error. Escapes are handled within the block without a new load after each: the
 * address of the next load would otherwise depend on each of them.
 */
static inline const char *scan_string_blocks(const json_scan_scanner *s, const char *at)
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
static inline const char *scan_string_blocks(const json_scan_scanner *s, const char *at)
{
    (void)s;
    return at;
}
#endif

/* From after the opening quote to the closing one. */
static inline const char *json_scan_string(const json_scan_scanner *s, const char *at)
{
    at = scan_string_blocks(s, at);
    while (at && *at != '"')
        at = json_scan_is_plain(*at) ? at + 1 : scan_special(s, at);
    return at;
}

/*
 * The end of a fraction whose canonical form is identical, else NULL: no exponent, no trailing
 * zero, not below 0.1, and no more digits than a double preserves.
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

static const char *json_scan_number(const json_scan_scanner *s, const char *at)
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

static inline uint64_t json_scan_load(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof(word));
    return word;
}

static inline uint32_t key_hash(const json_scan_scanner *s, const char *p, size_t n)
{
    const uint64_t k = 0x9e3779b97f4a7c15u;
    uint64_t h = n * k, last = 0;
    if (n >= 8) {
        for (const char *at = p; at < p + n - 8; at += 8)
            h = (h ^ json_scan_load(at)) * k, h ^= h >> 29;
        last = json_scan_load(p + n - 8);
    } else if (s->end - p >= 8) {
        last = n ? json_scan_load(p) << (64 - 8 * n) : 0;
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

/* The names of one object, within scanner.keys. */
typedef struct name_set {
    size_t first;
    /* One for each hash, by its lowest bits: proves quickly that most names are new. */
    uint64_t bits;
} name_set;

/* False if the name may be a duplicate. */
static inline bool note_name(json_scan_scanner *s, name_set *names, const char *p, size_t n)
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

static void note_part(json_scan_scanner *s, int part, const char *value, size_t skipped,
                      const char *end)
{
    char first = kc_is_digit(*value) || *value == '-' ? '0' : *value;
    if (first != known_parts[part].first) {
        s->result->parts[part].at = KC__OBJECT_PART_MISTYPED;
        return;
    }
    size_t quote = first == '"';
    if (quote && skip_plain(s, value + 1) != end - 1)
        s->result->escapes |= memchr(value, '\\', (size_t)(end - value)) != NULL;
    size_t n = (size_t)(end - value) - (s->skipped - skipped);
    s->result->parts[part] = (kc__object_span){
        (uint32_t)((size_t)(value - s->start) - skipped + quote), (uint32_t)(n - 2 * quote)};
}

/* A string in quotes, which nearly always is plain as a whole. */
static inline const char *scan_quoted(const json_scan_scanner *s, const char *at)
{
    at = skip_plain(s, at + 1);
    if (*at != '"' && !(at = json_scan_string(s, at)))
        return NULL;
    return at + 1;
}

/* Inline, because most values are strings: only containers need a stack frame. */
static inline const char *scan_value(json_scan_scanner *s, const char *at, enum holder holder)
{
    switch (*at) {
    case '"': return scan_quoted(s, at);
    case '{':
    case '[': return scan_container(s, at, holder);
    case 't': return scan_word(at, "true");
    case 'f': return scan_word(at, "false");
    case 'n': return scan_word(at, "null");
    default: return json_scan_number(s, at);
    }
}

static const char *scan_noted_value(json_scan_scanner *s, const char *at, int part)
{
    size_t skipped = s->skipped;
    const char *end =
        scan_value(s, at, part == KC__OBJECT_PART_METADATA ? HOLDER_METADATA : HOLDER_OTHER);
    if (end)
        note_part(s, part, at, skipped, end);
    return end;
}

static inline const char *scan_member(json_scan_scanner *s, const char *at, enum holder holder,
                                      name_set *names)
{
    if (*at != '"')
        return NULL;
    const char *key = at + 1;
    at = scan_quoted(s, at);
    if (!at)
        return NULL;
    size_t n = (size_t)(at - key) - 1;
    if (!note_name(s, names, key, n))
        return NULL;
    at = json_scan_skip_space(s, at);
    if (*at != ':')
        return NULL;
    at = json_scan_skip_space(s, at + 1);
    int part = holder == HOLDER_OTHER ? -1 : part_of(holder, key, n);
    return part < 0 ? scan_value(s, at, HOLDER_OTHER) : scan_noted_value(s, at, part);
}

static const char *scan_object(json_scan_scanner *s, const char *at, enum holder holder)
{
    name_set names = {.first = s->n_keys};
    at = json_scan_skip_space(s, at);
    if (*at == '}')
        return at + 1;
    while ((at = scan_member(s, at, holder, &names))) {
        at = json_scan_skip_space(s, at);
        if (*at == '}') {
            s->n_keys = names.first;
            return at + 1;
        }
        if (*at != ',')
            return NULL;
        at = json_scan_skip_space(s, at + 1);
    }
    return NULL;
}

static const char *scan_array(json_scan_scanner *s, const char *at)
{
    at = json_scan_skip_space(s, at);
    if (*at == ']')
        return at + 1;
    while ((at = scan_value(s, at, HOLDER_OTHER))) {
        at = json_scan_skip_space(s, at);
        if (*at == ']')
            return at + 1;
        if (*at != ',')
            return NULL;
        at = json_scan_skip_space(s, at + 1);
    }
    return NULL;
}

static const char *scan_container(json_scan_scanner *s, const char *at, enum holder holder)
{
    if (s->depth_left == 0)
        return NULL;
    s->depth_left--;
    at = *at == '{' ? scan_object(s, at + 1, holder) : scan_array(s, at + 1);
    s->depth_left++;
    return at;
}

/* Removes the white space from valid text. */
static void compact(char *text)
{
    char *to = text;
    while (*text) {
        char *from = text;
        if (json_scan_is_space(*text)) {
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

/* Scans an object; its parts are those of `holder`. */
static bool scan_text(char *text, size_t n, unsigned max_depth, bool trusted, enum holder holder,
                      kc__object_scan_result *ret)
{
    json_scan_scanner s;
    s.start = text;
    s.end = text + n;
    s.skipped = 0;
    s.depth_left = max_depth;
    s.trusted = trusted;
    s.n_keys = 0;
    s.result = ret;
    *ret = (kc__object_scan_result){0};

    const char *at = json_scan_skip_space(&s, text);
    if (*at != '{' || !(at = scan_value(&s, at, holder)) || json_scan_skip_space(&s, at) != s.end)
        return false;
    ret->n = n - s.skipped;
    if (s.skipped)
        compact(text);
    return true;
}

bool kc__json_scan(char *text, size_t n, unsigned max_depth, bool trusted,
                   kc__object_scan_result *ret)
{
    return scan_text(text, n, max_depth, trusted, HOLDER_ROOT, ret);
}

bool kc__json_scan_metadata(char *text, size_t n, unsigned max_depth, kc__object_scan_result *ret)
{
    return scan_text(text, n, max_depth, true, HOLDER_METADATA, ret);
}
