/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rbac_testing.h: an API server with authorization by roles, and requests as several users.
 *
 *     kc_auto(rbac) *r = rbac_start();
 *     rbac_create(r, ROLES "/clusterroles", "{'metadata':{'name':'reader'},'rules':[…]}");
 *     assert_code(AS(r, "bob", "GET", "/api/v1/pods"), 403);
 *
 * The administrator (rbac_admin, rbac_create) is in system:masters; every other user is
 * impersonated by the administrator, with the group "g".
 */
#ifndef KC_RBAC_TESTING_H
#define KC_RBAC_TESTING_H

#include "api_testing.h"
#include "files_testing.h"

#define ROLES "/apis/rbac.authorization.k8s.io/v1"

typedef struct rbac {
    scratch *files;
    kc__authn *authn;
    api *api;
} rbac;

static inline rbac *rbac_start_as(kc__authz_modes modes, kc__admission_selection plugins)
{
    rbac *r = kc_new(rbac);
    r->files = scratch_new();
    scratch_write(r->files, "tokens.csv", "admin,root,1,system:masters\nuser,alice,2,dev\n");
    kc_autofree char *path = scratch_path(r->files, "tokens.csv");
    r->authn = kc__authn_new(&(kc__authn_opts){.token_file = path}, NULL);
    assert_non_null(r->authn);
    r->api = api_start(&(api_opts){
        .server = {.authn = r->authn, .authorization = modes, .enabled_plugins = plugins}});
    return r;
}

static inline KC_UNUSED rbac *rbac_start(void)
{
    return rbac_start_as((kc__authz_modes){.items = {KC__AUTHZ_RBAC}, .n = 1}, 0);
}

static inline KC_UNUSED rbac *rbac_start_with_modes(kc__authz_modes modes)
{
    return rbac_start_as(modes, 0);
}

/* With admission plugins that are off by default. */
static inline KC_UNUSED rbac *rbac_start_with_plugins(kc__admission_selection plugins)
{
    return rbac_start_as((kc__authz_modes){.items = {KC__AUTHZ_RBAC}, .n = 1}, plugins);
}

static inline rbac *rbac_stop(rbac *r)
{
    if (!r)
        return NULL;
    api_stop(r->api);
    kc__authn_free(r->authn);
    scratch_free(r->files);
    free(r);
    return NULL;
}
KC_AUTO_DEFINE(rbac, rbac_stop)

static inline KC_UNUSED const reply *rbac_admin(rbac *r, const char *method, const char *target,
                                                const char *body)
{
    return SEND(r->api, method, target, .body = body, .headers = {"Authorization: Bearer admin"});
}

static inline KC_UNUSED const reply *rbac_as(rbac *r, const char *user, const char *method,
                                             const char *target, const char *body)
{
    return SEND(r->api, method, target, .body = body,
                .headers = {"Authorization: Bearer admin",
                            text(r->api, "Impersonate-User: %s", user), "Impersonate-Group: g"});
}

/* AS(r, user, method, target[, body]) */
#define AS(r, user, method, ...)                     RBAC_AS_(r, user, method, __VA_ARGS__, NULL, )
#define RBAC_AS_(r, user, method, target, body, ...) rbac_as(r, user, method, target, body)

static inline KC_UNUSED void rbac_create(rbac *r, const char *target, const char *body)
{
    assert_code(rbac_admin(r, "POST", target, body), 201);
}

#define CLUSTER_REF(name) \
    "'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'ClusterRole','name':'" name "'}"
#define LOCAL_REF(name) \
    "'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'Role','name':'" name "'}"
#define USER(name) "'subjects':[{'kind':'User','name':'" name "'}]"

#endif
