/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorder.c: events from any thread, through a bounded queue, to one thread that sends them.
 *
 *     kc_event ──▶ queue (1000 of each name, then dropped) ──▶ correlate ──▶ create or patch, up to
 *                                                                            12 tries
 *
 * Events are a service to people, never a reason to wait or to fail: who records returns at once, a
 * server that cannot be reached makes the thread try again after 10 s (the first time after a
 * random part of that, so that many controllers do not come back together), one that refuses an
 * event ends it.
 */
#include "kc/recorder.h"

#include "kc/kinds.h"
#include "runtime/correlate.h"

#include <assert.h>
#include <stdarg.h>
#include <unistd.h>

enum { QUEUE = 1000, TRIES = 12 };

#define RETRY_AFTER    (10 * KC_SECOND)
#define SERIES_REFRESH (30 * KC_MINUTE)
#define SERIES_SWEEP   (6 * KC_MINUTE)

struct kc_recorder {
    kc_recorder *root; /* Itself, or the one for which this is another name: then only it,
                        * `component` and `queued` are set. */
    char *component;
    size_t queued; /* Notes of this name that wait. Guarded by the root's mutex. */
    kc_client *client;
    const kc_clock *clock;
    char *host;
    bool events_v1;
    kc_rand rand;
    kc_log *log;
    kc_counter *dropped;
    kc_cancel *stop; /* Fired: what cannot be sent at once is dropped. */
    kc_thread *thread;

    kc__correlator correlator; /* The thread's, with the next ones. */
    kc__series series;
    int64_t next_sweep, next_refresh;

    kc_mutex mutex; /* Guards what follows. */
    kc_cond more;
    kc_list queue;                /* Of kc__event_note. */
    KC_VEC(kc_recorder *) others; /* Who else says something through it. */
    int64_t last;                 /* The time of the last event. */
    bool stopping;
    bool ended; /* The thread has sent what there was. */
};

/* ---- recording ---- */

static void enqueue(kc_recorder *recorder, kc__event_note *note)
{
    kc_recorder *r = recorder->root;
    bool full = false;
    note->said_by = recorder;
    kc_locked (&r->mutex) {
        full = recorder->queued >= QUEUE || r->stopping;
        if (full)
            break;
        kc_list_push(&r->queue, &note->link);
        recorder->queued++;
        kc_cond_signal(&r->more);
    }
    if (!full)
        return;
    kc_counter_inc(r->dropped);
    kc__event_note_free(note);
}

/* Events are named after their time: two never have the same, though a clock may stand. */
static int64_t next_time(kc_recorder *r)
{
    int64_t at = kc_clock_wall(r->clock);
    kc_locked (&r->mutex)
        r->last = at = KC_MAX(at, r->last + 1);
    return at;
}

void kc_event_with(kc_recorder *recorder, const kc_event_opts *opts)
{
    if (!recorder)
        return;
    kc_recorder *r = recorder->root;
    kc_log_debug(r->log, "event", kc_kv("object", kc_object_name(opts->about)),
                 kc_kv("type", opts->type), kc_kv("reason", opts->reason),
                 kc_kv("message", opts->message));
    enqueue(recorder,
            kc__event_note_new(opts, kc_cstr(recorder->component), kc_cstr(r->host), next_time(r)));
}

void kc_event(kc_recorder *recorder, const kc_object *about, const char *type, const char *reason,
              const char *fmt, ...)
{
    if (!recorder)
        return;
    kc_scoped(kc_buf) message = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&message, fmt, args);
    va_end(args);
    kc_event_with(recorder, &(kc_event_opts){.about = about,
                                             .type = type,
                                             .reason = reason,
                                             .message = kc_buf_cstr(&message)});
}

/* ---- other names ---- */

static kc_recorder *find_other(const kc_recorder *root, const char *component)
{
    kc_vec_each (&root->others, other)
        if (strcmp((*other)->component, component) == 0)
            return *other;
    return NULL;
}

kc_recorder *kc_recorder_as(kc_recorder *recorder, const char *component)
{
    if (!recorder)
        return NULL;
    kc_recorder *root = recorder->root, *other = NULL;
    if (strcmp(root->component, component) == 0)
        return root;
    kc_locked (&root->mutex) {
        other = find_other(root, component);
        if (other)
            break;
        other = kc_new(kc_recorder);
        other->root = root;
        other->component = kc_strdup(component);
        kc_vec_push(&root->others, other);
    }
    return other;
}

static void free_others(kc_recorder *r)
{
    kc_vec_each (&r->others, other) {
        free((*other)->component);
        free(*other);
    }
    kc_vec_done(&r->others);
}

/* ---- sending ---- */

static const kc_kind *event_kind(const kc_recorder *r)
{
    return r->events_v1 ? &kc_kind_events_event : &kc_kind_event;
}

static kc_object *create(kc_recorder *r, const kc__event_note *note, bool series, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (r->events_v1)
        kc__event_note_write_v1(note, series, &text);
    else
        kc__event_note_write_core(note, &text);
    kc_auto(kc_object) *event = kc_object_parse(kc_buf_str(&text), NULL, err);
    const kc_write_opts opts = {.kind = event_kind(r), .unfenced = true};
    return event ? kc_client_create(r->client, event, &opts, err) : NULL;
}

static kc_object *patch(kc_recorder *r, const kc__event_note *note, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (r->events_v1)
        kc__event_note_patch_v1(note, &text);
    else
        kc__event_note_patch_core(note, &text);
    const kc_key key = {kc__event_note_namespace(note), note->name};
    return kc_client_patch(r->client, event_kind(r), key, KC_PATCH_MERGE, kc_buf_str(&text),
                           &(kc_write_opts){.unfenced = true}, err);
}

static kc_object *create_or_patch(kc_recorder *r, const kc__event_note *note, bool known,
                                  kc_error *err)
{
    kc_object *event = known ? patch(r, note, err) : NULL;
    if (event || (known && !kc_is_not_found(err)))
        return event;
    kc_error_done(err);
    return create(r, note, known, err);
}

/* Whether the server was not reached, as opposed to having refused. */
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

static void send(kc_recorder *r, const kc__event_note *note, bool known)
{
    for (int tries = 1;; tries++) {
        kc_scoped(kc_error) err = {0};
        kc_auto(kc_object) *event = create_or_patch(r, note, known, &err);
        if (event)
            return;
        if (!is_passing(&err) || tries == TRIES || !pause_before(r, tries)) {
            kc_log_warn(r->log, "event not recorded", kc_kv("object", note->about.name),
                        kc_kv("reason", note->reason), kc_kv("error", &err));
            return;
        }
    }
}

static void send_series(const kc__event_note *note, void *user)
{
    send(user, note, true);
}

static void handle(kc_recorder *r, kc__event_note *note)
{
    if (r->events_v1) {
        bool series;
        const kc__event_note *to_send = kc__series_observe(&r->series, note, &series);
        if (to_send)
            send(r, to_send, series);
        return;
    }
    kc__event_fate fate = kc__correlate(&r->correlator, note);
    if (fate != KC__EVENT_SKIP)
        send(r, note, fate == KC__EVENT_PATCH);
    kc__event_note_free(note);
}

/* ---- the thread ---- */

/* NULL when it is time to sweep, or to stop. */
static kc__event_note *next_note(kc_recorder *r, bool *ret_stopping)
{
    kc__event_note *note = NULL;
    kc_locked (&r->mutex) {
        kc_link *first;
        while (!(first = kc_list_pop(&r->queue)) && !r->stopping)
            if (!kc_cond_wait_until(&r->more, &r->mutex, r->clock, r->next_sweep))
                break;
        note = first ? kc_container_of(first, kc__event_note, link) : NULL;
        if (note)
            note->said_by->queued--;
        *ret_stopping = !note && r->stopping;
    }
    return note;
}

static void sweep(kc_recorder *r)
{
    int64_t now = kc_clock_now(r->clock);
    bool refresh = now >= r->next_refresh;
    r->next_sweep = now + SERIES_SWEEP;
    if (refresh)
        r->next_refresh = now + SERIES_REFRESH;
    kc__series_sweep(&r->series, kc_clock_wall(r->clock), refresh, send_series, r);
}

static void run(void *user)
{
    kc_recorder *r = user;
    for (bool stopping = false; !stopping;) {
        kc__event_note *note = next_note(r, &stopping);
        if (note)
            handle(r, note);
        if (kc_clock_now(r->clock) >= r->next_sweep)
            sweep(r);
    }
    kc__series_sweep(&r->series, kc_clock_wall(r->clock), true, send_series, r);
    kc_locked (&r->mutex) {
        r->ended = true;
        kc_cond_broadcast(&r->more);
    }
}

/* ---- life ---- */

static char *host_name(void)
{
    char name[256] = "localhost";
    gethostname(name, sizeof(name) - 1);
    return kc_strdup(name);
}

static void register_metrics(kc_recorder *r, kc_metrics *metrics)
{
    if (!metrics)
        return;
    kc_metric *metric = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "kc_events_dropped_total",
                          .help = "Events that were dropped because too many waited."},
        NULL);
    r->dropped = kc_counter_of(metric);
}

static kc_recorder *free_all(kc_recorder *r)
{
    kc_list_each (&r->queue, kc__event_note, link, note)
        kc__event_note_free(note);
    free_others(r);
    kc__series_done(&r->series);
    kc__correlator_done(&r->correlator);
    kc_cond_done(&r->more);
    kc_mutex_done(&r->mutex);
    kc_cancel_unref(r->stop);
    kc_client_unref(r->client);
    free(r->component);
    free(r->host);
    free(r);
    return NULL;
}

kc_recorder *kc_recorder_new(const kc_recorder_opts *opts, kc_error *err)
{
    kc_recorder *r = kc_new(kc_recorder);
    r->root = r;
    r->stop = kc_cancel_new(NULL);
    r->client = kc_client_with(opts->client, &(kc_client_bind){.cancel = r->stop});
    r->clock = kc_client_clock(opts->client);
    r->component = kc_strdup(opts->component ? opts->component : "");
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
    kc_list_init(&r->queue);
    register_metrics(r, opts->metrics);
    r->thread = kc_thread_start("recorder", run, r, err);
    return r->thread ? r : free_all(r);
}

kc_recorder *kc_recorder_stop(kc_recorder *r, int64_t deadline)
{
    if (!r)
        return NULL;
    assert(r->root == r);
    kc_locked (&r->mutex) {
        r->stopping = true;
        kc_cond_broadcast(&r->more);
        while (!r->ended && kc_cond_wait_until(&r->more, &r->mutex, r->clock, deadline))
            ;
    }
    kc_cancel_fire(r->stop);
    kc_thread_join(r->thread);
    return free_all(r);
}
