/* SPDX-License-Identifier: Apache-2.0 */
/* limit_ranger.h: the LimitRanges of a namespace, applied to its pods and claims. */
#ifndef KC_APISERVER_LIMIT_RANGER_H
#define KC_APISERVER_LIMIT_RANGER_H

#include "apiserver/call/call.h"

/* Adds the defaults of containers to a pod. */
kc__rest_phase_fn kc__admission_limit_ranger_mutate;
/* Checks minimum, maximum and ratio of pods, containers and claims. */
kc__rest_phase_fn kc__admission_limit_ranger_validate;

#endif
