/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static void allow_pods(const kc_cel_authorizer_check *check, kc_cel_decision *ret, void *user)
{
    (void)user;
    ret->allowed = kc_str_is(check->resource, "pods") && kc_str_is(check->verb, "create") &&
                   kc_str_is(check->ns, "default");
    if (kc_str_is(check->service_account, "robot"))
        ret->allowed = kc_str_is(check->service_account_ns, "plant");
    ret->reason = KC_STR("by test");
    if (kc_str_is(check->path, "/broken"))
        ret->error = KC_STR("no answer");
}

static void authorizer_answers_checks(void **state)
{
    (void)state;
    kc_auto(kc_cel_env) *env = kc_cel_env_new(NULL);
    kc_cel_authorizer authorizer = {.check = allow_pods};
    kc_cel_variable variable = {"authorizer", kc_cel_type_authorizer()};
    static const char *const rows[][2] = {
        {"authorizer.group('').resource('pods').namespace('default').check('create').allowed()",
         "true"},
        {"authorizer.group('').resource('pods').check('create').allowed()", "false"},
        {"authorizer.path('/broken').check('get').errored()", "true"},
        {"authorizer.path('/broken').check('get').error()", "\"no answer\""},
        {"authorizer.path('/x').check('get').reason()", "\"by test\""},
        {"authorizer.serviceAccount('plant', 'robot').path('/x').check('get').allowed()", "true"},
        {"authorizer.serviceAccount('other', 'robot').group('').resource('pods')"
         ".fieldSelector('a=b').labelSelector('c').check('get').allowed()",
         "false"},
    };
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc_auto(kc_cel_program) *program = compile_with(env, rows[i][0], &variable, 1);
        kc_scoped(kc_arena) arena = {0};
        kc_scoped(kc_buf) text = {0};
        kc_cel_value value = kc_cel_of_authorizer(&authorizer), result;
        uint64_t cost = 0;
        assert_int_equal(kc_cel_evaluate(program, &value,
                                         &(kc_cel_eval_opts){.arena = &arena, .ret_cost = &cost},
                                         &result, NULL),
                         0);
        kc_cel_write_text(result, &text);
        assert_string_equal(kc_buf_cstr(&text), rows[i][1]);
        assert_true(cost > 350000 && cost < 350010);
    }
}

static void authorizer_refuses_invalid_attributes(void **state)
{
    (void)state;
    kc_auto(kc_cel_env) *env = kc_cel_env_new(NULL);
    kc_cel_authorizer authorizer = {.check = allow_pods};
    kc_cel_variable variable = {"authorizer", kc_cel_type_authorizer()};
    static const char *const rows[][2] = {
        {"authorizer.path(' ').check('get').allowed()", "path must not be empty"},
        {"authorizer.group('').resource('').check('get').allowed()", "resource must not be empty"},
        {"authorizer.serviceAccount('a.b', 'c').path('/').check('get').allowed()",
         "Invalid service account namespace"},
        {"authorizer.serviceAccount('a', 'C').path('/').check('get').allowed()",
         "Invalid service account name"},
    };
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc_auto(kc_cel_program) *program = compile_with(env, rows[i][0], &variable, 1);
        kc_scoped(kc_arena) arena = {0};
        kc_scoped(kc_error) err = {0};
        kc_cel_value value = kc_cel_of_authorizer(&authorizer), result;
        assert_true(kc_cel_evaluate(program, &value, &(kc_cel_eval_opts){.arena = &arena}, &result,
                                    &err) < 0);
        assert_string_equal(kc_error_text(&err), rows[i][1]);
    }
}

TESTS(authorizer_answers_checks, authorizer_refuses_invalid_attributes)
