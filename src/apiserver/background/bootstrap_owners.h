/* SPDX-License-Identifier: Apache-2.0 */
/* bootstrap_owners.h: managedFields of the objects that the server writes itself. */
#ifndef KC_APISERVER_BOOTSTRAP_OWNERS_H
#define KC_APISERVER_BOOTSTRAP_OWNERS_H

#include "apiserver/call/call.h"

/* The object with managedFields: the manager "kube-apiserver" owns what the server set or changed.
 * `before` is the stored object that it replaces; NULL: it is new. Takes over the reference to the
 * object, which may be NULL, and returns one. */
kc_object *kc__bootstrap_own(kc__rest_api *api, const kc_object *before, kc_object *object);

#endif
