/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header.h: header fields: a list of them, their validation, and the values of a few fields with a
 * grammar of their own.
 *
 *     kc_scoped(kc__http_headers) headers = {0};
 *     if (kc__http_headers_add(&headers, name, value, err) < 0)
 *         return …;
 *     kc_str type = kc__http_headers_get(&headers, KC_STR("Content-Type"));
 */
#ifndef KC_HTTP_HEADER_H
#define KC_HTTP_HEADER_H

#include "kc/error.h"
#include "kc/vec.h"

typedef struct kc__http_header {
    kc_str name, value;
} kc__http_header;

/* In the order of arrival. Ready when zero-initialized. Not thread-safe. */
typedef struct kc__http_headers {
    KC_VEC(kc__http_header) list;
    size_t bytes;     /* Total size of names and values. */
    size_t max_count; /* Defaults to 128. */
    size_t max_bytes; /* Defaults to 128 KiB. */
} kc__http_headers;

/* Frees the list, not the text. */
void kc__http_headers_done(kc__http_headers *headers);
/* Empties the list; keeps memory and limits. */
void kc__http_headers_clear(kc__http_headers *headers);

/*
 * Appends a field. The slices are stored, not copied: their text must outlive the list. White space
 * around the value is removed. KC_BAD_REQUEST if the name is not a token or the value contains a
 * control character (such as a line end), KC_TOO_LARGE beyond the limits.
 */
int kc__http_headers_add(kc__http_headers *headers, kc_str name, kc_str value, kc_error *err);

/* Returns the first value of `name`, case-insensitively; an empty slice if there is none. */
kc_str kc__http_headers_get(const kc__http_headers *headers, kc_str name);
/* Iterates over the values of `name`: *at starts at 0. Returns false at the end, *ret untouched. */
bool kc__http_headers_next(const kc__http_headers *headers, kc_str name, size_t *at, kc_str *ret);

/* A character of a token (RFC 9110): letters, digits and !#$%&'*+-.^_`|~ */
bool kc__http_is_token_char(char c);
bool kc__http_is_header_name(kc_str text);
/* No control characters except tab. */
bool kc__http_is_header_value(kc_str text);

/* Returns whether an Accept-Encoding allows gzip: only if it is named and its q is not 0. */
bool kc__http_accepts_gzip(kc_str accept_encoding);

/* Returns whether an If-None-Match contains `etag` (with its quotes). Weak and strong tags
 * compare equal; "*" matches all. */
bool kc__http_etag_matches(kc_str if_none_match, kc_str etag);

/* Parses the seconds of a Retry-After; false for a date or anything else, *ret untouched. */
bool kc__http_retry_after(kc_str value, int *ret_seconds);

/* Size of the buffer of kc__http_date, with the terminating NUL. */
enum { KC__HTTP_DATE = 30 };

/* Formats a time (nanoseconds since 1970, UTC) as in Date and Expires: "Sun, 06 Nov 1994
 * 08:49:37 GMT". */
kc_str kc__http_date(int64_t wall_ns, char out[KC__HTTP_DATE]);

#endif
