/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warnings.h: warnings about valid objects, such as fields without effect or fields that override
 * each other. The functions add texts to `warnings`, which frees them.
 */
#ifndef KC_APISERVER_WARNINGS_H
#define KC_APISERVER_WARNINGS_H

#include "apiserver/kinds/core/pod_warnings.h"

void kc__warnings_service(const kc_value *service, kc_paths *warnings);
void kc__warnings_ingress(const kc_value *ingress, kc_paths *warnings);

#endif
