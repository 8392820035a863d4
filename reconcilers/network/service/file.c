/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c: see file.h. kc/file.h reads and replaces the file.
 *
 * The lock is on a separate file, because every write replaces the file itself. The kernel releases
 * it when the process exits, whatever the cause.
 */
#include "network/service/file.h"

#include "kc/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

struct kc__network_whole_file {
    char *path;
    int lock; /* Open, or -1. */
};

static int take_lock(kc__network_whole_file *file, kc_error *err)
{
    kc_autofree char *path = kc_asprintf("%s.lock", file->path);
    file->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file->lock >= 0 && flock(file->lock, LOCK_EX | LOCK_NB) == 0)
        return 0;
    if (file->lock >= 0 && errno == EWOULDBLOCK)
        return kc_error_set(err, KC_CONFLICT, "%s is in use by another process", file->path);
    return kc_error_set(err, KC_INTERNAL, "cannot lock %s: %s", path, strerror(errno));
}

kc__network_whole_file *kc__network_whole_file_open(const char *path, kc_error *err)
{
    kc_auto(kc__network_whole_file) *file = kc_new(kc__network_whole_file);
    file->path = kc_strdup(path);
    file->lock = -1;
    return take_lock(file, err) < 0 ? NULL : kc_take(file);
}

kc__network_whole_file *kc__network_whole_file_close(kc__network_whole_file *file)
{
    if (!file)
        return NULL;
    if (file->lock >= 0)
        close(file->lock);
    free(file->path);
    free(file);
    return NULL;
}

int kc__network_whole_file_read(const kc__network_whole_file *file, size_t limit, kc_buf *out,
                                kc_error *err)
{
    kc_scoped(kc_error) failed = {0};
    if (kc_file_read(file->path, limit, out, &failed) == 0 || failed.reason == KC_NOT_FOUND)
        return 0;
    return kc_error_move(err, &failed);
}

int kc__network_whole_file_write(const kc__network_whole_file *file, kc_str bytes, kc_error *err)
{
    kc_scoped(kc_error) failed = {0};
    if (kc_file_write(file->path, 0600, bytes, &failed) == 0)
        return 0;
    return kc_error_set(err, KC_INTERNAL, "%s", kc_error_text(&failed)); /* Borrowed. */
}
