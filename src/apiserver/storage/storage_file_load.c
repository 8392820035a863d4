/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_file_load.c: every live key with its value, from one transaction: the index in order, and
 * for each entry its record from the log.
 *
 * This reads every byte the server will ever serve, so it is also the check of the file: a record
 * whose checksum, key or verb is not what the index promises stops the load, and the server does
 * not start on half of the truth.
 */
#include "apiserver/storage/storage_file_internal.h"

typedef struct loading {
    kc__file *file;
    MDB_txn *txn;
    kc_storage_entry_fn *each;
    void *user;
} loading;

/* 0, an LMDB code in *ret_code, or what the callback returned. */
static int load_entry(const loading *l, MDB_val head, MDB_val data, int *ret_code)
{
    char buffer[KC_STORAGE_MAX_KEY];
    kc_storage_entry entry = {0};
    kc__record record = {0};
    if (!kc__file_index_read(head, data, buffer, &entry.key, &entry.revision)) {
        *ret_code = MDB_CORRUPTED;
        return 0;
    }
    *ret_code = kc__log_get(l->file, l->txn, entry.revision, &record);
    if (*ret_code)
        return 0;
    if (record.verb != KC_STORAGE_PUT || !kc_str_eq(record.key, entry.key)) {
        *ret_code = MDB_CORRUPTED;
        return 0;
    }
    entry.value = record.value;
    return l->each ? l->each(&entry, l->user) : 0;
}

static int load_all(const loading *l, int *ret_code)
{
    MDB_cursor *index;
    MDB_val head, data;
    int stopped = 0, code = mdb_cursor_open(l->txn, l->file->index_db, &index);
    if (code) {
        *ret_code = code;
        return 0;
    }
    while (!stopped && (code = mdb_cursor_get(index, &head, &data, MDB_NEXT)) == 0) {
        stopped = load_entry(l, head, data, &code);
        if (code)
            break;
    }
    mdb_cursor_close(index);
    *ret_code = code == MDB_NOTFOUND ? 0 : code;
    return stopped;
}

int kc__file_load(kc_storage *storage, kc_storage_entry_fn *each, void *user,
                  kc_storage_state *ret_state, kc_error *err)
{
    loading l = {.file = kc__file_of(storage), .each = each, .user = user};
    kc__state state = {0};
    int stopped = 0, code = kc__file_begin_read(l.file, &l.txn);
    if (code)
        return kc__file_error(l.file, code, "load", err);
    code = kc__log_get_state(l.file, l.txn, &state);
    if (!code)
        stopped = load_all(&l, &code);
    kc__file_release_pages(l.file);
    kc__file_end_read(l.file, l.txn);
    if (code)
        return kc__file_error(l.file, code, "load", err);
    if (!stopped && ret_state)
        *ret_state = (kc_storage_state){.revision = state.revision, .compacted = state.compacted};
    return stopped;
}
