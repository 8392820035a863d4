/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regex.h: regular expressions with the syntax and semantics of RE2 (Go's package regexp), matched
 * in time linear in the text.
 *
 *     kc_scoped(kc_buf) why = {0};
 *     kc__regex *re = kc__regex_compile(KC_STR("^[a-z]+$"), NULL, &why);
 *     if (!re)
 *         return …;                                  why: error parsing regexp: …
 *     uint64_t steps = KC__REGEX_STEPS_MAX;
 *     bool matches = kc__regex_match(re, text, &steps);
 *     re = kc__regex_free(re);
 *
 * A compiled expression is immutable, except for a cache of automaton states that all threads share
 * and that is bounded; any number of threads may use it. Text is UTF-8; an invalid byte counts as
 * U+FFFD, as in Go.
 */
#ifndef KC_REGEX_H
#define KC_REGEX_H

#include "kc/arena.h"
#include "kc/buf.h"

typedef struct kc__regex kc__regex;

typedef struct kc__regex_opts {
    size_t max_program; /* Instructions. Defaults to KC__REGEX_PROGRAM_MAX. */
    size_t max_cache;   /* Bytes of cached states. Defaults to KC__REGEX_CACHE_MAX. */
} kc__regex_opts;

enum {
    KC__REGEX_PROGRAM_MAX = 20000,
    KC__REGEX_CACHE_MAX = 64 * 1024,
    KC__REGEX_STEPS_MAX = 30 * 1000 * 1000, /* A few tenths of a second. */
};

/* NULL with Go's message in `why` when the pattern is invalid or too large. opts may be NULL. The
 * caller frees the result. */
kc__regex *kc__regex_compile(kc_str pattern, const kc__regex_opts *opts, kc_buf *why);
kc__regex *kc__regex_free(kc__regex *re);

/* Bytes of memory, cached states included. */
size_t kc__regex_memory(const kc__regex *re);

/*
 * True if any part of the text matches. Time is linear in the text, but when the cache is full each
 * byte costs up to the size of the program: *steps is what such a match may cost, and is reduced. A
 * match that exceeds it returns false and leaves 0. `steps` may be NULL: no limit.
 */
bool kc__regex_match(const kc__regex *re, kc_str text, uint64_t *steps);

typedef struct kc__regex_span {
    ptrdiff_t from, to; /* Byte offsets; -1 for a group that takes no part in the match. */
} kc__regex_span;

/*
 * Finds the first match at or after byte `from`: leftmost, then by the preference of the
 * expression. spans[0] is the match, spans[i] group i; `n` is the number of spans to fill, at least
 * one. Takes its working memory from the arena. False when there is no match, when an arena with a
 * limit is full, or when *steps are exceeded, as in kc__regex_match.
 */
bool kc__regex_find(const kc__regex *re, kc_str text, size_t from, kc_arena *scratch,
                    kc__regex_span *spans, size_t n, uint64_t *steps);

#endif
