/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h: a value of an object, and how one came to it: what validation works on.
 *
 * Places stand on the stack, each pointing to the one above it; only an error has its path written
 * out ("spec.template.spec.containers[0].name"), so an object that is right allocates nothing.
 *
 *     kc__place root = kc__place_root(object, errors), spec = kc__member(&root, "spec");
 *     kc__place name = kc__member(&spec, "name");
 *     if (!kc__there(&name))
 *         kc__wrong(&name, KC_FIELD_REQUIRED, NULL);
 */
#ifndef KC_APISERVER_PLACE_H
#define KC_APISERVER_PLACE_H

#include "kc/buf.h"
#include "kc/field_error.h"
#include "kc/map.h"
#include "kc/names.h"

typedef struct kc__place {
    const struct kc__place *up; /* NULL: the object itself. */
    const char *name;           /* A member's; NULL: */
    kc_str key;                 /* one of a map, by its key, */
    size_t index;               /* or one of a list, when the key is empty. */
    const kc_value *value;      /* NULL: absent. Never null in JSON. */
    kc_field_errors *errors;
} kc__place;

kc__place kc__place_root(const kc_value *object, kc_field_errors *errors);
kc__place kc__member(const kc__place *up, const char *name);
kc__place kc__item(const kc__place *up, const kc_value *value, size_t index);
kc__place kc__entry(const kc__place *up, kc_str key, const kc_value *value);
/* Its path, in the arena of the errors. */
const char *kc__place_path(const kc__place *place);

/* There, and neither "", [], {} of a map, 0 nor false: as Go's zero values are. An empty struct
 * that a pointer points to is {} too: use `value` for those. */
bool kc__there(const kc__place *place);
kc_str kc__text(const kc__place *place);
int64_t kc__number(const kc__place *place);
bool kc__text_is(const kc__place *place, const char *text);
/* A member's text, without a place of its own. */
kc_str kc__text_in(const kc__place *place, const char *name);
bool kc__true_in(const kc__place *place, const char *name);

/* Adds an error about the value. `detail` may be NULL. */
void kc__wrong(const kc__place *place, kc_field_error_type type, const char *detail, ...)
    KC_PRINTF(3, 4);
/* The same showing another value: JSON text. */
void kc__wrong_as(const kc__place *place, kc_field_error_type type, const char *json,
                  const char *detail, ...) KC_PRINTF(4, 5);
/* The same showing a text that is not the value. */
void kc__wrong_text(const kc__place *place, kc_field_error_type type, kc_str shown,
                    const char *detail);
/* An invalid number, which is 0 when it is absent. */
void kc__wrong_number(const kc__place *place, const char *detail);
/* "Unsupported value: …: supported values: …". `values` ends with NULL. */
void kc__not_supported(const kc__place *place, const char *const *values);

/* ---- checks that many have ---- */

void kc__check_name(const kc__place *place, kc_name_rule rule);
/* Required, then by the rule. */
void kc__check_needed_name(const kc__place *place, kc_name_rule rule);
void kc__check_at_least_0(const kc__place *place);
void kc__check_above_0(const kc__place *place);
void kc__check_between(const kc__place *place, int64_t low, int64_t high);
void kc__check_port(const kc__place *place); /* 1 to 65535. */
void kc__check_port_or_name(const kc__place *place);
void kc__check_labels(const kc__place *place);
/* A LabelSelector. */
void kc__check_selector(const kc__place *place);
/* "10.0.0.1", "fd00::1" */
void kc__check_ip(const kc__place *place);
/* "example.com/controller" */
void kc__check_domain_path(const kc__place *place);
/* A quantity is not below 0. */
void kc__check_quantity_at_least_0(const kc__place *place);
/* A number, or a percentage, not below 0; a percentage at most 100 where `whole`. */
void kc__check_number_or_percent(const kc__place *place, bool whole);
int64_t kc__number_or_percent(const kc__place *place);

/* Complains when the text was seen before; remembers it. */
void kc__check_unique(const kc__place *place, kc_map *seen);
/* Must be what it was: "field is immutable". */
void kc__check_same(const kc__place *place, const kc_value *old);

#endif
