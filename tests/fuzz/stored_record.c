/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes are refused or are a record, a state or a batch of the journal that is written back as
 * the same bytes. Checksums would stop the fuzzer, so the bytes are read without them and sealed.
 */
#include "fuzzing.h"

#include "apiserver/storage/stored_journal.h"

#define REVISION UINT64_C(1000)

static void check_record(kc_str bytes)
{
    kc__storage_record record;
    if (!kc__storage_record_read(bytes, REVISION, &record))
        return;
    assert(kc__storage_record_size(&record) == bytes.n);
    kc_autofree char *again = kc_alloc(bytes.n);
    kc__storage_record_write(&record, REVISION, again);
    assert(memcmp(again, bytes.p, bytes.n) == 0);
    assert(!kc__storage_record_read(bytes, REVISION + 1, &record));
}

static void check_state(kc_str bytes)
{
    kc__storage_file_state state;
    if (!kc__storage_file_state_read(bytes, &state) || state.version != KC__STORAGE_LAYOUT_VERSION)
        return;
    char again[KC__STORAGE_FILE_STATE_SIZE];
    kc__storage_file_state_write(&state, again);
    assert(bytes.n == sizeof(again) && memcmp(again, bytes.p, bytes.n) == 0);
}

/* Each record is inside of the batch, and sealing it again gives the same bytes. */
static void check_batch(kc_str bytes)
{
    kc__storage_journal_batch batch;
    if (!kc__storage_journal_read(bytes, &batch))
        return;
    assert(batch.size <= bytes.n && batch.n_records > 0);
    kc_str rest = batch.records, one;
    kc__storage_record record;
    size_t n = 0;
    while (kc__storage_journal_next(&rest, batch.base + 1 + n, &one, &record))
        n++;
    assert(n == batch.n_records && rest.n == 0);
    kc_autofree char *again = kc_str_dup(kc_str_sub(bytes, 0, batch.size));
    kc__storage_journal_seal(again, batch.size, batch.base, batch.salt);
    assert(memcmp(again, bytes.p, batch.size) == 0);
}

/* As one record of a batch, and as all of its records. */
static void check_sealed_batches(kc_str bytes)
{
    const size_t head = KC__STORAGE_JOURNAL_HEADER + KC__STORAGE_JOURNAL_PREFIX;
    kc_autofree char *out = kc_calloc(1, head + bytes.n + 1);
    memcpy(out + head, bytes.p, bytes.n);
    kc__storage_put_u64(out + KC__STORAGE_JOURNAL_HEADER, bytes.n);
    if (bytes.n >= 27)
        kc__storage_record_seal(out + head, bytes.n, REVISION);
    kc__storage_journal_seal(out, head + bytes.n, REVISION - 1, 7);
    check_batch(kc_str_of(out, head + bytes.n));
    memcpy(out + KC__STORAGE_JOURNAL_HEADER, bytes.p, bytes.n);
    kc__storage_journal_seal(out, KC__STORAGE_JOURNAL_HEADER + bytes.n, REVISION - 1, 7);
    check_batch(kc_str_of(out, KC__STORAGE_JOURNAL_HEADER + bytes.n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const kc_str bytes = kc_str_of((const char *)data, size);
    check_record(bytes);
    check_state(bytes);
    check_batch(bytes);
    if (size > 0 && size < 1 << 20)
        check_sealed_batches(bytes);
    if (size >= 27) {
        kc_autofree char *sealed = kc_str_dup(bytes);
        kc__storage_record_seal(sealed, size, REVISION);
        check_record(kc_str_of(sealed, size));
    }
    return 0;
}
