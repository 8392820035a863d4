/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_state.h: the state of a pod that controllers need: its phase, whether and since when it is
 * ready, whether it is active.
 *
 *     const kc__common_pod_state state = kc__common_pod_state_of(pod);
 *     if (kc__common_pod_is_active(&state) && kc__common_pod_is_available(&state, min_ready, now))
 *         …
 *
 * The functions read only these fields from the object's text instead of decoding the whole pod: a
 * controller does this for thousands of pods.
 */
#ifndef KC_CONTROLLERS_POD_STATE_H
#define KC_CONTROLLERS_POD_STATE_H

#include "kc/time.h"
#include "kc/view.h"

typedef enum kc__common_pod_phase {
    KC__COMMON_POD_PENDING, /* Also for a pod without a phase. */
    KC__COMMON_POD_UNKNOWN,
    KC__COMMON_POD_RUNNING,
    KC__COMMON_POD_SUCCEEDED,
    KC__COMMON_POD_FAILED,
} kc__common_pod_phase;

typedef struct kc__common_pod_state {
    kc__common_pod_phase phase;
    bool deleting; /* It has a deletionTimestamp. */
    bool ready;
    kc_time ready_since; /* Time of the Ready condition's transition; 0: unknown or not ready. */
} kc__common_pod_state;

kc__common_pod_state kc__common_pod_state_of(const kc_object *pod);
/* Reads the state from an existing view. */
kc__common_pod_state kc__common_pod_state_in(const kc_value *pod);

/* The pod's phase is Succeeded or Failed. */
static inline bool kc__common_pod_is_terminal(const kc__common_pod_state *s)
{
    return s->phase == KC__COMMON_POD_SUCCEEDED || s->phase == KC__COMMON_POD_FAILED;
}
/* The pod counts as a replica. */
static inline bool kc__common_pod_is_active(const kc__common_pod_state *s)
{
    return !kc__common_pod_is_terminal(s) && !s->deleting;
}
/* The pod has been ready for `min_ready` nanoseconds at `now`. */
static inline bool kc__common_pod_is_available(const kc__common_pod_state *s, int64_t min_ready,
                                               kc_time now)
{
    return s->ready && (min_ready == 0 || (s->ready_since && s->ready_since + min_ready <= now));
}
/* Nanoseconds until a ready pod becomes available; 0 if waiting does not make it available. */
static inline int64_t kc__common_pod_available_after(const kc__common_pod_state *s,
                                                     int64_t min_ready, kc_time now)
{
    const bool waits = s->ready && s->ready_since && s->ready_since + min_ready > now;
    return waits ? s->ready_since + min_ready - now : 0;
}

#endif
