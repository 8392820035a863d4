/* SPDX-License-Identifier: Apache-2.0 */
/* files.h: a project's files on disk. */
#ifndef KC_SCAFFOLD_FILES_H
#define KC_SCAFFOLD_FILES_H

#include "kc/buf.h"
#include "kc/error.h"

/* 1: read; 0: it does not exist; negative: it cannot be read. */
int kc__scaffold_dir_read(const char *dir, const char *path, kc_buf *out, kc_error *err);
/* Writes the whole file and creates parent directories. */
int kc__scaffold_dir_write(const char *dir, const char *path, kc_str text, kc_error *err);

#endif
