/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regex.c: compiled regular expressions: creation, memory, and the decoding of text.
 *
 * Libraries that backtrack take exponential time for some patterns and texts that a client can
 * choose, and their syntax and semantics are not RE2's. Matching here costs the size of the text
 * times, at worst, the size of the program.
 */
#include "object/regex/regex_internal.h"

#include "kc/utf8.h"

kc__regex *kc__regex_compile(kc_str pattern, const kc__regex_opts *opts, kc_buf *why)
{
    size_t max_program = opts && opts->max_program ? opts->max_program : KC__REGEX_PROGRAM_MAX;
    kc__regex_tree tree = {0};
    kc__regex *re = kc_new(kc__regex);
    re->max_cache = opts && opts->max_cache ? opts->max_cache : KC__REGEX_CACHE_MAX;
    bool ok =
        kc__regex_parse(pattern, &tree, why) && kc__regex_program(re, &tree, max_program, why);
    kc_arena_done(&tree.arena);
    if (!ok)
        return kc__regex_free(re);
    kc__regex_dfa_new(re);
    return re;
}

kc__regex *kc__regex_free(kc__regex *re)
{
    if (!re)
        return NULL;
    kc__regex_dfa_free(re->dfa);
    free(re->insts);
    free(re->ranges);
    free(re->bounds);
    free(re);
    return NULL;
}

size_t kc__regex_memory(const kc__regex *re)
{
    return sizeof(*re) + re->n_insts * sizeof(*re->insts) + re->n_ranges * sizeof(*re->ranges) +
           re->n_bounds * sizeof(*re->bounds) + kc__regex_dfa_memory(re->dfa);
}

bool kc__regex_match(const kc__regex *re, kc_str text, uint64_t *steps)
{
    return kc__regex_dfa_match(re, text, steps);
}

uint32_t kc__regex_decode(kc_str text, size_t at, size_t *ret_length)
{
    uint32_t code = KC__REGEX_RUNE_ERROR;
    size_t n = kc_utf8_next(kc_str_of(text.p + at, text.n - at), &code);
    *ret_length = n ? n : 1;
    return n ? code : KC__REGEX_RUNE_ERROR;
}
