/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.h: admission policies and bindings, compiled. Pure: no store, no request.
 *
 *     kc__admission_policy *policy = kc__admission_policy_new(env, object, false, budget);
 *     kc__admission_binding *binding = kc__admission_binding_new(object);
 *
 * Both are immutable and reference-counted: consecutive sets (policy_set.h) share those that did
 * not change, and any thread may evaluate them.
 */
#ifndef KC_APISERVER_ADMISSION_POLICY_H
#define KC_APISERVER_ADMISSION_POLICY_H

#include "apiserver/admission/chain/matching.h"
#include "apiserver/kinds/admissionregistration/expressions.h"
#include "kc/kind.h"
#include "kc/map.h"
#include "kc/object.h"
#include "kc/ref.h"

/* A compiled expression. */
typedef struct kc__admission_expression {
    kc_str text;
    kc_cel_program *program; /* NULL: it does not compile, or there is none. */
    /* Hash of the text, if the value depends only on the request; 0: on parameters or variables. */
    uint32_t shared_key;
    const kc_cel_comparison *comparison; /* Of a condition that is only that; NULL: it is more. */
    const char *error;                   /* Why it does not compile. */
} kc__admission_expression;

static inline bool kc__admission_expression_exists(const kc__admission_expression *expression)
{
    return expression->program || expression->error;
}

typedef struct kc__admission_variable {
    kc_str name;
    kc__admission_expression expression;
} kc__admission_variable;

typedef struct kc__admission_conditions {
    kc__admission_expression *items;
    size_t n;
    bool are_comparisons; /* All of them, of parts of the request and its objects. */
} kc__admission_conditions;

typedef struct kc__admission_validation {
    kc__admission_expression expression, message_expression;
    kc_str message, reason;
} kc__admission_validation;

typedef struct kc__admission_audit_annotation {
    kc_str key;
    kc__admission_expression expression;
} kc__admission_audit_annotation;

typedef struct kc__admission_mutation {
    bool is_json_patch; /* Otherwise an apply configuration. */
    kc__admission_expression expression;
} kc__admission_mutation;

/* Strings belong to the view or the arena. */
typedef struct kc__admission_policy {
    kc_ref refs;
    kc_view *view;
    kc_arena arena;
    kc_str name, uid;
    int64_t generation;
    bool mutates;
    bool ignores_failures; /* failurePolicy Ignore. */
    kc__admission_criteria constraints;
    bool has_param_kind;
    kc_gvk param_kind;

    kc__expression_scope scope;
    kc_map variable_of; /* kc__admission_variable by name; of several the last. */
    kc__admission_variable *variables;
    size_t n_variables;
    kc__admission_conditions conditions;
    kc__admission_validation *validations;
    size_t n_validations;
    kc__admission_audit_annotation *annotations;
    size_t n_annotations;
    kc__admission_mutation *mutations;
    size_t n_mutations;
    bool reinvoked; /* reinvocationPolicy IfNeeded. */

    unsigned uses; /* Bit set of the slots that its expressions read. */
    /* Durations of its match conditions, by operation (kc__admission_operation_index). */
    struct kc__admission_series *series;
    size_t memory; /* Bytes. */
} kc__admission_policy;

/* Compiles a stored policy. Expressions that do not fit into `budget` bytes are not compiled: they
 * fail when they are evaluated. The environment must outlive the policy. */
kc__admission_policy *kc__admission_policy_new(const kc__expression_env *env,
                                               const kc_object *object, bool mutates,
                                               size_t budget);
kc__admission_policy *kc__admission_policy_ref(kc__admission_policy *policy);
kc__admission_policy *kc__admission_policy_unref(kc__admission_policy *policy);

/* Compiles match conditions, of a policy or a webhook. Adds the memory of the programs to *memory,
 * and the slots that they read to *uses. */
kc__admission_conditions kc__admission_conditions_new(kc_arena *arena, const kc_value *list,
                                                      const kc__expression_scope *scope,
                                                      bool has_params, size_t *memory,
                                                      unsigned *uses);
void kc__admission_conditions_done(kc__admission_conditions *conditions);

enum { KC__ADMISSION_DENY = 1, KC__ADMISSION_WARN = 2, KC__ADMISSION_AUDIT = 4 };

/* Strings belong to the view. */
typedef struct kc__admission_binding {
    kc_ref refs;
    kc_object *object; /* The stored binding; its address identifies it. */
    kc_view *view;
    kc_arena arena;
    kc_str name, policy;
    bool has_match;
    kc__admission_criteria match;
    const kc_value *param_ref; /* NULL: none. */
    kc_str param_name, param_ns;
    kc_selector *param_selector; /* NULL: by name. */
    bool denies_without_params;
    const kc_value *action_list;
    unsigned char actions[3]; /* In the order of the binding. */
    size_t n_actions;
} kc__admission_binding;

kc__admission_binding *kc__admission_binding_new(const kc_object *object);
kc__admission_binding *kc__admission_binding_ref(kc__admission_binding *binding);
kc__admission_binding *kc__admission_binding_unref(kc__admission_binding *binding);

#endif
