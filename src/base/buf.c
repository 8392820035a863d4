/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf.c: the growable text buffer. Growth doubles, so appending n bytes costs O(n) in all. One byte
 * more than `n` is always kept free once anything was written, so that kc_buf_cstr can terminate in
 * place.
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

void kc_buf_clear(kc_buf *buf)
{
    buf->n = 0;
    buf->failed = false;
}

/* A limit says that the size comes from outside: then being short of memory is a failure too. */
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
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
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
