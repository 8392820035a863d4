/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.c: the patterns of schemas.
 *
 * A pattern is compiled twice: when the schema is compiled, to find errors, and at the first match.
 * If two threads match it first, one of them discards its result.
 */
#include "object/schema/pattern_internal.h"

bool kc__pattern_valid(kc_str source, kc_buf *why)
{
    if (source.n > KC__PATTERN_MAX) {
        kc_buf_printf(why, "it has %zu bytes: limit is %d", source.n, KC__PATTERN_MAX);
        return false;
    }
    kc__regex *regex = kc__regex_compile(source, NULL, why);
    bool valid = regex != NULL;
    kc__regex_free(regex);
    return valid;
}

kc__pattern *kc__pattern_new(kc_arena *arena, kc_str source, kc_buf *why)
{
    if (!kc__pattern_valid(source, why))
        return NULL;
    kc__pattern *pattern = kc_arena_new(arena, kc__pattern);
    pattern->source = kc_arena_str(arena, source);
    return pattern;
}

void kc__pattern_done(kc__pattern *pattern)
{
    kc__regex_free(atomic_load(&pattern->regex));
}

static const kc__regex *regex_of(const kc__pattern *pattern)
{
    kc__pattern *p = (kc__pattern *)pattern; /* The expression is a cache: logically const. */
    kc__regex *published = atomic_load_explicit(&p->regex, memory_order_acquire);
    if (published)
        return published;
    kc_scoped(kc_buf) why = {0};
    kc__regex *made = kc__regex_compile(p->source, NULL, &why);
    if (atomic_compare_exchange_strong(&p->regex, &published, made))
        return made;
    kc__regex_free(made);
    return published;
}

kc__pattern_match_result kc__pattern_match(const kc__pattern *pattern, kc_str text, uint64_t *steps)
{
    if (kc__regex_match(regex_of(pattern), text, steps))
        return KC__PATTERN_MATCHES;
    return *steps ? KC__PATTERN_NO_MATCH : KC__PATTERN_TOO_COSTLY;
}
