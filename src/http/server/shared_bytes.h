/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_bytes.h: immutable bytes that several responses send: an event that many clients watch.
 * Reference-counted; any thread.
 *
 *     kc_auto(kc__http_shared_bytes) *frame = kc__http_shared_bytes_new(text);
 *     kc__http_body_sink_put(sink, frame);       each connection holds a reference until it is sent
 */
#ifndef KC_HTTP_SHARED_BYTES_H
#define KC_HTTP_SHARED_BYTES_H

#include "kc/mem.h"
#include "kc/ref.h"
#include "kc/str.h"

typedef struct kc__http_shared_bytes {
    kc_ref refs;
    size_t n;
    char p[];
} kc__http_shared_bytes;

/* Copies the text. */
static inline kc__http_shared_bytes *kc__http_shared_bytes_new(kc_str text)
{
    kc__http_shared_bytes *bytes = kc_alloc(sizeof(*bytes) + text.n);
    kc_ref_init(&bytes->refs);
    bytes->n = text.n;
    memcpy(bytes->p, text.p, text.n);
    return bytes;
}

static inline kc__http_shared_bytes *kc__http_shared_bytes_ref(kc__http_shared_bytes *bytes)
{
    kc_ref_add(&bytes->refs);
    return bytes;
}

/* NULL is allowed; returns NULL. */
static inline kc__http_shared_bytes *kc__http_shared_bytes_unref(kc__http_shared_bytes *bytes)
{
    if (bytes && kc_ref_drop(&bytes->refs))
        free(bytes);
    return NULL;
}
KC_AUTO_DEFINE(kc__http_shared_bytes, kc__http_shared_bytes_unref)

static inline kc_str kc__http_shared_bytes_str(const kc__http_shared_bytes *bytes)
{
    return kc_str_of(bytes->p, bytes->n);
}

#endif
