/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_journal.c: encodes and decodes batches of the journal; see the picture in
 * stored_journal.h.
 *
 * Decoding trusts no input, as in stored_record.c. A power cut leaves a partial last batch, whose
 * checksum then fails. Pure functions; tests/fuzz/stored_record.c decodes arbitrary bytes.
 */
#include "apiserver/storage/stored_journal.h"

enum { AT_BASE = 8, AT_LENGTH = 16 };

#define LENGTH_BITS 24
#define LENGTH_MASK ((UINT64_C(1) << LENGTH_BITS) - 1)

static uint64_t checksum_of(const char *bytes, size_t n)
{
    return kc__storage_checksum(0, bytes + AT_BASE, n - AT_BASE);
}

void kc__storage_journal_seal(char *bytes, size_t n, uint64_t base, uint64_t salt)
{
    kc__storage_put_u64(bytes + AT_BASE, base);
    kc__storage_put_u64(bytes + AT_LENGTH, (salt & KC__STORAGE_JOURNAL_SALT) << LENGTH_BITS |
                                               (n - KC__STORAGE_JOURNAL_HEADER));
    kc__storage_put_u64(bytes, checksum_of(bytes, n));
}

bool kc__storage_journal_next(kc_str *records, uint64_t revision, kc_str *ret_bytes,
                              kc__storage_record *ret_record)
{
    if (records->n <= KC__STORAGE_JOURNAL_PREFIX)
        return false;
    const uint64_t size = kc__storage_get_u64(records->p);
    if (size > records->n - KC__STORAGE_JOURNAL_PREFIX)
        return false;
    const size_t end = KC__STORAGE_JOURNAL_PREFIX + (size_t)size;
    *ret_bytes = kc_str_sub(*records, KC__STORAGE_JOURNAL_PREFIX, end);
    if (!kc__storage_record_read(*ret_bytes, revision, ret_record))
        return false;
    *records = kc_str_sub(*records, end, records->n);
    return true;
}

bool kc__storage_journal_read(kc_str bytes, kc__storage_journal_batch *ret_batch)
{
    if (bytes.n < KC__STORAGE_JOURNAL_HEADER)
        return false;
    const uint64_t word = kc__storage_get_u64(bytes.p + AT_LENGTH);
    kc__storage_journal_batch batch = {
        .base = kc__storage_get_u64(bytes.p + AT_BASE),
        .salt = word >> LENGTH_BITS,
        .size = KC__STORAGE_JOURNAL_HEADER + (size_t)(word & LENGTH_MASK),
    };
    if (batch.size == KC__STORAGE_JOURNAL_HEADER || batch.size > bytes.n ||
        batch.base < KC__STORAGE_FIRST ||
        kc__storage_get_u64(bytes.p) != checksum_of(bytes.p, batch.size))
        return false;
    batch.records = kc_str_sub(bytes, KC__STORAGE_JOURNAL_HEADER, batch.size);
    kc_str rest = batch.records, one;
    kc__storage_record record;
    while (kc__storage_journal_next(&rest, batch.base + 1 + batch.n_records, &one, &record))
        batch.n_records++;
    if (rest.n)
        return false;
    *ret_batch = batch;
    return true;
}
