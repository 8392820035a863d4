/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules_compile.c: compiles the rules of one schema.
 *
 * A rule is a bool, its messageExpression a string; both see `self` and `oldSelf`. With
 * optionalOldSelf, oldSelf is optional. A rule that is not valid keeps its error: the check of a
 * definition reports it, and a validation fails with it.
 *
 * New expressions may use the functions of version 1.33 of Kubernetes, stored ones those of 1.34:
 * so a server that is rolled back by one version still understands everything that is stored.
 */
#include "cel/rules/rules_internal.h"

#include "base/work.h"
#include "object/schema/field_path.h"

enum { STORED_VERSION = 34, NEW_VERSION = 33 };

void kc__cel_rule_compiler_done(kc__cel_rule_compiler *c)
{
    kc_cel_env_free(c->stored_env);
    kc_cel_env_free(c->new_env);
}

static const kc_cel_env *env_for(kc__cel_rule_compiler *c, const kc_map *stored, kc_str expression)
{
    bool is_stored = c->all_stored || (stored && kc_map_get(stored, expression));
    kc_cel_env **env = is_stored ? &c->stored_env : &c->new_env;
    if (!*env)
        *env =
            kc_cel_env_new(&(kc_cel_env_opts){.version = is_stored ? STORED_VERSION : NEW_VERSION});
    return *env;
}

static size_t tree_memory(const kc_cel_rules *rules)
{
    return rules->arena.used + kc_cel_types_memory(rules->types) + rules->program_memory;
}

static const char *keep_errors(kc_cel_rules *rules, const char *prefix, const kc_cel_errors *errors,
                               kc_str expression)
{
    kc_scoped(kc_buf) text = {0};
    bool of_plan = errors->items.n && errors->items.items[0].line == 0;
    if (!of_plan)
        kc_buf_printf(&text, "%scompilation failed: ", prefix);
    kc_cel_errors_write(errors, expression, &text);
    return kc_arena_printf(&rules->arena, "%s%.*s", of_plan ? prefix : "",
                           KC_ARG(kc_buf_str(&text)));
}

/* A program whose result has the kind; NULL with the reason. `prefix` begins the reason. */
static kc_cel_program *compile_expression(kc__cel_rule_compiler *c, const kc_cel_env *env,
                                          kc_str expression, const kc_cel_variable *variables,
                                          kc_cel_kind kind, const char *prefix,
                                          const char **ret_error)
{
    kc_cel_rules *rules = c->rules;
    kc_scoped(kc_cel_errors) errors = {0};
    if (tree_memory(rules) > KC_CEL_RULES_MEMORY_MAX || kc__work_is_over()) {
        *ret_error = "compiled rules of the schema exceed 16 MiB of memory";
        return NULL;
    }
    kc_auto(kc_cel_program) *program = kc_cel_compile(
        env, expression,
        &(kc_cel_compile_opts){.variables = variables, .n_variables = KC__CEL_RULE_VARIABLES},
        &errors);
    if (!program) {
        *ret_error = keep_errors(rules, prefix, &errors, expression);
        return NULL;
    }
    if (kc_cel_type_kind(kc_cel_program_type(program)) != kind) {
        *ret_error = kind == KC_CEL_BOOL ? "cel expression must evaluate to a bool"
                                         : "messageExpression must evaluate to a string";
        return NULL;
    }
    rules->program_memory += kc_cel_program_memory(program);
    kc_vec_push(&rules->programs, program);
    return kc_take(program);
}

/* ---- texts ---- */

static kc_str rule_text(const kc_value *json, const char *member)
{
    return kc_value_as_str(kc_value_get(json, member));
}

static kc_field_error_type reason_of(kc_str reason)
{
    if (kc_str_is(reason, "FieldValueForbidden"))
        return KC_FIELD_FORBIDDEN;
    if (kc_str_is(reason, "FieldValueRequired"))
        return KC_FIELD_REQUIRED;
    return kc_str_is(reason, "FieldValueDuplicate") ? KC_FIELD_DUPLICATE : KC_FIELD_INVALID;
}

static void keep_texts(kc_arena *arena, const kc_value *json, kc__cel_schema_rule *rule)
{
    kc_str message = kc_str_trim(rule_text(json, "message"));
    bool has_message = rule_text(json, "message").n > 0;
    rule->name = kc_arena_str(arena, has_message ? message : kc_str_trim(rule_text(json, "rule")));
    rule->text = rule->name;
    if (!has_message)
        rule->text = kc_cstr(kc_arena_printf(arena, "failed rule: %.*s", KC_ARG(rule->name)));
    rule->message_source = kc_arena_str(arena, rule_text(json, "messageExpression"));
    rule->reason = reason_of(rule_text(json, "reason"));
}

static void keep_field(kc_arena *arena, const kc_value *schema, const kc_value *json,
                       kc__cel_schema_rule *rule)
{
    kc_scoped(kc_buf) path = {0}, why = {0};
    kc_str given = rule_text(json, "fieldPath");
    if (given.n && kc__schema_field_path(schema, given, true, &path, &why))
        rule->field = kc_arena_str(arena, kc_buf_str(&path));
}

/* ---- rules ---- */

static void compile_rule(kc__cel_rule_compiler *c, const kc_value *schema, const kc_value *json,
                         const kc__cel_rule_node *node, kc__cel_schema_rule *rule)
{
    kc_arena *arena = &c->rules->arena;
    kc_str expression = rule_text(json, "rule"), message = rule_text(json, "messageExpression");
    rule->optional_old = kc_value_as_bool(kc_value_get(json, "optionalOldSelf"), false);
    keep_texts(arena, json, rule);
    if (!kc_str_trim(expression).n)
        return;
    kc_cel_variable variables[] = {
        [KC__CEL_SELF] = {"self", node->type},
        [KC__CEL_OLD_SELF] = {"oldSelf", node->type},
    };
    if (rule->optional_old)
        variables[KC__CEL_OLD_SELF].type = kc_cel_types_optional(c->rules->types, node->type);
    rule->program = compile_expression(c, env_for(c, c->stored_rules, expression), expression,
                                       variables, KC_CEL_BOOL, "", &rule->error);
    if (!rule->program)
        return;
    rule->uses_old = kc_cel_program_uses(rule->program, KC__CEL_OLD_SELF);
    if (message.n) {
        rule->message =
            compile_expression(c, env_for(c, c->stored_messages, message), message, variables,
                               KC_CEL_STRING, "messageExpression ", &rule->message_error);
        if (!rule->message)
            return;
    }
    keep_field(arena, schema, json, rule);
}

void kc__cel_rules_compile_node(kc__cel_rule_compiler *c, const kc_value *json,
                                kc__cel_rule_node *node)
{
    const kc_value *list = kc_value_get(json, "x-kubernetes-validations");
    node->rules = kc_arena_calloc(&c->rules->arena, kc_value_len(list), sizeof(*node->rules));
    kc_value_each_item (list, item) {
        kc__cel_schema_rule *rule = &node->rules[node->n_rules++];
        compile_rule(c, json, item, node, rule);
        node->uses_old = node->uses_old || rule->uses_old;
    }
    c->rules->n_rules += node->n_rules;
}
