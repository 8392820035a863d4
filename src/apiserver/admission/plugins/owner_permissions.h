/* SPDX-License-Identifier: Apache-2.0 */
/* owner_permissions.h: the admission plugin OwnerReferencesPermissionEnforcement. */
#ifndef KC_APISERVER_OWNER_PERMISSIONS_H
#define KC_APISERVER_OWNER_PERMISSIONS_H

#include "apiserver/call/call.h"

kc__rest_phase_fn kc__admission_owner_permissions;

#endif
