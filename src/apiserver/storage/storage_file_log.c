/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_file_log.c: the databases `log` (a record for each revision) and `state` (one record).
 *
 * A value is written once, under its revision, and serves as the live value, as the event that made
 * it and as the previous value of the event that ends it. It leaves the log when nobody needs it
 * any more: storage_file_compact.c.
 */
#include "apiserver/storage/storage_file_internal.h"

static MDB_val key_of(uint64_t revision, char out[8])
{
    kc__put_u64(out, revision);
    return (MDB_val){8, out};
}

int kc__log_get(const kc__file *file, MDB_txn *txn, uint64_t revision, kc__record *ret_record)
{
    char bytes[8];
    MDB_val key = key_of(revision, bytes), data;
    const int code = mdb_get(txn, file->log_db, &key, &data);
    if (code == MDB_NOTFOUND)
        return MDB_CORRUPTED; /* Who asks for a revision has seen it named. */
    if (code)
        return code;
    const kc_str record = kc_str_of(data.mv_data, data.mv_size);
    return kc__record_read(record, revision, ret_record) ? 0 : MDB_CORRUPTED;
}

int kc__log_append(const kc__file *file, MDB_txn *txn, uint64_t revision, const kc__record *record)
{
    char bytes[8];
    MDB_val key = key_of(revision, bytes), data = {kc__record_size(record), NULL};
    const int code = mdb_put(txn, file->log_db, &key, &data, MDB_APPEND | MDB_RESERVE);
    if (code == 0)
        kc__record_write(record, revision, data.mv_data);
    return code;
}

int kc__log_delete(const kc__file *file, MDB_txn *txn, uint64_t revision)
{
    char bytes[8];
    MDB_val key = key_of(revision, bytes);
    const int code = mdb_del(txn, file->log_db, &key, NULL);
    return code == MDB_NOTFOUND ? MDB_CORRUPTED : code;
}

/* LMDB does not write to keys; it only has no word for that. */
static MDB_val state_key(void)
{
    return (MDB_val){strlen("state"), (void *)"state"};
}

int kc__log_get_state(const kc__file *file, MDB_txn *txn, kc__state *ret_state)
{
    MDB_val key = state_key(), data;
    const int code = mdb_get(txn, file->state_db, &key, &data);
    if (code)
        return code == MDB_NOTFOUND ? MDB_INVALID : code;
    return kc__state_read(kc_str_of(data.mv_data, data.mv_size), ret_state) ? 0 : MDB_INVALID;
}

int kc__log_put_state(const kc__file *file, MDB_txn *txn, const kc__state *state)
{
    char bytes[KC__STATE_SIZE];
    kc__state_write(state, bytes);
    MDB_val key = state_key(), data = {sizeof(bytes), bytes};
    return mdb_put(txn, file->state_db, &key, &data, 0);
}
