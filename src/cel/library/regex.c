/* SPDX-License-Identifier: Apache-2.0 */
/* regex.c: find and findAll: matches of a regular expression in a string. */
#include "cel/library/library_internal.h"

/* The compiled pattern: that of the plan, or a new one for the caller to free. */
static const kc__regex *pattern_of(kc__cel_eval *ev, kc_str pattern, kc__regex **ret_own,
                                   kc_cel_value *ret_error)
{
    *ret_own = NULL;
    if (ev->regex)
        return ev->regex;
    kc_scoped(kc_buf) why = {0};
    *ret_own = kc__cel_compile_pattern(ev, pattern, &why);
    if (!*ret_own)
        *ret_error = kc__cel_error(ev, "Illegal regex: %s", kc_buf_cstr(&why));
    return *ret_own;
}

static bool find_match(kc__cel_eval *ev, const kc__regex *regex, kc_str text, size_t from,
                       kc_arena *scratch, kc__regex_span *ret)
{
    kc_arena_clear(scratch);
    bool found = kc__regex_find(regex, text, from, scratch, ret, 1, &ev->regex_steps);
    kc__cel_check_regex_steps(ev);
    return found;
}

KC__CEL_FUNCTION(find)
{
    kc__regex *own;
    kc_cel_value result;
    const kc__regex *regex = pattern_of(ev, a[1].text, &own, &result);
    if (!regex)
        return result;
    kc_scoped(kc_arena) scratch = {0};
    kc__regex_span span;
    bool found = find_match(ev, regex, a[0].text, 0, &scratch, &span);
    result = kc__cel_text(found ? kc_str_sub(a[0].text, (size_t)span.from, (size_t)span.to)
                                : KC_STR(""));
    kc__regex_free(own);
    return result;
}

/* As Go: an empty match is not accepted next to the match before it. */
static void collect_matches(kc__cel_eval *ev, const kc__regex *regex, kc_str text, int64_t limit,
                            kc__cel_list *list)
{
    kc_scoped(kc_arena) scratch = {0};
    kc__regex_span span;
    ptrdiff_t previous_end = -1;
    size_t at = 0;
    while (at <= text.n && (limit < 0 || (int64_t)list->n < limit) &&
           find_match(ev, regex, text, at, &scratch, &span)) {
        bool accept = true;
        if (span.to == (ptrdiff_t)at) {
            /* An empty match: continue behind the next character. */
            accept = span.from != previous_end;
            unsigned char c = at < text.n ? (unsigned char)text.p[at] : 0;
            at += c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
        } else {
            at = (size_t)span.to;
        }
        previous_end = span.to;
        if (accept &&
            !kc__cel_list_append(
                ev, list, kc__cel_text(kc_str_sub(text, (size_t)span.from, (size_t)span.to))))
            return;
    }
}

KC__CEL_FUNCTION(find_all)
{
    kc__regex *own;
    kc_cel_value result;
    const kc__regex *regex = pattern_of(ev, a[1].text, &own, &result);
    if (!regex)
        return result;
    kc__cel_list *list = kc__cel_strings_new(ev, 0);
    if (list)
        collect_matches(ev, regex, a[0].text, n > 2 ? a[2].integer : -1, list);
    kc__regex_free(own);
    return list && !ev->stopped ? kc__cel_list_value(list) : kc__cel_error_const(ev->why);
}

static uint64_t find_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)n, (void)result;
    return kc__cel_cost_factor(1 + kc__cel_size(a[0]), KC__CEL_STRING_FACTOR) *
           kc__cel_cost_factor(kc__cel_size(a[1]), KC__CEL_REGEX_FACTOR);
}

static kc__cel_estimate estimate_find(const kc__cel_estimate_args *args)
{
    return (kc__cel_estimate){.cost = kc__cel_estimate_match(args->sizes[0], args->sizes[1]),
                              .has_size = true,
                              .size = kc__cel_range(0, args->sizes[0].max)};
}

#define FIND_ROW(function_, id_, impl_, result_, ...)                                         \
    {                                                                                         \
        .function = function_, .id = id_, .member = true, .takes_pattern = true,              \
        .costs_by_name = true, .impl = impl_, .actual = find_cost, .estimate = estimate_find, \
        .result = result_, .args = {                                                          \
            __VA_ARGS__                                                                       \
        }                                                                                     \
    }

static const kc__cel_overload overloads[] = {
    FIND_ROW("find", "string_find_string", find, T_STRING, T_STRING, T_STRING),
    FIND_ROW("findAll", "string_find_all_string", find_all, T_STRINGS, T_STRING, T_STRING),
    FIND_ROW("findAll", "string_find_all_string_int", find_all, T_STRINGS, T_STRING, T_STRING,
             T_INT),
};

const kc__cel_library kc__cel_library_regex = {overloads, KC_COUNT(overloads), KC__CEL_ALWAYS};
