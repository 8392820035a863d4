/* SPDX-License-Identifier: Apache-2.0 */
/* revocation.c: open watches end within a minute of the end of their credential. */
#include "people_testing.h"

#define GOOD     "a good password"
#define MAPS     "/api/v1/namespaces/default/configmaps?watch=1"
#define ACCOUNTS "/api/v1/namespaces/default/serviceaccounts"

static watch *watch_as(town *t, const char *token)
{
    watch *w = WATCH(t->a, MAPS, .headers = {text(t->a, "Authorization: Bearer %s", token)});
    assert_int_equal(w->status, 200);
    return w;
}

/* Two thirds of a minute in small steps: a timer may start another one. A loop finds it due within
 * a millisecond of real time, at the latest in the turn after the one that is under way. */
static void pass_a_minute(town *t)
{
    for (int i = 0; i < 12; i++) {
        api_advance(t->a, 5 * KC_SECOND);
        kc_clock_sleep(kc_clock_real(), 2 * KC_MILLISECOND);
        for (size_t j = 0; j < 2 * api_inside(t->a)->n_contexts + 1; j++)
            api_get(t->a, "/livez");
    }
}

static void allow_everybody(town *t)
{
    assert_code(
        town_admin(t, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
                   "{'metadata':{'name':'all'},'roleRef':{'apiGroup':"
                   "'rbac.authorization.k8s.io','kind':'ClusterRole','name':'cluster-admin'},"
                   "'subjects':[{'kind':'Group','name':'system:authenticated'}]}"),
        201);
}

static void watch_ends_when_its_user_is_disabled_and_others_continue(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start_in_virtual_time();
    allow_everybody(t);
    town_user(t, "ann", "", GOOD);
    town_user(t, "eve", "", GOOD);
    watch *ann = watch_as(t, town_login(t, "ann", GOOD)),
          *eve = watch_as(t, town_login(t, "eve", GOOD)), *root = watch_as(t, "admin");
    assert_code(town_admin(t, "PATCH", USERS "/ann", "{'spec':{'disabled':true}}"), 200);
    pass_a_minute(t);
    assert_ended(ann);
    assert_code(
        town_admin(t, "POST", "/api/v1/namespaces/default/configmaps", "{'metadata':{'name':'a'}}"),
        201);
    assert_event(eve, "ADDED", "a");
    assert_event(root, "ADDED", "a");
    watch_close(eve);
    watch_close(root);
}

static void watch_ends_when_its_session_is_logged_out(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start_in_virtual_time();
    allow_everybody(t);
    town_user(t, "ann", "", GOOD);
    const reply *login = town_try(t, "ann", GOOD);
    watch *w = watch_as(t, r_text(login, "token"));
    assert_code(
        api_post(t->a, "/people/logout", text(t->a, "{'session':'%s'}", r_text(login, "session"))),
        200);
    pass_a_minute(t);
    assert_ended(w);
}

static void watch_ends_when_its_token_expires(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start_in_virtual_time();
    allow_everybody(t);
    town_user(t, "ann", "", GOOD);
    watch *w = watch_as(t, town_login(t, "ann", GOOD));
    for (int i = 0; i < 14; i++)
        pass_a_minute(t);
    assert_true(watch_is_silent(w));
    pass_a_minute(t);
    pass_a_minute(t);
    assert_ended(w);
}

static void watch_of_a_service_account_ends_with_the_account(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start_in_virtual_time();
    allow_everybody(t);
    assert_code(town_admin(t, "POST", ACCOUNTS, "{'metadata':{'name':'web'}}"), 201);
    const reply *r = town_admin(t, "POST", ACCOUNTS "/web/token", "{}");
    assert_code(r, 201);
    watch *w = watch_as(t, r_text(r, "status.token"));
    pass_a_minute(t);
    assert_true(watch_is_silent(w));
    assert_code(town_admin(t, "DELETE", ACCOUNTS "/web", NULL), 200);
    pass_a_minute(t);
    assert_ended(w);
}

TESTS(watch_ends_when_its_user_is_disabled_and_others_continue,
      watch_ends_when_its_session_is_logged_out, watch_ends_when_its_token_expires,
      watch_of_a_service_account_ends_with_the_account)
