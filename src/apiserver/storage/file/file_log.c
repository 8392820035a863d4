/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_log.c: the databases `log` (a record for each revision) and `state` (one record).
 *
 * A value is stored once, in the log, under its revision. Its record serves as the live value, as
 * the event that created it, and as the previous value of the event that ends it. file_compact.c
 * removes a record that serves none of the three. Records above LMDB's revision are pending
 * (file_pending.c).
 */
#include "apiserver/storage/file/file_internal.h"

static MDB_val key_of(uint64_t revision, char out[8])
{
    kc__storage_put_u64(out, revision);
    return (MDB_val){8, out};
}

int kc__storage_file_log_get(const kc__storage_file *file, MDB_txn *txn, uint64_t revision,
                             kc__storage_record *ret_record)
{
    char bytes[8];
    MDB_val key = key_of(revision, bytes), data;
    const int code = mdb_get(txn, file->log_db, &key, &data);
    if (code == MDB_NOTFOUND)
        /* The index or another record names this revision, so it must exist. */
        return MDB_CORRUPTED;
    if (code)
        return code;
    const kc_str record = kc_str_of(data.mv_data, data.mv_size);
    return kc__storage_record_read(record, revision, ret_record) ? 0 : MDB_CORRUPTED;
}

int kc__storage_file_record(const kc__storage_file *file, MDB_txn *txn, uint64_t revision,
                            kc__storage_record *ret_record)
{
    if (revision <= file->folded.revision)
        return kc__storage_file_log_get(file, txn, revision, ret_record);
    const uint64_t number = revision - file->folded.revision - 1;
    if (number >= file->pending.changes.n)
        return MDB_CORRUPTED;
    const kc_str bytes = file->pending.changes.items[number].record;
    return kc__storage_record_read(bytes, revision, ret_record) ? 0 : MDB_CORRUPTED;
}

int kc__storage_file_log_append(const kc__storage_file *file, MDB_txn *txn, uint64_t revision,
                                kc_str record)
{
    char bytes[8];
    MDB_val key = key_of(revision, bytes), data = {record.n, (void *)record.p};
    return mdb_put(txn, file->log_db, &key, &data, MDB_APPEND);
}

int kc__storage_file_log_delete(const kc__storage_file *file, MDB_txn *txn, uint64_t revision)
{
    char bytes[8];
    MDB_val key = key_of(revision, bytes);
    const int code = mdb_del(txn, file->log_db, &key, NULL);
    return code == MDB_NOTFOUND ? MDB_CORRUPTED : code;
}

/* LMDB does not write to keys, but its API has no const. */
static MDB_val state_key(void)
{
    return (MDB_val){strlen("state"), (void *)"state"};
}

int kc__storage_file_log_get_state(const kc__storage_file *file, MDB_txn *txn,
                                   kc__storage_file_state *ret_state)
{
    MDB_val key = state_key(), data;
    const int code = mdb_get(txn, file->state_db, &key, &data);
    if (code)
        return code == MDB_NOTFOUND ? MDB_INVALID : code;
    return kc__storage_file_state_read(kc_str_of(data.mv_data, data.mv_size), ret_state)
               ? 0
               : MDB_INVALID;
}

int kc__storage_file_log_put_state(const kc__storage_file *file, MDB_txn *txn,
                                   const kc__storage_file_state *state)
{
    char bytes[KC__STORAGE_FILE_STATE_SIZE];
    kc__storage_file_state_write(state, bytes);
    MDB_val key = state_key(), data = {sizeof(bytes), bytes};
    return mdb_put(txn, file->state_db, &key, &data, 0);
}
