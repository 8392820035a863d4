/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time.h: points in time, and their text in objects: RFC 3339.
 *
 *     kc_time created;
 *     if (kc_time_parse(kc_object_creation_timestamp(pod), &created, err) < 0)
 *         return -1;
 *     char text[KC_TIME_TEXT];
 *     printf("%.*s\n", KC_ARG(kc_time_print(created, text)));         2024-02-29T12:00:00Z
 *
 * Kubernetes has two kinds of text. Most timestamps have whole seconds. Micro times (of leases and
 * events) always have six digits of fraction. Both are written in UTC, and read with any offset.
 */
#ifndef KC_TIME_H
#define KC_TIME_H

#include "kc/duration.h"

/* Nanoseconds since 1970-01-01T00:00:00Z, leap seconds not counted: from 1677-09-21T00:12:43Z to
 * 2262-04-11T23:47:16Z. */
typedef int64_t kc_time;

/* Room for the text of any time and a NUL. */
#define KC_TIME_TEXT 32

/*
 * Reads "2006-01-02T15:04:05Z", with any fraction of a second and any offset ("+02:00"), as Go's
 * time.RFC3339 does: an hour of one digit and a comma before the fraction are accepted too, digits
 * beyond nanoseconds ignored. Every field is checked against its range, days against their month.
 * KC_BAD_REQUEST, in Go's words for text that is no time; also for a time before or after what
 * kc_time holds.
 */
int kc_time_parse(kc_str text, kc_time *ret, kc_error *err);
/* The same for a micro time: exactly six digits of fraction. */
int kc_time_parse_micro(kc_str text, kc_time *ret, kc_error *err);

/* "2006-01-02T15:04:05Z"; what is less than a second is cut off. Terminated. */
kc_str kc_time_print(kc_time time, char out[KC_TIME_TEXT]);
/* "2006-01-02T15:04:05.000000Z" */
kc_str kc_time_print_micro(kc_time time, char out[KC_TIME_TEXT]);

/*
 * What Kubernetes answers when it was sent `text`: the same time in UTC. Works for all years from 0
 * to 9999, more than kc_time holds. An empty *ret stands for the year 1's first second, Go's "no
 * time", which Kubernetes answers as null. *ret is in `out`.
 */
int kc_time_rewrite(kc_str text, char out[KC_TIME_TEXT], kc_str *ret, kc_error *err);
int kc_time_rewrite_micro(kc_str text, char out[KC_TIME_TEXT], kc_str *ret, kc_error *err);

/* How long ago a timestamp was, as kubectl shows it in the column AGE; "<unknown>" when it is empty
 * or no time. Terminated. */
kc_str kc_time_age(kc_str timestamp, kc_time now, char out[KC_DURATION_TEXT]);

#endif
