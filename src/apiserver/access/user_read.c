/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_read.c: a user in the form of UserInfo: {"username","uid","groups":[…],"extra":{"key":[…]}}.
 */
#include "apiserver/access/user_extra.h"

#include "kc/view.h"

static kc_str *read_texts(const kc_value *list, kc_arena *arena, size_t *ret_n)
{
    kc_str *items = kc_arena_calloc(arena, kc_value_len(list) + 1, sizeof(*items));
    size_t n = 0;
    kc_value_each_item (list, item)
        items[n++] = kc_arena_str(arena, kc_value_as_str(item));
    *ret_n = n;
    return items;
}

static const kc__user_extra *read_extra(const kc_value *extra, kc_arena *arena, size_t *ret_n)
{
    const size_t n = kc_value_len(extra);
    kc__user_extra *list = n ? kc_arena_calloc(arena, n, sizeof(*list)) : NULL;
    size_t at = 0;
    kc_value_each_member (extra, name, value) {
        list[at].key = kc_arena_str(arena, name);
        list[at].values = read_texts(value, arena, &list[at].n_values);
        at++;
    }
    kc__user_extra_sort(list, at);
    *ret_n = at;
    return list;
}

void kc__user_read(const kc_value *info, kc_arena *arena, kc__user *ret)
{
    kc__user user = {.name = kc_arena_str(arena, kc_value_as_str(kc_value_get(info, "username"))),
                     .uid = kc_arena_str(arena, kc_value_as_str(kc_value_get(info, "uid")))};
    kc_str *groups = read_texts(kc_value_get(info, "groups"), arena, &user.n_groups);
    user.groups = groups;
    user.extra = read_extra(kc_value_get(info, "extra"), arena, &user.n_extra);
    kc__user_authenticated(&user, groups);
    *ret = user;
}
