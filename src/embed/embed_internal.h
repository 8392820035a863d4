/* SPDX-License-Identifier: Apache-2.0 */
/* embed_internal.h: what a server in this process and the ways to it share. */
#ifndef KC_EMBED_INTERNAL_H
#define KC_EMBED_INTERNAL_H

#include "apiserver/apiserver.h"
#include "apiserver/rest/call.h"
#include "kc/embed.h"
#include "kc/ref.h"
#include "kc/thread.h"

/*
 * The door of a server: requests go in while it is open, and stop waits until the last is out. It
 * is counted by the server and by each transport, which may stay longer.
 */
typedef struct kc__door {
    kc_ref refs;
    const kc_clock *clock;
    kc_mutex mutex; /* Guards what follows. Under it only that of a carried exchange is taken. */
    kc_cond empty;  /* Nobody is inside. */
    kc__api *api;   /* NULL: closed. */
    kc_list inside; /* Of kc__guest: what the server has not done with. */
    size_t next;    /* Of the loops: they take turns. */
} kc__door;

kc__door *kc__door_new(const kc_clock *clock);
kc__door *kc__door_ref(kc__door *door);
kc__door *kc__door_unref(kc__door *door);
KC_AUTO_DEFINE(kc__door, kc__door_unref)

/* A request; lives inside its carrier. Both are called with the door's mutex held. */
typedef struct kc__guest {
    void (*enter)(struct kc__guest *guest, kc__api *api, kc__loop *loop);
    void (*leave)(struct kc__guest *guest); /* The server stops: be quick. */
    kc_link link;
} kc__guest;

/* False, and nothing happens, when it is closed. */
bool kc__door_enter(kc__door *door, kc__guest *guest);
void kc__door_leave(kc__door *door, kc__guest *guest);
/* Lets no request in any more; what is under way is ended; returns when all are out. */
void kc__door_close(kc__door *door);

kc_transport *kc__embed_transport_new(kc__door *door, const kc_embed_user *user);

/* A generator for one of its clients. */
kc_rand kc__embed_rand(kc_embed *embed);

#endif
