/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_rate_limit.h: the admission plugin EventRateLimit: rates of writes of Events, for the whole
 * server, a namespace, a user, or a source with its object.
 */
#ifndef KC_APISERVER_EVENT_RATE_LIMIT_H
#define KC_APISERVER_EVENT_RATE_LIMIT_H

#include "apiserver/call/call.h"

/* The limits of a configuration, and what was used of them. Any thread. */
typedef struct kc__event_rate_limits kc__event_rate_limits;

/* Reads a Configuration (eventratelimit.admission.k8s.io/v1alpha1, YAML or JSON). NULL on error:
 * KC_INVALID. The caller frees it. */
kc__event_rate_limits *kc__event_rate_limits_parse(kc_str text, kc_error *err);
/* NULL is allowed. Returns NULL. */
kc__event_rate_limits *kc__event_rate_limits_free(kc__event_rate_limits *limits);
KC_AUTO_DEFINE(kc__event_rate_limits, kc__event_rate_limits_free)

kc__rest_phase_fn kc__admission_event_rate_limit;

#endif
