/* SPDX-License-Identifier: Apache-2.0 */
/* sidecar.h: shared by the parts of the injector: sidecar.c sets it up, existing.c is its
 * controller, hook.c its webhook, configuration.c registers the webhook. */
#ifndef SIDECAR_H
#define SIDECAR_H

#include "sidecar/inject.h"

#include "kc/app.h"
#include "kc/kinds.h"
#include "kc/rate_limit.h"
#include "kc/webhook.h"

/* Constant after setup, except for the fields of the maintainer thread: thread-safe. */
typedef struct injector {
    kc_manager *manager;
    kc_key config;            /* The ConfigMap for namespaces without one of that name. */
    kc_selector *rule;        /* NULL: none. */
    kc_informer *pods, *maps; /* For waiting until the caches have synced. */

    kc_webhook_server *hooks; /* NULL: none. */
    const char *address;      /* Listen address: "127.0.0.1:9444". */
    const char *url;          /* URL; "": the listen address. */

    /* Used only by the thread that maintains the configuration. */
    kc_rate_limiter *write_limiter; /* Conflicts with other writers. */
    int64_t not_before;             /* No write before this time. */
    _Atomic bool written;           /* Thread-safe: the configuration has been written. */
} injector;

/*
 * The sidecars for pods of a namespace: from its own ConfigMap, else from that of the setting. NULL
 * with KC_NOT_FOUND if there is none, with KC_INVALID if it is invalid, which an event of the
 * ConfigMap reports (`recorder` may be NULL: no event).
 */
sidecars *sidecars_for(const injector *in, kc_client *client, kc_recorder *recorder, kc_str ns,
                       kc_error *err);

/* Adds the controller of existing pods. */
int sidecar_watch_existing(injector *in, kc_error *err);

/* Serves the webhook at its address and path. */
#define SIDECAR_PATH "/mutate--v1-pod"
int sidecar_serve(injector *in, kc_error *err);

/* Maintains the MutatingWebhookConfiguration. */
#define SIDECAR_CONFIGURATION "sidecar-injector"
int sidecar_keep_configuration(injector *in, kc_error *err);
/* The DNS names of the hook's certificate: at most three, and NULL. The strings are the arena's.
 * KC_INVALID if the settings do not say how to reach the hook. */
int sidecar_host_names(const injector *in, kc_arena *arena, const char *ret[4], kc_error *err);

#endif
