/* SPDX-License-Identifier: Apache-2.0 */
/* bootstrap_policy.h: the roles and bindings that every cluster has (authz/policy.h). */
#ifndef KC_APISERVER_BOOTSTRAP_POLICY_H
#define KC_APISERVER_BOOTSTRAP_POLICY_H

#include "apiserver/call/call.h"

/* Creates the missing roles and bindings, and adds missing rules and subjects to those that exist.
 * Call it before requests are served, after kc__bootstrap_objects; blocks until all are stored. */
int kc__bootstrap_policy(kc__rest_api *api, kc_error *err);

#endif
