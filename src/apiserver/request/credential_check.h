/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credential_check.h: ends long requests whose credential is no longer valid. Authentication checks
 * a credential when a request begins; a watch or a followed log may last for an hour.
 *
 *     kc__rest_credential_check_start(&w->credential, call, credential_revoked);
 *     …
 *     kc__rest_credential_check_stop(&w->credential);
 *
 * Twice a minute the check repeats what can change: the time of a signed token, its user or service
 * account, its session, the object that it is bound to. Certificates and tokens of the token file
 * do not end while the server runs, and have no check. On the loop of the request.
 */
#ifndef KC_APISERVER_CREDENTIAL_CHECK_H
#define KC_APISERVER_CREDENTIAL_CHECK_H

#include "apiserver/access/sa_tokens.h"
#include "apiserver/request/phases.h"

typedef struct kc__rest_credential_check kc__rest_credential_check;

/* Zero: no check. Embedded in the state of the request. */
struct kc__rest_credential_check {
    kc__loop_timer timer;
    const kc_clock *clock;
    kc__sa_tokens *tokens;
    kc__sa_claims *claims; /* NULL: no check. */
    kc_str token;          /* Of the request. */
    void (*revoked)(kc__rest_credential_check *check);
};

/* `revoked` is called once, on the loop, when the credential has become invalid. */
void kc__rest_credential_check_start(kc__rest_credential_check *check, kc__rest_call *call,
                                     void (*revoked)(kc__rest_credential_check *check));
/* Idempotent. */
void kc__rest_credential_check_stop(kc__rest_credential_check *check);

/* Makes a streamed response end when the credential of the call becomes invalid. Replaces the
 * source of the response, which must have `fill`. */
void kc__rest_credential_guard(kc__rest_call *call, kc__http_response *response);

#endif
