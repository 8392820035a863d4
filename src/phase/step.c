/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step.c: one step of a machine: an object in, its phase's handler run once, an object out.
 *
 *     may it run? ──▶ handler, or steps ──▶ record ──▶ which phase next ──▶ changed?
 *
 * Which phase next: where the handler says; else, done with a fatal error, `failed`; done, `next`;
 * else the same one. A phase that is entered begins anew: a record from an earlier time goes.
 *
 * Steps of a composite one after the other: one in each call, so that what is done is stored before
 * the next begins, and a crash repeats one step, never two. In parallel: a thread each, all that
 * are not done; edits are not for several threads, so their notes are written down afterwards.
 */
#include "phase/phase_internal.h"

#include "kc/meta.h"
#include "kc/thread.h"

#define DELAY (5 * KC_SECOND)
/* Times of day are looked at so often: clocks are set, and machines sleep, while we wait. */
#define LOOK KC_MINUTE

typedef struct step {
    const kc_phase_machine *machine;
    const kc_phase_env *env;
    const kc_object *object;
    const kc_value *root;
    const kc_phase_def *phase;
    const kc_value *record; /* As it was; may be NULL. */
    kc_edit *edit;
    kc_arena arena;
    void *context;
    kc_phase_stepped *result;
    const char *target; /* Where a handler went. */
    int64_t later;
} step;

/* One handler's run. */
typedef struct run {
    step *step;
    const kc_phase_step_def *part; /* NULL: the phase itself. */
    kc_phase_handler *handler;
    kc_cancel *cancel;
    kc_cancel *others; /* Of a parallel one: fired when this one fails for good. May be NULL; the
                        * caller's own is not ours to fire. */
    kc__phase_note note;
    kc__phase_end end;
    kc_error error;
    kc_thread *thread;
} run;

/* ---- one handler ---- */

static const kc_value *record_of_part(const step *s, const kc_phase_step_def *part)
{
    return part ? kc_get(kc_get(s->record, "steps"), part->name) : s->record;
}

static bool is_fatal(const step *s, const kc_error *err)
{
    return s->machine->is_fatal ? s->machine->is_fatal(err, s->context)
                                : kc_phase_is_fatal(err, s->context);
}

static void run_handler(void *user)
{
    run *r = user;
    step *s = r->step;
    r->note.record = record_of_part(s, r->part);
    kc_phase_call call = {
        .object = s->object,
        .root = s->root,
        .phase = s->phase->name,
        .step = r->part ? r->part->name : NULL,
        .state = kc_get(r->note.record, "state"),
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

static void run_done(run *r)
{
    kc__phase_note_done(&r->note);
    kc_error_done(&r->error);
}

/* Into its record, and what it says of where to go on. */
static void note_down(step *s, const run *r, kc_node *record)
{
    kc__phase_note_down(s->edit, record, &r->note, &r->end, s->env->clock);
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

static bool part_is_done(const step *s, const kc_phase_step_def *part)
{
    const kc_value *record = record_of_part(s, part);
    return kc__phase_record_is_done(record) && !kc_as_bool(kc_get(record, "failed"), false);
}

/* What the phase as a whole has come to, of what its parts have. */
static void sum_up(step *s, kc_node *record, run *runs, size_t n, bool all_done, kc__phase_end *ret,
                   kc_error *ret_error)
{
    *ret = (kc__phase_end){.verdict = all_done ? KC_PHASE_DONE : KC_PHASE_STAY, .error = ret_error};
    for (size_t i = 0; i < n; i++) {
        const run *r = &runs[i];
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

static void run_serial(step *s, kc_node *record, kc__phase_end *ret, kc_error *ret_error)
{
    const kc_phase_step_def *part = s->phase->steps;
    while (part->name && part_is_done(s, part))
        part++;
    if (!part->name) {
        *ret = (kc__phase_end){.verdict = KC_PHASE_DONE};
        return;
    }
    run r = {.step = s, .part = part, .handler = part->run, .cancel = s->env->cancel};
    run_handler(&r);
    const bool done = r.end.verdict == KC_PHASE_DONE;
    sum_up(s, record, &r, 1, done && (r.note.target || !part[1].name), ret, ret_error);
    if (done && ret->verdict == KC_PHASE_STAY)
        s->later = -1; /* The next one at once. */
    run_done(&r);
}

static void run_parallel(step *s, kc_node *record, kc__phase_end *ret, kc_error *ret_error)
{
    size_t n = 0;
    run *runs = kc_calloc(count_steps(s->phase), sizeof(*runs));
    kc_cancel *cancel = kc_cancel_new(s->env->cancel);
    for (const kc_phase_step_def *part = s->phase->steps; part->name; part++)
        if (!part_is_done(s, part))
            runs[n++] = (run){
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
        run_done(&runs[i]);
    free(runs);
    kc_cancel_unref(cancel);
}

/* ---- the phase ---- */

static void run_phase(step *s, kc__phase_end *ret, kc_error *ret_error)
{
    kc_node *record = kc__phase_record(s->edit, kc_cstr(s->phase->name));
    if (s->phase->handler) {
        run r = {.step = s, .handler = s->phase->handler, .cancel = s->env->cancel};
        run_handler(&r);
        note_down(s, &r, record);
        *ret = r.end;
        ret->error = ret_error;
        kc_error_move(ret_error, &r.error);
        run_done(&r);
        return;
    }
    if (s->phase->parallel)
        run_parallel(s, record, ret, ret_error);
    else
        run_serial(s, record, ret, ret_error);
    kc__phase_note_down(s->edit, record, &(kc__phase_note){0}, ret, s->env->clock);
}

static void set_phase(step *s, const char *phase)
{
    kc_edit_put(s->edit, "status.phase", kc_node_str(s->edit, kc_cstr(phase)));
}

static int enter(step *s, const char *phase, kc_error *err)
{
    const kc_str name = kc_cstr(phase);
    if (!kc__phase_find(s->machine, name) && !kc_phase_is_terminal(s->machine, name))
        return kc_error_set(err, KC_INVALID, "phase %s: its handler goes to \"%s\", which is none",
                            s->phase->name, phase);
    if (!kc_str_is(name, s->phase->name))
        kc__phase_forget(s->edit, name);
    set_phase(s, phase);
    s->result->ended = kc_phase_is_terminal(s->machine, name);
    s->result->after = 0;
    return 0;
}

static int move_on(step *s, const kc__phase_end *end, kc_error *err)
{
    const int64_t delay = s->machine->delay ? s->machine->delay : DELAY;
    if (end->verdict == KC_PHASE_DONE)
        return enter(s, s->target ? s->target : s->phase->next, err);
    if (end->verdict == KC_PHASE_FAIL && end->fatal)
        return enter(s, s->phase->failed, err);
    set_phase(s, s->phase->name);
    s->result->after = s->later < 0 ? 0 : s->later ? s->later : delay;
    return 0;
}

/* ---- may it run? ---- */

static bool is_paused(const step *s)
{
    const char *field = s->machine->pause_field ? s->machine->pause_field : "spec.paused";
    return kc_as_bool(kc_dig(s->root, field), false);
}

static kc_str annotation(const step *s, const char *name)
{
    return kc_as_str(kc_get(kc_dig(s->root, "metadata.annotations"), name));
}

/* What cannot be read was meant to hold it too: it does, and we say so. */
static bool has_barrier(step *s)
{
    kc_str phase = annotation(s, KC_PHASE_BARRIER);
    if (kc_str_empty(phase))
        return false;
    kc_str_cut(&phase, ':');
    if (!kc_phase_is_known(s->machine, phase))
        s->result->complaint = KC_PHASE_BARRIER " is not activity:phase, with a phase there is";
    return s->result->complaint || kc_str_is(phase, s->phase->name);
}

/* How long until it may be looked at; what cannot be read holds it as well. */
static int64_t time_left(step *s)
{
    uint64_t seconds = 0;
    const kc_str text = annotation(s, KC_PHASE_NOT_BEFORE);
    const int64_t now = kc_clock_wall(s->env->clock);
    if (kc_str_empty(text))
        return 0;
    if (!kc_str_to_u64(text, &seconds) || seconds > INT64_MAX / KC_SECOND) {
        s->result->complaint = KC_PHASE_NOT_BEFORE " is not a time in seconds since 1970";
        s->result->waits = true;
        return 0;
    }
    return KC_MIN(KC_MAX((int64_t)seconds * KC_SECOND - now, 0), LOOK);
}

static bool waits_for_people(const step *s)
{
    return s->phase->pause && !kc_as_bool(kc_get(s->record, "continued"), false);
}

/* False: not now, and the result says until when. */
static bool may_run(step *s)
{
    s->result->waits = is_paused(s) || has_barrier(s) || waits_for_people(s);
    s->result->after = s->result->waits ? 0 : time_left(s);
    return !s->result->waits && !s->result->after;
}

/* ---- all of it ---- */

/* Text for text the same: nothing is to be stored. */
static int freeze(step *s, kc_error *err)
{
    kc_object *changed = kc_edit_freeze(s->edit, err);
    if (!changed)
        return -1;
    if (kc_str_eq(kc_object_json(changed), kc_object_json(s->object)))
        changed = kc_object_unref(changed);
    s->result->object = changed;
    return 0;
}

static int run_and_move_on(step *s, kc_error *err)
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
        return -1;
    return freeze(s, err);
}

static int say_where_it_waits(step *s, kc_error *err)
{
    set_phase(s, s->phase->name);
    return freeze(s, err);
}

int kc_phase_step(const kc_phase_machine *machine, const kc_object *object, const kc_phase_env *env,
                  kc_phase_stepped *ret, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_phase_stepped result = {0};
    step s = {.machine = machine,
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
        return kc_error_set(err, KC_INVALID, "status.phase: \"%.*s\" is no phase of this machine",
                            KC_ARG(name));
    if (!result.ended)
        status = may_run(&s) ? run_and_move_on(&s, err) : say_where_it_waits(&s, err);
    kc_arena_done(&s.arena);
    if (status == 0)
        *ret = result;
    return status;
}
