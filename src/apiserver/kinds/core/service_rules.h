/* SPDX-License-Identifier: Apache-2.0 */
/* service_rules.h: validation of Services. */
#ifndef KC_APISERVER_SERVICE_RULES_H
#define KC_APISERVER_SERVICE_RULES_H

#include "apiserver/kinds/validate_rules.h"

void kc__validate_service(const kc__location *spec);
/* A cluster IP is immutable once it is set. */
void kc__validate_service_update(const kc__location *spec, const kc_value *old);
/* Validates a Service whose status changes. */
void kc__validate_service_status(const kc__location *root);

#endif
