/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_state.h: how a pod is doing, as controllers see it: its phase, whether it is ready, since
 * when, whether it counts.
 *
 *     const kc__pod_state state = kc__pod_state_of(pod);
 *     if (kc__pod_is_active(&state) && kc__pod_is_available(&state, min_ready, now))
 *         …
 *
 * It is read from the object's text by what a controller of thousands of pods needs of each, not
 * by decoding all of it.
 */
#ifndef KC_CONTROLLERS_POD_STATE_H
#define KC_CONTROLLERS_POD_STATE_H

#include "kc/time.h"
#include "kc/view.h"

typedef enum kc__pod_phase {
    KC__POD_PENDING, /* Also a pod that says none. */
    KC__POD_UNKNOWN,
    KC__POD_RUNNING,
    KC__POD_SUCCEEDED,
    KC__POD_FAILED,
} kc__pod_phase;

typedef struct kc__pod_state {
    kc__pod_phase phase;
    bool deleting; /* It has a deletionTimestamp. */
    bool ready;
    kc_time ready_since; /* 0: not said, or not ready. */
} kc__pod_state;

kc__pod_state kc__pod_state_of(const kc_object *pod);
/* Of a view that is there already. */
kc__pod_state kc__pod_state_in(const kc_value *pod);

/* Its containers have ended for good. */
static inline bool kc__pod_is_terminal(const kc__pod_state *s)
{
    return s->phase == KC__POD_SUCCEEDED || s->phase == KC__POD_FAILED;
}
/* It counts as a replica. */
static inline bool kc__pod_is_active(const kc__pod_state *s)
{
    return !kc__pod_is_terminal(s) && !s->deleting;
}
/* It is being ended. */
static inline bool kc__pod_is_terminating(const kc__pod_state *s)
{
    return !kc__pod_is_terminal(s) && s->deleting;
}
/* It has been ready for `min_ready` (nanoseconds) at `now`. */
static inline bool kc__pod_is_available(const kc__pod_state *s, int64_t min_ready, kc_time now)
{
    return s->ready && (min_ready == 0 || (s->ready_since && s->ready_since + min_ready <= now));
}
/* How long until a pod that is ready is available; 0 when that is not a matter of time. */
static inline int64_t kc__pod_available_after(const kc__pod_state *s, int64_t min_ready,
                                              kc_time now)
{
    const bool waits = s->ready && s->ready_since && s->ready_since + min_ready > now;
    return waits ? s->ready_since + min_ready - now : 0;
}

#endif
