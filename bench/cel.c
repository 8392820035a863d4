/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cel.c: a typical rule: its evaluation, its compilation, and what 200 compiled rules keep in
 * memory, patterns included. The peer of an evaluation is the same rule written by hand in C, with
 * the C library's regexec for the pattern. The peer of a compilation is yyjson, which parses the
 * rule written as a tree of JSON.
 */
#include "bench.h"

#include "kc/cel.h"

#include <assert.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <yyjson.h>

static const char rule[] = "self.replicas <= self.maxReplicas && self.name.matches('^[a-z]+$')";
static const char schema_text[] =
    "{\"type\":\"object\",\"properties\":{\"replicas\":{\"type\":\"integer\"},"
    "\"maxReplicas\":{\"type\":\"integer\"},\"name\":{\"type\":\"string\",\"maxLength\":63}}}";
/* The rule as a tree: what a parser of it makes at least. */
static const char rule_tree[] = "{\"_&&_\":[{\"_<=_\":[{\"select\":[\"self\",\"replicas\"]},"
                                "{\"select\":[\"self\",\"maxReplicas\"]}]},"
                                "{\"matches\":[{\"select\":[\"self\",\"name\"]},\"^[a-z]+$\"]}]}";
static const char object_text[] = "{\"replicas\":3,\"maxReplicas\":10,\"name\":\"webserver\"}";

enum { RULES = 200 };

typedef struct cel_setup {
    kc_cel_env *env;
    kc_cel_variable self;
    const kc_cel_program *program;
    const kc_value *object;
    regex_t pattern;
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

static void evaluate_by_hand(void *input, size_t times)
{
    const cel_setup *s = input;
    while (times--) {
        char name[64];
        int64_t replicas = 0, most = 0;
        const kc_str text = kc_value_as_str(kc_value_get(s->object, "name"));
        const size_t n = KC_MIN(text.n, sizeof(name) - 1);
        memcpy(name, text.p, n);
        name[n] = '\0';
        const bool matches = kc_value_as_i64(kc_value_get(s->object, "replicas"), &replicas) &&
                             kc_value_as_i64(kc_value_get(s->object, "maxReplicas"), &most) &&
                             replicas <= most && regexec(&s->pattern, name, 0, NULL, 0) == 0;
        assert(matches);
        bench_use(matches);
    }
}

static void parse_tree(void *input, size_t times)
{
    (void)input;
    while (times--) {
        yyjson_doc *doc = yyjson_read(rule_tree, strlen(rule_tree), 0);
        bench_use(doc);
        yyjson_doc_free(doc);
    }
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

    const int failed = regcomp(&s.pattern, "^[a-z]+$", REG_EXTENDED | REG_NOSUB);
    assert(!failed);

    contestant all[] = {{"evaluate", evaluate},
                        {"the same by hand, with regexec", evaluate_by_hand},
                        {"compile", compile},
                        {"yyjson_read of its tree", parse_tree}};
    bench_run(rule, all, KC_COUNT(all), &s);
    bench_at_most("evaluation of a typical rule, to the same by hand", all[0].ns / all[1].ns, 4);
    bench_at_most("compilation of it, to parsing its tree with yyjson", all[2].ns / all[3].ns, 80);
    bench_at_most("memory of 200 rules, KB", (double)memory_of_rules(&s) / 1024, 400);
    regfree(&s.pattern);
    return bench_result();
}
