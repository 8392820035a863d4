/* SPDX-License-Identifier: Apache-2.0 */
/* account_key.h: the key that signs the tokens of service accounts, where the operator gives none.
 */
#ifndef KC_APISERVER_ACCOUNT_KEY_H
#define KC_APISERVER_ACCOUNT_KEY_H

#include "kc/log.h"

/* The path of DIR/sa.key, which is created with mode 0600 if it does not exist. The caller frees
 * it. NULL on error. Servers that share the directory use the same key. Blocks. */
char *kc__serving_account_key_prepare(const char *dir, kc_log *log, kc_error *err);

#endif
