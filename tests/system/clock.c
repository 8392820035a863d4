/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.c: a wall clock that jumps on command, as a library to preload into a real server.
 *
 * It stands before clock_gettime and time of libc and adds a number of seconds to CLOCK_REALTIME,
 * as an operator or a time server that sets the clock does; CLOCK_MONOTONIC is never set and stays
 * as it is. The number is in a file that the test maps and changes:
 *
 *     KC_CLOCK_OFFSET   the file: an int64_t, seconds
 *
 * Threads: any may call; the number is an atomic.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef int clock_gettime_fn(clockid_t, struct timespec *);

static const _Atomic int64_t *offset_block(void)
{
    static const _Atomic int64_t *_Atomic mapped;
    const _Atomic int64_t *block = atomic_load(&mapped);
    const char *path = getenv("KC_CLOCK_OFFSET");
    const int fd = block || !path ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return block;
    void *found = mmap(NULL, sizeof(*block), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (found == MAP_FAILED)
        return NULL;
    block = found;
    atomic_store(&mapped, block);
    return block;
}

/* Copied through a union: a pointer to data is no function. */
static clock_gettime_fn *real_clock(void)
{
    static clock_gettime_fn *_Atomic known;
    clock_gettime_fn *call = atomic_load(&known);
    if (call)
        return call;
    union {
        void *found;
        clock_gettime_fn *call;
    } real = {.found = dlsym(RTLD_NEXT, "clock_gettime")};
    if (!real.found)
        abort();
    atomic_store(&known, real.call);
    return real.call;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    const int failed = real_clock()(id, now);
    const _Atomic int64_t *block = failed || id != CLOCK_REALTIME ? NULL : offset_block();
    if (block)
        now->tv_sec += (time_t)atomic_load(block);
    return failed;
}

time_t time(time_t *ret_now)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    if (ret_now)
        *ret_now = now.tv_sec;
    return now.tv_sec;
}
