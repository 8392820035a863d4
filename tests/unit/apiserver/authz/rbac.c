/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions from roles and bindings in the store of a real server. */
#include "apiserver/authz/rbac.h"
#include "api_testing.h"

#include <pthread.h>
#include <stdio.h>

#define RBAC "/apis/rbac.authorization.k8s.io/v1"

/* Decides for a user with up to two groups. */
static const char *decide(kc__rbac *rbac, const char *name, const char *group, const char *verb,
                          const char *ns, const char *resource)
{
    static char text[300];
    const kc_str groups[] = {KC_STR("system:authenticated"), kc_cstr(group)};
    const kc__user user = {.name = kc_cstr(name), .groups = groups, .n_groups = 2};
    const kc__authz_attributes a = {.user = &user,
                                    .verb = kc_cstr(verb),
                                    .is_resource = true,
                                    .resource = kc_cstr(resource),
                                    .ns = kc_cstr(ns)};
    kc_scoped(kc_buf) reason = {0};
    const kc__authz_decision decision = kc__rbac_authorize(rbac, &a, &reason);
    snprintf(text, sizeof(text), "%s%s", decision == KC__AUTHZ_ALLOW ? "yes " : "no ",
             kc_buf_cstr(&reason));
    return text;
}

static void create(api *a, const char *target, const char *body)
{
    assert_int_equal(SEND(a, "POST", target, .body = body)->status, 201);
}

#define READER "'rules':[{'verbs':['get'],'apiGroups':[''],'resources':['pods']}]"

static void cluster_role_binding_grants_everywhere(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    kc_auto(kc__rbac) *rbac = kc__rbac_new(&(kc__rbac_opts){.store = api_inside(a)->store}, NULL);
    create(a, RBAC "/clusterroles", "{'metadata':{'name':'reader'}," READER "}");
    create(a, RBAC "/clusterrolebindings",
           "{'metadata':{'name':'b'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':"
           "'ClusterRole','name':'reader'},'subjects':[{'kind':'Group','name':'dev'}]}");
    const char *allowed =
        "yes RBAC: allowed by ClusterRoleBinding \"b\" of ClusterRole \"reader\" to Group \"dev\"";
    assert_string_equal(decide(rbac, "alice", "dev", "get", "", "pods"), allowed);
    assert_string_equal(decide(rbac, "alice", "dev", "get", "default", "pods"), allowed);
    assert_string_equal(decide(rbac, "alice", "dev", "list", "", "pods"), "no ");
    assert_string_equal(decide(rbac, "dev", "ops", "get", "", "pods"), "no ");
}

static void role_binding_grants_in_its_namespace(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    kc_auto(kc__rbac) *rbac = kc__rbac_new(&(kc__rbac_opts){.store = api_inside(a)->store}, NULL);
    create(a, RBAC "/namespaces/default/roles", "{'metadata':{'name':'reader'}," READER "}");
    create(a, RBAC "/namespaces/default/rolebindings",
           "{'metadata':{'name':'b'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':"
           "'Role','name':'reader'},'subjects':[{'kind':'ServiceAccount','name':'robot'},"
           "{'kind':'User','name':'alice'}]}");
    assert_string_equal(
        decide(rbac, "system:serviceaccount:default:robot", "x", "get", "default", "pods"),
        "yes RBAC: allowed by RoleBinding \"b/default\" of Role \"reader\" to "
        "ServiceAccount \"robot/default\"");
    assert_string_equal(decide(rbac, "alice", "x", "get", "default", "pods"),
                        "yes RBAC: allowed by RoleBinding \"b/default\" of Role \"reader\" to User "
                        "\"alice\"");
    assert_string_equal(decide(rbac, "alice", "x", "get", "", "pods"), "no ");
    assert_string_equal(decide(rbac, "alice", "x", "get", "kube-system", "pods"), "no ");
}

static void changes_are_in_effect_for_the_next_decision(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    kc_auto(kc__rbac) *rbac = kc__rbac_new(&(kc__rbac_opts){.store = api_inside(a)->store}, NULL);
    for (int round = 0; round < 20; round++) {
        create(a, RBAC "/clusterrolebindings",
               "{'metadata':{'name':'b'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':"
               "'ClusterRole','name':'r'},'subjects':[{'kind':'User','name':'alice'}]}");
        assert_string_equal(decide(rbac, "alice", "x", "get", "", "pods"),
                            "no RBAC: clusterrole.rbac.authorization.k8s.io \"r\" not found");
        create(a, RBAC "/clusterroles", "{'metadata':{'name':'r'}," READER "}");
        assert_int_equal(strncmp(decide(rbac, "alice", "x", "get", "", "pods"), "yes", 3), 0);
        assert_int_equal(SEND(a, "DELETE", RBAC "/clusterroles/r")->status, 200);
        assert_int_equal(strncmp(decide(rbac, "alice", "x", "get", "", "pods"), "no", 2), 0);
        assert_int_equal(SEND(a, "DELETE", RBAC "/clusterrolebindings/b")->status, 200);
        assert_string_equal(decide(rbac, "alice", "x", "get", "", "pods"), "no ");
    }
}

typedef struct deciding {
    kc__rbac *rbac;
    _Atomic bool stop;
    _Atomic size_t allowed, denied;
} deciding;

static void *decide_all_the_time(void *arg)
{
    deciding *d = arg;
    const kc_str groups[] = {KC_STR("dev")};
    const kc__user user = {.name = KC_STR("alice"), .groups = groups, .n_groups = 1};
    const kc__authz_attributes a = {
        .user = &user, .verb = KC_STR("get"), .is_resource = true, .resource = KC_STR("pods")};
    while (!atomic_load(&d->stop)) {
        kc_scoped(kc_buf) reason = {0};
        kc_scoped(kc__rbac_rights) rights = {0};
        const bool allowed = kc__rbac_authorize(d->rbac, &a, &reason) == KC__AUTHZ_ALLOW;
        atomic_fetch_add(allowed ? &d->allowed : &d->denied, 1);
        kc__rbac_rights_collect(d->rbac, &user, KC_STR("default"), false, &rights);
        kc__rbac_rules_unref(
            kc__rbac_role_rules(d->rbac, KC_STR("ClusterRole"), KC_STR(""), KC_STR("r")));
    }
    return NULL;
}

/* Rules that a decision holds outlive their role. */
static void decisions_on_several_threads_see_one_of_both_states(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    kc_auto(kc__rbac) *rbac = kc__rbac_new(&(kc__rbac_opts){.store = api_inside(a)->store}, NULL);
    deciding d = {.rbac = rbac};
    pthread_t threads[2];
    create(a, RBAC "/clusterrolebindings",
           "{'metadata':{'name':'b'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':"
           "'ClusterRole','name':'r'},'subjects':[{'kind':'Group','name':'dev'}]}");
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        pthread_create(&threads[i], NULL, decide_all_the_time, &d);
    for (int i = 0; i < 50 || !atomic_load(&d.allowed) || !atomic_load(&d.denied); i++) {
        create(a, RBAC "/clusterroles", "{'metadata':{'name':'r'}," READER "}");
        assert_string_equal(decide(rbac, "bob", "dev", "get", "", "pods"),
                            "yes RBAC: allowed by ClusterRoleBinding \"b\" of ClusterRole \"r\" to "
                            "Group \"dev\"");
        assert_int_equal(SEND(a, "DELETE", RBAC "/clusterroles/r")->status, 200);
        assert_int_equal(strncmp(decide(rbac, "bob", "dev", "get", "", "pods"), "no", 2), 0);
    }
    atomic_store(&d.stop, true);
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        pthread_join(threads[i], NULL);
}

TESTS(cluster_role_binding_grants_everywhere, role_binding_grants_in_its_namespace,
      changes_are_in_effect_for_the_next_decision,
      decisions_on_several_threads_see_one_of_both_states)
