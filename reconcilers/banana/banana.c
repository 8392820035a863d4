/* SPDX-License-Identifier: Apache-2.0 */
/*
 * banana.c: a reconciler that is a phase machine: Init, then Migrate, then Success or Fail.
 *
 * Nothing is really moved: it demonstrates a phase machine. Migrate takes a second for each of
 * three parts and stores its progress in the object; a banana whose destination is its current
 * place cannot move, which a retry would not change: it fails, until a user changes and resets it
 * (kubectl annotate banana one kubecontroller.io/phase-action=reset).
 */
#include "api/demo_v1/zz_generated.h"

#include "kc/app.h"

#include <stdio.h>

enum { PARTS = 3 };

static kc_phase_result init(kc_phase_call *call, kc_error *err)
{
    (void)call;
    (void)err;
    return KC_PHASE_DONE;
}

static kc_phase_result migrate(kc_phase_call *call, kc_error *err)
{
    const kc_str source = kc_value_as_str(kc_value_nested(call->root, "spec.source"));
    const kc_str dest = kc_value_as_str(kc_value_nested(call->root, "spec.dest"));
    if (kc_str_eq(source, dest)) {
        kc_error_set(err, KC_INVALID, "%.*s is already at its destination", KC_ARG(dest));
        return KC_PHASE_FAIL;
    }

    const int64_t moved = kc_value_as_i64_or(kc_value_get(call->state, "moved"), 0);
    kc_phase_progress(call, moved, PARTS);
    if (moved == PARTS)
        return KC_PHASE_DONE;
    char state[32];
    snprintf(state, sizeof(state), "{\"moved\":%d}", (int)moved + 1);
    if (kc_phase_set_state(call, kc_cstr(state), err) < 0)
        return KC_PHASE_FAIL;
    kc_phase_requeue_after(call, KC_SECOND);
    return KC_PHASE_STAY;
}

static KC_PHASE_MACHINE(banana) = {
    .kind = &banana_kind,
    .initial = "Init",
    .phases = KC_PHASES({"Init", init, .next = "Migrate"},
                        {"Migrate", migrate, .next = "Success", .failed = "Fail",
                         .desc = "in transit"}),
    .terminal = KC_NAMES("Success", "Fail"),
};

KC_RECONCILER(banana) = {
    .description = "moves bananas: a demonstration of phase machines",
    .machine = &banana_machine,
};
