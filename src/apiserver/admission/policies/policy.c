/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.c: compiles admission policies and reads bindings. They were validated and defaulted when
 * they were stored.
 *
 * An expression that does not compile (the stored policy is of another server, or compiled policies
 * use too much memory) does not make the policy unusable: it fails when it is evaluated, and the
 * failure policy decides. To add a kind of expression: a field in policy.h, and a call of
 * compile_expression in policy_new.
 */
#include "apiserver/admission/policies/policy.h"

#include "apiserver/admission/policies/policy_metrics.h"

#include "kc/view.h"

/* The view of an object: its text, and cells that are on average almost three times as large. */
enum { VIEW_FACTOR = 4 };

/* The memory that one program needs besides its own count: allocator overhead. */
enum { PROGRAM_OVERHEAD = 64 };

/* What a policy's expressions are compiled with. */
typedef struct policy_compiler {
    kc_arena *arena;
    const kc__expression_scope *scope;
    size_t *memory;
    size_t budget;
    unsigned *uses;
} policy_compiler;

/* ---- expressions ---- */

static void note_program(const policy_compiler *c, const kc_cel_program *program)
{
    *c->memory += kc_cel_program_memory(program) + PROGRAM_OVERHEAD;
    for (size_t i = 0; i < KC__EXPRESSION_N_SLOTS; i++)
        *c->uses |= kc_cel_program_uses(program, i) ? 1U << i : 0;
}

static kc__admission_expression compile_expression(const policy_compiler *c, kc_str text,
                                                   const kc__expression_opts *opts)
{
    kc__admission_expression expression = {.text = text};
    kc__expression_failure failure = {0};
    kc__expression_opts stored = *opts;
    stored.stored = true;
    if (*c->memory >= c->budget) {
        expression.error = "compiled admission policies use too much memory";
        return expression;
    }
    expression.program = kc__expression_compile(c->scope, text, &stored, &failure);
    if (expression.program)
        note_program(c, expression.program);
    else
        expression.error = kc_arena_str(c->arena, kc_buf_str(&failure.detail)).p;
    kc__expression_failure_done(&failure);
    return expression;
}

static kc_str member_text(const kc_value *object, const char *name)
{
    return kc_value_as_str(kc_value_get(object, name));
}

/* The key under which policies share the value of a condition (policy_conditions.c). */
static uint32_t shared_key_of(const kc__admission_expression *expression)
{
    if (!expression->program || kc_cel_program_uses(expression->program, KC__EXPRESSION_PARAMS) ||
        kc_cel_program_uses(expression->program, KC__EXPRESSION_VARIABLES))
        return 0;
    return (uint32_t)kc_str_hash(expression->text, 0) | 1;
}

/* The comparison that a condition consists of; NULL: it is no comparison. */
static const kc_cel_comparison *comparison_of(kc_arena *arena,
                                              const kc__admission_expression *expression)
{
    kc_cel_comparison found;
    if (!expression->program || !kc_cel_program_comparison(expression->program, &found) ||
        (found.variable != KC__EXPRESSION_OBJECT && found.variable != KC__EXPRESSION_OLD_OBJECT &&
         found.variable != KC__EXPRESSION_REQUEST))
        return NULL;
    kc_cel_comparison *comparison = kc_arena_new(arena, kc_cel_comparison);
    *comparison = found;
    return comparison;
}

static kc__admission_conditions compile_conditions(const policy_compiler *c, const kc_value *list,
                                                   bool has_params)
{
    const kc__expression_opts opts = {
        .result = KC__EXPRESSION_BOOL, .has_params = has_params, .has_authorizer = true};
    kc__admission_conditions conditions = {
        .items = kc_arena_calloc(c->arena, kc_value_len(list) + 1, sizeof(*conditions.items)),
        .are_comparisons = kc_value_len(list) > 0};
    kc_value_each_item (list, condition) {
        kc__admission_expression *item = &conditions.items[conditions.n++];
        *item = compile_expression(c, member_text(condition, "expression"), &opts);
        item->shared_key = shared_key_of(item);
        item->comparison = comparison_of(c->arena, item);
        conditions.are_comparisons = conditions.are_comparisons && item->comparison;
    }
    return conditions;
}

kc__admission_conditions kc__admission_conditions_new(kc_arena *arena, const kc_value *list,
                                                      const kc__expression_scope *scope,
                                                      bool has_params, size_t *memory,
                                                      unsigned *uses)
{
    const policy_compiler c = {
        .arena = arena, .scope = scope, .memory = memory, .budget = SIZE_MAX, .uses = uses};
    return compile_conditions(&c, list, has_params);
}

void kc__admission_conditions_done(kc__admission_conditions *conditions)
{
    for (size_t i = 0; i < conditions->n; i++)
        kc_cel_program_free(conditions->items[i].program);
    conditions->n = 0;
}

/* ---- policies ---- */

/* Each variable sees those before it. */
static void compile_variables(kc__admission_policy *p, const policy_compiler *c,
                              const kc_value *list)
{
    const kc__expression_opts opts = {
        .result = KC__EXPRESSION_ANY, .has_params = p->has_param_kind, .has_authorizer = true};
    p->variables = kc_arena_calloc(&p->arena, kc_value_len(list) + 1, sizeof(*p->variables));
    kc_value_each_item (list, item) {
        kc__admission_variable *variable = &p->variables[p->n_variables++];
        variable->name = member_text(item, "name");
        variable->expression = compile_expression(c, member_text(item, "expression"), &opts);
        kc__expression_scope_declare(&p->scope, variable->name, variable->expression.program);
        kc_map_put(&p->variable_of, variable->name, variable);
    }
}

static void compile_validations(kc__admission_policy *p, const policy_compiler *c,
                                const kc_value *list)
{
    const kc__expression_opts condition = {.result = KC__EXPRESSION_BOOL,
                                           .has_params = p->has_param_kind,
                                           .has_authorizer = true},
                              message = {.result = KC__EXPRESSION_STRING,
                                         .has_params = p->has_param_kind};
    p->validations = kc_arena_calloc(&p->arena, kc_value_len(list) + 1, sizeof(*p->validations));
    kc_value_each_item (list, item) {
        kc__admission_validation *validation = &p->validations[p->n_validations++];
        const kc_str text = member_text(item, "messageExpression");
        validation->message = member_text(item, "message");
        validation->reason = member_text(item, "reason");
        validation->expression = compile_expression(c, member_text(item, "expression"), &condition);
        if (text.n)
            validation->message_expression = compile_expression(c, text, &message);
    }
}

static void compile_annotations(kc__admission_policy *p, const policy_compiler *c,
                                const kc_value *list)
{
    const kc__expression_opts opts = {.result = KC__EXPRESSION_STRING_OR_NULL,
                                      .has_params = p->has_param_kind,
                                      .has_authorizer = true};
    p->annotations = kc_arena_calloc(&p->arena, kc_value_len(list) + 1, sizeof(*p->annotations));
    kc_value_each_item (list, item) {
        kc__admission_audit_annotation *annotation = &p->annotations[p->n_annotations++];
        annotation->key = member_text(item, "key");
        annotation->expression = compile_expression(c, member_text(item, "valueExpression"), &opts);
    }
}

static void compile_mutations(kc__admission_policy *p, const policy_compiler *c,
                              const kc_value *list)
{
    kc__expression_opts opts = {.has_params = p->has_param_kind, .has_authorizer = true};
    p->mutations = kc_arena_calloc(&p->arena, kc_value_len(list) + 1, sizeof(*p->mutations));
    kc_value_each_item (list, item) {
        kc__admission_mutation *mutation = &p->mutations[p->n_mutations++];
        mutation->is_json_patch = kc_str_is(member_text(item, "patchType"), "JSONPatch");
        opts.result = mutation->is_json_patch ? KC__EXPRESSION_JSON_PATCH
                                              : KC__EXPRESSION_APPLY_CONFIGURATION;
        const kc_value *patch =
            kc_value_get(item, mutation->is_json_patch ? "jsonPatch" : "applyConfiguration");
        mutation->expression = compile_expression(c, member_text(patch, "expression"), &opts);
    }
}

static void compile_policy(kc__admission_policy *p, const kc__expression_env *env,
                           const kc_value *spec, size_t budget)
{
    const policy_compiler c = {.arena = &p->arena,
                               .scope = &p->scope,
                               .memory = &p->memory,
                               .budget = budget,
                               .uses = &p->uses};
    const kc_value *variables = kc_value_get(spec, "variables");
    kc__expression_scope_init(&p->scope, env, variables, true);
    compile_variables(p, &c, variables);
    p->conditions =
        compile_conditions(&c, kc_value_get(spec, "matchConditions"), p->has_param_kind);
    compile_validations(p, &c, kc_value_get(spec, "validations"));
    compile_annotations(p, &c, kc_value_get(spec, "auditAnnotations"));
    compile_mutations(p, &c, kc_value_get(spec, "mutations"));
    p->memory += p->arena.used + sizeof(*p);
}

kc__admission_policy *kc__admission_policy_new(const kc__expression_env *env,
                                               const kc_object *object, bool mutates, size_t budget)
{
    kc__admission_policy *p = kc_new(kc__admission_policy);
    kc_ref_init(&p->refs);
    p->view = kc_view_of(object);
    p->memory = kc_object_json(object).n * VIEW_FACTOR;
    p->mutates = mutates;
    const kc_value *root = kc_view_root(p->view), *spec = kc_value_get(root, "spec"),
                   *metadata = kc_value_get(root, "metadata"),
                   *kind = kc_value_get(spec, "paramKind");
    p->name = member_text(metadata, "name");
    p->uid = member_text(metadata, "uid");
    p->generation = kc_value_as_i64_or(kc_value_get(metadata, "generation"), 0);
    p->reinvoked = kc_str_is(member_text(spec, "reinvocationPolicy"), "IfNeeded");
    p->ignores_failures = kc_str_is(member_text(spec, "failurePolicy"), "Ignore");
    kc__admission_criteria_read(&p->arena, kc_value_get(spec, "matchConstraints"), &p->constraints);
    p->has_param_kind = kind != NULL;
    p->param_kind = kc_gvk_of(member_text(kind, "apiVersion"), member_text(kind, "kind"));
    p->series = kc_arena_calloc(&p->arena, KC__ADMISSION_N_OPERATIONS, sizeof(*p->series));
    compile_policy(p, env, spec, budget);
    return p;
}

kc__admission_policy *kc__admission_policy_ref(kc__admission_policy *policy)
{
    kc_ref_add(&policy->refs);
    return policy;
}

kc__admission_policy *kc__admission_policy_unref(kc__admission_policy *p)
{
    if (!p || !kc_ref_drop(&p->refs))
        return NULL;
    for (size_t i = 0; i < p->n_variables; i++)
        kc_cel_program_free(p->variables[i].expression.program);
    for (size_t i = 0; i < p->n_validations; i++) {
        kc_cel_program_free(p->validations[i].expression.program);
        kc_cel_program_free(p->validations[i].message_expression.program);
    }
    for (size_t i = 0; i < p->n_annotations; i++)
        kc_cel_program_free(p->annotations[i].expression.program);
    for (size_t i = 0; i < p->n_mutations; i++)
        kc_cel_program_free(p->mutations[i].expression.program);
    kc__admission_conditions_done(&p->conditions);
    kc__expression_scope_done(&p->scope);
    kc__admission_criteria_done(&p->constraints);
    kc_map_done(&p->variable_of);
    kc_arena_done(&p->arena);
    kc_view_free(p->view);
    free(p);
    return NULL;
}

/* ---- bindings ---- */

static void read_actions(kc__admission_binding *b, const kc_value *list)
{
    b->action_list = list;
    kc_value_each_item (list, item) {
        const kc_str action = kc_value_as_str(item);
        if (b->n_actions < KC_COUNT(b->actions))
            b->actions[b->n_actions++] = kc_str_is(action, "Deny")   ? KC__ADMISSION_DENY
                                         : kc_str_is(action, "Warn") ? KC__ADMISSION_WARN
                                                                     : KC__ADMISSION_AUDIT;
    }
}

static void read_param_ref(kc__admission_binding *b, const kc_value *ref)
{
    const kc_value *selector = kc_value_get(ref, "selector");
    b->param_ref = ref;
    b->param_name = member_text(ref, "name");
    b->param_ns = member_text(ref, "namespace");
    b->param_selector = selector ? kc_selector_of(selector, NULL) : NULL;
    b->denies_without_params = kc_str_is(member_text(ref, "parameterNotFoundAction"), "Deny");
}

kc__admission_binding *kc__admission_binding_new(const kc_object *object)
{
    kc__admission_binding *b = kc_new(kc__admission_binding);
    kc_ref_init(&b->refs);
    b->object = kc_object_ref(object);
    b->view = kc_view_of(object);
    const kc_value *root = kc_view_root(b->view), *spec = kc_value_get(root, "spec"),
                   *match = kc_value_get(spec, "matchResources");
    b->name = member_text(kc_value_get(root, "metadata"), "name");
    b->policy = member_text(spec, "policyName");
    b->has_match = match != NULL;
    if (match)
        kc__admission_criteria_read(&b->arena, match, &b->match);
    read_param_ref(b, kc_value_get(spec, "paramRef"));
    read_actions(b, kc_value_get(spec, "validationActions"));
    return b;
}

kc__admission_binding *kc__admission_binding_ref(kc__admission_binding *binding)
{
    kc_ref_add(&binding->refs);
    return binding;
}

kc__admission_binding *kc__admission_binding_unref(kc__admission_binding *b)
{
    if (!b || !kc_ref_drop(&b->refs))
        return NULL;
    kc__admission_criteria_done(&b->match);
    kc_selector_free(b->param_selector);
    kc_arena_done(&b->arena);
    kc_view_free(b->view);
    kc_object_unref(b->object);
    free(b);
    return NULL;
}
