/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout_1.h: makes a store look like one of layout 1: the test writes old keys with the current
 * file backend and closes it; apart from these keys the two layouts differ only in their version
 * number.
 */
#ifndef KC_LAYOUT_1_H
#define KC_LAYOUT_1_H

#include "kc/mem.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Sets the layout version in every copy of the state record in FOLDER/data.mdb, of a closed store.
 * False if there was none. LMDB has no checksums that would detect it. */
static inline bool layout_set_version(const char *folder, char from, char to)
{
    const char old[8] = {'K', 'C', 'S', 'T', 0, 0, 0, from};
    kc_autofree char *path = kc_asprintf("%s/data.mdb", folder);
    struct stat st;
    bool found = false;
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return false;
    char *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return false;
    char *at = bytes, *end = bytes + st.st_size;
    for (; (at = memmem(at, (size_t)(end - at), old, sizeof(old))); at += sizeof(old)) {
        at[7] = to;
        found = true;
    }
    munmap(bytes, (size_t)st.st_size);
    return found;
}

#endif
