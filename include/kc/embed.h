/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed.h: an API server in this process.
 *
 *     kc_auto(kc_embed) *server = kc_embed_start(&(kc_embed_opts){.folder = "data"}, err);
 *     kc_auto(kc_client) *client = kc_embed_client(server, err);
 *
 * The whole server, as `kc apiserver` runs it; the client's requests go to it without a socket, as
 * the administrator's unless another name is given. With listeners others can reach it too.
 */
#ifndef KC_EMBED_H
#define KC_EMBED_H

#include "kc/client.h"

typedef struct kc_embed kc_embed;

/* What a server without a folder can be started over again. */
typedef struct kc_embed_memory kc_embed_memory;
kc_embed_memory *kc_embed_memory_new(void);
/* No server runs over it. NULL is allowed; returns NULL. */
kc_embed_memory *kc_embed_memory_free(kc_embed_memory *memory);
KC_AUTO_DEFINE(kc_embed_memory, kc_embed_memory_free)

typedef struct kc_embed_opts {
    const char *folder;      /* Where it keeps its data. Defaults to memory. */
    kc_embed_memory *memory; /* Which one. Defaults to one of its own: gone with the server. */
    int port;              /* Plain HTTP on loopback, for this machine's users; 0: none, -1: any. */
    int threads;           /* Loops. Defaults to as many as processors; 1 in a simulation. */
    const kc_clock *clock; /* Defaults to the real one. */
    kc_rand *rand;         /* Defaults to the system's. */
    kc_log *log;           /* Defaults to silence. */
    kc_metrics *metrics;
} kc_embed_opts;

/* Ready when it returns. `opts` may be NULL. NULL on error. */
kc_embed *kc_embed_start(const kc_embed_opts *opts, kc_error *err);
/* Its clients are gone, or get errors from now on. NULL is allowed; returns NULL. */
kc_embed *kc_embed_stop(kc_embed *server);
KC_AUTO_DEFINE(kc_embed, kc_embed_stop)

int kc_embed_port(const kc_embed *server);
/* Who its requests come from. NULL: the administrator. */
typedef struct kc_embed_user {
    const char *name;
    const char *const *groups; /* End with NULL. */
} kc_embed_user;
/* May be used, and freed, after the server was stopped: then it answers that nobody is there. */
kc_transport *kc_embed_transport(kc_embed *server, const kc_embed_user *user);
const kc_clock *kc_embed_clock(const kc_embed *server);
/* A client over such a transport, with the server's clock. */
kc_client *kc_embed_client(kc_embed *server, kc_error *err);

#endif
