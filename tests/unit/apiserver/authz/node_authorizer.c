/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions about nodes from the pods in the store of a real server; requests of nodes. The
 * conversations node-authorizer and node-restriction have more cases. */
#include "apiserver/authz/node_authorizer.h"
#include "rbac_testing.h"

#include <pthread.h>
#include <stdio.h>

#define PODS    "/api/v1/namespaces/default/pods"
#define SECRETS "/api/v1/namespaces/default/secrets"

static const reply *as_node(rbac *r, const char *node, const char *method, const char *target,
                            const char *body)
{
    return SEND(r->api, method, target, .body = body,
                .headers = {"Authorization: Bearer admin",
                            text(r->api, "Impersonate-User: system:node:%s", node),
                            "Impersonate-Group: system:nodes"});
}

static rbac *start_with_nodes(void)
{
    return rbac_start_with_modes(
        (kc__authz_modes){.items = {KC__AUTHZ_NODE_MODE, KC__AUTHZ_RBAC}, .n = 2});
}

static void bind_pod(rbac *r, const char *name, const char *node)
{
    rbac_create(r, PODS,
                text(r->api,
                     "{'metadata':{'name':'%s'},'spec':{'nodeName':'%s','containers':[{'name':'c',"
                     "'image':'i'}],'volumes':[{'name':'v','secret':{'secretName':'s-%s'}}]}}",
                     name, node, name));
}

static void node_reads_secrets_of_its_pods_only(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_nodes();
    rbac_create(r, SECRETS, "{'metadata':{'name':'s-web'}}");
    assert_code(as_node(r, "n1", "GET", SECRETS "/s-web", NULL), 403);
    bind_pod(r, "web", "n1");
    assert_code(as_node(r, "n1", "GET", SECRETS "/s-web", NULL), 200);
    assert_at(as_node(r, "n2", "GET", SECRETS "/s-web", NULL), "message",
              "secrets \"s-web\" is forbidden: User \"system:node:n2\" cannot get resource "
              "\"secrets\" in API group \"\" in the namespace \"default\": no relationship found "
              "between node 'n2' and this object");
    assert_code(rbac_admin(r, "DELETE", PODS "/web?gracePeriodSeconds=0", NULL), 200);
    assert_code(as_node(r, "n1", "GET", SECRETS "/s-web", NULL), 403);
}

static void pod_that_appears_many_changes_later_is_seen(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_nodes();
    rbac_create(r, SECRETS, "{'metadata':{'name':'s-p150'}}");
    for (int i = 0; i <= 150; i++)
        bind_pod(r, text(r->api, "p%d", i), "n1");
    assert_code(as_node(r, "n1", "GET", SECRETS "/s-p150", NULL), 200);
    for (int i = 0; i <= 150; i++)
        assert_code(
            rbac_admin(r, "DELETE", text(r->api, PODS "/p%d?gracePeriodSeconds=0", i), NULL), 200);
    assert_code(as_node(r, "n1", "GET", SECRETS "/s-p150", NULL), 403);
}

static void mode_rbac_alone_gives_nodes_nothing(void **state)
{
    (void)state;
    kc_auto(rbac) *r = rbac_start();
    bind_pod(r, "web", "n1");
    assert_code(as_node(r, "n1", "GET", PODS "/web", NULL), 403);
}

static void list_of_pods_needs_the_selector_of_the_node(void **state)
{
    (void)state;
    kc_auto(rbac) *r = start_with_nodes();
    assert_code(as_node(r, "n1", "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", NULL),
                200);
    assert_code(as_node(r, "n1", "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn2", NULL),
                403);
    assert_code(as_node(r, "n1", "GET", "/api/v1/pods", NULL), 403);
    assert_code(
        as_node(r, "n1", "GET", "/api/v1/watch/pods?fieldSelector=spec.nodeName%3Dn1", NULL), 403);
}

/* ---- while pods change ---- */

enum { DECISIONS = 3000 };

static void *ask_all_the_time(void *user)
{
    const kc_str groups[] = {KC_STR("system:nodes")};
    const kc__user node = {.name = KC_STR("system:node:n1"), .groups = groups, .n_groups = 1};
    const kc__authz_attributes a = {.user = &node,
                                    .verb = KC_STR("get"),
                                    .is_resource = true,
                                    .resource = KC_STR("secrets"),
                                    .ns = KC_STR("default"),
                                    .name = KC_STR("s-kept")};
    for (int i = 0; i < DECISIONS; i++) {
        kc__authz_node_takes_long(user, &node);
        assert_int_equal(kc__authz_node_authorize(user, &a, NULL), KC__AUTHZ_ALLOW);
    }
    return NULL;
}

static void decisions_are_right_while_other_pods_change(void **state)
{
    (void)state;
    pthread_t threads[3];
    kc_auto(rbac) *r = start_with_nodes();
    bind_pod(r, "kept", "n1");
    kc_auto(kc__authz_node) *node =
        kc__authz_node_new(&(kc__authz_node_opts){.store = api_inside(r->api)->store}, NULL);
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        pthread_create(&threads[i], NULL, ask_all_the_time, node);
    for (int i = 0; i < 60; i++) {
        bind_pod(r, "other", "n1");
        assert_code(rbac_admin(r, "DELETE", PODS "/other?gracePeriodSeconds=0", NULL), 200);
    }
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        pthread_join(threads[i], NULL);
}

TESTS(node_reads_secrets_of_its_pods_only, pod_that_appears_many_changes_later_is_seen,
      mode_rbac_alone_gives_nodes_nothing, list_of_pods_needs_the_selector_of_the_node,
      decisions_are_right_while_other_pods_change)
