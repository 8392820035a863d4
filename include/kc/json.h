/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h: limits of what is read, and writing JSON text.
 *
 * Reading happens where the result is: kc_object_parse (object.h) and kc_view_parse (view.h). Both
 * take kc_json_opts and give errors with a line and a column. What is refused: text that is not
 * UTF-8, NUL bytes, lone surrogates, depth and size beyond the limits, numbers beyond 64 bits,
 * anything after the value.
 *
 * Canonical text is compact, keeps the order of members, escapes only what must be ('"', '\' and
 * control characters), and writes numbers as Go does (1.50 becomes 1.5, 1e2 becomes 100), so equal
 * text in gives equal text out.
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
                             also the most. */
    kc_paths *duplicates; /* If set, gets the path of each member whose name stood earlier in the
                             same object (at most 100). */
} kc_json_opts;

#define KC_JSON_MAX_BYTES ((size_t)16 << 20)
#define KC_JSON_MAX_DEPTH 512u

/* Appends a value as canonical text. NULL is written as null. */
void kc_json_write(kc_buf *out, const kc_value *value);
/* The same, indented by two spaces a level, for people. */
void kc_json_write_pretty(kc_buf *out, const kc_value *value);
/* Appends a string as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD. */
void kc_json_quote(kc_buf *out, kc_str text);
/* Appends a number as Go's encoding/json does. Not for infinity or NaN. */
void kc_json_write_double(kc_buf *out, double number);

#endif
