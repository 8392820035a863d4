/* SPDX-License-Identifier: Apache-2.0 */
/* app_armor_fields.h: AppArmor profiles of new pods, from their annotations to their fields. */
#ifndef KC_APISERVER_APP_ARMOR_FIELDS_H
#define KC_APISERVER_APP_ARMOR_FIELDS_H

#include "apiserver/call/call.h"

kc__rest_phase_fn kc__admission_app_armor_fields;

#endif
