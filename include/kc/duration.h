/* SPDX-License-Identifier: Apache-2.0 */
/*
 * duration.h: lengths of time read as Go reads them ("1h2m3.5s", "300ms"; kc_duration_write of
 * clock.h writes them) and shown as kubectl shows them ("3m10s", "2d4h").
 *
 *     int64_t timeout;
 *     if (kc_duration_parse(KC_STR("1m30s"), &timeout, err) < 0)
 *         return -1;
 *
 * A duration is a signed number of nanoseconds in an int64_t: about 292 years either way.
 */
#ifndef KC_DURATION_H
#define KC_DURATION_H

#include "kc/clock.h"
#include "kc/error.h"

/* Room for any age's text and a NUL. */
#define KC_DURATION_TEXT 32

/*
 * One or more numbers with a unit each, whole or with a fraction, after an optional sign; units are
 * ns, us (or µs), ms, s, m and h. A lone 0 needs none. KC_BAD_REQUEST in Go's words when it is not
 * that or does not fit.
 */
int kc_duration_parse(kc_str text, int64_t *ret_ns, kc_error *err);

/* As kubectl shows an age, two units at most: "59s", "5m30s", "3h", "47d", "2y11d". "<invalid>" for
 * less than -1s, as a small skew of clocks is no reason to say so. Terminated. */
kc_str kc_duration_human(int64_t ns, char out[KC_DURATION_TEXT]);
/* The same with one unit: "59s", "5m", "3h", "47d", "2y". */
kc_str kc_duration_human_short(int64_t ns, char out[KC_DURATION_TEXT]);

#endif
