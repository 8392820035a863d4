/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sa_user.c: the user of a service-account token: its name, the groups of all service accounts and
 * of those of its namespace, and in the extra fields the token and the objects it is bound to.
 */
#include "apiserver/access/account_name.h"
#include "apiserver/access/sa_internal.h"

#define EXTRA "authentication.kubernetes.io/"

enum { MAX_EXTRA = 5, N_GROUPS = 3 };

/* All of a user in one allocation. */
typedef struct account_user {
    kc__user_extra extra[MAX_EXTRA];
    kc_str values[MAX_EXTRA];
    kc_str groups[N_GROUPS];
} account_user;

/* Adds a field with one value, which the arena holds. */
static void add_extra(kc__user *user, account_user *own, const char *key, kc_str value)
{
    const size_t i = user->n_extra;
    if (!value.n)
        return;
    own->values[i] = value;
    own->extra[i] = (kc__user_extra){kc_cstr(key), &own->values[i], 1};
    user->n_extra++;
}

/* "JTI=ID" */
static kc_str credential_id(kc_arena *arena, kc_str id)
{
    static const char prefix[] = "JTI=";
    char *text = kc_arena_alloc(arena, sizeof(prefix) + id.n);
    if (!text)
        return (kc_str){0};
    memcpy(text, prefix, sizeof(prefix) - 1);
    if (id.n)
        memcpy(text + sizeof(prefix) - 1, id.p, id.n);
    return kc_str_of(text, sizeof(prefix) - 1 + id.n);
}

/* In alphabetical order, as a Kubernetes server writes them. */
static void fill_extra(const kc__sa_claims *claims, kc_arena *arena, kc__user *user,
                       account_user *own)
{
    const bool bound = claims->pod.present && claims->pod.name.n && claims->pod.uid.n;
    if (claims->id.n)
        add_extra(user, own, KC__USER_EXTRA_CREDENTIAL_ID, credential_id(arena, claims->id));
    if (claims->node.present && claims->node.name.n) {
        add_extra(user, own, EXTRA "node-name", kc_arena_str(arena, claims->node.name));
        add_extra(user, own, EXTRA "node-uid", kc_arena_str(arena, claims->node.uid));
    }
    if (bound) {
        add_extra(user, own, EXTRA "pod-name", kc_arena_str(arena, claims->pod.name));
        add_extra(user, own, EXTRA "pod-uid", kc_arena_str(arena, claims->pod.uid));
    }
    user->extra = own->extra;
}

bool kc__sa_user_of(const kc__sa_claims *claims, kc_arena *arena, kc__user *ret)
{
    account_user *own = kc_arena_calloc(arena, 1, sizeof(*own));
    if (!own)
        return false;
    kc__user user = {.name = kc__user_account_name(arena, claims->ns, claims->account.name),
                     .uid = kc_arena_str(arena, claims->account.uid),
                     .groups = own->groups};
    own->groups[user.n_groups++] = KC_STR(KC__USER_GROUP_ACCOUNTS);
    own->groups[user.n_groups++] = kc__user_account_group(arena, claims->ns);
    own->groups[user.n_groups++] = KC_STR(KC__USER_GROUP_AUTHENTICATED);
    if (!claims->legacy)
        fill_extra(claims, arena, &user, own);
    *ret = user;
    return user.name.p && own->groups[1].p;
}
