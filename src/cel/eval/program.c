/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c: compilation and evaluation: the two calls of the library.
 *
 *     kc_cel_compile:  parse ─▶ check ─▶ estimate the cost ─▶ plan ─▶ program
 *     kc_cel_evaluate: read the variables ─▶ run the plan ─▶ value or error
 *
 * The tree of a compilation lives in an arena that ends with it; the program keeps its plan only.
 */
#include "cel/eval/eval_internal.h"

enum { DEFAULT_MAX_BYTES = 64 << 20 };

static bool plan_program(kc_cel_program *program, const kc__cel_expr *root, kc__cel_source *source)
{
    kc_scoped(kc_buf) why = {0};
    if (kc__cel_plan(program, root, &why))
        return true;
    kc__cel_report(source, KC__CEL_INSTANTIATION, "program instantiation failed: %s",
                   kc_buf_cstr(&why));
    return false;
}

static bool compile_program(const kc_cel_env *env, kc__cel_source *source, kc__cel_scope *scope,
                            kc_cel_program *program)
{
    kc__cel_expr *root = kc__cel_parse(env, source);
    if (!root || !kc__cel_check(env, source, scope, root) || !kc__cel_validate(env, source, root))
        return false;
    program->used = scope->used;
    program->n_locals = scope->n_locals;
    program->cost = kc__cel_estimate_cost(root, scope);
    return plan_program(program, root, source);
}

kc_cel_program *kc_cel_compile(const kc_cel_env *env, kc_str expression,
                               const kc_cel_compile_opts *opts, kc_cel_errors *errors)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_cel_errors) ignored = {0};
    kc_cel_program *program = kc_new(kc_cel_program);
    kc__cel_scope scope = {.variables = opts ? opts->variables : NULL,
                           .n_variables = opts ? opts->n_variables : 0};
    program->n_variables = scope.n_variables;
    kc__cel_source source = {.text = expression,
                             .arena = &arena,
                             .errors = errors ? errors : &ignored,
                             .max_nodes =
                                 opts && opts->max_nodes ? opts->max_nodes : KC_CEL_NODES_MAX};
    if (!expression.p)
        source.text = KC_STR("");
    if (!compile_program(env, &source, &scope, program))
        return kc_cel_program_free(program);
    return program;
}

kc_cel_program *kc_cel_program_free(kc_cel_program *program)
{
    if (!program)
        return NULL;
    for (kc__cel_regex_entry *entry = program->regexes, *next; entry; entry = next) {
        next = entry->next;
        kc__regex_free(entry->regex);
        free(entry);
    }
    kc_arena_done(&program->arena);
    free(program);
    return NULL;
}

const kc_cel_type *kc_cel_program_type(const kc_cel_program *program)
{
    return program->type;
}

size_t kc_cel_program_memory(const kc_cel_program *program)
{
    size_t memory = sizeof(*program) + program->arena.used;
    for (const kc__cel_regex_entry *entry = program->regexes; entry; entry = entry->next)
        memory += sizeof(*entry) + kc__regex_memory(entry->regex);
    return memory;
}

static bool is_used(const kc_cel_program *program, size_t variable)
{
    return program->used >> KC_MIN(variable, (size_t)63) & 1;
}

bool kc_cel_program_uses(const kc_cel_program *program, size_t variable)
{
    return variable < program->n_variables && is_used(program, variable);
}

kc_cel_cost kc_cel_program_cost(const kc_cel_program *program)
{
    return program->cost;
}

/* ---- evaluation ---- */

static kc_cel_value read_variable(kc__cel_eval *ev, kc_cel_value given)
{
    if (given.kind == KC_CEL_DYN)
        return kc__cel_unread(kc__cel_read_json(ev, given.json.json, given.json.type));
    if (given.kind != KC_CEL_OPTIONAL || !given.inner || given.inner->kind != KC_CEL_DYN)
        return given;
    kc_cel_value inner = read_variable(ev, *given.inner);
    return kc__cel_is_error(inner) ? inner : kc__cel_optional_of(ev, inner);
}

/* Variables given as JSON are read once. */
static const kc_cel_value *read_variables(kc__cel_eval *ev, const kc_cel_program *program,
                                          const kc_cel_value *given)
{
    kc_cel_value *read = kc__cel_alloc(ev, program->n_variables * sizeof(*read));
    for (size_t i = 0; i < program->n_variables && read; i++)
        read[i] = is_used(program, i) ? read_variable(ev, given[i]) : given[i];
    return read;
}

static int fail_evaluation(const kc__cel_eval *ev, kc_cel_value result, kc_error *err)
{
    if (ev->stopped && !ev->panicked)
        return kc_error_set(err, KC_TOO_LARGE, "%s", ev->why);
    return kc_error_set(err, KC_BAD_REQUEST, "%.*s", KC_ARG(result.text));
}

int kc_cel_evaluate(const kc_cel_program *program, const kc_cel_value *variables,
                    const kc_cel_eval_opts *opts, kc_cel_value *ret, kc_error *err)
{
    kc__cel_eval ev = {.arena = opts->arena,
                       .budget = opts->budget ? opts->budget : KC_CEL_COST_MAX,
                       .max_bytes = opts->max_bytes ? opts->max_bytes : DEFAULT_MAX_BYTES,
                       .regex_steps =
                           opts->regex_steps ? *opts->regex_steps : KC_CEL_REGEX_STEPS_MAX,
                       .seed = kc__cel_seed(program)};
    kc_cel_value result = {.kind = KC_CEL_ERROR};
    ev.variables = read_variables(&ev, program, variables);
    ev.locals = kc__cel_alloc(&ev, program->n_locals * sizeof(*ev.locals));
    if (ev.variables && ev.locals)
        result = kc__cel_run(&ev, program->root);
    if (opts->ret_cost)
        *opts->ret_cost = ev.cost;
    if (opts->regex_steps)
        *opts->regex_steps = ev.regex_steps;
    if (ev.stopped || kc__cel_is_error(result))
        return fail_evaluation(&ev, result, err);
    *ret = result;
    return 0;
}
