/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backup_format.h: the format of a backup: all keys of a store at one revision, whatever its
 * backend. Numbers are big-endian.
 *
 *     header   0 "KCBACKUP"   8 format   12 key layout   16 revision   24 entries   32 encrypted
 *              40 wall time, nanoseconds since 1970
 *     entry    0 length of the key   4 length of the value   8 revision   16 key, value
 *     entry    …                       keys ascend
 *     end      SHA-256 of all entries, followed by the header
 *
 * The digest ends with the header because the number of entries is known last: a writer that cannot
 * know it writes the header again. The same entries go over the socket of a running server
 * (backup_socket.h). Values are as they are stored: encrypted ones stay encrypted.
 */
#ifndef KC_APISERVER_MAINTENANCE_BACKUP_FORMAT_H
#define KC_APISERVER_MAINTENANCE_BACKUP_FORMAT_H

#include "apiserver/storage/storage.h"

#include <stdio.h>

#define KC__MAINTENANCE_BACKUP_FORMAT 1
#define KC__MAINTENANCE_BACKUP_HEADER 48
#define KC__MAINTENANCE_BACKUP_DIGEST 32

typedef struct kc__maintenance_backup_header {
    uint64_t revision; /* Of the store. */
    uint64_t entries, encrypted;
    int64_t wall;
} kc__maintenance_backup_header;

void kc__maintenance_backup_header_write(const kc__maintenance_backup_header *header,
                                         char out[KC__MAINTENANCE_BACKUP_HEADER]);
/* KC_INVALID for bytes that are no header, or that of a newer format or layout. */
int kc__maintenance_backup_header_read(const char bytes[KC__MAINTENANCE_BACKUP_HEADER],
                                       kc__maintenance_backup_header *ret, kc_error *err);

/* Appends an entry. */
void kc__maintenance_entry_write(kc_buf *out, const kc__storage_entry *entry);

/* Where an entry stands among others; zero at the beginning. */
typedef struct kc__maintenance_entry_reader {
    FILE *in;         /* Borrowed. */
    uint64_t entries; /* Read so far. */
    kc_buf key, previous, value;
    kc_buf bytes; /* The entry as it was read. */
} kc__maintenance_entry_reader;

void kc__maintenance_entry_reader_done(kc__maintenance_entry_reader *reader);
/* Reads the next entry, which is valid until the next call. An entry without a key is the end of a
 * stream (backup_socket.h); a backup has none. KC_INVALID for a truncated entry, an invalid key or
 * value, or keys that do not ascend. */
int kc__maintenance_entry_read(kc__maintenance_entry_reader *reader, kc__storage_entry *ret,
                               kc_error *err);

#endif
