/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_journal.c: the journal: a small commit writes one disk block instead of twenty.
 *
 * LMDB copies every page on the path to a change: the leaf and its parents in three trees, the list
 * of free pages, a header page. For one small object that is about 80 KB. So a commit appends its
 * batch to the file `journal` and syncs it, and LMDB gets the changes later, many in one
 * transaction (file_fold.c): together with the batch that finds the journal full, and when the
 * store is compacted or closed.
 *
 *     journal    │ batch │ pad │ batch │ pad │ …  zeros, or remains of batches that were folded
 *
 * A batch begins at a multiple of 4 KiB, so writing one never rewrites a block that holds an
 * acknowledged batch. After a fold the next batch is written at the beginning again. Opening reads
 * the batches in order, as long as each begins at the revision where the previous one ended, and
 * takes the records above LMDB's revision (stored_journal.h).
 *
 * The sequence ends at a batch that was never acknowledged, or at damage. No newer batch follows an
 * unacknowledged one; so if a newer batch follows, the store is refused as damaged.
 *
 * A large batch, and any batch while the disk is full, goes directly to LMDB: its space there is
 * then checked before it is acknowledged (file_reserve.c).
 *
 * A failed write leaves an invalid batch, and the next one overwrites it. After a failed sync
 * nothing is known (Linux silently drops the pages that it could not write from its cache), and
 * file_recover.c reads the disk again.
 */
#include "apiserver/storage/file/file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file is extended in steps of this size. */
#define STEP ((size_t)128 << 10)
/* A fold must succeed when the disk has become full: the journal holds at most this fraction of the
 * reserve. */
#define PART_OF_RESERVE 4

static int journal_error(const kc__storage_file *file, int code, const char *what, kc_error *err)
{
    return kc_error_set(err, code == ENOSPC ? KC_SERVICE_UNAVAILABLE : KC_INTERNAL,
                        "cannot %s %s: %s", what, file->journal_path, strerror(code));
}

/* ---- opening ---- */

int kc__storage_journal_open(kc__storage_file *file, bool fresh, kc_error *err)
{
    struct stat st;
    const int fd = open(file->journal_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return journal_error(file, errno, "open", err);
    file->journal.fd = fd;
    if ((fresh && ftruncate(fd, 0) < 0) || fstat(fd, &st) < 0 || (fresh && fsync(fd) < 0))
        return journal_error(file, errno, "make", err);
    file->journal.size = KC_MIN((size_t)st.st_size, KC__STORAGE_JOURNAL_READ);
    return 0;
}

void kc__storage_journal_close(kc__storage_file *file)
{
    if (file->journal.fd >= 0)
        close(file->journal.fd);
    file->journal.fd = -1;
}

/* ---- writing ---- */

static size_t journal_limit(const kc__storage_file *file)
{
    return KC_MIN(file->own.journal_bytes, file->reserve / PART_OF_RESERVE);
}

bool kc__storage_journal_takes(const kc__storage_file *file, size_t bytes)
{
    return file->journal.fd >= 0 && !file->pressed && bytes <= KC__STORAGE_JOURNAL_BATCH &&
           bytes <= journal_limit(file);
}

bool kc__storage_journal_has_room(const kc__storage_file *file, size_t bytes)
{
    return file->pending.end + bytes <= journal_limit(file);
}

/*
 * Writes whole blocks, one by one. Linux keeps what one call writes in one large folio of its
 * cache, and counts the whole folio as dirty when a later commit changes one block of it.
 */
static int write_blocks(int fd, const char *bytes, size_t n, size_t at)
{
    for (size_t done = 0; done < n;) {
        const size_t block = KC__STORAGE_JOURNAL_ALIGN - done % KC__STORAGE_JOURNAL_ALIGN;
        const ssize_t wrote = pwrite(fd, bytes + done, block, (off_t)(at + done));
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return wrote < 0 ? errno : EIO;
        done += (size_t)wrote;
    }
    return 0;
}

/* Allocates blocks in advance: the sync of a batch is then faster. */
static int make_blocks(kc__storage_journal *journal, size_t end)
{
    static const char zeros[STEP];
    while (journal->size < end) {
        const int code = write_blocks(journal->fd, zeros, sizeof(zeros), journal->size);
        if (code)
            return code;
        journal->size += sizeof(zeros);
    }
    return 0;
}

/* Tries to invalidate an unacknowledged batch at `at`, so that it is not recovered. */
static void strike_out(const kc__storage_journal *journal, size_t at)
{
    static const char nothing[KC__STORAGE_JOURNAL_ALIGN];
    (void)write_blocks(journal->fd, nothing, sizeof(nothing), at);
}

static uint64_t draw_salt(const kc__storage_file *file)
{
    char base[sizeof(uint64_t)];
    kc__storage_put_u64(base, file->state.revision);
    return kc__storage_checksum((uint64_t)kc_clock_wall(file->opts.clock), base, sizeof(base)) &
           KC__STORAGE_JOURNAL_SALT;
}

int kc__storage_journal_append(kc__storage_file *file)
{
    kc__storage_journal *journal = &file->journal;
    kc__storage_pending *pending = &file->pending;
    char *bytes = pending->image + pending->end;
    const size_t n = pending->at - pending->end, padded = kc__storage_journal_align(n);
    if (pending->end == 0)
        journal->salt = draw_salt(file);
    kc__storage_journal_seal(bytes, n, file->folded.revision + pending->batch, journal->salt);
    memset(bytes + n, 0, padded - n);
    int code = make_blocks(journal, pending->end + padded);
    if (!code)
        code = write_blocks(journal->fd, bytes, padded, pending->end);
    if (code)
        return code;
    if (fdatasync(journal->fd) == 0)
        return 0;
    strike_out(journal, pending->end);
    file->unknown = true;
    return MDB_PANIC;
}

void kc__storage_journal_strike_out(kc__storage_file *file)
{
    if (file->journal.fd >= 0 && file->journal.size > 0)
        strike_out(&file->journal, 0);
}

/* ---- reading ---- */

static int read_image(const kc__storage_file *file, kc_buf *image)
{
    const size_t n = file->journal.size;
    char *out = kc_buf_reserve(image, n);
    for (ssize_t got = 1; got > 0 && image->n < n; image->n += (size_t)got) {
        got = pread(file->journal.fd, out + image->n, n - image->n, (off_t)image->n);
        if (got < 0)
            return errno;
    }
    /* The file was read in large pieces: see write_blocks. */
    (void)posix_fadvise(file->journal.fd, 0, 0, POSIX_FADV_DONTNEED);
    return 0;
}

/* The sequence of valid batches at the beginning of the journal. */
typedef struct journal_run {
    size_t end;        /* Offset behind the last batch. */
    uint64_t revision; /* Revision after the last batch; 0: there is none. */
    uint64_t first;    /* Revision before the first batch. */
    uint64_t salt;
} journal_run;

static journal_run find_run(kc_str image)
{
    journal_run run = {0};
    kc__storage_journal_batch batch;
    while (kc__storage_journal_read(kc_str_sub(image, run.end, image.n), &batch)) {
        if (run.revision && (batch.base != run.revision || batch.salt != run.salt))
            break;
        if (!run.revision)
            run = (journal_run){.first = batch.base, .salt = batch.salt};
        run.revision = batch.base + batch.n_records;
        run.end = KC_MIN(run.end + kc__storage_journal_align(batch.size), image.n);
    }
    return run;
}

/* Whether a batch that belongs behind the sequence exists although the sequence ended before it. */
static bool has_gap(kc_str image, const journal_run *run, uint64_t revision)
{
    const uint64_t newest = KC_MAX(run->revision, revision);
    kc__storage_journal_batch batch;
    for (size_t at = run->end; at < image.n; at += KC__STORAGE_JOURNAL_ALIGN)
        if (kc__storage_journal_read(kc_str_sub(image, at, image.n), &batch) &&
            (!run->revision || batch.salt == run->salt) && batch.base + batch.n_records > newest)
            return true;
    return false;
}

/* Takes the records of the sequence that LMDB does not hold. */
static void take_run(kc__storage_file *file, const journal_run *run)
{
    kc__storage_pending *pending = &file->pending;
    kc__storage_journal_batch batch;
    for (size_t at = 0; at < run->end;) {
        const kc_str rest = kc_str_of(pending->image + at, run->end - at);
        if (!kc__storage_journal_read(rest, &batch))
            break;
        kc_str one;
        kc__storage_record record;
        for (uint64_t r = batch.base + 1;
             kc__storage_journal_next(&batch.records, r, &one, &record); r++)
            if (r > file->folded.revision) {
                kc__storage_pending_found(pending, one, &record);
                file->state.revision = r;
                file->state.history_bytes += one.n;
            }
        at += kc__storage_journal_align(batch.size);
    }
}

int kc__storage_journal_recover(kc__storage_file *file, kc_error *err)
{
    kc_scoped(kc_buf) image = {0};
    const int code = read_image(file, &image);
    if (code)
        return journal_error(file, code, "read", err);
    const kc_str bytes = kc_buf_str(&image);
    const journal_run run = find_run(bytes);
    const uint64_t revision = file->folded.revision;
    if (has_gap(bytes, &run, revision))
        return kc_error_set(err, KC_STORE_READ_ERROR, "cannot read %s: the file is damaged",
                            file->journal_path);
    if (run.first > revision)
        return kc_error_set(
            err, KC_STORE_READ_ERROR,
            "%s continues a store at revision %llu, and %s is at %llu: one of them was replaced; "
            "neither was modified",
            file->journal_path, (unsigned long long)run.first, file->data_path,
            (unsigned long long)revision);
    if (run.revision <= revision)
        return 0;
    if (!kc__storage_pending_load(&file->pending, kc_str_sub(bytes, 0, run.end)))
        return journal_error(file, ENOMEM, "read", err);
    file->journal.salt = run.salt;
    take_run(file, &run);
    return 0;
}
