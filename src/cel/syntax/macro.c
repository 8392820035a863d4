/* SPDX-License-Identifier: Apache-2.0 */
/*
 * macro.c: macros: calls that the parser replaces by other expressions.
 *
 * has() becomes a presence test. The others become folds: an accumulator, a condition to continue,
 * a step per element, a result. The expansions are cel-go's, because types, costs and errors follow
 * from them. New nodes have the position of the call.
 *
 * To add a macro, add a row to the table and a function that builds its expansion.
 */
#include "cel/library/env_internal.h"

typedef struct macro_call {
    kc__cel_source *s;
    uint32_t at;
    kc__cel_expr *target, **args;
    size_t n;
} macro_call;

typedef kc__cel_expr *(*macro_expander)(macro_call *m);

/* ---- building blocks ---- */

static kc__cel_expr *fail_macro(macro_call *m, const kc__cel_expr *arg, const char *message)
{
    kc__cel_report(m->s, arg->at, "%s", message);
    return NULL;
}

static kc__cel_expr *accumulator(macro_call *m)
{
    return kc__cel_new_ident(m->s, m->at, KC_STR(KC__CEL_ACCUMULATOR));
}

static kc__cel_expr *bool_literal(macro_call *m, bool value)
{
    return kc__cel_new_literal(m->s, m->at, kc_cel_of_bool(value));
}

static kc__cel_expr *int_literal(macro_call *m, int64_t value)
{
    return kc__cel_new_literal(m->s, m->at, kc_cel_of_int(value));
}

static kc__cel_expr *list_of(macro_call *m, kc__cel_expr *item)
{
    kc__cel_expr *list = kc__cel_new_expr(m->s, KC__CEL_LIST, m->at);
    list->list.items = kc_arena_calloc(m->s->arena, 1, sizeof(*list->list.items));
    list->list.items[0] = item;
    list->list.n = item != NULL;
    return list;
}

static kc__cel_expr *empty_map(macro_call *m)
{
    return kc__cel_new_expr(m->s, KC__CEL_MAP, m->at);
}

typedef struct fold_vars {
    kc_str first, second;
} fold_vars;

static kc__cel_expr *new_fold(macro_call *m, fold_vars vars, kc__cel_expr *init,
                              kc__cel_expr *condition, kc__cel_expr *step, kc__cel_expr *result)
{
    kc__cel_expr *fold = kc__cel_new_expr(m->s, KC__CEL_FOLD, m->at);
    fold->fold.range = m->target;
    fold->fold.var = vars.first;
    fold->fold.var2 = vars.second;
    fold->fold.accu = KC_STR(KC__CEL_ACCUMULATOR);
    fold->fold.init = init;
    fold->fold.condition = condition;
    fold->fold.step = step;
    fold->fold.result = result;
    return fold;
}

static bool check_variable(macro_call *m, size_t i, const char *not_a_name)
{
    const kc__cel_expr *arg = m->args[i];
    if (arg->kind != KC__CEL_IDENT)
        return fail_macro(m, arg, not_a_name);
    if (kc_str_is(arg->ident.name, KC__CEL_ACCUMULATOR) || kc_str_is(arg->ident.name, "__result__"))
        return fail_macro(m, arg, "iteration variable overwrites accumulator variable");
    return true;
}

/* The variables of a macro with two: the message about equal names comes before that about the
 * accumulator. */
static bool check_two_variables(macro_call *m, fold_vars *ret)
{
    for (size_t i = 0; i < 2; i++)
        if (m->args[i]->kind != KC__CEL_IDENT)
            return fail_macro(m, m->args[i], "argument must be a simple name");
    kc_str first = m->args[0]->ident.name, second = m->args[1]->ident.name;
    if (kc_str_eq(first, second)) {
        kc__cel_report(m->s, m->args[1]->at, "duplicate variable name: %.*s", KC_ARG(first));
        return false;
    }
    *ret = (fold_vars){first, second};
    return check_variable(m, 0, "") && check_variable(m, 1, "");
}

/* ---- expansions shared by the macros with one variable and with two ---- */

static kc__cel_expr *fold_all(macro_call *m, fold_vars vars, kc__cel_expr *predicate)
{
    return new_fold(m, vars, bool_literal(m, true),
                    kc__cel_call(m->s, m->at, KC__CEL_OP_NOT_FALSE, accumulator(m)),
                    kc__cel_call(m->s, m->at, KC__CEL_OP_AND, accumulator(m), predicate),
                    accumulator(m));
}

static kc__cel_expr *fold_exists(macro_call *m, fold_vars vars, kc__cel_expr *predicate)
{
    kc__cel_expr *not_yet = kc__cel_call(m->s, m->at, KC__CEL_OP_NOT, accumulator(m));
    return new_fold(
        m, vars, bool_literal(m, false), kc__cel_call(m->s, m->at, KC__CEL_OP_NOT_FALSE, not_yet),
        kc__cel_call(m->s, m->at, KC__CEL_OP_OR, accumulator(m), predicate), accumulator(m));
}

static kc__cel_expr *fold_exists_one(macro_call *m, fold_vars vars, kc__cel_expr *predicate)
{
    kc__cel_expr *more =
        kc__cel_call(m->s, m->at, KC__CEL_OP_ADD, accumulator(m), int_literal(m, 1));
    return new_fold(
        m, vars, int_literal(m, 0), bool_literal(m, true),
        kc__cel_call(m->s, m->at, KC__CEL_OP_CONDITIONAL, predicate, more, accumulator(m)),
        kc__cel_call(m->s, m->at, KC__CEL_OP_EQUAL, accumulator(m), int_literal(m, 1)));
}

/* A fold that collects: `step` yields the accumulator with one element more. */
static kc__cel_expr *fold_collect(macro_call *m, fold_vars vars, kc__cel_expr *init,
                                  kc__cel_expr *step, kc__cel_expr *filter)
{
    if (filter)
        step = kc__cel_call(m->s, m->at, KC__CEL_OP_CONDITIONAL, filter, step, accumulator(m));
    return new_fold(m, vars, init, bool_literal(m, true), step, accumulator(m));
}

static kc__cel_expr *append_step(macro_call *m, kc__cel_expr *item)
{
    return kc__cel_call(m->s, m->at, KC__CEL_OP_ADD, accumulator(m), list_of(m, item));
}

/* ---- macros ---- */

static kc__cel_expr *expand_has(macro_call *m)
{
    kc__cel_expr *arg = m->args[0];
    if (arg->kind != KC__CEL_SELECT)
        return fail_macro(m, arg, "invalid argument to has() macro");
    kc__cel_expr *test = kc__cel_new_select(m->s, m->at, arg->select.operand, arg->select.field);
    test->select.test_only = true;
    return test;
}

static const char simple_name[] = "argument must be a simple name";
static const char identifier[] = "argument is not an identifier";

static kc__cel_expr *expand_all(macro_call *m)
{
    if (!check_variable(m, 0, simple_name))
        return NULL;
    return fold_all(m, (fold_vars){.first = m->args[0]->ident.name}, m->args[1]);
}

static kc__cel_expr *expand_exists(macro_call *m)
{
    if (!check_variable(m, 0, simple_name))
        return NULL;
    return fold_exists(m, (fold_vars){.first = m->args[0]->ident.name}, m->args[1]);
}

static kc__cel_expr *expand_exists_one(macro_call *m)
{
    if (!check_variable(m, 0, simple_name))
        return NULL;
    return fold_exists_one(m, (fold_vars){.first = m->args[0]->ident.name}, m->args[1]);
}

static kc__cel_expr *expand_map(macro_call *m)
{
    if (!check_variable(m, 0, identifier))
        return NULL;
    kc__cel_expr *filter = m->n == 3 ? m->args[1] : NULL;
    return fold_collect(m, (fold_vars){.first = m->args[0]->ident.name}, list_of(m, NULL),
                        append_step(m, m->args[m->n - 1]), filter);
}

static kc__cel_expr *expand_filter(macro_call *m)
{
    if (!check_variable(m, 0, identifier))
        return NULL;
    return fold_collect(m, (fold_vars){.first = m->args[0]->ident.name}, list_of(m, NULL),
                        append_step(m, m->args[0]), m->args[1]);
}

static kc__cel_expr *expand_all2(macro_call *m)
{
    fold_vars vars;
    return check_two_variables(m, &vars) ? fold_all(m, vars, m->args[2]) : NULL;
}

static kc__cel_expr *expand_exists2(macro_call *m)
{
    fold_vars vars;
    return check_two_variables(m, &vars) ? fold_exists(m, vars, m->args[2]) : NULL;
}

static kc__cel_expr *expand_exists_one2(macro_call *m)
{
    fold_vars vars;
    return check_two_variables(m, &vars) ? fold_exists_one(m, vars, m->args[2]) : NULL;
}

static kc__cel_expr *expand_transform_list(macro_call *m)
{
    fold_vars vars;
    if (!check_two_variables(m, &vars))
        return NULL;
    return fold_collect(m, vars, list_of(m, NULL), append_step(m, m->args[m->n - 1]),
                        m->n == 4 ? m->args[2] : NULL);
}

static kc__cel_expr *expand_transform_map(macro_call *m)
{
    fold_vars vars;
    if (!check_two_variables(m, &vars))
        return NULL;
    kc__cel_expr *key = kc__cel_new_ident(m->s, m->at, vars.first);
    kc__cel_expr *step =
        kc__cel_call(m->s, m->at, KC__CEL_MAP_INSERT, accumulator(m), key, m->args[m->n - 1]);
    return fold_collect(m, vars, empty_map(m), step, m->n == 4 ? m->args[2] : NULL);
}

static kc__cel_expr *expand_transform_entry(macro_call *m)
{
    fold_vars vars;
    if (!check_two_variables(m, &vars))
        return NULL;
    kc__cel_expr *step =
        kc__cel_call(m->s, m->at, KC__CEL_MAP_INSERT, accumulator(m), m->args[m->n - 1]);
    return fold_collect(m, vars, empty_map(m), step, m->n == 4 ? m->args[2] : NULL);
}

/* A fold over nothing whose accumulator is the variable: it has the value `init` in `result`. */
static kc__cel_expr *bind_variable(macro_call *m, kc_str name, kc__cel_expr *init,
                                   kc__cel_expr *result)
{
    kc__cel_expr *fold =
        new_fold(m, (fold_vars){.first = KC_STR("#unused")}, init, bool_literal(m, false),
                 kc__cel_new_ident(m->s, m->at, name), result);
    fold->fold.range = list_of(m, NULL);
    fold->fold.accu = name;
    return fold;
}

/* target.optMap(x, e): target.hasValue() ? optional.of(e with x = target.value()) : none. */
static kc__cel_expr *expand_optional(macro_call *m, bool flat, const char *not_a_name)
{
    if (m->args[0]->kind != KC__CEL_IDENT)
        return fail_macro(m, m->args[0], not_a_name);
    kc__cel_expr *copy = kc__cel_copy_expr(m->s, m->target);
    kc__cel_expr *value = kc__cel_new_member_call(m->s, m->at, "value", copy);
    kc__cel_expr *mapped = bind_variable(m, m->args[0]->ident.name, value, m->args[1]);
    if (!flat)
        mapped = kc__cel_call(m->s, m->at, "optional.of", mapped);
    return kc__cel_call(m->s, m->at, KC__CEL_OP_CONDITIONAL,
                        kc__cel_new_member_call(m->s, m->at, "hasValue", m->target), mapped,
                        kc__cel_new_call(m->s, m->at, "optional.none", 0, NULL));
}

static kc__cel_expr *expand_opt_map(macro_call *m)
{
    return expand_optional(m, false, "optMap() variable name must be a simple identifier");
}

static kc__cel_expr *expand_opt_flat_map(macro_call *m)
{
    return expand_optional(m, true, "optFlatMap() variable name must be a simple identifier");
}

static kc__cel_expr *expand_bind(macro_call *m)
{
    if (m->args[0]->kind != KC__CEL_IDENT)
        return fail_macro(m, m->args[0], "cel.bind() variable names must be simple identifiers");
    return bind_variable(m, m->args[0]->ident.name, m->args[1], m->args[2]);
}

/* list.sortBy(x, key): the list, bound to a variable, sorted by the keys of its elements. */
static kc__cel_expr *expand_sort_by(macro_call *m)
{
    static const char input[] = "@__sortBy_input__";
    kc__cel_expr_kind kind = m->target->kind;
    if (kind == KC__CEL_LITERAL || kind == KC__CEL_MAP || kind == KC__CEL_STRUCT ||
        kind == KC__CEL_UNSPECIFIED)
        return fail_macro(m, m->target,
                          "sortBy can only be applied to a list, identifier, comprehension, call "
                          "or select expression");
    kc__cel_expr *target = m->target;
    m->target = kc__cel_new_ident(m->s, m->at, kc_cstr(input));
    kc__cel_expr *keys = expand_map(m);
    if (!keys)
        return NULL;
    kc__cel_expr *sorted = kc__cel_call(m->s, m->at, "@sortByAssociatedKeys", keys);
    sorted->call.target = kc__cel_new_ident(m->s, m->at, kc_cstr(input));
    return bind_variable(m, kc_cstr(input), target, sorted);
}

static const struct macro_row {
    const char *name;
    size_t n_args;
    bool receiver;
    kc__cel_feature feature;
    macro_expander expand;
} macros[] = {
    {"has", 1, false, KC__CEL_ALWAYS, expand_has},
    {"all", 2, true, KC__CEL_ALWAYS, expand_all},
    {"exists", 2, true, KC__CEL_ALWAYS, expand_exists},
    {"exists_one", 2, true, KC__CEL_ALWAYS, expand_exists_one},
    {"map", 2, true, KC__CEL_ALWAYS, expand_map},
    {"map", 3, true, KC__CEL_ALWAYS, expand_map},
    {"filter", 2, true, KC__CEL_ALWAYS, expand_filter},
    {"optMap", 2, true, KC__CEL_OPTIONALS, expand_opt_map},
    {"optFlatMap", 2, true, KC__CEL_OPTIONALS, expand_opt_flat_map},
    {"all", 3, true, KC__CEL_TWO_VARIABLES, expand_all2},
    {"exists", 3, true, KC__CEL_TWO_VARIABLES, expand_exists2},
    {"exists_one", 3, true, KC__CEL_TWO_VARIABLES, expand_exists_one2},
    {"existsOne", 3, true, KC__CEL_TWO_VARIABLES, expand_exists_one2},
    {"transformList", 3, true, KC__CEL_TWO_VARIABLES, expand_transform_list},
    {"transformList", 4, true, KC__CEL_TWO_VARIABLES, expand_transform_list},
    {"transformMap", 3, true, KC__CEL_TWO_VARIABLES, expand_transform_map},
    {"transformMap", 4, true, KC__CEL_TWO_VARIABLES, expand_transform_map},
    {"transformMapEntry", 3, true, KC__CEL_TWO_VARIABLES, expand_transform_entry},
    {"transformMapEntry", 4, true, KC__CEL_TWO_VARIABLES, expand_transform_entry},
    {"sortBy", 2, true, KC__CEL_LISTS_34, expand_sort_by},
    {"bind", 3, true, KC__CEL_BIND, expand_bind},
};

bool kc__cel_expand_macro(const kc_cel_env *env, kc__cel_source *source, uint32_t at,
                          kc_str function, kc__cel_expr *target, kc__cel_expr **args, size_t n,
                          kc__cel_expr **ret)
{
    for (size_t i = 0; i < KC_COUNT(macros); i++) {
        const struct macro_row *row = &macros[i];
        if (row->n_args != n || row->receiver != (target != NULL) ||
            !kc_str_is(function, row->name) || !kc__cel_env_has(env, row->feature))
            continue;
        if (row->feature == KC__CEL_BIND &&
            (target->kind != KC__CEL_IDENT || !kc_str_is(target->ident.name, "cel")))
            return false;
        macro_call m = {.s = source, .at = at, .target = target, .args = args, .n = n};
        *ret = row->expand(&m);
        return true;
    }
    return false;
}
