/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time.h: points in time, and their text in objects: RFC 3339.
 *
 *     kc_time created;
 *     if (kc_time_parse(kc_object_creation_timestamp(pod), &created, err) < 0)
 *         return kc_error_result(err);
 *     char text[KC_TIME_TEXT];
 *     printf("%.*s\n", KC_ARG(kc_time_print(created, text)));         2024-02-29T12:00:00Z
 *
 * Kubernetes has two formats. Most timestamps have whole seconds. Micro times (of leases and
 * events) always have six fractional digits. Both are written in UTC and parsed with any offset.
 */
#ifndef KC_TIME_H
#define KC_TIME_H

#include "kc/duration.h"

/* Nanoseconds since 1970-01-01T00:00:00Z, leap seconds not counted: from 1677-09-21T00:12:43Z to
 * 2262-04-11T23:47:16Z. */
typedef int64_t kc_time;

/* Size of a buffer for any time, with its terminator. */
#define KC_TIME_TEXT 32

/*
 * Parses "2006-01-02T15:04:05Z", with any fraction of a second and any offset ("+02:00"), as Go's
 * time.RFC3339 does: accepts an hour of one digit and a comma before the fraction, ignores digits
 * beyond nanoseconds. Checks the range of every field, and days against their month.
 * KC_BAD_REQUEST, with Go's message for invalid text; also for a time outside the range of kc_time.
 */
int kc_time_parse(kc_str text, kc_time *ret, kc_error *err);
/* The same for a micro time: exactly six fractional digits. */
int kc_time_parse_micro(kc_str text, kc_time *ret, kc_error *err);

/* "2006-01-02T15:04:05Z"; fractions of a second are truncated. Terminated. */
kc_str kc_time_print(kc_time time, char out[KC_TIME_TEXT]);
/* "2006-01-02T15:04:05.000000Z" */
kc_str kc_time_print_micro(kc_time time, char out[KC_TIME_TEXT]);

/*
 * The text that Kubernetes returns for `text`: the same time in UTC. Supports all years from 0 to
 * 9999, more than kc_time. An empty *ret means the first second of year 1, Go's zero time, which
 * Kubernetes returns as null. *ret is in `out`.
 */
int kc_time_rewrite(kc_str text, char out[KC_TIME_TEXT], kc_str *ret, kc_error *err);
int kc_time_rewrite_micro(kc_str text, char out[KC_TIME_TEXT], kc_str *ret, kc_error *err);

/* The age of a timestamp as in kubectl's AGE column; "<unknown>" when it is empty or invalid.
 * Terminated. */
kc_str kc_time_age(kc_str timestamp, kc_time now, char out[KC_DURATION_TEXT]);

#endif
