/* SPDX-License-Identifier: Apache-2.0 */
/*
 * duration.h: parses durations as Go does ("1h2m3.5s", "300ms"; kc_duration_write in clock.h writes
 * them) and prints ages as kubectl does ("3m10s", "2d4h").
 *
 *     int64_t timeout;
 *     if (kc_duration_parse(KC_STR("1m30s"), &timeout, err) < 0)
 *         return kc_error_result(err);
 *
 * A duration is a signed number of nanoseconds in an int64_t: about 292 years either way.
 */
#ifndef KC_DURATION_H
#define KC_DURATION_H

#include "kc/clock.h"
#include "kc/error.h"

/* Size of a buffer for any age, with its terminator. */
#define KC_DURATION_TEXT 32

/*
 * Parses an optional sign and one or more numbers, each with an optional fraction and a unit: ns,
 * us (or µs), ms, s, m, h. A lone 0 needs no unit. KC_BAD_REQUEST with Go's message when the text
 * is invalid or out of range.
 */
int kc_duration_parse(kc_str text, int64_t *ret_ns, kc_error *err);

/* Formats an age as kubectl does, with two units at most: "59s", "5m30s", "3h", "47d", "2y11d".
 * "<invalid>" below -1s; smaller clock skew is ignored. Terminated. */
kc_str kc_duration_human(int64_t ns, char out[KC_DURATION_TEXT]);
/* The same with one unit: "59s", "5m", "3h", "47d", "2y". */
kc_str kc_duration_human_short(int64_t ns, char out[KC_DURATION_TEXT]);

#endif
