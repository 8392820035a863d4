/* SPDX-License-Identifier: Apache-2.0 */
/* text.c: the standard functions of strings: contains, startsWith, endsWith, matches. */
#include "cel/eval/eval_internal.h"

static kc_cel_value contains(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return kc__cel_bool(kc_str_contains(a[0].text, a[1].text));
}

static kc_cel_value starts_with(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return kc__cel_bool(kc_str_starts(a[0].text, a[1].text));
}

static kc_cel_value ends_with(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)ev, (void)n;
    return kc__cel_bool(kc_str_ends(a[0].text, a[1].text));
}

kc__regex *kc__cel_compile_pattern(kc__cel_eval *ev, kc_str pattern, kc_buf *why)
{
    enum { EACH = 10000, OF_A_BYTE = 1000, OF_REPETITIONS = 200000 };
    bool grows = kc_str_find(pattern, '{') >= 0 || kc_str_find(pattern, '\\') >= 0 ||
                 kc_str_find(pattern, '?') >= 0;
    uint64_t need = EACH + (uint64_t)pattern.n * OF_A_BYTE + (grows ? OF_REPETITIONS : 0);
    ev->regex_steps -= KC_MIN(need, ev->regex_steps);
    kc__cel_check_regex_steps(ev);
    return ev->stopped ? NULL : kc__regex_compile(pattern, NULL, why);
}

static kc_cel_value matches(kc__cel_eval *ev, const kc_cel_value *a, size_t n)
{
    (void)n;
    kc_scoped(kc_buf) why = {0};
    kc__regex *own = ev->regex ? NULL : kc__cel_compile_pattern(ev, a[1].text, &why);
    const kc__regex *regex = ev->regex ? ev->regex : own;
    if (!regex)
        return kc__cel_copy_text(ev, KC_CEL_ERROR, kc_buf_str(&why));
    bool matched = kc__regex_match(regex, a[0].text, &ev->regex_steps);
    kc__cel_check_regex_steps(ev);
    kc__regex_free(own);
    return kc__cel_bool(matched);
}

/* As cel-go: only the receiver counts for a prefix or suffix. */
static uint64_t prefix_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)n, (void)result;
    return kc__cel_cost_factor(kc__cel_size(a[0]), KC__CEL_STRING_FACTOR);
}

static uint64_t contains_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)n, (void)result;
    return kc__cel_cost_factor(kc__cel_size(a[0]), KC__CEL_STRING_FACTOR) *
           kc__cel_cost_factor(kc__cel_size(a[1]), KC__CEL_STRING_FACTOR);
}

static uint64_t matches_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)n, (void)result;
    return kc__cel_cost_factor(1 + kc__cel_size(a[0]), KC__CEL_STRING_FACTOR) *
           kc__cel_cost_factor(kc__cel_size(a[1]), KC__CEL_REGEX_FACTOR);
}

/* Estimates of a prefix or suffix go by its own size. */
static kc__cel_estimate estimate_prefix(const kc__cel_estimate_args *args)
{
    return kc__cel_estimate_traversal(args->sizes[1]);
}

static kc__cel_estimate estimate_contains(const kc__cel_estimate_args *args)
{
    return kc__cel_estimate_cost_only(
        kc__cel_range_multiply(kc__cel_range_factor(args->sizes[0], KC__CEL_STRING_FACTOR),
                               kc__cel_range_factor(args->sizes[1], KC__CEL_STRING_FACTOR)));
}

static kc__cel_estimate estimate_matches(const kc__cel_estimate_args *args)
{
    return kc__cel_estimate_cost_only(kc__cel_estimate_match(args->sizes[0], args->sizes[1]));
}

#define STRINGS {&kc__cel_type_string, &kc__cel_type_string}

static const kc__cel_overload overloads[] = {
    {.function = "contains",
     .id = "contains_string",
     .member = true,
     .impl = contains,
     .result = &kc__cel_type_bool,
     .args = STRINGS,
     .actual = contains_cost,
     .estimate = estimate_contains},
    {.function = "endsWith",
     .id = "ends_with_string",
     .member = true,
     .impl = ends_with,
     .result = &kc__cel_type_bool,
     .args = STRINGS,
     .actual = prefix_cost,
     .estimate = estimate_prefix},
    {.function = "startsWith",
     .id = "starts_with_string",
     .member = true,
     .impl = starts_with,
     .result = &kc__cel_type_bool,
     .args = STRINGS,
     .actual = prefix_cost,
     .estimate = estimate_prefix},
    {.function = "matches",
     .id = "matches",
     .impl = matches,
     .takes_pattern = true,
     .result = &kc__cel_type_bool,
     .args = STRINGS},
    {.function = "matches",
     .id = "matches_string",
     .member = true,
     .impl = matches,
     .takes_pattern = true,
     .result = &kc__cel_type_bool,
     .args = STRINGS,
     .actual = matches_cost,
     .estimate = estimate_matches},
};

const kc__cel_library kc__cel_library_text = {overloads, KC_COUNT(overloads), KC__CEL_ALWAYS};
