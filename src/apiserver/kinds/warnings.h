/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warnings.h: what one should know about objects that are right: parts that nobody looks at, or
 * that hide each other. Texts are added to `warnings`, which frees them.
 */
#ifndef KC_APISERVER_WARNINGS_H
#define KC_APISERVER_WARNINGS_H

#include "kc/json.h"
#include "kc/view.h"

void kc__pod_warnings(const kc_value *pod, kc_paths *warnings);
/* Of kinds with a template at spec.template. */
void kc__template_warnings(const kc_value *object, kc_paths *warnings);
void kc__service_warnings(const kc_value *service, kc_paths *warnings);
void kc__ingress_warnings(const kc_value *ingress, kc_paths *warnings);

#endif
