/* SPDX-License-Identifier: Apache-2.0 */
/* people.c: logins, sessions, tokens and passwords through the whole server. */
#include "people_testing.h"

#include "apiserver/people/people_internal.h"

#define GOOD "a good password"

static void login_gives_a_token_with_the_groups_of_existing_teams(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    town_team(t, "dev");
    town_user(t, "ann", "'teams':['dev','gone'],'groups':['readers']", GOOD);
    const reply *login = town_try(t, "ann", GOOD);
    assert_code(login, 200);
    assert_true(*r_text(login, "session") && *r_text(login, "expirationTimestamp"));
    const reply *r = town_whoami(t, r_text(login, "token"));
    assert_code(r, 201);
    assert_at(r, "status.userInfo.username", "ann");
    assert_at(r, "status.userInfo.uid",
              r_text(town_admin(t, "GET", USERS "/ann", NULL), "metadata.uid"));
    assert_at(r, "status.userInfo.groups[0]", "team:dev");
    assert_at(r, "status.userInfo.groups[1]", "readers");
    assert_at(r, "status.userInfo.groups[2]", "system:authenticated");
}

static void wrong_password_and_unknown_user_have_the_same_answer(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    town_user(t, "ann", "", GOOD);
    assert_code(town_admin(t, "POST", USERS, user_body(t, "bare", "")), 201);
    const reply *wrong = town_try(t, "ann", "a wrong password");
    assert_status(wrong, 401, "Unauthorized", "invalid user name or password");
    assert_string_equal(town_try(t, "nobody", GOOD)->body, wrong->body);
    assert_string_equal(town_try(t, "bare", GOOD)->body, wrong->body);
    assert_string_equal(town_try(t, "../ann", GOOD)->body, wrong->body);
    assert_string_equal(town_try(t, "", "")->body, wrong->body);
}

static void eleventh_wrong_password_is_refused_even_if_right(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    town_user(t, "ann", "", GOOD);
    for (int i = 0; i < KC__PEOPLE_ACCOUNT_TRIES; i++)
        assert_code(town_try(t, "ann", "a wrong password"), 401);
    const reply *r = town_try(t, "ann", GOOD);
    assert_code(r, 429);
    assert_string_equal(r_header(r, "Retry-After"), "30");
    town_user(t, "eve", "", GOOD);
    town_login(t, "eve", GOOD);
}

static void password_change_ends_tokens_and_sessions(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    town_user(t, "ann", "", GOOD);
    const reply *login = town_try(t, "ann", GOOD);
    const char *token = r_text(login, "token"), *session = r_text(login, "session");
    assert_code(town_whoami(t, token), 201);
    assert_code(town_password(t, "ann", "another password"), 200);
    assert_code(town_whoami(t, token), 401);
    assert_code(api_post(t->a, "/people/renew", text(t->a, "{'session':'%s'}", session)), 401);
    assert_code(town_try(t, "ann", GOOD), 401);
    town_login(t, "ann", "another password");
}

static void owner_changes_a_password_with_the_old_one_only(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    town_user(t, "ann", "", GOOD);
    const char *token = town_login(t, "ann", GOOD);
    assert_code(town_as(t, token, "POST", "/people/password",
                        "{'username':'ann','password':'another password'}"),
                403);
    assert_code(town_as(t, token, "POST", "/people/password",
                        "{'username':'ann','password':'another password','oldPassword':'wrong'}"),
                401);
    assert_code(town_as(t, token, "POST", "/people/password",
                        "{'username':'ann','password':'short','oldPassword':'" GOOD "'}"),
                400);
    assert_code(town_as(t, token, "POST", "/people/password",
                        "{'username':'ann','password':'another password','oldPassword':'" GOOD
                        "'}"),
                200);
    town_login(t, "ann", "another password");
}

static void disabled_user_loses_tokens_for_good(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    town_user(t, "ann", "", GOOD);
    const char *token = town_login(t, "ann", GOOD);
    assert_code(town_admin(t, "PATCH", USERS "/ann", "{'spec':{'disabled':true}}"), 200);
    assert_code(town_whoami(t, token), 401);
    assert_code(town_try(t, "ann", GOOD), 401);
    assert_code(town_admin(t, "PATCH", USERS "/ann", "{'spec':{'disabled':false}}"), 200);
    assert_code(town_whoami(t, token), 401);
    town_login(t, "ann", GOOD);
}

static void recreated_user_does_not_inherit_tokens_or_the_password(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    town_user(t, "ann", "", GOOD);
    const char *token = town_login(t, "ann", GOOD);
    assert_code(town_admin(t, "DELETE", USERS "/ann", NULL), 200);
    assert_code(town_whoami(t, token), 401);
    assert_code(town_admin(t, "POST", USERS,
                           user_body(t, "ann",
                                     "'credentialsRef':{'namespace':'kc-credentials','name':"
                                     "'user-ann'}")),
                201);
    assert_code(town_whoami(t, token), 401);
    assert_code(town_try(t, "ann", GOOD), 401);
    assert_code(town_password(t, "ann", GOOD), 200);
    town_login(t, "ann", GOOD);
}

static void logout_ends_one_session_and_everywhere_all(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    town_user(t, "ann", "", GOOD);
    const reply *one = town_try(t, "ann", GOOD), *two = town_try(t, "ann", GOOD),
                *three = town_try(t, "ann", GOOD);
    assert_code(
        api_post(t->a, "/people/logout", text(t->a, "{'session':'%s'}", r_text(one, "session"))),
        200);
    assert_code(town_whoami(t, r_text(one, "token")), 401);
    assert_code(town_whoami(t, r_text(two, "token")), 201);
    assert_code(
        api_post(t->a, "/people/logout", text(t->a, "{'session':'%s'}", r_text(one, "session"))),
        401);
    assert_code(api_post(t->a, "/people/logout",
                         text(t->a, "{'session':'%s','everywhere':true}", r_text(two, "session"))),
                200);
    assert_code(town_whoami(t, r_text(two, "token")), 401);
    assert_code(town_whoami(t, r_text(three, "token")), 401);
}

static void session_renews_its_token_with_its_key_only(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    town_user(t, "ann", "", GOOD);
    const char *session = r_text(town_try(t, "ann", GOOD), "session");
    const reply *r = api_post(t->a, "/people/renew", text(t->a, "{'session':'%s'}", session));
    assert_code(r, 200);
    assert_code(town_whoami(t, r_text(r, "token")), 201);
    char *forged = strdup(session);
    forged[strlen(forged) - 5] = forged[strlen(forged) - 5] == 'A' ? 'B' : 'A';
    assert_code(api_post(t->a, "/people/renew", text(t->a, "{'session':'%s'}", forged)), 401);
    free(forged);
    assert_code(api_post(t->a, "/people/renew", "{'session':'user-ann.AAAA'}"), 401);
    assert_code(api_post(t->a, "/people/renew", "{}"), 401);
}

static void sessions_survive_a_restart_and_are_limited(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    town_user(t, "ann", "", GOOD);
    const reply *first = town_try(t, "ann", GOOD);
    assert_code(town_whoami(t, r_text(first, "token")), 201);
    api_restart(t->a);
    assert_code(town_whoami(t, r_text(first, "token")), 201);
    const char *tokens[2 * KC__PEOPLE_MAX_SESSIONS];
    int valid = 0;
    for (size_t i = 0; i < KC_COUNT(tokens); i++)
        tokens[i] = town_login(t, "ann", GOOD);
    for (size_t i = 0; i < KC_COUNT(tokens); i++)
        valid += town_whoami(t, tokens[i])->status == 201;
    assert_in_range(valid, KC__PEOPLE_MAX_SESSIONS - 1, KC__PEOPLE_MAX_SESSIONS);
    assert_code(town_whoami(t, tokens[KC_COUNT(tokens) - 1]), 201);
}

static void administrator_issues_a_token_that_a_revocation_ends(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    assert_code(town_admin(t, "POST", USERS, user_body(t, "ann", "")), 201);
    const reply *r =
        town_admin(t, "POST", "/people/token", "{'username':'ann','expirationSeconds':600}");
    assert_code(r, 200);
    assert_code(town_whoami(t, r_text(r, "token")), 201);
    assert_code(town_as(t, "clerk", "POST", "/people/token", "{'username':'ann'}"), 403);
    assert_code(town_admin(t, "POST", "/people/token", "{'username':'ann','expirationSeconds':9}"),
                400);
    assert_code(town_admin(t, "POST", "/people/token", "{'username':'none'}"), 404);
    assert_code(town_admin(t, "POST", "/people/revoke", "{'username':'ann'}"), 200);
    assert_code(town_whoami(t, r_text(r, "token")), 401);
}

static void endpoints_refuse_other_methods_types_and_bodies(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    assert_code(api_get(t->a, "/people/login"), 405);
    assert_code(SEND(t->a, "POST", "/people/login", .body = "username=a", .type = "text/plain"),
                415);
    assert_code(api_post(t->a, "/people/login", "[]"), 400);
    assert_code(api_post(t->a, "/people/login", "{'username':"), 400);
    assert_code(api_post(t->a, "/people/password", "{'username':'ann','password':'0123456789'}"),
                403);
    kc_auto(api) *without = api_start(NULL);
    assert_code(api_post(without, "/people/login", "{}"), 404);
}

/* Two hashes at a time; every further login gets 429 at once. */
static void third_login_at_the_same_time_gets_429(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    town_user(t, "ann", "", GOOD);
    kc__people *people = api_inside(t->a)->people;
    atomic_fetch_add(&people->hashing, KC__PEOPLE_HASHES);
    const reply *r = town_try(t, "ann", GOOD);
    assert_code(r, 429);
    assert_string_equal(r_header(r, "Retry-After"), "1");
    atomic_fetch_sub(&people->hashing, KC__PEOPLE_HASHES);
    town_login(t, "ann", GOOD);
}

TESTS(login_gives_a_token_with_the_groups_of_existing_teams,
      wrong_password_and_unknown_user_have_the_same_answer,
      eleventh_wrong_password_is_refused_even_if_right, password_change_ends_tokens_and_sessions,
      owner_changes_a_password_with_the_old_one_only, disabled_user_loses_tokens_for_good,
      recreated_user_does_not_inherit_tokens_or_the_password,
      logout_ends_one_session_and_everywhere_all, session_renews_its_token_with_its_key_only,
      sessions_survive_a_restart_and_are_limited,
      administrator_issues_a_token_that_a_revocation_ends,
      endpoints_refuse_other_methods_types_and_bodies, third_login_at_the_same_time_gets_429)
