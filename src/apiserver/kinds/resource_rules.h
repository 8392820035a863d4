/* SPDX-License-Identifier: Apache-2.0 */
/* resource_rules.h: names and amounts of resources ("cpu", "example.com/gpu"), by their key. */
#ifndef KC_APISERVER_RESOURCE_RULES_H
#define KC_APISERVER_RESOURCE_RULES_H

#include "apiserver/kinds/place.h"

/* A name that somebody knows; false when it is none. */
bool kc__check_resource_name(const kc__place *entry);
/* One that containers can have. */
void kc__check_container_resource_name(const kc__place *entry);
/* Not below 0, and whole where it is counted. */
void kc__check_resource_amount(const kc__place *entry);
/* Whether it may be promised more than once. */
bool kc__resource_is_shared(kc_str name);

#endif
