/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_backend.h: the backend that stores everything in one directory of this machine: an LMDB file
 * and a journal. See docs/internals/storage.md.
 */
#ifndef KC_APISERVER_STORAGE_FILE_H
#define KC_APISERVER_STORAGE_FILE_H

#include "apiserver/storage/storage.h"

extern const kc__storage_backend kc__storage_file_backend;

/* Options of this backend. */
typedef struct kc__storage_file_opts {
    /* Initial size of the LMDB file. Defaults to 16 MiB, which take no disk space until used. */
    uint64_t first_bytes;
    /* Bytes of records that a migration to a newer layout changes per transaction. Defaults to 16
     * MiB. */
    size_t migration_step;
    /* Bytes of changes that the journal collects before they are written to LMDB. Defaults to 256
     * KiB, which is also the maximum. 0 is the default, 1 disables the journal. */
    size_t journal_bytes;
} kc__storage_file_opts;

/* Removes replaced and deleted values from the files of a store that was closed without an error
 * and compacted: what the store no longer shows is then not in its files. Needs free space for a
 * copy of the live data. A crash leaves the store as it was, or scrubbed. Blocks. */
int kc__storage_file_scrub(const char *dir, kc_error *err);

#endif
