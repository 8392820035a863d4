/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identities.h: the users that controllers act as, if the option `own_identities` is set: the
 * service account of Kubernetes' controller that each corresponds to, so that the roles of every
 * cluster (system:controller:…) limit what each may do.
 *
 *     .act_as = kc__common_identity(opts, KC__COMMON_DEPLOYMENT),
 *
 * A controller without one acts as the user of the manager (in kc up: of the hub), which has other
 * permissions: every controller has a row here.
 */
#ifndef KC_CONTROLLERS_IDENTITIES_H
#define KC_CONTROLLERS_IDENTITIES_H

#include "kc/controllers.h"

typedef enum kc__common_identity_id {
    KC__COMMON_GARBAGE_COLLECTOR,
    KC__COMMON_NAMESPACE,
    KC__COMMON_SERVICE_ACCOUNT,
    KC__COMMON_ROOT_CA,
    KC__COMMON_DEPLOYMENT,
    KC__COMMON_REPLICA_SET,
    KC__COMMON_NODE,
    KC__COMMON_POD_COLLECTOR,
    KC__COMMON_CLAIM_PROTECTION,
    KC__COMMON_VOLUME_PROTECTION,
    KC__COMMON_CLASS_PROTECTION,
    KC__COMMON_RESOURCE_QUOTA,
    KC__COMMON_TOKEN_CLEANER,
    KC__COMMON_BOOTSTRAP_SIGNER,
    KC__COMMON_CERTIFICATES,
    KC__COMMON_SCHEDULER,
    KC__COMMON_MANAGER,
    KC__COMMON_N_IDENTITIES
} kc__common_identity_id;

/* The user, which lives forever; NULL without the option: the user of the manager's client. */
const kc_client_user *kc__common_identity(const kc_controllers_opts *opts,
                                          kc__common_identity_id id);

#endif
