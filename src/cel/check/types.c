/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types.c: unification of types, with the rules of cel-go.
 *
 * Typing is gradual: dyn is assignable to and from everything. A type variable is bound to the
 * first type it meets, and later to a more general one that agrees. An attempt that fails undoes
 * its bindings. Null is assignable to types whose values may be absent.
 */
#include "cel/check/check_internal.h"

const kc_cel_type *kc__cel_new_type_var(kc__cel_checker *c)
{
    kc_cel_type *var = kc_arena_new(c->s->arena, kc_cel_type);
    var->kind = KC_CEL_PARAM;
    var->index = (int)c->bindings.n;
    var->name = "_var"; /* With the index when it is written. */
    kc_vec_push(&c->bindings, NULL);
    return var;
}

static const kc_cel_type *binding_of(const kc__cel_checker *c, const kc_cel_type *type)
{
    return type->kind == KC_CEL_PARAM && type->index >= 0 ? c->bindings.items[type->index] : NULL;
}

static void bind_type_var(kc__cel_checker *c, const kc_cel_type *var, const kc_cel_type *type)
{
    kc_vec_push(&c->undo, (kc__cel_undo){var->index, c->bindings.items[var->index]});
    c->bindings.items[var->index] = type;
}

static void undo_bindings(kc__cel_checker *c, size_t mark)
{
    while (c->undo.n > mark) {
        kc__cel_undo undo = kc_vec_pop(&c->undo);
        c->bindings.items[undo.index] = undo.old;
    }
}

/* A copy of a composite type with other parameters; the type itself when they are the same. */
static const kc_cel_type *with_params(kc__cel_checker *c, const kc_cel_type *type,
                                      const kc_cel_type *const params[2])
{
    if (params[0] == type->params[0] && params[1] == type->params[1])
        return type;
    kc_cel_type *copy = kc_arena_alloc(c->s->arena, sizeof(*copy));
    *copy = *type;
    copy->params[0] = params[0];
    copy->params[1] = params[1];
    return copy;
}

const kc_cel_type *kc__cel_substitute(kc__cel_checker *c, const kc_cel_type *type, bool free_to_dyn)
{
    const kc_cel_type *bound = binding_of(c, type);
    if (bound)
        return kc__cel_substitute(c, bound, free_to_dyn);
    if (type->kind == KC_CEL_PARAM)
        return free_to_dyn ? &kc__cel_type_dyn : type;
    const kc_cel_type *params[2] = {NULL, NULL};
    for (unsigned i = 0; i < type->n_params; i++)
        params[i] = kc__cel_substitute(c, type->params[i], free_to_dyn);
    return type->n_params ? with_params(c, type, params) : type;
}

const kc_cel_type *kc__cel_instantiate(kc__cel_checker *c, const kc_cel_type *type,
                                       const kc_cel_type *vars[2])
{
    if (type->kind == KC_CEL_PARAM && type->index < 0) {
        const kc_cel_type **var = &vars[-1 - type->index];
        if (!*var)
            *var = kc__cel_new_type_var(c);
        return *var;
    }
    const kc_cel_type *params[2] = {NULL, NULL};
    for (unsigned i = 0; i < type->n_params; i++)
        params[i] = kc__cel_instantiate(c, type->params[i], vars);
    return type->n_params ? with_params(c, type, params) : type;
}

/* True if every type that `b` allows is allowed by `a`. */
static bool equal_or_less_specific(const kc_cel_type *a, const kc_cel_type *b)
{
    if (a->kind == KC_CEL_DYN || a->kind == KC_CEL_PARAM)
        return true;
    if (b->kind == KC_CEL_DYN || b->kind == KC_CEL_PARAM || a->kind != b->kind)
        return false;
    if (a->kind == KC_CEL_TYPE)
        return true;
    if (strcmp(a->name, b->name) != 0 || a->n_params != b->n_params)
        return false;
    for (unsigned i = 0; i < a->n_params; i++)
        if (!equal_or_less_specific(a->params[i], b->params[i]))
            return false;
    return true;
}

const kc_cel_type *kc__cel_most_general(const kc_cel_type *a, const kc_cel_type *b)
{
    return equal_or_less_specific(a, b) ? a : b;
}

/* False if binding `var` to a type with `within` in it would make the type contain itself. */
static bool does_not_occur(const kc__cel_checker *c, const kc_cel_type *var,
                           const kc_cel_type *within)
{
    if (kc__cel_type_equal(var, within))
        return false;
    const kc_cel_type *bound = binding_of(c, within);
    if (bound)
        return does_not_occur(c, var, bound);
    for (unsigned i = 0; i < within->n_params; i++)
        if (!does_not_occur(c, var, within->params[i]))
            return false;
    return true;
}

static bool unify(kc__cel_checker *c, const kc_cel_type *from, const kc_cel_type *to);

/* True if `type` may stand for the variable. *ret_bound tells whether the variable was bound. */
static bool unify_var(kc__cel_checker *c, const kc_cel_type *type, const kc_cel_type *var,
                      bool *ret_bound)
{
    *ret_bound = true;
    if (type->kind == KC_CEL_PARAM && kc__cel_type_equal(type, var))
        return true;
    const kc_cel_type *bound = binding_of(c, var);
    if (bound) {
        if (kc__cel_type_equal(type, bound))
            return true;
        if (!unify(c, type, bound))
            return false;
        const kc_cel_type *general = kc__cel_most_general(type, bound);
        if (does_not_occur(c, var, general))
            bind_type_var(c, var, general);
        return true;
    }
    *ret_bound = false;
    if (!does_not_occur(c, var, type))
        return false;
    bind_type_var(c, var, type);
    return true;
}

static bool accepts_null(const kc_cel_type *type)
{
    switch (type->kind) {
    case KC_CEL_NULL:
    case KC_CEL_OPAQUE:
    case KC_CEL_OPTIONAL:
    case KC_CEL_OBJECT:
    case KC_CEL_DURATION:
    case KC_CEL_TIMESTAMP: return true;
    default: return false;
    }
}

static bool unify_params(kc__cel_checker *c, const kc_cel_type *from, const kc_cel_type *to)
{
    if (from->kind != to->kind || from->n_params != to->n_params ||
        strcmp(from->name, to->name) != 0)
        return false;
    for (unsigned i = 0; i < from->n_params; i++)
        if (!unify(c, from->params[i], to->params[i]))
            return false;
    return true;
}

static bool is_wildcard(const kc_cel_type *type)
{
    return type->kind == KC_CEL_DYN || type->kind == KC_CEL_ERROR;
}

static bool unify(kc__cel_checker *c, const kc_cel_type *from, const kc_cel_type *to)
{
    bool bound = false;
    if (to->kind == KC_CEL_PARAM) {
        if (unify_var(c, from, to, &bound))
            return true;
        if (bound)
            return false;
    }
    if (from->kind == KC_CEL_PARAM)
        return unify_var(c, to, from, &bound);
    if (is_wildcard(from) || is_wildcard(to))
        return true;
    if (from->kind == KC_CEL_NULL)
        return accepts_null(to);
    if (to->kind == KC_CEL_NULL)
        return accepts_null(from);
    if (from->kind == KC_CEL_TYPE)
        return to->kind == KC_CEL_TYPE;
    return unify_params(c, from, to);
}

bool kc__cel_assignable(kc__cel_checker *c, const kc_cel_type *from, const kc_cel_type *to)
{
    return kc__cel_assignable_list(c, &from, &to, 1);
}

bool kc__cel_assignable_list(kc__cel_checker *c, const kc_cel_type *const *from,
                             const kc_cel_type *const *to, size_t n)
{
    size_t mark = c->undo.n;
    for (size_t i = 0; i < n; i++) {
        if (!unify(c, from[i], to[i])) {
            undo_bindings(c, mark);
            return false;
        }
    }
    return true;
}
