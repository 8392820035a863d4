/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_file_internal.h: what the files of the file backend share. docs/internals/storage.md
 * shows how they fit together.
 *
 * Functions that speak LMDB return its codes (0, an errno, or a negative MDB_…); kc__file_error
 * turns one into a sentence at the edge.
 */
#ifndef KC_APISERVER_STORAGE_FILE_INTERNAL_H
#define KC_APISERVER_STORAGE_FILE_INTERNAL_H

#include "apiserver/storage/storage_file.h"
#include "apiserver/storage/stored_record.h"

#include "kc/thread.h"

#include <lmdb.h>

typedef struct kc__file {
    kc_storage storage;
    kc_storage_opts opts; /* Defaults filled in; `location` is our copy. */
    char *folder, *data_path;
    int lock_fd; /* Holds the folder's lock while open; -1 before. */
    MDB_env *env;
    MDB_dbi state_db, index_db, log_db;

    /* Of the committer alone. */
    kc__state state;
    KC_VEC(kc_storage_result) results;
    uint64_t written;    /* Bytes of values, since pages were released. */
    size_t ahead;        /* Up to here the file has blocks; 0: unknown. */
    kc_buf redo;         /* Of the batch under way. */
    unsigned redo_place; /* 0 or 1: where it goes. */
    bool unknown;        /* Nobody knows what the last commit left: no other may follow. */

    /* The gate of storage_file_map.c. The mutex guards the three fields after it; nothing is locked
     * under it, and it is never held across I/O. */
    kc_mutex gate;
    kc_cond gate_moved;
    size_t readers;
    bool growing;
    bool unmapped; /* Growing failed half-way: there is nothing to read from any more. */
} kc__file;

static inline kc__file *kc__file_of(kc_storage *storage)
{
    return kc_container_of(storage, kc__file, storage);
}

/* ---- storage_file.c ---- */

int kc__file_open(const kc_storage_opts *opts, kc_storage **ret_storage, kc_error *err);
int kc__file_load(kc_storage *storage, kc_storage_entry_fn *each, void *user,
                  kc_storage_state *ret_state, kc_error *err);
int kc__file_commit(kc_storage *storage, const kc_storage_op *ops, size_t n_ops,
                    kc_storage_result *ret_results, uint64_t *ret_revision, kc_error *err);
int kc__file_history(kc_storage *storage, uint64_t since, kc_storage_event_fn *each, void *user,
                     kc_error *err);
int kc__file_compact(kc_storage *storage, uint64_t revision, kc_error *err);
void kc__file_close(kc_storage *storage);

/* "cannot DO PATH: why", with the reason that fits. */
int kc__file_error(const kc__file *file, int code, const char *what, kc_error *err);

/* ---- storage_file_lock.c ---- */

/* Takes the folder for this process; the lock ends when *ret_fd is closed. */
int kc__file_lock(const char *folder, int *ret_fd, kc_error *err);

/* ---- storage_file_check.c ---- */

/* Whether an environment that was just opened holds nothing yet, or a store of ours; sets the
 * handles and file->state if so. Changes nothing. */
int kc__file_check(kc__file *file, bool *ret_empty, kc_error *err);

/* Whether LMDB can follow the pages of a file without leaving it; before it is opened
 * (storage_file_tree.c). Damage is KC_STORE_READ_ERROR; what is no file of LMDB is no error here.
 */
int kc__file_check_pages(kc__file *file, kc_error *err);

/* ---- storage_file_map.c ---- */

/* A read-only transaction, during which the map does not move. Ends with kc__file_end_read. */
int kc__file_begin_read(kc__file *file, MDB_txn **ret_txn);
void kc__file_end_read(kc__file *file, MDB_txn *txn);
/* A transaction that writes. By the committer. */
int kc__file_begin_write(kc__file *file, MDB_txn **ret_txn);
/* Makes the data file as long as a map of that size and what stands behind it. */
int kc__file_stretch(kc__file *file, size_t map_bytes);
/* Doubles the map, as far as it may; MDB_MAP_FULL if not at all. By the committer, outside of a
 * transaction. */
int kc__file_grow(kc__file *file);

/* ---- storage_file_redo.c; all return LMDB's codes, and are the committer's ---- */

/* The room behind the map for each of two. */
#define KC__REDO_PLACE ((size_t)1 << 20)

void kc__redo_begin(kc__file *file);
void kc__redo_add(kc__file *file, uint64_t revision, const kc__record *record);
/* Before the commit, whose sync makes it durable. */
int kc__redo_write(kc__file *file);
/* After it. Syncs, if the batch did not fit. */
int kc__redo_end(kc__file *file);
/* After a commit that failed: it must not be done again. */
int kc__redo_strike_out(kc__file *file);
/* Applies what was promised and did not reach the header page. When the store is opened. */
int kc__redo_recover(kc__file *file, kc_error *err);

/* ---- storage_file_ahead.c ---- */

/* Sees to it that the next commit finds blocks of the disk. By the committer, outside of a
 * transaction. */
void kc__file_write_ahead(kc__file *file);

/* ---- storage_file_pages.c ---- */

/* Lets the system take back the memory through which the file was read. Any thread. */
void kc__file_release_pages(kc__file *file);

/* ---- storage_file_index.c ---- */

/* Places the cursor on a key's entry. MDB_NOTFOUND when there is none. */
int kc__file_index_find(MDB_cursor *index, kc_str key, uint64_t *ret_revision);
/* Gives a key its revision; `replace` when the cursor stands on its entry. */
int kc__file_index_put(MDB_cursor *index, kc_str key, uint64_t revision, bool replace);
/* The key and revision of an entry as LMDB gives it, in a buffer of KC_STORAGE_MAX_KEY. False when
 * it is not one. */
bool kc__file_index_read(MDB_val head, MDB_val data, char *buffer, kc_str *ret_key,
                         uint64_t *ret_revision);

/* ---- storage_file_log.c ---- */

/* The record of a revision; points into the map, until the next write or the transaction's end.
 * MDB_CORRUPTED when it is damaged. */
int kc__log_get(const kc__file *file, MDB_txn *txn, uint64_t revision, kc__record *ret_record);
/* Appends one; `revision` is above all others. */
int kc__log_append(const kc__file *file, MDB_txn *txn, uint64_t revision, const kc__record *record);
int kc__log_delete(const kc__file *file, MDB_txn *txn, uint64_t revision);
/* The state as a transaction sees it. */
int kc__log_get_state(const kc__file *file, MDB_txn *txn, kc__state *ret_state);
int kc__log_put_state(const kc__file *file, MDB_txn *txn, const kc__state *state);

/* ---- storage_file_compact.c ---- */

/* Drops the oldest change from the history. There must be one. */
int kc__history_drop_oldest(const kc__file *file, MDB_txn *txn, kc__state *state);
/* Drops what is too old or too much, at most `limit` changes. */
int kc__history_trim(const kc__file *file, MDB_txn *txn, kc__state *state, size_t limit);

#endif
