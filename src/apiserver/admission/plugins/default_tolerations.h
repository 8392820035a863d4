/* SPDX-License-Identifier: Apache-2.0 */
/* default_tolerations.h: tolerations of pods for nodes that are not ready or unreachable. */
#ifndef KC_APISERVER_DEFAULT_TOLERATIONS_H
#define KC_APISERVER_DEFAULT_TOLERATIONS_H

#include "apiserver/call/call.h"

kc__rest_phase_fn kc__admission_default_tolerations;

#endif
