/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.c: a disk that fails on command, as a library to preload into a real server.
 *
 * It stands before the functions of libc that write to files. While the control block says so,
 * those it names fail with the errno it names, or hang, for files under one directory only;
 * everything else goes through. The control block is a file both sides map, so the test switches
 * faults at a moment of its choosing and reads how often they struck:
 *
 *     KC_FAULTS_DIRECTORY  the directory whose files fail
 *     KC_FAULTS_CONTROL    the control block: struct control, made by the test
 *
 * Threads: any may call; the block's fields are atomics. To add a function: a bit below and in
 * faults.py, and a wrapper at the end.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/* The bits of `which`. Writes to the first two pages of LMDB's file have one of their own: there
 * LMDB writes its header page, the last step of a transaction. */
enum { WRITES = 1, SYNCS = 2, LAST_WRITES = 4, STRETCHES = 8 };

#define HANG UINT32_MAX

struct control {
    _Atomic uint32_t number; /* The errno; 0: no faults. HANG: the call waits while it is so. */
    _Atomic uint32_t which;
    _Atomic uint32_t skip; /* So many calls still go through first. */
    _Atomic uint32_t hits;
};

static struct control *control(void)
{
    static struct control *_Atomic mapped;
    struct control *block = atomic_load(&mapped);
    const char *path = getenv("KC_FAULTS_CONTROL");
    if (block || !path)
        return block;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    block = mmap(NULL, sizeof(*block), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (block == MAP_FAILED)
        return NULL;
    atomic_store(&mapped, block);
    return block;
}

static bool is_ours(int fd)
{
    char link[64], path[PATH_MAX];
    const char *directory = getenv("KC_FAULTS_DIRECTORY");
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, sizeof(path) - 1);
    if (n < 0 || !directory)
        return false;
    path[n] = '\0';
    const size_t length = strlen(directory);
    return !strncmp(path, directory, length) && path[length] == '/';
}

static bool takes_skip(struct control *c)
{
    uint32_t left = atomic_load(&c->skip);
    while (left)
        if (atomic_compare_exchange_weak(&c->skip, &left, left - 1))
            return true;
    return false;
}

/* Whether this call shall fail; errno is set then. */
static bool fails(int fd, uint32_t kind)
{
    struct control *c = control();
    const uint32_t number = c ? atomic_load(&c->number) : 0;
    if (!number || !is_ours(fd))
        return false;
    if (!(atomic_load(&c->which) & kind) || takes_skip(c))
        return false;
    atomic_fetch_add(&c->hits, 1);
    while (atomic_load(&c->number) == HANG)
        usleep(1000);
    if (number == HANG)
        return false;
    errno = (int)number;
    return true;
}

/* The function that stands behind ours. Copied through a union: a pointer to data is no function.
 */
#define REAL(name)                               \
    union {                                      \
        void *found;                             \
        __typeof__(&name) call;                  \
    } real = {.found = dlsym(RTLD_NEXT, #name)}; \
    if (!real.found)                             \
    abort()

static bool is_lmdb(int fd)
{
    char link[64], path[PATH_MAX];
    static const char name[] = "/data.mdb";
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, sizeof(path) - 1);
    const ssize_t length = sizeof(name) - 1;
    return n >= length && !memcmp(path + n - length, name, (size_t)length);
}

/* Which bit a write at a place belongs to. */
static uint32_t kind_of(int fd, off_t at)
{
    return at < 2 * sysconf(_SC_PAGESIZE) && is_lmdb(fd) ? LAST_WRITES : WRITES;
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    REAL(pwrite);
    return fails(fd, kind_of(fd, at)) ? -1 : real.call(fd, bytes, n, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    REAL(pwrite64);
    return fails(fd, kind_of(fd, at)) ? -1 : real.call(fd, bytes, n, at);
}

ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t at)
{
    REAL(pwritev);
    return fails(fd, WRITES) ? -1 : real.call(fd, parts, n, at);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int n, off64_t at)
{
    REAL(pwritev64);
    return fails(fd, WRITES) ? -1 : real.call(fd, parts, n, at);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
    REAL(writev);
    return fails(fd, WRITES) ? -1 : real.call(fd, parts, n);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    REAL(write);
    return fails(fd, WRITES) ? -1 : real.call(fd, bytes, n);
}

int fdatasync(int fd)
{
    REAL(fdatasync);
    return fails(fd, SYNCS) ? -1 : real.call(fd);
}

int fsync(int fd)
{
    REAL(fsync);
    return fails(fd, SYNCS) ? -1 : real.call(fd);
}

int ftruncate(int fd, off_t length)
{
    REAL(ftruncate);
    return fails(fd, STRETCHES) ? -1 : real.call(fd, length);
}
