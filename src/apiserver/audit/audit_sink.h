/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_sink.h: delivers audit events to an output (a log file, a webhook) from a thread of its
 * own, so that no event loop waits for a disk or a network.
 *
 *     loops ── kc__audit_sink_push ──▶ buffer ──▶ thread ── batches ──▶ output
 *                    │                                         │
 *                    └ batch: full: dropped, counted           └ blocking: the request continues
 *
 * In the blocking modes a request waits, without blocking its loop, until its first event is
 * delivered; blocking-strict fails it if that did not succeed. A long event is delivered alone.
 */
#ifndef KC_APISERVER_AUDIT_SINK_H
#define KC_APISERVER_AUDIT_SINK_H

#include "apiserver/audit/audit_long_event.h"
#include "http/loop/loop.h"
#include "kc/clock.h"
#include "kc/error.h"
#include "kc/log.h"
#include "kc/metrics.h"

typedef enum kc__audit_mode {
    KC__AUDIT_BATCH,
    KC__AUDIT_BLOCKING,
    KC__AUDIT_BLOCKING_STRICT,
} kc__audit_mode;

/* Events as lines of JSON. */
typedef struct kc__audit_events {
    const char *bytes;
    const size_t *ends; /* The offset behind each event, including its newline. */
    size_t n;
} kc__audit_events;

static inline kc_str kc__audit_event_at(const kc__audit_events *events, size_t i)
{
    const size_t from = i ? events->ends[i - 1] : 0;
    return kc_str_of(events->bytes + from, events->ends[i] - from);
}

typedef struct kc__audit_output {
    const char *plugin; /* "log", "webhook": a label of metrics. */
    /* Delivers events in order. May block; on the sink's thread. */
    int (*deliver)(struct kc__audit_output *output, const kc__audit_events *events, kc_error *err);
    /* The server stops: deliver must end soon. Any thread. May be NULL. */
    void (*stop)(struct kc__audit_output *output);
    void (*free)(struct kc__audit_output *output);
} kc__audit_output;

typedef struct kc__audit_sink_opts {
    kc__audit_mode mode;
    size_t buffer_events; /* Maximum number of events in the buffer. */
    size_t buffer_bytes;  /* And of their bytes. Defaults to 64 MiB. */
    size_t batch_events;  /* Maximum number of events of one delivery. 0: no limit. */
    int64_t batch_wait;   /* How long a batch that is not full may wait for more events. */
    double throttle_qps;  /* Deliveries per second; 0: no limit. */
    double throttle_burst;
    bool truncate;
    size_t max_event_bytes, max_batch_bytes; /* With `truncate`. */
    kc__audit_output *output;                /* The sink owns it. */
    kc_log *log;
} kc__audit_sink_opts;

/* A request that waits for its event. */
typedef struct kc__audit_wait {
    kc__loop_task task; /* Runs on `loop` when all sinks have delivered. */
    kc__loop *loop;
    _Atomic unsigned pending; /* Sinks that have not delivered yet, and one for the sender. */
    _Atomic bool failed;      /* A strict sink failed. */
} kc__audit_wait;

/* Drops one of `pending`; the last one posts the task. */
void kc__audit_wait_release(kc__audit_wait *wait);

typedef struct kc__audit_sink kc__audit_sink;

/* Starts the thread. NULL on error; the output is then freed. `errors` counts lost events by
 * plugin. */
kc__audit_sink *kc__audit_sink_start(const kc__audit_sink_opts *opts, kc_metric *errors,
                                     kc_error *err);
/* Delivers what is buffered, for a few seconds at most, and frees the sink. NULL is allowed;
 * returns NULL. Blocks. */
kc__audit_sink *kc__audit_sink_stop(kc__audit_sink *sink);

/* The server begins to stop: deliveries are not repeated any more, and after ten seconds requests
 * do not wait for them. Events are still accepted. Any thread; does not block. */
void kc__audit_sink_drain(kc__audit_sink *sink);

/* An event as a line of text, with its newline, and the same without objects. Truncation goes by
 * the sizes of their JSON, whatever the format of the log is. */
typedef struct kc__audit_line {
    kc_str text;
    size_t size;       /* Defaults to that of `text`. */
    kc_str short_text; /* Empty: there are no objects to leave out. */
    size_t short_size; /* Defaults to that of `short_text`. */
} kc__audit_line;

/* Adds an event. In a blocking mode, `wait` (may be NULL) is held until the event is delivered. Any
 * thread; does not block. */
void kc__audit_sink_push(kc__audit_sink *sink, const kc__audit_line *line, kc__audit_wait *wait);
/* Adds a long event; takes a reference. Any thread; does not block. */
void kc__audit_sink_push_long(kc__audit_sink *sink, kc__audit_long_event *event);
/* In a blocking mode, if the buffer is more than half full: holds `wait` until what it contains now
 * is delivered, and returns true. Requests whose first stage is omitted wait so, and their events
 * are not lost. Any thread; does not block. */
bool kc__audit_sink_hold(kc__audit_sink *sink, kc__audit_wait *wait);

#endif
