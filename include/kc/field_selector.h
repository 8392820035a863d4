/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field_selector.h: selects objects by some of their fields.
 *
 *     kc_auto(kc_field_selector) *s =
 *         kc_field_selector_parse(KC_STR("metadata.name=web,status.phase!=Running"), err);
 *     if (kc_fields_check(pod_fields, s, err) == 0 &&
 *         kc_field_selector_match_object(s, pod_fields, pod))
 *         …
 *
 * Terms are field=value, field==value and field!=value, separated by commas; in a value "\,", "\="
 * and "\\" escape the character. A kc_fields is the compiled table of a kind's selectable fields:
 * names and paths. Both types are immutable, and any number of threads may use them.
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

/* Parses a selector; the empty text selects everything. NULL on error (KC_BAD_REQUEST), with
 * Kubernetes' message. The caller frees the result. */
kc_field_selector *kc_field_selector_parse(kc_str text, kc_error *err);
kc_field_selector *kc_field_selector_free(kc_field_selector *selector);
KC_AUTO_DEFINE(kc_field_selector, kc_field_selector_free)

/* True when it restricts nothing; also for NULL. */
bool kc_field_selector_is_everything(const kc_field_selector *selector);
/* The requirements, in the order of their text; *ret_n is their number. The selector owns them. */
const kc_field_requirement *kc_field_selector_requirements(const kc_field_selector *selector,
                                                           size_t *ret_n);
/* True, with the value, when the selector requires `field` to equal one value. If several terms
 * name the field, the first counts. */
bool kc_field_selector_exact(const kc_field_selector *selector, kc_str field, kc_str *ret_value);
/* Appends canonical text, which parses to the same selector. */
void kc_field_selector_write(kc_buf *out, const kc_field_selector *selector);
/* Appends a value with its special characters escaped. */
void kc_field_selector_escape(kc_buf *out, kc_str value);

/*
 * Renames a field or rewrites its value, or rejects the term with a negative return. *ret_field and
 * *ret_value are initialised to the input; new values are copied at once. Setting both to empty
 * drops the term.
 */
typedef int (*kc_field_transform_fn)(kc_str field, kc_str value, kc_str *ret_field,
                                     kc_str *ret_value, kc_error *err, void *user);
/* A new selector with the results of fn for each term. NULL when fn rejects a term. */
kc_field_selector *kc_field_selector_transform(const kc_field_selector *selector,
                                               kc_field_transform_fn fn, void *user, kc_error *err);

/* The value of a field, empty when it has none; must stay valid until the next call. */
typedef kc_str (*kc_field_value_fn)(kc_str field, void *user);
/* A NULL selector matches everything. */
bool kc_field_selector_match(const kc_field_selector *selector, kc_field_value_fn fn, void *user);

/* One selectable field of a kind. */
typedef struct kc_field_def {
    const char *field;     /* Its name in selectors: "spec.nodeName". */
    const char *path;      /* Its path (path.h). Defaults to the name. */
    const char *otherwise; /* Its value if absent or null. Defaults to "". */
} kc_field_def;

typedef struct kc_fields kc_fields;

/* Compiles a table. metadata.name and metadata.namespace are in every table. Copies the
 * definitions. NULL when a path is invalid. */
kc_fields *kc_fields_new(const kc_field_def *defs, size_t n, kc_error *err);
kc_fields *kc_fields_free(kc_fields *fields);
KC_AUTO_DEFINE(kc_fields, kc_fields_free)

bool kc_fields_has(const kc_fields *fields, kc_str field);
/* Fails with "field label not supported: X" for the first field that is not in the table. */
int kc_fields_check(const kc_fields *fields, const kc_field_selector *selector, kc_error *err);
/* A field's value as selectors compare it: strings unchanged, numbers and booleans as JSON;
 * `otherwise` for any other type. Numbers are formatted into `scratch`. */
kc_str kc_fields_value(const kc_fields *fields, const kc_value *root, kc_str field,
                       kc_buf *scratch);

bool kc_field_selector_match_value(const kc_field_selector *selector, const kc_fields *fields,
                                   const kc_value *root);
/* Matches an object; parses it only if the selector uses more than its name and namespace. */
bool kc_field_selector_match_object(const kc_field_selector *selector, const kc_fields *fields,
                                    const kc_object *object);

#endif
