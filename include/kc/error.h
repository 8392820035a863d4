/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h: what went wrong, in the terms a Kubernetes client understands.
 *
 * A function that can fail returns an int, 0 or negative (or a pointer, NULL), and takes a
 * `kc_error *err` last. The error is the content of a Status: a reason, its HTTP code, a message
 * for people, causes for fields. Passing NULL for err is allowed everywhere: the return value is
 * still negative (-reason, where no context was wrapped around it).
 *
 *     kc_scoped(kc_error) err = {0};
 *     if (load(path, &err) < 0)
 *         fprintf(stderr, "%s\n", kc_error_text(&err));
 *
 *     if (!file)
 *         return kc_error_set(err, KC_NOT_FOUND, "no file %s", path);
 *     if (parse(file, err) < 0)
 *         return kc_error_wrap(err, "read %s", path);            "read x.yaml: line 3: …"
 *
 * An error is written once: set on an error that is already set replaces it. Not for several
 * threads at a time.
 */
#ifndef KC_ERROR_H
#define KC_ERROR_H

#include "kc/str.h"
#include "kc/vec.h"

/* Reasons of a Status and the HTTP code of each. The first column is the name: KC_NOT_FOUND is
 * "NotFound", 404. */
#define KC_REASONS(X)                                      \
    X(BAD_REQUEST, "BadRequest", 400)                      \
    X(UNAUTHORIZED, "Unauthorized", 401)                   \
    X(FORBIDDEN, "Forbidden", 403)                         \
    X(NOT_FOUND, "NotFound", 404)                          \
    X(METHOD_NOT_ALLOWED, "MethodNotAllowed", 405)         \
    X(NOT_ACCEPTABLE, "NotAcceptable", 406)                \
    X(ALREADY_EXISTS, "AlreadyExists", 409)                \
    X(CONFLICT, "Conflict", 409)                           \
    X(GONE, "Gone", 410)                                   \
    X(EXPIRED, "Expired", 410)                             \
    X(TOO_LARGE, "RequestEntityTooLarge", 413)             \
    X(UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", 415) \
    X(INVALID, "Invalid", 422)                             \
    X(TOO_MANY_REQUESTS, "TooManyRequests", 429)           \
    X(INTERNAL, "InternalError", 500)                      \
    X(SERVER_TIMEOUT, "ServerTimeout", 500)                \
    X(SERVICE_UNAVAILABLE, "ServiceUnavailable", 503)      \
    X(TIMEOUT, "Timeout", 504)                             \
    X(STORE_READ_ERROR, "StorageReadError", 500)           \
    X(UNKNOWN, "", 500)

typedef enum kc_reason {
    KC_OK = 0,
#define KC_REASON_ENUM(name, text, code) KC_##name,
    KC_REASONS(KC_REASON_ENUM)
#undef KC_REASON_ENUM
} kc_reason;

/* One field's part in it: `reason` as in details.causes[].reason ("FieldValueInvalid"). */
typedef struct kc_cause {
    char *reason, *field, *message;
} kc_cause;

/* Zeroed means no error. The strings are its own; NULL means empty. */
typedef struct kc_error {
    kc_reason reason;
    int code; /* HTTP status. */
    char *message;
    KC_VEC(kc_cause) causes;
    /* Details of a Status; each may stay empty. */
    char *group, *kind, *name, *uid;
    int retry_after_seconds;
} kc_error;

/* Frees what it holds and zeroes it. */
void kc_error_done(kc_error *err);

/* Returns -reason; with err NULL that is all it does. */
int kc_error_set(kc_error *err, kc_reason reason, const char *fmt, ...) KC_PRINTF(3, 4);
/* Puts "context: " before the message. Returns -err->reason, or -KC_UNKNOWN with err NULL (whoever
 * acts on the reason passes an error). An error that was not set becomes KC_UNKNOWN. */
int kc_error_wrap(kc_error *err, const char *fmt, ...) KC_PRINTF(2, 3);
/* Adds a cause to a set error. field and message are copied. */
void kc_error_add_cause(kc_error *err, const char *reason, kc_str field, kc_str message);
/* Names the object it is about. Empty parts stay empty. */
void kc_error_about(kc_error *err, kc_str group, kc_str kind, kc_str name);

/* Moves `from` into `to` (which may be NULL); `from` is then empty. Returns -reason. */
int kc_error_move(kc_error *to, kc_error *from);

/* The message; "no error" when it is empty. Never NULL, stays the error's. */
const char *kc_error_text(const kc_error *err);

const char *kc_reason_text(kc_reason reason);
int kc_reason_code(kc_reason reason);
/* From a Status' reason; KC_UNKNOWN for one not listed. */
kc_reason kc_reason_from(kc_str text);

static inline bool kc_failed_with(const kc_error *err, kc_reason reason)
{
    return err && err->reason == reason;
}

#endif
