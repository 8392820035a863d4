/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any header fields name no other user, are refused, or make a user with one of the groups of all
 * users and extra keys that differ; no field of an impersonation is left. A line is a field.
 */
#include "fuzzing.h"

#include "apiserver/access/impersonation.h"

static bool has_any_group(const kc__user *user)
{
    for (size_t i = 0; i < user->n_groups; i++)
        if (kc_str_is(user->groups[i], KC__USER_GROUP_AUTHENTICATED) ||
            kc_str_is(user->groups[i], KC__USER_GROUP_UNAUTHENTICATED))
            return true;
    return false;
}

static void check_user(const kc__impersonation *as, const kc__user *user)
{
    size_t values = 0;
    assert(kc_str_eq(user->name, as->user) && has_any_group(user));
    assert(user->n_groups <= as->n_groups + 3);
    for (size_t i = 0; i < user->n_extra; i++) {
        values += user->extra[i].n_values;
        for (size_t j = 0; j < i; j++)
            assert(!kc_str_eq(user->extra[i].key, user->extra[j].key));
    }
    assert(values == as->n_extra);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str text = kc_str_of((const char *)data, size);
    kc_scoped(kc__http_headers) headers = {0};
    kc_arena arena = {0};
    kc__impersonation as;
    kc__user user;
    while (text.n) {
        kc_str line = kc_str_cut(&text, '\n');
        const kc_str name = kc_str_cut(&line, ':');
        kc__http_headers_add(&headers, name, line, NULL);
    }
    if (kc__impersonation_read(&headers, &arena, &as, NULL) == 0 && as.requested) {
        kc__impersonation_user(&as, &arena, &user);
        check_user(&as, &user);
    }
    kc__impersonation_strip(&headers);
    assert(kc__impersonation_read(&headers, &arena, &as, NULL) == 0 && !as.requested);
    kc_arena_done(&arena);
    return 0;
}
