/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field_error.h: what is wrong with which field, in Kubernetes' words.
 *
 * Validation gathers any number of these, and kc_field_errors_to_error makes one Invalid error
 * (422) of them:
 *
 *     Robot.robot.llleon.io "one" is invalid: spec.replicas: Invalid value: -1: must be
 * non-negative
 *
 * with one cause a field error.
 */
#ifndef KC_FIELD_ERROR_H
#define KC_FIELD_ERROR_H

#include "kc/arena.h"
#include "kc/error.h"
#include "kc/view.h"

/* Name, text for people, reason of the cause. */
#define KC_FIELD_ERROR_TYPES(X)                                     \
    X(INVALID, "Invalid value", "FieldValueInvalid")                \
    X(REQUIRED, "Required value", "FieldValueRequired")             \
    X(NOT_SUPPORTED, "Unsupported value", "FieldValueNotSupported") \
    X(DUPLICATE, "Duplicate value", "FieldValueDuplicate")          \
    X(FORBIDDEN, "Forbidden", "FieldValueForbidden")                \
    X(TOO_LONG, "Too long", "FieldValueTooLong")                    \
    X(TOO_MANY, "Too many", "FieldValueTooMany")                    \
    X(TYPE_INVALID, "Invalid value", "FieldValueTypeInvalid")       \
    X(NOT_FOUND, "Not found", "FieldValueNotFound")                 \
    X(INTERNAL, "Internal error", "InternalError")

typedef enum kc_field_error_type {
#define KC_FIELD_ERROR_ENUM(name, text, reason) KC_FIELD_##name,
    KC_FIELD_ERROR_TYPES(KC_FIELD_ERROR_ENUM)
#undef KC_FIELD_ERROR_ENUM
} kc_field_error_type;

typedef struct kc_field_error {
    kc_field_error_type type;
    const char *field; /* "spec.containers[0].image"; "<nil>" or "" for the object itself. */
    const char *body;  /* "Invalid value: -1: must be non-negative"; what follows the field in the
                          message. */
} kc_field_error;

/* A zeroed list is ready. The text lives in its arena. */
typedef struct kc_field_errors {
    kc_arena arena;
    KC_VEC(kc_field_error) list;
    size_t limit; /* Errors kept; further ones, and those beyond 8 MiB of text, are counted in
                     `dropped`. Defaults to 1000. */
    size_t dropped;
} kc_field_errors;

void kc_field_errors_done(kc_field_errors *errors);

/*
 * Adds one. `value_json` is the bad value as JSON text ("\"abc\"", "-1", "null"; empty for none);
 * it is shown for the types that show it (not Required, Forbidden, Too long, Internal). `detail`
 * may be NULL.
 */
void kc_field_errors_add(kc_field_errors *errors, kc_field_error_type type, const char *field,
                         kc_str value_json, const char *detail, ...) KC_PRINTF(5, 6);
/* The same, with the value shown as Kubernetes shows it: strings as Go's %q, floating point numbers
 * as its %v (1e+06), the rest as JSON with sorted names. */
void kc_field_errors_add_value(kc_field_errors *errors, kc_field_error_type type, const char *field,
                               const kc_value *value, const char *detail, ...) KC_PRINTF(5, 6);

/* Adds what `from` holds and `errors` does not, each once. */
void kc_field_errors_merge(kc_field_errors *errors, const kc_field_errors *from);

/* Further errors would only be counted. */
bool kc_field_errors_is_full(const kc_field_errors *errors);

/*
 * Turns a list into an Invalid error about kind (with its group, "" for core) and name. With no
 * errors in the list it leaves err alone and returns 0; else -KC_INVALID.
 */
int kc_field_errors_to_error(const kc_field_errors *errors, kc_str group, kc_str kind, kc_str name,
                             kc_error *err);

#endif
