/* SPDX-License-Identifier: Apache-2.0 */
/* account_name.c: names and groups of service accounts. Used for each request with a token, so it
 * writes without formatting. */
#include "apiserver/access/account_name.h"

#include "kc/names.h"

#define NAME_PREFIX  "system:serviceaccount:"
#define GROUP_PREFIX KC__USER_GROUP_ACCOUNTS ":"

static kc_str join_parts(kc_arena *arena, const kc_str *parts, size_t n)
{
    size_t total = 0, at = 0;
    for (size_t i = 0; i < n; i++)
        total += parts[i].n;
    char *text = kc_arena_alloc(arena, total + 1);
    if (!text)
        return (kc_str){0};
    for (size_t i = 0; i < n; at += parts[i++].n)
        if (parts[i].n)
            memcpy(text + at, parts[i].p, parts[i].n);
    text[total] = '\0';
    return kc_str_of(text, total);
}

kc_str kc__user_account_name(kc_arena *arena, kc_str ns, kc_str name)
{
    return join_parts(arena, (const kc_str[]){KC_STR(NAME_PREFIX), ns, KC_STR(":"), name}, 4);
}

kc_str kc__user_account_group(kc_arena *arena, kc_str ns)
{
    return join_parts(arena, (const kc_str[]){KC_STR(GROUP_PREFIX), ns}, 2);
}

bool kc__user_account_split(kc_str user, kc_str *ret_ns, kc_str *ret_name)
{
    if (!kc_str_starts(user, KC_STR(NAME_PREFIX)))
        return false;
    kc_str rest = kc_str_sub(user, sizeof(NAME_PREFIX) - 1, user.n);
    const kc_str ns = kc_str_cut(&rest, ':');
    if (!kc_name_valid(KC_NAME_DNS_LABEL, ns) || !kc_name_valid(KC_NAME_DNS_SUBDOMAIN, rest))
        return false;
    *ret_ns = ns;
    *ret_name = rest;
    return true;
}
