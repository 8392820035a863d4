/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugins.h: the interface of admission plugins. admission/plugins.c, above the folders of plugins,
 * has the table of plugins and describes how to add one; admission.h runs it.
 */
#ifndef KC_APISERVER_PLUGINS_H
#define KC_APISERVER_PLUGINS_H

#include "apiserver/call/call.h"

/*
 * Each function is a phase function: KC__REST_NEXT continues, KC__REST_FAIL rejects the request.
 * All may be NULL. A function that waits (`waits`) may return KC__REST_PENDING or KC__REST_ON_LOOP,
 * and is then called again until it returns another verdict; it keeps its state in the call. A
 * function that turns out to be expensive may return KC__REST_ON_WORKER, and starts over there.
 */
typedef struct kc__admission_plugin {
    const char *name;    /* That of Kubernetes, unless `builtin`. */
    bool builtin;        /* A part of this server: always runs, and flags cannot name it. */
    bool off_by_default; /* Runs only if --enable-admission-plugins names it. */
    /* Phase `mutated`: may edit call->draft. Runs again after a mutating webhook has changed the
     * draft, unless the plugin waits. */
    kc__rest_phase_fn *mutate;
    /* Phase `proposed` of a request whose body replaces the object (a Binding, an Eviction, a
     * TokenRequest): may change or reject call->subresource_body. May run several times. Must not
     * wait. */
    kc__rest_phase_fn *admit_body;
    /* The deletion of one object of a collection: may reject it. Must not wait. */
    kc__rest_verdict (*admit_deletion)(kc__rest_call *call, const kc_object *object);
    /* Phase `prepared`, after the object has its name: chooses values that must be unique among
     * objects, and writes them to call->draft. Runs again after a conflict. Must not wait. */
    kc__rest_phase_fn *allocate;
    /* Phase `admitted`: may reject call->proposed, which is valid. Must not change it. */
    kc__rest_phase_fn *validate;
    /* The request has ended, stored or not: frees what the plugin keeps for it. Called for every
     * write. */
    void (*release)(kc__rest_call *call);
    bool waits;
} kc__admission_plugin;

extern const kc__admission_plugin kc__admission_plugins[]; /* In execution order. */
extern const size_t kc__admission_n_plugins;               /* At most 64 (plugin_selection.h). */

#endif
