/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.c: allocation that cannot fail, and allocation that must be checked.
 *
 * A control plane that is out of memory for its own small, fixed structures has nothing sensible
 * left to do: unwinding needs memory too, and code for it is never tested. So kc_alloc aborts. What
 * a client sizes (bodies, lists, expanded aliases) goes through kc_try_alloc with a limit, and the
 * client gets an error.
 *
 * The hook is the one mutable global of the program: it is set once, before any thread is started.
 */
#include "kc/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static void say_out_of_memory(size_t size)
{
    char line[80];
    int n = snprintf(line, sizeof(line), "kc: out of memory (%zu bytes)\n", size);
    if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0)
        return;
}

static void (*oom_hook)(size_t size) = say_out_of_memory;

void kc_set_oom_hook(void (*hook)(size_t size))
{
    oom_hook = hook ? hook : say_out_of_memory;
}

static void *or_abort(void *p, size_t size)
{
    if (p)
        return p;
    oom_hook(size);
    abort();
}

/* What was asked for, for the message. */
static size_t product(size_t count, size_t size)
{
    size_t total;
    return __builtin_mul_overflow(count, size, &total) ? SIZE_MAX : total;
}

void *kc_alloc(size_t size)
{
    return or_abort(malloc(size ? size : 1), size);
}

void *kc_calloc(size_t count, size_t size)
{
    return or_abort(calloc(count ? count : 1, size ? size : 1), product(count, size));
}

void *kc_realloc(void *old, size_t size)
{
    return or_abort(realloc(old, size ? size : 1), size);
}

void *kc_reallocarray(void *old, size_t count, size_t size)
{
    return or_abort(reallocarray(old, count ? count : 1, size ? size : 1), product(count, size));
}

char *kc_strdup(const char *text)
{
    return kc_strndup(text, strlen(text));
}

char *kc_strndup(const char *text, size_t n)
{
    char *copy = or_abort(n == SIZE_MAX ? NULL : malloc(n + 1), n);
    if (n)
        memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

char *kc_asprintf(const char *fmt, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, fmt);
    int n = vasprintf(&text, fmt, args);
    va_end(args);
    return or_abort(n < 0 ? NULL : text, 0);
}

void *kc_try_alloc(size_t size, size_t limit)
{
    return size > limit ? NULL : malloc(size ? size : 1);
}

void *kc_try_realloc(void *old, size_t size, size_t limit)
{
    return size > limit ? NULL : realloc(old, size ? size : 1);
}
