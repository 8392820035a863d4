/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h: limits of JSON input, and JSON output.
 *
 * kc_object_parse (object.h) and kc_view_parse (view.h) parse. Both take kc_json_opts and return
 * errors with a line and a column. They reject invalid UTF-8, NUL bytes, lone surrogates, depth and
 * size beyond the limits, numbers beyond 64 bits, and anything after the value.
 *
 * Canonical text is compact, keeps the order of members, escapes only what must be escaped ('"',
 * '\' and control characters), and formats numbers as Go does (1.50 becomes 1.5, 1e2 becomes 100),
 * so equal input yields equal output.
 */
#ifndef KC_JSON_H
#define KC_JSON_H

#include "kc/buf.h"
#include "kc/error.h"
#include "kc/view.h"

/* A list of field paths, such as spec.replicas or items[3].name. Free with kc_paths_done. */
typedef KC_VEC(char *) kc_paths;
void kc_paths_done(kc_paths *paths);

typedef struct kc_json_opts {
    size_t max_bytes;     /* Of text. Defaults to KC_JSON_MAX_BYTES. */
    unsigned max_depth;   /* Of nested objects and arrays. Defaults to KC_JSON_MAX_DEPTH, which is
                           * also the maximum. */
    kc_paths *duplicates; /* If set, receives the path of each member whose name occurs earlier in
                           * the same object (at most 100). */
} kc_json_opts;

#define KC_JSON_MAX_BYTES ((size_t)16 << 20)
#define KC_JSON_MAX_DEPTH 512u

/* Appends a value as canonical text. NULL is written as null. */
void kc_json_write(kc_buf *out, const kc_value *value);
/* The same, indented by two spaces per level. */
void kc_json_write_pretty(kc_buf *out, const kc_value *value);
/* Appends a string as a JSON string with quotes. Invalid UTF-8 becomes U+FFFD. */
void kc_json_quote(kc_buf *out, kc_str text);
/* Appends an array of n strings. */
void kc_json_quote_all(kc_buf *out, const kc_str *texts, size_t n);
/* Appends a number as Go's encoding/json does. Not for infinity or NaN. */
void kc_json_write_double(kc_buf *out, double number);

#endif
