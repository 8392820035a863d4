/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selector.h: label selectors: parsed once, matched often.
 *
 *     kc_auto(kc_selector) *web = kc_selector_parse(KC_STR("app=web,tier in (front,edge)"), err);
 *     if (kc_selector_match(web, pod))
 *         …
 *
 * The grammar is that of kubectl -l and of the labelSelector parameter: requirements separated by
 * commas, all of which must hold.
 *
 *   a=b  a==b  a!=b  a in (x,y)  a notin (x,y)  a  !a  a>5  a<5
 *
 * "!=" and "notin" hold for objects without the label; ">" and "<" only for labels that are
 * integers. Error messages are those of Kubernetes. A selector is immutable, and any number of
 * threads may use it; matching allocates nothing.
 */
#ifndef KC_SELECTOR_H
#define KC_SELECTOR_H

#include "kc/object.h"

typedef struct kc_selector kc_selector;

#define KC_SELECTOR_MAX_BYTES ((size_t)1 << 20)

typedef enum kc_selector_op {
    KC_SELECT_EQUALS,        /* a=b */
    KC_SELECT_DOUBLE_EQUALS, /* a==b: the same, printed as written. */
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
    /* Sorted. One for the equalities, ">" and "<"; none for the last two operators. */
    const kc_str *values;
    size_t n_values;
    int64_t number; /* For ">" and "<"; set by the selector. */
} kc_requirement;

typedef struct kc_label {
    kc_str key, value;
} kc_label;

/* Parses text; the empty text selects everything. NULL on error (KC_BAD_REQUEST). The caller frees
 * the result. */
kc_selector *kc_selector_parse(kc_str text, kc_error *err);
/*
 * From a LabelSelector object, with matchLabels and matchExpressions: an empty one selects
 * everything; null or NULL selects nothing, the safe interpretation of a missing selector. NULL on
 * error.
 */
kc_selector *kc_selector_of(const kc_value *label_selector, kc_error *err);
/* From requirements, which are validated and copied; an empty list selects everything. */
kc_selector *kc_selector_new(const kc_requirement *requirements, size_t n, kc_error *err);
kc_selector *kc_selector_free(kc_selector *selector);
KC_AUTO_DEFINE(kc_selector, kc_selector_free)

/* True when it restricts nothing; also for NULL. */
bool kc_selector_is_everything(const kc_selector *selector);
/* True only for the selector created from null. */
bool kc_selector_is_nothing(const kc_selector *selector);

/* The requirements, sorted by key; *ret_n is their number. The selector owns them. */
const kc_requirement *kc_selector_requirements(const kc_selector *selector, size_t *ret_n);
/* True, with the value, when the selector requires the label `key` to equal one value. */
bool kc_selector_exact(const kc_selector *selector, kc_str key, kc_str *ret_value);
/* Appends canonical text: requirements sorted by key, values sorted. It parses to the same
 * selector, except that "nothing" is written as the empty text. */
void kc_selector_write(kc_buf *out, const kc_selector *selector);

/* True when the labels satisfy the selector. A NULL selector matches everything. Members that are
 * not strings are ignored. */
bool kc_selector_match(const kc_selector *selector, const kc_object *object);
/* Matches canonical JSON text, such as kc_object_labels_json returns; empty for no labels. */
bool kc_selector_match_json(const kc_selector *selector, kc_str labels_json);
/* Matches metadata.labels of a view; NULL for no labels. */
bool kc_selector_match_value(const kc_selector *selector, const kc_value *labels);
/* Matches a list whose keys are distinct. */
bool kc_selector_match_labels(const kc_selector *selector, const kc_label *labels, size_t n);

#endif
