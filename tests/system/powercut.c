/* SPDX-License-Identifier: Apache-2.0 */
/*
 * powercut.c: what a power cut would take away, as a library to preload into a real server.
 *
 * kill -9 leaves everything that was written in the kernel's cache; a power cut leaves only what
 * was synced. So for every write to a file of the store this library first notes, in a list of
 * undos, the bytes that are about to be replaced, and forgets the note once the write is durable:
 * when fdatasync or fsync of that file returns, or, of a file that was opened with O_DSYNC, when
 * the write itself does. After a kill the lists thus hold exactly the writes a power cut could have
 * lost, and crash.py undoes any of them.
 *
 *     KC_POWERCUT_DIRECTORY the end of the path of the store's directory
 *     KC_POWERCUT_UNDO      the lists: KC_POWERCUT_UNDO.data.mdb and .journal, each made by the
 *                           test: of each write its offset, its length (8 bytes each) and the old
 *                           bytes
 *     KC_POWERCUT_LIES      if set, syncing forgets nothing: a disk that lies, to test the test
 *
 * Threads: one writes these files, the committer; the lists are that thread's alone.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* The function that stands behind ours; a union, for a pointer to data is no function. */
#define REAL(name)                               \
    union {                                      \
        void *found;                             \
        __typeof__(&name) call;                  \
    } real = {.found = dlsym(RTLD_NEXT, #name)}; \
    if (!real.found)                             \
    abort()

/* The files of the store. */
static const char *const names[] = {"data.mdb", "journal"};
enum { FILES = 2 };

static bool ends_with(const char *path, const char *directory, const char *name)
{
    char end[PATH_MAX];
    const int n = snprintf(end, sizeof(end), "%s/%s", directory, name);
    const size_t length = strlen(path);
    return length >= (size_t)n && !strcmp(path + length - (size_t)n, end);
}

/* Which of the files it is; FILES: none of them. */
static int which(int fd)
{
    char link[64], path[PATH_MAX];
    const char *directory = getenv("KC_POWERCUT_DIRECTORY");
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, sizeof(path) - 1);
    if (n <= 0 || !directory)
        return FILES;
    path[n] = '\0';
    int i = 0;
    while (i < FILES && !ends_with(path, directory, names[i]))
        i++;
    return i;
}

static int undo_list(int file)
{
    static int fds[FILES] = {-1, -1};
    char path[PATH_MAX];
    const char *base = getenv("KC_POWERCUT_UNDO");
    if (fds[file] < 0 && base) {
        snprintf(path, sizeof(path), "%s.%s", base, names[file]);
        fds[file] = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
    }
    if (fds[file] < 0)
        abort();
    return fds[file];
}

/* Notes what is about to be replaced. Beyond the end of the file that is nothing: zeros. */
static void note(int fd, size_t n, off_t at)
{
    uint64_t *entry = calloc(1, 16 + n);
    /* LMDB's file for header pages may be open for writing only: read by another way in. */
    char link[64];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    const int in = open(link, O_RDONLY | O_CLOEXEC);
    if (!entry || in < 0)
        abort();
    entry[0] = (uint64_t)at;
    entry[1] = n;
    const ssize_t got = pread(in, entry + 2, n, at);
    REAL(write);
    if (got < 0 || real.call(undo_list(which(fd)), entry, 16 + n) != (ssize_t)(16 + n))
        abort();
    close(in);
    free(entry);
}

/* The length of the list before a write that is durable when it returns. */
static off_t before(int fd, size_t n, off_t at)
{
    const off_t length = lseek(undo_list(which(fd)), 0, SEEK_END);
    note(fd, n, at);
    return length;
}

static void after(int fd, off_t length)
{
    if (fcntl(fd, F_GETFL) & O_DSYNC && !getenv("KC_POWERCUT_LIES") &&
        ftruncate(undo_list(which(fd)), length) < 0)
        abort();
}

static void synced(int fd)
{
    const int file = which(fd);
    if (file < FILES && !getenv("KC_POWERCUT_LIES") && ftruncate(undo_list(file), 0) < 0)
        abort();
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    REAL(pwrite);
    if (which(fd) == FILES)
        return real.call(fd, bytes, n, at);
    const off_t length = before(fd, n, at);
    const ssize_t wrote = real.call(fd, bytes, n, at);
    after(fd, length);
    return wrote;
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    return pwrite(fd, bytes, n, at);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
    REAL(writev);
    size_t bytes = 0;
    for (int i = 0; i < n; i++)
        bytes += parts[i].iov_len;
    if (which(fd) == FILES)
        return real.call(fd, parts, n);
    const off_t length = before(fd, bytes, lseek(fd, 0, SEEK_CUR));
    const ssize_t wrote = real.call(fd, parts, n);
    after(fd, length);
    return wrote;
}

int fdatasync(int fd)
{
    REAL(fdatasync);
    const int status = real.call(fd);
    if (status == 0)
        synced(fd);
    return status;
}

int fsync(int fd)
{
    REAL(fsync);
    const int status = real.call(fd);
    if (status == 0)
        synced(fd);
    return status;
}
