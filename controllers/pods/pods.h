/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pods.h: the runner of pods, as its own files see it.
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
    kc_pods_opts opts; /* Complete. */
    const kc_clock *clock;
    kc_log *log;
    kc_cache *cache;
    kc__runtime *runtime;
    bool own_runtime;
    kc__nodes *nodes;
    kc__node_server *server;
    kc__jobs *jobs;
    kc_recorder *recorder; /* The manager's, as "kubelet". */
    kc__pod_metrics metrics;
    _Atomic bool no_generations; /* The server does not keep status.observedGeneration. */

    kc_mutex mutex; /* Guards all below, and the inboxes of states. Nothing is called under it. */
    kc_map by_uid, by_key; /* Of kc__pod_record; a key is "namespace/name". */
    kc_map addresses;      /* Of states, by address. */
    kc_map sources;        /* ConfigMaps and Secrets that pods name: pod_refs.c. */
    uint32_t next_address;
    bool taking_up, taken_up;
    kc_cond taken;

    kc_mutex wake_mutex; /* Guards queue. Taken after `mutex`, before the queue's own. */
    kc_queue *queue;     /* While the controller runs. */
} kc__pods;

/* Before the manager starts. `runtime`: of the caller's, who keeps it until the manager is freed;
 * NULL: one as the options say. */
int kc__pods_add(kc_manager *manager, const kc_pods_opts *opts, int workers, kc__runtime *runtime,
                 kc_error *err);

/* pod_run.c */
kc_reconcile_fn kc__pods_reconcile;

/* pod_table.c: states by uid and key. A state found belongs to the caller, who has its key. */
kc__pod_record *kc__pods_find(kc__pods *pods, kc_key key);
/* Remembers a pod that is new here. */
kc__pod_record *kc__pods_remember(kc__pods *pods, const kc_pod *pod, kc__node *node);
/* Gives it an address, if it has none: simulated pods one each, others their machine's. */
void kc__pods_address(kc__pods *pods, const kc_pod *pod, kc__pod_record *state);
/* Frees it, and all that it had: containers, its address, its part of the node. */
void kc__pods_forget(kc__pods *pods, kc__pod_record *state);
/* Looks at a pod again. Any thread. */
void kc__pods_wake(kc__pods *pods, kc_str uid);
/* The pods that were here before this process, once: the first worker does it, others wait. */
void kc__pods_take_up(kc__pods *pods);
kc_source *kc__pods_wake_source(kc__pods *pods);

/* pod_mount.c: makes room for it, and fills its volumes. Again: what has changed. */
int kc__pods_mount(kc__pods *pods, kc_client *client, const kc_pod *pod, kc__pod_record *state,
                   kc_error *err);

/* pod_refs.c: looks at pods when a ConfigMap or Secret changes that they name. */
void kc__pods_refer(kc__pods *pods, const kc_pod *pod, kc__pod_record *state);
void kc__pods_unrefer(kc__pods *pods, kc__pod_record *state);
void kc__pods_free_refs(kc__pods *pods);
kc_map_fn kc__pods_of_config_map;
kc_map_fn kc__pods_of_secret;

/* admission.c */
/* Takes its part of its node; again: nothing. False, and the state says why, where it does not
 * fit. */
bool kc__pods_admit(kc__pods *pods, const kc_pod *pod, kc__pod_record *state);
/* It was admitted before this process: takes its part, whether it fits or not. */
void kc__pods_account(kc__pods *pods, const kc_pod *pod, kc__pod_record *state);
void kc__pods_release(kc__pods *pods, kc__pod_record *state);

#endif
