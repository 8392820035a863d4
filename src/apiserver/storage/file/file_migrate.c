/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_migrate.c: migrates a store of an older layout when it is opened.
 *
 *     layout 1 ── the key of every resource under its group: /registry/core/pods/default/web
 *     layout 2 ── keys as in Kubernetes:                     /registry/pods/default/web
 *     layout 3 ── the same keys, and a journal (file_journal.c)
 *
 * From layout 2 only the version changes: a program that does not know the journal must refuse the
 * store. From layout 1 the migration walks the log by revision and rewrites each record whose key
 * changes, under its own revision; if the record is the live value, its index entry moves too.
 * Revisions, values, times and history stay: a watch or a list page that began before continues
 * afterwards.
 *
 * The migration runs in steps of `migration_step` bytes, each in its own transaction, so that
 * neither memory nor the file grows with the size of the store. The first step raises the layout
 * version and sets a mark, the key "migration" of the database `state` with the last revision done;
 * the last step removes it. So after a crash a store is either still of layout 1, or is refused by
 * programs that know only layout 1 and continued by this one. A store smaller than a step is
 * migrated at once.
 *
 * Runs in open, before any other thread uses the store, after the redo log was applied: the redo
 * log holds keys of the layout it was written under. Every record is read first, so that nothing is
 * written to a damaged file.
 *
 * To add a layout 4: raise KC__STORAGE_LAYOUT_VERSION, and decide in `begin` what has to change.
 */
#include "apiserver/storage/file/file_internal.h"
#include "apiserver/storage/stored_key_layout_1.h"

typedef struct file_migration {
    kc__storage_file *file;
    MDB_txn *txn;
    MDB_cursor *log, *index;
    kc__storage_file_state state;
    uint64_t done;  /* Records up to this revision have their new keys. */
    bool renames;   /* Keys must change. */
    size_t renamed; /* Number of records. */
    kc_buf key, record;
} file_migration;

/* ---- the mark ---- */

/* LMDB does not write to keys, but its API has no const. */
static MDB_val mark_key(void)
{
    return (MDB_val){strlen("migration"), (void *)"migration"};
}

static int get_mark(const kc__storage_file *file, MDB_txn *txn, bool *ret_marked,
                    uint64_t *ret_done)
{
    MDB_val key = mark_key(), data;
    const int code = mdb_get(txn, file->state_db, &key, &data);
    *ret_marked = code == 0;
    if (code)
        return code == MDB_NOTFOUND ? 0 : code;
    if (data.mv_size != sizeof(uint64_t))
        return MDB_CORRUPTED;
    *ret_done = kc__storage_get_u64(data.mv_data);
    return 0;
}

static int set_mark(const file_migration *m)
{
    char bytes[sizeof(uint64_t)];
    MDB_val key = mark_key(), data = {sizeof(bytes), bytes};
    kc__storage_put_u64(bytes, m->done);
    return mdb_put(m->txn, m->file->state_db, &key, &data, 0);
}

static int remove_mark(const file_migration *m)
{
    MDB_val key = mark_key();
    const int code = mdb_del(m->txn, m->file->state_db, &key, NULL);
    return code == MDB_NOTFOUND ? 0 : code;
}

/* ---- one record ---- */

/* Renames the entry of a live key. MDB_KEYEXIST if another object has that name. */
static int move_entry(file_migration *m, kc_str from, kc_str to, uint64_t revision)
{
    uint64_t found = 0, other = 0;
    int code = kc__storage_file_index_find(m->index, from, &found);
    if (code == MDB_NOTFOUND || (!code && found != revision))
        return 0; /* A historic value. */
    if (!code)
        code = mdb_cursor_del(m->index, 0);
    if (code)
        return code;
    code = kc__storage_file_index_find(m->index, to, &other);
    if (code == 0)
        return MDB_KEYEXIST;
    return code == MDB_NOTFOUND ? kc__storage_file_index_put(m->index, to, revision, false) : code;
}

/* Builds m->key and m->record, as copies, because writing may move what is in the map. Returns
 * false if the key does not change. */
static bool copy_renamed(file_migration *m, const kc__storage_record *old, uint64_t revision)
{
    kc_buf_clear(&m->key);
    kc_buf_clear(&m->record);
    if (!kc__storage_key_migrate(&m->key, old->key))
        return false;
    kc__storage_record record = *old;
    record.key = kc_buf_str(&m->key);
    const size_t size = kc__storage_record_size(&record);
    kc__storage_record_write(&record, revision, kc_buf_reserve(&m->record, size));
    m->record.n = size;
    return true;
}

/* Writes what copy_renamed has built over the record at the cursor. */
static int replace_record(file_migration *m, uint64_t revision, size_t old_size)
{
    char bytes[sizeof(uint64_t)];
    MDB_val key = {sizeof(bytes), bytes}, data = {m->record.n, m->record.p};
    kc__storage_put_u64(bytes, revision);
    uint64_t *history = &m->state.history_bytes;
    if (revision > m->state.compacted)
        *history = *history - KC_MIN(old_size, *history) + m->record.n;
    m->renamed++;
    return mdb_cursor_put(m->log, &key, &data, MDB_CURRENT);
}

static int migrate_record(file_migration *m, MDB_val key, MDB_val data)
{
    kc__storage_record old;
    if (key.mv_size != sizeof(uint64_t))
        return MDB_CORRUPTED;
    const uint64_t revision = kc__storage_get_u64(key.mv_data);
    if (!kc__storage_record_read(kc_str_of(data.mv_data, data.mv_size), revision, &old))
        return MDB_CORRUPTED;
    m->done = revision;
    if (!copy_renamed(m, &old, revision))
        return 0;
    if (m->key.n > KC__STORAGE_MAX_KEY)
        return MDB_BAD_VALSIZE;
    char from[KC__STORAGE_MAX_KEY];
    int code = 0;
    memcpy(from, old.key.p, old.key.n);
    if (old.verb == KC__STORAGE_PUT)
        code = move_entry(m, kc_str_of(from, old.key.n), kc_buf_str(&m->key), revision);
    return code ? code : replace_record(m, revision, data.mv_size);
}

/* ---- a step ---- */

/* Continues after `done`, for about `step` bytes. MDB_NOTFOUND at the end of the log. */
static int walk(file_migration *m, size_t step)
{
    char bytes[sizeof(uint64_t)];
    MDB_val key = {sizeof(bytes), bytes}, data;
    kc__storage_put_u64(bytes, m->done + 1);
    int code = mdb_cursor_get(m->log, &key, &data, MDB_SET_RANGE);
    for (size_t seen = 0; !code && seen < step;) {
        seen += data.mv_size;
        code = migrate_record(m, key, data);
        if (!code)
            code = mdb_cursor_get(m->log, &key, &data, MDB_NEXT);
    }
    return code;
}

static int run_step(file_migration *m, size_t step, bool *ret_last)
{
    int code = mdb_cursor_open(m->txn, m->file->log_db, &m->log);
    if (!code)
        code = mdb_cursor_open(m->txn, m->file->index_db, &m->index);
    if (!code)
        code = m->renames ? walk(m, step) : MDB_NOTFOUND;
    *ret_last = code == MDB_NOTFOUND;
    if (code && code != MDB_NOTFOUND)
        return code;
    code = *ret_last ? remove_mark(m) : set_mark(m);
    m->state.version = KC__STORAGE_LAYOUT_VERSION;
    return code ? code : kc__storage_file_log_put_state(m->file, m->txn, &m->state);
}

/* One synced transaction. Changes *m only if it was stored. */
static int attempt_migration(file_migration *m, size_t step, bool *ret_last)
{
    const file_migration before = *m;
    int code = kc__storage_file_begin_write(m->file, &m->txn);
    if (code)
        return code;
    code = run_step(m, step, ret_last);
    if (code)
        mdb_txn_abort(m->txn);
    else
        code = mdb_txn_commit(m->txn);
    if (code) {
        m->state = before.state;
        m->done = before.done;
        m->renamed = before.renamed;
        return code;
    }
    m->file->state = m->file->folded = m->state;
    return 0;
}

static int migrate_all(file_migration *m)
{
    for (bool last = false; !last;) {
        int code = attempt_migration(m, m->file->own.migration_step, &last);
        if (code == MDB_MAP_FULL) {
            last = false;
            code = kc__storage_file_grow(m->file);
        }
        if (code)
            return code;
        kc__storage_file_release_pages(m->file);
    }
    return 0;
}

static int begin_migration(file_migration *m, bool *ret_needed)
{
    MDB_txn *txn;
    bool marked = false;
    int code = kc__storage_file_begin_read(m->file, &txn);
    if (code)
        return code;
    code = get_mark(m->file, txn, &marked, &m->done);
    mdb_txn_abort(txn);
    m->renames = marked || m->file->state.version < KC__LAYOUT_KEYS;
    *ret_needed = marked || m->file->state.version < KC__STORAGE_LAYOUT_VERSION;
    return code;
}

int kc__storage_file_migrate(kc__storage_file *file, kc_error *err)
{
    file_migration m = {.file = file, .state = file->state};
    const unsigned from = file->state.version;
    bool needed = false;
    int code = begin_migration(&m, &needed);
    if (!code && m.renames && kc__storage_file_verify_records(file, err) < 0)
        return kc_error_wrap(err, "migrate to layout %d", KC__STORAGE_LAYOUT_VERSION);
    if (!code && needed)
        code = migrate_all(&m);
    kc_buf_done(&m.key);
    kc_buf_done(&m.record);
    if (code == MDB_KEYEXIST)
        return kc_error_set(err, KC_STORE_READ_ERROR,
                            "cannot migrate %s to layout %d: two objects would have the same key",
                            file->data_path, KC__STORAGE_LAYOUT_VERSION);
    if (code)
        return kc__storage_file_error(file, code, "migrate", err);
    if (needed)
        kc_log_info(file->opts.log, "migrated the store to a new layout",
                    kc_kv("path", file->data_path), kc_kv("from", from),
                    kc_kv("to", KC__STORAGE_LAYOUT_VERSION), kc_kv("records", m.renamed));
    return 0;
}
