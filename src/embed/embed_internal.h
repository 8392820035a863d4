/* SPDX-License-Identifier: Apache-2.0 */
/* embed_internal.h: declarations that the embedded server and its transports share. */
#ifndef KC_EMBED_INTERNAL_H
#define KC_EMBED_INTERNAL_H

#include "apiserver/apiserver.h"
#include "apiserver/request/phases.h"
#include "kc/embedded_server.h"
#include "kc/ref.h"
#include "kc/thread.h"

/*
 * The door of a server: it admits requests while it is open, and closing it waits until the last
 * one has left. The server and each transport hold a reference; transports may outlive the server.
 */
typedef struct kc__embed_door {
    kc_ref refs;
    const kc_clock *clock;
    /* Guards the fields below. Only the mutex of a carried exchange is taken under it. */
    kc_mutex mutex;
    kc_cond empty;     /* Signalled when no request is inside. */
    kc__rest_api *api; /* NULL if closed. */
    kc_dlist inside;   /* kc__embed_guest: requests that the server has not finished. */
    size_t next;       /* Next loop, round-robin. */
} kc__embed_door;

kc__embed_door *kc__embed_door_new(const kc_clock *clock);
kc__embed_door *kc__embed_door_ref(kc__embed_door *door);
kc__embed_door *kc__embed_door_unref(kc__embed_door *door);
KC_AUTO_DEFINE(kc__embed_door, kc__embed_door_unref)

/* A request, embedded in its carrier. Both callbacks run with the door's mutex held. */
typedef struct kc__embed_guest {
    void (*enter)(struct kc__embed_guest *guest, kc__rest_api *api, kc__loop *loop);
    void (*leave)(struct kc__embed_guest *guest); /* The server stops: end the request soon. */
    kc_dlist_link link;
} kc__embed_guest;

/* Returns false, without an effect, if the door is closed. */
bool kc__embed_door_enter(kc__embed_door *door, kc__embed_guest *guest);
void kc__embed_door_leave(kc__embed_door *door, kc__embed_guest *guest);
/* Admits no more requests, cancels those in flight, and returns when all have left. */
void kc__embed_door_close(kc__embed_door *door);

kc_transport *kc__embed_transport_new(kc__embed_door *door, const kc_embedded_server_user *user);

/* A random number generator for one of its clients. */
kc_rand kc__embed_rand(kc_embedded_server *embed);

#endif
