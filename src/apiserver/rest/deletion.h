/* SPDX-License-Identifier: Apache-2.0 */
/* deletion.h: what asking for an object's deletion does to it; for one and for collections. */
#ifndef KC_APISERVER_DELETION_H
#define KC_APISERVER_DELETION_H

#include "apiserver/rest/call.h"

typedef struct kc__deletion {
    kc_object *object; /* Removed: its last state. Otherwise its new one. To be unreferenced. */
    bool removes;
    bool again; /* It goes, but not before everybody has seen it so: store it, then plan again. */
} kc__deletion;

/* Whether the object is the one the client means: 409 for another uid or version. */
kc__verdict kc__deletion_check(kc__call *call, const kc_object *current);

/*
 * By the call's options and the kind's rules: an object with finalizers stays and is only marked;
 * propagation policies add finalizers that the garbage collector acts on. 0 or negative
 * (call->error).
 */
int kc__deletion_plan(kc__call *call, const kc_object *current, kc__deletion *ret);

/* After a plan that has to be made again was stored as call->current: the version that the client
 * asked for is that one now. */
void kc__deletion_go_on(kc__call *call);

#endif
