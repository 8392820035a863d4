/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pods.h: the pod runner; shared by its files.
 */
#ifndef KC_CONTROLLERS_PODS_PODS_H
#define KC_CONTROLLERS_PODS_PODS_H

#include "kc/controller.h"
#include "kc/map.h"

#include "pods/nodes.h"
#include "pods/pod_jobs.h"
#include "pods/pod_metrics.h"
#include "pods/pod_record.h"

typedef struct kc__pods {
    kc_pods_opts opts; /* With all defaults set. */
    const kc_clock *clock;
    kc_log *log;
    kc_cache *cache;
    kc__pods_runtime *runtime;
    bool own_runtime;
    kc__pods_nodes *nodes;
    kc__pods_node_server *server;
    kc__pod_jobs *jobs;
    kc_recorder *recorder; /* The manager's recorder, with component "kubelet". */
    kc__pod_metrics metrics;
    _Atomic bool no_generations; /* The server drops status.observedGeneration. */

    kc_mutex mutex; /* Guards the rest and the inboxes of records. No calls are made under it. */
    kc_map by_uid, by_key; /* To kc__pod_record; a key is "namespace/name". */
    kc_map addresses;      /* Records by address. */
    kc_map sources;        /* Referenced ConfigMaps and Secrets: pod_refs.c. */
    uint32_t next_address;
    bool taking_up, taken_up;
    kc_cond taken;

    kc_mutex wake_mutex; /* Guards queue. Taken after `mutex`, before the queue's own lock. */
    kc_queue *queue;     /* Set while the controller runs. */
} kc__pods;

/* Call before the manager starts. `runtime`: borrowed until the manager is freed; NULL: one is
 * created from the options. */
int kc__pods_add(kc_manager *manager, const kc_pods_opts *opts, int workers,
                 kc__pods_runtime *runtime, kc_error *err);

/* pod_run.c */
kc_reconcile_fn kc__pods_reconcile;

/* pod_table.c: records by uid and key. The worker that has the key owns the record. */
kc__pod_record *kc__pods_find(kc__pods *pods, kc_key key);
/* Adds a new pod. */
kc__pod_record *kc__pods_persist(kc__pods *pods, const kc_pod *pod, kc__pods_node *node);
/* Assigns an address if it has none: simulated pods get one each, others that of the host. */
void kc__pods_address(kc__pods *pods, const kc_pod *pod, kc__pod_record *state);
/* Frees the record and everything of the pod: containers, address, allocated resources. */
void kc__pods_forget(kc__pods *pods, kc__pod_record *state);
/* Queues a pod. Thread-safe. */
void kc__pods_wake(kc__pods *pods, kc_str uid);
/* Resumes the pods of an earlier process, once: the first worker does it, others wait. */
void kc__pods_resume(kc__pods *pods);
kc_source *kc__pods_wake_source(kc__pods *pods);

/* What the environment and the volumes of a pod are made from. */
struct kc__pod_inputs kc__pods_inputs(const kc__pods *pods, kc_client *client, const kc_pod *pod,
                                      kc__pod_record *state, kc_arena *arena);

/* pod_mount.c: prepares the pod and fills its volumes. A repeated call updates them. */
int kc__pods_mount(kc__pods *pods, kc_client *client, const kc_pod *pod, kc__pod_record *state,
                   kc_error *err);

/* pod_refs.c: queues pods when a ConfigMap or Secret that they reference changes. */
void kc__pods_add_references(kc__pods *pods, const kc_pod *pod, kc__pod_record *state);
void kc__pods_remove_references(kc__pods *pods, kc__pod_record *state);
void kc__pods_free_refs(kc__pods *pods);
kc_map_to_keys_fn kc__pods_of_config_map;
kc_map_to_keys_fn kc__pods_of_secret;

/* admission.c */
/* Allocates the pod's resources on its node; a repeated call does nothing. False with the reason in
 * the record if the pod does not fit. */
bool kc__pods_admit(kc__pods *pods, const kc_pod *pod, kc__pod_record *state);
/* The pod was admitted before this process: allocates even if it does not fit. */
void kc__pods_account(kc__pods *pods, const kc_pod *pod, kc__pod_record *state);
void kc__pods_release(kc__pods *pods, kc__pod_record *state);

#endif
