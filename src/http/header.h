/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header.h: header fields: a list of them, what is valid in them, and the few whose values have a
 * grammar of their own.
 *
 *     kc_scoped(kc__headers) headers = {0};
 *     if (kc__headers_add(&headers, name, value, err) < 0)
 *         return …;
 *     kc_str type = kc__headers_get(&headers, KC_STR("Content-Type"));
 */
#ifndef KC_HTTP_HEADER_H
#define KC_HTTP_HEADER_H

#include "kc/error.h"
#include "kc/vec.h"

typedef struct kc__header {
    kc_str name, value;
} kc__header;

/* In the order in which they came. A zeroed one is ready. Not for several threads at a time. */
typedef struct kc__headers {
    KC_VEC(kc__header) list;
    size_t bytes;     /* Of all names and values. */
    size_t max_count; /* Defaults to 128. */
    size_t max_bytes; /* Defaults to 128 KiB. */
} kc__headers;

/* Frees the list, not the text. */
void kc__headers_done(kc__headers *headers);
/* Empties it, keeps memory and limits. */
void kc__headers_clear(kc__headers *headers);

/*
 * Appends a field. The slices are kept, not copied: the caller's text outlives the list. White
 * space around the value is dropped. KC_BAD_REQUEST when the name is no token or the value holds a
 * control character (a line's end above all), KC_TOO_LARGE beyond the limits.
 */
int kc__headers_add(kc__headers *headers, kc_str name, kc_str value, kc_error *err);

/* The first value of `name`, in any case of its letters; an empty slice where there is none. */
kc_str kc__headers_get(const kc__headers *headers, kc_str name);
/* Its values one after the other: *at starts at 0. False at the end, *ret untouched. */
bool kc__headers_next(const kc__headers *headers, kc_str name, size_t *at, kc_str *ret);

/* A letter of a token (RFC 9110): letters, digits and !#$%&'*+-.^_`|~ */
bool kc__is_token_char(char c);
bool kc__is_header_name(kc_str text);
/* No control characters but the tab. */
bool kc__is_header_value(kc_str text);

/* Does an Accept-Encoding allow gzip? Only where it is named, and not with q=0. */
bool kc__accepts_gzip(kc_str accept_encoding);

/* Does an If-None-Match name `etag` (with its quotes)? Weak and strong ones compare equal; "*"
 * names all. */
bool kc__etag_matches(kc_str if_none_match, kc_str etag);

/* The seconds of a Retry-After; false for a date or anything else, *ret untouched. */
bool kc__retry_after(kc_str value, int *ret_seconds);

/* Of kc__http_date, with its end. */
enum { KC__HTTP_DATE = 30 };

/* A time (nanoseconds since 1970, UTC) as Date and Expires have it: "Sun, 06 Nov 1994 08:49:37
 * GMT". */
kc_str kc__http_date(int64_t wall_ns, char out[KC__HTTP_DATE]);

#endif
