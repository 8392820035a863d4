/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_open.c: opens a store: creates the directory, takes its lock, opens LMDB's file, checks that
 * it is a store (file_check.c), creates the databases in a new one, copies and migrates an older
 * layout (file_layout_copy.c, file_migrate.c), folds what a crash left in the journal.
 *
 *     FOLDER/data.mdb   LMDB's file              FOLDER/owner   lock and process id
 *     FOLDER/journal    changes not in LMDB yet  FOLDER/data.mdb.layout-N   copy of an older layout
 *
 * A crash at any point of the first start leaves a directory that the next start completes.
 */
#include "apiserver/storage/file/file_internal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define HISTORY_AGE    (5 * KC_MINUTE)
#define HISTORY_BYTES  (UINT64_C(256) << 20)
#define FIRST_BYTES    (UINT64_C(16) << 20)
#define MAP_UNIT       (UINT64_C(64) << 10) /* A multiple of every page size. */
#define MIGRATION_STEP ((size_t)16 << 20)

static uint64_t round_to_unit(uint64_t bytes)
{
    return (bytes + MAP_UNIT - 1) / MAP_UNIT * MAP_UNIT;
}

static kc__storage_file_opts own_options(const kc__storage_file_opts *given, uint64_t max_bytes)
{
    kc__storage_file_opts own = given ? *given : (kc__storage_file_opts){0};
    own.first_bytes = round_to_unit(own.first_bytes ? own.first_bytes : FIRST_BYTES);
    if (max_bytes)
        own.first_bytes = KC_MIN(own.first_bytes, max_bytes);
    own.journal_bytes = own.journal_bytes ? KC_MIN(own.journal_bytes, KC__STORAGE_JOURNAL_MOST)
                                          : KC__STORAGE_JOURNAL_MOST;
    own.migration_step = own.migration_step ? own.migration_step : MIGRATION_STEP;
    return own;
}

static kc__storage_file *file_new(const kc__storage_opts *opts)
{
    kc__storage_file *file = kc_new(kc__storage_file);
    file->storage.backend = &kc__storage_file_backend;
    file->opts = *opts;
    kc__storage_opts *o = &file->opts;
    o->clock = o->clock ? o->clock : kc_clock_real();
    o->history_age = o->history_age ? o->history_age : HISTORY_AGE;
    o->history_bytes = o->history_bytes ? o->history_bytes : HISTORY_BYTES;
    o->max_bytes = round_to_unit(o->max_bytes);
    file->own = own_options(opts->file, o->max_bytes);
    o->file = NULL;
    file->dir = kc_strdup(opts->location);
    file->data_path = kc_asprintf("%s/data.mdb", opts->location);
    file->journal_path = kc_asprintf("%s/journal", opts->location);
    o->location = file->dir;
    file->lock_fd = file->journal.fd = -1;
    kc_mutex_init(&file->lock);
    kc__storage_watches_init(&file->watches, kc__storage_file_walk_events, file);
    return file;
}

void kc__storage_file_close(kc__storage *storage)
{
    kc__storage_file *file = kc__storage_file_of(storage);
    assert(kc_dlist_empty(&file->watches.list));
    /* Saves the next start the fold. After an unknown outcome only the journal may be correct. */
    if (file->opened && file->env && !file->unknown && kc__storage_file_fold(file) == 0)
        kc__storage_journal_strike_out(file);
    kc__storage_file_metrics_update(file);
    if (file->env)
        mdb_env_close(file->env);
    kc__storage_journal_close(file);
    if (file->lock_fd >= 0)
        close(file->lock_fd); /* After LMDB has closed its files. */
    kc__storage_pending_done(&file->pending);
    kc_vec_done(&file->results);
    kc_mutex_done(&file->lock);
    free(file->dir);
    free(file->data_path);
    free(file->journal_path);
    free(file);
}

static int refuse_link(const char *path, kc_error *err)
{
    return kc_error_set(
        err, KC_INVALID,
        "%s is a symbolic link; a store must be a directory with regular files, so that no other "
        "store or file is written through it",
        path);
}

/* Refuses symbolic links, which LMDB would follow when it opens its files. */
static int check_links(const char *dir, kc_error *err)
{
    static const char *const names[] = {"data.mdb", "lock.mdb", "owner", "journal"};
    struct stat st;
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_autofree char *path = kc_asprintf("%s/%s", dir, names[i]);
        if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
            return refuse_link(path, err);
    }
    return 0;
}

static int make_dir(const char *dir, kc_error *err)
{
    struct stat st;
    if (mkdir(dir, 0700) < 0 && errno != EEXIST)
        return kc_error_set(err, KC_INTERNAL, "cannot create the directory %s: %s", dir,
                            strerror(errno));
    if (lstat(dir, &st) < 0)
        return kc_error_set(err, KC_INTERNAL, "cannot stat %s: %s", dir, strerror(errno));
    if (S_ISLNK(st.st_mode))
        return refuse_link(dir, err);
    if (!S_ISDIR(st.st_mode))
        return kc_error_set(err, KC_INVALID, "%s is not a directory", dir);
    return check_links(dir, err);
}

static int sync_dir(const char *dir)
{
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    const int code = fsync(fd) < 0 ? errno : 0;
    close(fd);
    return code;
}

static int open_env(kc__storage_file *file, kc_error *err)
{
    struct stat st;
    kc__storage_file_map_changed(file);
    int code = mdb_env_create(&file->env);
    if (!code)
        code = mdb_env_set_maxdbs(file->env, 3);
    /* An existing file names the size of its map itself. */
    if (!code && (stat(file->data_path, &st) < 0 || st.st_size == 0))
        code = mdb_env_set_mapsize(file->env, file->own.first_bytes);
    /* The directory's lock ensures a single process and file->lock a single transaction, so LMDB's
     * own lock file, which every transaction would write, is not needed. */
    if (!code)
        code = mdb_env_open(file->env, file->dir, MDB_NOTLS | MDB_NOLOCK, 0600);
    if (code == MDB_INVALID || code == MDB_VERSION_MISMATCH)
        return kc_error_set(
            err, KC_INVALID,
            "%s is not a store of this program, or is damaged (%s); it was not modified",
            file->data_path, mdb_strerror(code));
    return code ? kc__storage_file_error(file, code, "open", err) : 0;
}

static int make_databases(kc__storage_file *file, MDB_txn *txn)
{
    file->state = (kc__storage_file_state){.version = KC__STORAGE_LAYOUT_VERSION,
                                           .revision = KC__STORAGE_FIRST,
                                           .compacted = KC__STORAGE_FIRST};
    int code = mdb_dbi_open(txn, "state", MDB_CREATE, &file->state_db);
    if (!code)
        code = mdb_dbi_open(txn, "index", MDB_CREATE | MDB_DUPSORT, &file->index_db);
    if (!code)
        code = mdb_dbi_open(txn, "log", MDB_CREATE, &file->log_db);
    file->folded = file->state;
    return code ? code : kc__storage_file_log_put_state(file, txn, &file->state);
}

/* Initializes an empty file. */
static int begin_store(kc__storage_file *file)
{
    MDB_envinfo info;
    MDB_txn *txn;
    int code = mdb_env_info(file->env, &info);
    if (!code)
        code = kc__storage_file_stretch(file, info.me_mapsize);
    if (!code)
        code = mdb_txn_begin(file->env, NULL, 0, &txn);
    if (code)
        return code;
    code = make_databases(file, txn);
    if (code)
        mdb_txn_abort(txn);
    else
        code = mdb_txn_commit(txn);
    return code;
}

int kc__storage_file_reopen(kc__storage_file *file, kc_error *err)
{
    bool empty = false;
    int failed = kc__storage_file_check_pages(file, err);
    if (!failed)
        failed = open_env(file, err);
    if (!failed)
        failed = kc__storage_file_check(file, &empty, err);
    if (failed)
        return failed;
    return empty ? kc__storage_file_error(file, MDB_CORRUPTED, "reopen", err) : 0;
}

/* Creates an empty journal, before the layout version says that there is one. */
static int make_journal(kc__storage_file *file, kc_error *err)
{
    const int failed = kc__storage_journal_open(file, true, err);
    const int code = failed ? 0 : sync_dir(file->dir);
    return code ? kc__storage_file_error(file, code, "sync the directory of", err) : failed;
}

static int open_journal(kc__storage_file *file, kc_error *err)
{
    if (access(file->journal_path, F_OK) == 0)
        return kc__storage_journal_open(file, false, err);
    kc_log_warn(file->opts.log,
                "journal is missing; unless the store was closed, its newest changes are lost",
                kc_kv("path", file->journal_path));
    return make_journal(file, err);
}

static int make_store(kc__storage_file *file, kc_error *err)
{
    const int failed = make_journal(file, err);
    if (failed)
        return failed;
    const int code = begin_store(file);
    return code ? kc__storage_file_error(file, code, "make", err) : 0;
}

/* Opens layouts 1 and 2. Nothing goes to the journal until the migration: a program that knows only
 * the older layout would not read it. */
static int open_older(kc__storage_file *file, kc_error *err)
{
    int failed = kc__storage_file_keep_layout(file, err);
    if (!failed)
        failed = kc__storage_file_redo_recover(file, err);
    if (!failed)
        failed = make_journal(file, err);
    return failed ? failed : kc__storage_file_migrate(file, err);
}

static int open_current(kc__storage_file *file, kc_error *err)
{
    int failed = kc__storage_file_migrate(file, err);
    if (!failed)
        failed = open_journal(file, err);
    if (!failed)
        failed = kc__storage_journal_recover(file, err);
    if (failed || !file->pending.changes.n)
        return failed;
    failed = kc__storage_file_verify_records(file, err);
    if (failed)
        return failed;
    const int code = kc__storage_file_fold(file);
    return code ? kc__storage_file_error(file, code, "recover", err) : 0;
}

static int no_store(const kc__storage_file *file, kc_error *err)
{
    return kc_error_set(err, KC_NOT_FOUND, "there is no store in %s", file->dir);
}

static int find_or_make_dir(const kc__storage_file *file, kc_error *err)
{
    if (file->opts.existing && access(file->data_path, F_OK) < 0 &&
        (errno == ENOENT || errno == ENOTDIR))
        return no_store(file, err);
    return make_dir(file->dir, err);
}

static int open_in(kc__storage_file *file, kc_error *err)
{
    bool empty = false;
    int failed = find_or_make_dir(file, err);
    if (!failed)
        failed = kc__storage_file_lock(file->dir, &file->lock_fd, err);
    if (!failed)
        failed = kc__storage_file_check_pages(file, err);
    if (!failed)
        failed = open_env(file, err);
    if (!failed)
        failed = kc__storage_file_check(file, &empty, err);
    if (failed)
        return failed;
    if (empty)
        return file->opts.existing ? no_store(file, err) : make_store(file, err);
    return file->state.version < KC__LAYOUT_JOURNAL ? open_older(file, err)
                                                    : open_current(file, err);
}

int kc__storage_file_open(const kc__storage_opts *opts, kc__storage **ret_storage, kc_error *err)
{
    if (!opts || !opts->location || !*opts->location)
        return kc_error_set(err, KC_INVALID, "a file store requires a directory");
    kc__storage_file *file = file_new(opts);
    int failed = kc__storage_file_metrics_init(file, err);
    if (!failed)
        failed = open_in(file, err);
    if (failed) {
        kc__storage_file_close(&file->storage);
        return failed;
    }
    file->opened = true;
    kc__storage_file_metrics_update(file);
    *ret_storage = &file->storage;
    return 0;
}
