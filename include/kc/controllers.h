/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controllers.h: the controllers a plane needs beside its API server: garbage collection,
 * namespaces, deployments, a scheduler, nodes that run pods, and others.
 *
 *     kc_auto(kc_manager) *manager = kc_manager_new(NULL, &err);
 *     kc_controllers_add(manager, &(kc_controllers_opts){.names = "*,-scheduler"}, &err);
 *     kc_manager_run(manager, &err);
 *
 * They work on any server of the Kubernetes API. In a test, added to kc_testenv_manager(env), they
 * make what a cluster would: owned objects go with their owner, deployments get pods, pods run.
 * `kc controllers` is a program of them.
 */
#ifndef KC_CONTROLLERS_H
#define KC_CONTROLLERS_H

#include "kc/manager.h"
#include "kc/pods.h"

/* Zero is the default in all of them. */
typedef struct kc_controllers_opts {
    /* Which: names with commas between them, as kc_controllers_name gives them; "*" is all, "-name"
     * not this one. Defaults to all. */
    const char *names;
    int workers;         /* Of each, where several make sense. Defaults to 5. */
    const char *root_ca; /* PEM of the server's authority (kc_config_authority has it), for
                          * kube-root-ca.crt in every namespace. Without one there is no such
                          * ConfigMap. */
    int64_t node_grace;  /* A node without a heartbeat for so long is lost. Defaults to 40 s. */
    int ended_pods;      /* Pods that have ended are kept up to this number. Defaults to 12500. */
    kc_pods_opts pods;   /* Nodes of our own: pods.h. */
} kc_controllers_opts;

/* Before the manager starts. Nothing is added on error: a name that there is not. */
int kc_controllers_add(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err);

/* The names there are and what each does, by number; NULL behind the last. */
const char *kc_controllers_name(size_t i);
const char *kc_controllers_summary(size_t i);

#endif
