/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase.h: phase machines, for work that runs through phases and resumes at the same phase after
 * any interruption.
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
 *     static kc_phase_result precheck(kc_phase_call *call, kc_error *err)
 *     {
 *         if (redis_ping(source_of(call->object), err) < 0)
 *             return KC_PHASE_FAIL;                     the error decides: retry, or PreFailed
 *         return KC_PHASE_DONE;
 *     }
 *
 * The object holds the whole state of its machine, in status.phase and status.state, one record per
 * phase:
 *
 *   state:
 *     PreFlight: {done: true, startTime: …, endTime: …, state: {…}, warning: …}
 *     InFlight: {…}
 *
 * A step (kc_phase_step) takes an object, runs the handler of its phase once, and returns the
 * object to be stored. It does not write: kc/app.h binds machines to controllers. After a crash
 * before the object is stored the handler runs again, so handlers must be idempotent.
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

typedef enum kc_phase_result {
    KC_PHASE_STAY, /* Not done yet: repeat after the machine's delay, or that of
                    * kc_phase_requeue_after. */
    KC_PHASE_DONE, /* Continue with the next phase. */
    /* See err. A fatal error (kc_phase_machine.is_fatal) ends the phase, and `failed` follows; any
     * other error is recorded, and the phase is retried. */
    KC_PHASE_FAIL,
} kc_phase_result;

typedef kc_phase_result kc_phase_handler(kc_phase_call *call, kc_error *err);

/* The arguments of a handler. */
struct kc_phase_call {
    const kc_object *object; /* As read from the server. */
    const kc_value *root;    /* The same, parsed. */
    const char *phase;
    const char *step;      /* The step of a composite phase. NULL: the phase itself. */
    const kc_value *state; /* The state of the last run (kc_phase_set_state); NULL: none. */
    void *context; /* The result of the machine's `prepare`; without one, its `user` argument: a
                    * kc_context (reconcile.h) under kc/app.h. */
    const kc_clock *clock;
    kc_cancel *cancel;                 /* Fires when the handler should return early. */
    struct kc__phase_call_notes *note; /* Private. */
};

/* Stores JSON for the next run: {"copied":12}. KC_BAD_REQUEST when it is not valid. */
int kc_phase_set_state(kc_phase_call *call, kc_str json, kc_error *err);
/* Sets a warning, which does not stop the phase. "" clears it. */
void kc_phase_warn(kc_phase_call *call, const char *fmt, ...) KC_PRINTF(2, 3);
/* With KC_PHASE_DONE: continue with this phase instead of the machine's `next`. Must be one of its
 * phases. */
void kc_phase_goto(kc_phase_call *call, const char *phase);
/* With KC_PHASE_STAY: when to run again. */
void kc_phase_requeue_after(kc_phase_call *call, int64_t after);
/* Reports progress; both may be 0. Shown as "progress". */
void kc_phase_progress(kc_phase_call *call, int64_t done, int64_t total);

/* One of several items that a phase works on. Its data stay until they are changed. */
typedef struct kc_phase_object {
    const char *id; /* Identifies the item. */
    const char *name, *group, *handle_id;
    bool done;
    const char *warning, *error;
} kc_phase_object;
/* Adds or updates an item; its start and end times are kept. */
void kc_phase_set_object(kc_phase_call *call, const kc_phase_object *object);
/* True if the item was last reported as done. */
bool kc_phase_object_is_done(const kc_phase_call *call, const char *id);

/* ---- machines ---- */

/* One step of a composite phase. */
typedef struct kc_phase_step_def {
    const char *name;
    kc_phase_handler *run;
    const char *desc; /* Display text. Defaults to the name. */
} kc_phase_step_def;

typedef struct kc_phase_def {
    const char *name;
    kc_phase_handler *handler;      /* Either this, or steps: */
    const kc_phase_step_def *steps; /* Ended by a NULL name. */
    bool parallel; /* Run all steps at the same time; the first fatal failure cancels the others. By
                    * default they run one after the other, and each result is stored before the
                    * next begins. Completed steps are never repeated. */
    const char *next;   /* When it is done. */
    const char *failed; /* When it ends with an error. NULL: it is retried forever. */
    const char *desc;   /* Display text. Defaults to the name. */
    bool pause;         /* Waits before its handler until KC_PHASE_CONTINUE. */
} kc_phase_def;

#define KC_PHASES(...) ((const kc_phase_def[]){__VA_ARGS__, {0}})
#define KC_NAMES(...)  ((const char *const[]){__VA_ARGS__, NULL})
/* Several handlers instead of one: KC_SERIAL(copy, verify). Their names are those of the functions.
 */
#define KC_SERIAL(...)   .steps = KC__PHASE_STEPS(__VA_ARGS__)
#define KC_PARALLEL(...) .parallel = true, .steps = KC__PHASE_STEPS(__VA_ARGS__)

struct kc_phase_machine {
    const char *name; /* Defaults to the kind in lower case. */
    const kc_kind *kind;
    const char *initial;
    const kc_phase_def *phases;  /* KC_PHASES(…): the phases with handlers. */
    const char *const *terminal; /* KC_NAMES(…): the final phases. */
    int64_t delay;               /* Between two runs. Defaults to 5 s. */
    const char *pause_field;     /* A boolean that pauses it. Defaults to "spec.paused". */
    bool (*is_fatal)(const kc_error *err, void *context); /* Defaults to kc_phase_is_fatal. */
    /* Creates what handlers share for one step, and frees it. Both may be NULL. */
    void *(*prepare)(const kc_object *object, void *user, kc_error *err);
    void (*release)(void *context, void *user);
};

#define KC_PHASE_MACHINE(name) const kc_phase_machine name##_machine

/* True for errors that a retry does not change: KC_INVALID, KC_BAD_REQUEST, KC_FORBIDDEN,
 * KC_NOT_FOUND, KC_ALREADY_EXISTS, KC_GONE. Timeouts, conflicts and unavailable servers are
 * temporary. */
bool kc_phase_is_fatal(const kc_error *err, void *context);

/* Validates a machine. Each of these is an error that names the phase: a duplicate name, an unknown
 * name, an unreachable phase, neither handler nor steps, no successor, a successor of a terminal
 * phase, two phases with the same `failed` (a reset would be ambiguous). */
int kc_phase_check(const kc_phase_machine *machine, kc_error *err);

/* ---- running ---- */

typedef struct kc_phase_env {
    const kc_clock *clock;
    kc_cancel *cancel; /* May be NULL. */
    void *user;        /* For prepare. kc/app.h passes the reconcile's kc_context. */
} kc_phase_env;

typedef struct kc_phase_step_result {
    kc_object *object;     /* To be stored, owned by the caller; NULL: unchanged. */
    bool ended;            /* In a terminal phase: nothing is left to do. */
    bool waits;            /* Paused: waits for a user. */
    const char *complaint; /* It waits because of an annotation that does not parse; else NULL. */
    int64_t after;         /* When to run again; 0: at once. Without `ended` and `waits`. */
} kc_phase_step_result;

/* Returns 0 also when the handler failed: the object records that. Negative when the handler could
 * not be run. */
int kc_phase_step(const kc_phase_machine *machine, const kc_object *object, const kc_phase_env *env,
                  kc_phase_step_result *ret, kc_error *err);

/* The current phase; the initial one if the object has none. Lives as long as `root`. */
kc_str kc_phase_of(const kc_phase_machine *machine, const kc_value *root);
/* True for phases of the machine, terminal ones included. */
bool kc_phase_is_known(const kc_phase_machine *machine, kc_str phase);
bool kc_phase_is_terminal(const kc_phase_machine *machine, kc_str phase);
/* True for a terminal phase that is the `failed` of another phase. */
bool kc_phase_is_failed(const kc_phase_machine *machine, kc_str phase);

/* ---- actions of users ---- */

typedef enum kc_phase_action {
    KC_PHASE_RESET, /* From a failed phase back to the one that failed, which is retried without its
                     * completed steps. */
    KC_PHASE_REVERT,   /* Back to the previous phase, as if both had never run. */
    KC_PHASE_CONTINUE, /* Resume after a pause. */
    KC_PHASE_PURGE,    /* Delete all records and start again. */
    KC_PHASE_ACTIONS
} kc_phase_action;

/* Parses "reset", "revert", "continue", "purge"; false for any other word. */
bool kc_phase_action_of(kc_str name, kc_phase_action *ret);
const char *kc_phase_action_name(kc_phase_action action);

typedef struct kc_phase_action_request {
    kc_phase_action action;
    const char *user; /* The user who requested it. May be NULL. */
    const char *id;   /* An id for kc_phase_action_was_applied. May be NULL. */
} kc_phase_action_request;

/* Returns the object to be stored, with an entry in status.audit that names the user. NULL with
 * KC_CONFLICT, and the reason, when the action is not possible now. */
kc_object *kc_phase_apply_action(const kc_phase_machine *machine, const kc_object *object,
                                 const kc_phase_action_request *order, const kc_clock *clock,
                                 kc_error *err);
/* True if status.audit has an action with this id: it has been applied and stored. */
bool kc_phase_action_was_applied(const kc_value *root, kc_str id);

/* An object's annotations, label and finalizer. */
#define KC_PHASE_LABEL      "kubecontroller.io/phase"
#define KC_PHASE_NOT_BEFORE "kubecontroller.io/no-reconciling-before" /* Unix seconds. */
#define KC_PHASE_BARRIER    "kubecontroller.io/reconciling-barrier"   /* activity:phase */
#define KC_PHASE_ACTION     "kubecontroller.io/phase-action"          /* reset, … */
#define KC_PHASE_ACTION_BY  "kubecontroller.io/phase-action-by" /* The user who requested it. */
#define KC_PHASE_FINALIZER  "kubecontroller.io/ongoing"

/* ---- display ---- */

/* Appends JSON for a console: {"phase":…,"phases":[{"phase","desc","result","timestamp"}],
 * "detail":{"view":"none"|"checklist"|"objectdetail"|"progress",…}}; results are Pending, Doing,
 * Succeeded, Warning, Failed. */
void kc_phase_view(const kc_phase_machine *machine, const kc_object *object, kc_buf *out);

typedef enum kc_phase_graph_form { KC_PHASE_DOT, KC_PHASE_MERMAID } kc_phase_graph_form;
/* Appends a diagram. */
void kc_phase_graph(const kc_phase_machine *machine, kc_phase_graph_form form, kc_buf *out);

/* ---- implementation of the macros ---- */

#define KC__PHASE_STEPS(...) ((const kc_phase_step_def[]){KC__PHASE_STEP_EACH(__VA_ARGS__){0}})
#define KC__PHASE_STEP(f)    {#f, f},
#define KC__PHASE_STEP_EACH(...)                                                                \
    KC__PHASE_STEP_PICK(__VA_ARGS__, KC__PHASE_STEP_8, KC__PHASE_STEP_7, KC__PHASE_STEP_6,      \
                        KC__PHASE_STEP_5, KC__PHASE_STEP_4, KC__PHASE_STEP_3, KC__PHASE_STEP_2, \
                        KC__PHASE_STEP_1)                                                       \
    (__VA_ARGS__)
#define KC__PHASE_STEP_PICK(a, b, c, d, e, f, g, h, name, ...) name
#define KC__PHASE_STEP_1(a)                                    KC__PHASE_STEP(a)
#define KC__PHASE_STEP_2(a, ...)                               KC__PHASE_STEP(a) KC__PHASE_STEP_1(__VA_ARGS__)
#define KC__PHASE_STEP_3(a, ...)                               KC__PHASE_STEP(a) KC__PHASE_STEP_2(__VA_ARGS__)
#define KC__PHASE_STEP_4(a, ...)                               KC__PHASE_STEP(a) KC__PHASE_STEP_3(__VA_ARGS__)
#define KC__PHASE_STEP_5(a, ...)                               KC__PHASE_STEP(a) KC__PHASE_STEP_4(__VA_ARGS__)
#define KC__PHASE_STEP_6(a, ...)                               KC__PHASE_STEP(a) KC__PHASE_STEP_5(__VA_ARGS__)
#define KC__PHASE_STEP_7(a, ...)                               KC__PHASE_STEP(a) KC__PHASE_STEP_6(__VA_ARGS__)
#define KC__PHASE_STEP_8(a, ...)                               KC__PHASE_STEP(a) KC__PHASE_STEP_7(__VA_ARGS__)

#endif
