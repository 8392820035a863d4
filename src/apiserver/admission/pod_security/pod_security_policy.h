/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_security_policy.h: the Pod Security policy of a namespace: a level and a version for each
 * mode, from the labels with the prefix pod-security.kubernetes.io. Pure.
 *
 *     pod-security.kubernetes.io/enforce: restricted
 *     pod-security.kubernetes.io/enforce-version: v1.30
 */
#ifndef KC_APISERVER_POD_SECURITY_POLICY_H
#define KC_APISERVER_POD_SECURITY_POLICY_H

#include "kc/buf.h"
#include "kc/field_error.h"

/* In the order of strictness. */
typedef enum kc__pod_security_level {
    KC__POD_SECURITY_PRIVILEGED,
    KC__POD_SECURITY_BASELINE,
    KC__POD_SECURITY_RESTRICTED,
} kc__pod_security_level;

typedef struct kc__pod_security_standard {
    kc__pod_security_level level;
    bool pinned;   /* False: the latest version. */
    int64_t minor; /* Of the version v1.x, if pinned. */
} kc__pod_security_standard;

/* Zero: privileged:latest in all modes. */
typedef struct kc__pod_security_policy {
    kc__pod_security_standard enforce, audit, warn;
} kc__pod_security_policy;

const char *kc__pod_security_level_name(kc__pod_security_level level);
/* Returns NULL, or what is wrong: "must be one of …". A wrong level is `restricted`, a wrong
 * version the latest. */
const char *kc__pod_security_level_parse(kc_str text, kc__pod_security_level *ret);
const char *kc__pod_security_version_parse(kc_str text, kc__pod_security_standard *ret);

/* Appends "restricted:v1.30". */
void kc__pod_security_standard_write(kc_buf *out, const kc__pod_security_standard *standard);
bool kc__pod_security_standard_equals(const kc__pod_security_standard *a,
                                      const kc__pod_security_standard *b);
/* The same, but versions of `privileged` do not matter. */
bool kc__pod_security_policy_is_equivalent(const kc__pod_security_policy *a,
                                           const kc__pod_security_policy *b);
bool kc__pod_security_policy_is_privileged(const kc__pod_security_policy *policy);

/*
 * The policy of a namespace with these labels (a JSON object), over `defaults`. Wrong values are
 * added to `errors` (may be NULL); `enforce` then is restricted, the other modes are privileged.
 */
kc__pod_security_policy kc__pod_security_policy_of(const kc_value *labels,
                                                   const kc__pod_security_policy *defaults,
                                                   kc_field_errors *errors);

#endif
