/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deployment.h: the parts of the controller of deployments, and what they hand each other.
 *
 *     deployment.c    when which deployment is looked at, and what kind of look it gets
 *     sets.c          its replica sets: listed, claimed, old ones and the current one
 *     current.c       the set of the current template: found or made, its revision kept
 *     annotations.c   what sets and deployments have noted: revisions, sizes
 *     limits.c        how many pods there may be, and how many must be
 *     resize.c        one set made larger or smaller; all of them in proportion
 *     rolling.c       new pods in place of old ones, some at a time
 *     recreate.c      first all old pods go, then new ones come
 *     rollback.c      back to a revision that an annotation names
 *     cleanup.c       sets of old revisions that are kept no longer
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

typedef KC_VEC(kc_replica_set *) kc__sets;

/* One look at a deployment. Structs of sets and of the deployment are as the server keeps them,
 * also after this call has written them; but for what is `untold`. */
typedef struct kc__rollout {
    kc_context *ctx;
    kc_deployment *d;
    kc_selector *selector;
    char *template;          /* In canonical text (common/template.h). */
    kc__sets sets;           /* All that are its own, oldest first. */
    kc__sets old;            /* Those of other templates, oldest first. Borrowed. */
    kc_replica_set *current; /* That of the template; NULL: there is none. Borrowed. */
    bool untold;             /* d's status or annotations say more than the server's: it is written
                              * with the counters, in one, at the end of the look. */
} kc__rollout;

/* What the deployment wants. */
int32_t kc__rollout_wanted(const kc__rollout *r);
static inline int32_t kc__set_size(const kc_replica_set *set)
{
    return set->spec.replicas ? *set->spec.replicas : 1;
}

/* ---- sets.c ---- */

/* Sets `sets`, `old` and `current`. */
int kc__rollout_find_sets(kc__rollout *r, kc_error *err);
/* Takes a set that was just made as the current one. */
void kc__rollout_add_current(kc__rollout *r, kc_replica_set *set);
/* Sums over all sets: what they should have, have, have ready, have available. */
int32_t kc__sets_size(const kc__sets *sets);
int32_t kc__rollout_sum(const kc__rollout *r, int32_t (*what)(const kc_replica_set *set));
/* Those that should have pods; the caller frees the array. */
kc__sets kc__rollout_active(const kc__rollout *r, bool with_current);
/* For qsort, over kc_replica_set *: older first. */
int kc__sets_by_age(const void *a, const void *b);

/* ---- annotations.c ---- */

#define KC__REVISION "deployment.kubernetes.io/revision"
#define KC__ROLLBACK "deprecated.deployment.rollback.to"

/* NULL when there is none. */
const char *kc__notes_get(const kc_string_map *annotations, const char *key);
/* True if it was not so before. In `arena`. */
bool kc__notes_put(kc_string_map *annotations, const char *key, const char *value, kc_arena *arena);
void kc__notes_remove(kc_string_map *annotations, const char *key);
/* Whether a set, or a deployment, takes it over from the other. */
bool kc__notes_are_copied(const char *key);
/* A set's revision: 0 when it says none, false when it says nonsense. */
bool kc__set_revision(const kc_replica_set *set, int64_t *ret);
int64_t kc__sets_revision(const kc__sets *sets);
/* What a set notes of the deployment when it is its current one; with a revision greater than its
 * own it gets that, and its own becomes history. True if something changed. */
bool kc__set_note_revision(const kc__rollout *r, kc_replica_set *set, int64_t revision);
/* The sizes of the deployment when the set was last resized: what to scale it by. */
bool kc__set_note_sizes(const kc__rollout *r, kc_replica_set *set);
/* False when none is noted. */
bool kc__set_noted_wanted(const kc_replica_set *set, int32_t *ret);
bool kc__set_noted_most(const kc_replica_set *set, int32_t *ret);

/* ---- limits.c ---- */

bool kc__rollout_is_rolling(const kc__rollout *r);
/* Pods beyond what is wanted; pods that may be missing. */
int32_t kc__rollout_surge(const kc__rollout *r);
int32_t kc__rollout_missing(const kc__rollout *r);
/* How large the current set (or one that is to be made) may be now. */
int32_t kc__rollout_new_size(const kc__rollout *r);

/* ---- current.c ---- */

/* Keeps the revision of the current set and of the deployment; with `make` a set is made where
 * there is none. What the deployment has to say of it may be left untold. */
int kc__rollout_sync_current(kc__rollout *r, bool make, kc_error *err);

/* ---- resize.c ---- */

/* Writes it if the size or what it notes changes. *ret_resized (may be NULL): the size did. */
int kc__rollout_resize(kc__rollout *r, kc_replica_set *set, int32_t size, bool *ret_resized,
                       kc_error *err);
/* The same unless the size is right already, whatever it notes. */
int kc__rollout_resize_if(kc__rollout *r, kc_replica_set *set, int32_t size, bool *ret_resized,
                          kc_error *err);
/* Whether the deployment was scaled since its sets were. */
bool kc__rollout_was_scaled(const kc__rollout *r);
/* All sets in proportion to what the deployment wants now. */
int kc__rollout_scale(kc__rollout *r, kc_error *err);

/* ---- strategies ---- */

int kc__rollout_roll(kc__rollout *r, kc_error *err);
int kc__rollout_recreate(kc__rollout *r, kc_error *err);
/* Whether somebody asked for a rollback; 0: to the revision before. */
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
/* Writes d->status, with d's annotations. */
int kc__rollout_write_status(kc__rollout *r, kc_error *err);
/* The same if something is untold. */
int kc__rollout_tell(kc__rollout *r, kc_error *err);
/* Counters, and whether enough is available. */
int kc__rollout_sync_status(kc__rollout *r, kc_error *err);
/* And how the roll-out is getting on. */
int kc__rollout_sync_progress(kc__rollout *r, kc_error *err);
bool kc__rollout_is_complete(const kc_deployment *d, const kc_deployment_status *status);
/* When to look whether the roll-out has stuck, though nothing happens; 0: never. */
int64_t kc__rollout_next_look(const kc__rollout *r);

#endif
