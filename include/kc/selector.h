/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selector.h: label selectors: parsed once, matched often.
 *
 *     kc_auto(kc_selector) *web = kc_selector_parse(KC_STR("app=web,tier in (front,edge)"), err);
 *     if (kc_selector_match(web, pod))
 *         …
 *
 * Text has the grammar of kubectl -l and of the labelSelector parameter: requirements separated by
 * commas, all of which must hold.
 *
 *     a=b  a==b  a!=b  a in (x,y)  a notin (x,y)  a  !a  a>5  a<5
 *
 * "!=" and "notin" hold for objects without the label; ">" and "<" only for labels that are whole
 * numbers. Errors have the words of Kubernetes. A selector is immutable and may be used by any
 * number of threads; matching allocates nothing.
 */
#ifndef KC_SELECTOR_H
#define KC_SELECTOR_H

#include "kc/object.h"

typedef struct kc_selector kc_selector;

#define KC_SELECTOR_MAX_BYTES ((size_t)1 << 20)

typedef enum kc_selector_op {
    KC_SELECT_EQUALS,        /* a=b */
    KC_SELECT_DOUBLE_EQUALS, /* a==b: the same, printed as it came. */
    KC_SELECT_IN,
    KC_SELECT_NOT_EQUALS,
    KC_SELECT_NOT_IN,
    KC_SELECT_EXISTS,
    KC_SELECT_DOES_NOT_EXIST,
    KC_SELECT_GREATER,
    KC_SELECT_LESS,
} kc_selector_op;

typedef struct kc_requirement {
    kc_str key;
    kc_selector_op op;
    const kc_str *values; /* Sorted. One for the equalities, ">" and "<"; none for the last two. */
    size_t n_values;
    int64_t number; /* Of ">" and "<"; set by the selector. */
} kc_requirement;

typedef struct kc_label {
    kc_str key, value;
} kc_label;

/* From text; the empty text selects everything. NULL on error (KC_BAD_REQUEST). The caller frees
 * the result. */
kc_selector *kc_selector_parse(kc_str text, kc_error *err);
/*
 * From a LabelSelector object, with its matchLabels and matchExpressions: an empty one selects
 * everything; null or NULL selects nothing, which is the safe reading of a selector that was left
 * out. NULL on error.
 */
kc_selector *kc_selector_of(const kc_value *label_selector, kc_error *err);
/* From requirements, which are checked and copied; none of them selects everything. */
kc_selector *kc_selector_new(const kc_requirement *requirements, size_t n, kc_error *err);
kc_selector *kc_selector_free(kc_selector *selector);
KC_AUTO_DEFINE(kc_selector, kc_selector_free)

/* True when it restricts nothing: NULL does not either. */
bool kc_selector_is_everything(const kc_selector *selector);
/* True only for the selector made of null. */
bool kc_selector_is_nothing(const kc_selector *selector);

/* The selector's, sorted by key; *ret_n is how many. */
const kc_requirement *kc_selector_requirements(const kc_selector *selector, size_t *ret_n);
/* True, and the value, when the selector requires the label `key` to have one certain value. */
bool kc_selector_exact(const kc_selector *selector, kc_str key, kc_str *ret_value);
/* Appends canonical text: requirements sorted by key, values sorted. It reads back as the same
 * selector, except that "nothing" is written as the empty text. */
void kc_selector_write(kc_buf *out, const kc_selector *selector);

/* Whether labels satisfy it. A NULL selector matches everything. Members that are not strings are
 * no labels. */
bool kc_selector_match(const kc_selector *selector, const kc_object *object);
/* Of canonical JSON text, such as kc_object_labels_json gives; empty for no labels. */
bool kc_selector_match_json(const kc_selector *selector, kc_str labels_json);
/* Of a view's metadata.labels; NULL for no labels. */
bool kc_selector_match_value(const kc_selector *selector, const kc_value *labels);
/* Of a list whose keys are distinct. */
bool kc_selector_match_labels(const kc_selector *selector, const kc_label *labels, size_t n);

#endif
