/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replica_set.h: the parts of the controller of replica sets, and what they hand each other.
 *
 *     replica_set.c   when which set is looked at, and the call from reading to writing
 *     replicas.c      the pods of a set: listed, adopted and released
 *     doubts.c        sets of which a write may or may not have been carried out
 *     scale.c         pods made and deleted
 *     rank.c          which pods go first
 *     status.c        what is said of it
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

/* ---- doubts.c ---- */

typedef struct kc__doubts {
    kc_mutex mutex; /* Guards `keys`. Taken last. */
    kc_map keys;    /* Of sets, as text; each value is its own key, allocated. */
} kc__doubts;

void kc__doubts_init(kc__doubts *doubts);
void kc__doubts_done(kc__doubts *doubts);
bool kc__doubts_has(kc__doubts *doubts, kc_key set);
void kc__doubts_put(kc__doubts *doubts, kc_key set);
void kc__doubts_remove(kc__doubts *doubts, kc_key set);
/* Whether a write that failed so may have been carried out nevertheless. */
bool kc__rs_is_doubtful(const kc_error *err);

/* ---- the controller ---- */

typedef struct kc__rs_controller {
    kc_cache *cache;
    kc_informer *sets; /* To know whether they are there yet. */
    kc__doubts doubts;
    kc_histogram *age_ratio;
} kc__rs_controller;

/* ---- replicas.c ---- */

/* A pod of a set. */
typedef struct kc__replica {
    const kc_object *pod; /* The list's. */
    kc__pod_state state;
} kc__replica;

/* One look at a set. */
typedef struct kc__rs_call {
    kc_context *ctx;
    kc__rs_controller *controller;
    const kc_object *object;
    kc_replica_set *rs;
    int32_t wanted;    /* Replicas. */
    int64_t min_ready; /* Nanoseconds. */
    kc_selector *selector;
    kc_objects pods;     /* All that may concern it. */
    kc__replica *active; /* Its replicas. */
    size_t n_active;
    atomic_size_t n_changed; /* Pods made or deleted by this call: they cause another one. */
} kc__rs_call;

/* Lists pods, adopts and releases; sets `pods` and `active`. */
int kc__rs_find_replicas(kc__rs_call *call, kc_error *err);

/* ---- scale.c ---- */

/* As many pods are made or deleted as are missing or too many, at most KC__RS_BURST. *ret_more:
 * there are more to do. */
enum { KC__RS_BURST = 500 };
int kc__rs_scale(kc__rs_call *call, bool *ret_more, kc_error *err);

/* ---- rank.c ---- */

/* Puts those first that should go first. */
int kc__rs_rank(kc__rs_call *call, size_t n_to_delete, kc_error *err);

/* ---- status.c ---- */

/* `failure`: what scaling failed with, or no error. Written if something has changed that cannot
 * wait for the call that comes `next`. */
int kc__rs_write_status(kc__rs_call *call, bool next, const kc_error *failure, kc_error *err);
/* How long until another replica becomes available; 0: that is not a matter of time. */
int64_t kc__rs_next_look(const kc__rs_call *call);

#endif
