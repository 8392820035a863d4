/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disruption.h: deleting a pod that did nothing wrong: because its node is gone, or does not want
 * it. Its status says why first (the condition DisruptionTarget), for who looks at it later: a Job
 * does not count such a pod as failed.
 */
#ifndef KC_CONTROLLERS_DISRUPTION_H
#define KC_CONTROLLERS_DISRUPTION_H

#include "kc/client.h"

typedef struct kc__disruption {
    const char *reason, *message; /* Of the condition. NULL: without one. */
    bool fail;                    /* Nobody is there to end it: its phase becomes Failed. A pod that
                                   * has ended already is not written to. */
    bool now;                     /* Without grace. */
} kc__disruption;

/* 0 also when the pod is gone already; KC_CONFLICT when it is not the newest. */
int kc__disrupt_pod(kc_client *client, const kc_object *pod, const kc__disruption *how,
                    kc_error *err);

#endif
