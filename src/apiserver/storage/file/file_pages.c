/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_pages.c: releases resident pages of the map.
 *
 * LMDB reads through a mapping of its file, and every page it has touched counts as memory of this
 * process, although the kernel could reclaim it at any time. The server keeps all objects in memory
 * itself, so it reads the whole file once, at start; afterwards it reads only the few pages that a
 * commit changes. Releasing pages (MADV_DONTNEED, on a shared file mapping that is not written to)
 * loses nothing: a page that is needed again comes from the page cache or from the disk.
 *
 * LMDB does not expose the address of its map. /proc/self/maps does, by the file's device and
 * inode. Reading it takes as long as the release itself, so the address is remembered until LMDB
 * replaces its map (kc__storage_file_map_changed).
 */
#include "apiserver/storage/file/file_internal.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* A line of /proc/self/maps. */
typedef struct mapping {
    unsigned long start, end, inode;
    unsigned major, minor;
} mapping;

static bool is_mapping_of(const mapping *m, const struct stat *st)
{
    return m->inode == st->st_ino && m->major == major(st->st_dev) && m->minor == minor(st->st_dev);
}

/* LMDB maps its file once. */
static void find_map(kc__storage_file *file, const struct stat *st)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t room = 0;
    while (!file->map_bytes && maps && getline(&line, &room, maps) > 0) {
        mapping m;
        if (sscanf(line, "%lx-%lx %*s %*x %x:%x %lu", &m.start, &m.end, &m.major, &m.minor,
                   &m.inode) == 5 &&
            is_mapping_of(&m, st)) {
            file->map = (void *)m.start;
            file->map_bytes = m.end - m.start;
        }
    }
    free(line);
    if (maps)
        fclose(maps);
}

void kc__storage_file_map_changed(kc__storage_file *file)
{
    file->map = NULL;
    file->map_bytes = 0;
}

void kc__storage_file_release_pages(kc__storage_file *file)
{
    int fd;
    struct stat st;
    if (!file->env)
        return;
    if (!file->map_bytes && mdb_env_get_fd(file->env, &fd) == 0 && fstat(fd, &st) == 0)
        find_map(file, &st);
    /* Only advice: nothing depends on its success. */
    if (file->map_bytes)
        (void)madvise(file->map, file->map_bytes, MADV_DONTNEED);
}
