/* SPDX-License-Identifier: Apache-2.0 */
/* file.h: a file that is replaced atomically. */
#ifndef KC_NETWORK_FILE_H
#define KC_NETWORK_FILE_H

#include "kc/buf.h"
#include "kc/error.h"

typedef struct kc__network_whole_file kc__network_whole_file;

/* Locks it for this process with a file beside it (PATH.lock); KC_CONFLICT if another process has
 * it. The file itself need not exist. */
kc__network_whole_file *kc__network_whole_file_open(const char *path, kc_error *err);
/* NULL is allowed; returns NULL. */
kc__network_whole_file *kc__network_whole_file_close(kc__network_whole_file *file);
KC_AUTO_DEFINE(kc__network_whole_file, kc__network_whole_file_close)

/* Appends its content; nothing if it does not exist. KC_TOO_LARGE beyond the limit. */
int kc__network_whole_file_read(const kc__network_whole_file *file, size_t limit, kc_buf *out,
                                kc_error *err);
/* When it returns 0, the bytes are durable; on error all of them may be, or none. */
int kc__network_whole_file_write(const kc__network_whole_file *file, kc_str bytes, kc_error *err);

#endif
