/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern_internal.h: regular expressions of schemas (object/regex), compiled when they are first
 * matched: a schema may contain hundreds of patterns of which most are never used.
 *
 * A pattern is immutable except for the compiled expression, which the first match publishes
 * atomically; any number of threads may match it.
 */
#ifndef KC_PATTERN_INTERNAL_H
#define KC_PATTERN_INTERNAL_H

#include "kc/arena.h"
#include "kc/buf.h"
#include "object/regex/regex.h"

#include <stdatomic.h>

typedef struct kc__pattern {
    kc_str source;
    _Atomic(kc__regex *) regex; /* NULL before the first match. */
    struct kc__pattern *next;   /* In the owner's list of patterns to release. */
} kc__pattern;

enum { KC__PATTERN_MAX = 16 * 1024 }; /* Bytes of source. */

/* Checks a source completely. False with a message in `why`. */
bool kc__pattern_valid(kc_str source, kc_buf *why);

/* Creates a pattern in the arena; NULL with a message in `why` when the source is not valid. */
kc__pattern *kc__pattern_new(kc_arena *arena, kc_str source, kc_buf *why);
/* Releases what the arena does not own. */
void kc__pattern_done(kc__pattern *pattern);

typedef enum kc__pattern_match_result {
    KC__PATTERN_NO_MATCH,
    KC__PATTERN_MATCHES,
    KC__PATTERN_TOO_COSTLY, /* The steps are exceeded. */
} kc__pattern_match_result;

/* Searches text, which must be UTF-8, for the pattern: not anchored. Reduces *steps, which are
 * those of kc__regex_match. */
kc__pattern_match_result kc__pattern_match(const kc__pattern *pattern, kc_str text,
                                           uint64_t *steps);

#endif
