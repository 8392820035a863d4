/* SPDX-License-Identifier: Apache-2.0 */
/* resource_rules.h: validates names and quantities of resources ("cpu", "example.com/gpu"), by
 * map key. */
#ifndef KC_APISERVER_RESOURCE_RULES_H
#define KC_APISERVER_RESOURCE_RULES_H

#include "apiserver/kinds/location.h"

/* The key must be a known or qualified resource name. Returns false if it is not. */
bool kc__validate_resource_name(const kc__location *entry);
/* The key must be a resource name that containers can use. */
void kc__validate_container_resource_name(const kc__location *entry);
/* The quantity must not be negative, and must be an integer for counted resources. */
void kc__validate_resource_amount(const kc__location *entry);
/* Whether the resource can be overcommitted. */
bool kc__validate_resource_is_shared(kc_str name);

#endif
