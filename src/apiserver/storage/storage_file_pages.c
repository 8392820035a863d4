/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_file_pages.c: the resident part of the map.
 *
 * LMDB reads through a mapping of its file, and every page it has touched counts as memory of this
 * process, though the system could have it back at any time. The server keeps all objects itself,
 * and so reads the file once, at its start; after that only the few pages that a commit changes.
 * Releasing them (MADV_DONTNEED, on a shared mapping of a file that is not written to) forgets
 * nothing: what is needed again comes from the system's cache, or from the disk.
 *
 * LMDB does not tell where its map is. /proc/self/maps does: by the file's device and inode.
 */
#include "apiserver/storage/storage_file_internal.h"

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

static void release(const mapping *m)
{
    /* Advice: nothing depends on it. */
    (void)madvise((void *)m->start, m->end - m->start, MADV_DONTNEED);
}

static void release_mappings_of(const struct stat *st)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t room = 0;
    while (maps && getline(&line, &room, maps) > 0) {
        mapping m;
        if (sscanf(line, "%lx-%lx %*s %*x %x:%x %lu", &m.start, &m.end, &m.major, &m.minor,
                   &m.inode) == 5 &&
            is_mapping_of(&m, st))
            release(&m);
    }
    free(line);
    if (maps)
        fclose(maps);
}

void kc__file_release_pages(kc__file *file)
{
    int fd;
    struct stat st;
    if (mdb_env_get_fd(file->env, &fd) == 0 && fstat(fd, &st) == 0)
        release_mappings_of(&st);
}
