/* SPDX-License-Identifier: Apache-2.0 */
/* jwt_claims.h: the user of verified claims, by the rules and mappings of an issuer. */
#ifndef KC_APISERVER_JWT_CLAIMS_H
#define KC_APISERVER_JWT_CLAIMS_H

#include "apiserver/access/jwt_config.h"

/*
 * Checks issuer, audience and time of claims, as go-oidc does. `now` is in seconds. Sets
 * *ret_expiry to the time of `exp`. The signature must be verified, too.
 */
int kc__jwt_check_claims(const kc__jwt_issuer_config *issuer, const kc_value *claims, int64_t now,
                         int64_t *ret_expiry, kc_error *err);

/* The user of claims whose signature is verified, with system:authenticated, allocated in the
 * arena. Evaluates expressions: may take long; not on an I/O loop. */
int kc__jwt_user_of_claims(const kc__jwt_config *config, const kc__jwt_issuer_config *issuer,
                           const kc_value *claims, kc_arena *arena, kc__user *ret, kc_error *err);

#endif
