/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replica_set.h: the files of the ReplicaSet controller and the types they share.
 *
 *     replica_set.c     the reconciler and its watches
 *     replicas.c        the pods of a ReplicaSet: listed, adopted and released
 *     expectations.c    ReplicaSets with a write of unknown outcome
 *     scale.c           creates and deletes pods
 *     rank.c            the order of deletion
 *     status.c          status and conditions
 */
#ifndef KC_REPLICA_SET_H
#define KC_REPLICA_SET_H

#include "api/apps_v1/zz_generated.h"
#include "common/pod_state.h"

#include "kc/kinds.h"
#include "kc/map.h"
#include "kc/metrics.h"
#include "kc/reconcile.h"
#include "kc/recorder.h"
#include "kc/selector.h"
#include "kc/thread.h"

/* ---- expectations.c ---- */

typedef struct kc__rs_expectations {
    kc_mutex mutex; /* Guards `keys`. Taken last. */
    kc_map keys;    /* Keys of ReplicaSets as text; each value is its own key, allocated. */
} kc__rs_expectations;

void kc__rs_expectations_init(kc__rs_expectations *expectations);
void kc__rs_expectations_done(kc__rs_expectations *expectations);
bool kc__rs_expectations_has(kc__rs_expectations *expectations, kc_key set);
void kc__rs_expectations_put(kc__rs_expectations *expectations, kc_key set);
void kc__rs_expectations_remove(kc__rs_expectations *expectations, kc_key set);
/* Whether a write that failed with this error may have been executed. */
bool kc__rs_has_expectations(const kc_error *err);

/* ---- the controller ---- */

typedef struct kc__rs_controller {
    kc_cache *cache;
    kc_informer *sets; /* For waiting until the caches have synced. */
    kc__rs_expectations expectations;
    kc_histogram *age_ratio;
} kc__rs_controller;

/* ---- replicas.c ---- */

/* A pod of a set. */
typedef struct kc__rs_replica {
    const kc_object *pod; /* Owned by the list. */
    kc__common_pod_state state;
} kc__rs_replica;

/* The state of one reconcile. */
typedef struct kc__rs_call {
    kc_context *ctx;
    kc__rs_controller *controller;
    const kc_object *object;
    kc_replica_set *rs;
    int32_t wanted;    /* spec.replicas. */
    int64_t min_ready; /* Nanoseconds. */
    kc_selector *selector;
    kc_object_list pods;    /* All candidates. */
    kc__rs_replica *active; /* The pods that count as replicas. */
    size_t n_active;
    atomic_size_t n_changed; /* Pods created or deleted by this call: their events cause another
                              * one. */
} kc__rs_call;

/* Lists, adopts and releases pods; sets `pods` and `active`. */
int kc__rs_find_replicas(kc__rs_call *call, kc_error *err);

/* ---- scale.c ---- */

/* Creates missing or deletes surplus pods, at most KC__RS_BURST. *ret_more: there are more to
 * do. */
enum { KC__RS_BURST = 500 };
int kc__rs_scale(kc__rs_call *call, bool *ret_more, kc_error *err);

/* ---- rank.c ---- */

/* Sorts the pods to delete first to the front. */
int kc__rs_rank(kc__rs_call *call, size_t n_to_delete, kc_error *err);

/* ---- status.c ---- */

/* `failure`: the error of scaling, or no error. Writes the status unless the change can wait for
 * the call that comes `next`. */
int kc__rs_write_status(kc__rs_call *call, bool next, const kc_error *failure, kc_error *err);
/* Time until another replica becomes available; 0 if waiting does not make one available. */
int64_t kc__rs_requeue_after(const kc__rs_call *call);

#endif
