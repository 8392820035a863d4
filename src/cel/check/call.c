/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.c: calls: which function is meant, which of its overloads match, what the result is.
 *
 * a.b.c(x) is a call of the function a.b.c, if there is one, or of the member function c on a.b.
 * All overloads whose signature fits are kept: with dyn among the arguments there may be several,
 * and the evaluator chooses. Their results agree, or the result is dyn.
 */
#include "cel/check/check_internal.h"

static void report_undeclared(kc__cel_checker *c, kc__cel_expr *e, kc_str name)
{
    kc__cel_report(c->s, e->at, "undeclared reference to '%.*s' (in container '')", KC_ARG(name));
    e->type = &kc__cel_type_error;
}

static void report_no_overload(kc__cel_checker *c, const kc__cel_expr *e,
                               const kc_cel_type *const *args, size_t n)
{
    kc_scoped(kc_buf) signature = {0};
    bool member = e->call.target != NULL;
    for (size_t i = 0; i < n; i++) {
        if (i > (size_t)member)
            kc_buf_puts(&signature, ", ");
        if (i == 0 && !member)
            kc_buf_putc(&signature, '(');
        kc_cel_type_write(kc__cel_substitute(c, args[i], true), &signature);
        if (i == 0 && member)
            kc_buf_puts(&signature, ".(");
    }
    kc_buf_puts(&signature, n ? ")" : "()");
    kc__cel_report(c->s, e->at, "found no matching overload for '%.*s' applied to '%s'",
                   KC_ARG(e->call.function), kc_buf_cstr(&signature));
}

/* True if the overload fits the arguments; *ret_result receives the type of its result. */
static bool overload_fits(kc__cel_checker *c, const kc__cel_overload *overload, bool member,
                          const kc_cel_type *const *args, size_t n, const kc_cel_type **ret_result)
{
    if (overload->member != member)
        return false;
    /* Every overload that is considered takes variables, which messages name. */
    const kc_cel_type *vars[2] = {NULL, NULL}, *params[KC__CEL_ARGS_MAX];
    const size_t arity = kc__cel_overload_arity(overload);
    const kc_cel_type *result = kc__cel_instantiate(c, overload->result, vars);
    for (size_t i = 0; i < arity; i++)
        params[i] = kc__cel_instantiate(c, overload->args[i], vars);
    if (arity != n || !kc__cel_assignable_list(c, args, params, n))
        return false;
    *ret_result = kc__cel_substitute(c, result, false);
    return true;
}

/* && and || take booleans; each argument that is none is reported. */
static void check_logic(kc__cel_checker *c, kc__cel_expr *e, const kc__cel_function *function)
{
    bool ok = true;
    for (size_t i = 0; i < e->call.n_args; i++) {
        const kc_cel_type *type = e->call.args[i]->type;
        if (kc__cel_assignable(c, type, &kc__cel_type_bool))
            continue;
        kc__cel_report_mismatch(c, e->call.args[i]->at, &kc__cel_type_bool, type);
        ok = false;
    }
    e->type = ok ? &kc__cel_type_bool : &kc__cel_type_error;
    e->call.overloads = function->overloads;
    e->call.n_overloads = function->n;
}

static void resolve(kc__cel_checker *c, kc__cel_expr *e, const kc__cel_function *function)
{
    const kc_cel_type *args[KC__CEL_ARGS_MAX + 1];
    size_t n = 0;
    if (e->call.target)
        args[n++] = e->call.target->type;
    for (size_t i = 0; i < e->call.n_args && n < KC_COUNT(args); i++)
        args[n++] = e->call.args[i]->type;
    const kc__cel_overload **matching =
        kc_arena_alloc(c->s->arena, function->n * sizeof(*matching));
    const kc_cel_type *result = NULL;
    for (size_t i = 0; i < function->n; i++) {
        const kc_cel_type *type = NULL;
        if (!overload_fits(c, function->overloads[i], e->call.target, args, n, &type))
            continue;
        matching[e->call.n_overloads++] = function->overloads[i];
        if (!result)
            result = type;
        else if (!kc__cel_type_is_dyn(result) && !kc__cel_type_equal(type, result))
            result = &kc__cel_type_dyn;
    }
    e->call.overloads = matching;
    e->call.declared = function->overloads;
    e->call.n_declared = function->n;
    e->type = result ? result : &kc__cel_type_error;
    if (!result)
        report_no_overload(c, e, args, n);
}

static void check_optional_select(kc__cel_checker *c, kc__cel_expr *e)
{
    const kc__cel_expr *field = e->call.args[1];
    const kc_cel_type *type = kc__cel_check_field(c, e, e->call.args[0], field->literal.text, true);
    e->call.args[1]->type = &kc__cel_type_string;
    e->type = kc__cel_substitute(c, type, false);
}

/* The name without the dot in front that makes it absolute. */
static kc_str function_name(kc_str name)
{
    return name.n && name.p[0] == '.' ? kc_str_sub(name, 1, name.n) : name;
}

/* The function that a.b.c(…) names, when a.b.c is one. */
static const kc__cel_function *qualified_function(kc__cel_checker *c, const kc__cel_expr *e,
                                                  kc_buf *name)
{
    if (!kc__cel_qualified_name(e->call.target, name))
        return NULL;
    kc_buf_putc(name, '.');
    kc_buf_append(name, e->call.function);
    return kc__cel_env_function(c->env, kc_buf_str(name));
}

void kc__cel_check_call(kc__cel_checker *c, kc__cel_expr *e)
{
    if (kc_str_is(e->call.function, KC__CEL_OP_OPT_SELECT)) {
        check_optional_select(c, e);
        return;
    }
    for (size_t i = 0; i < e->call.n_args; i++)
        kc__cel_check_expr(c, e->call.args[i]);
    const kc__cel_function *function = NULL;
    if (e->call.target) {
        kc_scoped(kc_buf) name = {0};
        function = qualified_function(c, e, &name);
        if (function) {
            e->call.function = kc_arena_str(c->s->arena, kc_buf_str(&name));
            e->call.target = NULL;
        } else {
            kc__cel_check_expr(c, e->call.target);
        }
    }
    if (!function)
        function = kc__cel_env_function(c->env, e->call.function);
    if (!function) {
        report_undeclared(c, e, e->call.function);
        return;
    }
    e->call.function = function_name(e->call.function);
    if (kc_str_is(e->call.function, KC__CEL_OP_AND) || kc_str_is(e->call.function, KC__CEL_OP_OR))
        check_logic(c, e, function);
    else
        resolve(c, e, function);
}
