/* SPDX-License-Identifier: Apache-2.0 */
/* service_rules.h: what is checked in Services. */
#ifndef KC_APISERVER_SERVICE_RULES_H
#define KC_APISERVER_SERVICE_RULES_H

#include "apiserver/kinds/rules.h"

void kc__check_service(const kc__place *spec);
/* An address, once it has one, does not change. */
void kc__check_service_update(const kc__place *spec, const kc_value *old);
/* A Service whose status changes. */
void kc__check_service_status(const kc__place *root);

#endif
