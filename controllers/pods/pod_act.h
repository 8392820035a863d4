/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_act.h: carrying out what a plan says.
 */
#ifndef KC_CONTROLLERS_POD_ACT_H
#define KC_CONTROLLERS_POD_ACT_H

#include "pods/pods.h"

/* What a look at a pod works with. */
typedef struct kc__look {
    kc__pods *pods;
    kc_context *ctx;
    kc_pod *pod;
    kc__pod_record *state;
    kc_time now;
    kc_time next; /* As the last plan says. */
    bool over;
} kc__look;

/* An event of the pod, or of container i (SIZE_MAX: of none). */
void kc__look_say(const kc__look *look, size_t i, bool warning, const char *reason,
                  const char *message);
/* True if something has changed by it that another plan should see. */
bool kc__look_act(kc__look *look, const kc__action *action);
/* Takes up what jobs have come to since the last look. */
void kc__look_take_results(kc__look *look);

#endif
