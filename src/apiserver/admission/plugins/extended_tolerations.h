/* SPDX-License-Identifier: Apache-2.0 */
/* extended_tolerations.h: the admission plugin ExtendedResourceToleration. */
#ifndef KC_APISERVER_EXTENDED_TOLERATIONS_H
#define KC_APISERVER_EXTENDED_TOLERATIONS_H

#include "apiserver/call/call.h"

kc__rest_phase_fn kc__admission_extended_tolerations;

#endif
