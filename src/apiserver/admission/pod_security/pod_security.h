/* SPDX-License-Identifier: Apache-2.0 */
/* pod_security.h: the admission plugin PodSecurity. */
#ifndef KC_APISERVER_POD_SECURITY_H
#define KC_APISERVER_POD_SECURITY_H

#include "apiserver/call/call.h"

/* Checks pods, templates of pods, and the labels of namespaces (phase `admitted`). */
kc__rest_phase_fn kc__admission_pod_security;

#endif
