/* SPDX-License-Identifier: Apache-2.0 */
/*
 * location.h: the validation location: a value inside an object under validation, with its path.
 *
 * Locations are on the stack, each pointing to its parent. The path
 * ("spec.template.spec.containers[0].name") is formatted only for an error, so validating a correct
 * object allocates nothing.
 *
 *     kc__location root = kc__location_root(object, errors);
 *     kc__location spec = kc__location_member(&root, "spec");
 *     kc__location name = kc__location_member(&spec, "name");
 *     if (!kc__location_is_set(&name))
 *         kc__location_error(&name, KC_FIELD_REQUIRED, NULL);
 */
#ifndef KC_APISERVER_PLACE_H
#define KC_APISERVER_PLACE_H

#include "kc/buf.h"
#include "kc/field_error.h"
#include "kc/map.h"
#include "kc/names.h"

typedef struct kc__location {
    const struct kc__location *up; /* The parent. NULL: this is the object itself. */
    const char *name;              /* Name of a struct member; NULL: a map entry or list item. */
    kc_str key;                    /* Key of a map entry; empty: a list item. */
    size_t index;                  /* Index of a list item. */
    const kc_value *value;         /* NULL: absent. Never JSON null. */
    kc_field_errors *errors;
} kc__location;

kc__location kc__location_root(const kc_value *object, kc_field_errors *errors);
kc__location kc__location_member(const kc__location *up, const char *name);
kc__location kc__location_item(const kc__location *up, const kc_value *value, size_t index);
kc__location kc__location_entry(const kc__location *up, kc_str key, const kc_value *value);
/* Returns the path, allocated in the arena of the errors. */
const char *kc__location_path(const kc__location *location);

/* Whether the value is present and not a zero value of Go: "", [], {} of a map, 0 or false. A
 * pointer to an empty struct is {} as well: check `value` for those. */
bool kc__location_is_set(const kc__location *location);
kc_str kc__location_text(const kc__location *location);
int64_t kc__location_number(const kc__location *location);
bool kc__location_text_is(const kc__location *location, const char *text);
/* Returns the text of a member, without creating a location for it. */
kc_str kc__location_member_text(const kc__location *location, const char *name);
bool kc__location_member_is_true(const kc__location *location, const char *name);

/* Adds an error about the value. `detail` may be NULL. */
void kc__location_error(const kc__location *location, kc_field_error_type type, const char *detail,
                        ...) KC_PRINTF(3, 4);
/* The same, but the error shows another value: `json`, as JSON text. */
void kc__location_error_json(const kc__location *location, kc_field_error_type type,
                             const char *json, const char *detail, ...) KC_PRINTF(4, 5);
/* The same, but the error shows a text that is not the value. */
void kc__location_error_text(const kc__location *location, kc_field_error_type type, kc_str shown,
                             const char *detail);
/* Adds an Invalid error about a number; an absent number is shown as 0. */
void kc__location_error_number(const kc__location *location, const char *detail);
/* Adds "Unsupported value: …: supported values: …". `values` ends with NULL. */
void kc__location_not_supported(const kc__location *location, const char *const *values);

/* ---- checks that many kinds share ---- */

void kc__validate_name(const kc__location *location, kc_name_rule rule);
/* The name is required and must conform to the rule. */
void kc__validate_needed_name(const kc__location *location, kc_name_rule rule);
void kc__validate_at_least_0(const kc__location *location);
void kc__validate_above_0(const kc__location *location);
void kc__validate_between(const kc__location *location, int64_t low, int64_t high);
void kc__validate_port(const kc__location *location); /* 1 to 65535. */
void kc__validate_port_or_name(const kc__location *location);
void kc__validate_labels(const kc__location *location);
/* Validates a LabelSelector. */
void kc__validate_selector(const kc__location *location);
/* Validates an IP address: "10.0.0.1", "fd00::1". */
void kc__validate_ip(const kc__location *location);
/* Validates a domain-prefixed path: "example.com/controller". */
void kc__validate_domain_path(const kc__location *location);
/* The quantity must not be negative. */
void kc__validate_quantity_at_least_0(const kc__location *location);
/* The value must be a number or a percentage, not negative; at most 100% if `at_most_100`. */
void kc__validate_number_or_percent(const kc__location *location, bool at_most_100);
int64_t kc__location_number_or_percent(const kc__location *location);

/* Adds a Duplicate error if the text is in `seen`; adds the text to `seen`. */
void kc__validate_unique(const kc__location *location, kc_map *seen);
/* The value must equal `old`: "field is immutable". */
void kc__validate_same(const kc__location *location, const kc_value *old);

#endif
