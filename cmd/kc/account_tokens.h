/* SPDX-License-Identifier: Apache-2.0 */
/* account_tokens.h: signs the tokens that the controller of token Secrets needs. */
#ifndef KC_CMD_ACCOUNT_TOKENS_H
#define KC_CMD_ACCOUNT_TOKENS_H

#include "apiserver/access/sa_tokens.h"
#include "kc/controllers.h"

/* `user` is a kc__sa_tokens. */
kc_sign_account_token_fn kc__cli_sign_account_token;

/* Tokens signed with the key of this file, for controllers without an API server in the process.
 * The caller frees it. NULL on error. Blocks. */
kc__sa_tokens *kc__cli_account_tokens_read(const char *key_file, kc_error *err);

#endif
