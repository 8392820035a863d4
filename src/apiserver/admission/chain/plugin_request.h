/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_request.h: a request as admission plugins see it: which resource it writes, the objects
 * that are in the store, and how to reject it.
 */
#ifndef KC_APISERVER_PLUGIN_REQUEST_H
#define KC_APISERVER_PLUGIN_REQUEST_H

#include "apiserver/call/call.h"

/* Whether the request creates or updates an object of any resource, or its subresource. False for
 * deletions, and for requests whose body replaces the object (bindings, evictions). */
bool kc__admission_writes_object(const kc__rest_call *call);
/*
 * Whether the request creates or updates an object of a built-in resource ("core/pods"), or its
 * subresource; `subresource` NULL: the object itself. False for deletions, and for requests whose
 * body replaces the object (bindings, evictions). call->current is NULL for a creation.
 */
bool kc__admission_writes(const kc__rest_call *call, const char *storage, const char *subresource);
/* The same for the creation of an object. */
bool kc__admission_creates(const kc__rest_call *call, const char *storage);

/* Rejects the request: `pods "web" is forbidden: …`. Returns KC__REST_FAIL. */
kc__rest_verdict kc__admission_forbid(kc__rest_call *call, const char *fmt, ...) KC_PRINTF(2, 3);

/*
 * For a function of a plugin that finds that it takes long (`expensive`): true if the function must
 * return KC__REST_ON_WORKER, and then runs again on a worker thread. False on a worker, and while a
 * webhook's change is processed, which happens on the loop.
 */
bool kc__admission_needs_worker(kc__rest_call *call, bool expensive);

/* The watch cache of a built-in resource. */
kc__watch_cache *kc__admission_objects(const kc__rest_call *call, const char *group,
                                       const char *plural);
/* The value of an annotation; p == NULL: the object does not have it. Borrowed from the view. */
kc_str kc__admission_annotation_of(const kc_value *object, const char *name);

#endif
