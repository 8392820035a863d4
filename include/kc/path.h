/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.h: the path of one value inside another.
 *
 *     kc_auto(kc_path) *image = kc_path_parse(KC_STR("spec.containers[0].image"), err);
 *     kc_str text = kc_value_as_str(kc_path_get(image, kc_view_root(view)));
 *     kc_path_set(image, edit, kc_node_str(edit, KC_STR("web:2")), NULL, err);
 *
 * Steps are names after dots, indexes in brackets, and quoted names in brackets for names that
 * contain dots or brackets: metadata.annotations['a.b/c']. A backslash in a bare name escapes the
 * next character (labels.kubernetes\.io/os); in quotes, JSON's escapes and \' apply. A leading dot
 * is allowed (.spec.replicas); the empty path is the value itself. For wildcards, filters and
 * several results see jsonpath.h.
 *
 * A path is compiled once and immutable; any number of threads may use it.
 */
#ifndef KC_PATH_H
#define KC_PATH_H

#include "kc/edit.h"

typedef struct kc_path kc_path;

#define KC_PATH_MAX_BYTES ((size_t)64 << 10)
#define KC_PATH_MAX_STEPS ((size_t)KC_JSON_MAX_DEPTH)

/* A name (possibly empty, never with p == NULL), or an index when name.p is NULL. */
typedef struct kc_path_step {
    kc_str name;
    size_t index;
} kc_path_step;

/* NULL on error, which gives the position. The caller frees the result. */
kc_path *kc_path_parse(kc_str text, kc_error *err);
/* From steps, which are copied. At most KC_PATH_MAX_STEPS. */
kc_path *kc_path_of(const kc_path_step *steps, size_t n, kc_error *err);
kc_path *kc_path_free(kc_path *path);
KC_AUTO_DEFINE(kc_path, kc_path_free)

/* The canonical text, equal for equal paths: bare names where possible, else ['…']. Terminated; the
 * path owns it. */
kc_str kc_path_text(const kc_path *path);
/* The steps, owned by the path; *ret_n is their number. */
const kc_path_step *kc_path_steps(const kc_path *path, size_t *ret_n);

/* The value at the path; NULL when a step is missing or finds a value of the wrong type. */
const kc_value *kc_path_get(const kc_path *path, const kc_value *value);
kc_node *kc_path_find(const kc_path *path, const kc_node *node);

typedef struct kc_path_set_opts {
    bool create; /* Create objects (and arrays, for index 0) that are missing or null on the way.
                  * Defaults to an error. */
} kc_path_set_opts;

/*
 * Sets `value` (not NULL), replacing the old value or adding a member; an index equal to the
 * array's length appends. The empty path sets the edit's root. opts may be NULL. On error, which
 * names the step that failed, nothing has changed.
 */
int kc_path_set(const kc_path *path, kc_edit *edit, kc_node *value, const kc_path_set_opts *opts,
                kc_error *err);
/* True when the value existed. Later items of an array move up. */
bool kc_path_remove(const kc_path *path, kc_edit *edit);

/* Append a step to the text of a path, in the format of kc_path_text: for messages that are built
 * while descending a tree. */
void kc_path_write_name(kc_buf *text, kc_str name);
void kc_path_write_index(kc_buf *text, size_t index);

#endif
