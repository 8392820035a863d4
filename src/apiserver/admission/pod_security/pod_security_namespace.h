/* SPDX-License-Identifier: Apache-2.0 */
/* pod_security_namespace.h: the Pod Security labels of a namespace that is created or updated. */
#ifndef KC_APISERVER_POD_SECURITY_NAMESPACE_H
#define KC_APISERVER_POD_SECURITY_NAMESPACE_H

#include "apiserver/call/call.h"

/* Rejects wrong labels, and warns about pods in the namespace that violate a stricter level. */
kc__rest_phase_fn kc__pod_security_check_namespace;

#endif
