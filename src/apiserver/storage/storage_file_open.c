/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_file_open.c: from a folder to an open store: make the folder, take its lock, let LMDB
 * open its file, see whether it is ours (storage_file_check.c), make the databases in a new one.
 *
 *     FOLDER/data.mdb   everything, LMDB's       FOLDER/lock.mdb   LMDB's table of readers
 *     FOLDER/owner      our lock and our process id
 *
 * A crash at any point of the first start leaves a folder that the next start completes.
 */
#include "apiserver/storage/storage_file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define HISTORY_AGE   (5 * KC_MINUTE)
#define HISTORY_BYTES (UINT64_C(256) << 20)
#define FIRST_BYTES   (UINT64_C(16) << 20)
#define MAP_UNIT      (UINT64_C(64) << 10) /* A multiple of every page size. */
#define MAX_READERS   1024

static kc__file *file_new(const kc_storage_opts *opts)
{
    kc__file *file = kc_new(kc__file);
    file->storage.backend = &kc_storage_file;
    file->opts = *opts;
    kc_storage_opts *o = &file->opts;
    o->clock = o->clock ? o->clock : kc_clock_real();
    o->history_age = o->history_age ? o->history_age : HISTORY_AGE;
    o->history_bytes = o->history_bytes ? o->history_bytes : HISTORY_BYTES;
    o->first_bytes = o->first_bytes ? o->first_bytes : FIRST_BYTES;
    o->first_bytes = (o->first_bytes + MAP_UNIT - 1) / MAP_UNIT * MAP_UNIT;
    o->max_bytes = (o->max_bytes + MAP_UNIT - 1) / MAP_UNIT * MAP_UNIT;
    if (o->max_bytes)
        o->first_bytes = KC_MIN(o->first_bytes, o->max_bytes);
    file->folder = kc_strdup(opts->location);
    file->data_path = kc_asprintf("%s/data.mdb", opts->location);
    o->location = file->folder;
    file->lock_fd = -1;
    kc_mutex_init(&file->gate);
    kc_cond_init(&file->gate_moved);
    return file;
}

void kc__file_close(kc_storage *storage)
{
    kc__file *file = kc__file_of(storage);
    if (file->env) {
        mdb_env_sync(file->env,
                     1); /* Not needed; it saves the next start from doing things again. */
        mdb_env_close(file->env);
    }
    if (file->lock_fd >= 0)
        close(file->lock_fd); /* After LMDB has let go. */
    kc_vec_done(&file->results);
    kc_buf_done(&file->redo);
    kc_cond_done(&file->gate_moved);
    kc_mutex_done(&file->gate);
    free(file->folder);
    free(file->data_path);
    free(file);
}

static int make_folder(const char *folder, kc_error *err)
{
    struct stat st;
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return kc_error_set(err, KC_INTERNAL, "cannot make the folder %s: %s", folder,
                            strerror(errno));
    if (stat(folder, &st) < 0)
        return kc_error_set(err, KC_INTERNAL, "cannot look at %s: %s", folder, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return kc_error_set(err, KC_INVALID, "%s is not a folder", folder);
    return 0;
}

static int sync_folder(const char *folder)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    const int code = fsync(fd) < 0 ? errno : 0;
    close(fd);
    return code;
}

static int open_env(kc__file *file, kc_error *err)
{
    struct stat st;
    int code = mdb_env_create(&file->env);
    if (!code)
        code = mdb_env_set_maxdbs(file->env, 3);
    if (!code)
        code = mdb_env_set_maxreaders(file->env, MAX_READERS);
    /* A file that exists names the size of its map itself. */
    if (!code && (stat(file->data_path, &st) < 0 || st.st_size == 0))
        code = mdb_env_set_mapsize(file->env, file->opts.first_bytes);
    if (!code)
        code = mdb_env_open(file->env, file->folder, MDB_NOTLS | MDB_NOMETASYNC, 0600);
    if (code == MDB_INVALID || code == MDB_VERSION_MISMATCH)
        return kc_error_set(err, KC_INVALID,
                            "%s is not a store of this program, or is damaged (%s); it was left as "
                            "it is",
                            file->data_path, mdb_strerror(code));
    return code ? kc__file_error(file, code, "open", err) : 0;
}

static int make_databases(kc__file *file, MDB_txn *txn)
{
    file->state = (kc__state){
        .version = KC__LAYOUT_VERSION, .revision = KC_STORAGE_FIRST, .compacted = KC_STORAGE_FIRST};
    int code = mdb_dbi_open(txn, "state", MDB_CREATE, &file->state_db);
    if (!code)
        code = mdb_dbi_open(txn, "index", MDB_CREATE | MDB_DUPSORT, &file->index_db);
    if (!code)
        code = mdb_dbi_open(txn, "log", MDB_CREATE, &file->log_db);
    return code ? code : kc__log_put_state(file, txn, &file->state);
}

/* Fills an empty file. */
static int begin_store(kc__file *file)
{
    MDB_envinfo info;
    MDB_txn *txn;
    int code = mdb_env_info(file->env, &info);
    if (!code)
        code = kc__file_stretch(file, info.me_mapsize);
    if (!code)
        code = mdb_txn_begin(file->env, NULL, 0, &txn);
    if (code)
        return code;
    code = make_databases(file, txn);
    if (code)
        mdb_txn_abort(txn);
    else
        code = mdb_txn_commit(txn);
    if (!code)
        code = mdb_env_sync(file->env, 1);
    return code ? code : sync_folder(file->folder);
}

/* Behind the map of a file that was made without. One that has it keeps its length. */
static int make_room_for_redo(kc__file *file)
{
    MDB_envinfo info;
    const int code = mdb_env_info(file->env, &info);
    return code ? code : kc__file_stretch(file, info.me_mapsize);
}

static int open_in(kc__file *file, kc_error *err)
{
    bool empty = false;
    int failed = make_folder(file->folder, err);
    if (!failed)
        failed = kc__file_lock(file->folder, &file->lock_fd, err);
    if (!failed)
        failed = kc__file_check_pages(file, err);
    if (!failed)
        failed = open_env(file, err);
    if (!failed)
        failed = kc__file_check(file, &empty, err);
    if (failed)
        return failed;
    const int code = empty ? begin_store(file) : make_room_for_redo(file);
    if (code)
        return kc__file_error(file, code, empty ? "make" : "open", err);
    return empty ? 0 : kc__redo_recover(file, err);
}

int kc__file_open(const kc_storage_opts *opts, kc_storage **ret_storage, kc_error *err)
{
    if (!opts || !opts->location || !*opts->location)
        return kc_error_set(err, KC_INVALID, "a file store needs the name of a folder");
    kc__file *file = file_new(opts);
    const int failed = open_in(file, err);
    if (failed) {
        kc__file_close(&file->storage);
        return failed;
    }
    *ret_storage = &file->storage;
    return 0;
}
