/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.c: the snapshot of an etcd as a file.
 *
 *     0 pages of bbolt, a multiple of 512 bytes: page 0 has the magic number 0xED0CDAED at 16
 *     n SHA-256 of them, 32 bytes
 *
 * The client checks that the stream was complete; the checksum also covers the way to the disk, so
 * the file is read back before it gets its name.
 */
#include "apiserver/maintenance/snapshot.h"

#include "apiserver/maintenance/marker.h"
#include "apiserver/storage/etcd/etcd_backend.h"
#include "kc/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC_AT 16
#define MAGIC    "\xED\xDA\x0C\xED"

typedef struct snapshot_file {
    const char *path;
    char *part;
    int fd;
} snapshot_file;

static void snapshot_file_done(snapshot_file *file)
{
    if (file->fd >= 0) {
        close(file->fd);
        (void)unlink(file->part);
    }
    free(file->part);
}

static int snapshot_write_failed(const snapshot_file *file, kc_error *err)
{
    return kc_error_set(err, errno == ENOSPC ? KC_SERVICE_UNAVAILABLE : KC_INTERNAL,
                        "cannot write %s: %s", file->part, strerror(errno));
}

static int snapshot_file_open(snapshot_file *file, kc_error *err)
{
    struct stat st;
    if (lstat(file->path, &st) == 0 && !S_ISREG(st.st_mode))
        return kc_error_set(err, KC_INVALID, "cannot write %s: it is not a regular file",
                            file->path);
    (void)unlink(file->part); /* Of a run that was interrupted. */
    file->fd = open(file->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    return file->fd < 0 ? snapshot_write_failed(file, err) : 0;
}

/* ---- the checksum ---- */

static int damaged_snapshot(kc_error *err)
{
    return kc_error_set(err, KC_INTERNAL,
                        "the checksum of the snapshot does not match: run the command again");
}

static int digest_database(const snapshot_file *file, uint64_t bytes, unsigned char *digest,
                           kc_error *err)
{
    crypto_hash_sha256_state state;
    unsigned char chunk[64 << 10];
    crypto_hash_sha256_init(&state);
    for (uint64_t at = 0; at < bytes;) {
        const size_t most = (size_t)KC_MIN(bytes - at, (uint64_t)sizeof(chunk));
        const ssize_t n = pread(file->fd, chunk, most, (off_t)at);
        if (n <= 0)
            return kc_error_set(err, KC_INTERNAL, "cannot read %s: %s", file->part,
                                n < 0 ? strerror(errno) : "it is too short");
        crypto_hash_sha256_update(&state, chunk, (size_t)n);
        at += (uint64_t)n;
    }
    crypto_hash_sha256_final(&state, digest);
    return 0;
}

static int verify_snapshot(const snapshot_file *file, uint64_t bytes, kc_error *err)
{
    unsigned char stored[crypto_hash_sha256_BYTES], digest[crypto_hash_sha256_BYTES];
    if (bytes < sizeof(stored))
        return damaged_snapshot(err);
    const uint64_t database = bytes - sizeof(stored);
    if (digest_database(file, database, digest, err) < 0)
        return kc_error_result(err);
    if (pread(file->fd, stored, sizeof(stored), (off_t)database) != (ssize_t)sizeof(stored) ||
        memcmp(stored, digest, sizeof(digest)) != 0)
        return damaged_snapshot(err);
    return 0;
}

/* ---- writing ---- */

static int name_snapshot(snapshot_file *file, kc_error *err)
{
    const char *slash = strrchr(file->path, '/');
    kc_autofree char *dir =
        slash ? kc_strndup(file->path, (size_t)(slash - file->path)) : kc_strdup(".");
    if (fsync(file->fd) < 0 || rename(file->part, file->path) < 0)
        return snapshot_write_failed(file, err);
    close(file->fd);
    file->fd = -1;
    return kc_dir_sync(*dir ? dir : "/", err);
}

int kc__maintenance_snapshot_write(kc__storage *storage, const char *path,
                                   kc__maintenance_snapshot *ret, kc_error *err)
{
    kc_scoped(snapshot_file) file = {.path = path, .part = kc_asprintf("%s.part", path), .fd = -1};
    kc__maintenance_snapshot snapshot = {0};
    kc__storage_state state;
    if (kc__maintenance_require_complete(storage, err) < 0 ||
        kc__storage_progress(storage, &state, err) < 0 || snapshot_file_open(&file, err) < 0 ||
        kc__storage_etcd_snapshot(storage, file.fd, &snapshot.bytes, err) < 0 ||
        verify_snapshot(&file, snapshot.bytes, err) < 0 || name_snapshot(&file, err) < 0)
        return kc_error_result(err);
    snapshot.revision = state.revision;
    *ret = snapshot;
    return 0;
}

/* ---- reading ---- */

bool kc__maintenance_is_snapshot(FILE *file)
{
    char bytes[MAGIC_AT + sizeof(MAGIC) - 1];
    rewind(file);
    const size_t n = fread(bytes, 1, sizeof(bytes), file);
    rewind(file);
    return n == sizeof(bytes) && memcmp(bytes + MAGIC_AT, MAGIC, sizeof(MAGIC) - 1) == 0;
}

int kc__maintenance_snapshot_refuse(const char *path, kc_error *err)
{
    return kc_error_set(
        err, KC_INVALID,
        "%s is a snapshot of etcd, which etcd's own tool restores: stop all servers and all "
        "members of etcd, run 'etcdutl snapshot restore %s --data-dir=NEW --bump-revision=1000000000 "
        "--mark-compacted' for each member (with its --name, --initial-cluster and "
        "--initial-advertise-peer-urls), and start etcd with the new data directories",
        path, path);
}
