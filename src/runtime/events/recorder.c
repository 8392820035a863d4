/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.c: queues Events from any thread; one thread sends them.
 *
 *     kc_recorder_event ──▶ queue (1000 per name, then dropped) ──▶ correlate ──▶ create or patch,
 *                                                                                 up to 12 tries
 *
 * Recording an Event never blocks and never fails. If the server cannot be reached the thread
 * retries after 10 s (the first time after a random part of that, so that many controllers do not
 * retry together); an Event that the server rejects is dropped.
 *
 * The thread starts with an Event and ends after some idle seconds, unless series of
 * events.k8s.io/v1 are open, which it writes again from time to time.
 */
#include "kc/recorder.h"

#include "kc/kinds.h"
#include "runtime/events/correlator.h"

#include <assert.h>
#include <stdarg.h>
#include <unistd.h>

enum { QUEUE = 1000, TRIES = 12 };

#define RETRY_AFTER    (10 * KC_SECOND)
#define SERIES_REFRESH (30 * KC_MINUTE)
#define SERIES_SWEEP   (6 * KC_MINUTE)
#define THREAD_IDLE    (5 * KC_SECOND)

struct kc_recorder {
    kc_recorder *root; /* Itself, or the recorder that this one sends through under another name:
                          then only `root`, the names and `queued` are set. */
    char *component;
    char *field_manager; /* NULL: the client's. */
    size_t queued;       /* Notes of this name in the queue. Guarded by the root's mutex. */
    kc_client *client;
    const kc_clock *clock;
    char *host;
    bool events_v1;
    kc_rand rand;
    kc_log *log;
    kc_counter *dropped;
    kc_cancel *stop;   /* Fired: notes that cannot be sent at once are dropped. */
    kc_thread *thread; /* Guarded by the mutex; may be one that has ended. */

    kc__correlator correlator; /* Used only by the thread, like the next ones. */
    kc__correlator_series series;
    int64_t next_sweep, next_refresh;

    kc_mutex mutex; /* Guards the fields below. */
    kc_cond more;
    kc_dlist queue;               /* Of kc__recorder_note. */
    KC_VEC(kc_recorder *) others; /* Recorders of other names that send through this one. */
    int64_t last;                 /* The time of the last event. */
    bool stopping;
    bool running; /* The thread has not ended. */
};

/* ---- recording ---- */

static void recorder_run(void *user);

/* With the mutex held: there is something to send. If the system cannot start a thread, the next
 * Event tries again. */
static void call_thread(kc_recorder *r)
{
    if (r->running) {
        kc_cond_signal(&r->more);
        return;
    }
    kc_thread_join(r->thread); /* The thread does not use the mutex any more. */
    r->thread = kc_thread_start("recorder", recorder_run, r, NULL);
    r->running = r->thread != NULL;
}

static void recorder_enqueue(kc_recorder *recorder, kc__recorder_note *note)
{
    kc_recorder *r = recorder->root;
    bool full = false;
    note->owner = recorder;
    kc_locked (&r->mutex) {
        full = recorder->queued >= QUEUE || r->stopping;
        if (full)
            break;
        kc_dlist_push(&r->queue, &note->link);
        recorder->queued++;
        call_thread(r);
    }
    if (!full)
        return;
    kc_counter_inc(r->dropped);
    kc__recorder_note_free(note);
}

/* Events are named after their time: returns unique times, even if the clock stands still. */
static int64_t next_time(kc_recorder *r)
{
    int64_t at = kc_clock_wall(r->clock);
    kc_locked (&r->mutex)
        r->last = at = KC_MAX(at, r->last + 1);
    return at;
}

void kc_recorder_event_with(kc_recorder *recorder, const kc_recorder_event_opts *opts)
{
    if (!recorder)
        return;
    kc_recorder *r = recorder->root;
    kc_log_debug(r->log, "event", kc_kv("object", kc_object_name(opts->about)),
                 kc_kv("type", opts->type), kc_kv("reason", opts->reason),
                 kc_kv("message", opts->message));
    recorder_enqueue(recorder, kc__recorder_note_new(opts, kc_cstr(recorder->component),
                                                     kc_cstr(r->host), next_time(r)));
}

void kc_recorder_event(kc_recorder *recorder, const kc_object *about, const char *type,
                       const char *reason, const char *fmt, ...)
{
    if (!recorder)
        return;
    kc_scoped(kc_buf) message = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&message, fmt, args);
    va_end(args);
    kc_recorder_event_with(recorder, &(kc_recorder_event_opts){.about = about,
                                                               .type = type,
                                                               .reason = reason,
                                                               .message = kc_buf_cstr(&message)});
}

/* ---- recorders of other names ---- */

static bool has_names(const kc_recorder *r, const char *component, const char *field_manager)
{
    bool same_manager = r->field_manager && field_manager
                            ? strcmp(r->field_manager, field_manager) == 0
                            : r->field_manager == field_manager;
    return same_manager && strcmp(r->component, component) == 0;
}

static kc_recorder *find_other(const kc_recorder *root, const char *component,
                               const char *field_manager)
{
    kc_vec_each (&root->others, other)
        if (has_names(*other, component, field_manager))
            return *other;
    return NULL;
}

kc_recorder *kc_recorder_with_component(kc_recorder *recorder, const char *component,
                                        const char *field_manager)
{
    if (!recorder)
        return NULL;
    kc_recorder *root = recorder->root, *other = NULL;
    component = component ? component : root->component;
    field_manager = field_manager ? field_manager : root->field_manager;
    if (has_names(root, component, field_manager))
        return root;
    kc_locked (&root->mutex) {
        other = find_other(root, component, field_manager);
        if (other)
            break;
        other = kc_new(kc_recorder);
        other->root = root;
        other->component = kc_strdup(component);
        other->field_manager = field_manager ? kc_strdup(field_manager) : NULL;
        kc_vec_push(&root->others, other);
    }
    return other;
}

static void free_others(kc_recorder *r)
{
    kc_vec_each (&r->others, other) {
        free((*other)->component);
        free((*other)->field_manager);
        free(*other);
    }
    kc_vec_done(&r->others);
}

/* ---- sending ---- */

static const kc_kind *event_kind(const kc_recorder *r)
{
    return r->events_v1 ? &kc_kind_events_event : &kc_kind_event;
}

static kc_object *recorder_create(kc_recorder *r, const kc__recorder_note *note, bool series,
                                  kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (r->events_v1)
        kc__recorder_note_write_v1(note, series, &text);
    else
        kc__recorder_note_write_core(note, &text);
    kc_auto(kc_object) *event = kc_object_parse(kc_buf_str(&text), NULL, err);
    const kc_write_opts opts = {
        .kind = event_kind(r), .field_manager = note->owner->field_manager, .unfenced = true};
    return event ? kc_client_create(r->client, event, &opts, err) : NULL;
}

static kc_object *recorder_patch(kc_recorder *r, const kc__recorder_note *note, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (r->events_v1)
        kc__recorder_note_patch_v1(note, &text);
    else
        kc__recorder_note_patch_core(note, &text);
    const kc_key key = {kc__recorder_note_namespace(note), note->name};
    return kc_client_patch(
        r->client, event_kind(r), key, KC_PATCH_MERGE, kc_buf_str(&text),
        &(kc_write_opts){.field_manager = note->owner->field_manager, .unfenced = true}, err);
}

static kc_object *create_or_patch(kc_recorder *r, const kc__recorder_note *note, bool known,
                                  kc_error *err)
{
    kc_object *event = known ? recorder_patch(r, note, err) : NULL;
    if (event || (known && !kc_is_not_found(err)))
        return event;
    kc_error_done(err);
    return recorder_create(r, note, known, err);
}

/* Whether the server could not be reached, as opposed to having rejected the request. */
static bool is_passing(const kc_error *err)
{
    return kc_is_unavailable(err) || kc_is_timeout(err) || kc_is_too_many_requests(err);
}

static bool pause_before(kc_recorder *r, int tries)
{
    double part = tries == 1 ? kc_rand_double(&r->rand) : 1;
    int64_t until = kc_clock_deadline(r->clock, (int64_t)(part * (double)RETRY_AFTER));
    return kc_cancel_sleep_until(r->stop, r->clock, until);
}

static void recorder_send(kc_recorder *r, const kc__recorder_note *note, bool known)
{
    for (int tries = 1;; tries++) {
        kc_scoped(kc_error) err = {0};
        kc_auto(kc_object) *event = create_or_patch(r, note, known, &err);
        if (event)
            return;
        if (!is_passing(&err) || tries == TRIES || !pause_before(r, tries)) {
            kc_log_warn(r->log, "event not recorded", kc_kv("object", note->about.name),
                        kc_kv("reason", note->reason), kc_kv("err", &err));
            return;
        }
    }
}

static void send_series(const kc__recorder_note *note, void *user)
{
    recorder_send(user, note, true);
}

static void recorder_handle(kc_recorder *r, kc__recorder_note *note)
{
    if (r->events_v1) {
        bool series;
        const kc__recorder_note *to_send = kc__correlator_series_observe(&r->series, note, &series);
        if (to_send)
            recorder_send(r, to_send, series);
        return;
    }
    kc__correlator_decision fate = kc__correlator_decide(&r->correlator, note);
    if (fate != KC__CORRELATOR_SKIP)
        recorder_send(r, note, fate == KC__CORRELATOR_PATCH);
    kc__recorder_note_free(note);
}

/* ---- the thread ---- */

/* With the mutex held: until when the thread waits for a note. */
static int64_t note_deadline(const kc_recorder *r)
{
    return r->series.notes.n ? r->next_sweep : kc_clock_deadline(r->clock, THREAD_IDLE);
}

/* NULL when it is time to sweep, or when the thread must end: then it counts as ended. */
static kc__recorder_note *next_note(kc_recorder *r, bool *ret_ends)
{
    kc__recorder_note *note = NULL;
    kc_locked (&r->mutex) {
        const int64_t until = note_deadline(r);
        kc_dlist_link *first;
        while (!(first = kc_dlist_pop(&r->queue)) && !r->stopping)
            if (!kc_cond_wait_until(&r->more, &r->mutex, r->clock, until))
                break;
        note = first ? kc_container_of(first, kc__recorder_note, link) : NULL;
        if (note)
            note->owner->queued--;
        *ret_ends = !note && !r->stopping && !r->series.notes.n;
        if (*ret_ends)
            r->running = false;
    }
    return note;
}

static bool is_stopping(kc_recorder *r)
{
    bool stopping = false;
    kc_locked (&r->mutex)
        stopping = r->stopping;
    return stopping;
}

static void recorder_sweep(kc_recorder *r)
{
    int64_t now = kc_clock_now(r->clock);
    bool refresh = now >= r->next_refresh;
    r->next_sweep = now + SERIES_SWEEP;
    if (refresh)
        r->next_refresh = now + SERIES_REFRESH;
    kc__correlator_series_sweep(&r->series, kc_clock_wall(r->clock), refresh, send_series, r);
}

/* Sends the remaining notes before a stopped thread ends. */
static void send_last(kc_recorder *r)
{
    kc__correlator_series_sweep(&r->series, kc_clock_wall(r->clock), true, send_series, r);
    kc_locked (&r->mutex) {
        r->running = false;
        kc_cond_broadcast(&r->more);
    }
}

static void recorder_run(void *user)
{
    kc_recorder *r = user;
    for (bool ends = false; !ends;) {
        kc__recorder_note *note = next_note(r, &ends);
        if (note) {
            recorder_handle(r, note);
        } else if (!ends && is_stopping(r)) {
            send_last(r);
            return;
        }
        if (!ends && kc_clock_now(r->clock) >= r->next_sweep)
            recorder_sweep(r);
    }
}

/* ---- lifecycle ---- */

static char *host_name(void)
{
    char name[256] = "localhost";
    gethostname(name, sizeof(name) - 1);
    return kc_strdup(name);
}

static void recorder_register_metrics(kc_recorder *r, kc_metrics *metrics)
{
    if (!metrics)
        return;
    kc_metric *metric =
        kc_metrics_counter(metrics,
                           &(kc_metric_opts){.name = "kc_events_dropped_total",
                                             .help = "Events dropped because the queue was full."},
                           NULL);
    r->dropped = kc_metric_counter(metric);
}

static kc_recorder *recorder_free_all(kc_recorder *r)
{
    kc_dlist_each (&r->queue, kc__recorder_note, link, note)
        kc__recorder_note_free(note);
    free_others(r);
    kc__correlator_series_done(&r->series);
    kc__correlator_done(&r->correlator);
    kc_cond_done(&r->more);
    kc_mutex_done(&r->mutex);
    kc_cancel_unref(r->stop);
    kc_client_unref(r->client);
    free(r->component);
    free(r->field_manager);
    free(r->host);
    free(r);
    return NULL;
}

kc_recorder *kc_recorder_new(const kc_recorder_opts *opts, kc_error *err)
{
    (void)err; /* Nothing can fail before the first event. */
    kc_recorder *r = kc_new(kc_recorder);
    r->root = r;
    r->stop = kc_cancel_new(NULL);
    r->client = kc_client_with(opts->client, &(kc_client_overrides){.cancel = r->stop});
    r->clock = kc_client_clock(opts->client);
    r->component = kc_strdup(opts->component ? opts->component : "");
    r->field_manager = opts->field_manager ? kc_strdup(opts->field_manager) : NULL;
    r->host = opts->host ? kc_strdup(opts->host) : host_name();
    r->events_v1 = opts->events_v1;
    r->log = opts->log;
    if (opts->rand)
        r->rand = kc_rand_split(opts->rand);
    else
        kc_rand_seed_os(&r->rand);
    r->next_sweep = kc_clock_deadline(r->clock, SERIES_SWEEP);
    r->next_refresh = kc_clock_deadline(r->clock, SERIES_REFRESH);
    kc__correlator_init(&r->correlator);
    kc_mutex_init(&r->mutex);
    kc_cond_init(&r->more);
    kc_dlist_init(&r->queue);
    recorder_register_metrics(r, opts->metrics);
    return r;
}

kc_recorder *kc_recorder_stop(kc_recorder *r, int64_t deadline)
{
    if (!r)
        return NULL;
    assert(r->root == r);
    kc_locked (&r->mutex) {
        r->stopping = true;
        kc_cond_broadcast(&r->more);
        while (r->running && kc_cond_wait_until(&r->more, &r->mutex, r->clock, deadline))
            ;
    }
    kc_cancel_fire(r->stop);
    kc_thread_join(r->thread);
    return recorder_free_all(r);
}
