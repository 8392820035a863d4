/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.c: the rules of queue.h.
 *
 * A key has one entry. While it waits the entry is in one place (kc__queue_entry_state); while it
 * is being processed it is on the processing list:
 *
 *                 ┌──────── delay passed ───────┐
 *     add ──▶ DELAYED ── immediate add ──▶ READY or RETURNED ── get ──▶ processing ── done ──▶ gone
 *                                                ▲                        │ added meanwhile
 *                                                └──────── done ────── REQUEUED
 *
 * The differences from controller-runtime are in the mechanics only: there is no thread and no
 * buffer in between; the thread that adds a key puts it in its place, and each add and get first
 * moves due keys to ready. A delay therefore ends when the queue is next used: by a worker that
 * waits until then, by the crew that would start one (crew.c), by a metrics scrape, by a reader of
 * the counts.
 *
 * Cost: one hash of the key, one reading of the clock and one lock per call, and no allocation
 * while the queue does not grow.
 */
#include "runtime/queue/queue_internal.h"

#include <assert.h>

/* ---- lifecycle ---- */

static bool due_first(const kc_heap_node *left, const kc_heap_node *right, void *user)
{
    (void)user;
    const kc__queue_entry *a = kc_container_of(left, kc__queue_entry, place_in_heap);
    const kc__queue_entry *b = kc_container_of(right, kc__queue_entry, place_in_heap);
    if (a->ready_at != b->ready_at)
        return a->ready_at < b->ready_at;
    return a->priority != b->priority ? a->priority > b->priority : a->number < b->number;
}

kc_queue *kc_queue_new(const kc_queue_opts *opts)
{
    static const kc_queue_opts defaults = {0};
    opts = opts ? opts : &defaults;
    kc_queue *queue = kc_new(kc_queue);
    queue->name = kc_strdup(opts->name ? opts->name : "");
    queue->limiter = opts->limiter ? opts->limiter : kc_rate_limiter_exponential(0, 0);
    queue->clock = opts->clock ? opts->clock : kc_clock_real();
    queue->delayed.less = due_first;
    kc_mutex_init(&queue->mutex);
    kc_cond_init(&queue->drained);
    kc__key_table_init(&queue->entries);
    kc__queue_ready_init(&queue->ready, opts->fair);
    kc__queue_waiters_init(&queue->waiters);
    kc_dlist_init(&queue->processing);
    kc_dlist_init(&queue->slabs.room);
    kc__queue_metrics_init(queue, *queue->name ? opts->metrics : NULL);
    return queue;
}

kc_queue *kc_queue_free(kc_queue *queue)
{
    if (!queue)
        return NULL;
    kc_queue_shut_down(queue);
    kc__queue_metrics_done(queue);
    kc__queue_entries_done(queue);
    kc__queue_waiters_done(&queue->waiters);
    kc__queue_ready_done(&queue->ready);
    kc_heap_done(&queue->delayed);
    kc_cond_done(&queue->drained);
    kc_mutex_done(&queue->mutex);
    kc_rate_limiter_free(queue->limiter);
    free(queue->rates);
    free(queue->name);
    free(queue);
    return NULL;
}

const kc_clock *kc__queue_clock(const kc_queue *queue)
{
    return queue->clock;
}

/* ---- moving entries ---- */

static void count_depth(kc_queue *queue, int priority, int by)
{
    if (queue->metrics.depth)
        kc_gauge_add(kc__queue_ready_band(queue, priority)->gauge, by);
}

static bool queue_is_ready(const kc__queue_entry *entry)
{
    return entry->place == KC__QUEUE_ENTRY_READY || entry->place == KC__QUEUE_ENTRY_RETURNED ||
           entry->place == KC__QUEUE_ENTRY_REQUEUED;
}

/* Orders by number; an entry that is being processed waits until that is done. */
static void put_in_line(kc_queue *queue, kc__queue_entry *entry)
{
    if (!entry->processing) {
        kc__queue_ready_push(queue, entry);
        return;
    }
    entry->place = KC__QUEUE_ENTRY_REQUEUED;
    queue->n_dirty++;
}

static void take_out_of_line(kc_queue *queue, kc__queue_entry *entry)
{
    if (entry->place == KC__QUEUE_ENTRY_REQUEUED) {
        entry->place = KC__QUEUE_ENTRY_IDLE;
        queue->n_dirty--;
    } else {
        kc__queue_ready_remove(&queue->ready, entry);
    }
}

static void make_ready(kc_queue *queue, kc__queue_entry *entry, int64_t now)
{
    entry->ready_since = now;
    count_depth(queue, entry->priority, 1);
    kc_counter_inc(queue->metrics.adds);
    put_in_line(queue, entry);
}

static void put_off(kc_queue *queue, kc__queue_entry *entry, int64_t ready_at)
{
    entry->place = KC__QUEUE_ENTRY_DELAYED;
    entry->ready_at = ready_at;
    kc_heap_push(&queue->delayed, &entry->place_in_heap);
}

static void end_delay(kc_queue *queue, kc__queue_entry *entry)
{
    kc_heap_remove(&queue->delayed, &entry->place_in_heap);
    entry->place = KC__QUEUE_ENTRY_IDLE;
    queue->n_retrying -= entry->retrying;
    entry->retrying = false;
}

/* Moves due keys to the end of their priority. */
static void make_due_ready(kc_queue *queue, int64_t now)
{
    kc_heap_node *first;
    while ((first = kc_heap_peek(&queue->delayed))) {
        kc__queue_entry *entry = kc_container_of(first, kc__queue_entry, place_in_heap);
        if (entry->ready_at > now)
            return;
        end_delay(queue, entry);
        entry->number = queue->next_number++;
        make_ready(queue, entry, now);
    }
}

/* ---- add ---- */

static void raise_priority(kc_queue *queue, kc__queue_entry *entry, int priority)
{
    bool ready = queue_is_ready(entry);
    if (ready) {
        take_out_of_line(queue, entry);
        count_depth(queue, entry->priority, -1);
        count_depth(queue, priority, 1);
    }
    entry->priority = priority;
    entry->number = queue->next_number++;
    if (ready)
        put_in_line(queue, entry);
    else
        kc_heap_fix(&queue->delayed, &entry->place_in_heap);
}

/* The key already waits: the higher priority and the earlier time win. */
static void add_again(kc_queue *queue, kc__queue_entry *entry, int priority, int64_t ready_at,
                      int64_t now)
{
    if (priority > entry->priority)
        raise_priority(queue, entry, priority);
    if (entry->place != KC__QUEUE_ENTRY_DELAYED || ready_at >= entry->ready_at)
        return;
    if (ready_at > now) {
        entry->ready_at = ready_at;
        kc_heap_fix(&queue->delayed, &entry->place_in_heap);
        return;
    }
    end_delay(queue, entry);
    make_ready(queue, entry, now);
}

static void add_first(kc_queue *queue, kc__queue_entry *entry, int priority, int64_t ready_at,
                      int64_t now)
{
    entry->priority = priority;
    entry->number = queue->next_number++;
    if (ready_at > now)
        put_off(queue, entry, ready_at);
    else
        make_ready(queue, entry, now);
}

static void queue_add(kc_queue *queue, kc_key key, uint64_t hash, const kc_queue_add_opts *opts,
                      int64_t after, const kc_queue_cause *cause, int64_t now)
{
    kc__key_node *node = kc__key_table_find(&queue->entries, key, hash);
    kc__queue_entry *entry =
        node ? kc_container_of(node, kc__queue_entry, node) : kc__queue_entry_new(queue, key, hash);
    int64_t ready_at;
    if (__builtin_add_overflow(now, after, &ready_at))
        ready_at = KC_FOREVER - 1;
    kc__queue_add_cause(queue, entry, cause, now);
    if (entry->place == KC__QUEUE_ENTRY_IDLE)
        add_first(queue, entry, opts->priority, ready_at, now);
    else
        add_again(queue, entry, opts->priority, ready_at, now);
    if (entry->place == KC__QUEUE_ENTRY_DELAYED && cause->reason == KC_QUEUE_REASON_RETRY &&
        !entry->retrying) {
        entry->retrying = true;
        queue->n_retrying++;
    }
}

/* As in controller-runtime: the shorter of the two delays. */
static int64_t delay_of(kc_queue *queue, kc_key key, const kc_queue_add_opts *opts)
{
    int64_t after = KC_MAX(opts->after, 0);
    if (!opts->rate_limited)
        return after;
    int64_t limited = kc_rate_limiter_when(queue->limiter, key);
    return after == 0 || limited < after ? limited : after;
}

void kc_queue_add_with(kc_queue *queue, kc_key key, const kc_queue_add_opts *opts)
{
    static const kc_queue_cause unknown = {0}, failed = {.reason = KC_QUEUE_REASON_RETRY};
    if (kc_queue_shutting_down(queue))
        return;
    const kc_queue_cause *cause = opts->cause          ? opts->cause
                                  : opts->rate_limited ? &failed
                                                       : &unknown;
    uint64_t hash = kc__key_hash(queue->entries.seed, key);
    int64_t after = delay_of(queue, key, opts);
    kc__queue_waiter *waiter = NULL;
    kc_locked (&queue->mutex) {
        if (kc_queue_shutting_down(queue))
            break;
        int64_t next_delay = kc__queue_next_delay(queue);
        int64_t now = kc_clock_now(queue->clock);
        make_due_ready(queue, now); /* Due keys come first. */
        queue_add(queue, key, hash, opts, after, cause, now);
        waiter = kc__queue_next_waiter(queue);
        const bool earlier = kc__queue_next_delay(queue) < next_delay;
        if (!waiter && earlier)
            waiter = queue->waiters.timekeeper; /* The timekeeper must recompute its deadline. */
        if (!waiter && (queue->ready.n || earlier))
            kc__queue_want_worker(queue);
    }
    if (after > 0)
        kc_counter_inc(queue->metrics.retries);
    kc__queue_wake(waiter);
}

/* ---- get ---- */

/* A key whose slot belongs to another key decrements that key's count: frequent keys stay, and
 * their count is rather too low. The hash has no seed: the output of a simulation must be
 * deterministic. */
static uint32_t count_rate(kc__queue_rate *rates, kc_key key, int64_t now)
{
    uint64_t hash = kc__key_hash(0, key);
    kc__queue_rate *rate = &rates[hash % KC__QUEUE_RATES];
    bool over = now - rate->since > KC_MINUTE;
    if (rate->hash != hash && !over && rate->n > 1) {
        rate->n--;
        return 1;
    }
    if (rate->hash != hash || over)
        *rate = (kc__queue_rate){.hash = hash, .since = now};
    return ++rate->n;
}

static void queue_take(kc_queue *queue, kc__queue_entry *entry, int64_t now, kc_queue_item *ret)
{
    entry->processing = true;
    entry->started = now;
    kc_dlist_push(&queue->processing, &entry->working);
    queue->n_processing++;
    count_depth(queue, entry->priority, -1);
    if (queue->rates)
        entry->rate = count_rate(queue->rates, entry->node.key, now);
    entry->works = entry->waits;
    entry->waits = (kc__queue_causes_of_entry){0};
    ret->key = entry->node.key;
    ret->priority = entry->priority;
    ret->waited = KC_MAX(now - entry->ready_since, 0);
    ret->n_causes =
        kc__queue_causes(&entry->works, entry->node.key, ret->causes, &ret->more_causes);
    ret->entry = entry;
}

/* Call it with the mutex held. */
static bool take_next(kc_queue *queue, kc_queue_item *ret)
{
    if (!queue->ready.n && !queue->delayed.n)
        return false;
    int64_t now = kc_clock_now(queue->clock);
    make_due_ready(queue, now);
    kc__queue_entry *entry = kc__queue_ready_pop(&queue->ready);
    if (entry)
        queue_take(queue, entry, now, ret);
    return entry != NULL;
}

static bool queue_is_finished(const kc_queue *queue)
{
    return kc_queue_shutting_down(queue) && !queue->ready.n && !queue->n_dirty;
}

kc__queue_got kc__queue_get_until(kc_queue *queue, int64_t deadline, kc_queue_item *ret)
{
    kc__queue_waiter *next = NULL;
    kc__queue_got got = KC__QUEUE_ITEM;
    bool in_time = true;
    kc_locked (&queue->mutex) {
        while (!take_next(queue, ret)) {
            got = queue_is_finished(queue) ? KC__QUEUE_OVER
                  : in_time                ? KC__QUEUE_ITEM
                                           : KC__QUEUE_IDLE;
            if (got != KC__QUEUE_ITEM)
                break;
            in_time = kc__queue_wait(queue, deadline);
        }
        next = kc__queue_next_waiter(queue);
        if (!next)
            kc__queue_want_worker(queue);
    }
    kc__queue_wake(next);
    if (got == KC__QUEUE_ITEM)
        kc_histogram_observe_duration(queue->metrics.latency, ret->waited);
    return got;
}

bool kc_queue_get(kc_queue *queue, kc_queue_item *ret)
{
    return kc__queue_get_until(queue, KC_FOREVER, ret) == KC__QUEUE_ITEM;
}

bool kc_queue_try_get(kc_queue *queue, kc_queue_item *ret)
{
    kc__queue_waiter *next = NULL;
    bool got = false;
    kc_locked (&queue->mutex) {
        got = take_next(queue, ret);
        next = kc__queue_next_waiter(queue);
        if (!next)
            kc__queue_want_worker(queue);
    }
    kc__queue_wake(next);
    if (got)
        kc_histogram_observe_duration(queue->metrics.latency, ret->waited);
    return got;
}

static void signal_if_drained(kc_queue *queue)
{
    if (!queue_is_finished(queue))
        return;
    kc__queue_wake_all(queue);
    if (!queue->n_processing)
        kc_cond_broadcast(&queue->drained);
}

void kc__queue_done_at(kc_queue *queue, kc_queue_item *item, int64_t now)
{
    kc__queue_entry *entry = item->entry;
    int64_t started = entry->started;
    kc__queue_waiter *waiter = NULL;
    assert(entry && entry->processing && "an item is done once");
    item->entry = NULL;
    kc_locked (&queue->mutex) {
        entry->processing = false;
        kc_dlist_remove(&entry->working);
        queue->n_processing--;
        kc__queue_drop_causes(queue, &entry->works);
        if (entry->place == KC__QUEUE_ENTRY_REQUEUED) {
            queue->n_dirty--;
            kc__queue_ready_push(queue, entry);
            waiter = kc__queue_next_waiter(queue);
            if (!waiter)
                kc__queue_want_worker(queue);
        } else if (entry->place == KC__QUEUE_ENTRY_IDLE) {
            kc__queue_entry_free(queue, entry);
        }
        signal_if_drained(queue);
    }
    kc__queue_wake(waiter);
    kc_histogram_observe_duration(queue->metrics.work, now - started);
}

void kc_queue_done(kc_queue *queue, kc_queue_item *item)
{
    kc__queue_done_at(queue, item, queue->metrics.registry ? kc_clock_now(queue->clock) : 0);
}

void kc_queue_forget(kc_queue *queue, kc_key key)
{
    kc_rate_limiter_forget(queue->limiter, key);
}

int kc_queue_num_requeues(kc_queue *queue, kc_key key)
{
    return kc_rate_limiter_num_requeues(queue->limiter, key);
}

void kc__queue_count_rates(kc_queue *queue)
{
    queue->rates = kc_calloc(KC__QUEUE_RATES, sizeof(*queue->rates));
}

/* ---- shutdown ---- */

bool kc_queue_shutting_down(const kc_queue *queue)
{
    return atomic_load_explicit(&queue->state, memory_order_relaxed) != KC__QUEUE_OPEN;
}

/* The entry does not wait any more. */
static void queue_drop(kc_queue *queue, kc__queue_entry *entry)
{
    if (queue_is_ready(entry)) {
        count_depth(queue, entry->priority, -1);
        take_out_of_line(queue, entry);
    } else if (entry->place == KC__QUEUE_ENTRY_DELAYED) {
        end_delay(queue, entry);
    }
    if (entry->processing)
        kc__queue_drop_causes(queue, &entry->waits);
    else
        kc__queue_entry_free(queue, entry);
}

static void close_queue(kc_queue *queue, kc__queue_state state)
{
    if (queue->state < state)
        queue->state = state;
    kc__key_table_each(&queue->entries, node)
    {
        kc__queue_entry *entry = kc_container_of(node, kc__queue_entry, node);
        if (queue->state == KC__QUEUE_SHUT_DOWN || entry->place == KC__QUEUE_ENTRY_DELAYED)
            queue_drop(queue, entry);
    }
    signal_if_drained(queue);
}

void kc_queue_shut_down(kc_queue *queue)
{
    kc_locked (&queue->mutex)
        close_queue(queue, KC__QUEUE_SHUT_DOWN);
}

void kc__queue_reopen(kc_queue *queue)
{
    kc_locked (&queue->mutex) {
        assert(!queue->n_processing);
        queue->state = KC__QUEUE_OPEN;
    }
}

bool kc_queue_drain(kc_queue *queue, int64_t deadline)
{
    bool drained = false;
    kc_locked (&queue->mutex) {
        make_due_ready(queue, kc_clock_now(queue->clock));
        close_queue(queue, KC__QUEUE_DRAINING);
        bool in_time = true;
        while (!(drained = queue_is_finished(queue) && !queue->n_processing) && in_time)
            in_time = kc_cond_wait_until(&queue->drained, &queue->mutex, queue->clock, deadline);
    }
    return drained;
}

/* ---- inspection ---- */

kc_queue_counts kc_queue_count(const kc_queue *const_queue)
{
    kc_queue *queue = (kc_queue *)const_queue; /* Any access moves due keys to ready. */
    kc_queue_counts counts = {0};
    kc__queue_waiter *waiter = NULL;
    kc_locked (&queue->mutex) {
        if (queue->delayed.n)
            make_due_ready(queue, kc_clock_now(queue->clock));
        counts = (kc_queue_counts){
            .ready = queue->ready.n + queue->n_dirty,
            .processing = queue->n_processing,
            .delayed = queue->delayed.n,
            .retrying = queue->n_retrying,
        };
        waiter = kc__queue_next_waiter(queue);
        if (!waiter && queue->ready.n)
            kc__queue_want_worker(queue);
    }
    kc__queue_wake(waiter);
    return counts;
}

/* ---- workers on demand ---- */

void kc__queue_set_demand(kc_queue *queue, void (*wanted)(void *user), void *user)
{
    kc_locked (&queue->mutex)
        queue->demand = (kc__queue_demand){.wanted = wanted, .user = user};
}

void kc__queue_set_full(kc_queue *queue, bool full)
{
    kc_locked (&queue->mutex)
        queue->demand.full = full;
}

size_t kc__queue_poll(kc_queue *queue, int64_t *ret_next)
{
    size_t unserved = 0;
    *ret_next = KC_FOREVER;
    for (kc__queue_waiter *waiter = NULL;;) {
        kc_locked (&queue->mutex) {
            if (queue->delayed.n)
                make_due_ready(queue, kc_clock_now(queue->clock));
            waiter = kc__queue_next_waiter(queue);
            unserved = queue->ready.n - KC_MIN(queue->ready.n, queue->waiters.awake);
            if (!queue->waiters.timekeeper)
                *ret_next = kc__queue_next_delay(queue);
        }
        if (!waiter)
            return unserved;
        kc__queue_wake(waiter);
    }
}
