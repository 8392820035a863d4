/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user.c: the group of everybody who has shown credentials.
 *
 * As upstream: a certificate or a token file may name system:anonymous, or one of the two groups,
 * itself, and is then taken at its word.
 */
#include "apiserver/access/authn.h"

void kc__user_authenticated(kc__user *user, kc_str *groups)
{
    if (kc_str_is(user->name, KC__USER_ANONYMOUS))
        return;
    for (size_t i = 0; i < user->n_groups; i++)
        if (kc_str_is(groups[i], KC__GROUP_AUTHENTICATED) ||
            kc_str_is(groups[i], KC__GROUP_UNAUTHENTICATED))
            return;
    groups[user->n_groups++] = KC_STR(KC__GROUP_AUTHENTICATED);
}
