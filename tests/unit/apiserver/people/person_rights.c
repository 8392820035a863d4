/* SPDX-License-Identifier: Apache-2.0 */
/* Permissions to assign teams, groups and credentials, and to read the Secrets. */
#include "people_testing.h"

#define ROLES   "/apis/rbac.authorization.k8s.io/v1"
#define SECRETS "/api/v1/namespaces/kc-credentials/secrets"
#define GOOD    "a good password"

/* The clerk may write Users and read all Secrets, and nothing else. */
static void hire_clerk(town *t, const char *more_rules)
{
    assert_code(town_admin(t, "POST", ROLES "/clusterroles",
                           text(t->a,
                                "{'metadata':{'name':'clerk'},'rules':[{'apiGroups':"
                                "['platform.kubecontroller.io'],'resources':['users'],'verbs':"
                                "['create','update','patch','get']},{'apiGroups':[''],'resources':"
                                "['secrets'],'verbs':['*']}%s]}",
                                more_rules)),
                201);
    assert_code(town_admin(t, "POST", ROLES "/clusterrolebindings",
                           "{'metadata':{'name':'clerk'},'roleRef':{'apiGroup':"
                           "'rbac.authorization.k8s.io','kind':'ClusterRole','name':'clerk'},"
                           "'subjects':[{'kind':'User','name':'clerk'}]}"),
                201);
}

static const reply *clerk(town *t, const char *method, const char *target, const char *body)
{
    return town_as(t, "clerk", method, target, body);
}

static void team_needs_bind_on_that_team(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    hire_clerk(t, ",{'apiGroups':['platform.kubecontroller.io'],'resources':['teams'],'verbs':"
                  "['bind'],'resourceNames':['dev']}");
    assert_code(clerk(t, "POST", USERS, user_body(t, "ann", "")), 201);
    assert_status(
        clerk(t, "PATCH", USERS "/ann", "{'spec':{'teams':['admins']}}"), 403, "Forbidden",
        "teams.platform.kubecontroller.io \"admins\" is forbidden: User \"clerk\" cannot "
        "bind resource \"teams\" in API group \"platform.kubecontroller.io\" at the cluster "
        "scope");
    assert_code(clerk(t, "POST", USERS, user_body(t, "eve", "'teams':['admins']")), 403);
    assert_code(clerk(t, "PATCH", USERS "/ann", "{'spec':{'teams':['dev']}}"), 200);
    assert_code(clerk(t, "PATCH", USERS "/ann", "{'spec':{'teams':null}}"), 200);
    assert_code(town_admin(t, "PATCH", USERS "/ann", "{'spec':{'teams':['admins']}}"), 200);
    assert_code(clerk(t, "PATCH", USERS "/ann", "{'spec':{'email':'ann@example.com'}}"), 200);
}

static void user_who_may_edit_users_cannot_join_a_team(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    hire_clerk(t, "");
    town_user(t, "clerk", "", GOOD);
    const char *token = town_login(t, "clerk", GOOD);
    assert_code(town_as(t, token, "PATCH", USERS "/clerk", "{'spec':{'teams':['admins']}}"), 403);
    assert_code(town_as(t, token, "PATCH", USERS "/clerk", "{'spec':{'groups':['x']}}"), 403);
    assert_code(town_as(t, token, "PATCH", USERS "/clerk", "{'spec':{'displayName':'C'}}"), 200);
}

static void system_groups_cannot_be_assigned_by_the_administrator(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    assert_code(town_admin(t, "POST", USERS, user_body(t, "ann", "'groups':['system:masters']")),
                403);
    assert_code(town_admin(t, "POST", USERS, user_body(t, "ann", "'groups':['team:admins']")), 403);
    assert_code(town_admin(t, "POST", USERS, user_body(t, "ann", "'groups':['readers']")), 201);
}

static void credentials_reference_names_the_own_secret_only(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    hire_clerk(t, "");
    assert_code(town_admin(t, "POST", USERS, user_body(t, "ann", "")), 201);
    town_user(t, "root", "", GOOD);
    assert_code(
        town_admin(t, "PATCH", USERS "/ann",
                   "{'spec':{'credentialsRef':{'namespace':'kc-credentials','name':'user-root'}}}"),
        403);
    assert_code(town_admin(t, "PATCH", USERS "/ann",
                           "{'spec':{'credentialsRef':{'namespace':'default','name':'user-ann'}}}"),
                403);
    const char *own =
        "{'spec':{'credentialsRef':{'namespace':'kc-credentials','name':'user-ann'}}}";
    assert_code(clerk(t, "PATCH", USERS "/ann", own), 403);
    assert_code(town_admin(t, "PATCH", USERS "/ann", own), 200);
    assert_code(clerk(t, "POST", "/people/password", "{'username':'root','password':'0123456789'}"),
                403);
}

static void generation_of_tokens_cannot_be_written(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    town_user(t, "ann", "", GOOD);
    const char *token = town_login(t, "ann", GOOD);
    assert_code(town_password(t, "ann", "another password"), 200);
    assert_code(
        town_admin(
            t, "PATCH", USERS "/ann",
            "{'metadata':{'annotations':{'platform.kubecontroller.io/token-generation':'1'}}}"),
        200);
    assert_code(town_whoami(t, token), 401);
    assert_code(town_admin(t, "PATCH", USERS "/ann", "{'metadata':{'annotations':null}}"), 200);
    assert_code(town_whoami(t, token), 401);
    const reply *r = town_admin(t, "GET", USERS "/ann", NULL);
    assert_non_null(strstr(r->body, "\"platform.kubecontroller.io/token-generation\":\"2\""));
    assert_code(
        town_admin(t, "POST", USERS,
                   "{'apiVersion':'platform.kubecontroller.io/v1','kind':'User','metadata':{"
                   "'name':'eve','annotations':{'platform.kubecontroller.io/token-generation':"
                   "'7'}},'spec':{'displayName':'E'}}"),
        201);
    assert_null(strstr(town_admin(t, "GET", USERS "/eve", NULL)->body, "token-generation\":\"7\""));
}

static void secrets_of_people_are_invisible_to_everyone(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    town_user(t, "ann", "", GOOD);
    town_login(t, "ann", GOOD);
    assert_status(
        town_admin(t, "GET", SECRETS "/user-ann", NULL), 403, "Forbidden",
        "secrets \"user-ann\" is forbidden: User \"root\" cannot get resource \"secrets\" in "
        "API group \"\" in the namespace \"kc-credentials\": the namespace is reserved for "
        "credentials");
    assert_code(town_admin(t, "GET", SECRETS, NULL), 403);
    assert_code(town_admin(t, "DELETE", SECRETS "/user-ann", NULL), 403);
    assert_code(town_admin(t, "PATCH", SECRETS "/user-ann", "{}"), 403);
    assert_code(town_admin(t, "POST", SECRETS, "{'metadata':{'name':'x'}}"), 403);
    assert_code(
        town_admin(t, "POST", "/api/v1/namespaces/default/secrets", "{'metadata':{'name':'seen'}}"),
        201);
    const reply *all = town_admin(t, "GET", "/api/v1/secrets", NULL);
    assert_code(all, 200);
    assert_string_equal(r_names(all), "seen");
    assert_string_equal(
        r_names(town_admin(
            t, "GET", "/api/v1/secrets?fieldSelector=metadata.namespace%3Dkc-credentials", NULL)),
        "");
    assert_string_equal(r_names(town_admin(t, "GET", "/api/v1/secrets?limit=1", NULL)), "seen");
    assert_code(town_admin(t, "DELETE", "/api/v1/namespaces/kc-credentials", NULL), 403);
}

static void page_of_secrets_in_a_namespace_counts_the_rest(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    town_user(t, "ann", "", GOOD);
    for (int i = 0; i < 3; i++)
        assert_code(town_admin(t, "POST", "/api/v1/namespaces/default/secrets",
                               text(t->a, "{'metadata':{'name':'s%d'}}", i)),
                    201);
    const reply *r = town_admin(t, "GET", "/api/v1/namespaces/default/secrets?limit=1", NULL);
    assert_at(r, "metadata.remainingItemCount", "2");
}

static void watch_of_all_secrets_does_not_show_those_of_people(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start();
    watch *w = WATCH(t->a, "/api/v1/secrets?watch=1", .headers = {"Authorization: Bearer admin"});
    town_user(t, "ann", "", GOOD);
    town_login(t, "ann", GOOD);
    assert_code(
        town_admin(t, "POST", "/api/v1/namespaces/default/secrets", "{'metadata':{'name':'seen'}}"),
        201);
    assert_event(w, "ADDED", "seen");
    watch_close(w);
}

TESTS(team_needs_bind_on_that_team, user_who_may_edit_users_cannot_join_a_team,
      system_groups_cannot_be_assigned_by_the_administrator,
      credentials_reference_names_the_own_secret_only, generation_of_tokens_cannot_be_written,
      secrets_of_people_are_invisible_to_everyone, page_of_secrets_in_a_namespace_counts_the_rest,
      watch_of_all_secrets_does_not_show_those_of_people)
