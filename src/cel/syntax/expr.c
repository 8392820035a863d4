/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expr.c: nodes of the tree.
 *
 * Macros can multiply nodes, so construction counts them; the first node beyond the limit reports
 * an error, and the parser stops at the next token.
 */
#include "cel/syntax/syntax_internal.h"

kc__cel_expr *kc__cel_new_expr(kc__cel_source *s, kc__cel_expr_kind kind, uint32_t at)
{
    if (s->n_nodes++ == s->max_nodes)
        kc__cel_report(s, KC__CEL_NOWHERE, "expression exceeds limit of %zu nodes", s->max_nodes);
    kc__cel_expr *expr = kc_arena_new(s->arena, kc__cel_expr);
    expr->kind = kind;
    expr->at = at;
    return expr;
}

kc__cel_expr *kc__cel_new_literal(kc__cel_source *s, uint32_t at, kc_cel_value value)
{
    kc__cel_expr *expr = kc__cel_new_expr(s, KC__CEL_LITERAL, at);
    expr->literal = value;
    return expr;
}

kc__cel_expr *kc__cel_new_ident(kc__cel_source *s, uint32_t at, kc_str name)
{
    kc__cel_expr *expr = kc__cel_new_expr(s, KC__CEL_IDENT, at);
    expr->ident.name = name;
    expr->ident.variable = expr->ident.local = -1;
    return expr;
}

kc__cel_expr *kc__cel_new_select(kc__cel_source *s, uint32_t at, kc__cel_expr *operand,
                                 kc_str field)
{
    kc__cel_expr *expr = kc__cel_new_expr(s, KC__CEL_SELECT, at);
    expr->select.operand = operand;
    expr->select.field = field;
    return expr;
}

static kc__cel_expr **copy_args(kc__cel_source *s, kc__cel_expr *const *args, size_t n)
{
    kc__cel_expr **copy = kc_arena_alloc(s->arena, KC_MAX(n, 1) * sizeof(*copy));
    if (n)
        memcpy(copy, args, n * sizeof(*copy));
    return copy;
}

kc__cel_expr *kc__cel_new_call(kc__cel_source *s, uint32_t at, const char *function, size_t n,
                               kc__cel_expr *const *args)
{
    kc__cel_expr *expr = kc__cel_new_expr(s, KC__CEL_CALL, at);
    expr->call.function = kc_cstr(function);
    expr->call.args = copy_args(s, args, n);
    expr->call.n_args = n;
    return expr;
}

kc__cel_expr *kc__cel_new_member_call(kc__cel_source *s, uint32_t at, const char *function,
                                      kc__cel_expr *target)
{
    kc__cel_expr *expr = kc__cel_new_call(s, at, function, 0, NULL);
    expr->call.target = target;
    return expr;
}

static kc__cel_expr *copy_or_null(kc__cel_source *s, const kc__cel_expr *expr)
{
    return expr ? kc__cel_copy_expr(s, expr) : NULL;
}

static void copy_list(kc__cel_source *s, kc__cel_expr ***list, size_t n)
{
    kc__cel_expr **copy = copy_args(s, *list, n);
    for (size_t i = 0; i < n; i++)
        copy[i] = kc__cel_copy_expr(s, copy[i]);
    *list = copy;
}

static void copy_entries(kc__cel_source *s, kc__cel_expr *map)
{
    kc__cel_entry *copy = kc_arena_calloc(s->arena, KC_MAX(map->map.n, 1), sizeof(*copy));
    for (size_t i = 0; i < map->map.n; i++) {
        copy[i] = map->map.entries[i];
        copy[i].key = copy_or_null(s, copy[i].key);
        copy[i].value = copy_or_null(s, copy[i].value);
    }
    map->map.entries = copy;
}

kc__cel_expr *kc__cel_copy_expr(kc__cel_source *s, const kc__cel_expr *expr)
{
    if (s->n_nodes > s->max_nodes)
        return kc__cel_new_expr(s, KC__CEL_UNSPECIFIED, expr->at);
    kc__cel_expr *copy = kc__cel_new_expr(s, expr->kind, expr->at);
    *copy = *expr;
    switch (copy->kind) {
    case KC__CEL_SELECT: copy->select.operand = copy_or_null(s, expr->select.operand); break;
    case KC__CEL_CALL:
        copy->call.target = copy_or_null(s, expr->call.target);
        copy_list(s, &copy->call.args, copy->call.n_args);
        break;
    case KC__CEL_LIST: copy_list(s, &copy->list.items, copy->list.n); break;
    case KC__CEL_MAP:
    case KC__CEL_STRUCT: copy_entries(s, copy); break;
    case KC__CEL_FOLD:
        copy->fold.range = copy_or_null(s, expr->fold.range);
        copy->fold.init = copy_or_null(s, expr->fold.init);
        copy->fold.condition = copy_or_null(s, expr->fold.condition);
        copy->fold.step = copy_or_null(s, expr->fold.step);
        copy->fold.result = copy_or_null(s, expr->fold.result);
        break;
    default: break;
    }
    return copy;
}
