/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase.h: phase machines: work that goes through phases, one after the other, and goes on where it
 * was after everything that may happen in between.
 *
 *     KC_PHASE_MACHINE(redismigration) = {
 *         .kind = &redismigration_kind,
 *         .initial = "Pending",
 *         .phases = KC_PHASES(
 *             {"Pending", collect, .next = "PreFlight"},
 *             {"PreFlight", precheck, .next = "InFlight", .failed = "PreFailed"},
 *             {"InFlight", KC_SERIAL(copy_keys, verify), .next = "Done", .failed = "Failed"}),
 *         .terminal = KC_NAMES("Done", "PreFailed", "Failed"),
 *     };
 *
 *     static kc_phase_verdict precheck(kc_phase_call *call, kc_error *err)
 *     {
 *         if (redis_ping(source_of(call->object), err) < 0)
 *             return KC_PHASE_FAIL;                     the error decides: again, or PreFailed
 *         return KC_PHASE_DONE;
 *     }
 *
 * Everything a machine knows of an object is in the object, in status.phase and status.state, one
 * record a phase:
 *
 *     state:
 *       PreFlight: {done: true, startTime: …, endTime: …, state: {…}, warning: …}
 *       InFlight: {…}
 *
 * A step (kc_phase_step) takes an object, runs the handler of its phase once, and gives the object
 * as it is to be stored. Nothing is written here: kc/app.h binds machines to controllers. A crash
 * before the object is stored means that the handler runs again, so handlers look before they act.
 */
#ifndef KC_PHASE_H
#define KC_PHASE_H

#include "kc/cancel.h"
#include "kc/clock.h"
#include "kc/edit.h"
#include "kc/kind.h"
#include "kc/view.h"

typedef struct kc_phase_machine kc_phase_machine;
typedef struct kc_phase_call kc_phase_call;

/* ---- handlers ---- */

typedef enum kc_phase_verdict {
    KC_PHASE_STAY, /* Not done yet: again after the machine's delay, or kc_phase_later's. */
    KC_PHASE_DONE, /* On to the next phase. */
    /* err says why. A fatal error (kc_phase_machine.is_fatal) ends the phase, and its `failed`
     * follows; any other is written down, and the phase is tried again. */
    KC_PHASE_FAIL,
} kc_phase_verdict;

typedef kc_phase_verdict kc_phase_handler(kc_phase_call *call, kc_error *err);

/* What a handler works with. */
struct kc_phase_call {
    const kc_object *object; /* As it was read. */
    const kc_value *root;    /* The same, parsed. */
    const char *phase;
    const char *step;      /* Of a composite: which one. NULL: the phase itself. */
    const kc_value *state; /* What it kept the last time (kc_phase_keep); NULL: nothing. */
    void *context;         /* What the machine's `prepare` made; without one, the user it was
                            * to be made of: a kc_context (reconcile.h) under kc/app.h. */
    const kc_clock *clock;
    kc_cancel *cancel;           /* Fires when it is to give up. */
    struct kc__phase_note *note; /* Private. */
};

/* Keeps JSON for the next time: {"copied":12}. KC_BAD_REQUEST when it is none. */
int kc_phase_keep(kc_phase_call *call, kc_str json, kc_error *err);
/* Something people should know, though it goes on. "" takes it back. */
void kc_phase_warn(kc_phase_call *call, const char *fmt, ...) KC_PRINTF(2, 3);
/* With KC_PHASE_DONE: another phase than the machine's `next`. Must be one of its phases. */
void kc_phase_goto(kc_phase_call *call, const char *phase);
/* With KC_PHASE_STAY: when to look again. */
void kc_phase_later(kc_phase_call *call, int64_t after);
/* How far it is, for people; both may be 0. Shown as progress. */
void kc_phase_progress(kc_phase_call *call, int64_t done, int64_t total);

/* One of many things a phase works on; what is said of it stays until it is said otherwise. */
typedef struct kc_phase_object {
    const char *id; /* By which it is known. */
    const char *name, *group, *handle_id;
    bool done;
    const char *warning, *error;
} kc_phase_object;
/* Adds it, or changes what is known of it; its times are kept: since when, and when it was done. */
void kc_phase_set_object(kc_phase_call *call, const kc_phase_object *object);
/* Whether it is done, as last said. */
bool kc_phase_object_is_done(const kc_phase_call *call, const char *id);

/* ---- machines ---- */

/* One part of a composite. */
typedef struct kc_phase_step_def {
    const char *name;
    kc_phase_handler *run;
    const char *desc; /* For people. Defaults to the name. */
} kc_phase_step_def;

typedef struct kc_phase_def {
    const char *name;
    kc_phase_handler *handler;      /* Or steps: */
    const kc_phase_step_def *steps; /* End with a NULL name. */
    bool parallel;    /* Steps run at the same time, and the first fatal failure cancels the others;
                       * else one after the other, and each is stored before the next begins. Steps
                       * that are done are not run again, in either case. */
    const char *next; /* When it is done. */
    const char *failed; /* When it ends with an error. NULL: it cannot, and is tried for ever. */
    const char *desc;   /* For people. Defaults to the name. */
    bool pause;         /* Waits before its handler until it is told to continue. */
} kc_phase_def;

#define KC_PHASES(...) ((const kc_phase_def[]){__VA_ARGS__, {0}})
#define KC_NAMES(...)  ((const char *const[]){__VA_ARGS__, NULL})
/* Handlers in the place of one: KC_SERIAL(copy, verify). Their names are the functions'. */
#define KC_SERIAL(...)   .steps = KC__STEPS(__VA_ARGS__)
#define KC_PARALLEL(...) .parallel = true, .steps = KC__STEPS(__VA_ARGS__)

struct kc_phase_machine {
    const char *name; /* Defaults to the kind in lower case. */
    const kc_kind *kind;
    const char *initial;
    const kc_phase_def *phases;  /* KC_PHASES(…): those with something to do. */
    const char *const *terminal; /* KC_NAMES(…): where it ends. */
    int64_t delay;               /* Between two looks. Defaults to 5 s. */
    const char *pause_field;     /* A boolean that stops it. Defaults to "spec.paused". */
    bool (*is_fatal)(const kc_error *err, void *context); /* Defaults to kc_phase_is_fatal. */
    /* Makes what handlers share for one step, and frees it. Both may be NULL. */
    void *(*prepare)(const kc_object *object, void *user, kc_error *err);
    void (*release)(void *context, void *user);
};

#define KC_PHASE_MACHINE(name) const kc_phase_machine name##_machine

/* What trying again does not change: KC_INVALID, KC_BAD_REQUEST, KC_FORBIDDEN, KC_NOT_FOUND,
 * KC_ALREADY_EXISTS, KC_GONE. Timeouts, conflicts, servers that are not there may pass. */
bool kc_phase_is_fatal(const kc_error *err, void *context);

/* Whether it makes sense; each of these is an error that names the phase: a name twice, one that
 * there is not, a phase nobody comes to, neither handler nor steps, no way on, a way on from a
 * terminal one, two phases with the same `failed` (a reset would not know where to go). */
int kc_phase_check(const kc_phase_machine *machine, kc_error *err);

/* ---- running ---- */

typedef struct kc_phase_env {
    const kc_clock *clock;
    kc_cancel *cancel; /* May be NULL. */
    void *user;        /* For prepare. kc/app.h gives the call's kc_context. */
} kc_phase_env;

typedef struct kc_phase_stepped {
    kc_object *object;     /* To be stored; NULL: nothing has changed. The caller's. */
    bool ended;            /* In a terminal phase: nothing is to be done any more. */
    bool waits;            /* For people: paused. */
    const char *complaint; /* It waits because of an annotation that cannot be read; else NULL. */
    int64_t after;         /* When to look again; 0: at once. Without `ended` and `waits`. */
} kc_phase_stepped;

/* 0 also when the handler failed: that is in the object. Negative when it could not be run. */
int kc_phase_step(const kc_phase_machine *machine, const kc_object *object, const kc_phase_env *env,
                  kc_phase_stepped *ret, kc_error *err);

/* The phase it is in; the initial one where it says none. Lives as long as `root`. */
kc_str kc_phase_of(const kc_phase_machine *machine, const kc_value *root);
/* One of the machine's, terminal ones included. */
bool kc_phase_is_known(const kc_phase_machine *machine, kc_str phase);
bool kc_phase_is_terminal(const kc_phase_machine *machine, kc_str phase);
/* Terminal, and some phase's `failed`. */
bool kc_phase_is_failed(const kc_phase_machine *machine, kc_str phase);

/* ---- what people do with it ---- */

typedef enum kc_phase_action {
    KC_PHASE_RESET,    /* From a failed phase back to the one that failed: it is tried again, but
                        * for steps that were done. */
    KC_PHASE_REVERT,   /* Back to the phase before this one, both as if they had never run. */
    KC_PHASE_CONTINUE, /* Out of a pause. */
    KC_PHASE_PURGE,    /* All records go: from the beginning again. */
    KC_PHASE_ACTIONS
} kc_phase_action;

/* "reset", "revert", "continue", "purge"; false for another word. */
bool kc_phase_action_of(kc_str name, kc_phase_action *ret);
const char *kc_phase_action_name(kc_phase_action action);

typedef struct kc_phase_order {
    kc_phase_action action;
    const char *who; /* Wants it. May be NULL. */
    const char *id;  /* By which kc_phase_acted knows it again. May be NULL. */
} kc_phase_order;

/* The object as it is to be stored, with a line in status.audit that says who did it. NULL with
 * KC_CONFLICT, and why, when it is not possible now. */
kc_object *kc_phase_act(const kc_phase_machine *machine, const kc_object *object,
                        const kc_phase_order *order, const kc_clock *clock, kc_error *err);
/* Whether status.audit has an order with this id: it has been carried out, and stored. */
bool kc_phase_acted(const kc_value *root, kc_str id);

/* Annotations of an object, and its label and finalizer. */
#define KC_PHASE_LABEL      "kubecontroller.io/phase"
#define KC_PHASE_NOT_BEFORE "kubecontroller.io/no-reconciling-before" /* Unix seconds. */
#define KC_PHASE_BARRIER    "kubecontroller.io/reconciling-barrier"   /* activity:phase */
#define KC_PHASE_ACTION     "kubecontroller.io/phase-action"          /* reset, … */
#define KC_PHASE_ACTION_BY  "kubecontroller.io/phase-action-by"       /* Who wants it. */
#define KC_PHASE_FINALIZER  "kubecontroller.io/ongoing"

/* ---- showing ---- */

/* Appends JSON for a console: {"phase":…,"phases":[{"phase","desc","result","timestamp"}],
 * "detail":{"view":"none"|"checklist"|"objectdetail"|"progress",…}}; results are Pending, Doing,
 * Succeeded, Warning, Failed. */
void kc_phase_view(const kc_phase_machine *machine, const kc_object *object, kc_buf *out);

typedef enum kc_phase_graph_form { KC_PHASE_DOT, KC_PHASE_MERMAID } kc_phase_graph_form;
/* Appends a diagram. */
void kc_phase_graph(const kc_phase_machine *machine, kc_phase_graph_form form, kc_buf *out);

/* ---- behind the macros ---- */

#define KC__STEPS(...) ((const kc_phase_step_def[]){KC__STEP_EACH(__VA_ARGS__){0}})
#define KC__STEP(f)    {#f, f},
#define KC__STEP_EACH(...)                                                                 \
    KC__STEP_PICK(__VA_ARGS__, KC__STEP_8, KC__STEP_7, KC__STEP_6, KC__STEP_5, KC__STEP_4, \
                  KC__STEP_3, KC__STEP_2, KC__STEP_1)                                      \
    (__VA_ARGS__)
#define KC__STEP_PICK(a, b, c, d, e, f, g, h, name, ...) name
#define KC__STEP_1(a)                                    KC__STEP(a)
#define KC__STEP_2(a, ...)                               KC__STEP(a) KC__STEP_1(__VA_ARGS__)
#define KC__STEP_3(a, ...)                               KC__STEP(a) KC__STEP_2(__VA_ARGS__)
#define KC__STEP_4(a, ...)                               KC__STEP(a) KC__STEP_3(__VA_ARGS__)
#define KC__STEP_5(a, ...)                               KC__STEP(a) KC__STEP_4(__VA_ARGS__)
#define KC__STEP_6(a, ...)                               KC__STEP(a) KC__STEP_5(__VA_ARGS__)
#define KC__STEP_7(a, ...)                               KC__STEP(a) KC__STEP_6(__VA_ARGS__)
#define KC__STEP_8(a, ...)                               KC__STEP(a) KC__STEP_7(__VA_ARGS__)

#endif
