/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match_conditions.c: compiles and evaluates the match conditions of authorization webhooks.
 *
 * The type of `request` is declared, so that a misspelled field is an error of the configuration.
 * Its value is JSON (access_spec.h) in which only the selectors and one of both attributes may be
 * missing: an expression may read request.uid of a user without one, as in Kubernetes.
 *
 * An event loop spends LOOP_BUDGET at most, for all conditions of a webhook together. More
 * expensive conditions are evaluated on a worker thread, from the beginning.
 */
#include "apiserver/authz/match_conditions.h"

#include "apiserver/authz/access_spec.h"
#include "apiserver/config/config_errors.h"
#include "apiserver/kinds/admissionregistration/expressions.h"
#include "kc/ref.h"

enum {
    LOOP_BUDGET = 10000, /* Units of cost; about 0.3 ms. */
    LOOP_BYTES = 1 << 20,
};

typedef struct match_condition {
    char *text;
    kc_cel_program *program;
} match_condition;

struct kc__authz_conditions {
    kc_ref refs;
    kc_cel_env *env;
    kc_cel_types *types;
    const kc_cel_type *request;
    KC_VEC(match_condition) items;
};

/* ---- the type of `request` ---- */

#define OBJECT KC__EXPRESSION_OBJECT

static const kc_cel_type *resource_attributes_type(kc_cel_types *types)
{
    const kc_cel_type *text = kc_cel_type_basic(KC_CEL_STRING);
    const kc_cel_type *texts = kc_cel_types_list(types, text);
    const kc_cel_type *requirements =
        kc_cel_types_list(types, OBJECT(types, "kubernetes.SelectorRequirement", {"key", text},
                                        {"operator", text}, {"values", texts}));
    const kc_cel_type *fields = OBJECT(types, "kubernetes.FieldSelectorAttributes",
                                       {"rawSelector", text}, {"requirements", requirements});
    const kc_cel_type *labels = OBJECT(types, "kubernetes.LabelSelectorAttributes",
                                       {"rawSelector", text}, {"requirements", requirements});
    return OBJECT(types, "kubernetes.ResourceAttributes", {"namespace", text}, {"verb", text},
                  {"group", text}, {"version", text}, {"resource", text}, {"subresource", text},
                  {"name", text}, {"fieldSelector", fields}, {"labelSelector", labels});
}

static const kc_cel_type *review_spec_type(kc_cel_types *types)
{
    const kc_cel_type *text = kc_cel_type_basic(KC_CEL_STRING);
    const kc_cel_type *texts = kc_cel_types_list(types, text);
    const kc_cel_type *url =
        OBJECT(types, "kubernetes.NonResourceAttributes", {"path", text}, {"verb", text});
    return OBJECT(types, "kubernetes.SubjectAccessReviewSpec",
                  {"resourceAttributes", resource_attributes_type(types)},
                  {"nonResourceAttributes", url}, {"user", text}, {"groups", texts},
                  {"extra", kc_cel_types_map(types, text, texts)}, {"uid", text});
}

/* ---- compiling ---- */

static kc__authz_conditions *conditions_new(void)
{
    kc__authz_conditions *conditions = kc_new(kc__authz_conditions);
    kc_ref_init(&conditions->refs);
    conditions->env = kc_cel_env_new(NULL);
    conditions->types = kc_cel_types_new();
    conditions->request = review_spec_type(conditions->types);
    return conditions;
}

kc__authz_conditions *kc__authz_conditions_ref(kc__authz_conditions *conditions)
{
    if (conditions)
        kc_ref_add(&conditions->refs);
    return conditions;
}

kc__authz_conditions *kc__authz_conditions_unref(kc__authz_conditions *conditions)
{
    if (!conditions || !kc_ref_drop(&conditions->refs))
        return NULL;
    kc_vec_each (&conditions->items, item) {
        kc_cel_program_free(item->program);
        free(item->text);
    }
    kc_vec_done(&conditions->items);
    kc_cel_env_free(conditions->env);
    kc_cel_types_free(conditions->types);
    free(conditions);
    return NULL;
}

/* NULL: `why` has the reason. */
static kc_cel_program *compile_condition(const kc__authz_conditions *conditions, kc_str text,
                                         kc_buf *why)
{
    const kc_cel_variable request = {"request", conditions->request};
    kc_scoped(kc_cel_errors) problems = {0};
    kc_auto(kc_cel_program) *program =
        kc_cel_compile(conditions->env, text,
                       &(kc_cel_compile_opts){.variables = &request, .n_variables = 1}, &problems);
    if (!program) {
        kc_buf_puts(why, "compilation failed: ");
        kc_cel_errors_write(&problems, text, why);
        return NULL;
    }
    const kc_cel_type *type = kc_cel_program_type(program);
    if (kc_cel_type_kind(type) == KC_CEL_BOOL)
        return kc_take(program);
    kc_buf_puts(why, "must evaluate to bool but got ");
    kc_cel_type_write_name(type, why);
    return NULL;
}

static bool has_condition(const kc_value *list, kc_str text, size_t before)
{
    size_t i = 0;
    kc_value_each_item (list, item) {
        if (i++ == before)
            break;
        if (kc_str_eq(kc_value_as_str(kc_value_get(item, "expression")), text))
            return true;
    }
    return false;
}

static void add_condition(kc__authz_conditions *conditions, const kc_value *list, size_t i,
                          kc_str text, const char *path, kc_field_errors *errors)
{
    kc_scoped(kc_buf) why = {0};
    if (!kc_str_trim(text).n) {
        kc__config_required(errors, path, "");
        return;
    }
    if (has_condition(list, text, i)) {
        kc__config_duplicate(errors, path, text);
        return;
    }
    kc_cel_program *program = compile_condition(conditions, text, &why);
    if (program)
        kc_vec_push(&conditions->items, (match_condition){kc_str_dup(text), program});
    else
        kc__config_invalid(errors, path, text, kc_buf_cstr(&why));
}

kc__authz_conditions *kc__authz_conditions_compile(const kc_value *list, const char *path,
                                                   kc_field_errors *errors)
{
    const size_t n = kc_value_len(list);
    size_t i = 0;
    if (n > KC__AUTHZ_MAX_CONDITIONS) {
        kc_autofree char *at = kc_asprintf("%s.matchConditions", path),
                         *count = kc_asprintf("%zu", n);
        kc_field_errors_add(errors, KC_FIELD_TOO_MANY, at, kc_cstr(count),
                            "must have at most %d items", KC__AUTHZ_MAX_CONDITIONS);
        return NULL;
    }
    if (!n)
        return NULL;
    kc__authz_conditions *conditions = conditions_new();
    kc_value_each_item (list, item) {
        kc_autofree char *at = kc_asprintf("%s.matchConditions[%zu].expression", path, i);
        add_condition(conditions, list, i, kc_value_as_str(kc_value_get(item, "expression")), at,
                      errors);
        i++;
    }
    return conditions->items.n ? conditions : kc__authz_conditions_unref(conditions);
}

static size_t count_conditions(const kc__authz_conditions *conditions)
{
    return conditions ? conditions->items.n : 0;
}

bool kc__authz_conditions_equal(const kc__authz_conditions *a, const kc__authz_conditions *b)
{
    if (count_conditions(a) != count_conditions(b))
        return false;
    for (size_t i = 0; i < count_conditions(a); i++)
        if (strcmp(a->items.items[i].text, b->items.items[i].text) != 0)
            return false;
    return true;
}

/* ---- evaluating ---- */

/* What the evaluation of all conditions of a webhook shares. */
typedef struct match_evaluation {
    kc_arena arena;
    kc_cel_value request;
    bool on_worker;
    uint64_t left; /* Of the loop's budget. */
    kc_buf *problems;
} match_evaluation;

static kc__authz_match evaluate_condition(match_evaluation *e, const match_condition *condition)
{
    kc_scoped(kc_error) err = {0};
    kc_cel_value result = {0};
    uint64_t cost = 0;
    const kc_cel_eval_opts opts = {.arena = &e->arena,
                                   .budget = e->on_worker ? KC_CEL_COST_MAX : KC_MAX(e->left, 1),
                                   .max_bytes = e->on_worker ? 0 : LOOP_BYTES,
                                   .ret_cost = &cost};
    const int failed = kc_cel_evaluate(condition->program, &e->request, &opts, &result, &err);
    e->left -= KC_MIN(e->left, cost);
    if (!failed)
        return kc_cel_is_true(result) ? KC__AUTHZ_MATCHES : KC__AUTHZ_EXCLUDED;
    if (err.reason == KC_TOO_LARGE && !e->on_worker)
        return KC__AUTHZ_TOO_LONG;
    kc_buf_printf(e->problems, "cel evaluation error: expression '%s' resulted in error: %s",
                  condition->text, kc_error_text(&err));
    kc_buf_putc(e->problems, '\0');
    return KC__AUTHZ_FAILED;
}

static kc__authz_match evaluate_all(match_evaluation *e, const kc__authz_conditions *conditions)
{
    kc__authz_match all = KC__AUTHZ_MATCHES;
    kc_vec_each (&conditions->items, condition) {
        const kc__authz_match one = evaluate_condition(e, condition);
        if (one == KC__AUTHZ_EXCLUDED || one == KC__AUTHZ_TOO_LONG)
            return one;
        if (one == KC__AUTHZ_FAILED)
            all = one;
    }
    return all;
}

kc__authz_match kc__authz_conditions_evaluate(const kc__authz_conditions *conditions,
                                              const kc__authz_attributes *a, bool on_worker,
                                              kc_buf *problems)
{
    kc_scoped(kc_buf) spec = {0};
    kc_scoped(kc_error) err = {0};
    kc__authz_spec_write(&spec, a, KC__AUTHZ_SPEC_COMPLETE);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&spec), NULL, &err);
    if (!view) {
        kc_buf_puts(problems, kc_error_text(&err));
        kc_buf_putc(problems, '\0');
        return KC__AUTHZ_FAILED;
    }
    match_evaluation e = {.request = kc_cel_of_json(kc_view_root(view), conditions->request),
                          .on_worker = on_worker,
                          .left = LOOP_BUDGET,
                          .problems = problems};
    const kc__authz_match result = evaluate_all(&e, conditions);
    kc_arena_done(&e.arena);
    return result;
}
