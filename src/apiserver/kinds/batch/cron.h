/* SPDX-License-Identifier: Apache-2.0 */
/* cron.h: validation of cron schedules. */
#ifndef KC_APISERVER_CRON_H
#define KC_APISERVER_CRON_H

#include "kc/str.h"

#define KC__CRON_ERROR 160

/* Checks a schedule: five fields, or @daily and the like. False with Kubernetes' message in
 * ret_why. */
bool kc__cron_check(kc_str schedule, char ret_why[KC__CRON_ERROR]);

#endif
