/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authz_config.h: the authorizers of a server (AuthorizationConfiguration of
 * apiserver.config.k8s.io, --authorization-config), validated, and their expressions compiled.
 *
 *     apiVersion: apiserver.config.k8s.io/v1
 *     kind: AuthorizationConfiguration
 *     authorizers:
 *     - {type: Node, name: node}
 *     - type: Webhook
 *       name: tickets.example.com
 *       webhook:
 *         timeout: 3s
 *         subjectAccessReviewVersion: v1
 *         matchConditionSubjectAccessReviewVersion: v1
 *         failurePolicy: Deny
 *         connectionInfo: {type: KubeConfigFile, kubeConfigFile: /etc/kc/tickets.kubeconfig}
 *         matchConditions: [{expression: "request.resourceAttributes.namespace == 'prod'"}]
 *     - {type: RBAC, name: rbac}
 */
#ifndef KC_APISERVER_AUTHZ_CONFIG_H
#define KC_APISERVER_AUTHZ_CONFIG_H

#include "apiserver/authz/match_conditions.h"

/* Maximum size of the file. */
#define KC__AUTHZ_CONFIG_BYTES ((size_t)1 << 20)

typedef struct kc__authz_webhook_config {
    const char *kubeconfig;                   /* Absolute path of a file. */
    const char *version;                      /* Of SubjectAccessReview: "v1" or "v1beta1". */
    int64_t timeout;                          /* Of one attempt. */
    int64_t authorized_ttl, unauthorized_ttl; /* TTLs of cached results; 0: not cached. */
    bool denies_on_error;                     /* Else a webhook that fails has no opinion. */
    kc__authz_conditions *conditions;         /* NULL: all requests match. */
} kc__authz_webhook_config;

typedef struct kc__authz_authorizer_config {
    kc__authz_mode mode;
    const char *name;
    kc__authz_webhook_config webhook; /* Of the mode Webhook. */
} kc__authz_authorizer_config;

typedef struct kc__authz_config {
    kc_arena arena; /* Holds the texts. */
    unsigned modes; /* Bits of kc__authz_mode. */
    kc__authz_authorizer_config *items;
    size_t n;
} kc__authz_config;

/*
 * Parses YAML or JSON. NULL on error (KC_INVALID), in the words of Kubernetes: a file of another
 * kind, unknown fields, invalid values. `required` are bits of modes that must be there: those that
 * a reload must not remove. Blocks for the time of a stat of each kubeconfig. The caller frees the
 * result.
 */
kc__authz_config *kc__authz_config_parse(kc_str text, unsigned required, kc_error *err);
/* NULL is allowed; returns NULL. */
kc__authz_config *kc__authz_config_free(kc__authz_config *config);
KC_AUTO_DEFINE(kc__authz_config, kc__authz_config_free)

/* Whether both configure the same. */
bool kc__authz_config_equal(const kc__authz_config *a, const kc__authz_config *b);

#endif
