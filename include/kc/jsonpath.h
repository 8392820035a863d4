/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonpath.h: the JSONPath of kubectl -o jsonpath and of printer columns.
 *
 *     kc_auto(kc_jsonpath) *ready = kc_jsonpath_parse(
 *         KC_STR("{.status.conditions[?(@.type==\"Ready\")].status}"), NULL, err);
 *     kc_jsonpath_print(ready, kc_view_root(view), NULL, &out, err);
 *
 * Text outside braces is printed unchanged. Inside them:
 *
 *   .name  ['name']  [2]  [-1]  [1:4]  [::2]  [0,3]  ['a','b']  [*]  .*  ..name  $  @
 *   [?(@.size>=3)]  [?(@.name)]  "text"  5  true  range …  end
 *
 * Syntax, errors and oddities are those of client-go, so that templates written for kubectl work
 * unchanged: dots in a name are escaped (.labels.kubernetes\.io/os), also in quotes. This
 * implementation differs where client-go is random or clearly wrong: members come in the order of
 * the document, numbers are compared by value, a range over nothing does nothing, a wildcard finds
 * nothing inside a string, and an existence filter ignores values that are not reachable.
 *
 * A path is compiled once and immutable; any number of threads may use it. An evaluation has limits
 * on visited values and results.
 */
#ifndef KC_JSONPATH_H
#define KC_JSONPATH_H

#include "kc/buf.h"
#include "kc/vec.h"
#include "kc/view.h"

typedef struct kc_jsonpath kc_jsonpath;

#define KC_JSONPATH_MAX_BYTES  ((size_t)64 << 10)
#define KC_JSONPATH_MAX_RANGES 32u /* Nesting depth. */

typedef struct kc_jsonpath_parse_opts {
    bool bare; /* Accept text without braces, as in a printer column: ".spec.replicas". By default,
                * text without braces is literal text. */
} kc_jsonpath_parse_opts;

typedef struct kc_jsonpath_opts {
    bool allow_missing; /* A missing member yields nothing. Defaults to an error. */
    size_t max_steps;   /* Visited values. Defaults to 10,000,000. */
    size_t max_results; /* Values held at any time. Defaults to 1,000,000. */
    size_t max_bytes;   /* Printed bytes. Defaults to 64 MiB. */
} kc_jsonpath_opts;

typedef KC_VEC(const kc_value *) kc_values;

static inline void kc_values_done(kc_values *values)
{
    if (values)
        kc_vec_done(values);
}

/* opts may be NULL. NULL on error (KC_BAD_REQUEST). The caller frees the result. */
kc_jsonpath *kc_jsonpath_parse(kc_str text, const kc_jsonpath_parse_opts *opts, kc_error *err);
kc_jsonpath *kc_jsonpath_free(kc_jsonpath *path);
KC_AUTO_DEFINE(kc_jsonpath, kc_jsonpath_free)

/*
 * Appends the values that the path finds, in order, literal texts included. Values are parts of
 * `root` or, for texts and literals, of the path, and live as long. opts may be NULL. On error
 * `ret` is unchanged.
 */
int kc_jsonpath_find(const kc_jsonpath *path, const kc_value *root, const kc_jsonpath_opts *opts,
                     kc_values *ret, kc_error *err);
/* Prints as kubectl does: the values of each pair of braces, separated by spaces. On error nothing
 * is appended. */
int kc_jsonpath_print(const kc_jsonpath *path, const kc_value *root, const kc_jsonpath_opts *opts,
                      kc_buf *out, kc_error *err);
/* Prints one value: a string unchanged, objects and arrays as JSON with sorted names. */
void kc_jsonpath_print_value(kc_buf *out, const kc_value *value);

#endif
