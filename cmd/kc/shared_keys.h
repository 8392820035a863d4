/* SPDX-License-Identifier: Apache-2.0 */
/* shared_keys.h: the keys that all servers of one etcd have in common. */
#ifndef KC_CMD_SHARED_KEYS_H
#define KC_CMD_SHARED_KEYS_H

#include "apiserver_options.h"

/* Refuses to start over a shared storage (KC_INVALID) if the server would have to make a key that
 * other servers must have, too; names the missing files. Blocks. */
int kc__cli_shared_keys_check(const kc__cli_apiserver_options *options, kc_error *err);

/* The directory of certificates and keys. */
char *kc__cli_cert_dir(const kc__cli_apiserver_options *options);

/* The encryption configuration: that of the flag, of the data directory, or, over a shared storage,
 * of the set of keys. NULL: none. */
char *kc__cli_shared_encryption_path(const kc__cli_apiserver_options *options);

#endif
