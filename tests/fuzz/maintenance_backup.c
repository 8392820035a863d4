/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes are refused as a backup, or are one. Read as entries alone, which no digest protects,
 * they are refused, or entries that are written back as the same bytes, with keys in order.
 */
#include "fuzzing.h"

#include "apiserver/maintenance/backup.h"

static void check_backup(FILE *in)
{
    kc_scoped(kc_error) err = {0};
    kc__maintenance_backup_header header = {0};
    if (kc__maintenance_backup_read(in, NULL, NULL, &header, &err) < 0)
        assert(err.reason == KC_INVALID || err.reason == KC_BAD_REQUEST);
    else
        assert(header.revision >= KC__STORAGE_FIRST && header.encrypted <= header.entries);
}

static void check_entries(FILE *in, kc_str bytes)
{
    kc_scoped(kc__maintenance_entry_reader) reader = {.in = in};
    kc_scoped(kc_buf) last = {0};
    kc__storage_entry entry;
    size_t at = 0;
    while (kc__maintenance_entry_read(&reader, &entry, NULL) == 0 && entry.key.n) {
        const kc_str again = kc_buf_str(&reader.bytes);
        assert(kc_str_eq(again, kc_str_sub(bytes, at, at + again.n)));
        assert(entry.key.n <= KC__STORAGE_MAX_KEY && entry.value.n <= KC__STORAGE_MAX_VALUE);
        assert(!last.n || kc_str_cmp(entry.key, kc_buf_str(&last)) > 0);
        kc_buf_clear(&last);
        kc_buf_append(&last, entry.key);
        at += again.n;
    }
    assert(at <= bytes.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *in = size ? fmemopen((void *)data, size, "r") : NULL;
    if (!in)
        return 0;
    check_backup(in);
    rewind(in);
    check_entries(in, kc_str_of((const char *)data, size));
    fclose(in);
    return 0;
}
