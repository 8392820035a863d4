/* SPDX-License-Identifier: Apache-2.0 */
/*
 * people_testing.h: an API server with people and roles.
 *
 *     kc_auto(town) *t = town_start();
 *     town_user(t, "ann", "'teams':['dev']", "a good password");
 *     const char *token = town_login(t, "ann", "a good password");
 *     assert_code(town_as(t, token, "GET", "/api/v1/pods", NULL), 403);
 *
 * The administrator (town_admin) is in system:masters. Hashes are cheap.
 */
#ifndef KC_PEOPLE_TESTING_H
#define KC_PEOPLE_TESTING_H

#include "accounts_testing.h"
#include "api_testing.h"
#include "files_testing.h"

#include "apiserver/access/sa_internal.h"
#include "apiserver/background/system_crds.h"
#include "apiserver/people/people.h"
#include "kc/file.h"

#define USERS "/apis/platform.kubecontroller.io/v1/users"
#define TEAMS "/apis/platform.kubecontroller.io/v1/teams"

typedef struct town {
    scratch *files;
    kc__authn *authn;
    kc__sa_tokens *tokens;
    kc_buf manifests[2];
    kc__bootstrap_crd definitions[2];
    api *a;
} town;

KC_UNUSED static town *town_start_with(api_opts opts)
{
    static const char *const paths[] = {
        "../manifests/platform/platform.kubecontroller.io_users.yaml",
        "../manifests/platform/platform.kubecontroller.io_teams.yaml"};
    town *t = kc_new(town);
    t->files = scratch_new();
    scratch_write(t->files, "tokens.csv",
                  "admin,root,1,system:masters\nclerk,clerk,2,clerks\nstatic,bob,3,dev\n");
    kc_autofree char *path = scratch_path(t->files, "tokens.csv");
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(kc_file_read(paths[i], KC_FILE_MAX, &t->manifests[i], NULL), 0);
        t->definitions[i] = (kc__bootstrap_crd){paths[i], kc_buf_str(&t->manifests[i])};
    }
    t->authn = kc__authn_new(&(kc__authn_opts){.token_file = path}, NULL);
    t->tokens = tokens_with("P-256", (kc__sa_opts){0});
    kc__authn_accept_accounts(t->authn, t->tokens);
    opts.server.authn = t->authn;
    opts.server.accounts = t->tokens;
    opts.server.people = true;
    opts.server.password_log_n = 4;
    opts.server.system_crds = t->definitions;
    opts.server.n_system_crds = 2;
    opts.server.authorization = (kc__authz_modes){{KC__AUTHZ_RBAC}, 1};
    t->a = api_start(&opts);
    t->tokens->clock = api_inside(t->a)->clock;
    return t;
}

KC_UNUSED static town *town_start(void)
{
    return town_start_with((api_opts){0});
}

/* Time passes by api_advance. */
KC_UNUSED static town *town_start_in_virtual_time(void)
{
    return town_start_with((api_opts){.virtual_time = true});
}

KC_UNUSED static town *town_stop(town *t)
{
    if (!t)
        return NULL;
    api_stop(t->a);
    kc__authn_free(t->authn);
    kc__sa_tokens_free(t->tokens);
    for (size_t i = 0; i < 2; i++)
        kc_buf_done(&t->manifests[i]);
    scratch_free(t->files);
    free(t);
    return NULL;
}
KC_AUTO_DEFINE(town, town_stop)

KC_UNUSED static const reply *town_as(town *t, const char *token, const char *method,
                                      const char *target, const char *body)
{
    return SEND(t->a, method, target, .body = body,
                .type = !strcmp(method, "PATCH") ? "application/merge-patch+json" : NULL,
                .headers = {text(t->a, "Authorization: Bearer %s", token)});
}

KC_UNUSED static const reply *town_admin(town *t, const char *method, const char *target,
                                         const char *body)
{
    return town_as(t, "admin", method, target, body);
}

KC_UNUSED static void town_team(town *t, const char *name)
{
    assert_code(town_admin(t, "POST", TEAMS,
                           text(t->a,
                                "{'apiVersion':'platform.kubecontroller.io/v1','kind':'Team',"
                                "'metadata':{'name':'%s'},'spec':{'displayName':'T'}}",
                                name)),
                201);
}

/* `more` is members of the spec, or "". */
KC_UNUSED static const char *user_body(town *t, const char *name, const char *more)
{
    return text(t->a,
                "{'apiVersion':'platform.kubecontroller.io/v1','kind':'User','metadata':{'name':"
                "'%s'},'spec':{'displayName':'P'%s%s}}",
                name, *more ? "," : "", more);
}

KC_UNUSED static const reply *town_password(town *t, const char *name, const char *password)
{
    return town_admin(t, "POST", "/people/password",
                      text(t->a, "{'username':'%s','password':'%s'}", name, password));
}

KC_UNUSED static void town_user(town *t, const char *name, const char *more, const char *password)
{
    assert_code(town_admin(t, "POST", USERS, user_body(t, name, more)), 201);
    assert_code(town_password(t, name, password), 200);
}

KC_UNUSED static const reply *town_try(town *t, const char *name, const char *password)
{
    return api_post(t->a, "/people/login",
                    text(t->a, "{'username':'%s','password':'%s'}", name, password));
}

/* The token of a new session. */
KC_UNUSED static const char *town_login(town *t, const char *name, const char *password)
{
    const reply *r = town_try(t, name, password);
    assert_code(r, 200);
    return r_text(r, "token");
}

#define WHOAMI "/apis/authentication.k8s.io/v1/selfsubjectreviews"

KC_UNUSED static const reply *town_whoami(town *t, const char *token)
{
    return town_as(t, token, "POST", WHOAMI, "{}");
}

#endif
