/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h: what a request is for: the target of its request line (or HTTP/2's :path), taken apart.
 *
 *     kc__target t;
 *     if (kc__target_parse(raw, NULL, &request->arena, &t, err) < 0)
 *         return …;                                 400 or 413
 *     kc__target_segment(&t, 0) is "api", …
 *
 * After this nobody decodes or resolves anything again: routing, authorization, the log and the
 * handlers all see the same `path`.
 */
#ifndef KC_HTTP_TARGET_H
#define KC_HTTP_TARGET_H

#include "kc/arena.h"
#include "kc/error.h"

typedef struct kc__target_opts {
    size_t max_bytes;    /* Of the target as it came. Defaults to 64 KiB. */
    size_t max_segments; /* Of the path. Defaults to 256. */
} kc__target_opts;

/* All of it is the arena's. */
typedef struct kc__target {
    kc_str raw;       /* As it came; for logs. No control characters, no space. */
    kc_str authority; /* host[:port] of an absolute-form, which overrules the Host header; otherwise
                         empty. */
    kc_str raw_path;  /* As it came, still encoded. "" where an absolute-form has none. */
    kc_str path;      /* Decoded, resolved, beginning with '/'. Any bytes but control characters. */
    kc_str query;     /* What follows the '?', still encoded; for query.h. */
    const kc_str *segments; /* Of the path: "/api/v1/" has "api" and "v1". None is empty. */
    size_t n_segments;
    bool trailing_slash; /* The path ends in '/' and is not "/". */
} kc__target;

/*
 * Takes `raw` apart. Origin-form ("/api?watch=1") and absolute-form ("http://host/api") are
 * understood; "*" and "host:port" are refused, as are control characters, spaces and '#' in the
 * text, broken escapes and escaped control characters in the path. `opts` may be NULL. The result
 * is in the arena; `raw` need not outlive the call.
 */
int kc__target_parse(kc_str raw, const kc__target_opts *opts, kc_arena *arena, kc__target *ret,
                     kc_error *err);

/* Segment `at`; an empty slice beyond the last. */
static inline kc_str kc__target_segment(const kc__target *target, size_t at)
{
    return at < target->n_segments ? target->segments[at] : (kc_str){0};
}

#endif
