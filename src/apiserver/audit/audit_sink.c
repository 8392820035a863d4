/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_sink.c: the buffer and the thread of a sink.
 *
 * The buffer is text, with the end of each event: adding one is a copy under a lock. The thread
 * takes the whole buffer and leaves an empty one, so that it never holds the lock while it
 * delivers. Events that it has taken still count: `n` and the bytes of both are the bound.
 *
 * Beyond the bound events are dropped and counted (apiserver_audit_error_total{plugin="buffered"}),
 * in every mode. In the blocking modes requests wait for their first event, or until the buffer is
 * half empty, so the buffer holds a few events per request in flight.
 *
 * A long event (audit_long_event.h) has an entry without bytes in the text; the thread completes
 * and delivers it alone, in the order of the events.
 */
#include "apiserver/audit/audit_sink.h"

#include "kc/thread.h"
#include "kc/vec.h"

#include <stdatomic.h>

#define DEFAULT_BYTES ((size_t)64 << 20)
/* Bytes of one delivery, unless truncation sets another limit. */
#define DELIVERY_BYTES ((size_t)1 << 20)
/* In the mode batch, how long and up to which size events are gathered at least, to save system
 * calls. */
#define GATHER       (10 * KC_MILLISECOND)
#define GATHER_BYTES ((size_t)256 << 10)
/* How long a sink that stops goes on delivering. */
#define STOP_GRACE (3 * KC_SECOND)
/* How long requests may wait for a sink after the server began to stop. */
#define DRAIN_GRACE (10 * KC_SECOND)
/* Losses are logged once per interval. */
#define LOG_INTERVAL (10 * KC_SECOND)

typedef struct audit_waiting {
    size_t event; /* Index in the buffer. */
    kc__audit_wait *wait;
    bool strict; /* The request fails if the event cannot be delivered. */
} audit_waiting;

/* A long event; it takes no bytes of the buffer. */
typedef struct audit_long_entry {
    size_t event; /* Index in the buffer. */
    kc__audit_long_event *content;
} audit_long_entry;

typedef struct audit_buffer {
    kc_buf bytes;
    KC_VEC(size_t) ends;
    KC_VEC(audit_waiting) waits;
    KC_VEC(audit_long_entry) longs;
    size_t long_bytes; /* Of `longs`. */
} audit_buffer;

struct kc__audit_sink {
    kc__audit_sink_opts opts;
    kc_counter *dropped, *failed, *truncated;
    kc_mutex lock; /* Guards all fields below, except `taken`. */
    kc_cond filled;
    audit_buffer buffer;
    size_t taken_events, taken_bytes; /* Not delivered yet. */
    int64_t first;                    /* When the first event of the buffer came. */
    bool stopping;
    int64_t stop_at;  /* While stopping: when to give up. */
    int64_t drain_at; /* When requests shall not wait any longer; 0: not draining. */
    size_t lost;      /* Since the last log line. */
    int64_t logged;
    kc_thread *thread;
    audit_buffer taken; /* The thread's. */
    double tokens;      /* Of the throttle; the thread's. */
    int64_t refilled;
};

void kc__audit_wait_release(kc__audit_wait *wait)
{
    if (wait && atomic_fetch_sub(&wait->pending, 1) == 1)
        kc__loop_post(wait->loop, &wait->task);
}

static void audit_buffer_clear(audit_buffer *buffer)
{
    kc_buf_clear(&buffer->bytes);
    kc_vec_clear(&buffer->ends);
    kc_vec_clear(&buffer->waits);
    kc_vec_each (&buffer->longs, entry)
        kc__audit_long_event_unref(entry->content);
    kc_vec_clear(&buffer->longs);
    buffer->long_bytes = 0;
}

static void audit_buffer_done(audit_buffer *buffer)
{
    audit_buffer_clear(buffer);
    kc_buf_done(&buffer->bytes);
    kc_vec_done(&buffer->ends);
    kc_vec_done(&buffer->waits);
    kc_vec_done(&buffer->longs);
}

static size_t audit_buffer_bytes(const audit_buffer *buffer)
{
    return buffer->bytes.n + buffer->long_bytes;
}

/* ---- adding ---- */

static bool has_room(const kc__audit_sink *sink, size_t more)
{
    return sink->buffer.ends.n + sink->taken_events < sink->opts.buffer_events &&
           audit_buffer_bytes(&sink->buffer) + sink->taken_bytes + more <=
               sink->opts.buffer_bytes &&
           !sink->stopping;
}

/* Ends the event that was just added, and wakes the thread. A wake-up costs as much as several
 * events: only the first event and a full batch cause one. */
static void end_event(kc__audit_sink *sink, size_t size)
{
    audit_buffer *buffer = &sink->buffer;
    const size_t all = audit_buffer_bytes(buffer);
    kc_vec_push(&buffer->ends, buffer->bytes.n);
    if (buffer->ends.n == 1)
        sink->first = kc_clock_now(kc_clock_real());
    const bool filled = all >= GATHER_BYTES && all - size < GATHER_BYTES;
    if (buffer->ends.n == 1 || filled || buffer->ends.n == sink->opts.batch_events)
        kc_cond_signal(&sink->filled);
}

static void hold_wait(kc__audit_sink *sink, audit_waiting waiting)
{
    if (!waiting.wait || sink->opts.mode == KC__AUDIT_BATCH)
        return;
    atomic_fetch_add(&waiting.wait->pending, 1);
    kc_vec_push(&sink->buffer.waits, waiting);
}

static void add_event(kc__audit_sink *sink, kc_str event, kc__audit_wait *wait)
{
    const bool strict = sink->opts.mode == KC__AUDIT_BLOCKING_STRICT;
    hold_wait(sink, (audit_waiting){sink->buffer.ends.n, wait, strict});
    kc_buf_append(&sink->buffer.bytes, event);
    end_event(sink, event.n);
}

static void add_long_event(kc__audit_sink *sink, kc__audit_long_event *event, size_t size)
{
    audit_buffer *buffer = &sink->buffer;
    kc_vec_push(&buffer->longs,
                ((audit_long_entry){buffer->ends.n, kc__audit_long_event_ref(event)}));
    buffer->long_bytes += size;
    end_event(sink, size);
}

/* Call it with the lock. Returns the number of losses to log now, or 0. */
static size_t note_loss(kc__audit_sink *sink)
{
    const int64_t now = kc_clock_now(kc_clock_real());
    sink->lost++;
    if (sink->logged && now - sink->logged < LOG_INTERVAL)
        return 0;
    const size_t lost = sink->lost;
    sink->logged = now;
    sink->lost = 0;
    return lost;
}

/* The form of an event that fits, or an empty one. */
static kc_str fitting_event(const kc__audit_sink *sink, const kc__audit_line *line)
{
    const size_t most = sink->opts.max_event_bytes, size = line->size ? line->size : line->text.n,
                 short_size = line->short_size ? line->short_size : line->short_text.n;
    if (!sink->opts.truncate || size <= most)
        return line->text;
    return short_size && short_size <= most ? line->short_text : (kc_str){0};
}

/* An event was dropped. `lost` is the number of losses to log now. */
static void report_drop(kc__audit_sink *sink, kc__audit_wait *wait, size_t lost)
{
    kc_counter_inc(sink->dropped);
    if (wait && sink->opts.mode == KC__AUDIT_BLOCKING_STRICT)
        atomic_store(&wait->failed, true);
    if (lost)
        kc_log_error(sink->opts.log, "audit buffer queue blocked; events are lost",
                     kc_kv("plugin", sink->opts.output->plugin), kc_kv("events", lost));
}

void kc__audit_sink_push(kc__audit_sink *sink, const kc__audit_line *line, kc__audit_wait *wait)
{
    const kc_str fitting = fitting_event(sink, line);
    bool added = false;
    size_t lost = 0;
    if (!fitting.n) {
        kc_counter_inc(sink->truncated);
        return;
    }
    kc_locked (&sink->lock) {
        added = has_room(sink, fitting.n);
        if (added)
            add_event(sink, fitting, wait);
        else
            lost = note_loss(sink);
    }
    if (!added)
        report_drop(sink, wait, lost);
}

void kc__audit_sink_push_long(kc__audit_sink *sink, kc__audit_long_event *event)
{
    const size_t size = kc__audit_long_event_size(event);
    bool added = false;
    size_t lost = 0;
    kc_locked (&sink->lock) {
        added = has_room(sink, size);
        if (added)
            add_long_event(sink, event, size);
        else
            lost = note_loss(sink);
    }
    if (!added)
        report_drop(sink, NULL, lost);
}

bool kc__audit_sink_hold(kc__audit_sink *sink, kc__audit_wait *wait)
{
    bool holds = false;
    if (sink->opts.mode == KC__AUDIT_BATCH)
        return false;
    kc_locked (&sink->lock) {
        const size_t events = sink->buffer.ends.n + sink->taken_events,
                     bytes = audit_buffer_bytes(&sink->buffer) + sink->taken_bytes;
        holds = sink->buffer.ends.n &&
                (events > sink->opts.buffer_events / 2 || bytes > sink->opts.buffer_bytes / 2);
        if (holds)
            hold_wait(sink, (audit_waiting){sink->buffer.ends.n - 1, wait, false});
    }
    return holds;
}

/* ---- delivering ---- */

/* Call it with the lock. */
static bool is_full_batch(const kc__audit_sink *sink)
{
    const size_t events = sink->opts.batch_events;
    return (events && sink->buffer.ends.n >= events) ||
           audit_buffer_bytes(&sink->buffer) >= GATHER_BYTES;
}

/* Waits for a batch and takes it. False: the sink is stopping, and empty. */
static bool take_buffer(kc__audit_sink *sink)
{
    const kc__audit_sink_opts *o = &sink->opts;
    kc_locked (&sink->lock) {
        while (!sink->buffer.ends.n && !sink->stopping)
            kc_cond_wait(&sink->filled, &sink->lock);
        while (o->mode == KC__AUDIT_BATCH && !sink->stopping && !is_full_batch(sink) &&
               kc_cond_wait_until(&sink->filled, &sink->lock, kc_clock_real(),
                                  sink->first + KC_MAX(o->batch_wait, GATHER))) {
        }
        audit_buffer empty = sink->taken;
        sink->taken = sink->buffer;
        sink->buffer = empty;
        sink->taken_events = sink->taken.ends.n;
        sink->taken_bytes = audit_buffer_bytes(&sink->taken);
    }
    return sink->taken.ends.n > 0;
}

static bool is_stopping(kc__audit_sink *sink)
{
    bool stopping = false;
    kc_locked (&sink->lock)
        stopping = sink->stopping;
    return stopping;
}

/* A token bucket of deliveries. */
static void throttle(kc__audit_sink *sink)
{
    const kc__audit_sink_opts *o = &sink->opts;
    while (o->throttle_qps > 0 && !is_stopping(sink)) {
        const int64_t now = kc_clock_now(kc_clock_real());
        const double since = (double)(now - sink->refilled) / (double)KC_SECOND;
        sink->tokens = KC_MIN(o->throttle_burst, sink->tokens + since * o->throttle_qps);
        sink->refilled = now;
        if (sink->tokens >= 1) {
            sink->tokens -= 1;
            return;
        }
        kc_clock_sleep(kc_clock_real(), (int64_t)((double)KC_SECOND / o->throttle_qps));
    }
}

/* How many events, from `at` on and before `end`, make one delivery. */
static size_t delivery_size(const kc__audit_sink *sink, size_t at, size_t end)
{
    const kc__audit_sink_opts *o = &sink->opts;
    const size_t *ends = sink->taken.ends.items, from = at ? ends[at - 1] : 0;
    const size_t most = o->truncate ? o->max_batch_bytes : DELIVERY_BYTES;
    size_t n = 1;
    while (at + n < end && (!o->batch_events || n < o->batch_events) && ends[at + n] - from <= most)
        n++;
    return n;
}

static void release_waits(kc__audit_sink *sink, size_t *at, size_t end, bool failed)
{
    for (; *at < sink->taken.waits.n && sink->taken.waits.items[*at].event < end; (*at)++) {
        const audit_waiting *waiting = &sink->taken.waits.items[*at];
        if (failed && waiting->strict)
            atomic_store(&waiting->wait->failed, true);
        kc__audit_wait_release(waiting->wait);
    }
}

static bool has_given_up(kc__audit_sink *sink, kc_error *err)
{
    bool over = false;
    kc_locked (&sink->lock)
        over = (sink->stopping && kc_clock_now(kc_clock_real()) > sink->stop_at) ||
               (sink->drain_at && sink->opts.mode != KC__AUDIT_BATCH &&
                kc_clock_now(kc_clock_real()) > sink->drain_at);
    if (over)
        kc_error_set(err, KC_TIMEOUT, "the server is stopping");
    return over;
}

/* Delivers events, which take `size` bytes of the buffer. */
static bool deliver_events(kc__audit_sink *sink, const kc__audit_events *events, size_t size)
{
    kc_scoped(kc_error) err = {0};
    size_t lost = 0;
    const bool delivered = !has_given_up(sink, &err) &&
                           sink->opts.output->deliver(sink->opts.output, events, &err) == 0;
    kc_locked (&sink->lock) {
        sink->taken_events -= events->n;
        sink->taken_bytes -= size;
        lost = delivered ? 0 : note_loss(sink);
    }
    if (delivered)
        return true;
    kc_counter_add(sink->failed, (double)events->n);
    if (lost)
        kc_log_error(sink->opts.log, "cannot deliver audit events; they are lost",
                     kc_kv("plugin", sink->opts.output->plugin), kc_kv("events", events->n),
                     kc_kv("err", &err));
    return false;
}

static bool deliver_some(kc__audit_sink *sink, size_t at, size_t n)
{
    const size_t from = at ? sink->taken.ends.items[at - 1] : 0;
    size_t *ends = &sink->taken.ends.items[at];
    for (size_t i = 0; i < n; i++)
        ends[i] -= from;
    const kc__audit_events events = {sink->taken.bytes.p + from, ends, n};
    const bool delivered = deliver_events(sink, &events, ends[n - 1]);
    for (size_t i = 0; i < n; i++)
        ends[i] += from;
    return delivered;
}

static bool deliver_long(kc__audit_sink *sink, const audit_long_entry *entry)
{
    kc_scoped(kc_buf) text = {0};
    const size_t size = kc__audit_long_event_size(entry->content);
    const bool fits = kc__audit_long_event_write(
        entry->content, sink->opts.truncate ? sink->opts.max_event_bytes : 0, &text);
    if (fits)
        return deliver_events(sink, &(kc__audit_events){text.p, &text.n, 1}, size);
    kc_counter_inc(sink->truncated);
    kc_locked (&sink->lock) {
        sink->taken_events--;
        sink->taken_bytes -= size;
    }
    return true;
}

/* A long event is a delivery of its own. */
static void deliver_taken(kc__audit_sink *sink)
{
    const audit_buffer *taken = &sink->taken;
    size_t wait = 0, next_long = 0;
    for (size_t at = 0, n = 0; at < taken->ends.n; at += n) {
        const audit_long_entry *entry =
            next_long < taken->longs.n ? &taken->longs.items[next_long] : NULL;
        const bool alone = entry && entry->event == at;
        n = alone ? 1 : delivery_size(sink, at, entry ? entry->event : taken->ends.n);
        next_long += alone;
        throttle(sink);
        const bool delivered = alone ? deliver_long(sink, entry) : deliver_some(sink, at, n);
        release_waits(sink, &wait, at + n, !delivered);
    }
    audit_buffer_clear(&sink->taken);
}

static void run_sink(void *user)
{
    kc__audit_sink *sink = user;
    while (take_buffer(sink))
        deliver_taken(sink);
}

/* ---- lifetime ---- */

kc__audit_sink *kc__audit_sink_start(const kc__audit_sink_opts *opts, kc_metric *errors,
                                     kc_error *err)
{
    kc__audit_sink *sink = kc_new(kc__audit_sink);
    sink->opts = *opts;
    sink->opts.buffer_bytes = opts->buffer_bytes ? opts->buffer_bytes : DEFAULT_BYTES;
    sink->dropped = kc_metric_counter(errors, KC_STR("buffered"));
    sink->truncated = kc_metric_counter(errors, KC_STR("truncate"));
    sink->failed = kc_metric_counter(errors, kc_cstr(opts->output->plugin));
    sink->tokens = opts->throttle_burst;
    sink->refilled = kc_clock_now(kc_clock_real());
    kc_mutex_init(&sink->lock);
    kc_cond_init(&sink->filled);
    sink->thread = kc_thread_start("audit", run_sink, sink, err);
    if (sink->thread)
        return sink;
    kc__audit_sink_stop(sink);
    return NULL;
}

void kc__audit_sink_drain(kc__audit_sink *sink)
{
    kc_locked (&sink->lock)
        sink->drain_at = kc_clock_deadline(kc_clock_real(), DRAIN_GRACE);
    if (sink->opts.output->stop)
        sink->opts.output->stop(sink->opts.output);
}

kc__audit_sink *kc__audit_sink_stop(kc__audit_sink *sink)
{
    if (!sink)
        return NULL;
    kc_locked (&sink->lock) {
        sink->stopping = true;
        sink->stop_at = kc_clock_deadline(kc_clock_real(), STOP_GRACE);
        kc_cond_signal(&sink->filled);
    }
    if (sink->opts.output->stop)
        sink->opts.output->stop(sink->opts.output);
    if (sink->thread)
        kc_thread_join(sink->thread);
    audit_buffer_done(&sink->buffer);
    audit_buffer_done(&sink->taken);
    sink->opts.output->free(sink->opts.output);
    kc_cond_done(&sink->filled);
    kc_mutex_done(&sink->lock);
    free(sink);
    return NULL;
}
