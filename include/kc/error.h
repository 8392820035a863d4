/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h: errors, in the terms of a Kubernetes Status.
 *
 * A function that can fail returns an int, 0 or negative (or a pointer, NULL), and takes a
 * `kc_error *err` last. The error holds the content of a Status: a reason, its HTTP code, a
 * message, and causes for fields. err may be NULL everywhere: the return value is still negative,
 * though it may not be -reason. A caller that checks the reason passes an error.
 *
 *     kc_scoped(kc_error) err = {0};
 *     if (load(path, &err) < 0)
 *         fprintf(stderr, "%s\n", kc_error_text(&err));
 *
 * The negative result is never a literal; one of these supplies it:
 *
 *     if (!file)
 *         return kc_error_set(err, KC_NOT_FOUND, "no file %s", path);
 *     if (parse(file, err) < 0)
 *         return kc_error_wrap(err, "read %s", path);            "read x.yaml: line 3: …"
 *     if (check(file, err) < 0)
 *         return kc_error_result(err);                            the error as it is
 *
 * Setting an error that is already set replaces it. Not thread-safe.
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

/* One field's share of the error: `reason` as in details.causes[].reason ("FieldValueInvalid"). */
typedef struct kc_cause {
    char *reason, *field, *message;
} kc_cause;

/* Zeroed means no error. The error owns its strings; NULL means empty. */
typedef struct kc_error {
    kc_reason reason;
    int code; /* HTTP status. */
    char *message;
    KC_VEC(kc_cause) causes;
    /* Details of a Status; each may be empty. */
    char *group, *kind, *name, *uid;
    int retry_after_seconds;
} kc_error;

/* Frees the contents and zeroes the error. */
void kc_error_done(kc_error *err);

/* Sets the error and returns -reason. With err NULL it only returns. */
int kc_error_set(kc_error *err, kc_reason reason, const char *fmt, ...) KC_PRINTF(3, 4);
/* For a client's request for which there is not enough memory: 429, retry after one second. Returns
 * -KC_TOO_MANY_REQUESTS. */
int kc_error_out_of_memory(kc_error *err);
/* Prefixes the message with "context: ". Returns -err->reason, or -KC_UNKNOWN with err NULL. An
 * error that was not set becomes KC_UNKNOWN. */
int kc_error_wrap(kc_error *err, const char *fmt, ...) KC_PRINTF(2, 3);
/* The result of a function that failed because a callee did, and has nothing to add: -err->reason;
 * -KC_UNKNOWN with err NULL or not set. Never 0. */
int kc_error_result(const kc_error *err);
/* Adds a cause to a set error. Copies field and message. */
void kc_error_add_cause(kc_error *err, const char *reason, kc_str field, kc_str message);
/* Sets the object that the error is about. Empty parts stay empty. */
void kc_error_about(kc_error *err, kc_str group, kc_str kind, kc_str name);

/* Moves `from` into `to` (which may be NULL) and leaves `from` empty. Returns -reason. */
int kc_error_move(kc_error *to, kc_error *from);

/* The message; "no error" when it is empty. Never NULL; the error keeps ownership. */
const char *kc_error_text(const kc_error *err);

const char *kc_reason_text(kc_reason reason);
int kc_reason_code(kc_reason reason);
/* Parses the reason of a Status; KC_UNKNOWN for an unlisted one. */
kc_reason kc_reason_from(kc_str text);

static inline bool kc_error_has_reason(const kc_error *err, kc_reason reason)
{
    return err && err->reason == reason;
}

#endif
