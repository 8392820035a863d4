/* SPDX-License-Identifier: Apache-2.0 */
/* node_identity.h: which users are nodes: "system:node:NAME" in the group system:nodes. */
#ifndef KC_APISERVER_AUTHZ_NODE_IDENTITY_H
#define KC_APISERVER_AUTHZ_NODE_IDENTITY_H

#include "apiserver/access/authn.h"

#define KC__USER_GROUP_NODES "system:nodes"
#define KC__USER_NODE_PREFIX "system:node:"

/* True if the user is a node; *ret_name is its name, which may be empty. Borrowed from the user. */
bool kc__authz_node_identity(const kc__user *user, kc_str *ret_name);

#endif
