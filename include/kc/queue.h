/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h: the queue between what happens and who works on it. It holds keys, each once.
 *
 *     kc_queue_add(queue, key);                             from handlers, on any thread
 *
 *     kc_queue_item item;                                   in each worker
 *     while (kc_queue_get(queue, &item)) {
 *         …
 *         kc_queue_done(queue, &item);
 *     }
 *
 * The rules (those of controller-runtime's priority queue, whose users rely on them):
 *
 *   - a key is worked on by one worker at a time; if it is added meanwhile, it comes again exactly
 *     once, after kc_queue_done;
 *   - a key waits once: adding it again keeps the higher priority and the earlier time, so an
 *     immediate add swallows a delay;
 *   - higher priorities first, then first come, first served. A key whose priority is raised, or
 *     whose delay has passed, goes to the end of its priority; one that was added while it was
 *     worked on, or whose delay was swallowed, keeps its place. With `fair`, namespaces of one
 *     priority take turns, so that a busy one does not starve the others;
 *   - kc_queue_shut_down refuses new keys and drops those that wait; kc_queue_drain lets what waits
 *     now be worked on first, and returns when all is done.
 *
 * Each item says why it is there: the last few causes, and how many more there were.
 */
#ifndef KC_QUEUE_H
#define KC_QUEUE_H

#include "kc/kind.h"
#include "kc/metrics.h"
#include "kc/rate_limit.h"

typedef struct kc_queue kc_queue;

/* Of what is not urgent: the first list after a start, resyncs. */
#define KC_PRIORITY_LOW (-100)

typedef struct kc_queue_opts {
    const char *name;      /* Of its metrics. Defaults to none, and no metrics. */
    kc_limiter *limiter;   /* Taken over. Defaults to exponential, 5 ms to 1000 s. */
    bool fair;             /* Namespaces take turns. */
    const kc_clock *clock; /* Defaults to the real one. */
    kc_metrics *metrics;
} kc_queue_opts;

/* `opts` may be NULL. Never NULL. */
kc_queue *kc_queue_new(const kc_queue_opts *opts);
/* Nobody uses it any more. NULL is allowed; returns NULL. */
kc_queue *kc_queue_free(kc_queue *queue);
KC_AUTO_DEFINE(kc_queue, kc_queue_free)

/* Why a key was added. */
typedef enum kc_why {
    KC_WHY_OTHER,
    KC_WHY_CREATED,
    KC_WHY_UPDATED,
    KC_WHY_DELETED,
    KC_WHY_GENERIC, /* A channel or another source of one's own. */
    KC_WHY_RESYNC,
    KC_WHY_RETRY,   /* The last try failed. */
    KC_WHY_REQUEUE, /* The reconciler asked for it. */
} kc_why;

/* The kind and key are of the object that something happened to: often not the key itself. */
typedef struct kc_queue_cause {
    kc_why why;
    const kc_kind *kind; /* NULL if unknown. Must live as long as the queue. */
    kc_key key;          /* Empty: the item's own, and so it is said then. Copied (up to a
                          * length). */
    uint64_t revision;   /* Its resourceVersion; 0 if unknown. */
    int64_t at;          /* Monotonic; set by the queue. */
} kc_queue_cause;

typedef struct kc_queue_add_opts {
    int64_t after;     /* Not before so long from now. */
    bool rate_limited; /* The limiter says how long; with `after`, the shorter counts. */
    int priority;
    const kc_queue_cause *cause; /* Defaults to unknown. */
} kc_queue_add_opts;

/* The key is copied. Does nothing once the queue was shut down. */
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

/* A key taken out. Its text is valid until kc_queue_done. */
typedef struct kc_queue_item {
    kc_key key;
    int priority;
    int64_t waited;                         /* Nanoseconds since it was ready. */
    kc_queue_cause causes[KC_QUEUE_CAUSES]; /* The newest first. */
    size_t n_causes;
    size_t more_causes;            /* That there was no room for. */
    struct kc__queue_entry *entry; /* Private. */
} kc_queue_item;

/* Blocks until there is one. False when the queue was shut down (and, draining, is empty). */
bool kc_queue_get(kc_queue *queue, kc_queue_item *ret);
/* The same without waiting; false when there is none now. */
bool kc_queue_try_get(kc_queue *queue, kc_queue_item *ret);
void kc_queue_done(kc_queue *queue, kc_queue_item *item);

/* Its limiter forgets the failures of the key; that is all. */
void kc_queue_forget(kc_queue *queue, kc_key key);
int kc_queue_failures(kc_queue *queue, kc_key key);

void kc_queue_shut_down(kc_queue *queue);
/* Blocks until nothing waits and nobody works; false at the deadline, and then it goes on, until
 * kc_queue_shut_down. Keys that only wait for their time are dropped. */
bool kc_queue_drain(kc_queue *queue, int64_t deadline);
bool kc_queue_shutting_down(const kc_queue *queue);

/* Keys that are ready; that are worked on; that wait for their time; of those, after a failure. */
typedef struct kc_queue_counts {
    size_t ready, processing, delayed, retrying;
} kc_queue_counts;
kc_queue_counts kc_queue_count(const kc_queue *queue);

/* All that is in it, as JSON, for /debug/queue: at most `limit` items of each state. */
void kc_queue_write(const kc_queue *queue, size_t limit, kc_buf *out);

#endif
