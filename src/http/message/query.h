/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.h: the query parameters of a request, parsed as by Go's url.ParseQuery and the conversions
 * of Kubernetes.
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
    size_t max_bytes;  /* Of the encoded text. Defaults to 64 KiB. */
    size_t max_params; /* Defaults to 1000. */
} kc__query_opts;

/* Decoded; may contain any bytes. */
typedef struct kc__query_param {
    kc_str name, value;
} kc__query_param;

/* In the order of the text, with repetitions. All memory is in the arena. */
typedef struct kc__query {
    const kc__query_param *params;
    size_t n;
    size_t n_skipped; /* Number of malformed parts. */
} kc__query;

/*
 * Parses the text after the '?'. Parts with an invalid escape or a ';' are skipped and counted, as
 * in kube-apiserver; only exceeded limits are errors. `opts` may be NULL. `text` need not outlive
 * the call.
 */
int kc__query_parse(kc_str text, const kc__query_opts *opts, kc_arena *arena, kc__query *ret,
                    kc_error *err);

/* Returns the first value of `name`. False, and *ret untouched, if there is none. */
bool kc__query_get(const kc__query *query, kc_str name, kc_str *ret);
/* Iterates over the values of `name`: *at starts at 0. */
bool kc__query_next(const kc__query *query, kc_str name, size_t *at, kc_str *ret);

static inline bool kc__query_has(const kc__query *query, kc_str name)
{
    kc_str ignored;
    return kc__query_get(query, name, &ignored);
}

/*
 * Typed values; `absent` is the result if the parameter is missing. Errors are KC_BAD_REQUEST with
 * the wording of Go's strconv.
 *
 * kc__query_flag parses booleans as Kubernetes does for its options (watch, allowWatchBookmarks,
 * force): "0" and "false" in any case are false, everything else is true, even the empty value.
 * kc__query_bool is strconv.ParseBool: 1, t, T, TRUE, true, True and their opposites.
 */
bool kc__query_flag(const kc__query *query, kc_str name);
int kc__query_bool(const kc__query *query, kc_str name, bool absent, bool *ret, kc_error *err);
int kc__query_i64(const kc__query *query, kc_str name, int64_t absent, int64_t *ret, kc_error *err);

#endif
