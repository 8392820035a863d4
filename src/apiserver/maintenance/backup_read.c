/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backup_read.c: reads a backup file and verifies it. The digest can be compared only at the end,
 * so a caller that must not act on a damaged file reads it twice (restore.c).
 */
#include "apiserver/maintenance/backup.h"

#include <sodium.h>

typedef struct backup_reading {
    kc__maintenance_entry_reader entries;
    crypto_hash_sha256_state digest;
    char header[KC__MAINTENANCE_BACKUP_HEADER];
} backup_reading;

static void backup_reading_done(backup_reading *r)
{
    kc__maintenance_entry_reader_done(&r->entries);
}

static int backup_truncated(kc_error *err)
{
    return kc_error_set(err, KC_INVALID, "the backup is truncated");
}

/* Negative, or what `each` returned. */
static int read_one(backup_reading *r, kc__storage_entry_fn *each, void *user, kc_error *err)
{
    kc__storage_entry entry;
    if (kc__maintenance_entry_read(&r->entries, &entry, err) < 0)
        return kc_error_result(err);
    if (!entry.key.n)
        return kc_error_set(err, KC_INVALID, "entry %llu of the backup is damaged: it has no key",
                            (unsigned long long)r->entries.entries);
    crypto_hash_sha256_update(&r->digest, (const unsigned char *)r->entries.bytes.p,
                              r->entries.bytes.n);
    return each ? each(&entry, user) : 0;
}

static int compare_digest(backup_reading *r, FILE *in, kc_error *err)
{
    unsigned char stored[KC__MAINTENANCE_BACKUP_DIGEST], digest[KC__MAINTENANCE_BACKUP_DIGEST];
    crypto_hash_sha256_update(&r->digest, (const unsigned char *)r->header, sizeof(r->header));
    crypto_hash_sha256_final(&r->digest, digest);
    if (fread(stored, 1, sizeof(stored), in) != sizeof(stored))
        return backup_truncated(err);
    if (memcmp(stored, digest, sizeof(digest)) != 0)
        return kc_error_set(err, KC_INVALID, "the backup is damaged: its checksum does not match");
    if (getc(in) != EOF)
        return kc_error_set(err, KC_INVALID, "the backup is damaged: bytes follow its end");
    return 0;
}

int kc__maintenance_backup_read(FILE *in, kc__storage_entry_fn *each, void *user,
                                kc__maintenance_backup_header *ret_header, kc_error *err)
{
    kc_scoped(backup_reading) r = {.entries.in = in};
    kc__maintenance_backup_header header;
    crypto_hash_sha256_init(&r.digest);
    const size_t got = fread(r.header, 1, sizeof(r.header), in);
    if (got < sizeof(r.header))
        return got < sizeof(r.header) / 2
                   ? kc_error_set(err, KC_INVALID, "the file is not a backup: it is too short")
                   : backup_truncated(err);
    if (kc__maintenance_backup_header_read(r.header, &header, err) < 0)
        return kc_error_result(err);
    for (uint64_t i = 0; i < header.entries; i++) {
        const int stopped = read_one(&r, each, user, err);
        if (stopped)
            return stopped;
    }
    const int failed = compare_digest(&r, in, err);
    if (!failed)
        *ret_header = header;
    return failed;
}
