/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose.h: choosing among things that have names, as people write it: "*,-scheduler", "robot,at".
 */
#ifndef KC_CHOOSE_H
#define KC_CHOOSE_H

#include "kc/error.h"

/*
 * Words with commas between them, one after the other: "name" chooses one of `names`, "-name" does
 * not, "*" and "-*" are for all of them; spaces around words do not matter. `chosen` (one for each
 * name) is changed accordingly, what no word speaks of stays;
 * NULL and "" speak of nothing. KC_INVALID for a name that there is
 * not, with the nearest one; `noun` says what of: "controller". `chosen` is undefined then.
 */
int kc_choose(const char *words, const char *noun, const char *const *names, size_t n_names,
              bool *chosen, kc_error *err);

#endif
