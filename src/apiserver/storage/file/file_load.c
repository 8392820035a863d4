/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_load.c: reads live keys with their values: one (get), or all of a prefix in order (list), at
 * the latest revision or at an earlier one of the history.
 *
 * LMDB's index has the revision of each key as of the last fold, F. A list at revision R lays an
 * overlay over the index, which names the revision of a key at R where it differs:
 *
 *     R ≥ F    the pending changes up to R, the last of each key
 *     R < F    the changes after R up to F, the first of each key: what it replaced was live at R
 *
 *     index    a@4  b@3  d@6          overlay    b absent   c@2         list    a@4  c@2  d@6
 *
 * The load at server start reads every byte that will be served, so it also verifies the file: a
 * record whose checksum, key or verb does not match the index stops the load.
 */
#include "apiserver/storage/file/file_internal.h"

/* The revision of a key where it differs from the index; 0: absent. */
typedef struct overlay_entry {
    kc_str key;
    uint64_t revision;
} overlay_entry;

typedef struct listing {
    kc__storage_file *file;
    MDB_txn *txn;
    const kc__storage_list_opts *opts;
    uint64_t revision;
    KC_VEC(overlay_entry) overlay; /* Sorted by key. */
    size_t at;                     /* Position in the overlay. */
    kc__storage_entry_fn *each;
    void *user;
    size_t n;    /* Number of entries so far. */
    bool more;   /* The limit left entries out. */
    int stopped; /* The callback's return value. */
} listing;

/* ---- the overlay ---- */

/* The revision plus one, because a map cannot hold NULL. */
static void *as_value(uint64_t revision)
{
    return (void *)(uintptr_t)(revision + 1);
}

static void overlay_pending(const listing *l, kc_map *overlay)
{
    const kc__storage_file *file = l->file;
    const uint64_t first = file->folded.revision + 1;
    for (size_t i = 0; i < file->pending.changes.n && first + i <= l->revision; i++) {
        const kc__storage_pending_change *change = &file->pending.changes.items[i];
        const uint64_t revision = change->verb == KC__STORAGE_PUT ? first + i : 0;
        kc_map_put(overlay, change->key, as_value(revision));
    }
}

static int overlay_past(const listing *l, kc_map *overlay)
{
    kc__storage_record record;
    for (uint64_t r = l->revision + 1; r <= l->file->folded.revision; r++) {
        const int code = kc__storage_file_log_get(l->file, l->txn, r, &record);
        if (code)
            return code;
        if (!kc_map_get(overlay, record.key))
            kc_map_put(overlay, record.key, as_value(record.previous));
    }
    return 0;
}

static int compare_overlay(const void *a, const void *b)
{
    return kc_str_cmp(((const overlay_entry *)a)->key, ((const overlay_entry *)b)->key);
}

static int make_overlay(listing *l)
{
    kc_scoped(kc_map) overlay = {0};
    int code = 0;
    if (l->revision >= l->file->folded.revision)
        overlay_pending(l, &overlay);
    else
        code = overlay_past(l, &overlay);
    kc_map_each (&overlay, entry)
        kc_vec_push(&l->overlay, ((overlay_entry){entry->key, (uintptr_t)entry->value - 1}));
    kc_vec_sort(&l->overlay, compare_overlay);
    return code;
}

/* ---- entries ---- */

static bool is_listed_file_key(const kc__storage_list_opts *opts, kc_str key)
{
    return kc_str_starts(key, opts->prefix) && (!opts->after.n || kc_str_cmp(key, opts->after) > 0);
}

/* Returns 0 or an LMDB code. */
static int list_entry(listing *l, kc_str key, uint64_t revision)
{
    kc__storage_record record = {0};
    if (!revision || !is_listed_file_key(l->opts, key))
        return 0;
    if (l->opts->limit && l->n == l->opts->limit) {
        l->more = true;
        return 0;
    }
    const int code = kc__storage_file_record(l->file, l->txn, revision, &record);
    if (code)
        return code;
    if (record.verb != KC__STORAGE_PUT || !kc_str_eq(record.key, key))
        return MDB_CORRUPTED;
    l->n++;
    const kc__storage_entry entry = {.key = key, .value = record.value, .revision = revision};
    l->stopped = l->each ? l->each(&entry, l->user) : 0;
    return 0;
}

static bool is_over(const listing *l)
{
    return l->stopped || l->more;
}

/* Lists the overlay entries before `key`, and the one of `key` itself. */
static int list_overlay(listing *l, const kc_str *key, bool *ret_replaced)
{
    int code = 0;
    *ret_replaced = false;
    for (; !code && !is_over(l) && !*ret_replaced && l->at < l->overlay.n; l->at++) {
        const overlay_entry *entry = &l->overlay.items[l->at];
        const int order = key ? kc_str_cmp(entry->key, *key) : -1;
        if (order > 0)
            break;
        *ret_replaced = order == 0;
        code = list_entry(l, entry->key, entry->revision);
    }
    return code;
}

static int list_indexed(listing *l, MDB_val head, MDB_val data, bool *ret_behind)
{
    char buffer[KC__STORAGE_MAX_KEY];
    kc_str key;
    uint64_t revision;
    bool replaced = false;
    if (!kc__storage_file_index_read(head, data, buffer, &key, &revision))
        return MDB_CORRUPTED;
    const kc_str prefix = l->opts->prefix;
    *ret_behind = !kc_str_starts(key, prefix) && kc_str_cmp(key, prefix) > 0;
    if (*ret_behind)
        return 0;
    const int code = list_overlay(l, &key, &replaced);
    return code || replaced || is_over(l) ? code : list_entry(l, key, revision);
}

static int list_all(listing *l)
{
    MDB_cursor *index;
    MDB_val head, data;
    bool behind = false;
    const kc_str start =
        kc_str_cmp(l->opts->after, l->opts->prefix) > 0 ? l->opts->after : l->opts->prefix;
    int code = mdb_cursor_open(l->txn, l->file->index_db, &index);
    if (code)
        return code;
    code = kc__storage_file_index_seek(index, start, &head, &data);
    while (!code && !behind && !is_over(l)) {
        code = list_indexed(l, head, data, &behind);
        if (!code)
            code = mdb_cursor_get(index, &head, &data, MDB_NEXT);
    }
    mdb_cursor_close(index);
    if (code && code != MDB_NOTFOUND)
        return code;
    return list_overlay(l, NULL, &behind);
}

/* ---- the contract ---- */

static int check_revision(const kc__storage_file *file, uint64_t revision, kc_error *err)
{
    if (revision > file->state.revision)
        return kc_error_set(err, KC_BAD_REQUEST, "cannot list revision %llu: the latest is %llu",
                            (unsigned long long)revision, (unsigned long long)file->state.revision);
    if (revision < file->state.compacted)
        return kc_error_set(
            err, KC_EXPIRED, "revision %llu is too old: history is kept since revision %llu",
            (unsigned long long)revision, (unsigned long long)file->state.compacted);
    return 0;
}

int kc__storage_file_list_locked(kc__storage_file *file, const kc__storage_list_opts *opts,
                                 kc__storage_entry_fn *each, void *user,
                                 kc__storage_state *ret_state, kc_error *err)
{
    listing l = {.file = file, .opts = opts, .each = each, .user = user};
    l.revision = opts->revision ? opts->revision : file->state.revision;
    const int failed = check_revision(file, l.revision, err);
    if (failed)
        return failed;
    int code = kc__storage_file_begin_read(file, &l.txn);
    if (code)
        return kc__storage_file_error(file, code, "load", err);
    code = make_overlay(&l);
    if (!code)
        code = list_all(&l);
    kc__storage_file_release_pages(file);
    mdb_txn_abort(l.txn);
    kc_vec_done(&l.overlay);
    if (code)
        return kc__storage_file_error(file, code, "load", err);
    if (!l.stopped && ret_state)
        *ret_state = (kc__storage_state){
            .revision = l.revision, .compacted = file->state.compacted, .more = l.more};
    return l.stopped;
}

int kc__storage_file_list(kc__storage *storage, const kc__storage_list_opts *opts,
                          kc__storage_entry_fn *each, void *user, kc__storage_state *ret_state,
                          kc_error *err)
{
    kc__storage_file *file = kc__storage_file_of(storage);
    int failed = 0;
    kc_locked (&file->lock)
        failed = kc__storage_file_list_locked(file, opts, each, user, ret_state, err);
    return failed;
}

/* Returns 0, with *ret_revision 0 if the key does not exist, or an LMDB code. */
static int find_revision(kc__storage_file *file, MDB_txn *txn, kc_str key, uint64_t *ret_revision)
{
    MDB_cursor *index;
    const kc__storage_pending_change *change = kc__storage_pending_find(file, key, ret_revision);
    if (change) {
        if (change->verb == KC__STORAGE_DELETE)
            *ret_revision = 0;
        return 0;
    }
    int code = mdb_cursor_open(txn, file->index_db, &index);
    if (code)
        return code;
    code = kc__storage_file_index_find(index, key, ret_revision);
    mdb_cursor_close(index);
    if (code == MDB_NOTFOUND)
        *ret_revision = 0;
    return code == MDB_NOTFOUND ? 0 : code;
}

static int get_locked(kc__storage_file *file, kc_str key, kc_buf *ret_value, uint64_t *ret_revision)
{
    MDB_txn *txn;
    kc__storage_record record = {0};
    uint64_t revision = 0;
    int code = kc__storage_file_begin_read(file, &txn);
    if (code)
        return code;
    code = find_revision(file, txn, key, &revision);
    if (!code && revision)
        code = kc__storage_file_record(file, txn, revision, &record);
    if (!code) {
        *ret_revision = revision;
        if (ret_value)
            kc_buf_append(ret_value, record.value);
    }
    mdb_txn_abort(txn);
    return code;
}

int kc__storage_file_get(kc__storage *storage, kc_str key, kc_buf *ret_value,
                         uint64_t *ret_revision, kc_error *err)
{
    kc__storage_file *file = kc__storage_file_of(storage);
    const kc__storage_op op = {.key = key};
    int code = 0;
    if (kc__storage_op_problem(&op)) {
        *ret_revision = 0; /* No such key was ever stored. */
        return 0;
    }
    kc_locked (&file->lock)
        code = get_locked(file, key, ret_value, ret_revision);
    return code ? kc__storage_file_error(file, code, "read", err) : 0;
}

int kc__storage_file_progress(kc__storage *storage, kc__storage_state *ret_state, kc_error *err)
{
    kc__storage_file *file = kc__storage_file_of(storage);
    (void)err;
    kc_locked (&file->lock)
        *ret_state = (kc__storage_state){.revision = file->state.revision,
                                         .compacted = file->state.compacted};
    return 0;
}
