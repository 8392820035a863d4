/* SPDX-License-Identifier: Apache-2.0 */
/* select_names.c: comma-separated lists of names with exclusions. See kc/select_names.h. */
#include "kc/select_names.h"

static int unknown_name(kc_str name, const char *noun, const char *const *names, size_t n_names,
                        kc_error *err)
{
    const char *nearest = kc_str_nearest(name, names, n_names);
    return kc_error_set(err, KC_INVALID, "there is no %s \"%.*s\"%s%s%s", noun, KC_ARG(name),
                        nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                        nearest ? "\"?" : "");
}

static bool apply_choice(kc_str name, bool on, const char *const *names, size_t n_names,
                         bool *chosen)
{
    const bool all = kc_str_is(name, "*");
    bool known = all;
    for (size_t i = 0; i < n_names; i++)
        if (all || kc_str_is(name, names[i])) {
            chosen[i] = on;
            known = true;
        }
    return known;
}

int kc_select_names(const char *words, const char *noun, const char *const *names, size_t n_names,
                    bool *chosen, kc_error *err)
{
    kc_str rest = kc_cstr(words && *words ? words : NULL);
    while (rest.p) {
        const kc_str word = kc_str_trim(kc_str_cut(&rest, ','));
        const bool on = !kc_str_starts(word, KC_STR("-"));
        const kc_str name = on ? word : kc_str_sub(word, 1, word.n);
        if (!apply_choice(name, on, names, n_names, chosen))
            return unknown_name(name, noun, names, n_names, err);
    }
    return 0;
}
