/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_policy.h: an audit policy (audit.k8s.io/v1 Policy): which requests are recorded, and how
 * much of them. The first rule that matches decides; without one nothing is recorded.
 *
 * Immutable; any thread.
 */
#ifndef KC_APISERVER_AUDIT_POLICY_H
#define KC_APISERVER_AUDIT_POLICY_H

#include "apiserver/access/authn.h"
#include "kc/error.h"
#include "kc/log.h"

typedef enum kc__audit_level {
    KC__AUDIT_NONE,
    KC__AUDIT_METADATA,
    KC__AUDIT_REQUEST,          /* And the body of the request. */
    KC__AUDIT_REQUEST_RESPONSE, /* And that of the response. */
    KC__AUDIT_LEVELS
} kc__audit_level;
extern const char *const kc__audit_level_names[KC__AUDIT_LEVELS];

typedef enum kc__audit_stage {
    KC__AUDIT_REQUEST_RECEIVED,
    KC__AUDIT_RESPONSE_STARTED, /* Of streams: the head was sent. */
    KC__AUDIT_RESPONSE_COMPLETE,
    KC__AUDIT_PANIC, /* Never occurs here: a crash ends the process. */
    KC__AUDIT_STAGES
} kc__audit_stage;
extern const char *const kc__audit_stage_names[KC__AUDIT_STAGES];

typedef struct kc__audit_policy kc__audit_policy;

/* Reads a file; logs what a lenient reading ignores. NULL on error. Blocks. */
kc__audit_policy *kc__audit_policy_read(const char *path, kc_log *log, kc_error *err);
/* The same for text. */
kc__audit_policy *kc__audit_policy_parse(kc_str text, kc_log *log, kc_error *err);
/* NULL is allowed; returns NULL. */
kc__audit_policy *kc__audit_policy_free(kc__audit_policy *policy);
KC_AUTO_DEFINE(kc__audit_policy, kc__audit_policy_free)

/* What the policy compares. Borrows. */
typedef struct kc__audit_attributes {
    const kc__user *user;
    kc_str verb;
    bool is_resource;
    kc_str group, resource, subresource, ns, name;
    kc_str path; /* Of a request that is not for a resource. */
} kc__audit_attributes;

typedef struct kc__audit_decision {
    kc__audit_level level;
    unsigned omit_stages; /* Bits: 1 << stage. */
    bool omit_managed_fields;
} kc__audit_decision;

kc__audit_decision kc__audit_policy_decide(const kc__audit_policy *policy,
                                           const kc__audit_attributes *attributes);

#endif
