/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.h: the parameters of a request, as Go's url.ParseQuery and Kubernetes' conversions read
 * them.
 *
 *     kc__query q;
 *     int64_t limit;
 *     if (kc__query_parse(target.query, NULL, &request->arena, &q, err) < 0 ||
 *         kc__query_i64(&q, KC_STR("limit"), 0, &limit, err) < 0)
 *         return …;                                                     400
 *     bool watch = kc__query_flag(&q, KC_STR("watch"));
 */
#ifndef KC_HTTP_QUERY_H
#define KC_HTTP_QUERY_H

#include "kc/arena.h"
#include "kc/error.h"

typedef struct kc__query_opts {
    size_t max_bytes;  /* Of the text as it came. Defaults to 64 KiB. */
    size_t max_params; /* Defaults to 1000. */
} kc__query_opts;

/* Decoded; any bytes. */
typedef struct kc__query_param {
    kc_str name, value;
} kc__query_param;

/* In the order in which they came, repeated ones included. All of it is the arena's. */
typedef struct kc__query {
    const kc__query_param *params;
    size_t n;
    size_t n_skipped; /* Parts that are not well-formed. */
} kc__query;

/*
 * Reads what follows the '?'. Parts with a broken escape or a ';' are skipped and counted, as an
 * API server of Go does; only the limits give an error. `opts` may be NULL. `text` need not outlive
 * the call.
 */
int kc__query_parse(kc_str text, const kc__query_opts *opts, kc_arena *arena, kc__query *ret,
                    kc_error *err);

/* The first value of `name`. False, and *ret untouched, when there is none. */
bool kc__query_get(const kc__query *query, kc_str name, kc_str *ret);
/* Its values one after the other: *at starts at 0. */
bool kc__query_next(const kc__query *query, kc_str name, size_t *at, kc_str *ret);

static inline bool kc__query_has(const kc__query *query, kc_str name)
{
    kc_str ignored;
    return kc__query_get(query, name, &ignored);
}

/*
 * Typed values; `absent` is the result where the parameter is missing. Errors are KC_BAD_REQUEST in
 * the words of Go's strconv.
 *
 * kc__query_flag is how Kubernetes reads the booleans of its options (watch, allowWatchBookmarks,
 * force): "0" and "false" in any case are false, everything else is true, even the empty value.
 * kc__query_bool is strconv.ParseBool: 1, t, T, TRUE, true, True and their opposites.
 */
bool kc__query_flag(const kc__query *query, kc_str name);
int kc__query_bool(const kc__query *query, kc_str name, bool absent, bool *ret, kc_error *err);
int kc__query_i64(const kc__query *query, kc_str name, int64_t absent, int64_t *ret, kc_error *err);

#endif
