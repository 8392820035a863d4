/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_file_redo.c: why a commit waits for the disk once and not twice.
 *
 * LMDB writes the pages of a transaction, syncs the file, and writes a header page that names the
 * new root. That page would need a sync of its own: without it (MDB_NOMETASYNC) a power cut may
 * take the last transaction back, though never more, since the next one's sync covers it. So the
 * changes are written a second time, behind the map in the same file and before that one sync, and
 * opening applies them again if the header page did not make it.
 *
 *     data.mdb    │ header │ header │ pages of the map …            │ redo 0 │ redo 1 │ end
 *
 *     a redo      0 checksum   8 revision before   16 length   24 records, each after its length
 *
 * Two places, in turns: while one batch is written, the redo of the batch before is still the only
 * proof of that one. A batch that does not fit is synced twice instead. A failed batch must not
 * come back: its redo is struck out, synced.
 *
 * The places are counted from the end of the file, which the map may not reach: when the map grows,
 * everything is synced first, and then there is nothing to be done again.
 */
#include "apiserver/storage/storage_file_internal.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AT_BASE = 8, AT_LENGTH = 16, AT_RECORDS = 24 };

/* ---- writing ---- */

void kc__redo_begin(kc__file *file)
{
    kc_buf_clear(&file->redo);
    file->redo.failed = false;
    file->redo.limit = KC__REDO_PLACE;
    file->redo.n += kc_buf_reserve(&file->redo, AT_RECORDS) ? AT_RECORDS : 0;
}

void kc__redo_add(kc__file *file, uint64_t revision, const kc__record *record)
{
    const size_t size = kc__record_size(record);
    char *out = kc_buf_reserve(&file->redo, sizeof(uint64_t) + size);
    if (!out)
        return; /* `failed` says that it does not fit. */
    kc__put_u64(out, size);
    kc__record_write(record, revision, out + sizeof(uint64_t));
    file->redo.n += sizeof(uint64_t) + size;
}

/* Where a place begins. */
static int find_place(const kc__file *file, unsigned place, int *ret_fd, off_t *ret_at)
{
    struct stat st;
    const int code = mdb_env_get_fd(file->env, ret_fd);
    if (code)
        return code;
    if (fstat(*ret_fd, &st) < 0)
        return errno;
    *ret_at = st.st_size - (off_t)((2 - place) * KC__REDO_PLACE);
    return 0;
}

static int write_at(int fd, off_t at, const char *bytes, size_t n)
{
    while (n > 0) {
        const ssize_t wrote = pwrite(fd, bytes, n, at);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return wrote < 0 ? errno : EIO;
        bytes += wrote;
        at += wrote;
        n -= (size_t)wrote;
    }
    return 0;
}

int kc__redo_write(kc__file *file)
{
    kc_buf *redo = &file->redo;
    int fd;
    off_t at;
    if (redo->failed)
        return 0;
    int code = find_place(file, file->redo_place, &fd, &at);
    if (code)
        return code;
    kc__put_u64(redo->p + AT_BASE, file->state.revision);
    kc__put_u64(redo->p + AT_LENGTH, redo->n - AT_RECORDS);
    kc__put_u64(redo->p, kc__checksum(0, redo->p + AT_BASE, redo->n - AT_BASE));
    return write_at(fd, at, redo->p, redo->n);
}

int kc__redo_end(kc__file *file)
{
    file->redo_place ^= 1;
    return file->redo.failed ? mdb_env_sync(file->env, 1) : 0;
}

int kc__redo_strike_out(kc__file *file)
{
    static const char nothing[AT_RECORDS];
    int fd;
    off_t at;
    if (file->redo.failed)
        return 0; /* None was written. */
    int code = find_place(file, file->redo_place, &fd, &at);
    if (!code)
        code = write_at(fd, at, nothing, sizeof(nothing));
    if (!code && fdatasync(fd) < 0)
        code = errno;
    return code;
}

/* ---- doing again ---- */

/* Reads a place into file->redo. False when there is no redo of the present revision. */
static bool read_place(kc__file *file, unsigned place)
{
    int fd;
    off_t at;
    kc_buf *redo = &file->redo;
    kc__redo_begin(file);
    if (find_place(file, place, &fd, &at) || at < 0 ||
        pread(fd, redo->p, AT_RECORDS, at) != AT_RECORDS)
        return false;
    const uint64_t length = kc__get_u64(redo->p + AT_LENGTH);
    if (kc__get_u64(redo->p + AT_BASE) != file->state.revision || length == 0 ||
        length > KC__REDO_PLACE - AT_RECORDS || !kc_buf_reserve(redo, length))
        return false;
    if (pread(fd, redo->p + AT_RECORDS, length, at + AT_RECORDS) != (ssize_t)length)
        return false;
    redo->n = AT_RECORDS + length;
    return kc__get_u64(redo->p) == kc__checksum(0, redo->p + AT_BASE, redo->n - AT_BASE);
}

/* Runs the operations of the records in `bytes`. */
static int do_again(kc__file *file, kc_str bytes, kc_error *err)
{
    KC_VEC(kc_storage_op) ops = {0};
    KC_VEC(kc_storage_result) results = {0};
    uint64_t revision = file->state.revision;
    kc__record record;
    while (bytes.n >= sizeof(uint64_t)) {
        const size_t end = sizeof(uint64_t) + kc__get_u64(bytes.p);
        if (!kc__record_read(kc_str_sub(bytes, sizeof(uint64_t), end), ++revision, &record))
            break; /* Not what we wrote, though its checksum says so. */
        kc_vec_push(&ops, (kc_storage_op){record.verb, record.key, KC_STORAGE_ANY, record.value});
        bytes = kc_str_sub(bytes, end, bytes.n);
    }
    kc_vec_reserve(&results, ops.n);
    const int failed =
        bytes.n ? kc__file_error(file, MDB_CORRUPTED, "read", err)
                : kc__file_commit(&file->storage, ops.items, ops.n, results.items, NULL, err);
    kc_vec_done(&ops);
    kc_vec_done(&results);
    return failed;
}

static int ignore_entry(const kc_storage_entry *entry, void *user)
{
    (void)entry, (void)user;
    return 0;
}

static int ignore_event(const kc_storage_event *event, void *user)
{
    (void)event, (void)user;
    return 0;
}

/* Reads everything there is: nothing is written to a file that will be refused. */
static int look_through(kc__file *file, kc_error *err)
{
    kc_storage_state state;
    int failed = kc__file_load(&file->storage, ignore_entry, NULL, &state, err);
    if (!failed)
        failed = kc__file_history(&file->storage, state.compacted, ignore_event, NULL, err);
    return failed;
}

/* Only one can be needed: when a batch was promised, the header page of the one before is safe. */
int kc__redo_recover(kc__file *file, kc_error *err)
{
    for (unsigned place = 0; place < 2; place++) {
        if (!read_place(file, place))
            continue;
        kc_scoped(kc_buf) redo = file->redo; /* The commit makes another, in the other place. */
        file->redo = (kc_buf){0};
        file->redo_place = place ^ 1;
        const int failed = look_through(file, err);
        if (failed)
            return failed;
        return do_again(file, kc_str_sub(kc_buf_str(&redo), AT_RECORDS, redo.n), err);
    }
    return 0;
}
