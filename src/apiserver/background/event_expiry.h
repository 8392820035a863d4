/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_expiry.h: deletes Events when they expire, and the oldest first when there are too many, so
 * that a client cannot fill the store with them.
 */
#ifndef KC_APISERVER_EVENT_EXPIRY_H
#define KC_APISERVER_EVENT_EXPIRY_H

#include "apiserver/call/call.h"

typedef struct kc__event_expiry kc__event_expiry;

typedef struct kc__event_expiry_limits {
    int64_t ttl;          /* Since the last write of an Event. Defaults to 1 h. */
    size_t max_namespace; /* Events of one namespace. Defaults to 20,000. */
    size_t max_total;     /* Defaults to 60,000. */
} kc__event_expiry_limits;

/* Call it when the loops run. Never NULL. */
kc__event_expiry *kc__event_expiry_start(kc__rest_api *api, const kc__event_expiry_limits *limits);
/* Call it while the loops run and the store is open. */
void kc__event_expiry_stop(kc__event_expiry *expiry);
/* Call it after the store is closed. NULL is allowed; returns NULL. */
kc__event_expiry *kc__event_expiry_free(kc__event_expiry *expiry);

/* Seconds after which a shared storage deletes an object of this cache; 0: it does not. Any loop.
 */
int64_t kc__event_expiry_ttl(const kc__event_expiry *expiry, const kc__watch_cache *cache);
/* An Event is about to be created in a namespace: false if there are too many. Any loop. */
bool kc__event_expiry_admits(kc__event_expiry *expiry, kc_str ns);

#endif
