/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c: sources of keys other than objects (handler.c): channels and timers.
 *
 * A channel passes a key directly to the queue, which never blocks and is unbounded; while there is
 * no queue the channel buffers up to 1024 keys. The channel's mutex is held meanwhile, so that
 * after the source is stopped no thread still adds; only the queue's own lock is taken under it. A
 * timer is a serial task (executor.h) of the controller's pool.
 */
#include "kc/ref.h"
#include "runtime/controller/source_internal.h"
#include "runtime/executor/executor.h"
#include "runtime/queue/queue_internal.h"

struct kc_source {
    const kc_source_ops *ops;
    void *state;
};

kc_source *kc_source_new(const kc_source_ops *ops, void *state)
{
    kc_source *source = kc_new(kc_source);
    *source = (kc_source){ops, state};
    return source;
}

kc_source *kc_source_free(kc_source *source)
{
    if (!source)
        return NULL;
    if (source->ops->free)
        source->ops->free(source->state);
    free(source);
    return NULL;
}

int kc__source_start(kc_source *source, kc_queue *queue, kc_error *err)
{
    return source->ops->start ? source->ops->start(source->state, queue, err) : 0;
}

bool kc__source_wait_synced(kc_source *source, int64_t deadline, kc_cancel *cancel, kc_error *err)
{
    return !source->ops->wait_synced ||
           source->ops->wait_synced(source->state, deadline, cancel, err);
}

void kc__source_stop(kc_source *source)
{
    if (source->ops->stop)
        source->ops->stop(source->state);
}

/* ---- owned keys ---- */

typedef struct owned_key {
    kc_key key;
    char text[];
} owned_key;

static owned_key *key_dup(kc_key key)
{
    owned_key *copy = kc_alloc(sizeof(*copy) + key.ns.n + key.name.n);
    if (key.ns.n)
        memcpy(copy->text, key.ns.p, key.ns.n);
    if (key.name.n)
        memcpy(copy->text + key.ns.n, key.name.p, key.name.n);
    copy->key = (kc_key){{copy->text, key.ns.n}, {copy->text + key.ns.n, key.name.n}};
    return copy;
}

static void add_generic(kc_queue *queue, kc_key key)
{
    static const kc_queue_cause generic = {.reason = KC_QUEUE_REASON_GENERIC};
    kc_queue_add_with(queue, key, &(kc_queue_add_opts){.cause = &generic});
}

/* ---- channels ---- */

enum { MOST_KEPT = 1024 };

struct kc_channel {
    kc_ref refs;
    kc_mutex mutex;  /* Guards the fields below. Taken before the queue's. */
    kc_queue *queue; /* NULL until a controller has started with the channel. */
    KC_VEC(owned_key *) kept;
};

kc_channel *kc_channel_new(void)
{
    kc_channel *channel = kc_new(kc_channel);
    kc_ref_init(&channel->refs);
    kc_mutex_init(&channel->mutex);
    return channel;
}

kc_channel *kc_channel_ref(kc_channel *channel)
{
    if (channel)
        kc_ref_add(&channel->refs);
    return channel;
}

kc_channel *kc_channel_unref(kc_channel *channel)
{
    if (!channel || !kc_ref_drop(&channel->refs))
        return NULL;
    kc_vec_each (&channel->kept, key)
        free(*key);
    kc_vec_done(&channel->kept);
    kc_mutex_done(&channel->mutex);
    free(channel);
    return NULL;
}

int kc_channel_send(kc_channel *channel, kc_key key, kc_error *err)
{
    bool full = false;
    kc_locked (&channel->mutex) {
        full = !channel->queue && channel->kept.n >= MOST_KEPT;
        if (channel->queue)
            add_generic(channel->queue, key);
        else if (!full)
            kc_vec_push(&channel->kept, key_dup(key));
    }
    return full ? kc_error_set(err, KC_TOO_MANY_REQUESTS,
                               "the channel is full: %d keys, and no controller receives them",
                               MOST_KEPT)
                : 0;
}

static int channel_start(void *state, kc_queue *queue, kc_error *err)
{
    kc_channel *channel = state;
    bool taken = false;
    kc_locked (&channel->mutex) {
        taken = channel->queue != NULL;
        if (taken)
            break;
        channel->queue = queue;
        kc_vec_each (&channel->kept, key) {
            add_generic(queue, (*key)->key);
            free(*key);
        }
        kc_vec_clear(&channel->kept);
    }
    return taken
               ? kc_error_set(err, KC_CONFLICT, "the channel already belongs to another controller")
               : 0;
}

static void channel_stop(void *state)
{
    kc_channel *channel = state;
    kc_locked (&channel->mutex)
        channel->queue = NULL;
}

static void channel_free(void *state)
{
    kc_channel_unref(state);
}

kc_source *kc_source_channel(kc_channel *channel)
{
    static const kc_source_ops ops = {
        .start = channel_start, .stop = channel_stop, .free = channel_free};
    return kc_source_new(&ops, kc_channel_ref(channel));
}

/* ---- timers ---- */

typedef struct timer {
    int64_t period;
    owned_key *key;
    kc_queue *queue;
    kc__executor *own_executor; /* NULL: the queue's controller has one. */
    kc__serial *serial;
    int64_t next; /* Used only in steps, and before the first. */
} timer;

static int64_t tick(void *user)
{
    timer *t = user;
    if (kc_clock_now(kc__queue_clock(t->queue)) < t->next)
        return t->next;
    add_generic(t->queue, t->key->key);
    return t->next += t->period;
}

static int timer_start(void *state, kc_queue *queue, kc_error *err)
{
    timer *t = state;
    const kc_clock *clock = kc__queue_clock(queue);
    if (t->period <= 0)
        return kc_error_set(err, KC_BAD_REQUEST, "the period of a timer must be above 0");
    kc__executor *executor = queue->executor;
    if (!executor)
        executor = t->own_executor = kc__executor_new(&(kc__executor_opts){.clock = clock});
    t->queue = queue;
    t->next = kc_clock_deadline(clock, t->period);
    t->serial = kc__serial_new(executor, tick, t);
    kc__serial_wake(t->serial);
    return 0;
}

static void timer_stop(void *state)
{
    timer *t = state;
    t->serial = kc__serial_free(t->serial);
    t->own_executor = kc__executor_free(t->own_executor);
}

static void timer_free(void *state)
{
    timer *t = state;
    free(t->key);
    free(t);
}

kc_source *kc_source_timer(int64_t period, kc_key key)
{
    static const kc_source_ops ops = {.start = timer_start, .stop = timer_stop, .free = timer_free};
    timer *t = kc_new(timer);
    t->period = period;
    t->key = key_dup(key);
    return kc_source_new(&ops, t);
}
