/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credentials.h: the current credential of a client. It is made from a kc_config by reading its
 * files and running its exec plugin, and is kept until it expires, changes or is rejected.
 *
 *     kc__credential *c = kc__credentials_get(credentials, NULL, deadline, cancel, err);
 *     … the server responds with 401 …
 *     kc__credential *next = kc__credentials_get(credentials, c, deadline, cancel, err);
 *
 * Safe to call from any thread.
 */
#ifndef KC_KUBECONFIG_CREDENTIALS_H
#define KC_KUBECONFIG_CREDENTIALS_H

#include "kc/cancel.h"
#include "kc/kubeconfig.h"
#include "kc/metrics.h"
#include "kc/ref.h"

/* Immutable and reference-counted. */
typedef struct kc__credential {
    kc_ref refs;
    char *authorization;   /* Value of the Authorization header; NULL: none. */
    char *ca, *cert, *key; /* PEM, each with its length; NULL: none. */
    size_t ca_length, cert_length, key_length;
    int64_t expires; /* Wall time, or KC_FOREVER. */
} kc__credential;

kc__credential *kc__credential_ref(kc__credential *credential);
kc__credential *kc__credential_unref(kc__credential *credential);
KC_AUTO_DEFINE(kc__credential, kc__credential_unref)

typedef struct kc__credentials kc__credentials;

/* Reads the files once, so that a missing file is reported early. `config` and `clock` must
 * outlive the result; `metrics` may be NULL. */
kc__credentials *kc__credentials_new(const kc_config *config, const kc_clock *clock,
                                     kc_metrics *metrics, kc_error *err);
/* Terminates a running exec plugin. No other thread may use the object any more. NULL is
 * allowed; returns NULL. */
kc__credentials *kc__credentials_free(kc__credentials *credentials);

/*
 * Returns the current credential with a reference. `refused` (may be NULL) is a credential that the
 * server rejected: if it is still the current one, a refresh is attempted; the same credential is
 * returned if there is no newer one. Blocks while an exec plugin runs. Fails with KC_TIMEOUT at the
 * deadline (KC_FOREVER: none) or on cancellation, and with KC_UNAUTHORIZED if there is no
 * credential.
 */
kc__credential *kc__credentials_get(kc__credentials *credentials, const kc__credential *refused,
                                    int64_t deadline, kc_cancel *cancel, kc_error *err);
/* Returns whether the credential can change during the lifetime of the client. */
bool kc__credentials_may_change(const kc__credentials *credentials);

#endif
