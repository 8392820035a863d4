/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jwt_config.h: issuers of tokens that this server accepts (AuthenticationConfiguration of
 * apiserver.config.k8s.io, --authentication-config), validated, and their expressions compiled.
 *
 *     apiVersion: apiserver.config.k8s.io/v1
 *     kind: AuthenticationConfiguration
 *     jwt:
 *     - issuer: {url: https://issuer.example, audiences: [kubernetes]}
 *       claimValidationRules: [{expression: 'claims.hd == "example.com"', message: wrong domain}]
 *       claimMappings:
 *         username: {expression: '"oidc:" + claims.sub'}
 *         groups: {claim: groups, prefix: "oidc:"}
 *     anonymous: {enabled: true, conditions: [{path: /livez}]}
 *
 * Immutable and counted; any thread.
 */
#ifndef KC_APISERVER_JWT_CONFIG_H
#define KC_APISERVER_JWT_CONFIG_H

#include "apiserver/access/authn.h"
#include "apiserver/jose/jose_key.h"
#include "kc/cel.h"
#include "kc/ref.h"

/* Limits: issuers, rules or mappings of one of them, conditions of anonymous requests. */
#define KC__JWT_MAX_ISSUERS 64
#define KC__JWT_MAX_RULES   64

typedef struct kc__jwt_expression {
    kc_str text, message;
    kc_str key;              /* Of an extra field. */
    kc_cel_program *program; /* NULL: there is no expression. */
} kc__jwt_expression;

/* Where a part of the user comes from: a claim and a prefix, or an expression. */
typedef struct kc__jwt_mapping {
    kc_str claim, prefix;
    kc__jwt_expression expression;
} kc__jwt_mapping;

/* A claim that must have this value, or an expression that must be true. */
typedef struct kc__jwt_rule {
    kc_str claim, required;
    kc__jwt_expression expression;
} kc__jwt_rule;

typedef struct kc__jwt_issuer_config {
    kc_str url, discovery_url, ca; /* The CA is PEM; empty: those of the system. */
    kc__user_audiences audiences;
    kc__jwt_rule *claim_rules, *user_rules;
    size_t n_claim_rules, n_user_rules;
    kc__jwt_mapping username, groups, uid;
    kc__jwt_expression *extra;
    size_t n_extra;
} kc__jwt_issuer_config;

typedef struct kc__jwt_config {
    kc_ref refs;
    kc_arena arena; /* Holds all texts and lists. */
    kc_cel_env *env;
    kc_cel_types *types;
    const kc_cel_type *claims_type, *user_type;
    kc__jwt_issuer_config *issuers;
    size_t n_issuers;
    unsigned algorithms;           /* Bits of kc__jose_algorithm: signatures that are accepted. */
    bool has_anonymous, anonymous; /* Whether the file decides about anonymous requests, and how. */
    kc__user_audiences anonymous_paths; /* The only paths of anonymous requests; empty: all. */
} kc__jwt_config;

/*
 * Parses YAML or JSON. NULL on error, in the words of Kubernetes: a file of another kind, unknown
 * fields, invalid values. `disallowed` are the issuers of service accounts. All algorithms are
 * accepted. The caller drops the reference.
 */
kc__jwt_config *kc__jwt_config_parse(kc_str text, kc__user_audiences disallowed, kc_error *err);
kc__jwt_config *kc__jwt_config_ref(kc__jwt_config *config);
/* NULL is allowed; returns NULL. */
kc__jwt_config *kc__jwt_config_unref(kc__jwt_config *config);
KC_AUTO_DEFINE(kc__jwt_config, kc__jwt_config_unref)

/* Parses the text and checks kind, names and types of all fields (jwt_schema.c). NULL on error; the
 * caller frees the view. */
kc_view *kc__jwt_config_parse_fields(kc_str text, kc_error *err);

/* Returns whether an expression reads this field of a variable: claims.email, claims.?email
 * (jwt_schema.c). */
bool kc__jwt_expression_selects(kc_str expression, kc_str variable, kc_str field);

#endif
