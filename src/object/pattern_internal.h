/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern_internal.h: regular expressions of schemas: RE2's syntax, as Kubernetes takes it, matched
 * by PCRE2 under limits.
 *
 * A pattern is immutable except for the compiled code, which the first match makes and publishes
 * atomically; any number of threads may match it. A matcher is one thread's working memory for one
 * validation, usually on its stack.
 */
#ifndef KC_PATTERN_INTERNAL_H
#define KC_PATTERN_INTERNAL_H

#include "kc/arena.h"
#include "kc/buf.h"

#include <stdatomic.h>

typedef struct kc__pattern {
    kc_str source; /* As it was written; messages show it. */
    kc_str text;   /* The same for PCRE2. */
    void *_Atomic code;
    struct kc__pattern *next; /* In the list of what its owner must release. */
} kc__pattern;

enum { KC__PATTERN_MAX = 16 * 1024 }; /* Bytes of source. */

/*
 * Writes what PCRE2 must be given to match as Go's regexp does. False when the source is not RE2's
 * syntax; `why` then has Go's words for it.
 */
bool kc__pattern_translate(kc_str source, kc_buf *out, kc_buf *why);

/* PCRE2 knows the Unicode property, as in \p{Greek}. */
bool kc__pattern_knows_property(kc_str name);

/* Checks a source in every way there is. False with words in `why`. */
bool kc__pattern_valid(kc_str source, kc_buf *why);

/* A pattern in the arena; NULL with words in `why` when the source is not valid. */
kc__pattern *kc__pattern_new(kc_arena *arena, kc_str source, kc_buf *why);
/* Releases what the arena does not. */
void kc__pattern_done(kc__pattern *pattern);

typedef struct kc__matcher {
    void *memory, *match, *limits; /* PCRE2's three contexts, made at the first use. */
    void *stack;                   /* For machine code; made when it is short of it. */
    unsigned expensive;            /* Matches that needed the higher limit. */
    size_t used;                   /* Of space. */
    _Alignas(16) char space[384];
} kc__matcher;

/* Leaves `space` alone: a matcher is made for every validation, most use no pattern. */
static inline void kc__matcher_init(kc__matcher *m)
{
    m->memory = NULL;
    m->expensive = 0;
    m->used = 0;
}

void kc__matcher_done(kc__matcher *matcher);

typedef enum kc__matched {
    KC__NO_MATCH,
    KC__MATCHES,
    KC__MATCH_TOO_COSTLY, /* Given up at a limit. */
} kc__matched;

/* Searches text, which must be UTF-8, for the pattern: it is not anchored. */
kc__matched kc__pattern_match(const kc__pattern *pattern, kc__matcher *matcher, kc_str text);

#endif
