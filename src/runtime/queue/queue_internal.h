/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_internal.h: the internals of a queue, shared by its files:
 *
 *     queue.c            add, delays, get, done: the rules of queue.h
 *     queue_wait.c       threads that wait for a key, and which of them waits for the next delay
 *     ready.c      the order of ready keys: priorities, namespaces, first come first served
 *     entry.c      entries and their causes
 *     slab.c       the memory of entries
 *     metrics.c    workqueue_*
 *     write.c      /debug/queue
 *
 * The queue's single mutex guards all of it. It is held for some tens of nanoseconds at a time, and
 * never during a callback.
 */
#ifndef KC_RUNTIME_QUEUE_INTERNAL_H
#define KC_RUNTIME_QUEUE_INTERNAL_H

#include "kc/heap.h"
#include "kc/map.h"
#include "kc/queue.h"
#include "kc/thread.h"
#include "runtime/queue/key_table.h"

/* ---- causes ---- */

enum { KC__QUEUE_CAUSE_TEXT = 112 }; /* Bytes stored of a cause's key. */

/* The causes of an entry that has more than one, or one with a different key. The newest is at
 * `newest`. */
typedef struct kc__queue_cause_block {
    struct kc__queue_cause_block *next; /* In the list of spare blocks. */
    unsigned newest, n;
    kc_queue_cause list[KC_QUEUE_CAUSES]; /* Their keys are in `text`. */
    char text[KC_QUEUE_CAUSES][KC__QUEUE_CAUSE_TEXT];
} kc__queue_cause_block;

/* A cause whose key is the entry's own. */
typedef struct kc__queue_own_cause {
    const kc_kind *kind;
    uint64_t revision;
    int64_t at;
    kc_queue_reason reason;
} kc__queue_own_cause;

/* Why a key waits, or is being processed. Without a block there is at most one cause, `own`. */
typedef struct kc__queue_causes_of_entry {
    kc__queue_cause_block *block;
    kc__queue_own_cause own;
    uint32_t n; /* Including causes that were dropped. */
} kc__queue_causes_of_entry;

/* ---- entries ---- */

typedef enum kc__queue_entry_state {
    KC__QUEUE_ENTRY_IDLE,     /* Not waiting: being processed, or spare. */
    KC__QUEUE_ENTRY_DELAYED,  /* In the heap of delays. */
    KC__QUEUE_ENTRY_READY,    /* In the list of its lane. */
    KC__QUEUE_ENTRY_RETURNED, /* In the heap of its lane: its number is lower than those in the
                                 list. */
    KC__QUEUE_ENTRY_REQUEUED, /* Ready, but being processed: becomes KC__QUEUE_ENTRY_RETURNED when
                                 that is done. */
} kc__queue_entry_state;

typedef struct kc__queue_lane kc__queue_lane;
typedef struct kc__queue_slab kc__queue_slab;

/* A key that waits, is being processed, or both. One entry per key. */
typedef struct kc__queue_entry {
    kc__key_node node;          /* In entries. */
    kc_dlist_link link;         /* In its lane, or in the list of free entries. */
    kc_dlist_link working;      /* In processing. */
    kc_heap_node place_in_heap; /* In the heap of delays, or of its lane. */
    kc__queue_lane *lane;       /* While READY or RETURNED. */
    uint64_t number;            /* Lower numbers were added first. */
    int64_t ready_at;           /* While DELAYED. */
    int64_t ready_since, started;
    kc__queue_causes_of_entry waits,
        works;     /* Causes of waiting; causes of the current processing. */
    uint32_t rate; /* Approximate number of gets in the last minute. */
    int priority;
    kc__queue_entry_state place : 8;
    bool processing;
    bool retrying; /* While DELAYED: because of a failure. */
    kc__queue_slab
        *slab; /* The slab that contains it; NULL: allocated separately, because its key is long. */
    char text[];
} kc__queue_entry;

enum { KC__QUEUE_COMMON_TEXT = 72 }; /* Longer keys need a separately allocated entry. */

/* Memory of entries (slab.c). */
typedef struct kc__queue_slabs {
    kc_dlist room;     /* Slabs with room for another entry. */
    size_t n, n_empty; /* All slabs; slabs without an entry. */
} kc__queue_slabs;

kc__queue_entry *kc__queue_slabs_take(kc__queue_slabs *slabs);
void kc__queue_slabs_put(kc__queue_slabs *slabs, kc__queue_entry *entry);
/* All entries must have been freed. */
void kc__queue_slabs_done(kc__queue_slabs *slabs);

/* Creates the entry of this key, in the table and IDLE. */
kc__queue_entry *kc__queue_entry_new(kc_queue *queue, kc_key key, uint64_t hash);
/* Removes it from the table. */
void kc__queue_entry_free(kc_queue *queue, kc__queue_entry *entry);
void kc__queue_entries_done(kc_queue *queue);

/* Adds a cause to a waiting entry. */
void kc__queue_add_cause(kc_queue *queue, kc__queue_entry *entry, const kc_queue_cause *cause,
                         int64_t now);
/* Copies the causes, newest first, to an array of KC_QUEUE_CAUSES; `ret_more`: number of dropped
 * ones. */
size_t kc__queue_causes(const kc__queue_causes_of_entry *causes, kc_key own, kc_queue_cause *ret,
                        size_t *ret_more);
void kc__queue_drop_causes(kc_queue *queue, kc__queue_causes_of_entry *causes);

/* ---- the order of ready keys ---- */

/* Keys of one priority and, in a fair queue, one namespace. */
struct kc__queue_lane {
    kc_dlist_link turn; /* In its band's `turns` while it has keys, otherwise in `idle`. */
    kc_dlist list;      /* First come, first served. */
    kc_heap returned;   /* By number. */
    size_t n;           /* Keys in both. */
    struct kc__queue_band *band;
    char *ns; /* NULL if the queue is not fair. */
};

/* A priority. Kept once it was used: there are few. */
typedef struct kc__queue_band {
    kc_heap_node node; /* In the heap of bands that have keys. */
    int priority;
    size_t n; /* Keys in its lanes. */
    kc_dlist turns;
    kc__queue_lane *only; /* Set if the queue is not fair. */
    kc_map by_ns;         /* Of kc__queue_lane, if the queue is fair. */
    kc_dlist idle;        /* Lanes without keys, the longest idle first. */
    size_t n_idle;
    kc_gauge *gauge; /* Ready keys, including those being processed (REQUEUED). Priorities beyond
                        the 25th share one. */
} kc__queue_band;

typedef struct kc__queue_ready {
    kc_heap bands;                /* Bands with keys, highest priority first. */
    KC_VEC(kc__queue_band *) all; /* By priority. */
    kc__queue_band *last;         /* The last one that was looked up. */
    size_t n;                     /* Keys in lanes. */
    bool fair;
} kc__queue_ready;

void kc__queue_ready_init(kc__queue_ready *ready, bool fair);
void kc__queue_ready_done(kc__queue_ready *ready);
/* Creates the band if it does not exist. */
kc__queue_band *kc__queue_ready_band(kc_queue *queue, int priority);
/* Orders by number: at the end, unless the number is lower than that of the last entry. */
void kc__queue_ready_push(kc_queue *queue, kc__queue_entry *entry);
void kc__queue_ready_remove(kc__queue_ready *ready, kc__queue_entry *entry);
/* The next entry; NULL if there is none. */
kc__queue_entry *kc__queue_ready_pop(kc__queue_ready *ready);

/* ---- metrics ---- */

typedef struct kc__queue_metrics {
    kc_metrics *registry; /* NULL: no metrics. */
    kc_metrics_hook hook;
    kc_metric *depth;
    kc_counter *adds, *retries;
    kc_histogram *latency, *work;
    kc_gauge *unfinished, *longest;
} kc__queue_metrics;

void kc__queue_metrics_init(kc_queue *queue, kc_metrics *registry);
void kc__queue_metrics_done(kc_queue *queue);
kc_gauge *kc__queue_depth_gauge(kc_queue *queue, int priority);

/* ---- get rates ---- */

enum { KC__QUEUE_RATES = 1024 };

typedef struct kc__queue_rate {
    uint64_t hash;
    int64_t since;
    uint32_t n;
} kc__queue_rate;

/* ---- waiting threads ---- */

typedef struct kc__queue_waiter {
    kc_dlist_link link; /* In idle or spare. */
    kc_cond wake;
    bool woken; /* Has been signalled. */
} kc__queue_waiter;

typedef struct kc__queue_waiters {
    kc_dlist idle;                /* Last in, first out: its memory is still warm. */
    kc_dlist spare;               /* Kept, so that they can be signalled without the mutex. */
    kc__queue_waiter *timekeeper; /* Waits for the next delay; not in `idle`. */
    size_t awake;                 /* Signalled, and have not looked yet. */
} kc__queue_waiters;

void kc__queue_waiters_init(kc__queue_waiters *waiters);
void kc__queue_waiters_done(kc__queue_waiters *waiters);
/* When the next delay ends; KC_FOREVER if there is none. */
int64_t kc__queue_next_delay(const kc_queue *queue);
/* Waits until signalled, or until a delay or the deadline has passed. False after the deadline. */
bool kc__queue_wait(kc_queue *queue, int64_t deadline);
/* The waiter to wake now, or NULL; signal it without the mutex held. */
kc__queue_waiter *kc__queue_next_waiter(kc_queue *queue);
void kc__queue_wake(kc__queue_waiter *waiter);
/* Call it if kc__queue_next_waiter found none: notifies the owner of the workers if one may be
 * needed. With the mutex held. */
void kc__queue_want_worker(kc_queue *queue);
void kc__queue_wake_all(kc_queue *queue);

/* ---- starting workers on demand ---- */

/* For a controller that starts and ends workers on demand (crew.c). */
typedef struct kc__queue_demand {
    void (*wanted)(void *user); /* A worker may be needed: call kc__queue_poll, later. Any thread,
                                   with the queue's mutex held. NULL: the workers are permanent. */
    void *user;
    bool full; /* No more workers can be started: `wanted` is not called. */
} kc__queue_demand;

/* ---- the queue ---- */

typedef enum kc__queue_state {
    KC__QUEUE_OPEN,
    KC__QUEUE_DRAINING,
    KC__QUEUE_SHUT_DOWN
} kc__queue_state;

struct kc_queue {
    char *name;
    kc_rate_limiter *limiter;
    const kc_clock *clock;
    _Atomic kc__queue_state state; /* Written with the mutex held. */
    kc__queue_metrics metrics;
    struct kc__executor *executor; /* The controller's, for timers; NULL: none. */
    kc_mutex mutex; /* Guards the fields below. Only a metric's mutex is taken under it, once per
                       priority. */
    kc__key_table entries; /* Of kc__queue_entry. */
    kc__queue_ready ready;
    kc_heap delayed;     /* By time, priority, number. */
    kc_dlist processing; /* In the order in which they were taken. */
    size_t n_processing, n_dirty, n_retrying;
    uint64_t next_number;
    kc__queue_waiters waiters;
    kc__queue_demand demand;
    kc_cond drained; /* The queue is empty. */
    kc__queue_slabs slabs;
    kc__queue_cause_block *spare_causes;
    size_t n_spare_causes;
    kc__queue_rate *rates; /* Array of KC__QUEUE_RATES; NULL: not counted. */
};

const kc_clock *kc__queue_clock(const kc_queue *queue);
/* Enables the get rates of items. Call it before the queue is used. */
void kc__queue_count_rates(kc_queue *queue);
/* Approximate number of gets within a minute, including this one; rather too low. */
static inline uint32_t kc__queue_item_rate(const kc_queue_item *item)
{
    return item->entry->rate;
}
/* When the item was taken. */
static inline int64_t kc__queue_item_started(const kc_queue_item *item)
{
    return item->entry->started;
}
/* kc_queue_done for callers that know the time. */
void kc__queue_done_at(kc_queue *queue, kc_queue_item *item, int64_t now);
typedef enum kc__queue_got { KC__QUEUE_ITEM, KC__QUEUE_IDLE, KC__QUEUE_OVER } kc__queue_got;
/* kc_queue_get with a deadline on the queue's clock: then returns KC__QUEUE_IDLE, and leaves no
 * key for which this caller was woken. */
kc__queue_got kc__queue_get_until(kc_queue *queue, int64_t deadline, kc_queue_item *ret);

/* When it returns, the previous function is not running and will not run again. NULL: workers are
 * permanent. */
void kc__queue_set_demand(kc_queue *queue, void (*wanted)(void *user), void *user);
/* Sets whether the maximum number of workers is running. */
void kc__queue_set_full(kc_queue *queue, bool full);
/* Number of ready keys for which no waiting worker was woken. `ret_next` is when the next delay
 * ends if no worker waits for it; otherwise KC_FOREVER. */
size_t kc__queue_poll(kc_queue *queue, int64_t *ret_next);

/* After kc_queue_shut_down, when no thread uses the queue: accepts keys again. */
void kc__queue_reopen(kc_queue *queue);
/* Text of a kc_queue_reason: "Created". */
const char *kc__queue_reason_text(kc_queue_reason reason);

#endif
