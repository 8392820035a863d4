/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unservable_set.h: the keys of the stored objects of a resource that cannot be served.
 *
 * A CRD may get new defaults after objects were stored. Every read applies the defaults, and they
 * may exceed the limit on what defaults may add to an object (kc/schema.h). Such an object stays in
 * the storage but is not served. Each compiled CRD has one set of keys, so that the server logs an
 * object once per change of the CRD, however often the object is read. Any thread.
 */
#ifndef KC_APISERVER_UNSERVABLE_SET_H
#define KC_APISERVER_UNSERVABLE_SET_H

#include "kc/str.h"

typedef struct kc__resource_unservable_set kc__resource_unservable_set;

enum { KC__CRD_UNSERVABLE_MAX = 100 }; /* Maximum number of keys. */

kc__resource_unservable_set *kc__resource_unservable_set_new(void);
/* NULL is allowed; returns NULL. */
kc__resource_unservable_set *kc__resource_unservable_set_free(kc__resource_unservable_set *set);
/* Adds a key. True if the key was not in the set and the set is not full. */
bool kc__resource_unservable_set_add(kc__resource_unservable_set *set, kc_str ns, kc_str name);
/* Returns the number of keys in the set. */
size_t kc__resource_unservable_set_count(kc__resource_unservable_set *set);

#endif
