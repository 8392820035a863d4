/* SPDX-License-Identifier: Apache-2.0 */
/* node_identity.c: recognizes the users of nodes. Both name and group are required, as in
 * Kubernetes. */
#include "apiserver/authz/node_identity.h"

bool kc__authz_node_identity(const kc__user *user, kc_str *ret_name)
{
    const kc_str prefix = KC_STR(KC__USER_NODE_PREFIX);
    if (!kc_str_starts(user->name, prefix))
        return false;
    for (size_t i = 0; i < user->n_groups; i++)
        if (kc_str_is(user->groups[i], KC__USER_GROUP_NODES)) {
            *ret_name = kc_str_sub(user->name, prefix.n, user->name.n);
            return true;
        }
    return false;
}
