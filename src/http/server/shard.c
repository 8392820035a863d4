/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard.c: the connections of one loop.
 *
 * One acceptor (acceptor.c) accepts all connections. They are long-lived, so each is assigned to
 * the loop with the fewest connections.
 *
 * Threads: everything runs on the loop, except where noted.
 */
#include "http/server/shard.h"
#include "http/server/acceptor.h"

#include "http/loop/loop_internal.h"

#include <unistd.h>

struct kc__shard {
    kc__transport_context context; /* First: transports pass it to their callbacks. */
    kc__shard_group *group;
    size_t open; /* Connections, including those being handed over. Guarded by the group's mutex. */
    kc__loop_task retire, drain, abort, evict;
};

/* ---- counting ---- */

static kc__shard *least_busy(const kc__shard_group *group)
{
    kc__shard *best = group->shards[0];
    for (size_t i = 1; i < group->n_shards; i++)
        if (group->shards[i]->open < best->open)
            best = group->shards[i];
    return best;
}

kc__shard *kc__shard_reserve(kc__shard_group *group)
{
    kc__shard *chosen = NULL;
    kc_locked (&group->mutex) {
        if (group->open < group->max_open) {
            chosen = least_busy(group);
            chosen->open++;
            group->open++;
            group->alive++;
        }
    }
    return chosen;
}

static void count_closed(kc__shard *shard)
{
    kc_locked (&shard->group->mutex) {
        shard->open--;
        shard->group->open--;
        kc_cond_broadcast(&shard->group->changed);
    }
}

static void count_freed(kc__shard_group *group)
{
    kc_locked (&group->mutex) {
        group->alive--;
        kc_cond_broadcast(&group->changed);
    }
}

static void on_closed(kc__transport_context *context)
{
    kc__shard *shard = (kc__shard *)context;
    count_closed(shard);
    kc_gauge_dec(shard->group->connections);
    kc__acceptor_resume(shard->group->acceptor);
}

static void on_freed(kc__transport_context *context)
{
    count_freed(((kc__shard *)context)->group);
}

void kc__shard_unreserve(kc__shard *shard)
{
    count_closed(shard);
    count_freed(shard->group);
}

/* ---- new connections ---- */

/* A connection that is being handed over to the loop. */
typedef struct accepted_connection {
    kc__loop_task task;
    kc__shard *shard;
    int fd;
    struct sockaddr_storage from;
    kc__tls *tls;
} accepted_connection;

static void take_in(kc__shard *shard, int fd, const struct sockaddr_storage *from, kc__tls *tls)
{
    if (!kc__transport_start(&shard->context, fd, from, tls)) {
        kc__shard_unreserve(shard);
        return;
    }
    kc_counter_inc(shard->group->accepted);
    kc_gauge_inc(shard->group->connections);
}

static void arrive(kc__loop_task *task)
{
    accepted_connection *h = kc_container_of(task, accepted_connection, task);
    if (h->shard->context.draining) {
        close(h->fd);
        kc__shard_unreserve(h->shard);
    } else {
        take_in(h->shard, h->fd, &h->from, h->tls);
    }
    free(h);
}

void kc__shard_accept(kc__shard *shard, int fd, const struct sockaddr_storage *from, kc__tls *tls)
{
    if (kc__loop_is_current(shard->context.loop)) {
        take_in(shard, fd, from, tls);
        return;
    }
    accepted_connection *h = kc_new(accepted_connection);
    *h = (accepted_connection){
        .task.run = arrive, .shard = shard, .fd = fd, .from = *from, .tls = tls};
    kc__loop_post(shard->context.loop, &h->task);
}

/* ---- tasks ---- */

static void retire_shard(kc__loop_task *task)
{
    kc__transport_context_retire(&kc_container_of(task, kc__shard, retire)->context);
}

static void drain_shard(kc__loop_task *task)
{
    kc__transport_context_drain(&kc_container_of(task, kc__shard, drain)->context);
}

static void abort_all(kc__loop_task *task)
{
    kc__transport_context_abort(&kc_container_of(task, kc__shard, abort)->context);
}

static void evict(kc__loop_task *task)
{
    kc__shard *shard = kc_container_of(task, kc__shard, evict);
    kc__shard_group_evict_local(shard->group, &shard->context);
}

void kc__shard_retire(kc__shard *shard)
{
    kc__loop_post(shard->context.loop, &shard->retire);
}

void kc__shard_drain(kc__shard *shard)
{
    kc__loop_post(shard->context.loop, &shard->drain);
}

void kc__shard_abort(kc__shard *shard)
{
    kc__loop_post(shard->context.loop, &shard->abort);
}

void kc__shard_post_evict(kc__shard *shard)
{
    kc__loop_post(shard->context.loop, &shard->evict);
}

/* ---- construction and destruction ---- */

kc__shard *kc__shard_new(const kc__transport_context *context, kc__shard_group *group)
{
    kc__shard *shard = kc_new(kc__shard);
    shard->context = *context;
    shard->context.buf = kc_alloc(KC__TRANSPORT_READ_SIZE);
    shard->context.record = kc_alloc(KC__TLS_RECORD);
    shard->context.closed = on_closed;
    shard->context.freed = on_freed;
    kc_dlist_init(&shard->context.transports);
    kc_dlist_init(&shard->context.unauthenticated);
    shard->group = group;
    shard->retire.run = retire_shard;
    shard->drain.run = drain_shard;
    shard->abort.run = abort_all;
    shard->evict.run = evict;
    return shard;
}

kc__shard *kc__shard_free(kc__shard *shard)
{
    if (!shard)
        return NULL;
    free(shard->context.buf);
    free(shard->context.record);
    kc_buf_done(&shard->context.spare);
    free(shard);
    return NULL;
}
