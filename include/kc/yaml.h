/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml.h: reads and writes YAML as Kubernetes does.
 *
 *     kc_auto(kc_view) *config = kc_yaml_parse(text, NULL, err);
 *     kc_yaml_each(manifests, NULL, apply_one, client, err);
 *     kc_yaml_write(&out, kc_view_root(config));
 *
 * To convert text to objects use kc_codec_yaml of codec.h; the following rules apply to it, too.
 *
 * Reading. Scalars without quotes are typed by the rules of YAML 1.1 that kubectl uses: yes, no,
 * on, off, y and n are booleans, 0777 and 0o777 are octal, 1_000 is a thousand, dates stay strings.
 * Keys become strings (0x10 becomes "16"). The last of several equal keys counts, and each
 * duplicate is reported in opts->duplicates. Members from a merge key (<<) are no duplicates; of a
 * merged member and an explicit one the later counts. Text that starts with '{' is first tried as
 * JSON, also as several objects in a row. Documents that are empty or null are skipped.
 *
 * Rejected, with a line and a column: what json.h rejects, .inf and .nan, null or a collection as a
 * key, decimal integers beyond 64 bits, an anchor that contains itself, and the limits below.
 *
 * Writing. Block style, two spaces per level, lists not indented, keys in kubectl's order (digits
 * by their value, other signs before letters), strings quoted where they would be read as another
 * type, text of several lines as a literal block, lines folded after 80 columns.
 */
#ifndef KC_YAML_H
#define KC_YAML_H

#include "kc/buf.h"
#include "kc/json.h"
#include "kc/view.h"

/* Bytes of JSON that anchors, aliases and merge keys of a text of n bytes may copy. */
#define KC_YAML_MAX_EXPANSION(n) (((size_t)256 << 10) + 10 * (size_t)(n))
/* Anchors in one document. */
#define KC_YAML_MAX_ANCHORS 10000u
/* Lines with a %TAG directive in one text. */
#define KC_YAML_MAX_TAG_DIRECTIVES 16u

/*
 * Parses the only document in `yaml`, of any type; empty text yields null, a second document is an
 * error. opts may be NULL. The caller frees the view. NULL on error: KC_BAD_REQUEST with a line and
 * a column, or KC_TOO_LARGE.
 */
kc_view *kc_yaml_parse(kc_str yaml, const kc_json_opts *opts, kc_error *err);
/* Parses the first document and ignores what follows it, as Kubernetes does with request bodies. An
 * empty first document yields null. */
kc_view *kc_yaml_parse_first(kc_str yaml, const kc_json_opts *opts, kc_error *err);

/* Receives each document and owns it. A negative return stops reading and is returned. */
typedef int (*kc_yaml_each_fn)(kc_view *view, void *user);

/* Reads document by document. Documents before an invalid one have already been passed to the
 * callback when the error is returned. opts may be NULL. */
int kc_yaml_each(kc_str yaml, const kc_json_opts *opts, kc_yaml_each_fn each, void *user,
                 kc_error *err);

/* The same with the line, from 1, on which the content of each document begins. */
typedef int (*kc_yaml_each_line_fn)(kc_view *view, size_t line, void *user);
int kc_yaml_each_line(kc_str yaml, const kc_json_opts *opts, kc_yaml_each_line_fn each, void *user,
                      kc_error *err);

/* The line, from 1, of a member of the first document: names joined by dots. 0 when the member is
 * absent (also when it came from a merge key). For errors. */
size_t kc_yaml_line_of(kc_str yaml, const char *names);

/* Appends a value as one document, without "---", with a newline at the end. NULL is written as
 * null. */
void kc_yaml_write(kc_buf *out, const kc_value *value);
/* Appends a value as one element of a list under a top-level key, formatted as by kc_yaml_write,
 * with a newline at the end: for documents written incrementally. */
void kc_yaml_write_element(kc_buf *out, const kc_value *value);

#endif
