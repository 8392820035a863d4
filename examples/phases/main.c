/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phases: work in phases that continues where it was after a restart of the program. Bread is
 * kneaded, rests, and is baked; too hot an oven burns it, until a user lowers the temperature and
 * resets it.
 *
 *     kubectl apply -f examples/phases/bread.yaml
 *     kubectl create -f - <<<'{"apiVersion":"example.com/v1","kind":"Bread",
 *                              "metadata":{"name":"rye"},"spec":{"degrees":500}}'
 *     kubectl get bread rye                                                           Burnt
 *     kubectl patch bread rye --type=merge -p '{"spec":{"degrees":200}}'
 *     kubectl annotate bread rye kubecontroller.io/phase-action=reset
 *     kubectl get bread rye -o yaml                             the record of each phase
 */
#include "kc/app.h"

#include <stdio.h>

static const kc_kind bread_kind = {
    .group = "example.com",
    .version = "v1",
    .kind = "Bread",
    .plural = "breads",
    .singular = "bread",
    .namespaced = true,
};

static kc_phase_result knead(kc_phase_call *call, kc_error *err)
{
    (void)err;
    printf("kneading %.*s\n", KC_ARG(kc_object_name(call->object)));
    fflush(stdout);
    return KC_PHASE_DONE;
}

/* The state of a phase is stored in the object: kc_phase_set_state. */
static kc_phase_result rest(kc_phase_call *call, kc_error *err)
{
    if (call->state)
        return KC_PHASE_DONE;
    if (kc_phase_set_state(call, KC_STR("{\"covered\":true}"), err) < 0)
        return KC_PHASE_FAIL;
    kc_phase_requeue_after(call, KC_SECOND);
    return KC_PHASE_STAY;
}

/* KC_INVALID is a permanent error: the phase fails. */
static kc_phase_result bake(kc_phase_call *call, kc_error *err)
{
    const int64_t degrees = kc_value_as_i64_or(kc_value_nested(call->root, "spec.degrees"), 220);
    if (degrees <= 300)
        return KC_PHASE_DONE;
    kc_error_set(err, KC_INVALID, "%d degrees are too hot", (int)degrees);
    return KC_PHASE_FAIL;
}

static KC_PHASE_MACHINE(bread) = {
    .kind = &bread_kind,
    .initial = "Dough",
    .phases = KC_PHASES({"Dough", KC_SERIAL(knead, rest), .next = "Oven"},
                        {"Oven", bake, .next = "Baked", .failed = "Burnt"}),
    .terminal = KC_NAMES("Baked", "Burnt"),
};

KC_RECONCILER(bread) = {.description = "bakes bread", .machine = &bread_machine};

int main(void)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_manager) *manager = kc_manager_new(NULL, &err);
    if (!manager || kc_reconcilers_add(manager, "*", &err) < 0 || kc_manager_run(manager, &err) < 0)
        return kc_manager_exit(&err);
    return 0;
}
