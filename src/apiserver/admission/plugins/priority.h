/* SPDX-License-Identifier: Apache-2.0 */
/* priority.h: the priority of a pod, from its PriorityClass; at most one class is the default. */
#ifndef KC_APISERVER_PRIORITY_H
#define KC_APISERVER_PRIORITY_H

#include "apiserver/call/call.h"

kc__rest_phase_fn kc__admission_priority_mutate;
kc__rest_phase_fn kc__admission_priority_validate;

#endif
