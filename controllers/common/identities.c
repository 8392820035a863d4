/* SPDX-License-Identifier: Apache-2.0 */
/* identities.c: the table of users. Service accounts are in the groups of all accounts and of their
 * namespace. The controller of token Secrets acts as the controller manager, as in Kubernetes. */
#include "common/identities.h"

static const char *const account_groups[] = {"system:serviceaccounts",
                                             "system:serviceaccounts:kube-system", NULL};

#define ACCOUNT(name) {"system:serviceaccount:kube-system:" name, account_groups}

static const kc_client_user users[KC__COMMON_N_IDENTITIES] = {
    [KC__COMMON_GARBAGE_COLLECTOR] = ACCOUNT("generic-garbage-collector"),
    [KC__COMMON_NAMESPACE] = ACCOUNT("namespace-controller"),
    [KC__COMMON_SERVICE_ACCOUNT] = ACCOUNT("service-account-controller"),
    [KC__COMMON_ROOT_CA] = ACCOUNT("root-ca-cert-publisher"),
    [KC__COMMON_DEPLOYMENT] = ACCOUNT("deployment-controller"),
    [KC__COMMON_REPLICA_SET] = ACCOUNT("replicaset-controller"),
    [KC__COMMON_NODE] = ACCOUNT("node-controller"),
    [KC__COMMON_POD_COLLECTOR] = ACCOUNT("pod-garbage-collector"),
    [KC__COMMON_CLAIM_PROTECTION] = ACCOUNT("pvc-protection-controller"),
    [KC__COMMON_VOLUME_PROTECTION] = ACCOUNT("pv-protection-controller"),
    [KC__COMMON_CLASS_PROTECTION] = ACCOUNT("volumeattributesclass-protection-controller"),
    [KC__COMMON_RESOURCE_QUOTA] = ACCOUNT("resourcequota-controller"),
    [KC__COMMON_TOKEN_CLEANER] = ACCOUNT("token-cleaner"),
    [KC__COMMON_BOOTSTRAP_SIGNER] = ACCOUNT("bootstrap-signer"),
    [KC__COMMON_CERTIFICATES] = ACCOUNT("certificate-controller"),
    [KC__COMMON_SCHEDULER] = {"system:kube-scheduler", NULL},
    [KC__COMMON_MANAGER] = {"system:kube-controller-manager", NULL},
};

const kc_client_user *kc__common_identity(const kc_controllers_opts *opts,
                                          kc__common_identity_id id)
{
    return opts->own_identities ? &users[id] : NULL;
}
