/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c: errors of a machine are reported when it is checked, with the name of the phase. */
#include "phase_testing.h"

static kc_phase_result go(kc_phase_call *call, kc_error *err)
{
    (void)call;
    (void)err;
    return KC_PHASE_DONE;
}

static void refused(const kc_phase_machine *machine, const char *why)
{
    kc_scoped(kc_error) err = {0};
    if (kc_phase_check(machine, &err) == 0)
        fail_msg("was not refused: %s", why);
    if (!strstr(kc_error_text(&err), why))
        fail_msg("%s: instead of: %s", kc_error_text(&err), why);
}

#define MACHINE(...)                                             \
    (&(const kc_phase_machine){.kind = &banana_kind,             \
                               .initial = "A",                   \
                               .phases = KC_PHASES(__VA_ARGS__), \
                               .terminal = KC_NAMES("Z", "F")})

static void valid_machine_is_accepted(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_int_equal(
        kc_phase_check(MACHINE({"A", go, .next = "B"}, {"B", go, .next = "Z", .failed = "F"}),
                       &err),
        0);
}

static void unknown_phase_names_are_refused(void **state)
{
    (void)state;
    refused(MACHINE({"A", go, .next = "C"}),
            "phase machine banana: phase A: unknown phase \"C\" as its next");
    refused(MACHINE({"A", go, .next = "Z", .failed = "G"}),
            "phase A: unknown phase \"G\" as its failed");
    refused(MACHINE({"A", go, .failed = "F"}), "phase A: next is missing");
    refused(MACHINE({"B", go, .next = "Z", .failed = "F"}), "phase A: unknown initial phase");
}

static void unreachable_phase_is_refused(void **state)
{
    (void)state;
    refused(MACHINE({"A", go, .next = "Z", .failed = "F"}, {"B", go, .next = "Z"}),
            "phase B: unreachable");
    refused(MACHINE({"A", go, .next = "Z"}), "phase F: unreachable");
}

static void phase_without_handler_or_steps_is_refused(void **state)
{
    (void)state;
    refused(MACHINE({"A", .next = "Z", .failed = "F"}), "phase A: neither a handler nor steps");
    refused(MACHINE({"A", go, KC_SERIAL(go), .next = "Z", .failed = "F"}),
            "phase A: both a handler and steps");
    refused(MACHINE({"A", KC_SERIAL(go, go), .next = "Z", .failed = "F"}),
            "phase A: duplicate step go");
    refused(MACHINE({"A", go, .next = "Z", .failed = "F"}, {"Z", go, .next = "F"}),
            "phase Z: a terminal phase must not");
    refused(MACHINE({"A", go, .next = "Z", .failed = "F"}, {"A", go, .next = "Z"}),
            "phase A: duplicate name");
}

static void shared_failed_phase_is_refused(void **state)
{
    (void)state;
    refused(MACHINE({"A", go, .next = "B", .failed = "F"}, {"B", go, .next = "Z", .failed = "F"}),
            "phases A and B have the same failed phase F, so a reset could not tell them apart");
}

static void cyclic_machine_is_refused(void **state)
{
    (void)state;
    refused(MACHINE({"A", go, .next = "B", .failed = "F"}, {"B", go, .next = "A", .failed = "Z"}),
            "phase A: next leads in a cycle that never ends");
}

TESTS(valid_machine_is_accepted, unknown_phase_names_are_refused, unreachable_phase_is_refused,
      phase_without_handler_or_steps_is_refused, shared_failed_phase_is_refused,
      cyclic_machine_is_refused)
