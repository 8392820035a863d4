/* SPDX-License-Identifier: Apache-2.0 */
/* env_internal.h: environments: which functions and macros an expression may use. */
#ifndef KC_CEL_ENV_INTERNAL_H
#define KC_CEL_ENV_INTERNAL_H

#include "cel/library/function_internal.h"
#include "cel/syntax/syntax_internal.h"

struct kc_cel_env {
    unsigned version;
    bool with_bind, heterogeneous_literals;
    bool with_patches;
    kc_map functions; /* By name: kc__cel_function. */
    kc_arena arena;
};

/* All overloads of a function, in the order of declaration. */
typedef struct kc__cel_function {
    const kc__cel_overload **overloads;
    size_t n;
} kc__cel_function;

bool kc__cel_env_has(const kc_cel_env *env, kc__cel_feature feature);
/* A type that an expression may construct (patch.c); NULL when there is none. Belongs to
 * the arena, or is static. */
const kc_cel_type *kc__cel_constructed_type(const kc_cel_env *env, kc_arena *arena, kc_str name);
/* NULL when there is none. A leading dot is ignored. */
const kc__cel_function *kc__cel_env_function(const kc_cel_env *env, kc_str name);

#endif
