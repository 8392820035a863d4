/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_controller.h: the controller of CustomResourceDefinitions. It keeps the served resources in
 * step with the stored CRDs: it writes their status, compiles them, publishes the resources, and
 * deletes the objects of a CRD that is being deleted.
 *
 *     kc__crd_controller *c = kc__crd_controller_start(&(kc__crd_controller_opts){
 *         .store = store, .clock = clock, .log = log, .publish = publish, .user = server}, err);
 *
 * The controller does not know how resources are served: it passes the complete list of custom
 * resources to `publish`.
 */
#ifndef KC_APISERVER_CRD_CONTROLLER_H
#define KC_APISERVER_CRD_CONTROLLER_H

#include "apiserver/kinds/resource.h"
#include "apiserver/store/store.h"
#include "kc/clock.h"
#include "kc/log.h"
#include "kc/time.h"

typedef struct kc__crd_controller kc__crd_controller;

/* The custom resources to serve from now on. */
typedef struct kc__crd_publication {
    const kc__resource_set *const *sets; /* One per established CRD. */
    size_t n;
    /* A resource of the previous publication is missing or is served differently: its watches must
     * end after they have sent the events up to `revision`. */
    bool withdraws;
    uint64_t revision;
} kc__crd_publication;

/* Borrowed members must outlive the controller. All members are required, except where
 * they say so. */
typedef struct kc__crd_controller_opts {
    kc__store *store;
    const kc_clock *clock;
    kc_log *log; /* May be NULL. */
    /* Serves the resources. Runs on the controller's loop, before any client can read the status
     * that says so. 0, or negative with `err` set: the previous publication stays in effect. */
    int (*publish)(const kc__crd_publication *publication, void *user, kc_error *err);
    /* Returns the stored form of an object that finalizers keep: with a deletionTimestamp. The
     * caller drops the reference. NULL on failure. */
    kc_object *(*mark_deleted)(const kc_object *object, kc_time now);
    /* For the owners of the status (kinds/topology.h). May be NULL: it has none. */
    struct kc__resource_topology_cache *topologies;
    struct kc__crd_converter *converter; /* Of compiled CRDs (crd_conversion.h). May be NULL. */
    struct kc_metrics *metrics;          /* May be NULL. */
    bool portable; /* CRDs with the annotation KC_ANNOTATION_NOT_PORTABLE are not served. */
    void *user;
} kc__crd_controller_opts;

/* Starts the controller's event loop, and returns when all stored CRDs were published. NULL on
 * error. Blocks; not from a loop's thread. */
kc__crd_controller *kc__crd_controller_start(const kc__crd_controller_opts *opts, kc_error *err);
/* Stops new writes and publications; writes in flight may still complete. Call it while the store
 * is open. Blocks; not from a loop's thread. */
void kc__crd_controller_stop(kc__crd_controller *controller);
/* Call it after the store was closed. NULL is allowed; returns NULL. */
kc__crd_controller *kc__crd_controller_free(kc__crd_controller *controller);

#endif
