/* SPDX-License-Identifier: Apache-2.0 */
/* namespace_lifecycle.h: nothing is created where its namespace is not, or is going. */
#ifndef KC_APISERVER_NAMESPACE_LIFECYCLE_H
#define KC_APISERVER_NAMESPACE_LIFECYCLE_H

#include "apiserver/rest/call.h"

/* KC__NEXT, or KC__FAIL: 404 without the namespace, 403 in one that is being deleted, 403 for
 * deleting a namespace the plane itself needs. */
kc__phase_fn kc__admit_namespace_lifecycle;

#endif
