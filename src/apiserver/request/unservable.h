/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unservable.h: stored objects that cannot be served to clients.
 *
 * A CRD may add defaults that make an existing object too large when they are applied. GET and
 * writes of such an object fail with StorageReadError and its name. Lists and watches omit it, so
 * that one object cannot make a whole kind unreadable; tables and metadata lists include it,
 * because they need no defaults. DELETE works.
 */
#ifndef KC_APISERVER_UNSERVABLE_H
#define KC_APISERVER_UNSERVABLE_H

#include "apiserver/request/phases.h"

/* Converts an object to a resource's version (kc__convert_from_stored). Failures are counted, and
 * logged once for each object and change of its CRD. `err` may be NULL. NULL on failure. */
kc_object *kc__rest_show_stored(kc__rest_api *api, const kc__resource *resource,
                                const kc_object *stored, kc_error *err);
/* Adds a warning to a list response if objects of the resource are known that lists omit. */
void kc__rest_warn_unservable(kc__rest_call *call);

#endif
