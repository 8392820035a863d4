/* SPDX-License-Identifier: Apache-2.0 */
/* files.h: small files that a configuration names. */
#ifndef KC_CLIENT_FILES_H
#define KC_CLIENT_FILES_H

#include "kc/buf.h"
#include "kc/error.h"

/* Of a certificate, a key or a token. */
#define KC__MAX_CREDENTIAL_FILE ((size_t)1 << 20)

/*
 * Appends all of a file. KC_NOT_FOUND when it is not there, KC_TOO_LARGE when it has more than
 * `limit` bytes, KC_BAD_REQUEST when it cannot be read; each with its name. Blocks.
 */
int kc__config_file_read(const char *path, size_t limit, kc_buf *out, kc_error *err);

#endif
