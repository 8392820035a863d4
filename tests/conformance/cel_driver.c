/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cel_driver.c: evaluates expressions of a conformance suite: a line of JSON in, a line of JSON
 * out.
 *
 *     {"expr":"x + 1","vars":[{"name":"x","value":"41"}]}
 *     {"type":"dyn","value":["int","42"],"cost":2,"estimate":[2,2]}
 *
 * The value of a variable is an expression itself. Instead of variables, a line may have an
 * "object", the variable self, and its "schema". A failure is {"compile":"…"} or {"error":"…"}.
 *
 *     {"rules":{"type":"object",…}}
 *     {"rules":[{"path":"schema.properties[spec]","rule":0,"cost":3,"count":1,"message_cost":0}]}
 *
 * estimates the rules of a schema (x-kubernetes-validations), with the number of values that each
 * applies to.
 *
 * With --kubernetes the environment is that of Kubernetes, otherwise that of cel-spec. Used by
 * scripts/cel-conformance, scripts/cel-oracle and scripts/compare-crds.
 */
#include "kc/cel.h"
#include "kc/json.h"

#include "cel/eval/eval_internal.h"
#include "cel/rules/rules_internal.h"
#include "cel/value/value_internal.h"

#include <stdio.h>

static void write_typed(kc__cel_eval *ev, kc_cel_value v, kc_buf *out);

static void write_elements(kc__cel_eval *ev, kc_cel_value v, kc_buf *out)
{
    bool map = v.kind != KC_CEL_LIST, first = true;
    kc__cel_iter iter;
    kc_cel_value key, value = {0};
    kc__cel_iter_begin(ev, v, &iter);
    while (kc__cel_iter_next(ev, &iter, &key, map ? &value : NULL)) {
        kc_buf_puts(out, first ? "" : ",");
        first = false;
        if (map)
            kc_buf_putc(out, '[');
        write_typed(ev, key, out);
        if (map) {
            kc_buf_putc(out, ',');
            write_typed(ev, value, out);
            kc_buf_putc(out, ']');
        }
    }
}

/* ["int","1"], ["list",[…]], ["map",[[key,value],…]] */
static void write_typed(kc__cel_eval *ev, kc_cel_value v, kc_buf *out)
{
    static const char *const names[] = {
        [KC_CEL_NULL] = "null",         [KC_CEL_BOOL] = "bool",
        [KC_CEL_INT] = "int",           [KC_CEL_UINT] = "uint",
        [KC_CEL_DOUBLE] = "double",     [KC_CEL_STRING] = "string",
        [KC_CEL_BYTES] = "bytes",       [KC_CEL_TIMESTAMP] = "timestamp",
        [KC_CEL_DURATION] = "duration", [KC_CEL_LIST] = "list",
        [KC_CEL_MAP] = "map",           [KC_CEL_OBJECT] = "map",
        [KC_CEL_TYPE] = "type",         [KC_CEL_OPTIONAL] = "optional",
        [KC_CEL_OPAQUE] = "opaque",     [KC_CEL_ERROR] = "opaque",
    };
    kc_buf_printf(out, "[\"%s\",", names[v.kind]);
    if (v.kind == KC_CEL_LIST || v.kind == KC_CEL_MAP || v.kind == KC_CEL_OBJECT) {
        kc_buf_putc(out, '[');
        write_elements(ev, v, out);
        kc_buf_puts(out, "]]");
        return;
    }
    kc_scoped(kc_buf) text = {0};
    if (v.kind == KC_CEL_OPTIONAL && v.inner) {
        write_typed(ev, *v.inner, out);
        kc_buf_putc(out, ']');
        return;
    }
    if (v.kind == KC_CEL_BYTES)
        for (size_t i = 0; i < v.text.n; i++)
            kc_buf_printf(&text, "%02x", (unsigned char)v.text.p[i]);
    else if (v.kind == KC_CEL_TIMESTAMP)
        kc_buf_printf(&text, "%lld.%09u", (long long)v.integer, v.nanos);
    else if (v.kind == KC_CEL_DURATION)
        kc_buf_printf(&text, "%lld", (long long)v.integer);
    else if (v.kind == KC_CEL_NULL)
        kc_buf_puts(&text, "null");
    else if (v.kind != KC_CEL_OPTIONAL)
        kc__cel_write_plain(v, &text);
    kc_json_quote(out, kc_buf_str(&text));
    kc_buf_putc(out, ']');
}

enum { MAX_VARIABLES = 16 };

typedef struct driver {
    kc_cel_env *env;
    kc_arena arena;
    kc_cel_variable variables[MAX_VARIABLES];
    kc_cel_value values[MAX_VARIABLES];
    size_t n;
    KC_VEC(kc_cel_program *) programs; /* Values of the current line refer to them. */
} driver;

static void write_member(kc_buf *out, const char *name, kc_str text)
{
    kc_buf_printf(out, "%s\"%s\":", out->n > 1 ? "," : "", name);
    kc_json_quote(out, text);
}

static kc_cel_program *compile_line(driver *d, kc_str expression, kc_buf *out)
{
    kc_scoped(kc_cel_errors) errors = {0};
    kc_cel_compile_opts opts = {.variables = d->variables, .n_variables = d->n};
    kc_cel_program *program = kc_cel_compile(d->env, expression, &opts, &errors);
    if (!program) {
        kc_scoped(kc_buf) text = {0};
        kc_cel_errors_write(&errors, expression, &text);
        write_member(out, "compile", kc_buf_str(&text));
        return NULL;
    }
    kc_vec_push(&d->programs, program);
    return program;
}

/* The value of a variable is an expression itself. */
static bool bind_line(driver *d, const kc_value *var, kc_buf *out)
{
    kc_scoped(kc_error) err = {0};
    size_t i = d->n;
    if (i == MAX_VARIABLES)
        return false;
    d->n = 0;
    kc_cel_program *program = compile_line(d, kc_value_as_str(kc_value_get(var, "value")), out);
    kc_cel_eval_opts opts = {.arena = &d->arena};
    if (!program || kc_cel_evaluate(program, NULL, &opts, &d->values[i], &err) < 0)
        return false;
    d->variables[i] = (kc_cel_variable){kc_value_as_cstr(kc_value_get(var, "name"), ""),
                                        kc_cel_type_basic(KC_CEL_DYN)};
    d->n = i + 1;
    return true;
}

static void evaluate_line(driver *d, kc_str expression, kc_buf *out)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) type = {0};
    kc_cel_program *program = compile_line(d, expression, out);
    if (!program)
        return;
    uint64_t cost = 0;
    kc_cel_value result;
    kc_cel_eval_opts opts = {.arena = &d->arena, .ret_cost = &cost};
    int failed = kc_cel_evaluate(program, d->values, &opts, &result, &err);
    kc_cel_cost estimate = kc_cel_program_cost(program);
    kc_cel_type_write(kc_cel_program_type(program), &type);
    write_member(out, "type", kc_buf_str(&type));
    kc_buf_printf(out, ",\"cost\":%llu,\"estimate\":[%llu,%llu]", (unsigned long long)cost,
                  (unsigned long long)estimate.min, (unsigned long long)estimate.max);
    if (failed < 0) {
        write_member(out, "error", kc_cstr(kc_error_text(&err)));
        return;
    }
    kc__cel_eval ev = {.arena = &d->arena, .max_bytes = SIZE_MAX, .budget = UINT64_MAX};
    kc_buf_puts(out, ",\"value\":");
    write_typed(&ev, result, out);
}

/* self, of any type or as a schema declares it. */
static bool bind_self(driver *d, const kc_value *request, kc_cel_types *types,
                      kc_schema **ret_schema)
{
    const kc_value *schema = kc_value_get(request, "schema");
    const kc_cel_type *type = kc_cel_type_basic(KC_CEL_DYN);
    if (schema) {
        *ret_schema = kc_schema_compile(schema, NULL, NULL);
        kc_cel_schema_opts opts = {.resource_root =
                                       kc_value_as_bool(kc_value_get(request, "root"), false)};
        type = *ret_schema ? kc_cel_types_schema(types, *ret_schema, "self_type", &opts) : NULL;
        if (!type)
            return false;
    }
    d->variables[0] = (kc_cel_variable){"self", type};
    d->values[0] = kc_cel_of_json(kc_value_get(request, "object"), type);
    d->n = 1;
    return true;
}

/* ---- rules of a schema ---- */

static uint64_t max_cost(const kc_cel_program *program)
{
    return program ? kc_cel_program_cost(program).max : 0;
}

static void write_rule(const kc__cel_rule_place *at, size_t i, kc_buf *out)
{
    const kc__cel_schema_rule *rule = &at->node->rules[i];
    uint64_t count = at->bounded ? at->count : kc_cel_type_max_count(at->node->type);
    kc_buf_puts(out, out->n > strlen("{\"rules\":[") ? ",{\"path\":" : "{\"path\":");
    kc_json_quote(out, kc_cstr(at->path));
    kc_buf_printf(out, ",\"rule\":%zu,\"cost\":%llu,\"count\":%llu,\"message_cost\":%llu", i,
                  (unsigned long long)max_cost(rule->program), (unsigned long long)count,
                  (unsigned long long)max_cost(rule->message));
    kc_buf_printf(out, ",\"uses_old\":%s", rule->uses_old ? "true" : "false");
    if (rule->error)
        write_member(out, "error", kc_cstr(rule->error));
    if (rule->message_error)
        write_member(out, "message_error", kc_cstr(rule->message_error));
    kc_buf_putc(out, '}');
}

static void write_rules(const kc__cel_rule_place *at, void *user)
{
    for (size_t i = 0; i < at->node->n_rules; i++)
        write_rule(at, i, user);
}

static void answer_rules(const kc_value *openapi, kc_buf *out)
{
    kc_auto(kc_schema) *schema = kc_schema_compile(openapi, NULL, NULL);
    kc_auto(kc_cel_rules) *rules = kc__cel_rules_new();
    kc__cel_rule_compiler compiler = {.rules = rules, .all_stored = true};
    kc__cel_rule_visitor visitor = {.visit = write_rules, .user = out};
    kc_buf_puts(out, "{\"rules\":[");
    if (schema)
        kc__cel_rules_build(&compiler, openapi, schema,
                            &(kc__cel_rule_build_opts){.base = "schema", .visitor = &visitor});
    kc_buf_puts(out, "]}");
    kc__cel_rule_compiler_done(&compiler);
}

static void answer(driver *d, const kc_value *request, kc_buf *out)
{
    if (kc_value_get(request, "rules")) {
        answer_rules(kc_value_get(request, "rules"), out);
        return;
    }
    kc_auto(kc_cel_types) *types = kc_cel_types_new();
    kc_schema *schema = NULL;
    bool ok = true;
    d->n = 0;
    kc_buf_putc(out, '{');
    if (kc_value_get(request, "object"))
        ok = bind_self(d, request, types, &schema);
    kc_value_each_item (kc_value_get(request, "vars"), var)
        ok = ok && bind_line(d, var, out);
    if (ok)
        evaluate_line(d, kc_value_as_str(kc_value_get(request, "expr")), out);
    else if (out->n == 1)
        write_member(out, "bad", KC_STR("cannot bind"));
    kc_buf_putc(out, '}');
    kc_vec_each (&d->programs, program)
        kc_cel_program_free(*program);
    kc_vec_clear(&d->programs);
    kc_schema_unref(schema);
    kc_arena_clear(&d->arena);
}

int main(int argc, char **argv)
{
    bool kubernetes = argc > 1 && strcmp(argv[1], "--kubernetes") == 0;
    driver d = {.env = kc_cel_env_new(&(kc_cel_env_opts){.with_bind = !kubernetes,
                                                         .heterogeneous_literals = !kubernetes})};
    char *line = NULL;
    size_t room = 0;
    for (ssize_t n; (n = getline(&line, &room, stdin)) > 0;) {
        kc_scoped(kc_buf) out = {0};
        kc_auto(kc_view) *view = kc_view_parse(kc_str_of(line, (size_t)n), NULL, NULL);
        answer(&d, kc_view_root(view), &out);
        puts(kc_buf_cstr(&out));
        fflush(stdout);
    }
    free(line);
    kc_vec_done(&d.programs);
    kc_arena_done(&d.arena);
    kc_cel_env_free(d.env);
    return 0;
}
