/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backup_format.c: encodes and decodes the parts of a backup.
 *
 * Decoding trusts no input: a file may be truncated, damaged, or no backup at all. No more memory
 * is allocated than a key and a value may have (tests/fuzz/maintenance_backup.c).
 *
 * To change the format: raise KC__MAINTENANCE_BACKUP_FORMAT, and read the older one, too. To change
 * the layout of keys: raise KEY_LAYOUT, and rename the keys of older backups in restore.c.
 */
#include "apiserver/maintenance/backup_format.h"

#include "apiserver/storage/stored_record.h"

#include <errno.h>

/* The layout of keys (docs/internals/storage.md, layout 2 of the file backend). */
#define KEY_LAYOUT KC__LAYOUT_KEYS

enum { AT_FORMAT = 8, AT_LAYOUT = 12, AT_REVISION = 16, AT_ENTRIES = 24, AT_ENCRYPTED = 32 };
enum { AT_WALL_TIME = 40, AT_VALUE_LENGTH = 4, AT_ENTRY_REVISION = 8, ENTRY_HEAD = 16 };

static const char magic[8] = {'K', 'C', 'B', 'A', 'C', 'K', 'U', 'P'};

static void put_u32(char *out, uint32_t number)
{
    number = __builtin_bswap32(number);
    memcpy(out, &number, sizeof(number));
}

static uint32_t get_u32(const char *bytes)
{
    uint32_t number;
    memcpy(&number, bytes, sizeof(number));
    return __builtin_bswap32(number);
}

/* ---- header ---- */

void kc__maintenance_backup_header_write(const kc__maintenance_backup_header *header,
                                         char out[KC__MAINTENANCE_BACKUP_HEADER])
{
    memcpy(out, magic, sizeof(magic));
    put_u32(out + AT_FORMAT, KC__MAINTENANCE_BACKUP_FORMAT);
    put_u32(out + AT_LAYOUT, KEY_LAYOUT);
    kc__storage_put_u64(out + AT_REVISION, header->revision);
    kc__storage_put_u64(out + AT_ENTRIES, header->entries);
    kc__storage_put_u64(out + AT_ENCRYPTED, header->encrypted);
    kc__storage_put_u64(out + AT_WALL_TIME, (uint64_t)header->wall);
}

int kc__maintenance_backup_header_read(const char bytes[KC__MAINTENANCE_BACKUP_HEADER],
                                       kc__maintenance_backup_header *ret, kc_error *err)
{
    const uint32_t format = get_u32(bytes + AT_FORMAT), layout = get_u32(bytes + AT_LAYOUT);
    if (memcmp(bytes, magic, sizeof(magic)) != 0)
        return kc_error_set(err, KC_INVALID, "the file is not a backup of 'kc store backup'");
    if (format > KC__MAINTENANCE_BACKUP_FORMAT || layout > KEY_LAYOUT)
        return kc_error_set(err, KC_INVALID,
                            "the backup was written by a newer program (format %u, layout %u); "
                            "this one reads format %d, layout %d",
                            (unsigned)format, (unsigned)layout, KC__MAINTENANCE_BACKUP_FORMAT,
                            KEY_LAYOUT);
    const kc__maintenance_backup_header header = {
        .revision = kc__storage_get_u64(bytes + AT_REVISION),
        .entries = kc__storage_get_u64(bytes + AT_ENTRIES),
        .encrypted = kc__storage_get_u64(bytes + AT_ENCRYPTED),
        .wall = (int64_t)kc__storage_get_u64(bytes + AT_WALL_TIME),
    };
    if (format == 0 || layout != KEY_LAYOUT || header.revision < KC__STORAGE_FIRST ||
        header.revision > INT64_MAX || header.encrypted > header.entries)
        return kc_error_set(err, KC_INVALID, "the header of the backup is damaged");
    *ret = header;
    return 0;
}

/* ---- entries ---- */

void kc__maintenance_entry_write(kc_buf *out, const kc__storage_entry *entry)
{
    char head[ENTRY_HEAD];
    put_u32(head, (uint32_t)entry->key.n);
    put_u32(head + AT_VALUE_LENGTH, (uint32_t)entry->value.n);
    kc__storage_put_u64(head + AT_ENTRY_REVISION, entry->revision);
    kc_buf_append(out, kc_str_of(head, sizeof(head)));
    kc_buf_append(out, entry->key);
    kc_buf_append(out, entry->value);
}

void kc__maintenance_entry_reader_done(kc__maintenance_entry_reader *reader)
{
    kc_buf_done(&reader->key);
    kc_buf_done(&reader->previous);
    kc_buf_done(&reader->value);
    kc_buf_done(&reader->bytes);
}

static int read_failed(FILE *in, kc_error *err)
{
    if (ferror(in))
        return kc_error_set(err, KC_BAD_REQUEST, "cannot read: %s", strerror(errno));
    return kc_error_set(err, KC_INVALID, "the backup is truncated");
}

/* Reads in steps, so that memory follows the bytes that exist. */
static int read_backup_bytes(FILE *in, size_t n, kc_buf *out, kc_error *err)
{
    enum { READ_STEP = 65536 };
    kc_buf_clear(out);
    while (out->n < n) {
        const size_t step = KC_MIN(n - out->n, (size_t)READ_STEP);
        const size_t got = fread(kc_buf_reserve(out, step), 1, step, in);
        out->n += got;
        if (got < step)
            return read_failed(in, err);
    }
    return 0;
}

static int check_read_entry(const kc__maintenance_entry_reader *reader, kc_error *err)
{
    const kc_str key = kc_buf_str(&reader->key);
    const kc__storage_op op = {.key = key, .value = kc_buf_str(&reader->value)};
    const char *problem = kc__storage_op_problem(&op);
    if (!problem && reader->previous.n && kc_str_cmp(key, kc_buf_str(&reader->previous)) <= 0)
        problem = "the keys are not in order";
    return problem ? kc_error_set(err, KC_INVALID, "entry %llu of the backup is damaged: %s",
                                  (unsigned long long)reader->entries, problem)
                   : 0;
}

static int read_lengths(kc__maintenance_entry_reader *reader, uint32_t *ret_key,
                        uint32_t *ret_value, uint64_t *ret_revision, kc_error *err)
{
    kc_scoped(kc_buf) head = {0};
    if (read_backup_bytes(reader->in, ENTRY_HEAD, &head, err) < 0)
        return kc_error_result(err);
    *ret_key = get_u32(head.p);
    *ret_value = get_u32(head.p + AT_VALUE_LENGTH);
    *ret_revision = kc__storage_get_u64(head.p + AT_ENTRY_REVISION);
    if (*ret_key > KC__STORAGE_MAX_KEY || *ret_value > KC__STORAGE_MAX_VALUE)
        return kc_error_set(err, KC_INVALID, "entry %llu of the backup is damaged: it is too long",
                            (unsigned long long)reader->entries + 1);
    return 0;
}

int kc__maintenance_entry_read(kc__maintenance_entry_reader *reader, kc__storage_entry *ret,
                               kc_error *err)
{
    uint32_t key = 0, value = 0;
    uint64_t revision = 0;
    const kc_buf last = reader->previous;
    reader->previous = reader->key;
    reader->key = last;
    if (read_lengths(reader, &key, &value, &revision, err) < 0 ||
        read_backup_bytes(reader->in, key, &reader->key, err) < 0 ||
        read_backup_bytes(reader->in, value, &reader->value, err) < 0)
        return kc_error_result(err);
    const kc__storage_entry entry = {kc_buf_str(&reader->key), kc_buf_str(&reader->value),
                                     revision};
    kc_buf_clear(&reader->bytes);
    kc__maintenance_entry_write(&reader->bytes, &entry);
    reader->entries++;
    if (entry.key.n && check_read_entry(reader, err) < 0)
        return kc_error_result(err);
    *ret = entry;
    return 0;
}
