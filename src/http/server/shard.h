/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard.h: the part of a server on one loop: its connections.
 */
#ifndef KC_HTTP_SHARD_H
#define KC_HTTP_SHARD_H

#include "http/server/server.h"
#include "http/server/transport.h"
#include "kc/thread.h"

typedef struct kc__shard kc__shard;
typedef struct kc__acceptor kc__acceptor;

/* State that the loops of a server share. */
typedef struct kc__shard_group {
    kc_mutex mutex; /* Guards the fields up to the empty line; no other lock is taken while it is
                       held. */
    kc_cond changed;
    size_t open;      /* Connections. */
    size_t alive;     /* The same, plus those whose exchanges are still to be answered. */
    size_t listening; /* 1 while connections are accepted. */
    size_t evicting;  /* Shards that have not evicted yet in this round; see evict.c. */
    size_t evicted;   /* In this stage of the round. */
    size_t stage;
    size_t part; /* The round closes one of so many connections. */
    bool full;   /* The round may use all stages. */
    bool closed; /* No further round begins. */

    size_t max_open;
    kc__acceptor *acceptor; /* These three are constant once connections are accepted. */
    kc__shard **shards;
    size_t n_shards;
    kc_gauge *connections;
    kc_counter *accepted, *evicted_unauthenticated, *evicted_idle;
} kc__shard_group;

/* Creates a shard on `context->loop`. The caller fills in the context except for what the shard
 * sets: buf, record, the lists and the callbacks. */
kc__shard *kc__shard_new(const kc__transport_context *context, kc__shard_group *group);
/* After its loop has stopped. */
kc__shard *kc__shard_free(kc__shard *shard);

/* Any thread; each is called once, in this order, the first one if at all: */
void kc__shard_retire(kc__shard *shard);
void kc__shard_drain(kc__shard *shard);
void kc__shard_abort(kc__shard *shard);

/* Returns the shard for one more connection and counts the connection; NULL if the limit is
 * reached. Any thread. */
kc__shard *kc__shard_reserve(kc__shard_group *group);
/* Cancels a reservation. Any thread. */
void kc__shard_unreserve(kc__shard *shard);
/* Takes ownership of a connected socket. On the acceptor's loop, or the shard's. */
void kc__shard_accept(kc__shard *shard, int fd, const struct sockaddr_storage *from, kc__tls *tls);

/* ---- evict.c ---- */

/* Starts to close the least useful connections, about a 64th of all, unless a round is in
 * progress. While there is room (not `full`) only those that are certainly idle. Any thread;
 * does not wait. */
void kc__shard_group_evict(kc__shard_group *group, bool full);
/* The same for connections that are certainly idle, about an eighth of all: they hold memory that
 * the process is short of. Any thread; does not wait. */
void kc__shard_group_evict_idle(kc__shard_group *group);
/* No further round begins. Any thread. */
void kc__shard_group_close(kc__shard_group *group);
/* Returns whether the number of connections is close to its limit. */
bool kc__shard_group_is_tight(kc__shard_group *group);

/* For evict.c: runs kc__shard_group_evict_local on the shard's loop. */
void kc__shard_post_evict(kc__shard *shard);
/* Closes connections of this shard according to the current round. On its loop. */
void kc__shard_group_evict_local(kc__shard_group *group, kc__transport_context *context);

#endif
