/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credentials.h: who we are, as of now: what a configuration says, with its files read and its
 * program run, kept until it expires, changes or is refused.
 *
 *     kc__credential *c = kc__credentials_get(credentials, NULL, deadline, cancel, err);
 *     … the server answers 401 …
 *     kc__credential *next = kc__credentials_get(credentials, c, deadline, cancel, err);
 *
 * Any thread.
 */
#ifndef KC_CLIENT_CREDENTIALS_H
#define KC_CLIENT_CREDENTIALS_H

#include "kc/cancel.h"
#include "kc/kubeconfig.h"
#include "kc/metrics.h"
#include "kc/ref.h"

/* Constant once it is made; counted. */
typedef struct kc__credential {
    kc_ref refs;
    char *authorization;   /* The value of the header; NULL: none. */
    char *ca, *cert, *key; /* PEM, each with its length; NULL: none. */
    size_t ca_length, cert_length, key_length;
    int64_t expires; /* Wall time, or KC_FOREVER. */
} kc__credential;

kc__credential *kc__credential_ref(kc__credential *credential);
kc__credential *kc__credential_unref(kc__credential *credential);
KC_AUTO_DEFINE(kc__credential, kc__credential_unref)

typedef struct kc__credentials kc__credentials;

/* Reads the files once, so that one that is not there is noticed. Both must outlive it; `metrics`
 * may be NULL. */
kc__credentials *kc__credentials_new(const kc_config *config, const kc_clock *clock,
                                     kc_metrics *metrics, kc_error *err);
/* Ends a program that runs. Nobody else uses it any more. NULL is allowed; returns NULL. */
kc__credentials *kc__credentials_free(kc__credentials *credentials);

/*
 * The credential to use, with a reference. `refused` (may be NULL) is one the server did not take:
 * as long as that is the newest, another is looked for; what comes is the same one when there is no
 * other. Blocks while a program runs: KC_TIMEOUT at the deadline (KC_FOREVER: none) or when
 * cancelled; KC_UNAUTHORIZED when there is none.
 */
kc__credential *kc__credentials_get(kc__credentials *credentials, const kc__credential *refused,
                                    int64_t deadline, kc_cancel *cancel, kc_error *err);
/* Whether there may be another one than the first. */
bool kc__credentials_may_change(const kc__credentials *credentials);

#endif
