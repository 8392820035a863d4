/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

typedef struct counted_lookup {
    int calls;
    kc_view *view;
} counted_lookup;

static kc_cel_value get_counted(kc_str name, bool *ret_found, void *user)
{
    counted_lookup *lookup = user;
    lookup->calls++;
    *ret_found = true;
    if (kc_str_is(name, "broken"))
        return kc_cel_of_error(KC_STR("broken fails to evaluate"));
    if (kc_str_is(name, "json"))
        return kc_cel_of_json(kc_view_root(lookup->view), kc_cel_type_basic(KC_CEL_DYN));
    *ret_found = kc_str_is(name, "one");
    return kc_cel_of_int(1);
}

static void computed_fields_are_evaluated_when_they_are_read(void **state)
{
    (void)state;
    kc_auto(kc_cel_env) *env = kc_cel_env_new(NULL);
    kc_auto(kc_cel_types) *types = kc_cel_types_new();
    kc_auto(kc_view) *view = kc_view_parse(KC_STR("{\"x\":[1,2]}"), NULL, NULL);
    kc_cel_type *type = kc_cel_types_object(types, "variables");
    kc_cel_types_add_field(types, type, KC_STR("one"), kc_cel_type_basic(KC_CEL_INT));
    kc_cel_types_add_field(types, type, KC_STR("json"), kc_cel_type_basic(KC_CEL_DYN));
    kc_cel_types_add_field(types, type, KC_STR("broken"), kc_cel_type_basic(KC_CEL_DYN));
    kc_cel_variable variable = {"variables", type};
    static const struct {
        const char *expression, *result;
        int calls;
    } rows[] = {
        {"variables.one + 1", "2", 1},
        {"true || variables.one == 1", "true", 0},
        {"variables.json.x[1]", "2", 1},
        {"variables.broken == 1 || true", "true", 1},
        {"variables.broken", "broken fails to evaluate", 1},
    };
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc_auto(kc_cel_program) *program = compile_with(env, rows[i].expression, &variable, 1);
        kc_scoped(kc_arena) arena = {0};
        kc_scoped(kc_error) err = {0};
        kc_scoped(kc_buf) text = {0};
        counted_lookup counted = {.view = view};
        kc_cel_lookup lookup = {.get = get_counted, .user = &counted, .n_fields = 3};
        kc_cel_value value = kc_cel_of_lookup(&lookup), result;
        kc_cel_eval_opts opts = {.arena = &arena};
        if (kc_cel_evaluate(program, &value, &opts, &result, &err) < 0)
            kc_buf_puts(&text, kc_error_text(&err));
        else
            kc_cel_write_text(result, &text);
        assert_string_equal(kc_buf_cstr(&text), rows[i].result);
        assert_int_equal(counted.calls, rows[i].calls);
    }
}

static void lists_and_maps_as_keys_equal_only_themselves(void **state)
{
    (void)state;
    const cel_setup setup = {.json = "{'nums':[1,2],'m':{'a':1}}"};
    static const cel_row rows[] = {
        {"{[1]: 2, [1]: 3}.size()", "2"},
        {"[1] in {[1]: 2}", "false"},
        {"[[1]].map(x, {x: 1, x: 2})", "[{[1]: 2}]"},
        {"[[1]].map(x, x in {x: 1})", "[true]"},
        {"{self.nums: 1, self.nums: 2}.size()", "2"},
        {"[self.nums].map(x, {x: 1, x: 2}.size())", "[1]"},
        {"[self.nums, self.nums].transformMapEntry(i, x, {x: i}).size()", "2"},
        {"{self: 1, self: 2}.size()", "2"},
        {"[self.m].transformList(i, x, x in {x: 1})", "[true]"},
        {"{'a': self.nums}.transformList(k, x, x in {x: 1})", "[true]"},
        {"self.transformList(k, x, x in {x: 1})", "[true, true]"},
        {"{optional.of(1): 1, optional.of(1): 2}.size()", "2"},
        {"{optional.none(): 1, optional.none(): 2}.size()", "1"},
    };
    ASSERT_CEL(&setup, rows);
}

static void numbers_of_different_types_are_different_keys(void **state)
{
    (void)state;
    const cel_setup setup = {0};
    static const cel_row rows[] = {
        {"{dyn(1): 'i', dyn(1u): 'u', dyn(1.0): 'd'}", "{1: \"i\", 1u: \"u\", 1.0: \"d\"}"},
        {"{dyn(1): 'i', dyn(1u): 'u'}[1u]", "\"u\""},
        {"{1u: 'u'}[dyn(1)]", "\"u\""},
        {"{1: 'i'}[dyn(1.0)]", "\"i\""},
        {"dyn({1: 'i', 2: 'j'}) == dyn({1u: 'i', 2u: 'j'})", "true"},
        {"dyn(1.0) in {1u: 2}", "true"},
        {"dyn(1u) in {1.0: 2}", "false"},
    };
    ASSERT_CEL(&setup, rows);
}

static void key_that_go_cannot_hash_fails_the_evaluation(void **state)
{
    (void)state;
    const cel_setup setup = {0};
    static const cel_row rows[] = {
        {"{dyn(self == null ? b'a' : b'b'): 1}",
         "error: internal error: runtime error: hash of unhashable type types.Bytes"},
        {"dyn(b'a') in {'a': 1} || true",
         "error: internal error: runtime error: hash of unhashable type types.Bytes"},
        {"b'a' in {}", "false"},
        {"dyn(b'a') in ['a', 'b'] || true",
         "error: internal error: runtime error: hash of unhashable type types.Bytes"},
        {"{semver('1.2.3'): 1}",
         "error: internal error: runtime error: hash of unhashable type cel.Semver"},
    };
    ASSERT_CEL(&setup, rows);
}

TESTS(computed_fields_are_evaluated_when_they_are_read,
      lists_and_maps_as_keys_equal_only_themselves, numbers_of_different_types_are_different_keys,
      key_that_go_cannot_hash_fails_the_evaluation)
