/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pods.h: nodes that run pods: simulated ones, for tests of any size, or this machine, where
 * containers are processes.
 *
 * A node registers itself, renews its lease, runs the pods that are bound to it, and writes their
 * status.
 */
#ifndef KC_PODS_H
#define KC_PODS_H

#include "kc/clock.h"
#include "kc/error.h"

typedef enum kc_pods_mode {
    KC_PODS_NONE,
    KC_PODS_SIMULATE,
    KC_PODS_PROCESS,
    KC_PODS_AUTO, /* KC_PODS_PROCESS if pods get their own users (the process runs as root) or
                   * unsafe_can_read_credentials is set; else KC_PODS_SIMULATE. */
} kc_pods_mode;

/* User ids for pods: each pod has its own. The range must not contain an account of the machine,
 * nor ids that the machine assigns automatically. */
#define KC_PODS_UID_BASE  2000000000u
#define KC_PODS_UID_COUNT 65536u

typedef struct kc_uid_range {
    uint32_t base, count; /* count 0: the default range. */
} kc_uid_range;

/* Zero means the default in every field. */
typedef struct kc_pods_opts {
    kc_pods_mode mode;
    const char *node; /* Name of the node; simulated nodes are NAME-0, NAME-1 and so on. Defaults to
                       * a valid form of the host name; "simulated" for simulated nodes. */
    /* Capacity of a node. Defaults to this machine's, and 110 pods; for simulated nodes to 256
     * CPUs, 1 TiB, 1000 pods. */
    int64_t node_cpu; /* Millicores. */
    int64_t node_memory;
    int node_pods;
    /* Listen address for the API server's log requests: "10.0.0.7:0"; the Node reports this
     * address. Defaults to 127.0.0.1:0, for a server on this machine. */
    const char *address;
    /* PEM file of the CA that signs the API server's client certificate: only that client may read
     * logs. Defaults to none: no client may. */
    const char *client_ca_file;
    /* The requests of a node are those of the user system:node:NAME in the group system:nodes.
     * kc_controllers_opts.own_identities sets it. */
    bool own_identity;
    /* URL of the API server as containers reach it, "https://10.0.0.7:6443":
     * KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT of every container. Defaults to none. */
    const char *api_server;
    bool has_root_ca; /* The ConfigMap kube-root-ca.crt is published in every namespace: pods that
                       * need it wait for it. Set by kc_controllers_add. */
    bool report_stop; /* Nodes that stop report that they are not ready, instead of missing
                       * heartbeats. */
    bool quiet;       /* No events for containers that start and end normally. */
    /* KC_PODS_SIMULATE */
    int nodes;           /* Number of nodes. Defaults to 1. */
    int64_t start_delay; /* Between a container's start and its running state. Defaults to none. */
    int64_t stop_delay;  /* Between a stop request and the container's end. Defaults to none. */
    /* KC_PODS_PROCESS */
    const char *dir;   /* Directory of volumes, logs and state. Required. */
    const char *image; /* Root directory of all containers. Defaults to "/", the host's. */
    kc_uid_range uids; /* Each pod runs as one of these users, with the group of the same id.
                        * Defaults to KC_PODS_UID_BASE and KC_PODS_UID_COUNT. */
    bool allow_root;   /* Pods may select a user (runAsUser), root included. */
    /* Files and directories with credentials or objects, hidden from pods; ends with NULL.
     * Defaults to none beside `dir`. */
    const char *const *hidden;
    /* Run pods as processes although they can read `hidden`. Required if the process does not run
     * as root (pods share its user), and if neither mount namespaces nor file modes hide the files.
     */
    bool unsafe_can_read_credentials;
    bool placeholder; /* Run a placeholder process, which only waits for its stop signal, for a
                       * container without a command. By default such a container fails: no image is
                       * pulled whose entrypoint could run. */
} kc_pods_opts;

/* The range that pods use if `wanted` is the option `uids`. */
kc_uid_range kc_pods_uid_range(kc_uid_range wanted);

/* The mode that KC_PODS_AUTO means for this process; other modes unchanged. */
kc_pods_mode kc_pods_resolve_mode(const kc_pods_opts *opts);

/* KC_FORBIDDEN if pods would run as the process's own user and unsafe_can_read_credentials is not
 * set. */
int kc_pods_check_user(const kc_pods_opts *opts, kc_error *err);

/* True if pods may run as this user. A server must not trust loopback peers of such a user. With
 * processes that is the range and, if the process does not run as root, its own user; with
 * allow_root every user. */
bool kc_pods_may_run_as(const kc_pods_opts *opts, uint32_t uid);

/* The name of the node, or of the i-th simulated node. The caller frees it. */
char *kc_pods_node_name(const kc_pods_opts *opts, int i);

#endif
