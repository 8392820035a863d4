/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any pattern is refused with a message or matches a text the same in three ways: by the automaton,
 * without its cache, and by the search for positions. The first line is the pattern, the rest the
 * text.
 */
#include "fuzzing.h"

#include "object/regex/regex.h"

static void check_spans(const kc__regex *re, kc_str text, bool matches)
{
    enum { SPANS = 3 };
    kc_scoped(kc_arena) arena = {0};
    kc__regex_span spans[SPANS];
    bool found = kc__regex_find(re, text, 0, &arena, spans, SPANS, NULL);
    assert(found == matches);
    for (size_t i = 0; i < SPANS && found; i++) {
        bool absent = spans[i].from == -1 && spans[i].to == -1;
        bool inside =
            spans[i].from >= 0 && spans[i].from <= spans[i].to && (size_t)spans[i].to <= text.n;
        assert(i ? absent || inside || spans[i].to == -1 || spans[i].from == -1 : inside);
        (void)absent, (void)inside;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str text = kc_str_of((const char *)data, KC_MIN(size, (size_t)4096));
    kc_str pattern = kc_str_cut(&text, '\n');
    kc_scoped(kc_buf) why = {0};
    kc__regex_opts small = {.max_program = 2000}, uncached = {.max_program = 2000, .max_cache = 1};
    kc__regex *re = kc__regex_compile(pattern, &small, &why);
    if (!re) {
        assert(why.n > 0);
        return 0;
    }
    kc__regex *slow = kc__regex_compile(pattern, &uncached, &why);
    bool matches = kc__regex_match(re, text, NULL);
    assert(kc__regex_match(re, text, NULL) == matches);
    assert(kc__regex_match(slow, text, NULL) == matches);
    check_spans(re, text, matches);
    kc__regex_free(re);
    kc__regex_free(slow);
    return 0;
}
