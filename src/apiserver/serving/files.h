/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.h: small files read and written whole: tokens, certificates, keys, a kubeconfig.
 */
#ifndef KC_APISERVER_FILES_H
#define KC_APISERVER_FILES_H

#include "kc/buf.h"
#include "kc/error.h"

/* What is read below: nothing here is larger by far. */
#define KC__FILE_MAX ((size_t)16 << 20)

/* Fills `ret`, which must be empty and stays so on failure. KC_NOT_FOUND when there is no such
 * file, KC_TOO_LARGE beyond KC__FILE_MAX; the message names it. Blocks. */
int kc__read_file(const char *path, kc_buf *ret, kc_error *err);

/*
 * Puts `text` under `path`, with this mode from its first byte on, replacing what was there:
 * whoever looks, also after a crash, finds the old file or all of the new one. Durable when it
 * returns; a file that is as it should be is left alone. Blocks.
 */
int kc__write_file(const char *path, unsigned mode, kc_str text, kc_error *err);

/* The same for one of several files of a folder: which of old and new is found after a crash is
 * certain only when the folder was synced. */
int kc__replace_file(const char *path, unsigned mode, kc_str text, kc_error *err);
int kc__sync_folder(const char *folder, kc_error *err);

/* Removes a file, durably; that it was not there is no failure. */
int kc__remove_file(const char *path, kc_error *err);

/* Makes a folder and those above it, mode 0700, where they are not there. */
int kc__make_folder(const char *path, kc_error *err);

#endif
