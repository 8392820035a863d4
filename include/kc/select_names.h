/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_names.h: selects items by a comma-separated list of names: "*,-scheduler", "robot,at".
 */
#ifndef KC_SELECT_NAMES_H
#define KC_SELECT_NAMES_H

#include "kc/error.h"

/*
 * Processes a comma-separated list from left to right: "name" selects one of `names`, "-name"
 * deselects it, "*" and "-*" apply to all of them; spaces around words are ignored. Updates
 * `chosen` (one per name); names that the list does not mention keep their value. NULL and ""
 * change nothing. KC_INVALID for an unknown name, with the nearest one; `noun` is the word for an
 * item in the error: "controller". `chosen` is undefined after an error.
 */
int kc_select_names(const char *words, const char *noun, const char *const *names, size_t n_names,
                    bool *chosen, kc_error *err);

#endif
