/* SPDX-License-Identifier: Apache-2.0 */
/* phase_internal.h: shared by the two files of phase machines as controllers. */
#ifndef KC_APP_PHASE_INTERNAL_H
#define KC_APP_PHASE_INTERNAL_H

#include "app/app_internal.h"
#include "kc/ascii.h"

struct kc__app_phase_controller {
    const char *name;
    const kc_phase_machine *machine;
    kc_metric *transitions, *durations, *conflicts, *orders;
};

/* One reconcile: the object as the server last returned it. */
typedef struct kc__app_phase_walk {
    kc__app_phase_controller *controller;
    kc_context *ctx;
    kc_key key;
    kc_object *object;
    kc_view *view;         /* View of the object. */
    int rounds, conflicts; /* Number of rounds so far. */
    bool gone;             /* The finalizer was removed: the object may be gone. */
} kc__app_phase_walk;

/* Takes ownership of the object. */
void kc__app_phase_walk_take(kc__app_phase_walk *w, kc_object *object);
/* Valid until the next write. */
kc_str kc__app_phase_walk_phase(const kc__app_phase_walk *w);
/* Each replaces the walk's object by the server's response. */
int kc__app_phase_walk_status(kc__app_phase_walk *w, const kc_object *changed, kc_error *err);
/* Metadata: a merge patch that fails with KC_CONFLICT if the walk's object is not the newest. */
int kc__app_phase_walk_patch(kc__app_phase_walk *w, const kc_object *changed, kc_error *err);

/* ---- phase_orders.c ---- */

/* Executes a user's action from the annotation. 1 if the walk's object has changed; 0 if there is
 * nothing to do. */
int kc__app_phase_walk_actions(kc__app_phase_walk *w, kc_error *err);

#endif
