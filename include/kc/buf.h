/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buf.h: a growable byte buffer, for building text.
 *
 *     kc_scoped(kc_buf) out = {0};
 *     kc_buf_printf(&out, "%s=", name);
 *     kc_buf_append(&out, value);
 *     return kc_buf_take(&out);
 *
 * A zeroed kc_buf is ready. If `limit` is set, an append that exceeds the limit or the available
 * memory sets `failed`: the buffer keeps its content and ignores all later appends. A writer checks
 * `failed` once, at the end. Appended bytes must not be part of the buffer itself. Not thread-safe.
 */
#ifndef KC_BUF_H
#define KC_BUF_H

#include "kc/str.h"

#include <stdarg.h>

typedef struct kc_buf {
    char *p;
    size_t n, cap;
    size_t limit; /* Maximum of n. Defaults to no limit. */
    bool failed;  /* An append did not fit. */
} kc_buf;

void kc_buf_done(kc_buf *buf);
/* The same, after it has overwritten the memory: for secrets. */
void kc_buf_wipe(kc_buf *buf);
/* Empties the buffer and keeps its memory. */
void kc_buf_clear(kc_buf *buf);

/* The slow path of kc_buf_reserve. */
char *kc__buf_grow(kc_buf *buf, size_t more);

/* Reserves `more` bytes at the end; the caller writes them and adds the count to n. NULL when the
 * limit would be exceeded. */
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

/* The terminated text (n and the limit do not include the terminator). The buffer keeps ownership.
 * Never NULL. */
const char *kc_buf_cstr(kc_buf *buf);

/* Moves the terminated text to the caller, who frees it; the buffer is empty afterwards. Never
 * NULL. */
char *kc_buf_take(kc_buf *buf);

#endif
