/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authz.h: authorization: whether a user may do what a request asks for.
 *
 *     kc__authz_attributes a = {.user = &call->user, .verb = KC_STR("get"), .is_resource = true,
 *                               .resource = KC_STR("pods"), .ns = KC_STR("default")};
 *     kc_scoped(kc_buf) reason = {0};
 *     if (kc__authz_authorize(authz, &state, &a, &reason) != KC__AUTHZ_ALLOW)
 *         return kc__authz_forbid(&a, kc_buf_str(&reason), err);                            403
 *
 * An authorizer allows, denies, or has no opinion. Where it has none, the next one of the chain
 * decides; no opinion of the last one is a denial. The group system:masters is always allowed.
 */
#ifndef KC_APISERVER_AUTHZ_H
#define KC_APISERVER_AUTHZ_H

#include "apiserver/access/authn.h"
#include "kc/buf.h"
#include "kc/field_selector.h"
#include "kc/metrics.h"
#include "kc/selector.h"

typedef enum kc__authz_decision {
    KC__AUTHZ_NO_OPINION,
    KC__AUTHZ_ALLOW,
    KC__AUTHZ_DENY,
    KC__AUTHZ_PENDING, /* A webhook must be called first (request_state.h). */
} kc__authz_decision;

/* What a request asks for. The slices are borrowed from the request. */
typedef struct kc__authz_attributes {
    const kc__user *user;
    kc_str verb;       /* Lower case; for a path its method ("get"). */
    unsigned verb_bit; /* Set by RBAC (kc__rbac_verb_bit); 0: unknown. */
    bool is_resource;
    kc_str group, version, resource, subresource;
    kc_str ns;   /* Empty: no namespace, or all of them. */
    kc_str name; /* Empty: no name, or all of them. */
    kc_str path; /* Of a request that is not for a resource. */
    /* Requirements of the selectors of a list, watch or deletecollection (authz_selectors.h). */
    const kc_field_requirement *fields;
    size_t n_fields;
    const kc_requirement *labels;
    size_t n_labels;
} kc__authz_attributes;

/* The modes of --authorization-mode. */
typedef enum kc__authz_mode {
    KC__AUTHZ_ALWAYS_ALLOW,
    KC__AUTHZ_ALWAYS_DENY,
    KC__AUTHZ_NODE_MODE,
    KC__AUTHZ_RBAC,
    KC__AUTHZ_WEBHOOK_MODE,
    KC__AUTHZ_MODES,
} kc__authz_mode;

/* "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook". */
extern const char *const kc__authz_mode_names[KC__AUTHZ_MODES + 1];

enum { KC__AUTHZ_MAX_MODES = 8 };
/* Modes in the order of their evaluation. */
typedef struct kc__authz_modes {
    kc__authz_mode items[KC__AUTHZ_MAX_MODES];
    size_t n;
} kc__authz_modes;

struct kc__store;
struct kc__rbac;
struct kc__rbac_rights;
typedef struct kc__authz kc__authz;
typedef struct kc__authz_chain kc__authz_chain; /* authz_chain.h */
typedef struct kc__authz_request_state kc__authz_request_state;

typedef struct kc__authz_opts {
    kc__authz_modes modes;             /* Without a chain. Defaults to AlwaysAllow. */
    kc__authz_chain *chain;            /* Defaults to one of the modes. */
    bool reloads;                      /* The chain may be replaced. */
    struct kc__store *store;           /* Of roles, bindings, pods and volumes. */
    struct kc__memory_account *memory; /* Accounts for the indexes. Defaults to none. */
    kc_metrics *metrics;               /* Defaults to none. */
} kc__authz_opts;

/* NULL if a metric cannot be registered. */
kc__authz *kc__authz_new(const kc__authz_opts *opts, kc_error *err);
/* NULL is allowed; returns NULL. */
kc__authz *kc__authz_free(kc__authz *authz);
KC_AUTO_DEFINE(kc__authz, kc__authz_free)

/* Installs a chain that was never installed before, of which it takes a reference; for `reloads`.
 * Fails if the chain needs Node or RBAC and the first one did not. Any thread. */
int kc__authz_replace(kc__authz *authz, kc__authz_chain *chain, kc_error *err);

/* Whether the current chain has an authorizer of this mode. */
bool kc__authz_has_mode(const kc__authz *authz, kc__authz_mode mode);
/* The index of roles and bindings; NULL without the mode RBAC. */
struct kc__rbac *kc__authz_rbac(const kc__authz *authz);
/* Whether an authorizer of the chain uses the selectors of requests. */
bool kc__authz_uses_selectors(const kc__authz *authz);
/* Whether the decision may take more than a millisecond: then a worker thread is to make it. */
bool kc__authz_takes_long(kc__authz *authz, const kc__authz_attributes *a);
/* Whether the user is in system:masters, which may do everything. */
bool kc__authz_is_master(const kc__user *user);

/* Whether the chain has a webhook, or may get one by a reload. */
bool kc__authz_has_webhook(const kc__authz *authz);

/* The decision, and its reason, appended to `reason`, which may be NULL. KC__AUTHZ_PENDING: the
 * state has a review for a webhook, or needs a worker thread. Any thread. */
kc__authz_decision kc__authz_authorize(kc__authz *authz, kc__authz_request_state *state,
                                       const kc__authz_attributes *a, kc_buf *reason);

/* Sets KC_FORBIDDEN with the message and details of Kubernetes. `reason` may be empty. Returns
 * -KC_FORBIDDEN. */
int kc__authz_forbid(const kc__authz_attributes *a, kc_str reason, kc_error *err);
/* The same about an object, which may have no name, with any reason: 'roles.GROUP "name" is
 * forbidden: REASON'. */
int kc__authz_forbid_object(kc_str group, kc_str resource, kc_str name, kc_str reason,
                            kc_error *err);
/* Appends text that a client sent so that it does not look like HTML. */
void kc__authz_sanitize(kc_buf *out, kc_str text);

#endif
