/* SPDX-License-Identifier: Apache-2.0 */
/* file.h: one file that is always whole: replaced in one step, or not at all. */
#ifndef KC_NETWORK_FILE_H
#define KC_NETWORK_FILE_H

#include "kc/buf.h"
#include "kc/error.h"

typedef struct kc__whole_file kc__whole_file;

/* Takes it for this process, by a lock on a file beside it (PATH.lock); KC_CONFLICT when another
 * one has it. The file itself need not be there. */
kc__whole_file *kc__whole_file_open(const char *path, kc_error *err);
/* NULL is allowed; returns NULL. */
kc__whole_file *kc__whole_file_close(kc__whole_file *file);
KC_AUTO_DEFINE(kc__whole_file, kc__whole_file_close)

/* Appends what is in it; nothing when it is not there. KC_TOO_LARGE beyond the limit. */
int kc__whole_file_read(const kc__whole_file *file, size_t limit, kc_buf *out, kc_error *err);
/* When it returns 0 the bytes are on the disk, whatever happens next; else they may be there or
 * not, but all of them or none. */
int kc__whole_file_write(const kc__whole_file *file, kc_str bytes, kc_error *err);

#endif
