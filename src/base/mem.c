/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.c: allocation that cannot fail, and allocation that must be checked.
 *
 * A control plane that has no memory for its own small, fixed structures cannot continue: unwinding
 * needs memory, too, and code for it is never tested. Data that a client sizes (bodies, lists,
 * expanded aliases) goes through kc_try_alloc with a limit, and the client gets an error.
 *
 * Requests that consist of many small parts are in between. For them there is a reserve:
 *
 *     malloc fails ─▶ the reserve is unmapped ─▶ malloc again ─▶ the request ends normally
 *                              │
 *                     kc_mem_short(): the server starts no request that needs memory until
 *                     kc_mem_restore() has mapped the reserve again
 *
 * A thread that finds the reserve used up waits up to two seconds, while other threads finish their
 * requests. Only then does the process end.
 *
 * The hook and the reserve are mutable globals, as is the allocator that they wrap. Both are set
 * before any thread starts; afterwards only the mapping of the reserve changes, atomically.
 */
#include "kc/mem.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static void write_out_of_memory(size_t size)
{
    char line[80];
    int n = snprintf(line, sizeof(line), "kc: out of memory (%zu bytes)\n", size);
    if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0)
        return;
}

static void (*oom_hook)(size_t size) = write_out_of_memory;

void kc_set_oom_hook(void (*hook)(size_t size))
{
    oom_hook = hook ? hook : write_out_of_memory;
}

/* ---- the reserve ---- */

enum { RESERVE_WAIT_TRIES = 400, RESERVE_WAIT_STEP_NS = 5 * 1000 * 1000 };

static struct {
    size_t bytes;          /* Requested size; 0: no reserve. Set at start. */
    void *_Atomic mapping; /* NULL: used up. */
} reserve;

static void *map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* True if there was a reserve; the allocator can now use it. */
static bool use_up(void)
{
    void *mapping = atomic_exchange(&reserve.mapping, NULL);
    return mapping && munmap(mapping, reserve.bytes) == 0;
}

void kc_mem_reserve(size_t bytes)
{
    use_up();
    reserve.bytes = bytes;
    atomic_store(&reserve.mapping, bytes ? map(bytes) : NULL);
}

bool kc_mem_short(void)
{
    return reserve.bytes && !atomic_load_explicit(&reserve.mapping, memory_order_relaxed);
}

/* Requires as much free memory again, so that the reserve is not used up at once. */
bool kc_mem_restore(void)
{
    void *none = NULL;
    if (!kc_mem_short())
        return true;
    if (!kc_mem_has_room(2 * reserve.bytes))
        return false;
    void *mapping = map(reserve.bytes);
    if (!mapping)
        return false;
    if (!atomic_compare_exchange_strong(&reserve.mapping, &none, mapping))
        munmap(mapping, reserve.bytes);
    return true;
}

bool kc_mem_has_room(size_t bytes)
{
    if (!reserve.bytes)
        return true;
    void *probe = map(bytes ? bytes : 1);
    return probe && munmap(probe, bytes ? bytes : 1) == 0;
}

/* ---- allocation ---- */

static void *zeroed(void *p, size_t size, bool zero)
{
    return p && zero ? memset(p, 0, size) : p;
}

/* Called after malloc failed: uses up the reserve, then waits for other threads to free memory when
 * their requests end. */
static __attribute__((cold, noinline)) void *insist(void *old, size_t size, bool zero)
{
    const struct timespec step = {.tv_nsec = RESERVE_WAIT_STEP_NS};
    const bool possible = reserve.bytes && size < PTRDIFF_MAX;
    void *p = NULL;
    if (possible && use_up())
        p = realloc(old, size);
    for (int i = 0; possible && !p && i < RESERVE_WAIT_TRIES; i++) {
        nanosleep(&step, NULL);
        p = realloc(old, size);
    }
    if (p)
        return zeroed(p, size, zero);
    oom_hook(size);
    abort();
}

/* The requested size; SIZE_MAX on overflow. */
static size_t product(size_t count, size_t size)
{
    size_t total;
    return __builtin_mul_overflow(count, size, &total) ? SIZE_MAX : total;
}

void *kc_alloc(size_t size)
{
    void *p = malloc(size ? size : 1);
    return p ? p : insist(NULL, size, false);
}

void *kc_calloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size ? size : 1);
    return p ? p : insist(NULL, product(count, size), true);
}

void *kc_realloc(void *old, size_t size)
{
    void *p = realloc(old, size ? size : 1);
    return p ? p : insist(old, size, false);
}

void *kc_reallocarray(void *old, size_t count, size_t size)
{
    void *p = reallocarray(old, count ? count : 1, size ? size : 1);
    return p ? p : insist(old, product(count, size), false);
}

char *kc_strdup(const char *text)
{
    return kc_strndup(text, strlen(text));
}

char *kc_strndup(const char *text, size_t n)
{
    char *copy = kc_alloc(n == SIZE_MAX ? n : n + 1);
    if (n)
        memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

char *kc_asprintf(const char *fmt, ...)
{
    va_list args, args_copy;
    va_start(args, fmt);
    va_copy(args_copy, args);
    int n = vsnprintf(NULL, 0, fmt, args_copy);
    va_end(args_copy);
    char *text = kc_alloc(n < 0 ? SIZE_MAX : (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, fmt, args);
    va_end(args);
    return text;
}

void *kc_try_alloc(size_t size, size_t limit)
{
    return size > limit ? NULL : malloc(size ? size : 1);
}

void *kc_try_realloc(void *old, size_t size, size_t limit)
{
    return size > limit ? NULL : realloc(old, size ? size : 1);
}
