/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_placement.h: what admission adds to new pods so that they are scheduled as elsewhere: the
 * priority of their class, and how long they stay on a node that is not ready.
 */
#ifndef KC_APISERVER_POD_PLACEMENT_H
#define KC_APISERVER_POD_PLACEMENT_H

#include "apiserver/rest/call.h"

kc__phase_fn kc__admit_pod_placement;

#endif
