/* SPDX-License-Identifier: Apache-2.0 */
/* encryption_file.h: which encryption configuration a data directory uses. */
#ifndef KC_CMD_ENCRYPTION_FILE_H
#define KC_CMD_ENCRYPTION_FILE_H

#include "apiserver/storage/encryption/encryption.h"
#include "apiserver/storage/storage.h"

/* The file of the flag, else encryption.yaml in `root` if it exists; NULL: none. The caller frees
 * the result. */
char *kc__cli_encryption_path(const char *flag, const char *root);

/* Writes encryption.yaml in `dir` (mode 0600) with a new key for Secrets. Blocks. */
int kc__cli_encryption_write(const char *dir, kc_error *err);

/* Creates encryption.yaml in `root` (mode 0600) with a new key for Secrets, unless the storage
 * holds encrypted Secrets: their key would be missing. Returns its path, or NULL on error. Blocks.
 */
char *kc__cli_encryption_create(const char *root, kc__storage *storage, kc_log *log, kc_error *err);

#endif
