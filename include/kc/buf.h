/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf.h: a growable run of bytes, for building text.
 *
 *     kc_scoped(kc_buf) out = {0};
 *     kc_buf_printf(&out, "%s=", name);
 *     kc_buf_append(&out, value);
 *     return kc_buf_take(&out);
 *
 * A zeroed kc_buf is ready. With `limit` set, growing beyond it (or beyond what memory there is)
 * makes the buffer fail: it keeps what it has, ignores what follows and says so in `failed`, so a
 * writer checks once, at the end. What is appended must not be part of the buffer itself.
 * Not for several threads at a time.
 */
#ifndef KC_BUF_H
#define KC_BUF_H

#include "kc/str.h"

#include <stdarg.h>

typedef struct kc_buf {
    char *p;
    size_t n, cap;
    size_t limit; /* Bytes it may hold. Defaults to no limit. */
    bool failed;  /* Something did not fit. */
} kc_buf;

void kc_buf_done(kc_buf *buf);
/* Empties it, keeps the memory. */
void kc_buf_clear(kc_buf *buf);

/* Where there may not be room yet. */
char *kc__buf_grow(kc_buf *buf, size_t more);

/* Room for `more` bytes at the end, which the caller writes and adds to n. NULL when the limit
 * forbids it. */
static inline char *kc_buf_reserve(kc_buf *buf, size_t more)
{
    bool fits = !buf->failed && more < buf->cap - buf->n;
    return fits ? buf->p + buf->n : kc__buf_grow(buf, more);
}

static inline void kc_buf_append(kc_buf *buf, kc_str s)
{
    char *to = kc_buf_reserve(buf, s.n);
    if (!to || !s.n)
        return;
    memcpy(to, s.p, s.n);
    buf->n += s.n;
}

static inline void kc_buf_putc(kc_buf *buf, char c)
{
    char *to = kc_buf_reserve(buf, 1);
    if (!to)
        return;
    *to = c;
    buf->n++;
}

void kc_buf_puts(kc_buf *buf, const char *text);
void kc_buf_printf(kc_buf *buf, const char *fmt, ...) KC_PRINTF(2, 3);
void kc_buf_vprintf(kc_buf *buf, const char *fmt, va_list args) KC_PRINTF(2, 0);

static inline kc_str kc_buf_str(const kc_buf *buf)
{
    return (kc_str){buf->p, buf->n};
}

/* The text, terminated (the terminator is not counted in n and not limited). Stays the buffer's.
 * Never NULL. */
const char *kc_buf_cstr(kc_buf *buf);

/* The text, terminated, now the caller's to free; the buffer is empty again. Never NULL. */
char *kc_buf_take(kc_buf *buf);

#endif
