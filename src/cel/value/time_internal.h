/* SPDX-License-Identifier: Apache-2.0 */
/* time_internal.h: the calendar. */
#ifndef KC_CEL_TIME_INTERNAL_H
#define KC_CEL_TIME_INTERNAL_H

#include <stdint.h>

typedef struct kc__cel_civil {
    int64_t year;
    int month, day;           /* From 1. */
    int hour, minute, second; /* From 0. */
    int weekday;              /* 0 is Sunday. */
    int yearday;              /* From 0. */
} kc__cel_civil;

/* The date and time of day of a second since 1970, in UTC. */
kc__cel_civil kc__cel_civil_of(int64_t seconds);
/* Days since 1970-01-01. */
int64_t kc__cel_days_from_civil(int64_t year, int month, int day);

#endif
