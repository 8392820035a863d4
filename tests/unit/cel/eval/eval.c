/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_schema_testing.h"

static const cel_setup plain = {0};

static void logic_absorbs_errors(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"true || 1 / 0 > 0", "true"},
        {"1 / 0 > 0 || true", "true"},
        {"1 / 0 > 0 || false", "error: division by zero"},
        {"false && 1 / 0 > 0", "false"},
        {"1 / 0 > 0 && false", "false"},
        {"1 / 0 > 0 && true", "error: division by zero"},
        {"true ? 1 : 1 / 0", "1"},
        {"1 / 0 > 0 ? 1 : 2", "error: division by zero"},
        {"[0, 1].exists(x, 1 / x > 0)", "true"},
        {"[0, 1].all(x, 1 / x > 1)", "false"},
        {"[0, 1].all(x, 1 / x > 0)", "error: division by zero"},
        {"!(1 / 0 > 0)", "error: division by zero"},
        {"dyn(1) || true", "true"},
        {"dyn(1) || false", "error: no such overload"},
    };
    ASSERT_CEL(&plain, rows);
}

static void assert_stopped(const char *expression, const kc_cel_eval_opts *limits,
                           const char *message)
{
    kc_auto(kc_cel_env) *env = kc_cel_env_new(NULL);
    kc_auto(kc_cel_program) *program = compile_with(env, expression, NULL, 0);
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    kc_cel_value result;
    kc_cel_eval_opts opts = *limits;
    opts.arena = &arena;
    assert_true(kc_cel_evaluate(program, NULL, &opts, &result, &err) < 0);
    assert_string_equal(kc_error_text(&err), message);
    assert_int_equal(err.reason, KC_TOO_LARGE);
}

static void budget_ends_evaluation(void **state)
{
    (void)state;
    static const char cost[] = "operation cancelled: actual cost limit exceeded";
    assert_stopped("[1, 2, 3].map(x, [1, 2, 3].map(y, x * y)).size() > 0",
                   &(kc_cel_eval_opts){.budget = 50}, cost);
    /* Nothing absorbs it. */
    assert_stopped("[1, 2, 3].all(x, x > 0) || true", &(kc_cel_eval_opts){.budget = 5}, cost);
    assert_stopped("[1, 2, 3].exists(x, x > 5)", &(kc_cel_eval_opts){.budget = 5}, cost);
    assert_stopped("lists.range(1000000000).size() > 0", &(kc_cel_eval_opts){.max_bytes = 1 << 20},
                   "operation cancelled: memory limit exceeded");
}

static void actual_costs_equal_those_of_the_reference(void **state)
{
    (void)state;
    typed_self self = declare_self();
    static const cel_row rows[] = {
        {"self.replicas <= self.maxReplicas", "true", 5},
        {"self.name == 'abc'", "true", 3},
        {"self.name.matches('^[a-z]+$')", "true", 4},
        {"has(self.name)", "true", 1},
        {"self.name in ['abc', 'd']", "true", 2},
        {"self.tags.all(t, t != 'x')", "true", 13},
        {"self.tags.map(t, t)", "[\"a\", \"b\"]", 29},
        {"self.replicas == 1 ? self.name : self.free", "\"abc\"", 4},
        {"self.items[0].k", "\"p\"", 4},
        {"self.tags.exists(t, t == 'b')", "true", 15},
        {"[1, 2, 3].size()", "3", 1},
        {"[self.replicas].size()", "1", 13},
    };
    ASSERT_CEL(&self.setup, rows);
    release_self(&self);
}

TESTS(logic_absorbs_errors, budget_ends_evaluation, actual_costs_equal_those_of_the_reference)
