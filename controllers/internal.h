/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h: the list of controllers, and the setup function that adds each to a manager.
 *
 * To add a controller: a folder with its sources, a row here, its user in common/identities.c, the
 * prefix of its names in scripts/module-prefixes, docs/internals/NAME.md and
 * tests/unit/controllers/NAME. docs/howto.md has an example.
 */
#ifndef KC_CONTROLLERS_INTERNAL_H
#define KC_CONTROLLERS_INTERNAL_H

#include "common/identities.h"

#include "kc/controllers.h"

/* Field managers: what objects show in metadata.managedFields for the component of Kubernetes that
 * each controller corresponds to. */
#define KC__CONTROLLERS_MANAGER   "kube-controller-manager"
#define KC__CONTROLLERS_SCHEDULER "kube-scheduler"
#define KC__CONTROLLERS_KUBELET   "kubelet"

/* Called before the manager starts; negative with an error. State that outlives the call is passed
 * to kc_manager_defer. */
typedef int kc__controllers_setup_fn(kc_manager *manager, const kc_controllers_opts *opts,
                                     kc_error *err);

/* X(name, summary, setup function). Controllers start, and `--help` lists them, in this order. The
 * start order has no effect. */
#define KC__CONTROLLERS(X)                                                                        \
    X("garbagecollector", "deletes objects whose owners are gone", kc__gc_setup)                  \
    X("namespace", "deletes the content of terminating namespaces", kc__purge_setup)              \
    X("serviceaccount", "creates the service account 'default' in every namespace",               \
      kc__serviceaccount_setup)                                                                   \
    X("serviceaccount-token", "fills Secrets that hold a token of a service account",             \
      kc__tokens_setup)                                                                           \
    X("token-cleaner", "deletes bootstrap tokens that have expired", kc__tokencleaner_setup)      \
    X("bootstrap-signer", "signs the ConfigMap cluster-info for each bootstrap token",            \
      kc__bootstrapsigner_setup)                                                                  \
    X("root-ca", "publishes the server's CA certificate in every namespace", kc__rootca_setup)    \
    X("deployment", "creates replica sets for deployments and rolls them out",                    \
      kc__deployment_setup)                                                                       \
    X("replicaset", "creates and deletes the pods of replica sets", kc__rs_setup)                 \
    X("scheduler", "assigns pods to nodes", kc__sched_setup)                                      \
    X("nodelifecycle", "detects lost nodes and evicts their pods", kc__lifecycle_setup)           \
    X("podgc", "deletes terminated pods and pods of nodes that no longer exist", kc__podgc_setup) \
    X("storage-protection", "keeps deleted volumes and claims while they are in use",             \
      kc__storageprotection_setup)                                                                \
    X("csrsigning", "signs approved certificate signing requests", kc__csr_signing_setup)         \
    X("csrapproving", "approves requests of nodes for client certificates",                       \
      kc__csr_approving_setup)                                                                    \
    X("csrcleaner", "deletes old certificate signing requests", kc__csr_cleaner_setup)            \
    X("resourcequota", "keeps the usage of resource quotas", kc__rq_setup)                        \
    X("pods", "runs pods on its own nodes", kc__pods_setup)

#define KC__CONTROLLERS_DECLARE(name, summary, setup) kc__controllers_setup_fn setup;
KC__CONTROLLERS(KC__CONTROLLERS_DECLARE)
#undef KC__CONTROLLERS_DECLARE

#endif
