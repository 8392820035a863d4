/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step.c: one step of a machine: takes an object, runs its phase's handler once, returns the
 * changed object.
 *
 *     allowed to run? ──▶ handler, or steps ──▶ record ──▶ next phase ──▶ changed?
 *
 * The next phase: the handler's kc_phase_goto; else, done with a fatal error, `failed`; done,
 * `next`; else the same phase. Entering a phase removes its earlier record.
 *
 * Serial steps of a composite: one per call, so that its result is stored before the next starts,
 * and a crash repeats one step, never two. Parallel steps: one thread each for all that are not
 * done; edits are not thread-safe, so their notes are stored afterwards.
 */
#include "phase/phase_internal.h"

#include "kc/meta.h"
#include "kc/thread.h"

#define DELAY (5 * KC_SECOND)
/* Interval of checks against the wall clock, which may be set, and machines sleep, during a
 * wait. */
#define POLL_INTERVAL KC_MINUTE

typedef struct phase_step_step {
    const kc_phase_machine *machine;
    const kc_phase_env *env;
    const kc_object *object;
    const kc_value *root;
    const kc_phase_def *phase;
    const kc_value *record; /* The previous object; may be NULL. */
    kc_edit *edit;
    kc_arena arena;
    void *context;
    kc_phase_step_result *result;
    const char *target; /* Target of the handler's kc_phase_goto. */
    int64_t later;
} phase_step_step;

/* One run of a handler. */
typedef struct phase_step_run {
    phase_step_step *step;
    const kc_phase_step_def *part; /* NULL: the phase itself. */
    kc_phase_handler *handler;
    kc_cancel *cancel;
    kc_cancel *others; /* Parallel steps: fired when this one fails permanently. May be NULL; the
                        * caller's own token is not fired here. */
    kc__phase_call_notes note;
    kc__phase_end end;
    kc_error error;
    kc_thread *thread;
} phase_step_run;

/* ---- handlers ---- */

static const kc_value *record_of_part(const phase_step_step *s, const kc_phase_step_def *part)
{
    return part ? kc_value_get(kc_value_get(s->record, "steps"), part->name) : s->record;
}

static bool is_fatal(const phase_step_step *s, const kc_error *err)
{
    return s->machine->is_fatal ? s->machine->is_fatal(err, s->context)
                                : kc_phase_is_fatal(err, s->context);
}

static void run_handler(void *user)
{
    phase_step_run *r = user;
    phase_step_step *s = r->step;
    r->note.record = record_of_part(s, r->part);
    kc_phase_call call = {
        .object = s->object,
        .root = s->root,
        .phase = s->phase->name,
        .step = r->part ? r->part->name : NULL,
        .state = kc_value_get(r->note.record, "state"),
        .context = s->context,
        .clock = s->env->clock,
        .cancel = r->cancel,
        .note = &r->note,
    };
    r->end.verdict = r->handler(&call, &r->error);
    r->end.error = &r->error;
    r->end.fatal = r->end.verdict == KC_PHASE_FAIL && s->phase->failed && is_fatal(s, &r->error);
    if (r->end.fatal && r->others)
        kc_cancel_fire(r->others);
}

static void phase_step_run_done(phase_step_run *r)
{
    kc__phase_call_notes_done(&r->note);
    kc_error_done(&r->error);
}

/* Stores its notes, and takes its target phase. */
static void note_down(phase_step_step *s, const phase_step_run *r, kc_node *record)
{
    kc__phase_record_write(s->edit, record, &r->note, &r->end, s->env->clock);
    if (r->note.target)
        s->target = kc_arena_strndup(&s->arena, r->note.target, strlen(r->note.target));
    if (r->note.later && (!s->later || r->note.later < s->later))
        s->later = r->note.later;
}

/* ---- composites ---- */

static size_t count_steps(const kc_phase_def *phase)
{
    size_t n = 0;
    while (phase->steps[n].name)
        n++;
    return n;
}

static bool part_is_done(const phase_step_step *s, const kc_phase_step_def *part)
{
    const kc_value *record = record_of_part(s, part);
    return kc__phase_record_is_done(record) &&
           !kc_value_as_bool(kc_value_get(record, "failed"), false);
}

/* The result of the phase from the results of its steps. */
static void sum_up(phase_step_step *s, kc_node *record, phase_step_run *runs, size_t n,
                   bool all_done, kc__phase_end *ret, kc_error *ret_error)
{
    *ret = (kc__phase_end){.verdict = all_done ? KC_PHASE_DONE : KC_PHASE_STAY, .error = ret_error};
    for (size_t i = 0; i < n; i++) {
        const phase_step_run *r = &runs[i];
        note_down(s, r, kc__phase_step_record(s->edit, record, r->part->name));
        if (r->end.verdict != KC_PHASE_FAIL || (ret->verdict == KC_PHASE_FAIL && ret->fatal))
            continue;
        kc_error_done(ret_error);
        kc_error_set(ret_error, r->error.reason ? r->error.reason : KC_UNKNOWN, "%s: %s",
                     r->part->name, kc_error_text(&r->error));
        ret->verdict = KC_PHASE_FAIL;
        ret->fatal = r->end.fatal;
    }
}

static void run_serial(phase_step_step *s, kc_node *record, kc__phase_end *ret, kc_error *ret_error)
{
    const kc_phase_step_def *part = s->phase->steps;
    while (part->name && part_is_done(s, part))
        part++;
    if (!part->name) {
        *ret = (kc__phase_end){.verdict = KC_PHASE_DONE};
        return;
    }
    phase_step_run r = {.step = s, .part = part, .handler = part->run, .cancel = s->env->cancel};
    run_handler(&r);
    const bool done = r.end.verdict == KC_PHASE_DONE;
    sum_up(s, record, &r, 1, done && (r.note.target || !part[1].name), ret, ret_error);
    if (done && ret->verdict == KC_PHASE_STAY)
        s->later = -1; /* The next step follows at once. */
    phase_step_run_done(&r);
}

static void run_parallel(phase_step_step *s, kc_node *record, kc__phase_end *ret,
                         kc_error *ret_error)
{
    size_t n = 0;
    phase_step_run *runs = kc_calloc(count_steps(s->phase), sizeof(*runs));
    kc_cancel *cancel = kc_cancel_new(s->env->cancel);
    for (const kc_phase_step_def *part = s->phase->steps; part->name; part++)
        if (!part_is_done(s, part))
            runs[n++] = (phase_step_run){
                .step = s, .part = part, .handler = part->run, .cancel = cancel, .others = cancel};
    for (size_t i = 1; i < n; i++)
        runs[i].thread = kc_thread_start(runs[i].part->name, run_handler, &runs[i], NULL);
    for (size_t i = 0; i < n; i++)
        if (!runs[i].thread)
            run_handler(&runs[i]);
    bool done = true;
    for (size_t i = 0; i < n; i++) {
        kc_thread_join(runs[i].thread);
        done = done && runs[i].end.verdict == KC_PHASE_DONE;
    }
    sum_up(s, record, runs, n, done, ret, ret_error);
    for (size_t i = 0; i < n; i++)
        phase_step_run_done(&runs[i]);
    free(runs);
    kc_cancel_unref(cancel);
}

/* ---- the phase ---- */

static void run_phase(phase_step_step *s, kc__phase_end *ret, kc_error *ret_error)
{
    kc_node *record = kc__phase_record(s->edit, kc_cstr(s->phase->name));
    if (s->phase->handler) {
        phase_step_run r = {.step = s, .handler = s->phase->handler, .cancel = s->env->cancel};
        run_handler(&r);
        note_down(s, &r, record);
        *ret = r.end;
        ret->error = ret_error;
        kc_error_move(ret_error, &r.error);
        phase_step_run_done(&r);
        return;
    }
    if (s->phase->parallel)
        run_parallel(s, record, ret, ret_error);
    else
        run_serial(s, record, ret, ret_error);
    kc__phase_record_write(s->edit, record, &(kc__phase_call_notes){0}, ret, s->env->clock);
}

static void phase_step_set_phase(phase_step_step *s, const char *phase)
{
    kc_edit_set_nested(s->edit, "status.phase", kc_node_str(s->edit, kc_cstr(phase)));
}

static int phase_step_enter(phase_step_step *s, const char *phase, kc_error *err)
{
    const kc_str name = kc_cstr(phase);
    if (!kc__phase_find(s->machine, name) && !kc_phase_is_terminal(s->machine, name))
        return kc_error_set(err, KC_INVALID, "phase %s: handler goes to unknown phase \"%s\"",
                            s->phase->name, phase);
    if (!kc_str_is(name, s->phase->name))
        kc__phase_record_remove(s->edit, name);
    phase_step_set_phase(s, phase);
    s->result->ended = kc_phase_is_terminal(s->machine, name);
    s->result->after = 0;
    return 0;
}

static int move_on(phase_step_step *s, const kc__phase_end *end, kc_error *err)
{
    const int64_t delay = s->machine->delay ? s->machine->delay : DELAY;
    if (end->verdict == KC_PHASE_DONE)
        return phase_step_enter(s, s->target ? s->target : s->phase->next, err);
    if (end->verdict == KC_PHASE_FAIL && end->fatal)
        return phase_step_enter(s, s->phase->failed, err);
    phase_step_set_phase(s, s->phase->name);
    s->result->after = s->later < 0 ? 0 : s->later ? s->later : delay;
    return 0;
}

/* ---- holds ---- */

static bool is_paused(const phase_step_step *s)
{
    const char *field = s->machine->pause_field ? s->machine->pause_field : "spec.paused";
    return kc_value_as_bool(kc_value_nested(s->root, field), false);
}

static kc_str phase_step_annotation(const phase_step_step *s, const char *name)
{
    return kc_value_as_str(kc_value_get(kc_value_nested(s->root, "metadata.annotations"), name));
}

/* An annotation that cannot be parsed was meant as a hold: it holds, with a warning. */
static bool has_barrier(phase_step_step *s)
{
    kc_str phase = phase_step_annotation(s, KC_PHASE_BARRIER);
    if (kc_str_empty(phase))
        return false;
    kc_str_cut(&phase, ':');
    if (!kc_phase_is_known(s->machine, phase))
        s->result->complaint = KC_PHASE_BARRIER " is not activity:phase with a known phase";
    return s->result->complaint || kc_str_is(phase, s->phase->name);
}

/* Time until the object may run; an invalid value holds it too. */
static int64_t time_left(phase_step_step *s)
{
    uint64_t seconds = 0;
    const kc_str text = phase_step_annotation(s, KC_PHASE_NOT_BEFORE);
    const int64_t now = kc_clock_wall(s->env->clock);
    if (kc_str_empty(text))
        return 0;
    if (!kc_str_to_u64(text, &seconds) || seconds > INT64_MAX / KC_SECOND) {
        s->result->complaint = KC_PHASE_NOT_BEFORE " is not a Unix time in seconds";
        s->result->waits = true;
        return 0;
    }
    return KC_MIN(KC_MAX((int64_t)seconds * KC_SECOND - now, 0), POLL_INTERVAL);
}

static bool waits_for_people(const phase_step_step *s)
{
    return s->phase->pause && !kc_value_as_bool(kc_value_get(s->record, "continued"), false);
}

/* False: not now; the result says until when. */
static bool may_run(phase_step_step *s)
{
    s->result->waits = is_paused(s) || has_barrier(s) || waits_for_people(s);
    s->result->after = s->result->waits ? 0 : time_left(s);
    return !s->result->waits && !s->result->after;
}

/* ---- step ---- */

/* Identical text: nothing to store. */
static int freeze(phase_step_step *s, kc_error *err)
{
    kc_object *changed = kc_edit_freeze(s->edit, err);
    if (!changed)
        return kc_error_result(err);
    if (kc_str_eq(kc_object_json(changed), kc_object_json(s->object)))
        changed = kc_object_unref(changed);
    s->result->object = changed;
    return 0;
}

static int run_and_move_on(phase_step_step *s, kc_error *err)
{
    kc_scoped(kc_error) failure = {0};
    kc__phase_end end = {0};
    s->context = s->env->user;
    if (s->machine->prepare && !(s->context = s->machine->prepare(s->object, s->env->user, err)))
        return kc_error_wrap(err, "prepare phase %s", s->phase->name);
    run_phase(s, &end, &failure);
    if (s->machine->release)
        s->machine->release(s->context, s->env->user);
    if (move_on(s, &end, err) < 0)
        return kc_error_result(err);
    return freeze(s, err);
}

static int record_wait(phase_step_step *s, kc_error *err)
{
    phase_step_set_phase(s, s->phase->name);
    return freeze(s, err);
}

int kc_phase_step(const kc_phase_machine *machine, const kc_object *object, const kc_phase_env *env,
                  kc_phase_step_result *ret, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_phase_step_result result = {0};
    phase_step_step s = {.machine = machine,
                         .env = env,
                         .object = object,
                         .root = kc_view_root(view),
                         .edit = edit,
                         .result = &result};
    const kc_str name = kc_phase_of(machine, s.root);
    s.phase = kc__phase_find(machine, name);
    s.record = kc__phase_record_of(s.root, name);
    result.ended = kc_phase_is_terminal(machine, name);
    int status = 0;
    if (!result.ended && !s.phase)
        return kc_error_set(err, KC_INVALID, "status.phase: unknown phase \"%.*s\"", KC_ARG(name));
    if (!result.ended)
        status = may_run(&s) ? run_and_move_on(&s, err) : record_wait(&s, err);
    kc_arena_done(&s.arena);
    if (status == 0)
        *ret = result;
    return status;
}
