/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_sync.h: executes the actions of a plan.
 */
#ifndef KC_CONTROLLERS_PODS_POD_SYNC_H
#define KC_CONTROLLERS_PODS_POD_SYNC_H

#include "pods/pods.h"

/* The state of one pod sync. */
typedef struct kc__pod_sync {
    kc__pods *pods;
    kc_context *ctx;
    kc_pod *pod;
    kc__pod_record *state;
    kc_time now;
    kc_time next; /* From the last plan. */
    bool over;
} kc__pod_sync;

/* Records an event for the pod, or for container i (SIZE_MAX: none). */
void kc__pod_sync_event(const kc__pod_sync *sync, size_t i, bool warning, const char *reason,
                        const char *message);
/* True if a change requires another plan. */
bool kc__pod_sync_execute(kc__pod_sync *sync, const kc__pod_action *action);
/* Applies the results of jobs since the last pod sync. */
void kc__pod_sync_take_results(kc__pod_sync *sync);

#endif
