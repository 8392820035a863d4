/* SPDX-License-Identifier: Apache-2.0 */
/* deletion.h: plans what a deletion request does to an object; for DELETE and deletecollection. */
#ifndef KC_APISERVER_DELETION_H
#define KC_APISERVER_DELETION_H

#include "apiserver/request/phases.h"

typedef struct kc__rest_deletion {
    kc_object *object; /* Removed: its last state. Otherwise its new state. The caller drops the
                          reference. */
    bool removes;
    bool more_writes; /* The object is to be removed, but watchers must see the marked state first:
                   store it, then plan again. */
} kc__rest_deletion;

/* Checks the preconditions of the request: 409 for another uid or resourceVersion. */
kc__rest_verdict kc__rest_deletion_check(kc__rest_call *call, const kc_object *current);

/*
 * Applies the call's options and the kind's strategy: an object with finalizers stays and is only
 * marked; propagation policies add finalizers that the garbage collector handles. 0 or negative
 * (call->error).
 */
int kc__rest_deletion_plan(kc__rest_call *call, const kc_object *current, kc__rest_deletion *ret);

/* After the object of a plan with `more_writes` was stored as call->current: the client's
 * resourceVersion precondition now refers to that state. */
void kc__rest_deletion_resume(kc__rest_call *call);

/* Returns an object as it is stored while finalizers block its deletion: deletionTimestamp `now`,
 * no grace period. The caller drops the reference. NULL on failure. */
kc_object *kc__rest_deletion_mark(const kc_object *object, kc_time now);

#endif
