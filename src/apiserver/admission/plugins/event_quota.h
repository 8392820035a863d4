/* SPDX-License-Identifier: Apache-2.0 */
/* event_quota.h: enforces the limits of event_expiry.h when Events are created. */
#ifndef KC_APISERVER_EVENT_QUOTA_H
#define KC_APISERVER_EVENT_QUOTA_H

#include "apiserver/call/call.h"

kc__rest_phase_fn kc__admission_event_quota;

#endif
