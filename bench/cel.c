/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cel.c: a typical rule: its evaluation, its compilation, and what 200 compiled rules keep in
 * memory, patterns included. Unlike other benchmarks this one has bounds on times: the rules of a
 * definition run in every write of its objects.
 */
#include "bench.h"

#include "kc/cel.h"

#include <assert.h>
#include <stdio.h>

static const char rule[] = "self.replicas <= self.maxReplicas && self.name.matches('^[a-z]+$')";
static const char schema_text[] =
    "{\"type\":\"object\",\"properties\":{\"replicas\":{\"type\":\"integer\"},"
    "\"maxReplicas\":{\"type\":\"integer\"},\"name\":{\"type\":\"string\",\"maxLength\":63}}}";
static const char object_text[] = "{\"replicas\":3,\"maxReplicas\":10,\"name\":\"webserver\"}";

enum { RULES = 200 };

typedef struct cel_setup {
    kc_cel_env *env;
    kc_cel_variable self;
    const kc_cel_program *program;
    const kc_value *object;
} cel_setup;

static kc_cel_program *compile_rule(const cel_setup *s)
{
    kc_scoped(kc_cel_errors) errors = {0};
    kc_cel_compile_opts opts = {.variables = &s->self, .n_variables = 1};
    kc_cel_program *program = kc_cel_compile(s->env, kc_cstr(rule), &opts, &errors);
    assert(program);
    return program;
}

static void evaluate(void *input, size_t times)
{
    const cel_setup *s = input;
    kc_scoped(kc_arena) arena = {0};
    while (times--) {
        kc_cel_value self = kc_cel_of_json(s->object, s->self.type), result;
        kc_arena_clear(&arena);
        int failed =
            kc_cel_evaluate(s->program, &self, &(kc_cel_eval_opts){.arena = &arena}, &result, NULL);
        assert(!failed && kc_cel_is_true(result));
        bench_use(failed);
    }
}

static void compile(void *input, size_t times)
{
    while (times--)
        kc_cel_program_free(compile_rule(input));
}

/* Bytes of the programs after their first evaluation, which fills the caches of patterns. */
static size_t memory_of_rules(const cel_setup *s)
{
    size_t memory = 0;
    for (int i = 0; i < RULES; i++) {
        kc_auto(kc_cel_program) *program = compile_rule(s);
        cel_setup one = *s;
        one.program = program;
        evaluate(&one, 1);
        memory += kc_cel_program_memory(program);
    }
    return memory;
}

int main(void)
{
    kc_auto(kc_view) *openapi = kc_view_parse(kc_cstr(schema_text), NULL, NULL);
    kc_auto(kc_view) *object = kc_view_parse(kc_cstr(object_text), NULL, NULL);
    kc_auto(kc_schema) *schema = kc_schema_compile(kc_view_root(openapi), NULL, NULL);
    kc_auto(kc_cel_types) *types = kc_cel_types_new();
    kc_auto(kc_cel_env) *env = kc_cel_env_new(NULL);
    cel_setup s = {.env = env, .object = kc_view_root(object)};
    s.self = (kc_cel_variable){"self", kc_cel_types_schema(types, schema, "self", NULL)};
    kc_auto(kc_cel_program) *program = compile_rule(&s);
    s.program = program;

    contestant all[] = {{"evaluate", evaluate}, {"compile", compile}};
    bench_run(rule, all, KC_COUNT(all), &s);
    bench_at_most("evaluation of a typical rule, ns", all[0].ns, 500);
    bench_at_most("compilation of 200 rules, ms", all[1].ns * RULES / 1e6, 10);
    bench_at_most("memory of 200 rules, KB", (double)memory_of_rules(&s) / 1024, 400);
    return bench_result();
}
