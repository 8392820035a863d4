/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cel_testing.h: expressions and their results as rows of a table.
 *
 *     {"1 + 1", "2"},
 *     {"1 / 0", "error: division by zero"},
 *     {"x", "ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x\n | ^"},
 *
 * A result is the text of the value, "error: " and the message of a failed evaluation, or the
 * errors of the compilation.
 */
#ifndef KC_CEL_TESTING_H
#define KC_CEL_TESTING_H

#include "testing.h"

#include "kc/cel.h"
#include "kc/json.h"

typedef struct cel_row {
    const char *expression, *result;
    uint64_t cost; /* Of the evaluation; 0 is not checked. */
} cel_row;

/* What a test evaluates with: one variable, self, of any type. */
typedef struct cel_setup {
    kc_cel_env_opts env;
    const char *json;        /* The value of self, ' for ". Defaults to null. */
    const kc_cel_type *type; /* Defaults to dyn. */
} cel_setup;

static inline void cel_evaluate_into(const kc_cel_env *env, const cel_setup *setup,
                                     const char *expression, kc_buf *out, uint64_t *ret_cost,
                                     kc_cel_cost *ret_estimate)
{
    const kc_cel_type *type = setup->type ? setup->type : kc_cel_type_basic(KC_CEL_DYN);
    kc_autofree char *json = kc_strdup(setup->json ? setup->json : "null");
    for (char *c = json; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    kc_auto(kc_view) *view = kc_view_parse(kc_cstr(json), NULL, NULL);
    assert_non_null(view);
    kc_scoped(kc_cel_errors) errors = {0};
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    kc_cel_variable self = {"self", type};
    kc_auto(kc_cel_program) *program =
        kc_cel_compile(env, kc_cstr(expression),
                       &(kc_cel_compile_opts){.variables = &self, .n_variables = 1}, &errors);
    if (!program) {
        assert_true(errors.items.n > 0);
        kc_cel_errors_write(&errors, kc_cstr(expression), out);
        return;
    }
    assert_int_equal(errors.items.n, 0);
    if (ret_estimate)
        *ret_estimate = kc_cel_program_cost(program);
    kc_cel_value value = kc_cel_of_json(kc_view_root(view), type), result;
    kc_cel_eval_opts opts = {.arena = &arena, .ret_cost = ret_cost};
    if (kc_cel_evaluate(program, &value, &opts, &result, &err) < 0)
        kc_buf_printf(out, "error: %s", kc_error_text(&err));
    else
        kc_cel_write_text(result, out);
}

static inline void assert_cel_rows(const cel_setup *setup, const cel_row *rows, size_t n)
{
    kc_auto(kc_cel_env) *env = kc_cel_env_new(&setup->env);
    size_t failed = 0;
    for (size_t i = 0; i < n; i++) {
        kc_scoped(kc_buf) out = {0};
        uint64_t cost = 0;
        cel_evaluate_into(env, setup, rows[i].expression, &out, &cost, NULL);
        bool ok = strcmp(kc_buf_cstr(&out), rows[i].result) == 0 &&
                  (!rows[i].cost || rows[i].cost == cost);
        if (!ok)
            print_error("%s\n  have %s (cost %llu)\n  want %s (cost %llu)\n", rows[i].expression,
                        kc_buf_cstr(&out), (unsigned long long)cost, rows[i].result,
                        (unsigned long long)rows[i].cost);
        failed += !ok;
    }
    assert_int_equal(failed, 0);
}

/* Compiles an expression that must compile. */
static inline kc_cel_program *compile_with(const kc_cel_env *env, const char *expression,
                                           const kc_cel_variable *variables, size_t n)
{
    kc_scoped(kc_cel_errors) errors = {0};
    kc_cel_program *program =
        kc_cel_compile(env, kc_cstr(expression),
                       &(kc_cel_compile_opts){.variables = variables, .n_variables = n}, &errors);
    if (!program)
        fail_msg("%s: %s", expression, errors.items.items[0].message);
    return program;
}

#define ASSERT_CEL(setup, rows) assert_cel_rows(setup, rows, KC_COUNT(rows))

#endif
