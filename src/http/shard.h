/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard.h: the part of a server that one loop runs: its listening sockets and its connections.
 */
#ifndef KC_HTTP_SHARD_H
#define KC_HTTP_SHARD_H

#include "http/server.h"
#include "http/transport.h"
#include "kc/thread.h"

typedef struct kc__shard kc__shard;

/* What the loops of a server share. */
typedef struct kc__tally {
    kc_mutex mutex; /* Guards what follows; nothing is locked under it. */
    kc_cond changed;
    size_t open;  /* Connections. */
    size_t alive; /* The same, and those whose exchanges are still to be answered. */
    size_t max_open;
    kc__shard **shards; /* All of the server's; constant once connections are accepted. */
    size_t n_shards;
    kc_gauge *connections;
    kc_counter *accepted;
} kc__tally;

/* A shard on `home->loop`, which is filled in but for what the shard sets: buf, the list and the
 * callbacks. It accepts nothing yet. */
kc__shard *kc__shard_new(const kc__home *home, kc__tally *tally, size_t n_listeners);
/* When its loop has stopped. */
kc__shard *kc__shard_free(kc__shard *shard);

/* Takes over a listening socket. Before kc__shard_begin. */
void kc__shard_add_listener(kc__shard *shard, int fd, kc__tls *tls);
/* From any thread, each once and in this order: */
void kc__shard_begin(kc__shard *shard);
void kc__shard_drain(kc__shard *shard);
void kc__shard_abort(kc__shard *shard);

#endif
