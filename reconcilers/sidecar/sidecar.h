/* SPDX-License-Identifier: Apache-2.0 */
/* sidecar.h: what the parts of the injector share: sidecar.c sets it up, existing.c is its
 * controller, hook.c its hook, configuration.c what the API server knows of that. */
#ifndef SIDECAR_H
#define SIDECAR_H

#include "sidecar/inject.h"

#include "kc/app.h"
#include "kc/kinds.h"
#include "kc/rate_limit.h"
#include "kc/webhook.h"

/* Constant once it is set up, but for what is the keeper's: any thread. */
typedef struct injector {
    kc_manager *manager;
    kc_key config;            /* The ConfigMap of namespaces that have none of that name. */
    kc_selector *rule;        /* NULL: none. */
    kc_informer *pods, *maps; /* To know whether they are there yet. */

    kc_webhook_server *hooks; /* NULL: none. */
    const char *address;      /* Where it listens: "127.0.0.1:9444". */
    const char *url;          /* How it is reached; "": there. */

    /* Of the configuration's keeper, which is one thread. */
    kc_limiter *patience; /* With others who write it too. */
    int64_t not_before;   /* It is left as it is until then. */
    _Atomic bool written; /* Any thread: it has said where the hook is. */
} injector;

/*
 * The sidecars of pods of a namespace: by its own ConfigMap, else by that of the setting. NULL with
 * KC_NOT_FOUND when there is none, with KC_INVALID when there is no sense in it, which an event of
 * the ConfigMap then tells (`recorder` may be NULL: not told).
 */
sidecars *sidecars_for(const injector *in, kc_client *client, kc_recorder *recorder, kc_str ns,
                       kc_error *err);

/* Adds the controller of pods that are there already. */
int sidecar_watch_existing(injector *in, kc_error *err);

/* Serves the hook at its address, at this path. */
#define SIDECAR_PATH "/mutate--v1-pod"
int sidecar_serve(injector *in, kc_error *err);

/* Keeps the MutatingWebhookConfiguration that sends the API server to the hook. */
#define SIDECAR_CONFIGURATION "sidecar-injector"
int sidecar_keep_configuration(injector *in, kc_error *err);
/* The names that the hook's certificate has to have: at most three, and NULL. The strings are the
 * arena's. KC_INVALID when the settings do not say how to reach it. */
int sidecar_host_names(const injector *in, kc_arena *arena, const char *ret[4], kc_error *err);

#endif
