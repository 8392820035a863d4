/* SPDX-License-Identifier: Apache-2.0 */
/*
 * str.h: slices: strings that carry their length and do not own their bytes.
 *
 * All data from the wire is a kc_str: it points into a buffer, an arena or an object, is not
 * terminated, and may contain any byte. Copies are explicit (kc_str_dup). A zeroed kc_str is the
 * empty string; `p` may be NULL only when `n` is 0. To print one: printf("%.*s", KC_ARG(s)).
 */
#ifndef KC_STR_H
#define KC_STR_H

#include "kc/mem.h"

typedef struct kc_str {
    const char *p;
    size_t n;
} kc_str;

/* A slice of a literal, usable in initialisers. */
#define KC_STR(literal)      (kc_str){"" literal "", sizeof(literal) - 1}
#define KC_STR_INIT(literal) {"" literal "", sizeof(literal) - 1}
/* For "%.*s". */
#define KC_ARG(s) ((int)KC_MIN((s).n, (size_t)INT32_MAX)), ((s).p ? (s).p : "")

/* The empty string for NULL. */
static inline kc_str kc_cstr(const char *text)
{
    return (kc_str){text, text ? strlen(text) : 0};
}

static inline kc_str kc_str_of(const char *p, size_t n)
{
    return (kc_str){p, n};
}

static inline bool kc_str_eq(kc_str a, kc_str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool kc_str_is(kc_str a, const char *text)
{
    return kc_str_eq(a, kc_cstr(text));
}
/* True if it equals a string of a list that ends with NULL. */
bool kc_str_is_any(kc_str a, const char *const *texts);

static inline bool kc_str_empty(kc_str s)
{
    return s.n == 0;
}

/* Bytes from `from` up to, not including, `to`; both are clipped to the slice. */
static inline kc_str kc_str_sub(kc_str s, size_t from, size_t to)
{
    to = KC_MIN(to, s.n);
    from = KC_MIN(from, to);
    return (kc_str){s.p ? s.p + from : NULL, to - from};
}

/* Byte order; a prefix comes first. <0, 0 or >0. */
int kc_str_cmp(kc_str a, kc_str b);
/* The same for qsort and bsearch, over arrays of kc_str. */
int kc_str_compare(const void *a, const void *b);

bool kc_str_starts(kc_str s, kc_str prefix);
bool kc_str_ends(kc_str s, kc_str suffix);
bool kc_str_contains(kc_str s, kc_str part);
bool kc_str_eq_nocase(kc_str a, kc_str b); /* ASCII only. */

/* Position of the first (last) `c`, or -1. */
ptrdiff_t kc_str_find(kc_str s, char c);
ptrdiff_t kc_str_rfind(kc_str s, char c);

/* Without leading and trailing ASCII white space. */
kc_str kc_str_trim(kc_str s);

/*
 * Splits at the first `sep`: returns the part before it and leaves the part after it in *rest.
 * Without a `sep`, returns all of *rest and sets its p to NULL, so a loop is `while (rest.p) {
 * kc_str part = kc_str_cut(&rest, ','); … }`.
 */
kc_str kc_str_cut(kc_str *rest, char sep);

/* A terminated copy; the caller frees it. */
char *kc_str_dup(kc_str s);

/* Parses a decimal integer that is the whole slice: no spaces, no sign for u64, '-' allowed for
 * i64. False if it is invalid or does not fit. */
bool kc_str_to_u64(kc_str s, uint64_t *ret);
bool kc_str_to_i64(kc_str s, int64_t *ret);

/* A seeded hash for tables in memory; never store it. */
uint64_t kc_str_hash(kc_str s, uint64_t seed);

/*
 * The nearest of `names` to the typed word, for "did you mean", ignoring case: at most a third of
 * the letters may differ (or one, in a short word), and never all of them. NULL when none is near.
 */
const char *kc_str_nearest(kc_str typed, const char *const *names, size_t n_names);

#endif
