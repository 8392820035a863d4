/* SPDX-License-Identifier: Apache-2.0 */
/* claim_resize.h: whether a claim may grow. */
#ifndef KC_APISERVER_CLAIM_RESIZE_H
#define KC_APISERVER_CLAIM_RESIZE_H

#include "apiserver/call/call.h"

kc__rest_phase_fn kc__admission_claim_resize;

#endif
