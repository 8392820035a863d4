/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user.c: adds the group of all authenticated users, and copies users.
 *
 * As in Kubernetes: if the credentials name system:anonymous, or one of the two groups, themselves,
 * no group is added.
 */
#include "apiserver/access/authn.h"

void kc__user_authenticated(kc__user *user, kc_str *groups)
{
    if (kc_str_is(user->name, KC__USER_ANONYMOUS))
        return;
    for (size_t i = 0; i < user->n_groups; i++)
        if (kc_str_is(groups[i], KC__USER_GROUP_AUTHENTICATED) ||
            kc_str_is(groups[i], KC__USER_GROUP_UNAUTHENTICATED))
            return;
    groups[user->n_groups++] = KC_STR(KC__USER_GROUP_AUTHENTICATED);
}

/* ---- copies ---- */

static const kc_str *copy_user_texts(kc_arena *arena, const kc_str *from, size_t n)
{
    kc_str *texts = kc_arena_calloc(arena, n + 1, sizeof(*texts));
    for (size_t i = 0; texts && i < n; i++) {
        texts[i] = kc_arena_str(arena, from[i]);
        if (from[i].n && !texts[i].p)
            return NULL;
    }
    return texts;
}

static const kc__user_extra *copy_user_extra(kc_arena *arena, const kc__user *from)
{
    kc__user_extra *extra = kc_arena_calloc(arena, from->n_extra + 1, sizeof(*extra));
    for (size_t i = 0; extra && i < from->n_extra; i++) {
        const kc__user_extra *one = &from->extra[i];
        extra[i] = (kc__user_extra){.key = kc_arena_str(arena, one->key),
                                    .values = copy_user_texts(arena, one->values, one->n_values),
                                    .n_values = one->n_values};
        if (!extra[i].key.p || !extra[i].values)
            return NULL;
    }
    return extra;
}

bool kc__user_copy(const kc__user *from, kc_arena *arena, kc__user *ret)
{
    const kc__user copy = {.name = kc_arena_str(arena, from->name),
                           .uid = kc_arena_str(arena, from->uid),
                           .groups = copy_user_texts(arena, from->groups, from->n_groups),
                           .n_groups = from->n_groups,
                           .extra = copy_user_extra(arena, from),
                           .n_extra = from->n_extra};
    if ((from->name.n && !copy.name.p) || (from->uid.n && !copy.uid.p) || !copy.groups ||
        !copy.extra)
        return false;
    *ret = copy;
    return true;
}
