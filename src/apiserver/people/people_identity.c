/* SPDX-License-Identifier: Apache-2.0 */
/*
 * people_identity.c: the user of a person's token.
 *
 *     name, uid    of the User
 *     groups       "team:NAME" of each team that exists, then spec.groups, then
 *                  system:authenticated
 *     extra        id of the token, session
 *
 * Called for every request with such a token, on its event loop: it reads the caches and parses one
 * small object.
 */
#include "apiserver/people/people_internal.h"

#define TEAM_GROUP "team:"

enum { MAX_EXTRA = 2 };

/* All of a user in one allocation. */
typedef struct person_user {
    kc__user_extra extra[MAX_EXTRA];
    kc_str values[MAX_EXTRA];
    kc_str groups[];
} person_user;

static int invalid_person(kc_error *err, const char *why)
{
    return kc_error_set(err, KC_UNAUTHORIZED, "%s", why);
}

static int check_person(kc__people *people, const kc__sa_claims *claims,
                        const kc__people_user *user, kc_error *err)
{
    if (!user->object || !kc_str_eq(kc_object_uid(user->object), claims->person.uid))
        return invalid_person(err, "the user of the token does not exist");
    if (user->disabled)
        return invalid_person(err, "the user of the token is disabled");
    if (user->generation != claims->generation)
        return invalid_person(err, "the token has been revoked");
    if (claims->session.n &&
        !kc__people_session_exists(people, claims->session, claims->person.uid))
        return invalid_person(err, "the session of the token has ended");
    return 0;
}

/* ---- groups ---- */

static kc_str team_group(kc_arena *arena, kc_str team)
{
    const char *text = kc_arena_printf(arena, TEAM_GROUP "%.*s", KC_ARG(team));
    return text ? kc_cstr(text) : (kc_str){0};
}

static bool team_exists(kc__people *people, kc_str team)
{
    kc_auto(kc_object) *object = kc__watch_cache_get(people->teams, team);
    return object != NULL;
}

static void add_groups(kc__people *people, const kc_value *spec, kc_arena *arena, kc__user *user,
                       kc_str *groups)
{
    kc_value_each_item (kc_value_get(spec, "teams"), team)
        if (team_exists(people, kc_value_as_str(team)))
            groups[user->n_groups++] = team_group(arena, kc_value_as_str(team));
    kc_value_each_item (kc_value_get(spec, "groups"), group)
        groups[user->n_groups++] = kc_arena_str(arena, kc_value_as_str(group));
    groups[user->n_groups++] = KC_STR(KC__USER_GROUP_AUTHENTICATED);
}

/* ---- the user ---- */

static void add_person_extra(kc__user *user, person_user *own, const char *key, kc_str value)
{
    const size_t i = user->n_extra++;
    own->values[i] = value;
    own->extra[i] = (kc__user_extra){kc_cstr(key), &own->values[i], 1};
}

static bool groups_are_complete(const kc__user *user)
{
    for (size_t i = 0; i < user->n_groups; i++)
        if (!user->groups[i].p)
            return false;
    return true;
}

static bool make_person(kc__people *people, const kc__sa_claims *claims,
                        const kc__people_user *person, kc_arena *arena, kc__user *ret)
{
    const kc_value *spec = kc_value_get(kc_view_root(person->view), "spec");
    const size_t n =
        kc_value_len(kc_value_get(spec, "teams")) + kc_value_len(kc_value_get(spec, "groups")) + 1;
    person_user *own = kc_arena_calloc(arena, 1, sizeof(*own) + n * sizeof(kc_str));
    const char *id = kc_arena_printf(arena, "JTI=%.*s", KC_ARG(claims->id));
    if (!own || !id)
        return false;
    kc__user user = {.name = kc_arena_str(arena, claims->person.name),
                     .uid = kc_arena_str(arena, claims->person.uid),
                     .groups = own->groups,
                     .extra = own->extra};
    add_groups(people, spec, arena, &user, own->groups);
    add_person_extra(&user, own, KC__USER_EXTRA_CREDENTIAL_ID, kc_cstr(id));
    if (claims->session.n)
        add_person_extra(&user, own, KC__PEOPLE_EXTRA_SESSION,
                         kc_arena_str(arena, claims->session));
    *ret = user;
    return user.name.p && user.uid.p && groups_are_complete(&user);
}

int kc__people_identify(const kc__sa_claims *claims, kc_arena *arena, kc__user *ret, void *user,
                        kc_error *err)
{
    kc__people *people = user;
    kc__people_user person;
    kc__people_user_load(people, claims->person.name, &person);
    int status = check_person(people, claims, &person, err);
    if (status == 0 && ret && !make_person(people, claims, &person, arena, ret))
        status =
            kc_error_set(err, KC_TOO_LARGE, "the user of the request exceeds the memory limit");
    kc__people_user_done(&person);
    return status;
}
