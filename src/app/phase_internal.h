/* SPDX-License-Identifier: Apache-2.0 */
/* phase_internal.h: what the two files of machines as controllers share. */
#ifndef KC_APP_PHASE_INTERNAL_H
#define KC_APP_PHASE_INTERNAL_H

#include "app/app_internal.h"
#include "kc/ascii.h"

struct kc__phase_controller {
    const char *name;
    const kc_phase_machine *machine;
    kc_metric *transitions, *durations, *conflicts, *orders;
};

/* An object on its way, as the server last said it is. */
typedef struct kc__phase_walk {
    kc__phase_controller *controller;
    kc_context *ctx;
    kc_key key;
    kc_object *object;
    kc_view *view;         /* Of it. */
    int rounds, conflicts; /* So far. */
    bool gone;             /* It was let go: there may be nothing to read any more. */
} kc__phase_walk;

/* Takes the object over. */
void kc__walk_take(kc__phase_walk *w, kc_object *object);
/* Lives until the next write. */
kc_str kc__walk_phase(const kc__phase_walk *w);
/* Each makes the walk's object what the server answers. */
int kc__walk_status(kc__phase_walk *w, const kc_object *changed, kc_error *err);
/* Metadata: a merge patch that fails with KC_CONFLICT if the walk's object is not the newest. */
int kc__walk_patch(kc__phase_walk *w, const kc_object *changed, kc_error *err);

/* ---- phase_orders.c ---- */

/* What people ask for by annotation. 1 if something was done, and the walk's object is another; 0
 * if there is nothing to do. */
int kc__walk_orders(kc__phase_walk *w, kc_error *err);

#endif
