/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_file.c: the file backend's table, and its errors as sentences.
 *
 * Each function of the table has a file of its own, storage_file_*.c. docs/internals/storage.md
 * shows the databases.
 */
#include "apiserver/storage/storage_file_internal.h"

#include <errno.h>

const kc_storage_backend kc_storage_file = {
    .name = "file",
    .open = kc__file_open,
    .load = kc__file_load,
    .commit = kc__file_commit,
    .history = kc__file_history,
    .compact = kc__file_compact,
    .close = kc__file_close,
};

/* What a code of LMDB, or an errno, means to the server. */
static const struct {
    int code;
    kc_reason reason;
    const char *text;
} meanings[] = {
    {ENOSPC, KC_SERVICE_UNAVAILABLE, "no space is left on the disk"},
    {EDQUOT, KC_SERVICE_UNAVAILABLE, "the disk quota is used up"},
    {EFBIG, KC_SERVICE_UNAVAILABLE, "the file may not become larger"},
    /* LMDB says EIO for a short write as well, which is how a disk begins to be full. */
    {EIO, KC_SERVICE_UNAVAILABLE, "the disk failed or is full"},
    {MDB_MAP_FULL, KC_SERVICE_UNAVAILABLE, "it has reached the size it may grow to"},
    {MDB_READERS_FULL, KC_SERVICE_UNAVAILABLE, "too many readers at a time"},
    {MDB_TXN_FULL, KC_TOO_LARGE, "the batch is too large"},
    {MDB_CORRUPTED, KC_STORE_READ_ERROR, "the file is damaged"},
    {MDB_PAGE_NOTFOUND, KC_STORE_READ_ERROR, "the file is damaged"},
    {MDB_INVALID, KC_STORE_READ_ERROR, "the file is damaged"},
    {MDB_PANIC, KC_INTERNAL, "it failed while writing, and must be opened again"},
};

int kc__file_error(const kc__file *file, int code, const char *what, kc_error *err)
{
    for (size_t i = 0; i < KC_COUNT(meanings); i++)
        if (meanings[i].code == code)
            return kc_error_set(err, meanings[i].reason, "cannot %s %s: %s", what, file->data_path,
                                meanings[i].text);
    return kc_error_set(err, KC_INTERNAL, "cannot %s %s: %s", what, file->data_path,
                        mdb_strerror(code));
}
