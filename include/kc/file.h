/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h: reads and writes small files as a whole: configurations, tokens, certificates, a
 * register.
 *
 *     kc_scoped(kc_buf) text = {0};
 *     if (kc_file_read("site.yaml", 1 << 20, &text, err) < 0)
 *         return kc_error_result(err);                "cannot open site.yaml: No such file…"
 *     if (kc_file_write("register.json", 0600, kc_buf_str(&json), err) < 0)
 *         return kc_error_result(err);                the old file is unchanged
 *
 * All functions block.
 */
#ifndef KC_FILE_H
#define KC_FILE_H

#include "kc/buf.h"
#include "kc/error.h"

/* A limit for callers without one of their own, far above the size of hand-written files. */
#define KC_FILE_MAX ((size_t)16 << 20)

/*
 * Appends a whole file. On failure `out` is unchanged: KC_NOT_FOUND when the file does not exist,
 * KC_TOO_LARGE when it has more than `limit` bytes, KC_BAD_REQUEST when it cannot be read; the
 * error names the file. Also reads pipes and files in /proc; does not wait for the writer of a
 * pipe.
 */
int kc_file_read(const char *path, size_t limit, kc_buf *out, kc_error *err);
/* The same for the input of a command: "-" is standard input, and the writer of a pipe is waited
 * for. */
int kc_file_read_input(const char *path, size_t limit, kc_buf *out, kc_error *err);

/*
 * Replaces the file at `path` atomically and durably; the new file has this mode from its first
 * byte. A reader, also after a crash, sees either the old or the whole new file. Does not write if
 * content and mode already match. KC_INVALID for a device, a pipe or a directory.
 */
int kc_file_write(const char *path, unsigned mode, kc_str text, kc_error *err);

/* The same for one of several files of a directory: until the directory is synced, a crash may
 * leave either the old or the new file. */
int kc_file_replace(const char *path, unsigned mode, kc_str text, kc_error *err);
int kc_dir_sync(const char *dir, kc_error *err);

/* For files that can be recreated: replaces the file atomically, with the usual mode, without
 * syncing it. */
int kc_file_put(const char *path, kc_str text, kc_error *err);

/* Removes a file durably; a missing file is no error. */
int kc_file_remove(const char *path, kc_error *err);

/* What users other than root and the process's own user can do with a file or directory. Follows
 * links. A sticky directory (/tmp) does not count as writable by others: they cannot replace its
 * entries. */
typedef struct kc_file_access {
    bool others_read, others_write;
    bool others_own; /* Another user owns it. */
    bool others_add; /* A directory in which others can create entries, sticky or not. */
} kc_file_access;
int kc_file_access_of(const char *path, kc_file_access *ret, kc_error *err);

/* KC_FORBIDDEN when another user can change or replace a file: owns it or one of the directories
 * above it, or may write to one of them. For code that is about to be loaded. */
int kc_file_check_trusted(const char *path, kc_error *err);

/* Creates a directory and its missing parents; the process's umask applies. */
int kc_dir_create(const char *path, unsigned mode, kc_error *err);

#endif
