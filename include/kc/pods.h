/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pods.h: nodes that run pods: simulated ones, for tests of any size, or this machine, on which
 * containers are processes.
 *
 * A node registers itself, keeps its lease, runs the pods that are bound to it, and says in their
 * status what became of them.
 */
#ifndef KC_PODS_H
#define KC_PODS_H

#include "kc/clock.h"

typedef enum kc_pods_mode {
    KC_PODS_NONE,
    KC_PODS_SIMULATE,
    KC_PODS_PROCESS,
} kc_pods_mode;

/* Zero is the default in all of them. */
typedef struct kc_pods_opts {
    kc_pods_mode mode;
    const char *node; /* Its name; simulated ones are called NAME-0, NAME-1 and so on. Defaults to
                       * the machine's name, made to fit; "simulated" for simulated ones. */
    /* What a node has. Default to what this machine has, and 110 pods; simulated ones to 256 CPUs,
     * 1 TiB, 1000 pods. */
    int64_t node_cpu; /* Thousandths. */
    int64_t node_memory;
    int node_pods;
    const char *address; /* Where a node answers the API server, for logs: "10.0.0.7:0", with the
                          * address that the Node gets. Defaults to 127.0.0.1:0, for a server on
                          * this machine. */
    bool say_goodbye;    /* Nodes that stop say that they are not ready, instead of being missed. */
    bool quiet;          /* No events of containers that begin and end as they should. */
    /* KC_PODS_SIMULATE */
    int nodes;           /* How many. Defaults to 1. */
    int64_t start_delay; /* From a container's start to its running. Defaults to none. */
    int64_t stop_delay;  /* From being told to stop to its end. Defaults to none. */
    /* KC_PODS_PROCESS */
    const char *folder; /* Volumes, logs, state. Required. */
    const char *image;  /* The file system of all images: a folder. Defaults to "/", the host's. */
    const char *user;   /* Processes run as: "nobody", "1000", "1000:1000". Defaults to nobody, or,
                         * where we are not root, to ourselves. */
    bool allow_root;    /* Pods may say whom they run as: root too. */
    bool stand_in;      /* For a container that says no command a process stands in that only waits
                         * to be stopped. Defaults to refusing it: no image is pulled whose
                         * entrypoint could be run. */
} kc_pods_opts;

/* What the node of these options is called, the i-th of simulated ones. The caller frees it. */
char *kc_pods_node_name(const kc_pods_opts *opts, int i);

#endif
