/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_internal.h: the inside of a queue, shared by its files:
 *
 *     queue.c            adding, delays, getting, done: the rules of queue.h
 *     queue_wait.c       who waits for a key, and who of them watches the time
 *     queue_ready.c      the order of keys that are ready: priorities, namespaces, first come
 *     queue_entry.c      entries and their causes
 *     queue_slab.c       the memory of entries
 *     queue_metrics.c    workqueue_*
 *     queue_write.c      /debug/queue
 *
 * All of it is guarded by the queue's one mutex, which is held for some tens of nanoseconds at a
 * time and never while anything is called out to.
 */
#ifndef KC_RUNTIME_QUEUE_INTERNAL_H
#define KC_RUNTIME_QUEUE_INTERNAL_H

#include "kc/heap.h"
#include "kc/map.h"
#include "kc/queue.h"
#include "kc/thread.h"
#include "runtime/key_table.h"

/* ---- causes ---- */

enum { KC__CAUSE_TEXT = 112 }; /* Bytes that are kept of a cause's key. */

/* Causes of an entry that has more than one, or one with a key of its own. Newest at `newest`. */
typedef struct kc__causes {
    struct kc__causes *next; /* Among the spare ones. */
    unsigned newest, n;
    kc_queue_cause list[KC_QUEUE_CAUSES]; /* Their keys lie in text. */
    char text[KC_QUEUE_CAUSES][KC__CAUSE_TEXT];
} kc__causes;

/* A cause whose key is the entry's own. */
typedef struct kc__own_cause {
    const kc_kind *kind;
    uint64_t revision;
    int64_t at;
    kc_why why;
} kc__own_cause;

/* Why a key waits, or why it is worked on. Without a block there is one cause at most, `own`. */
typedef struct kc__why {
    kc__causes *block;
    kc__own_cause own;
    uint32_t n; /* Those that were lost included. */
} kc__why;

/* ---- entries ---- */

typedef enum kc__place {
    KC__NOWHERE,  /* It does not wait: it is being worked on, or spare. */
    KC__DELAYED,  /* In the heap of delays. */
    KC__READY,    /* In the list of its lane. */
    KC__RETURNED, /* In the heap of its lane: it has an older number than those in the list. */
    KC__AGAIN,    /* Ready, but worked on: becomes KC__RETURNED when that is done. */
} kc__place;

typedef struct kc__lane kc__lane;
typedef struct kc__slab kc__slab;

/* A key that waits, is worked on, or both. One for each key. */
typedef struct kc__queue_entry {
    kc__key_node node;          /* In entries. */
    kc_link link;               /* In its lane, or among the free ones. */
    kc_link working;            /* In processing. */
    kc_heap_node place_in_heap; /* Of delays, or of its lane. */
    kc__lane *lane;             /* While READY or RETURNED. */
    uint64_t number;            /* Whoever has a lower one came first. */
    int64_t ready_at;           /* While DELAYED. */
    int64_t ready_since, started;
    kc__why waits, works; /* Why it waits; why it is worked on. */
    uint32_t rate;        /* How often it was taken in the last minute, about. */
    int priority;
    kc__place place : 8;
    bool processing;
    bool retrying;  /* While DELAYED: after a failure. */
    kc__slab *slab; /* Where it lies; NULL: by itself, because its key is long. */
    char text[];
} kc__queue_entry;

enum { KC__COMMON_TEXT = 72 }; /* Bytes of a key that need no entry by itself. */

/* Memory of entries (queue_slab.c). */
typedef struct kc__slabs {
    kc_list room;      /* Those with room for another entry. */
    size_t n, n_empty; /* All there are; those without any entry. */
} kc__slabs;

kc__queue_entry *kc__slabs_take(kc__slabs *slabs);
void kc__slabs_give(kc__slabs *slabs, kc__queue_entry *entry);
/* All entries have been given back. */
void kc__slabs_done(kc__slabs *slabs);

/* For this key; in the table, and NOWHERE. */
kc__queue_entry *kc__queue_entry_new(kc_queue *queue, kc_key key, uint64_t hash);
/* Takes it out of the table. */
void kc__queue_entry_free(kc_queue *queue, kc__queue_entry *entry);
void kc__queue_entries_done(kc_queue *queue);

/* One cause more for what waits. */
void kc__queue_note_cause(kc_queue *queue, kc__queue_entry *entry, const kc_queue_cause *cause,
                          int64_t now);
/* Copies them, newest first, to an array of KC_QUEUE_CAUSES; `ret_more`: that were lost. */
size_t kc__queue_causes(const kc__why *why, kc_key own, kc_queue_cause *ret, size_t *ret_more);
void kc__queue_drop_causes(kc_queue *queue, kc__why *why);

/* ---- the order of what is ready ---- */

/* Keys of one priority and, in a fair queue, one namespace. */
struct kc__lane {
    kc_link turn;     /* In its band's turns while it has keys, else among the idle ones. */
    kc_list list;     /* First come, first. */
    kc_heap returned; /* By number. */
    size_t n;         /* In both. */
    struct kc__band *band;
    char *ns; /* NULL in a queue that is not fair. */
};

/* A priority. Stays once it was used: there are few. */
typedef struct kc__band {
    kc_heap_node node; /* In the heap of bands that have keys. */
    int priority;
    size_t n; /* Keys in its lanes. */
    kc_list turns;
    kc__lane *only; /* If the queue is not fair. */
    kc_map by_ns;   /* Of kc__lane, if it is. */
    kc_list idle;   /* Lanes without keys, the longest idle first. */
    size_t n_idle;
    kc_gauge *gauge; /* Of keys that are ready, those worked on (AGAIN) included. Priorities beyond
                      * the 25th share one. */
} kc__band;

typedef struct kc__ready {
    kc_heap bands;          /* Those that have keys, the highest priority first. */
    KC_VEC(kc__band *) all; /* By priority. */
    kc__band *last;         /* The one asked for last. */
    size_t n;               /* Keys in lanes. */
    bool fair;
} kc__ready;

void kc__ready_init(kc__ready *ready, bool fair);
void kc__ready_done(kc__ready *ready);
/* Made when it is not there. */
kc__band *kc__ready_band(kc_queue *queue, int priority);
/* By its number: at the end, unless that is older than the last one's. */
void kc__ready_push(kc_queue *queue, kc__queue_entry *entry);
void kc__ready_remove(kc__ready *ready, kc__queue_entry *entry);
/* The next; NULL when there is none. */
kc__queue_entry *kc__ready_pop(kc__ready *ready);

/* ---- metrics ---- */

typedef struct kc__queue_metrics {
    kc_metrics *registry; /* NULL: none of it. */
    kc_metrics_hook hook;
    kc_metric *depth;
    kc_counter *adds, *retries;
    kc_histogram *latency, *work;
    kc_gauge *unfinished, *longest;
} kc__queue_metrics;

void kc__queue_metrics_init(kc_queue *queue, kc_metrics *registry);
void kc__queue_metrics_done(kc_queue *queue);
kc_gauge *kc__queue_depth_gauge(kc_queue *queue, int priority);

/* ---- how often a key comes ---- */

enum { KC__RATES = 1024 };

typedef struct kc__rate {
    uint64_t hash;
    int64_t since;
    uint32_t n;
} kc__rate;

/* ---- waiting ---- */

typedef struct kc__queue_waiter {
    kc_link link; /* In idle or spare. */
    kc_cond wake;
    bool woken; /* Has been told to look. */
} kc__queue_waiter;

typedef struct kc__queue_waiters {
    kc_list idle;                 /* The last to come first: its memory is still warm. */
    kc_list spare;                /* Kept, so that they may be signalled without the mutex. */
    kc__queue_waiter *timekeeper; /* Waits for the next delay, not in idle. */
    size_t awake;                 /* Told to look, and have not yet. */
} kc__queue_waiters;

void kc__queue_waiters_init(kc__queue_waiters *waiters);
void kc__queue_waiters_done(kc__queue_waiters *waiters);
/* When the next delay has passed; KC_FOREVER when there is none. */
int64_t kc__queue_next_delay(const kc_queue *queue);
/* Waits until told to look, or a delay has passed. */
void kc__queue_wait(kc_queue *queue);
/* Who has to look now, if anybody; to be signalled without the mutex. */
kc__queue_waiter *kc__queue_whom_to_wake(kc_queue *queue);
void kc__queue_wake(kc__queue_waiter *waiter);
void kc__queue_wake_all(kc_queue *queue);

/* ---- the queue ---- */

typedef enum kc__queue_state { KC__OPEN, KC__DRAINING, KC__SHUT } kc__queue_state;

struct kc_queue {
    char *name;
    kc_limiter *limiter;
    const kc_clock *clock;
    _Atomic kc__queue_state state; /* Written with the mutex held. */
    kc__queue_metrics metrics;
    kc_mutex mutex; /* Guards what follows. Under it only a metric's is taken, once a priority. */
    kc__key_table entries; /* Of kc__queue_entry. */
    kc__ready ready;
    kc_heap delayed;    /* By time, priority, number. */
    kc_list processing; /* Those taken first, first. */
    size_t n_processing, n_again, n_retrying;
    uint64_t next_number;
    kc__queue_waiters waiters;
    kc_cond drained; /* Nothing is left. */
    kc__slabs slabs;
    kc__causes *spare_causes;
    size_t n_spare_causes;
    kc__rate *rates; /* KC__RATES of them; NULL: not counted. */
};

const kc_clock *kc__queue_clock(const kc_queue *queue);
/* From now on items say how often their key came. Before anybody uses the queue. */
void kc__queue_count_rates(kc_queue *queue);
/* How often it was taken within a minute, this time included; about, and rather too low. */
static inline uint32_t kc__queue_item_rate(const kc_queue_item *item)
{
    return item->entry->rate;
}
/* When it was taken. */
static inline int64_t kc__queue_item_started(const kc_queue_item *item)
{
    return item->entry->started;
}
/* kc_queue_done for who knows the time. */
void kc__queue_done_at(kc_queue *queue, kc_queue_item *item, int64_t now);
/* After kc_queue_shut_down, with nobody in it: takes keys again. */
void kc__queue_reopen(kc_queue *queue);
/* Text of a kc_why: "Created". */
const char *kc__why_text(kc_why why);

#endif
