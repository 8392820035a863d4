/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip.c: zlib at level 1, in gzip format. Level 1 takes half the time of the next one and makes
 * JSON only a few per cent larger; kube-apiserver uses it too.
 */
#include "http/message/gzip.h"

#include <assert.h>
#include <zlib.h>

enum {
    LEVEL = 1,
    GZIP_FRAME = 15 + 16, /* The largest window, plus 16 for the gzip format. */
    MEMORY = 8,
    STEP = 16 * 1024, /* Bytes by which the output grows. */
};

struct kc__gzip {
    z_stream z;
};

/* A failed allocation aborts the process, as for all sizes that the server chooses. */
static void *allocate(void *user, unsigned count, unsigned size)
{
    (void)user;
    return kc_calloc(count, size);
}

static void release(void *user, void *block)
{
    (void)user;
    free(block);
}

kc__gzip *kc__gzip_new(void)
{
    kc__gzip *gzip = kc_new(kc__gzip);
    gzip->z.zalloc = allocate;
    gzip->z.zfree = release;
    int r = deflateInit2(&gzip->z, LEVEL, Z_DEFLATED, GZIP_FRAME, MEMORY, Z_DEFAULT_STRATEGY);
    assert(r == Z_OK);
    (void)r;
    return gzip;
}

kc__gzip *kc__gzip_free(kc__gzip *gzip)
{
    if (!gzip)
        return NULL;
    deflateEnd(&gzip->z);
    free(gzip);
    return NULL;
}

void kc__gzip_write(kc__gzip *gzip, kc_str text, kc__gzip_mode mode, kc_buf *out)
{
    static const int flush[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH};
    assert(text.n <= UINT32_MAX);
    gzip->z.next_in = (Bytef *)text.p;
    gzip->z.avail_in = (uInt)text.n;
    do {
        char *to = kc_buf_reserve(out, STEP);
        if (!to)
            return;
        gzip->z.next_out = (Bytef *)to;
        gzip->z.avail_out = STEP;
        deflate(&gzip->z, flush[mode]);
        out->n += STEP - gzip->z.avail_out;
    } while (gzip->z.avail_out == 0);
}
