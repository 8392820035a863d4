/* SPDX-License-Identifier: Apache-2.0 */
/* apply_config.h: apply configurations: types derived from the types of a package. */
#ifndef KC_GENERATE_APPLY_CONFIG_H
#define KC_GENERATE_APPLY_CONFIG_H

#include "generate/model/model.h"

/* Ends the name of each generated type. */
#define KC__GEN_APPLY_CONFIG "_apply_config"

typedef KC_VEC(const kc__gen_type *) kc__gen_type_list;

/*
 * The apply configurations of the structs that the package's kinds consist of, in an order in which
 * C can declare them. They are allocated in the arena; the caller frees the list with kc_vec_done.
 */
void kc__gen_apply_configs(const kc__gen_package *package, kc_arena *arena, kc__gen_type_list *ret);
/* Appends the C declarations of all types of the list. */
void kc__gen_apply_config_declare(const kc__gen_type_list *configs, kc_buf *out);

#endif
