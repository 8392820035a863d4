/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_available.c: reads the limits and the use of memory from the kernel.
 *
 *     /proc/self/cgroup    0::/user.slice/kc.service          v2: memory.max of it and its parents
 *                          9:memory:/docker/1234              v1: memory.limit_in_bytes, likewise
 *
 * In a container the path in /proc/self/cgroup may be that of the host while the mount shows only
 * the container's own group: a missing directory is skipped, and the root is always read.
 */
#include "apiserver/governor/memory_available.h"

#include "kc/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SMALL_FILE = 64 * 1024 };

/* ---- cgroups ---- */

/* The number in a file; SIZE_MAX if there is none ("max"). */
static size_t number_in(const char *path)
{
    kc_scoped(kc_buf) text = {0};
    uint64_t value;
    if (kc_file_read(path, SMALL_FILE, &text, NULL) < 0 ||
        !kc_str_to_u64(kc_str_trim(kc_buf_str(&text)), &value))
        return SIZE_MAX;
    return (size_t)value;
}

/* The smallest limit of a group and its ancestors. */
static size_t limit_of_path(const char *mount, kc_str group, const char *file)
{
    size_t least = SIZE_MAX;
    for (;;) {
        while (group.n && group.p[group.n - 1] == '/')
            group.n--;
        kc_autofree char *path = kc_asprintf("%s%.*s/%s", mount, KC_ARG(group), file);
        least = KC_MIN(least, number_in(path));
        if (!group.n)
            return least;
        while (group.n && group.p[group.n - 1] != '/')
            group.n--;
    }
}

static bool names_memory(kc_str controllers)
{
    while (controllers.p)
        if (kc_str_is(kc_str_cut(&controllers, ','), "memory"))
            return true;
    return false;
}

size_t kc__memory_cgroup_limit(kc_str self_cgroup, const char *root)
{
    kc_autofree char *v1 = kc_asprintf("%s/memory", root);
    size_t least = SIZE_MAX;
    while (self_cgroup.n) {
        kc_str line = kc_str_cut(&self_cgroup, '\n');
        kc_str number = kc_str_cut(&line, ':'), controllers = kc_str_cut(&line, ':');
        if (kc_str_is(number, "0") && kc_str_empty(controllers))
            least = KC_MIN(least, limit_of_path(root, line, "memory.max"));
        else if (names_memory(controllers))
            least = KC_MIN(least, limit_of_path(v1, line, "memory.limit_in_bytes"));
    }
    return least;
}

/* ---- available memory ---- */

static size_t machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)pages * (size_t)size : SIZE_MAX;
}

static size_t resource_limit(__rlimit_resource_t resource)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return (size_t)limit.rlim_cur;
}

size_t kc__memory_available(void)
{
    kc_scoped(kc_buf) groups = {0};
    size_t least = KC_MIN(machine_memory(), resource_limit(RLIMIT_AS));
    least = KC_MIN(least, resource_limit(RLIMIT_DATA));
    if (kc_file_read("/proc/self/cgroup", SMALL_FILE, &groups, NULL) == 0)
        least = KC_MIN(least, kc__memory_cgroup_limit(kc_buf_str(&groups), "/sys/fs/cgroup"));
    return least;
}

/* ---- memory in use ---- */

/* Uses raw system calls. This runs next to code that closes descriptors that way after a fork; a
 * sanitizer that has not seen the close would report this open as a race. */
bool kc__memory_resident(size_t *ret_bytes)
{
    char text[128];
    unsigned long resident, shared;
    long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    long n = syscall(SYS_read, fd, text, sizeof(text) - 1);
    syscall(SYS_close, fd);
    text[n > 0 ? n : 0] = '\0';
    if (sscanf(text, "%*u %lu %lu", &resident, &shared) != 2 || shared > resident)
        return false;
    *ret_bytes = (size_t)(resident - shared) * (size_t)sysconf(_SC_PAGESIZE);
    return true;
}
