/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backup_write.c: writes a backup file, from a store or from the entries of a running server's.
 *
 * The number of entries is known at the end, so the header is written twice. The file is synced
 * before it gets its name: a file with that name is a whole backup.
 */
#include "apiserver/maintenance/backup.h"

#include "apiserver/maintenance/marker.h"
#include "apiserver/maintenance/pages.h"
#include "apiserver/maintenance/values.h"
#include "kc/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

struct kc__maintenance_backup_writer {
    char *path, *part;
    FILE *out;
    kc__maintenance_backup_header header;
    crypto_hash_sha256_state digest;
    kc_buf bytes;
};

static int backup_write_failed(const kc__maintenance_backup_writer *writer, kc_error *err)
{
    return kc_error_set(err, errno == ENOSPC ? KC_SERVICE_UNAVAILABLE : KC_INTERNAL,
                        "cannot write %s: %s", writer->part, strerror(errno));
}

static int write_header(kc__maintenance_backup_writer *writer, kc_error *err)
{
    char header[KC__MAINTENANCE_BACKUP_HEADER];
    kc__maintenance_backup_header_write(&writer->header, header);
    if (fseek(writer->out, 0, SEEK_SET) < 0 ||
        fwrite(header, 1, sizeof(header), writer->out) != sizeof(header))
        return backup_write_failed(writer, err);
    return 0;
}

static int open_part(kc__maintenance_backup_writer *writer, kc_error *err)
{
    struct stat st;
    if (lstat(writer->path, &st) == 0 && !S_ISREG(st.st_mode))
        return kc_error_set(err, KC_INVALID, "cannot write %s: it is not a regular file",
                            writer->path);
    (void)unlink(writer->part); /* Of a run that was interrupted. */
    const int fd = open(writer->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    writer->out = fd < 0 ? NULL : fdopen(fd, "w+");
    return writer->out ? write_header(writer, err) : backup_write_failed(writer, err);
}

kc__maintenance_backup_writer *kc__maintenance_backup_create(const char *path, uint64_t revision,
                                                             kc_error *err)
{
    kc_auto(kc__maintenance_backup_writer) *writer = kc_new(kc__maintenance_backup_writer);
    writer->path = kc_strdup(path);
    writer->part = kc_asprintf("%s.part", path);
    writer->header = (kc__maintenance_backup_header){.revision = revision,
                                                     .wall = kc_clock_wall(kc_clock_real())};
    crypto_hash_sha256_init(&writer->digest);
    return open_part(writer, err) < 0 ? NULL : kc_take(writer);
}

kc__maintenance_backup_writer *kc__maintenance_backup_writer_free(
    kc__maintenance_backup_writer *writer)
{
    if (!writer)
        return NULL;
    if (writer->out) {
        fclose(writer->out);
        (void)unlink(writer->part);
    }
    kc_buf_done(&writer->bytes);
    free(writer->path);
    free(writer->part);
    free(writer);
    return NULL;
}

int kc__maintenance_backup_add(kc__maintenance_backup_writer *writer,
                               const kc__storage_entry *entry, kc_error *err)
{
    kc_buf_clear(&writer->bytes);
    kc__maintenance_entry_write(&writer->bytes, entry);
    const kc_str bytes = kc_buf_str(&writer->bytes);
    crypto_hash_sha256_update(&writer->digest, (const unsigned char *)bytes.p, bytes.n);
    writer->header.entries++;
    writer->header.encrypted += kc__maintenance_is_encrypted(entry->value);
    return fwrite(bytes.p, 1, bytes.n, writer->out) == bytes.n ? 0
                                                               : backup_write_failed(writer, err);
}

static int write_digest(kc__maintenance_backup_writer *writer, kc_error *err)
{
    char header[KC__MAINTENANCE_BACKUP_HEADER];
    unsigned char digest[KC__MAINTENANCE_BACKUP_DIGEST];
    kc__maintenance_backup_header_write(&writer->header, header);
    crypto_hash_sha256_update(&writer->digest, (const unsigned char *)header, sizeof(header));
    crypto_hash_sha256_final(&writer->digest, digest);
    return fwrite(digest, 1, sizeof(digest), writer->out) == sizeof(digest)
               ? 0
               : backup_write_failed(writer, err);
}

static int sync_parent(const char *path, kc_error *err)
{
    const char *slash = strrchr(path, '/');
    kc_autofree char *dir = slash ? kc_strndup(path, (size_t)(slash - path)) : kc_strdup(".");
    return kc_dir_sync(*dir ? dir : "/", err);
}

int kc__maintenance_backup_finish(kc__maintenance_backup_writer *writer,
                                  kc__maintenance_backup_header *ret_header, kc_error *err)
{
    if (write_digest(writer, err) < 0 || write_header(writer, err) < 0)
        return kc_error_result(err);
    if (fflush(writer->out) != 0 || fsync(fileno(writer->out)) < 0 ||
        rename(writer->part, writer->path) < 0)
        return backup_write_failed(writer, err);
    fclose(writer->out);
    writer->out = NULL;
    *ret_header = writer->header;
    return sync_parent(writer->path, err);
}

/* ---- a store ---- */

typedef struct store_backup {
    kc__maintenance_backup_writer *writer;
    kc_error *err;
} store_backup;

static int back_up_entry(const kc__storage_entry *entry, void *user)
{
    store_backup *backup = user;
    return kc__maintenance_backup_add(backup->writer, entry, backup->err);
}

int kc__maintenance_backup(kc__storage *storage, const char *path,
                           kc__maintenance_backup_header *ret_header, kc_error *err)
{
    kc__storage_state state;
    if (kc__maintenance_require_complete(storage, err) < 0 ||
        kc__storage_progress(storage, &state, err) < 0)
        return kc_error_result(err);
    kc_scoped(kc__maintenance_pages) pages = {.storage = storage, .revision = state.revision};
    kc_auto(kc__maintenance_backup_writer) *writer =
        kc__maintenance_backup_create(path, state.revision, err);
    if (!writer)
        return kc_error_result(err);
    while (!pages.end)
        if (kc__maintenance_page_read(&pages, back_up_entry, &(store_backup){writer, err}, err) < 0)
            return kc_error_result(err);
    return kc__maintenance_backup_finish(writer, ret_header, err);
}
