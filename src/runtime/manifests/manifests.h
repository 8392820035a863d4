/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifests.h: keeps a server in step with a directory of manifests, for `kc apply-dir` and
 * `kc up --manifests`.
 *
 *     kc_auto(kc__manifests) *m = kc__manifests_new(&(kc__manifests_opts){…}, err);
 *     kc__manifests_sync(m, stop, &summary, err);                   once
 *     kc__manifests_run(m, stop, err);                              and after each change
 *
 * A sync applies the objects by server-side apply and deletes the members of the apply set
 * (client/apply/apply_set.h) that the directory lacks. It deletes nothing while a file cannot be
 * read or an object cannot be applied.
 *
 * One thread at a time may use an instance.
 */
#ifndef KC_RUNTIME_MANIFESTS_H
#define KC_RUNTIME_MANIFESTS_H

#include "kc/apply.h"
#include "kc/recorder.h"

/* The result for one object, or for a file. Valid during the callback. */
typedef enum kc__manifests_action {
    KC__MANIFESTS_APPLIED,
    KC__MANIFESTS_PRUNED,
    KC__MANIFESTS_FAILED,
} kc__manifests_action;

typedef struct kc__manifests_result {
    kc__manifests_action action;
    bool unchanged;      /* KC__MANIFESTS_APPLIED: the object was as the manifest states. */
    const kc_kind *kind; /* NULL for a file, or if the kind is not served. */
    kc_key key;
    const char *message; /* KC__MANIFESTS_FAILED: "a.yaml: line 3: ConfigMap default/a: …". */
    bool repeated;       /* KC__MANIFESTS_FAILED: the last sync failed with the same message. */
} kc__manifests_result;

typedef struct kc__manifests_summary {
    size_t files, objects; /* In the directory. */
    size_t applied;        /* Sent to the server; the others were known to match. */
    size_t changed;        /* Of those applied: created or changed. */
    size_t pruned;
    size_t failed; /* Files and objects. */
    bool kept;     /* Because of failures, members that the directory lacks were not deleted. */
} kc__manifests_summary;

typedef struct kc__manifests_opts {
    const char *dir;
    kc_client *client;       /* Borrowed; must outlive the instance, as all pointers below. */
    const char *ns;          /* Of namespaced objects without a namespace. Defaults to "default". */
    const kc_kind *set_kind; /* Parent of the apply set. Defaults to ConfigMap. */
    const char *set_ns, *set_name; /* Of the parent. */
    const char *tooling;           /* "kc/v1.2" */
    const char *field_manager;     /* Defaults to "kc-manifests". */
    bool no_force; /* Fields of other managers are conflicts; else the directory takes them. */
    bool no_prune;
    bool dry_run;   /* Writes nothing; the server validates. */
    int64_t resync; /* Interval of syncs without a change. Defaults to ten minutes. */
    /* Of a change until its sync, if no other change follows. Defaults to 100 ms. */
    int64_t debounce;
    kc_recorder *recorder; /* Defaults to none. */
    kc_log *log;           /* Defaults to silence. */
    kc_metrics *metrics;   /* Defaults to none. */
    void (*report)(const kc__manifests_result *result, void *user);
    void (*synced)(const kc__manifests_summary *summary, void *user); /* After each sync. */
    void *user;
} kc__manifests_opts;

typedef struct kc__manifests kc__manifests;

/* KC_NOT_FOUND or KC_BAD_REQUEST when the directory cannot be read. Sends no request. */
kc__manifests *kc__manifests_new(const kc__manifests_opts *opts, kc_error *err);
kc__manifests *kc__manifests_free(kc__manifests *manifests);
KC_AUTO_DEFINE(kc__manifests, kc__manifests_free)

/* Syncs once. Failures of files and objects are in the summary and the result is 0; negative only
 * when `stop` (may be NULL) fired. */
int kc__manifests_sync(kc__manifests *manifests, kc_cancel *stop, kc__manifests_summary *ret,
                       kc_error *err);
/* Syncs, and again after each change of the directory, every `resync`, and with backoff after
 * failures, until `stop` fires; then returns 0. */
int kc__manifests_run(kc__manifests *manifests, kc_cancel *stop, kc_error *err);

#endif
