/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disruption.h: deletes a pod for a reason outside the pod: its node is gone or has a taint. The
 * condition DisruptionTarget in the pod's status records the reason first; a Job does not count
 * such a pod as failed.
 */
#ifndef KC_CONTROLLERS_DISRUPTION_H
#define KC_CONTROLLERS_DISRUPTION_H

#include "kc/client.h"

typedef struct kc__common_disruption {
    const char *reason, *message; /* Reason of the condition. NULL: no condition. */
    bool fail;                    /* No kubelet is left to stop the pod: set its phase to Failed. A
                                   * pod that has terminated is not updated. */
    bool immediately;             /* Delete with grace period 0. */
} kc__common_disruption;

/* Returns 0 also if the pod is gone already; KC_CONFLICT if the given pod is not the newest
 * version. */
int kc__common_evict_pod(kc_client *client, const kc_object *pod, const kc__common_disruption *how,
                         kc_error *err);

#endif
