/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h: the work queue between event handlers and workers. It contains keys, each once.
 *
 *     kc_queue_add(queue, key);                             from event handlers, on any thread
 *
 *     kc_queue_item item;                                   in each worker
 *     while (kc_queue_get(queue, &item)) {
 *         …
 *         kc_queue_done(queue, &item);
 *     }
 *
 * The rules are those of controller-runtime's priority queue:
 *
 *   - one worker at a time processes a key; if the key is added meanwhile, it is processed exactly
 *     once more, after kc_queue_done;
 *   - a key is queued once: adding it again keeps the higher priority and the earlier time, so an
 *     immediate add overrides a delay;
 *   - higher priorities come first, then first in, first out. A key whose priority is raised, or
 *     whose delay has passed, goes to the end of its priority; one that was added while it was
 *     processed, or whose delay was overridden, keeps its position. With `fair`, namespaces of one
 *     priority take turns, so that a busy one does not starve the others;
 *   - kc_queue_shut_down rejects new keys and drops the queued ones; kc_queue_drain processes the
 *     queued keys first, and returns when all are done.
 *
 * Each item lists its last few causes, and the number of further ones.
 */
#ifndef KC_QUEUE_H
#define KC_QUEUE_H

#include "kc/kind.h"
#include "kc/metrics.h"
#include "kc/rate_limit.h"

typedef struct kc_queue kc_queue;

/* For work that is not urgent: the initial list, resyncs. */
#define KC_PRIORITY_LOW (-100)

typedef struct kc_queue_opts {
    const char *name; /* Label of its metrics. Defaults to none, and no metrics. */
    /* The queue takes ownership. Defaults to exponential, 5 ms to 1000 s. */
    kc_rate_limiter *limiter;
    bool fair;             /* Namespaces take turns. */
    const kc_clock *clock; /* Defaults to the real one. */
    kc_metrics *metrics;
} kc_queue_opts;

/* `opts` may be NULL. Never NULL. */
kc_queue *kc_queue_new(const kc_queue_opts *opts);
/* No thread may use the queue any more. NULL is allowed; returns NULL. */
kc_queue *kc_queue_free(kc_queue *queue);
KC_AUTO_DEFINE(kc_queue, kc_queue_free)

/* Why a key was added. */
typedef enum kc_queue_reason {
    KC_QUEUE_REASON_OTHER,
    KC_QUEUE_REASON_CREATED,
    KC_QUEUE_REASON_UPDATED,
    KC_QUEUE_REASON_DELETED,
    KC_QUEUE_REASON_GENERIC, /* A channel or another custom source. */
    KC_QUEUE_REASON_RESYNC,
    KC_QUEUE_REASON_RETRY,   /* The last reconcile failed. */
    KC_QUEUE_REASON_REQUEUE, /* The reconciler requested it. */
} kc_queue_reason;

/* The kind and key of the changed object, which often differ from the queued key. */
typedef struct kc_queue_cause {
    kc_queue_reason reason;
    const kc_kind *kind; /* NULL if unknown. Must live as long as the queue. */
    kc_key key;          /* Empty: the item's own key. Copied (up to a maximum length). */
    uint64_t revision;   /* Its resourceVersion; 0 if unknown. */
    int64_t at;          /* Monotonic; set by the queue. */
} kc_queue_cause;

typedef struct kc_queue_add_opts {
    int64_t after;     /* Minimum delay. */
    bool rate_limited; /* The rate limiter sets the delay; with `after`, the shorter one counts. */
    int priority;
    const kc_queue_cause *cause; /* Defaults to unknown. */
} kc_queue_add_opts;

/* Copies the key. No effect after the queue was shut down. */
void kc_queue_add_with(kc_queue *queue, kc_key key, const kc_queue_add_opts *opts);
static inline void kc_queue_add(kc_queue *queue, kc_key key)
{
    kc_queue_add_with(queue, key, &(kc_queue_add_opts){0});
}
static inline void kc_queue_add_after(kc_queue *queue, kc_key key, int64_t after)
{
    kc_queue_add_with(queue, key, &(kc_queue_add_opts){.after = after});
}
static inline void kc_queue_add_rate_limited(kc_queue *queue, kc_key key)
{
    kc_queue_add_with(queue, key, &(kc_queue_add_opts){.rate_limited = true});
}

#define KC_QUEUE_CAUSES 4

/* A key taken from the queue. Its strings are valid until kc_queue_done. */
typedef struct kc_queue_item {
    kc_key key;
    int priority;
    int64_t waited;                         /* Nanoseconds since it was ready. */
    kc_queue_cause causes[KC_QUEUE_CAUSES]; /* Newest first. */
    size_t n_causes;
    size_t more_causes;            /* Number of causes that did not fit. */
    struct kc__queue_entry *entry; /* Private. */
} kc_queue_item;

/* Blocks until a key is ready. False when the queue was shut down (and, when draining, is empty).
 */
bool kc_queue_get(kc_queue *queue, kc_queue_item *ret);
/* The same without blocking; false when no key is ready. */
bool kc_queue_try_get(kc_queue *queue, kc_queue_item *ret);
void kc_queue_done(kc_queue *queue, kc_queue_item *item);

/* Resets the key's failures in the rate limiter; it does not change the queue. */
void kc_queue_forget(kc_queue *queue, kc_key key);
int kc_queue_num_requeues(kc_queue *queue, kc_key key);

void kc_queue_shut_down(kc_queue *queue);
/* Blocks until no key is queued or processed. False at the deadline; draining then continues until
 * kc_queue_shut_down. Drops delayed keys. */
bool kc_queue_drain(kc_queue *queue, int64_t deadline);
bool kc_queue_shutting_down(const kc_queue *queue);

/* Numbers of keys: ready; being processed; delayed; of those, after a failure. */
typedef struct kc_queue_counts {
    size_t ready, processing, delayed, retrying;
} kc_queue_counts;
kc_queue_counts kc_queue_count(const kc_queue *queue);

/* Appends the content as JSON, for /debug/queue: at most `limit` items of each state. */
void kc_queue_write(const kc_queue *queue, size_t limit, kc_buf *out);

#endif
