/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h: small files read and written whole: configurations, tokens, certificates, a register.
 *
 *     kc_scoped(kc_buf) text = {0};
 *     if (kc_file_read("site.yaml", 1 << 20, &text, err) < 0)
 *         return -1;                                  "cannot open site.yaml: No such file…"
 *     if (kc_file_write("register.json", 0600, kc_buf_str(&json), err) < 0)
 *         return -1;                                  what was there before is there still
 *
 * All of them block.
 */
#ifndef KC_FILE_H
#define KC_FILE_H

#include "kc/buf.h"
#include "kc/error.h"

/* A limit for who has none of his own: nothing that people write is larger by far. */
#define KC_FILE_MAX ((size_t)16 << 20)

/*
 * Appends all of a file; `out` is as it was on failure: KC_NOT_FOUND when there is no such file,
 * KC_TOO_LARGE when it has more than `limit` bytes, KC_BAD_REQUEST when it cannot be read; each
 * with its name. It may be a pipe, or lie in /proc; a pipe that nobody writes to is not waited for.
 */
int kc_file_read(const char *path, size_t limit, kc_buf *out, kc_error *err);

/*
 * Puts `text` under `path`, with this mode from its first byte on, replacing what was there:
 * whoever looks, also after a crash, finds the old file or all of the new one. Durable when it
 * returns; a file that is as it should be is left alone.
 */
int kc_file_write(const char *path, unsigned mode, kc_str text, kc_error *err);

/* The same for one of several files of a folder: which of old and new is found after a crash is
 * certain only when the folder was synced. */
int kc_file_replace(const char *path, unsigned mode, kc_str text, kc_error *err);
int kc_folder_sync(const char *folder, kc_error *err);

/* For files that people look at, and that can be made again: with the usual mode, old or new as a
 * whole for whoever looks, but not synced. */
int kc_file_put(const char *path, kc_str text, kc_error *err);

/* Removes a file, durably; that it was not there is no failure. */
int kc_file_remove(const char *path, kc_error *err);

/* Makes a folder and those above it where they are not there; the process's umask applies. */
int kc_folder_make(const char *path, unsigned mode, kc_error *err);

#endif
