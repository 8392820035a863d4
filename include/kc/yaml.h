/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml.h: YAML in and out, as Kubernetes reads and writes it.
 *
 *     kc_auto(kc_view) *config = kc_yaml_parse(text, NULL, err);
 *     kc_yaml_each(manifests, NULL, apply_one, client, err);
 *     kc_yaml_write(&out, kc_view_root(config));
 *
 * For text to objects use kc_codec_yaml of codec.h; what follows holds for it too.
 *
 * Reading. A scalar without quotes gets its type by the rules of YAML 1.1 that kubectl uses: yes,
 * no, on, off, y and n are booleans, 0777 and 0o777 are octal, 1_000 is a thousand, dates stay
 * strings. Keys become strings (0x10 becomes "16"). Of keys that occur twice the last counts, and
 * each is reported in opts->duplicates; what a merge key (<<) brings is no duplicate, and of it and
 * the keys beside it the one further down counts. Text that starts with '{' is tried as JSON first,
 * also as several objects one after the other. Documents that are empty, or null, are skipped.
 *
 * Refused, with a line and a column: what json.h refuses, .inf and .nan, null or a collection as a
 * key, whole decimal numbers beyond 64 bits, an anchor within itself, and the limits below.
 *
 * Writing. Block style, two spaces a level, lists not indented, keys in kubectl's order (digits by
 * their value, other signs before letters), strings quoted where they would be read as something
 * else, text of several lines as a literal block, lines folded after 80 columns.
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
 * The one document in `yaml`, which may be of any type; empty text gives null, a second document is
 * an error. opts may be NULL. The caller frees the view. NULL on error: KC_BAD_REQUEST with a line
 * and a column, or KC_TOO_LARGE.
 */
kc_view *kc_yaml_parse(kc_str yaml, const kc_json_opts *opts, kc_error *err);

/* Gets each document, now its own. A negative return stops reading and is returned. */
typedef int (*kc_yaml_each_fn)(kc_view *view, void *user);

/* Reads document by document. Those before a bad one have been handed over when the error is
 * returned. opts may be NULL. */
int kc_yaml_each(kc_str yaml, const kc_json_opts *opts, kc_yaml_each_fn each, void *user,
                 kc_error *err);

/* The line, from 1, in which a member of the first document stands: names with dots between them.
 * 0 when it is not there (also when it came by a merge key). For errors. */
size_t kc_yaml_line_of(kc_str yaml, const char *names);

/* Appends a value as one document, without "---", with a line break at the end. NULL is written as
 * null. */
void kc_yaml_write(kc_buf *out, const kc_value *value);

#endif
