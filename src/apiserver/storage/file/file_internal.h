/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_internal.h: declarations that the files of the file backend share. docs/internals/storage.md
 * shows how they fit together.
 *
 * Functions that use LMDB return its codes (0, an errno, or a negative MDB_…);
 * kc__storage_file_error converts a code into an error message at the boundary of the backend.
 *
 * Threads: `lock` guards all of kc__storage_file. The functions of the contract take it; every
 * other function here is called with it locked, or before another thread uses the store.
 */
#ifndef KC_APISERVER_STORAGE_FILE_INTERNAL_H
#define KC_APISERVER_STORAGE_FILE_INTERNAL_H

#include "apiserver/storage/file/file_backend.h"
#include "apiserver/storage/storage_watch.h"
#include "apiserver/storage/stored_journal.h"

#include "kc/map.h"
#include "kc/metrics.h"
#include "kc/thread.h"
#include "kc/vec.h"

#include <lmdb.h>

/* A change that is not in LMDB yet. */
typedef struct kc__storage_pending_change {
    kc__storage_verb verb;
    kc_str key, record; /* In the image. */
    size_t replaced; /* Index plus one of the preceding pending change of the same key; 0: none. */
} kc__storage_pending_change;

/*
 * The changes that are not in LMDB yet, in revision order from file->folded.revision + 1 on. The
 * image holds the bytes of the journal at the offsets of the journal.
 */
typedef struct kc__storage_pending {
    char *image;
    size_t room;
    size_t end;   /* Offset behind the last batch, aligned. */
    size_t batch; /* Index in `changes` where the current batch begins. */
    size_t at;    /* Offset in the image behind the current batch's last record. */
    KC_VEC(kc__storage_pending_change) changes;
    kc_map latest; /* Key to its last change, as index in `changes` plus one. */
} kc__storage_pending;

/* Maximum size of the journal. A larger one is folded less often; but it stays in memory, and so do
 * the pages that LMDB changes in a fold, which it keeps for the next one. */
#define KC__STORAGE_JOURNAL_MOST ((size_t)256 << 10)
/* The largest journal that any version of this backend has written. */
#define KC__STORAGE_JOURNAL_READ ((size_t)768 << 10)
/* A larger batch is written directly to LMDB, which costs less than writing it twice. */
#define KC__STORAGE_JOURNAL_BATCH ((size_t)256 << 10)

typedef struct kc__storage_journal {
    int fd;      /* -1: the store has no journal (yet). */
    size_t size; /* Size of the file: blocks up to here are allocated. */
    uint64_t salt;
} kc__storage_journal;

/* Handles of the metrics (file_metrics.c). NULL: without a registry. */
typedef struct kc__storage_file_metrics {
    kc_gauge *changes, *bytes, *last_fold;
    kc_counter *folds;
} kc__storage_file_metrics;

typedef struct kc__storage_file {
    kc__storage storage;
    kc__storage_opts opts; /* With defaults filled in; `location` is a copy. */
    kc__storage_file_opts own;
    char *dir, *data_path, *journal_path;
    int lock_fd; /* Holds the directory's lock while open; -1 before. */
    MDB_env *env;
    MDB_dbi state_db, index_db, log_db;

    kc_mutex lock; /* Guards all fields. No other lock is taken under it; held across I/O. */
    kc__storage_file_state state;  /* Including the pending changes. */
    kc__storage_file_state folded; /* As stored in LMDB. */
    kc__storage_pending pending;
    kc__storage_journal journal;
    kc__storage_file_metrics metrics; /* Constant once the store is open. */
    kc__storage_watches watches;
    KC_VEC(kc__storage_result) results;
    uint64_t written; /* Bytes of values written since pages were last released. */
    void *map;        /* LMDB's map, as far as file_pages.c has looked it up: */
    size_t map_bytes; /* 0: unknown. */
    size_t ahead;     /* data.mdb has written blocks up to here; 0: unknown. */
    size_t reserve;   /* Bytes reserved for deletions; 0: not computed yet. */
    size_t reserved;  /* Blocks are allocated up to here; 0: unknown. */
    bool pressed;     /* The disk is full: the reserve cannot be maintained. */
    bool opened;      /* Opening has succeeded. */
    bool unknown;     /* The outcome of the last commit is unknown: no other may follow. */
} kc__storage_file;

static inline kc__storage_file *kc__storage_file_of(kc__storage *storage)
{
    return kc_container_of(storage, kc__storage_file, storage);
}

/* ---- the contract; file_backend.c has the table ---- */

int kc__storage_file_open(const kc__storage_opts *opts, kc__storage **ret_storage, kc_error *err);
int kc__storage_file_get(kc__storage *storage, kc_str key, kc_buf *ret_value,
                         uint64_t *ret_revision, kc_error *err);
int kc__storage_file_list(kc__storage *storage, const kc__storage_list_opts *opts,
                          kc__storage_entry_fn *each, void *user, kc__storage_state *ret_state,
                          kc_error *err);
int kc__storage_file_commit(kc__storage *storage, const kc__storage_op *ops, size_t n_ops,
                            kc__storage_result *ret_results, uint64_t *ret_revision, kc_error *err);
int kc__storage_file_watch(kc__storage *storage, const kc__storage_watch_opts *opts,
                           kc__storage_watch **ret_watch, kc_error *err);
void kc__storage_file_unwatch(kc__storage *storage, kc__storage_watch *watch);
int kc__storage_file_compact(kc__storage *storage, uint64_t revision, kc_error *err);
int kc__storage_file_advance(kc__storage *storage, uint64_t revision, kc_error *err);
int kc__storage_file_progress(kc__storage *storage, kc__storage_state *ret_state, kc_error *err);
int kc__storage_file_recover(kc__storage *storage, uint64_t *ret_revision, kc_error *err);
void kc__storage_file_close(kc__storage *storage);

/* Sets "cannot WHAT PATH: why", with the matching reason. */
int kc__storage_file_error(const kc__storage_file *file, int code, const char *what, kc_error *err);

/* ---- file_open.c ---- */

/* Opens LMDB's file again in a locked directory; file->env must be NULL. */
int kc__storage_file_reopen(kc__storage_file *file, kc_error *err);

/* ---- file_lock.c ---- */

/* Locks the directory for this process; closing *ret_fd releases the lock. */
int kc__storage_file_lock(const char *dir, int *ret_fd, kc_error *err);

/* ---- file_check.c ---- */

/* Checks that a newly opened environment is empty or holds a store of this backend; if so, sets the
 * handles, file->state and file->folded. Changes nothing. */
int kc__storage_file_check(kc__storage_file *file, bool *ret_empty, kc_error *err);

/* Checks, before the file is opened, that LMDB can follow its pages without leaving it
 * (file_tree.c). Damage is KC_STORE_READ_ERROR; a file that is not LMDB's is not an error here. */
int kc__storage_file_check_pages(kc__storage_file *file, kc_error *err);

/* Reads every record before anything is written, so that a damaged file is refused unchanged. */
int kc__storage_file_verify_records(kc__storage_file *file, kc_error *err);

/* ---- file_map.c ---- */

int kc__storage_file_begin_read(kc__storage_file *file, MDB_txn **ret_txn);
/* MDB_PANIC while the outcome of the last commit is unknown. */
int kc__storage_file_begin_write(kc__storage_file *file, MDB_txn **ret_txn);
/* Extends the data file to the size of a map. */
int kc__storage_file_stretch(kc__storage_file *file, size_t map_bytes);
/* Enlarges the map after MDB_MAP_FULL; returns MDB_MAP_FULL if the limit is reached. Outside of a
 * transaction. */
int kc__storage_file_grow(kc__storage_file *file);

/* ---- file_pending.c: changes that are not in LMDB yet ---- */

void kc__storage_pending_done(kc__storage_pending *pending);
/* An upper bound of the bytes that a batch of these operations takes. */
size_t kc__storage_pending_bound(const kc__storage_op *ops, size_t n_ops);
/* Begins a batch of at most `bytes` bytes; a batch larger than the image requires an empty image.
 * Returns false if out of memory. */
bool kc__storage_pending_begin(kc__storage_pending *pending, size_t bytes);
void kc__storage_pending_add(kc__storage_pending *pending, uint64_t revision,
                             const kc__storage_record *record);
/* Undoes the newest changes of the batch, or all of it. */
void kc__storage_pending_undo(kc__storage_pending *pending, size_t n);
void kc__storage_pending_drop_batch(kc__storage_pending *pending);
/* Called when the batch is stored in the journal, or will be folded at once. */
void kc__storage_pending_keep_batch(kc__storage_pending *pending);
/* Fills the image with the journal's content. Returns false if out of memory. */
bool kc__storage_pending_load(kc__storage_pending *pending, kc_str image);
/* Adds a change whose record is in the image. */
void kc__storage_pending_found(kc__storage_pending *pending, kc_str bytes,
                               const kc__storage_record *record);
/* Drops the oldest `n` changes, which are in LMDB now. */
void kc__storage_pending_forget(kc__storage_pending *pending, size_t n);
/* The last pending change of a key and its revision, or NULL. */
const kc__storage_pending_change *kc__storage_pending_find(const kc__storage_file *file, kc_str key,
                                                           uint64_t *ret_revision);

/* ---- file_journal.c ---- */

/* Opens or creates the file; `fresh`: its content does not belong to the store. */
int kc__storage_journal_open(kc__storage_file *file, bool fresh, kc_error *err);
void kc__storage_journal_close(kc__storage_file *file);
/* Whether a batch of this size goes through the journal and fits into it. */
bool kc__storage_journal_takes(const kc__storage_file *file, size_t bytes);
bool kc__storage_journal_has_room(const kc__storage_file *file, size_t bytes);
/* Writes and syncs the current batch. ENOSPC: the disk is full. MDB_PANIC: it is unknown whether
 * the batch is stored. */
int kc__storage_journal_append(kc__storage_file *file);
/* Loads the changes that LMDB does not hold into the pending changes. Changes no file. */
int kc__storage_journal_recover(kc__storage_file *file, kc_error *err);
/* Invalidates the first batch once all batches are in LMDB, so that a store restored in place of
 * this one does not read them. */
void kc__storage_journal_strike_out(kc__storage_file *file);

/* ---- file_fold.c ---- */

/* Writes the pending changes to LMDB and drops the trimmed history. When it returns 0 they are
 * durable there and the journal is empty. */
int kc__storage_file_fold(kc__storage_file *file);
/* Stores another state in LMDB, without a change; there are no pending ones. */
int kc__storage_file_set_state(kc__storage_file *file, const kc__storage_file_state *next);

/* ---- file_metrics.c ---- */

int kc__storage_file_metrics_init(kc__storage_file *file, kc_error *err);
/* Shows what the journal holds now. Called at the end of every operation that writes. */
void kc__storage_file_metrics_update(const kc__storage_file *file);
/* Counts a fold of the journal. */
void kc__storage_file_metrics_folded(const kc__storage_file *file);

/* ---- file_redo.c ---- */

/* The redo log of layouts 1 and 2: applies it if the header page it belongs to was lost. */
int kc__storage_file_redo_recover(kc__storage_file *file, kc_error *err);

/* ---- file_layout_copy.c ---- */

/* Copies data.mdb of an older layout before anything is written to it. Without room for the copy it
 * logs that and returns 0. */
int kc__storage_file_keep_layout(const kc__storage_file *file, kc_error *err);

/* ---- file_migrate.c ---- */

/* Migrates an older layout. Called when the store is opened, after the redo log was applied. */
int kc__storage_file_migrate(kc__storage_file *file, kc_error *err);

/* ---- file_ahead.c ---- */

/* Allocates blocks for the next fold. Outside of a transaction. */
void kc__storage_file_write_ahead(kc__storage_file *file);

/* ---- file_reserve.c ---- */

/* Allocates blocks behind the pages in use, or detects that the disk is full: file->pressed. */
void kc__storage_file_keep_reserve(kc__storage_file *file, int fd, size_t used, size_t map_bytes);
/* Whether a batch fits without the reserve, or may use the reserve. 0, ENOSPC or MDB_MAP_FULL. */
int kc__storage_file_check_room(kc__storage_file *file, const kc__storage_op *ops, size_t n_ops);

/* ---- file_pages.c ---- */

/* Releases the resident pages through which the file was read. */
void kc__storage_file_release_pages(kc__storage_file *file);
/* Must be called before LMDB replaces its map. */
void kc__storage_file_map_changed(kc__storage_file *file);

/* ---- file_index.c ---- */

/* Places the cursor on the entry of a key. MDB_NOTFOUND if there is none. */
int kc__storage_file_index_find(MDB_cursor *index, kc_str key, uint64_t *ret_revision);
/* Places the cursor on the first entry whose first 511 bytes are not below those of `key`. */
int kc__storage_file_index_seek(MDB_cursor *index, kc_str key, MDB_val *ret_head,
                                MDB_val *ret_data);
/* Sets the revision of a key; `replace` if the cursor is on its entry. */
int kc__storage_file_index_put(MDB_cursor *index, kc_str key, uint64_t revision, bool replace);
/* Decodes an LMDB entry into key and revision, with a buffer of KC__STORAGE_MAX_KEY bytes. Returns
 * false if it is invalid. */
bool kc__storage_file_index_read(MDB_val head, MDB_val data, char *buffer, kc_str *ret_key,
                                 uint64_t *ret_revision);

/* ---- file_log.c ---- */

/* The record of a revision in LMDB. It points into the map and is valid until the next write or the
 * end of the transaction. MDB_CORRUPTED if it is damaged. */
int kc__storage_file_log_get(const kc__storage_file *file, MDB_txn *txn, uint64_t revision,
                             kc__storage_record *ret_record);
/* The same for any revision, pending or in LMDB. */
int kc__storage_file_record(const kc__storage_file *file, MDB_txn *txn, uint64_t revision,
                            kc__storage_record *ret_record);
/* Appends the bytes of a record; `revision` must be above all others. */
int kc__storage_file_log_append(const kc__storage_file *file, MDB_txn *txn, uint64_t revision,
                                kc_str record);
int kc__storage_file_log_delete(const kc__storage_file *file, MDB_txn *txn, uint64_t revision);
/* The state that a transaction sees. */
int kc__storage_file_log_get_state(const kc__storage_file *file, MDB_txn *txn,
                                   kc__storage_file_state *ret_state);
int kc__storage_file_log_put_state(const kc__storage_file *file, MDB_txn *txn,
                                   const kc__storage_file_state *state);

/* ---- file_compact.c ---- */

/* Drops the oldest change from the history in LMDB, which must not be empty. */
int kc__storage_file_history_drop_oldest(const kc__storage_file *file, MDB_txn *txn,
                                         kc__storage_file_state *state);
/* Advances file->state.compacted past changes that exceed the age or size limits, by at most
 * `limit` changes; the next fold drops them. `txn` is a read transaction. */
int kc__storage_file_history_trim(kc__storage_file *file, MDB_txn *txn, size_t limit);

/* ---- file_history.c ---- */

/* Walks every event after `since`, including pending ones: a kc__storage_walk_fn. */
int kc__storage_file_walk_events(void *file, uint64_t since, kc__storage_event_fn *each, void *user,
                                 kc_error *err);

/* ---- file_load.c ---- */

int kc__storage_file_list_locked(kc__storage_file *file, const kc__storage_list_opts *opts,
                                 kc__storage_entry_fn *each, void *user,
                                 kc__storage_state *ret_state, kc_error *err);

#endif
