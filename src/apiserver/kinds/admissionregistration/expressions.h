/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expressions.h: compiles the CEL expressions of admission policies and webhooks, with the
 * variables, types, return types and error messages of Kubernetes v1.34.
 *
 *     kc_auto(kc__expression_env) *env = kc__expression_env_new();
 *     kc__expression_scope scope = {0};
 *     kc__expression_scope_init(&scope, env, variables);
 *     kc_cel_program *program = kc__expression_compile(&scope, text, &opts, &failure);
 *     …
 *     kc__expression_scope_done(&scope);       after the programs
 *
 * Validation compiles each expression when a policy is written; the admission plugins compile it
 * again when the policy takes effect.
 */
#ifndef KC_APISERVER_EXPRESSIONS_H
#define KC_APISERVER_EXPRESSIONS_H

#include "kc/cel.h"

/* ---- declared types ---- */

typedef struct kc__expression_field {
    const char *name;
    const kc_cel_type *type;
} kc__expression_field;

/* An object type with these fields. */
const kc_cel_type *kc__expression_declare_object(kc_cel_types *types, const char *name,
                                                 const kc__expression_field *fields, size_t n);
/* KC__EXPRESSION_OBJECT(types, name, {"field", type}, …) */
#define KC__EXPRESSION_OBJECT(types, name, ...)                                             \
    kc__expression_declare_object(types, name, (const kc__expression_field[]){__VA_ARGS__}, \
                                  KC_COUNT(((const kc__expression_field[]){__VA_ARGS__})))

/* ---- policies and webhooks ---- */

/* The variables of an expression: the index of each in the values of an evaluation. */
typedef enum kc__expression_slot {
    KC__EXPRESSION_OBJECT,
    KC__EXPRESSION_OLD_OBJECT,
    KC__EXPRESSION_NAMESPACE,
    KC__EXPRESSION_REQUEST,
    KC__EXPRESSION_PARAMS,
    KC__EXPRESSION_AUTHORIZER,
    KC__EXPRESSION_REQUEST_RESOURCE,
    KC__EXPRESSION_VARIABLES,
    KC__EXPRESSION_N_SLOTS,
} kc__expression_slot;

/* The type that an expression must have. */
typedef enum kc__expression_result {
    KC__EXPRESSION_BOOL,
    KC__EXPRESSION_STRING,
    KC__EXPRESSION_STRING_OR_NULL,
    KC__EXPRESSION_ANY,
    /* Of mutations, which may construct objects: */
    KC__EXPRESSION_APPLY_CONFIGURATION, /* Object */
    KC__EXPRESSION_JSON_PATCH,          /* list(JSONPatch) */
} kc__expression_result;

/* Environments of both versions, and the types of `request` and `namespaceObject`. Immutable. */
typedef struct kc__expression_env kc__expression_env;

kc__expression_env *kc__expression_env_new(void);
/* NULL is allowed; returns NULL. After the programs that were compiled with it. */
kc__expression_env *kc__expression_env_free(kc__expression_env *env);
KC_AUTO_DEFINE(kc__expression_env, kc__expression_env_free)

/* The expressions of one policy or webhook. */
typedef struct kc__expression_scope {
    const kc__expression_env *env;
    kc_cel_types *types;    /* Of the policy's variables. */
    kc_cel_type *variables; /* NULL: the variable `variables` is not declared. */
    /* Types of object, oldObject and params; NULL: dyn. For type checking. */
    const kc_cel_type *object, *params;
} kc__expression_scope;

/* `variables` is the list of a policy's variables. `composes`: declare `variables`, even if the
 * list is empty. */
void kc__expression_scope_init(kc__expression_scope *scope, const kc__expression_env *env,
                               const kc_value *variables, bool composes);
void kc__expression_scope_done(kc__expression_scope *scope);
/* Declares variables.NAME for the expressions that follow. The type is that of its program; NULL:
 * dyn, because its expression is invalid. */
void kc__expression_scope_declare(kc__expression_scope *scope, kc_str name,
                                  const kc_cel_program *program);

typedef struct kc__expression_opts {
    kc__expression_result result;
    bool has_params, has_authorizer;
    bool hides_request_resource; /* Declare `authorizer` only. */
    bool stored; /* Compile with the newest functions, as expressions that are stored. */
} kc__expression_opts;

/* Why an expression does not compile. A zeroed one is ready. */
typedef struct kc__expression_failure {
    kc_buf detail; /* "compilation failed: ERROR: <input>:1:1: …" */
    bool internal; /* The expression is valid, but its program cannot be made. */
} kc__expression_failure;

void kc__expression_failure_done(kc__expression_failure *failure);

/* Compiles. NULL: *failure says why. The caller frees the program before the scope. */
kc_cel_program *kc__expression_compile(const kc__expression_scope *scope, kc_str text,
                                       const kc__expression_opts *opts,
                                       kc__expression_failure *failure);
/* Checks the types of an expression, whose result may have any type. NULL: writes the errors. The
 * program is for kc__expression_scope_declare; the caller frees it. */
kc_cel_program *kc__expression_check(const kc__expression_scope *scope, kc_str text,
                                     bool has_params, kc_buf *errors);

#endif
