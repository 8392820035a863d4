/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

#include "kc/thread.h"

typedef struct shared_program {
    const kc_cel_program *program;
    const kc_value *json;
} shared_program;

static void evaluate_many(void *user)
{
    const shared_program *shared = user;
    kc_scoped(kc_arena) arena = {0};
    for (int i = 0; i < 2000; i++) {
        kc_cel_value value = kc_cel_of_json(shared->json, kc_cel_type_basic(KC_CEL_DYN)), result;
        kc_arena_clear(&arena);
        int failed = kc_cel_evaluate(shared->program, &value, &(kc_cel_eval_opts){.arena = &arena},
                                     &result, NULL);
        assert_int_equal(failed, 0);
        assert_true(kc_cel_is_true(result));
    }
}

static void threads_share_a_program(void **state)
{
    (void)state;
    kc_auto(kc_cel_env) *env = kc_cel_env_new(NULL);
    kc_auto(kc_view) *view =
        kc_view_parse(KC_STR("{\"names\":[\"abc\",\"x9\",\"é\"]}"), NULL, NULL);
    kc_cel_variable self = {"self", kc_cel_type_basic(KC_CEL_DYN)};
    kc_auto(kc_cel_program) *program = compile_with(
        env, "self.names.all(n, n.matches('^([a-z]|[0-9]|é)+$')) && 'abc' in ['abc', 'd']", &self,
        1);
    shared_program shared = {program, kc_view_root(view)};
    kc_thread *threads[4];
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        threads[i] = kc_thread_start("cel", evaluate_many, &shared, NULL);
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        kc_thread_join(threads[i]);
}

TESTS(threads_share_a_program)
