/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduling_testing.h: helpers for tests of the running scheduler: nodes, pods, and their
 * placement.
 *
 *     kc_auto(kc_testenv) *env = scheduling(7);
 *     nodes(env, 2);
 *     pod(env, "web", "100m", "nodeSelector: {disk: ssd}");
 *     settle(env);
 *     assert_on(env, "web", "node-0");
 */
#ifndef KC_SCHEDULING_TESTING_H
#define KC_SCHEDULING_TESTING_H

#include "plane_testing.h"

#include "kc/controllers.h"
#include "kc/view.h"

static inline KC_UNUSED void add_scheduler(kc_manager *manager)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_controllers_add(manager, &(kc_controllers_opts){.names = "scheduler"}, &err), &err);
}

static inline KC_UNUSED kc_testenv *scheduling(uint64_t seed)
{
    kc_testenv *env = plane(seed);
    add_scheduler(kc_testenv_manager(env));
    return env;
}

static inline KC_UNUSED void apply(kc_testenv *env, const char *yaml)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_testenv_apply(env, kc_cstr(yaml), &err), &err);
}

static inline KC_UNUSED void patch(kc_testenv *env, const kc_kind *kind, const char *name,
                                   const char *subresource, const char *json)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *text = kc_strdup(json);
    for (char *at = text; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    kc_auto(kc_object) *now = kc_client_patch(
        kc_testenv_client(env), kind, kind->namespaced ? KC_KEY("default", name) : KC_KEY("", name),
        KC_PATCH_MERGE, kc_cstr(text), &(kc_write_opts){.subresource = subresource}, &err);
    OK(now ? 0 : -1, &err);
}

static inline KC_UNUSED void set_status(kc_testenv *env, const kc_kind *kind, const char *name,
                                        const char *status)
{
    kc_autofree char *json = kc_asprintf("{'status':%s}", status);
    patch(env, kind, name, "status", json);
}

#define ROOM                                                 \
    "{'allocatable':{'cpu':'2','memory':'4Gi','pods':'10'}," \
    "'conditions':[{'type':'Ready','status':'True'}]}"

/* A ready node with additional labels. A new node is normally tainted until the node
 * controller has seen that it is ready; these tests run no such controller, so the node has
 * exactly `taints`. */
static inline KC_UNUSED void node(kc_testenv *env, const char *name, const char *labels,
                                  const char *taints)
{
    kc_autofree char *yaml =
        kc_asprintf("{apiVersion: v1, kind: Node, metadata: {name: %s, labels: "
                    "{kubernetes.io/hostname: %s%s}}}",
                    name, name, labels);
    kc_autofree char *spec = kc_asprintf("{'spec':{'taints':[%s]}}", taints);
    apply(env, yaml);
    patch(env, &kc_kind_node, name, NULL, spec);
    set_status(env, &kc_kind_node, name, ROOM);
}

static inline KC_UNUSED void nodes(kc_testenv *env, int n)
{
    for (int i = 0; i < n; i++) {
        kc_autofree char *name = kc_asprintf("node-%d", i);
        node(env, name, "", "");
    }
}

/* A pod with one container; `spec` is added to its spec. */
static inline KC_UNUSED void pod(kc_testenv *env, const char *name, const char *cpu,
                                 const char *spec)
{
    kc_autofree char *yaml = kc_asprintf(
        "{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default, labels: {app: web}}, "
        "spec: {containers: [{name: c, image: example/c, resources: {requests: {cpu: %s}}}]%s%s}}",
        name, cpu, *spec ? ", " : "", spec);
    apply(env, yaml);
}

static inline KC_UNUSED kc_view *view_of_pod(kc_testenv *env, const char *name)
{
    kc_auto(kc_object) *p = look_up(env, &kc_kind_pod, name);
    return p ? kc_view_of(p) : NULL;
}

/* The caller frees it; "" while the pod is pending; NULL if the pod does not exist. */
static inline KC_UNUSED char *node_of(kc_testenv *env, const char *name)
{
    kc_auto(kc_view) *v = view_of_pod(env, name);
    return v ? kc_str_dup(kc_value_as_str(kc_value_nested(kc_view_root(v), "spec.nodeName")))
             : NULL;
}

static inline KC_UNUSED bool is_bound(kc_testenv *env, const char *name)
{
    kc_autofree char *where = node_of(env, name);
    return where && *where;
}

static inline KC_UNUSED void assert_on(kc_testenv *env, const char *name, const char *where)
{
    kc_autofree char *is = node_of(env, name);
    assert_non_null(is);
    assert_string_equal(is, where);
}

/* The PodScheduled condition: "Reason: message". */
static inline KC_UNUSED char *condition_of(kc_testenv *env, const char *name)
{
    kc_auto(kc_view) *v = view_of_pod(env, name);
    kc_value_each_item (kc_value_nested(kc_view_root(v), "status.conditions"), c)
        if (kc_str_is(kc_value_as_str(kc_value_get(c, "type")), "PodScheduled"))
            return kc_asprintf("%s: %s", kc_value_as_cstr(kc_value_get(c, "reason"), ""),
                               kc_value_as_cstr(kc_value_get(c, "message"), ""));
    return kc_strdup("");
}

static inline KC_UNUSED void assert_waits(kc_testenv *env, const char *name, const char *condition)
{
    kc_autofree char *is = condition_of(env, name);
    assert_string_equal(is, condition);
    assert_on(env, name, "");
}

static inline KC_UNUSED size_t count_events(kc_testenv *env, const char *name, const char *reason,
                                            const char *part)
{
    kc_scoped(kc_object_list) list = {0};
    kc_scoped(kc_error) err = {0};
    size_t n = 0;
    OK(kc_client_list(kc_testenv_client(env), &kc_kind_event, NULL, &list, &err), &err);
    for (size_t i = 0; i < list.n; i++) {
        kc_auto(kc_view) *v = kc_view_of(list.items[i]);
        const kc_value *root = kc_view_root(v);
        n += kc_str_is(kc_value_as_str(kc_value_nested(root, "involvedObject.name")), name) &&
             kc_str_is(kc_value_as_str(kc_value_get(root, "reason")), reason) &&
             kc_str_contains(kc_value_as_str(kc_value_get(root, "message")), kc_cstr(part));
    }
    return n;
}

static inline KC_UNUSED void delete_pod(kc_testenv *env, const char *name)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_client_delete(kc_testenv_client(env), &kc_kind_pod, KC_KEY("default", name),
                        &(kc_delete_opts){.immediately = true}, &err),
       &err);
}

#endif
