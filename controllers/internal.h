/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h: what controllers.c knows of each controller: a function that adds it to a manager.
 *
 * To add a controller: a folder with its sources, a setup function here, a row in controllers.c,
 * docs/internals/NAME.md and tests/unit/controllers/NAME.c.
 */
#ifndef KC_CONTROLLERS_INTERNAL_H
#define KC_CONTROLLERS_INTERNAL_H

#include "kc/controllers.h"

/* Before the manager starts; negative with why it cannot be. State that outlives a call is given to
 * kc_manager_keep. */
typedef int kc__setup_fn(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err);

kc__setup_fn kc__garbage_collector_setup;
kc__setup_fn kc__namespace_setup;
kc__setup_fn kc__service_account_setup;
kc__setup_fn kc__root_ca_setup;
kc__setup_fn kc__deployment_setup;
kc__setup_fn kc__replica_set_setup;
kc__setup_fn kc__scheduler_setup;
kc__setup_fn kc__node_lifecycle_setup;
kc__setup_fn kc__pod_collector_setup;
kc__setup_fn kc__pods_setup;

#endif
