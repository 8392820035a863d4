/* SPDX-License-Identifier: Apache-2.0 */
/* gzip.h: compressing a body, piece by piece. */
#ifndef KC_HTTP_GZIP_H
#define KC_HTTP_GZIP_H

#include "kc/buf.h"

typedef struct kc__gzip kc__gzip;

typedef enum kc__gzip_mode {
    KC__GZIP_MORE,  /* What is kept back for better compression stays back. */
    KC__GZIP_FLUSH, /* Everything so far can be read. */
    KC__GZIP_END,   /* That was all. */
} kc__gzip_mode;

/* A stream takes about a quarter of a megabyte while it lives. */
kc__gzip *kc__gzip_new(void);
/* NULL is allowed; returns NULL. */
kc__gzip *kc__gzip_free(kc__gzip *gzip);
KC_AUTO_DEFINE(kc__gzip, kc__gzip_free)

/* Compresses `text` and appends what comes out. Costs about 8 ns a byte: take pieces. */
void kc__gzip_write(kc__gzip *gzip, kc_str text, kc__gzip_mode mode, kc_buf *out);

#endif
