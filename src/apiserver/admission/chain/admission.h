/* SPDX-License-Identifier: Apache-2.0 */
/* admission.h: runs the admission plugins of a request, stage by stage. */
#ifndef KC_APISERVER_ADMISSION_H
#define KC_APISERVER_ADMISSION_H

#include "apiserver/call/call.h"

typedef enum kc__admission_stage {
    KC__ADMISSION_MUTATE,
    KC__ADMISSION_ALLOCATE,
    KC__ADMISSION_VALIDATE,
} kc__admission_stage;

/* Runs the plugins of a stage in the order of their table, until one rejects the request
 * (KC__REST_FAIL). KC__REST_PENDING, KC__REST_ON_LOOP or KC__REST_ON_WORKER: a plugin waits, or
 * needs another thread; the next call continues with that plugin. On the call's thread. */
kc__rest_verdict kc__admission_run(kc__rest_call *call, kc__admission_stage stage);

/* Runs the mutating plugins that do not wait again, after a webhook or a policy has changed the
 * draft. KC__REST_ON_WORKER: a policy is expensive. */
kc__rest_verdict kc__admission_rerun_mutating(kc__rest_call *call);

/* Runs `admit_body` of the plugins: KC__REST_NEXT, or KC__REST_FAIL. */
kc__rest_verdict kc__admission_run_body(kc__rest_call *call);
/* Runs `admit_deletion` of the plugins, for one object of a collection. The same results. */
kc__rest_verdict kc__admission_run_deletion(kc__rest_call *call, const kc_object *object);

/* The request has ended: plugins release what they allocated. */
void kc__admission_release(kc__rest_call *call);

#endif
