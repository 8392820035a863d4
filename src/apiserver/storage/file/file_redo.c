/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_redo.c: the redo log of layouts 1 and 2, which had no journal.
 *
 * Those layouts wrote every batch to LMDB at once and did not sync LMDB's header page. A copy of
 * the batch, the redo, was stored behind the map in the same file, alternating between two places:
 *
 *     data.mdb    │ header │ header │ pages of the map …            │ redo 0 │ redo 1 │ end
 *
 * When a store of these layouts is opened and a power cut lost the header page of its last batch,
 * the batch is applied from its redo: the one that begins at the revision of the store. Only one
 * can be needed. No current code writes a redo.
 */
#include "apiserver/storage/file/file_internal.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define REDO_PLACE ((size_t)1 << 20)

/* Reads one of the two places. Returns false if it holds no redo of the current revision. */
static bool read_place(const kc__storage_file *file, unsigned place, kc_buf *bytes,
                       kc__storage_journal_batch *ret_batch)
{
    int fd;
    struct stat st;
    kc_buf_clear(bytes);
    if (mdb_env_get_fd(file->env, &fd) || fstat(fd, &st) < 0)
        return false;
    const off_t at = st.st_size - (off_t)((2 - place) * REDO_PLACE);
    const ssize_t n = at < 0 ? -1 : pread(fd, kc_buf_reserve(bytes, REDO_PLACE), REDO_PLACE, at);
    if (n <= 0)
        return false;
    bytes->n = (size_t)n;
    return kc__storage_journal_read(kc_buf_str(bytes), ret_batch) && ret_batch->salt == 0 &&
           ret_batch->base == file->folded.revision;
}

static int apply_redo(kc__storage_file *file, kc_str bytes, kc_error *err)
{
    kc__storage_journal_batch batch;
    kc_str one;
    kc__storage_record record;
    int failed = kc__storage_file_verify_records(file, err);
    if (failed)
        return failed;
    if (!kc__storage_pending_load(&file->pending, bytes))
        return kc__storage_file_error(file, ENOMEM, "recover", err);
    if (!kc__storage_journal_read(kc_str_of(file->pending.image, bytes.n), &batch))
        return kc__storage_file_error(file, MDB_CORRUPTED, "recover", err);
    for (uint64_t r = batch.base + 1; kc__storage_journal_next(&batch.records, r, &one, &record);
         r++) {
        kc__storage_pending_found(&file->pending, one, &record);
        file->state.revision = r;
        file->state.history_bytes += one.n;
    }
    const int code = kc__storage_file_fold(file);
    return code ? kc__storage_file_error(file, code, "recover", err) : 0;
}

int kc__storage_file_redo_recover(kc__storage_file *file, kc_error *err)
{
    kc_scoped(kc_buf) bytes = {0};
    kc__storage_journal_batch batch;
    for (unsigned place = 0; place < 2; place++)
        if (read_place(file, place, &bytes, &batch))
            return apply_redo(file, kc_str_sub(kc_buf_str(&bytes), 0, batch.size), err);
    return 0;
}
