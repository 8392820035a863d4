/* SPDX-License-Identifier: Apache-2.0 */
/*
 * match_conditions.h: CEL expressions that select the requests for which an authorization webhook
 * is called.
 *
 *     matchConditions:
 *     - expression: has(request.resourceAttributes)
 *     - expression: "!('system:nodes' in request.groups)"
 *
 * The variable `request` is the spec of a SubjectAccessReview of v1. Immutable and
 * reference-counted; any thread.
 */
#ifndef KC_APISERVER_AUTHZ_MATCH_CONDITIONS_H
#define KC_APISERVER_AUTHZ_MATCH_CONDITIONS_H

#include "apiserver/authz/authz.h"
#include "kc/field_error.h"

/* Maximum number of conditions of a webhook, as in Kubernetes. */
#define KC__AUTHZ_MAX_CONDITIONS 64

typedef struct kc__authz_conditions kc__authz_conditions;

/* Compiles a list of objects with the member `expression`. NULL: there is none, or `errors` has
 * what is wrong; `path` is that of the webhook. The caller drops the reference. */
kc__authz_conditions *kc__authz_conditions_compile(const kc_value *list, const char *path,
                                                   kc_field_errors *errors);
kc__authz_conditions *kc__authz_conditions_ref(kc__authz_conditions *conditions);
/* NULL is allowed; returns NULL. */
kc__authz_conditions *kc__authz_conditions_unref(kc__authz_conditions *conditions);

/* Whether both have the same expressions. NULL is allowed. */
bool kc__authz_conditions_equal(const kc__authz_conditions *a, const kc__authz_conditions *b);

typedef enum kc__authz_match {
    KC__AUTHZ_MATCHES,  /* All conditions are true. */
    KC__AUTHZ_EXCLUDED, /* One is false. */
    KC__AUTHZ_FAILED,   /* None is false, but one cannot be evaluated. */
    KC__AUTHZ_TOO_LONG, /* Only a worker thread may spend the time. */
} kc__authz_match;

/* Evaluates the conditions. `on_worker`: with the cost limit of Kubernetes; else with that of an
 * event loop. KC__AUTHZ_FAILED appends the messages to `problems`, each with its terminator. */
kc__authz_match kc__authz_conditions_evaluate(const kc__authz_conditions *conditions,
                                              const kc__authz_attributes *a, bool on_worker,
                                              kc_buf *problems);

#endif
