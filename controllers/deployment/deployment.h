/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deployment.h: the files of the Deployment controller and the types they share.
 *
 *     deployment.c    the reconciler and its watches
 *     sets.c          the ReplicaSets of a Deployment: listed, claimed, old and current
 *     current.c       finds or creates the ReplicaSet of the current template; its revision
 *     annotations.c   annotations of ReplicaSets and Deployments: revisions, sizes
 *     limits.c        maxSurge and maxUnavailable
 *     resize.c        scales one ReplicaSet, or all in proportion
 *     rolling.c       strategy RollingUpdate
 *     recreate.c      strategy Recreate
 *     rollback.c      rollback to a revision that an annotation names
 *     cleanup.c       deletes ReplicaSets of old revisions
 *     status.c        counters and conditions
 */
#ifndef KC_CONTROLLERS_DEPLOYMENT_H
#define KC_CONTROLLERS_DEPLOYMENT_H

#include "api/apps_v1/zz_generated.h"

#include "kc/kinds.h"
#include "kc/reconcile.h"
#include "kc/recorder.h"
#include "kc/selector.h"
#include "kc/vec.h"

typedef KC_VEC(kc_replica_set *) kc__rollout_sets;

/* The state of one reconcile. The structs of the Deployment and its ReplicaSets are as the server
 * has them, also after this call has written them; except for changes marked by `status_pending`.
 */
typedef struct kc__rollout {
    kc_context *ctx;
    kc_deployment *d;
    kc_selector *selector;
    char *template;          /* As canonical text (common/template.h). */
    kc__rollout_sets sets;   /* All ReplicaSets that the Deployment controls, oldest first. */
    kc__rollout_sets old;    /* ReplicaSets of other templates, oldest first. Borrowed. */
    kc_replica_set *current; /* The ReplicaSet of the current template; NULL: none. Borrowed. */
    bool status_pending;     /* d's status or annotations are newer than the server's: they are
                              * written with the counters, in one write at the end of the
                              * reconcile. */
} kc__rollout;

/* spec.replicas. */
int32_t kc__rollout_desired(const kc__rollout *r);
static inline int32_t kc__rollout_set_size(const kc_replica_set *set)
{
    return set->spec.replicas ? *set->spec.replicas : 1;
}

/* ---- sets.c ---- */

/* Sets `sets`, `old` and `current`. */
int kc__rollout_find_sets(kc__rollout *r, kc_error *err);
/* Makes a ReplicaSet that was just created the current one. */
void kc__rollout_add_current(kc__rollout *r, kc_replica_set *set);
/* Sums over all ReplicaSets: desired, existing, ready and available replicas. */
int32_t kc__rollout_sets_size(const kc__rollout_sets *sets);
int32_t kc__rollout_sum(const kc__rollout *r, int32_t (*what)(const kc_replica_set *set));
/* ReplicaSets with spec.replicas above 0; the caller frees the array. */
kc__rollout_sets kc__rollout_active(const kc__rollout *r, bool with_current);
/* For qsort over kc_replica_set *: older first. */
int kc__rollout_sets_by_age(const void *a, const void *b);

/* ---- annotations.c ---- */

#define KC__ROLLOUT_REVISION "deployment.kubernetes.io/revision"
#define KC__ROLLOUT_ROLLBACK "deprecated.deployment.rollback.to"

/* NULL if there is none. */
const char *kc__rollout_annotation_get(const kc_string_map *annotations, const char *key);
/* Returns true if the value changed. Allocates from `arena`. */
bool kc__rollout_annotation_put(kc_string_map *annotations, const char *key, const char *value,
                                kc_arena *arena);
void kc__rollout_annotation_remove(kc_string_map *annotations, const char *key);
/* Whether ReplicaSets and Deployments copy this annotation from each other. */
bool kc__rollout_annotation_is_copied(const char *key);
/* The revision of a ReplicaSet: 0 if it has none; returns false if it is invalid. */
bool kc__rollout_set_revision(const kc_replica_set *set, int64_t *ret);
int64_t kc__rollout_sets_revision(const kc__rollout_sets *sets);
/* Updates the annotations of the current ReplicaSet from the Deployment. A revision greater than
 * its own replaces that, which moves to the history. True if something changed. */
bool kc__rollout_set_annotate_revision(const kc__rollout *r, kc_replica_set *set, int64_t revision);
/* The sizes of the Deployment when the ReplicaSet was last resized; the base of proportional
 * scaling. */
bool kc__rollout_set_annotate_sizes(const kc__rollout *r, kc_replica_set *set);
/* False if the ReplicaSet has no such annotations. */
bool kc__rollout_set_annotated_desired(const kc_replica_set *set, int32_t *ret);
bool kc__rollout_set_annotated_max(const kc_replica_set *set, int32_t *ret);

/* ---- limits.c ---- */

bool kc__rollout_is_rolling(const kc__rollout *r);
/* maxSurge and maxUnavailable in pods. */
int32_t kc__rollout_surge(const kc__rollout *r);
int32_t kc__rollout_missing(const kc__rollout *r);
/* The size that the current ReplicaSet, or the one to be created, may have now. */
int32_t kc__rollout_new_size(const kc__rollout *r);

/* ---- current.c ---- */

/* Updates the revisions of the current ReplicaSet and of the Deployment; with `make` creates the
 * ReplicaSet if it does not exist. Changes of the Deployment may be left `status_pending`. */
int kc__rollout_sync_current(kc__rollout *r, bool make, kc_error *err);

/* ---- resize.c ---- */

/* Writes the ReplicaSet if its size or its annotations change. *ret_resized (may be NULL): the size
 * changed. */
int kc__rollout_resize(kc__rollout *r, kc_replica_set *set, int32_t size, bool *ret_resized,
                       kc_error *err);
/* The same, but does nothing if the size is right already. */
int kc__rollout_resize_if(kc__rollout *r, kc_replica_set *set, int32_t size, bool *ret_resized,
                          kc_error *err);
/* Whether the Deployment was scaled after its ReplicaSets were. */
bool kc__rollout_was_scaled(const kc__rollout *r);
/* Scales all ReplicaSets in proportion to the Deployment's size. */
int kc__rollout_scale(kc__rollout *r, kc_error *err);

/* ---- strategies ---- */

int kc__rollout_roll(kc__rollout *r, kc_error *err);
int kc__rollout_recreate(kc__rollout *r, kc_error *err);
/* Whether the rollback annotation is set; 0: to the previous revision. */
bool kc__rollout_back_to(const kc__rollout *r, int64_t *ret_revision);
int kc__rollout_back(kc__rollout *r, int64_t revision, kc_error *err);

/* ---- cleanup.c ---- */

int kc__rollout_clean_up(kc__rollout *r, kc_error *err);

/* ---- status.c ---- */

bool kc__rollout_has_deadline(const kc_deployment *d);
kc_workload_condition *kc__rollout_progress(const kc_deployment *d);
/* Sets the condition Progressing in d->status. */
void kc__rollout_set_progress(kc__rollout *r, const char *status, const char *reason,
                              const char *fmt, ...) KC_PRINTF(4, 5);
/* Writes d->status and d's annotations. */
int kc__rollout_write_status(kc__rollout *r, kc_error *err);
/* The same, only if `status_pending` is set. */
int kc__rollout_record_event(kc__rollout *r, kc_error *err);
/* Sets counters and the condition Available. */
int kc__rollout_sync_status(kc__rollout *r, kc_error *err);
/* Also sets the condition Progressing. */
int kc__rollout_sync_progress(kc__rollout *r, kc_error *err);
bool kc__rollout_is_complete(const kc_deployment *d, const kc_deployment_status *status);
/* Time until the progress deadline must be checked without a change; 0: never. */
int64_t kc__rollout_requeue_after(const kc__rollout *r);

#endif
