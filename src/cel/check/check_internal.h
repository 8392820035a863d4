/* SPDX-License-Identifier: Apache-2.0 */
/* check_internal.h: what the files of the type checker share. */
#ifndef KC_CEL_CHECK_INTERNAL_H
#define KC_CEL_CHECK_INTERNAL_H

#include "cel/library/env_internal.h"

typedef struct kc__cel_local {
    kc_str name;
    const kc_cel_type *type;
    int index;
} kc__cel_local;

/* A change of a binding, to undo it. */
typedef struct kc__cel_undo {
    int index;
    const kc_cel_type *old;
} kc__cel_undo;

typedef struct kc__cel_checker {
    const kc_cel_env *env;
    kc__cel_source *s;
    kc__cel_scope *scope;
    KC_VEC(kc__cel_local) locals;         /* Innermost last. */
    size_t most_locals;                   /* The most at once, since check_init reset it. */
    KC_VEC(const kc_cel_type *) bindings; /* Of type variables; NULL when free. */
    KC_VEC(kc__cel_undo) undo;
} kc__cel_checker;

/* ---- unification (types.c) ---- */

const kc_cel_type *kc__cel_new_type_var(kc__cel_checker *c);
/* Replaces bound type variables by what they are bound to; free ones by dyn when asked for. */
const kc_cel_type *kc__cel_substitute(kc__cel_checker *c, const kc_cel_type *type,
                                      bool free_to_dyn);
/* True if `from` may be used as `to`; binds type variables then, and none otherwise. */
bool kc__cel_assignable(kc__cel_checker *c, const kc_cel_type *from, const kc_cel_type *to);
bool kc__cel_assignable_list(kc__cel_checker *c, const kc_cel_type *const *from,
                             const kc_cel_type *const *to, size_t n);
/* The more general of two types that are assignable. */
const kc_cel_type *kc__cel_most_general(const kc_cel_type *a, const kc_cel_type *b);
/* A signature's type with fresh variables in place of its parameters. vars[2] starts as NULL. */
const kc_cel_type *kc__cel_instantiate(kc__cel_checker *c, const kc_cel_type *type,
                                       const kc_cel_type *vars[2]);

/* ---- overloads (call.c) ---- */

/* Checks a call whose arguments are checked, or not yet when it may be qualified. */
void kc__cel_check_call(kc__cel_checker *c, kc__cel_expr *e);
void kc__cel_check_expr(kc__cel_checker *c, kc__cel_expr *e);
/* The type of e.field, where the operand has been checked. */
const kc_cel_type *kc__cel_check_field(kc__cel_checker *c, const kc__cel_expr *e,
                                       kc__cel_expr *operand, kc_str field, bool optional);
bool kc__cel_qualified_name(const kc__cel_expr *expr, kc_buf *out);
void kc__cel_report_mismatch(kc__cel_checker *c, uint32_t at, const kc_cel_type *expected,
                             const kc_cel_type *found);

#endif
