/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.c: looks up phases and validates machines.
 *
 * A machine is validated when it is registered, before anything runs: an invalid machine is invalid
 * for every object. Phases are reachable through `next`, `failed` and the initial phase; targets of
 * kc_phase_goto are known only to the handler, so such phases must also be the `next` of another
 * one.
 */
#include "phase/phase_internal.h"

#include "kc/ascii.h"

#define EACH_PHASE(machine, p)    for (const kc_phase_def *p = (machine)->phases; p && p->name; p++)
#define EACH_TERMINAL(machine, t) for (const char *const *t = (machine)->terminal; t && *t; t++)

const kc_phase_def *kc__phase_find(const kc_phase_machine *machine, kc_str phase)
{
    EACH_PHASE(machine, p)
    if (kc_str_is(phase, p->name))
        return p;
    return NULL;
}

const kc_phase_def *kc__phase_find_failing_to(const kc_phase_machine *machine, kc_str phase)
{
    EACH_PHASE(machine, p)
    if (p->failed && kc_str_is(phase, p->failed))
        return p;
    return NULL;
}

const kc_phase_def *kc__phase_before(const kc_phase_machine *machine, kc_str phase)
{
    EACH_PHASE(machine, p)
    if (p->next && kc_str_is(phase, p->next))
        return p;
    return NULL;
}

bool kc_phase_is_terminal(const kc_phase_machine *machine, kc_str phase)
{
    EACH_TERMINAL(machine, t)
    if (kc_str_is(phase, *t))
        return true;
    return false;
}

bool kc_phase_is_known(const kc_phase_machine *machine, kc_str phase)
{
    return kc__phase_find(machine, phase) || kc_phase_is_terminal(machine, phase);
}

bool kc_phase_is_failed(const kc_phase_machine *machine, kc_str phase)
{
    return kc_phase_is_terminal(machine, phase) && kc__phase_find_failing_to(machine, phase);
}

kc_str kc_phase_of(const kc_phase_machine *machine, const kc_value *root)
{
    const kc_str phase = kc_value_as_str(kc_value_nested(root, "status.phase"));
    return kc_str_empty(phase) ? kc_cstr(machine->initial) : phase;
}

const char *kc__phase_machine_name(const kc_phase_machine *machine, kc_buf *out)
{
    if (machine->name)
        return machine->name;
    for (const char *c = machine->kind->kind; *c; c++) {
        const char lower = kc_lower(*c);
        kc_buf_append(out, kc_str_of(&lower, 1));
    }
    return kc_buf_cstr(out);
}

bool kc_phase_is_fatal(const kc_error *err, void *context)
{
    (void)context;
    switch (err->reason) {
    case KC_INVALID:
    case KC_BAD_REQUEST:
    case KC_FORBIDDEN:
    case KC_NOT_FOUND:
    case KC_ALREADY_EXISTS:
    case KC_GONE: return true;
    default: return false;
    }
}

/* ---- validation ---- */

static int no_such_phase(const char *from, const char *word, const char *name, kc_error *err)
{
    return kc_error_set(err, KC_INVALID, "phase %s: unknown phase \"%s\" as its %s", from, name,
                        word);
}

static int check_ways(const kc_phase_machine *machine, const kc_phase_def *p, kc_error *err)
{
    if (!p->next)
        return kc_error_set(err, KC_INVALID, "phase %s: next is missing", p->name);
    if (!kc_phase_is_known(machine, kc_cstr(p->next)))
        return no_such_phase(p->name, "next", p->next, err);
    if (!p->failed)
        return 0;
    if (!kc_phase_is_known(machine, kc_cstr(p->failed)))
        return no_such_phase(p->name, "failed", p->failed, err);
    const kc_phase_def *first = kc__phase_find_failing_to(machine, kc_cstr(p->failed));
    if (first != p)
        return kc_error_set(err, KC_INVALID,
                            "phases %s and %s have the same failed phase %s, so a reset could "
                            "not tell them apart; give each its own",
                            first->name, p->name, p->failed);
    return 0;
}

static int check_work(const kc_phase_def *p, kc_error *err)
{
    const bool has_steps = p->steps && p->steps[0].name;
    if (!p->handler && !has_steps)
        return kc_error_set(err, KC_INVALID, "phase %s: neither a handler nor steps", p->name);
    if (p->handler && has_steps)
        return kc_error_set(err, KC_INVALID, "phase %s: both a handler and steps", p->name);
    for (const kc_phase_step_def *s = p->steps; s && s->name; s++) {
        if (!s->run)
            return kc_error_set(err, KC_INVALID, "phase %s: step %s has no function", p->name,
                                s->name);
        for (const kc_phase_step_def *t = p->steps; t != s; t++)
            if (!strcmp(s->name, t->name))
                return kc_error_set(err, KC_INVALID, "phase %s: duplicate step %s", p->name,
                                    s->name);
    }
    return 0;
}

static int check_phase(const kc_phase_machine *machine, const kc_phase_def *p, kc_error *err)
{
    if (kc__phase_find(machine, kc_cstr(p->name)) != p)
        return kc_error_set(err, KC_INVALID, "phase %s: duplicate name", p->name);
    if (kc_phase_is_terminal(machine, kc_cstr(p->name)))
        return kc_error_set(err, KC_INVALID,
                            "phase %s: a terminal phase must not have a handler or steps", p->name);
    const bool reached = !strcmp(p->name, machine->initial) ||
                         kc__phase_before(machine, kc_cstr(p->name)) ||
                         kc__phase_find_failing_to(machine, kc_cstr(p->name));
    if (!reached)
        return kc_error_set(err, KC_INVALID, "phase %s: unreachable", p->name);
    return check_work(p, err) < 0 ? kc_error_result(err) : check_ways(machine, p, err);
}

static int check_terminal(const kc_phase_machine *machine, const char *name, kc_error *err)
{
    const kc_str phase = kc_cstr(name);
    if (!kc__phase_before(machine, phase) && !kc__phase_find_failing_to(machine, phase))
        return kc_error_set(err, KC_INVALID, "phase %s: unreachable", name);
    return 0;
}

/* All checks except names: a machine whose next phases form a cycle never ends. */
static int check_ends(const kc_phase_machine *machine, kc_error *err)
{
    EACH_PHASE(machine, start)
    {
        const kc_phase_def *p = start;
        size_t n = 0, phases = 0;
        EACH_PHASE(machine, each)
        phases += each->name != NULL;
        while (p && n++ <= phases)
            p = kc__phase_find(machine, kc_cstr(p->next));
        if (p)
            return kc_error_set(err, KC_INVALID, "phase %s: next leads in a cycle that never ends",
                                start->name);
    }
    return 0;
}

static int check_all(const kc_phase_machine *machine, kc_error *err)
{
    if (!machine->kind || !machine->initial || !machine->phases || !machine->terminal)
        return kc_error_set(err, KC_INVALID,
                            "a phase machine needs a kind, an initial phase, phases and "
                            "terminal phases");
    if (!kc__phase_find(machine, kc_cstr(machine->initial)))
        return kc_error_set(err, KC_INVALID, "phase %s: unknown initial phase", machine->initial);
    EACH_PHASE(machine, p)
    if (check_phase(machine, p, err) < 0)
        return kc_error_result(err);
    EACH_TERMINAL(machine, t)
    if (check_terminal(machine, *t, err) < 0)
        return kc_error_result(err);
    return check_ends(machine, err);
}

int kc_phase_check(const kc_phase_machine *machine, kc_error *err)
{
    kc_scoped(kc_buf) name = {0};
    if (check_all(machine, err) == 0)
        return 0;
    return kc_error_wrap(err, "phase machine %s",
                         machine->kind ? kc__phase_machine_name(machine, &name) : "");
}
