/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf.c: the growable byte buffer. Its capacity doubles, so appending n bytes costs O(n) in total.
 * Once anything was written, one byte beyond `n` stays free, so that kc_buf_cstr can terminate the
 * text in place.
 */
#include "kc/buf.h"

#include <stdio.h>

void kc_buf_done(kc_buf *buf)
{
    if (!buf)
        return;
    free(buf->p);
    *buf = (kc_buf){.limit = buf->limit};
}

void kc_buf_wipe(kc_buf *buf)
{
    if (buf && buf->p)
        explicit_bzero(buf->p, buf->cap);
    kc_buf_done(buf);
}

void kc_buf_clear(kc_buf *buf)
{
    buf->n = 0;
    buf->failed = false;
}

/* A buffer with a limit holds data sized from outside: running out of memory then sets `failed`,
 * too. */
static bool grow(kc_buf *buf, size_t need)
{
    size_t cap = KC_MAX(need, KC_MAX(buf->cap * 2, (size_t)64));
    if (!buf->limit) {
        buf->p = kc_realloc(buf->p, cap);
    } else {
        cap = cap - 1 > buf->limit ? buf->limit + 1 : cap;
        char *bigger = kc_try_realloc(buf->p, cap, cap);
        if (!bigger)
            return false;
        buf->p = bigger;
    }
    buf->cap = cap;
    return true;
}

char *kc__buf_grow(kc_buf *buf, size_t more)
{
    size_t need;
    if (buf->failed || __builtin_add_overflow(buf->n, more, &need) || need == SIZE_MAX ||
        (buf->limit && need > buf->limit)) {
        buf->failed = true;
        return NULL;
    }
    if (need + 1 > buf->cap && !grow(buf, need + 1)) {
        buf->failed = true;
        return NULL;
    }
    return buf->p + buf->n;
}

void kc_buf_puts(kc_buf *buf, const char *text)
{
    kc_buf_append(buf, kc_cstr(text));
}

void kc_buf_vprintf(kc_buf *buf, const char *fmt, va_list args)
{
    va_list args_copy;
    va_copy(args_copy, args);
    int n = vsnprintf(NULL, 0, fmt, args_copy);
    va_end(args_copy);
    char *to = n < 0 ? NULL : kc_buf_reserve(buf, (size_t)n);
    if (!to) {
        buf->failed = true;
        return;
    }
    vsnprintf(to, (size_t)n + 1, fmt, args);
    buf->n += (size_t)n;
}

void kc_buf_printf(kc_buf *buf, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(buf, fmt, args);
    va_end(args);
}

const char *kc_buf_cstr(kc_buf *buf)
{
    if (!buf->p)
        return "";
    buf->p[buf->n] = '\0';
    return buf->p;
}

char *kc_buf_take(kc_buf *buf)
{
    char *text = buf->p ? buf->p : kc_strdup("");
    text[buf->n] = '\0';
    *buf = (kc_buf){.limit = buf->limit};
    return text;
}
