/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_journal.h: the format of the file backend's journal: batches of records, each batch at a
 * multiple of KC__STORAGE_JOURNAL_ALIGN. Numbers are big-endian.
 *
 *     batch    0 checksum   8 revision before the first record   16 salt (5 bytes)
 *              21 length (3 bytes)   24 records, each after its length (8 bytes)
 *
 * The checksum covers everything behind it. All batches that were written since the journal was
 * last emptied have the same salt, and each begins at the revision at which the previous one ended.
 * So bytes of an older batch, or of a value that imitates a batch, are not mistaken for the next
 * one.
 *
 * The redo log of layouts 1 and 2 is a single batch with salt 0.
 */
#ifndef KC_APISERVER_STORED_JOURNAL_H
#define KC_APISERVER_STORED_JOURNAL_H

#include "apiserver/storage/stored_record.h"

/* Alignment of batches: writing one never touches a disk block that holds another. */
#define KC__STORAGE_JOURNAL_ALIGN  ((size_t)4096)
#define KC__STORAGE_JOURNAL_HEADER ((size_t)24)
/* Bytes of the length before each record. */
#define KC__STORAGE_JOURNAL_PREFIX ((size_t)8)
#define KC__STORAGE_JOURNAL_SALT   ((UINT64_C(1) << 40) - 1)

typedef struct kc__storage_journal_batch {
    uint64_t base; /* The revision before its first record. */
    uint64_t salt;
    kc_str records;
    size_t n_records;
    size_t size; /* Of the whole batch. */
} kc__storage_journal_batch;

/* Fills the header of a batch whose records are in bytes[24, n). */
void kc__storage_journal_seal(char *bytes, size_t n, uint64_t base, uint64_t salt);

/* Decodes the batch at the beginning of `bytes`, which may be longer. Returns false if there is
 * none, or if one of its records is not what kc__storage_record_write writes. */
bool kc__storage_journal_read(kc_str bytes, kc__storage_journal_batch *ret_batch);

/* Removes the next record, of revision `revision`, from `records`. Returns false at the end. */
bool kc__storage_journal_next(kc_str *records, uint64_t revision, kc_str *ret_bytes,
                              kc__storage_record *ret_record);

static inline size_t kc__storage_journal_align(size_t n)
{
    return (n + KC__STORAGE_JOURNAL_ALIGN - 1) / KC__STORAGE_JOURNAL_ALIGN *
           KC__STORAGE_JOURNAL_ALIGN;
}

#endif
