/* SPDX-License-Identifier: Apache-2.0 */
/* system_definitions_guard.h: protects the CRDs that belong to the server from changes. */
#ifndef KC_APISERVER_SYSTEM_DEFINITIONS_GUARD_H
#define KC_APISERVER_SYSTEM_DEFINITIONS_GUARD_H

#include "apiserver/call/call.h"

/* Validating: see plugins.h. */
kc__rest_phase_fn kc__admission_system_definitions;

#endif
