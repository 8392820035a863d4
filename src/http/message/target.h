/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h: parses the target of a request line (or HTTP/2's :path).
 *
 *     kc__target t;
 *     if (kc__target_parse(raw, NULL, &request->arena, &t, err) < 0)
 *         return …;                                 400 or 413
 *     kc__target_segment(&t, 0) is "api", …
 *
 * No other code decodes or resolves the path again: routing, authorization, logs and handlers all
 * use the same `path`.
 */
#ifndef KC_HTTP_TARGET_H
#define KC_HTTP_TARGET_H

#include "kc/arena.h"
#include "kc/error.h"

typedef struct kc__target_opts {
    size_t max_bytes;    /* Of the encoded target. Defaults to 64 KiB. */
    size_t max_segments; /* Of the path. Defaults to 256. */
} kc__target_opts;

/* All memory is in the arena. */
typedef struct kc__target {
    kc_str raw;       /* As received; for logs. Without control characters and spaces. */
    kc_str authority; /* host[:port] of an absolute-form, which overrides the Host header; otherwise
                         empty. */
    kc_str raw_path;  /* As received, still encoded. "" if an absolute-form has none. */
    kc_str path;  /* Decoded, resolved, starting with '/'. Any bytes except control characters. */
    kc_str query; /* After the '?', still encoded; for query.h. */
    const kc_str *segments; /* Of the path: "/api/v1/" has "api" and "v1". Never empty strings. */
    size_t n_segments;
    bool trailing_slash; /* The path ends in '/' and is not "/". */
} kc__target;

/*
 * Parses `raw`. Origin-form ("/api?watch=1") and absolute-form ("http://host/api") are accepted;
 * "*" and "host:port" are rejected, as are control characters, spaces and '#' in the text, invalid
 * escapes, escaped control characters and escaped dot segments in the path ("..%2f"). `opts` may be
 * NULL. The result is in the arena; `raw` need not outlive the call.
 */
int kc__target_parse(kc_str raw, const kc__target_opts *opts, kc_arena *arena, kc__target *ret,
                     kc_error *err);

/* Returns segment `at`; an empty slice after the last one. */
static inline kc_str kc__target_segment(const kc__target *target, size_t at)
{
    return at < target->n_segments ? target->segments[at] : (kc_str){0};
}

#endif
