/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field_selector.h: selecting objects by a few of their fields.
 *
 *     kc_auto(kc_field_selector) *s =
 *         kc_field_selector_parse(KC_STR("metadata.name=web,status.phase!=Running"), err);
 *     if (kc_fields_check(pod_fields, s, err) == 0 && kc_field_selector_match_object(s, pod_fields,
 * pod)) …
 *
 * Terms are field=value, field==value and field!=value, separated by commas; in a value "\,", "\="
 * and "\\" stand for the character itself. Which fields a kind lets itself be selected by is a
 * kc_fields: a table of names and paths, compiled once. Both are immutable and may be used by any
 * number of threads.
 */
#ifndef KC_FIELD_SELECTOR_H
#define KC_FIELD_SELECTOR_H

#include "kc/object.h"

typedef struct kc_field_selector kc_field_selector;

#define KC_FIELD_SELECTOR_MAX_BYTES ((size_t)1 << 20)

typedef struct kc_field_requirement {
    kc_str field, value;
    bool negated; /* "!=". */
} kc_field_requirement;

/* The empty text selects everything. NULL on error (KC_BAD_REQUEST), in the words of Kubernetes.
 * The caller frees the result. */
kc_field_selector *kc_field_selector_parse(kc_str text, kc_error *err);
kc_field_selector *kc_field_selector_free(kc_field_selector *selector);
KC_AUTO_DEFINE(kc_field_selector, kc_field_selector_free)

/* True when it restricts nothing: NULL does not either. */
bool kc_field_selector_is_everything(const kc_field_selector *selector);
/* The selector's, in the order of the text of the terms; *ret_n is how many. */
const kc_field_requirement *kc_field_selector_requirements(const kc_field_selector *selector,
                                                           size_t *ret_n);
/* True, and the value, when the selector requires `field` to have one certain value. Of several
 * terms for a field the first counts. */
bool kc_field_selector_exact(const kc_field_selector *selector, kc_str field, kc_str *ret_value);
/* Appends canonical text, which reads back as the same selector. */
void kc_field_selector_write(kc_buf *out, const kc_field_selector *selector);
/* Appends a value with its special characters escaped, for building a selector's text. */
void kc_field_selector_escape(kc_buf *out, kc_str value);

/*
 * Renames a field or rewrites its value, or refuses it with a negative return. *ret_field and
 * *ret_value come as they are and may be left so; what they are set to is copied at once. Both
 * empty drop the term.
 */
typedef int (*kc_field_transform_fn)(kc_str field, kc_str value, kc_str *ret_field,
                                     kc_str *ret_value, kc_error *err, void *user);
/* A new selector of what fn makes of each term. NULL when it refuses one. */
kc_field_selector *kc_field_selector_transform(const kc_field_selector *selector,
                                               kc_field_transform_fn fn, void *user, kc_error *err);

/* The value of a field, empty when it has none; it must live until the next call. */
typedef kc_str (*kc_field_value_fn)(kc_str field, void *user);
/* A NULL selector matches everything. */
bool kc_field_selector_match(const kc_field_selector *selector, kc_field_value_fn fn, void *user);

/* One field a kind can be selected by. */
typedef struct kc_field_def {
    const char *field;     /* As selectors name it: "spec.nodeName". */
    const char *path;      /* Where it is (path.h). Defaults to the name. */
    const char *otherwise; /* Its value where it is absent or null. Defaults to "". */
} kc_field_def;

typedef struct kc_fields kc_fields;

/* metadata.name and metadata.namespace are in every table. The definitions are copied. NULL when a
 * path is wrong. */
kc_fields *kc_fields_new(const kc_field_def *defs, size_t n, kc_error *err);
kc_fields *kc_fields_free(kc_fields *fields);
KC_AUTO_DEFINE(kc_fields, kc_fields_free)

bool kc_fields_has(const kc_fields *fields, kc_str field);
/* Fails with "field label not supported: X" for the first field that is not in the table. */
int kc_fields_check(const kc_fields *fields, const kc_field_selector *selector, kc_error *err);
/* A field's value as selectors compare it: strings as they are, numbers and booleans as JSON;
 * `otherwise` for anything else. Numbers are written to `scratch`. */
kc_str kc_fields_value(const kc_fields *fields, const kc_value *root, kc_str field,
                       kc_buf *scratch);

bool kc_field_selector_match_value(const kc_field_selector *selector, const kc_fields *fields,
                                   const kc_value *root);
/* The same; the object is parsed only if the selector asks for more than its name and namespace. */
bool kc_field_selector_match_object(const kc_field_selector *selector, const kc_fields *fields,
                                    const kc_object *object);

#endif
