/* SPDX-License-Identifier: Apache-2.0 */
/* system_crds_guard.h: protects the CRDs that belong to the server from changes. */
#ifndef KC_APISERVER_SYSTEM_CRDS_GUARD_H
#define KC_APISERVER_SYSTEM_CRDS_GUARD_H

#include "apiserver/call/call.h"

/* Validating: see plugins.h. */
kc__rest_phase_fn kc__admission_system_crds;

#endif
