/* SPDX-License-Identifier: Apache-2.0 */
/* acceptor.h: accepts the connections of a server, on one loop, and passes them to its shards. */
#ifndef KC_HTTP_ACCEPTOR_H
#define KC_HTTP_ACCEPTOR_H

#include "http/server/shard.h"

/* Does not accept yet. */
kc__acceptor *kc__acceptor_new(kc__loop *loop, kc__shard_group *group, kc_log *log,
                               size_t max_listeners);
/* After its loop has stopped. NULL is allowed; returns NULL. */
kc__acceptor *kc__acceptor_free(kc__acceptor *acceptor);

/* Takes ownership of a listening socket. Before kc__acceptor_begin. */
void kc__acceptor_add(kc__acceptor *acceptor, int fd, kc__tls *tls);
/* Any thread; each is called once, in this order. After the second, group->listening becomes 0. */
void kc__acceptor_begin(kc__acceptor *acceptor);
void kc__acceptor_close(kc__acceptor *acceptor);
/* A connection was closed: there may be room. Any thread; NULL is allowed. */
void kc__acceptor_resume(kc__acceptor *acceptor);

#endif
