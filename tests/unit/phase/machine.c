/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c: what is wrong with a machine is said when it is built, with the phase's name. */
#include "phase_testing.h"

static kc_phase_verdict go(kc_phase_call *call, kc_error *err)
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

static void a_sound_machine_passes(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_int_equal(
        kc_phase_check(MACHINE({"A", go, .next = "B"}, {"B", go, .next = "Z", .failed = "F"}),
                       &err),
        0);
}

static void names_must_lead_somewhere(void **state)
{
    (void)state;
    refused(MACHINE({"A", go, .next = "C"}),
            "phase machine banana: phase A: there is no phase \"C\", which is its next");
    refused(MACHINE({"A", go, .next = "Z", .failed = "G"}),
            "phase A: there is no phase \"G\", which is its failed");
    refused(MACHINE({"A", go, .failed = "F"}), "phase A: there is no way on");
    refused(MACHINE({"B", go, .next = "Z", .failed = "F"}),
            "phase A: the initial phase is not there");
}

static void every_phase_must_be_reached(void **state)
{
    (void)state;
    refused(MACHINE({"A", go, .next = "Z", .failed = "F"}, {"B", go, .next = "Z"}),
            "phase B: nothing leads to it");
    refused(MACHINE({"A", go, .next = "Z"}), "phase F: nothing leads to it");
}

static void every_phase_has_work(void **state)
{
    (void)state;
    refused(MACHINE({"A", .next = "Z", .failed = "F"}),
            "phase A: there is neither handler nor steps");
    refused(MACHINE({"A", go, KC_SERIAL(go), .next = "Z", .failed = "F"}),
            "phase A: there are both a handler and steps");
    refused(MACHINE({"A", KC_SERIAL(go, go), .next = "Z", .failed = "F"}),
            "phase A: there are two steps go");
    refused(MACHINE({"A", go, .next = "Z", .failed = "F"}, {"Z", go, .next = "F"}),
            "phase Z: it is terminal");
    refused(MACHINE({"A", go, .next = "Z", .failed = "F"}, {"A", go, .next = "Z"}),
            "phase A: it is there twice");
}

static void a_failed_phase_belongs_to_one(void **state)
{
    (void)state;
    refused(MACHINE({"A", go, .next = "B", .failed = "F"}, {"B", go, .next = "Z", .failed = "F"}),
            "phases A and B: both fail to F, so a reset would not know where to go back to");
}

static void a_way_must_end(void **state)
{
    (void)state;
    refused(MACHINE({"A", go, .next = "B", .failed = "F"}, {"B", go, .next = "A", .failed = "Z"}),
            "phase A: its way on goes in a circle and never ends");
}

TESTS(a_sound_machine_passes, names_must_lead_somewhere, every_phase_must_be_reached,
      every_phase_has_work, a_failed_phase_belongs_to_one, a_way_must_end)
