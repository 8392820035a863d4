/* SPDX-License-Identifier: Apache-2.0 */
/* anti_affinity.h: the admission plugin LimitPodHardAntiAffinityTopology. */
#ifndef KC_APISERVER_ANTI_AFFINITY_H
#define KC_APISERVER_ANTI_AFFINITY_H

#include "apiserver/call/call.h"

kc__rest_phase_fn kc__admission_anti_affinity;

#endif
