/* SPDX-License-Identifier: Apache-2.0 */
/* gzip.h: compresses a body piece by piece. */
#ifndef KC_HTTP_GZIP_H
#define KC_HTTP_GZIP_H

#include "kc/buf.h"

typedef struct kc__gzip kc__gzip;

typedef enum kc__gzip_mode {
    KC__GZIP_MORE,  /* Output may be held back for better compression. */
    KC__GZIP_FLUSH, /* All input so far becomes decodable. */
    KC__GZIP_END,   /* End of the body. */
} kc__gzip_mode;

/* A stream takes about 256 KiB of memory. */
kc__gzip *kc__gzip_new(void);
/* NULL is allowed; returns NULL. */
kc__gzip *kc__gzip_free(kc__gzip *gzip);
KC_AUTO_DEFINE(kc__gzip, kc__gzip_free)

/* Compresses `text` and appends the output. Takes about 8 ns per byte: pass small pieces. */
void kc__gzip_write(kc__gzip *gzip, kc_str text, kc__gzip_mode mode, kc_buf *out);

#endif
