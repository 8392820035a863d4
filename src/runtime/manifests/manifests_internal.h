/* SPDX-License-Identifier: Apache-2.0 */
/* manifests_internal.h: shared by the files of this folder. */
#ifndef KC_RUNTIME_MANIFESTS_INTERNAL_H
#define KC_RUNTIME_MANIFESTS_INTERNAL_H

#include "client/apply/apply_internal.h"
#include "client/apply/apply_set.h"
#include "client/apply/apply_tree.h"
#include "kc/map.h"
#include "runtime/manifests/manifests.h"

/* ---- watching (manifests_watch.c) ---- */

typedef struct kc__manifests_watch kc__manifests_watch;

/* Without inotify (limits of the system, network file systems) only the resync finds changes. */
kc__manifests_watch *kc__manifests_watch_new(const char *dir, kc_log *log, kc_error *err);
kc__manifests_watch *kc__manifests_watch_free(kc__manifests_watch *watch);

/* A sync visits the directories of the tree between begin and end; the watch adds those that are
 * new and removes those that were not visited. */
void kc__manifests_watch_begin(kc__manifests_watch *watch);
void kc__manifests_watch_visit(kc__manifests_watch *watch, const char *dir);
void kc__manifests_watch_end(kc__manifests_watch *watch);

/* True while a process writes to the file: it was modified and not closed, in the last
 * KC__MANIFESTS_WRITE_TIMEOUT. */
bool kc__manifests_watch_is_open(kc__manifests_watch *watch, const char *path, int64_t now);
#define KC__MANIFESTS_WRITE_TIMEOUT (30 * KC_SECOND)

typedef enum kc__manifests_wakeup {
    KC__MANIFESTS_STOPPED,
    KC__MANIFESTS_CHANGED,
    KC__MANIFESTS_TIMEOUT,
} kc__manifests_wakeup;

/* Blocks until a manifest changed and then none for `debounce` (at most KC__MANIFESTS_MAX_DELAY
 * after the first), until the deadline of the real clock, or until `stop` fires. */
kc__manifests_wakeup kc__manifests_watch_wait(kc__manifests_watch *watch, kc_cancel *stop,
                                              int64_t debounce, int64_t deadline);
#define KC__MANIFESTS_MAX_DELAY (2 * KC_SECOND)

/* ---- problems (manifests_problems.c) ---- */

/* Where a sync failed: the label of kc_manifests_errors_total. */
typedef enum kc__manifests_stage {
    KC__MANIFESTS_STAGE_READ,
    KC__MANIFESTS_STAGE_PARSE,
    KC__MANIFESTS_STAGE_APPLY,
    KC__MANIFESTS_STAGE_PRUNE,
    KC__MANIFESTS_STAGES
} kc__manifests_stage;

typedef struct kc__manifests_problem {
    kc__manifests_stage stage;
    const char *message; /* With file, line and object. */
    const kc_kind *kind; /* Of the object concerned; NULL: none. */
    kc_key key;
} kc__manifests_problem;

/* The problems of the last sync, by the hash of their message. */
typedef struct kc__manifests_problems {
    kc_map known; /* The text of the hash to a size_t, the number of the last sync that had it. */
    size_t sync;
    size_t n;     /* In this sync. */
    size_t fresh; /* Of them new. */
} kc__manifests_problems;

void kc__manifests_problems_done(kc__manifests_problems *problems);
void kc__manifests_problems_begin(kc__manifests *m);
/* Counts a problem. The first time it is logged and recorded as Events: on the parent of the apply
 * set, and on the object concerned if that exists. */
void kc__manifests_problem_add(kc__manifests *m, const kc__manifests_problem *problem);
/* Forgets the problems that this sync did not have. */
void kc__manifests_problems_end(kc__manifests *m);

/* ---- the instance ---- */

typedef struct kc__manifests_metrics {
    kc_counter *syncs[2]; /* Failed, succeeded. */
    kc_counter *errors[KC__MANIFESTS_STAGES];
    kc_counter *applied, *pruned;
    kc_gauge *files, *objects, *problems, *last_success;
} kc__manifests_metrics;

/* An object that was applied: an entry of kc__manifests.objects. */
typedef struct kc__manifests_object {
    char *id;            /* kc__manifests_id */
    uint64_t hash;       /* Of the text that was applied. 0: not applied yet, or failed. */
    char *uid, *version; /* As the server returned it. */
    size_t sync;         /* The last sync whose directory had it. */
} kc__manifests_object;

void kc__manifests_object_free(kc__manifests_object *object);

struct kc__manifests {
    kc__manifests_opts opts;
    char *dir; /* Without slashes at the end. */
    kc__apply_set *set;
    kc__manifests_watch *watch; /* NULL: kc__manifests_run was not called. */
    kc__manifests_problems problems;
    kc__manifests_metrics metrics;
    kc_map objects;    /* id to kc__manifests_object. */
    size_t sync;       /* Number of the current sync. */
    kc_client *client; /* Of the current sync; cancelled by `stop`. */
    kc_cancel *stop;
    bool had_files; /* A former sync found files in the directory of `device` and `inode`. */
    dev_t device;
    ino_t inode;
    bool retry; /* The last sync failed in a way that another attempt may solve. */
    bool busy;  /* A file was being written. */
};

/* ---- one sync ---- */

typedef struct kc__manifests_work {
    kc__manifests *m;
    kc__manifests_summary *summary;
    kc__apply_tree tree;
    kc__apply_items items;
    kc_map defined; /* id to the position of its item, plus one. */
    kc__apply_members members;
    kc_map versions; /* uid to the kc_object of a member. */
    bool complete;   /* The items are all that the directory defines. */
    size_t bytes;    /* Of all files. */
} kc__manifests_work;

/* Appends the identity of an object in the directory: "Deployment.apps default web". */
void kc__manifests_id(const kc__manifests *m, kc_buf *out, kc_gvk gvk, kc_key key);
bool kc__manifests_is_cancelled(const kc__manifests_work *w);

/* Count a problem and make the work incomplete. `path` may be NULL: the message names the file. */
void kc__manifests_file_problem(kc__manifests_work *w, kc__manifests_stage stage, const char *path,
                                const kc_error *why);
void kc__manifests_object_problem(kc__manifests_work *w, kc__manifests_stage stage,
                                  const kc_apply_failure *failure);

/* Reads all manifests into `items`. Negative beyond a limit, or when the directory cannot be read.
 */
int kc__manifests_read(kc__manifests_work *w, kc_error *err);
/* Fills `defined`; drops the later ones of equal objects. */
void kc__manifests_index(kc__manifests_work *w);
/* Adds the kinds and namespaces of the items. */
void kc__manifests_scope(const kc__manifests_work *w, kc__apply_scope *scope);

/* Deletes the members that the directory lacks, if the work is complete. */
void kc__manifests_prune(kc__manifests_work *w);

#endif
