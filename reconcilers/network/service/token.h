/* SPDX-License-Identifier: Apache-2.0 */
/* token.h: the bearer token of a network service, in a file. */
#ifndef KC_NETWORK_SERVICE_TOKEN_H
#define KC_NETWORK_SERVICE_TOKEN_H

#include "kc/error.h"

/* The token in the file, or a new one of 256 random bits, which is written with mode 0600.
 * KC_INVALID if another user owns the file or can read it. The caller frees it. NULL on error.
 * Blocks. */
char *kc__network_token_ensure(const char *path, kc_error *err);

/* Whether an Authorization header is "Bearer" and this token. Compares in constant time. */
bool kc__network_token_matches(const char *token, kc_str authorization);

#endif
