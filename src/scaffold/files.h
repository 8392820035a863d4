/* SPDX-License-Identifier: Apache-2.0 */
/* files.h: a project's files on disk. */
#ifndef KC_SCAFFOLD_FILES_H
#define KC_SCAFFOLD_FILES_H

#include "kc/buf.h"
#include "kc/error.h"

/* 1: read; 0: there is none; negative: it cannot be read. */
int kc__folder_read(const char *folder, const char *path, kc_buf *out, kc_error *err);
/* As a whole, making folders on the way. */
int kc__folder_write(const char *folder, const char *path, kc_str text, kc_error *err);

#endif
