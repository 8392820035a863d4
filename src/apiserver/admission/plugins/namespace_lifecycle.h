/* SPDX-License-Identifier: Apache-2.0 */
/* namespace_lifecycle.h: rejects creation in a namespace that is missing or being deleted. */
#ifndef KC_APISERVER_NAMESPACE_LIFECYCLE_H
#define KC_APISERVER_NAMESPACE_LIFECYCLE_H

#include "apiserver/call/call.h"

/* KC__REST_NEXT, or KC__REST_FAIL: 404 if the namespace does not exist, 403 if it is being deleted,
 * 403 for deleting a namespace that the server needs. */
kc__rest_phase_fn kc__admission_namespace_lifecycle, kc__admission_namespace_lifecycle_body;

#endif
