/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field_error.h: errors about single fields, in Kubernetes' words.
 *
 * Validation collects any number of them. kc_field_errors_to_error turns them into one Invalid
 * error (422) with one cause per field error:
 *
 *   Robot.robot.llleon.io "one" is invalid: spec.replicas: Invalid value: -1: must be non-negative
 */
#ifndef KC_FIELD_ERROR_H
#define KC_FIELD_ERROR_H

#include "kc/arena.h"
#include "kc/error.h"
#include "kc/view.h"

/* Name, display text, reason of the cause. */
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
    const char *body;  /* "Invalid value: -1: must be non-negative": the message after the field. */
} kc_field_error;

/* Maximum bytes of a value in an error; a longer value is truncated. */
#define KC_FIELD_VALUE_MAX ((size_t)64 << 10)

/* A zeroed list is ready. The strings live in its arena. */
typedef struct kc_field_errors {
    kc_arena arena;
    KC_VEC(kc_field_error) list;
    size_t limit; /* Maximum number of errors. Further ones, and those beyond 1 MiB of text, are
                   * counted in `dropped`. Defaults to 1000. */
    size_t dropped;
    size_t text; /* Bytes of the kept errors. */
} kc_field_errors;

void kc_field_errors_done(kc_field_errors *errors);

/*
 * Adds an error. `value_json` is the invalid value as JSON text ("\"abc\"", "-1", "null"; empty for
 * none); the message shows it except for Required, Forbidden, Too long and Internal. `detail` may
 * be NULL.
 */
void kc_field_errors_add(kc_field_errors *errors, kc_field_error_type type, const char *field,
                         kc_str value_json, const char *detail, ...) KC_PRINTF(5, 6);
/* The same, with the value formatted as Kubernetes does: strings as Go's %q, floating-point numbers
 * as its %v (1e+06), other values as JSON with sorted names. */
void kc_field_errors_add_value(kc_field_errors *errors, kc_field_error_type type, const char *field,
                               const kc_value *value, const char *detail, ...) KC_PRINTF(5, 6);

/* Adds the errors of `from` that `errors` does not contain, each once. */
void kc_field_errors_merge(kc_field_errors *errors, const kc_field_errors *from);

/* True when further errors would only be counted. */
bool kc_field_errors_is_full(const kc_field_errors *errors);

/*
 * Converts a list into an Invalid error about kind (with its group, "" for core) and name. Returns
 * -KC_INVALID; 0, with err untouched, if the list is empty.
 */
int kc_field_errors_to_error(const kc_field_errors *errors, kc_str group, kc_str kind, kc_str name,
                             kc_error *err);

#endif
