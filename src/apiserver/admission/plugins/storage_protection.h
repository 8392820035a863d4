/* SPDX-License-Identifier: Apache-2.0 */
/* storage_protection.h: finalizers that keep volumes, claims and their classes while in use. */
#ifndef KC_APISERVER_STORAGE_PROTECTION_H
#define KC_APISERVER_STORAGE_PROTECTION_H

#include "apiserver/call/call.h"

kc__rest_phase_fn kc__admission_storage_protection;

#endif
