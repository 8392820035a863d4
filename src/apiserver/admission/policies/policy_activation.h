/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_activation.h: evaluates the expressions of policies and match conditions for one request.
 *
 *     kc__admission_evaluation ev;
 *     kc__admission_evaluation_init(&ev, call, &attributes);
 *     if (kc__admission_evaluation_show(&ev, as, err) == KC__REST_NEXT) {
 *         kc__admission_activation a;
 *         kc__admission_activate(&a, &ev, &(kc__admission_activation_opts){.policy = policy});
 *         … kc__admission_evaluate(&a, &policy->validations[0].expression, &budget, &ret) …
 *     }
 *     kc__admission_evaluation_done(&ev);
 *
 * An evaluation on an event loop is limited: when it would take longer than a fraction of a
 * millisecond, `must_offload` becomes true, and the caller repeats everything on a worker thread.
 */
#ifndef KC_APISERVER_ADMISSION_POLICY_ACTIVATION_H
#define KC_APISERVER_ADMISSION_POLICY_ACTIVATION_H

#include "apiserver/admission/policies/policy.h"
#include "apiserver/call/call.h"

/* Budgets of Kubernetes, in units of cost: all expressions of a policy with one binding and one
 * parameter; all match conditions. A single expression may cost KC_CEL_COST_MAX. */
#define KC__ADMISSION_POLICY_BUDGET     ((int64_t)10000000)
#define KC__ADMISSION_CONDITIONS_BUDGET ((int64_t)2500000)

/* What the expressions of a request share. On the stack; views are made when they are read. */
typedef struct kc__admission_evaluation {
    kc__rest_call *call;
    const kc__admission_attributes *about;
    kc_arena arena;        /* Errors, texts; until kc__admission_evaluation_clear. */
    kc_arena scratch;      /* The values of one expression. */
    KC_VEC(kc_arena) kept; /* Variables that are lists or maps; likewise. */
    size_t kept_bytes;
    const kc__resource *as; /* The version in which the objects are shown. */
    kc_object *shown[2];    /* Object and old object in that version. */
    kc_view *objects[2];    /* The same, parsed. */
    kc_view *requests[2];   /* The variable `request`; for match conditions. */
    kc_view *space;         /* The namespace. */
    /* The values of the variables that all policies share; the second is for match conditions.
     * `bound` has a bit for each that was read. */
    kc_cel_value values[2][KC__EXPRESSION_N_SLOTS];
    unsigned bound[2];
    struct kc__admission_shared *shared; /* Results of match conditions (policy_conditions.c). */
    bool has_space;                      /* The object is in a namespace. */
    kc_cel_authorizer authorizer;
    kc_cel_resource_check resource_check;
    uint64_t loop_budget; /* What may still be spent on the event loop. */
    bool must_offload;    /* The budget of the loop is spent. */
} kc__admission_evaluation;

void kc__admission_evaluation_init(kc__admission_evaluation *ev, kc__rest_call *call,
                                   const kc__admission_attributes *about);
void kc__admission_evaluation_done(kc__admission_evaluation *ev);
/* Shows the objects in a version of the resource. KC__REST_NEXT, KC__REST_FAIL with `err` if they
 * cannot be converted, KC__REST_PENDING or KC__REST_ON_LOOP for a conversion webhook. */
kc__rest_verdict kc__admission_evaluation_show(kc__admission_evaluation *ev, const kc__resource *as,
                                               kc_error *err);
/* Frees the results so far: before the next policy, binding or parameter. */
void kc__admission_evaluation_clear(kc__admission_evaluation *ev);
/* Replaces the object, after a mutation. Takes over the reference. */
void kc__admission_evaluation_replace(kc__admission_evaluation *ev, kc_object *object);
/* Counts work on the event loop that is not the cost of an expression. False when the loop has no
 * time left: must_offload. */
bool kc__admission_evaluation_charge(kc__admission_evaluation *ev, uint64_t units);

/* The value of a slot that all policies share. */
kc_cel_value kc__admission_evaluation_value(kc__admission_evaluation *ev, size_t slot,
                                            bool for_conditions);

typedef struct kc__admission_activation_opts {
    const kc__admission_policy *policy; /* For its variables. NULL: none. */
    unsigned uses;                      /* The slots that are read; of a policy: its own. */
    const kc_value *params;             /* NULL: null. */
    bool for_conditions;                /* Without namespaceObject. */
    bool without_authorizer;
} kc__admission_activation_opts;

/* The values of all variables. Valid until kc__admission_evaluation_clear, or the next activation:
 * all share the values of the evaluation. */
typedef struct kc__admission_activation {
    kc__admission_evaluation *ev;
    const kc__admission_policy *policy;
    kc_cel_value *values;
    kc_cel_lookup lookup;
    struct kc__admission_known *known; /* The variables that were evaluated. */
    uint64_t variables_cost;           /* Of the expression in progress. */
    int64_t budget;
    unsigned depth;
} kc__admission_activation;

void kc__admission_activate(kc__admission_activation *a, kc__admission_evaluation *ev,
                            const kc__admission_activation_opts *opts);

typedef enum kc__admission_evaluated {
    KC__ADMISSION_EVALUATED,
    KC__ADMISSION_EVALUATION_FAILED, /* This expression. */
    KC__ADMISSION_OUT_OF_BUDGET,     /* All that follow fail as well. */
    KC__ADMISSION_MUST_OFFLOAD,
} kc__admission_evaluated;

typedef struct kc__admission_outcome {
    kc_cel_value value; /* Valid until the next evaluation. */
    kc_str error;       /* In the arena of the evaluation. */
} kc__admission_outcome;

/* Drops the results of match conditions: the objects have changed. */
void kc__admission_conditions_forget(kc__admission_evaluation *ev);

/* Evaluates an expression and subtracts its cost, with that of variables, from *budget. */
kc__admission_evaluated kc__admission_evaluate(kc__admission_activation *a,
                                               const kc__admission_expression *expression,
                                               int64_t *budget, kc__admission_outcome *ret);

/* ---- the variable `authorizer` ---- */

/* Asks the authorizers of the server about the user of the request, or about a service account.
 * `evaluation` is a kc__admission_evaluation. */
void kc__admission_authorizer_check(const kc_cel_authorizer_check *check, kc_cel_decision *ret,
                                    void *evaluation);

/* ---- match conditions ---- */

typedef enum kc__admission_conditions_result {
    KC__ADMISSION_CONDITIONS_MATCH,
    KC__ADMISSION_CONDITIONS_EXCLUDE, /* One is false, or they failed and failures are ignored. */
    KC__ADMISSION_CONDITIONS_FAIL,    /* *ret_error says why; in the arena of the evaluation. */
    KC__ADMISSION_CONDITIONS_OFFLOAD,
} kc__admission_conditions_result;

/* True if conditions that only compare parts of the request and its objects with texts exclude the
 * request. False: they do not, or they have to be evaluated. */
bool kc__admission_conditions_exclude(kc__admission_evaluation *ev,
                                      const kc__admission_conditions *conditions);
/* Evaluates match conditions with an activation for conditions. `n_errors` receives the number of
 * conditions that failed. */
kc__admission_conditions_result kc__admission_conditions_match(
    kc__admission_activation *a, const kc__admission_conditions *conditions, bool ignores_failures,
    kc_str *ret_error, size_t *ret_n_errors);

#endif
