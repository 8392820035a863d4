/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_backend.c: the file backend's table of functions, and its error messages.
 *
 * The functions of the table are in file_*.c. docs/internals/storage.md shows the files and
 * databases.
 */
#include "apiserver/storage/file/file_internal.h"

#include <errno.h>

const kc__storage_backend kc__storage_file_backend = {
    .name = "file",
    .durable = true,
    .exclusive = true,
    .open = kc__storage_file_open,
    .get = kc__storage_file_get,
    .list = kc__storage_file_list,
    .commit = kc__storage_file_commit,
    .watch = kc__storage_file_watch,
    .unwatch = kc__storage_file_unwatch,
    .compact = kc__storage_file_compact,
    .advance = kc__storage_file_advance,
    .progress = kc__storage_file_progress,
    .recover = kc__storage_file_recover,
    .close = kc__storage_file_close,
};

/* Maps an LMDB code or an errno to a reason and a message. */
static const struct {
    int code;
    kc_reason reason;
    const char *text;
} meanings[] = {
    {ENOSPC, KC_SERVICE_UNAVAILABLE, "no space left on the disk"},
    {EDQUOT, KC_SERVICE_UNAVAILABLE, "disk quota exceeded"},
    {EFBIG, KC_SERVICE_UNAVAILABLE, "file size limit exceeded"},
    /* LMDB returns EIO for a short write too, which is the first symptom of a full disk. */
    {EIO, KC_SERVICE_UNAVAILABLE, "the disk failed or is full"},
    {ENOMEM, KC_SERVICE_UNAVAILABLE, "out of memory"},
    {MDB_MAP_FULL, KC_SERVICE_UNAVAILABLE, "the size limit of the store is reached"},
    {MDB_TXN_FULL, KC_TOO_LARGE, "the batch is too large"},
    {MDB_CORRUPTED, KC_STORE_READ_ERROR, "the file is damaged"},
    {MDB_PAGE_NOTFOUND, KC_STORE_READ_ERROR, "the file is damaged"},
    {MDB_INVALID, KC_STORE_READ_ERROR, "the file is damaged"},
    {MDB_PANIC, KC_INTERNAL, "a write failed; its outcome is unknown until the store is reopened"},
};

int kc__storage_file_error(const kc__storage_file *file, int code, const char *what, kc_error *err)
{
    for (size_t i = 0; i < KC_COUNT(meanings); i++)
        if (meanings[i].code == code)
            return kc_error_set(err, meanings[i].reason, "cannot %s %s: %s", what, file->data_path,
                                meanings[i].text);
    return kc_error_set(err, KC_INTERNAL, "cannot %s %s: %s", what, file->data_path,
                        mdb_strerror(code));
}
