/* SPDX-License-Identifier: Apache-2.0 */
/* cron.h: schedules as cron writes them: whether a text is one. */
#ifndef KC_APISERVER_CRON_H
#define KC_APISERVER_CRON_H

#include "kc/str.h"

#define KC__CRON_ERROR 160

/* Five fields, or @daily and the like. False, and why in the words of Kubernetes. */
bool kc__cron_check(kc_str schedule, char ret_why[KC__CRON_ERROR]);

#endif
