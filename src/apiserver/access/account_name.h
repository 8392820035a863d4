/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_name.h: a service account as a user.
 *
 *     user      system:serviceaccount:NAMESPACE:NAME
 *     groups    system:serviceaccounts, system:serviceaccounts:NAMESPACE
 */
#ifndef KC_APISERVER_ACCOUNT_NAME_H
#define KC_APISERVER_ACCOUNT_NAME_H

#include "kc/arena.h"
#include "kc/str.h"

#define KC__USER_GROUP_ACCOUNTS "system:serviceaccounts"

/* The user name, and the group of the namespace, with a NUL behind. Without a value if the arena
 * has no memory. */
kc_str kc__user_account_name(kc_arena *arena, kc_str ns, kc_str name);
kc_str kc__user_account_group(kc_arena *arena, kc_str ns);
/* Splits a user name. False if it is not that of a service account. */
bool kc__user_account_split(kc_str user, kc_str *ret_ns, kc_str *ret_name);

#endif
