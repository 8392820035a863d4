/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c: where keys come from besides objects (handler.c): channels and timers.
 *
 * A channel hands a key straight to the queue, which never blocks and holds any number, while there
 * is one; else it keeps up to 1024. Its mutex is held over that, so that stopping the source means
 * that nobody still adds; the queue's own lock is the only one under it. A timer is a thread that
 * sleeps.
 */
#include "kc/ref.h"
#include "runtime/queue_internal.h"
#include "runtime/source_internal.h"

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

/* ---- keys of one's own ---- */

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
    static const kc_queue_cause generic = {.why = KC_WHY_GENERIC};
    kc_queue_add_with(queue, key, &(kc_queue_add_opts){.cause = &generic});
}

/* ---- channels ---- */

enum { MOST_KEPT = 1024 };

struct kc_channel {
    kc_ref refs;
    kc_mutex mutex;  /* Guards what follows. Taken before the queue's. */
    kc_queue *queue; /* NULL while no controller has started with it. */
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
    return full
               ? kc_error_set(err, KC_TOO_MANY_REQUESTS,
                              "%d keys wait in the channel and no controller takes them", MOST_KEPT)
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
    return taken ? kc_error_set(err, KC_CONFLICT, "another controller has the channel already") : 0;
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
    kc_cancel *stop;
    kc_thread *thread;
} timer;

static void tick(void *user)
{
    timer *t = user;
    const kc_clock *clock = kc__queue_clock(t->queue);
    int64_t next = kc_clock_now(clock);
    while (next += t->period, kc_cancel_sleep_until(t->stop, clock, next))
        add_generic(t->queue, t->key->key);
}

static int timer_start(void *state, kc_queue *queue, kc_error *err)
{
    timer *t = state;
    if (t->period <= 0)
        return kc_error_set(err, KC_BAD_REQUEST, "the period of a timer must be above 0");
    t->queue = queue;
    t->stop = kc_cancel_new(NULL);
    t->thread = kc_thread_start("timer", tick, t, err);
    if (t->thread)
        return 0;
    t->stop = kc_cancel_unref(t->stop);
    return err ? -(int)err->reason : -KC_INTERNAL;
}

static void timer_stop(void *state)
{
    timer *t = state;
    kc_cancel_fire(t->stop);
    t->thread = kc_thread_join(t->thread);
    t->stop = kc_cancel_unref(t->stop);
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
