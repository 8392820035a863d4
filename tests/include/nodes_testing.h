/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes_testing.h: nodes and pods for tests of their controllers: created with one call, their
 * status written as a kubelet would, their leases renewed.
 */
#ifndef KC_NODES_TESTING_H
#define KC_NODES_TESTING_H

#include "scenario_testing.h"

#include "kc/conditions.h"
#include "kc/time.h"
#include "kc/view.h"

/* Creates an object from a format string; ' stands for ". */
#define put(env, ...)                                           \
    do {                                                        \
        kc_autofree char *put_json_ = kc_asprintf(__VA_ARGS__); \
        kc_auto(kc_object) *put_made_ = make(env, put_json_);   \
    } while (0)

/* A pod in namespace default; "" for no node. `more` is added to its metadata, `spec` to its
 * spec. */
static inline KC_UNUSED void make_pod_with(kc_testenv *env, const char *name, const char *node,
                                           const char *more, const char *spec)
{
    put(env,
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'default'%s},'spec':"
        "{'nodeName':'%s','containers':[{'name':'c','image':'i'}]%s}}",
        name, more, node, spec);
}

static inline KC_UNUSED void make_pod(kc_testenv *env, const char *name, const char *node)
{
    make_pod_with(env, name, node, "", "");
}

#define STUCK ",'finalizers':['example.com/stuck']"

/* Applies a merge patch to the status; ' stands for ". */
static inline KC_UNUSED void patch_status(kc_testenv *env, const kc_kind *kind, const char *name,
                                          const char *json)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *text = kc_asprintf("{\"status\":%s}", json);
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    kc_auto(kc_object) *now = kc_client_patch(
        kc_testenv_client(env), kind, KC_KEY(kind->namespaced ? "default" : NULL, name),
        KC_PATCH_MERGE, kc_cstr(text), &(kc_write_opts){.subresource = "status"}, &err);
    OK(now ? 0 : -1, &err);
}

/* Likewise for everything but the status. */
static inline KC_UNUSED void patch(kc_testenv *env, const kc_kind *kind, const char *name,
                                   const char *json)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *text = kc_strdup(json);
    for (char *p = text; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    kc_auto(kc_object) *now = kc_client_patch(kc_testenv_client(env), kind,
                                              KC_KEY(kind->namespaced ? "default" : NULL, name),
                                              KC_PATCH_MERGE, kc_cstr(text), NULL, &err);
    OK(now ? 0 : -1, &err);
}

static inline KC_UNUSED void delete_object(kc_testenv *env, const kc_kind *kind, const char *name)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_client_delete(kc_testenv_client(env), kind,
                        KC_KEY(kind->namespaced ? "default" : NULL, name), NULL, &err),
       &err);
}

static inline KC_UNUSED bool is_there(kc_testenv *env, const kc_kind *kind, const char *name)
{
    kc_auto(kc_object) *found =
        kc_client_get(kc_testenv_client(env), kind,
                      KC_KEY(kind->namespaced ? "default" : NULL, name), NULL, NULL);
    return found;
}

static inline KC_UNUSED void make_node(kc_testenv *env, const char *name)
{
    put(env, "{'apiVersion':'v1','kind':'Node','metadata':{'name':'%s'}}", name);
}

/* Writes the node status of a kubelet at this time. */
static inline KC_UNUSED void beat(kc_testenv *env, const char *name, const char *ready)
{
    char now[KC_TIME_TEXT];
    kc_time_print(kc_clock_wall(kc_testenv_clock(env)), now);
    kc_autofree char *json =
        kc_asprintf("{'conditions':[{'type':'Ready','status':'%s','reason':'KubeletReady',"
                    "'lastHeartbeatTime':'%s','lastTransitionTime':'2026-01-02T03:04:05Z'},"
                    "{'type':'MemoryPressure','status':'False','lastHeartbeatTime':'%s'},"
                    "{'type':'DiskPressure','status':'False','lastHeartbeatTime':'%s'},"
                    "{'type':'PIDPressure','status':'False','lastHeartbeatTime':'%s'}]}",
                    ready, now, now, now, now);
    patch_status(env, &kc_kind_node, name, json);
}

/* Renews the node's lease, as a kubelet does. Creates the lease if there is none. */
static inline KC_UNUSED void renew(kc_testenv *env, const char *name)
{
    char now[KC_TIME_TEXT];
    kc_scoped(kc_error) err = {0};
    kc_time_print_micro(kc_clock_wall(kc_testenv_clock(env)), now);
    kc_autofree char *json = kc_asprintf("{\"spec\":{\"renewTime\":\"%s\"}}", now);
    kc_auto(kc_object) *done =
        kc_client_patch(kc_testenv_client(env), &kc_kind_lease, KC_KEY("kube-node-lease", name),
                        KC_PATCH_MERGE, kc_cstr(json), NULL, &err);
    if (!done && kc_is_not_found(&err))
        put(env,
            "{'apiVersion':'coordination.k8s.io/v1','kind':'Lease','metadata':{'name':'%s',"
            "'namespace':'kube-node-lease'},'spec':{'renewTime':'%s'}}",
            name, now);
    else
        OK(done ? 0 : -1, &err);
}

/* A healthy node. */
static inline KC_UNUSED void make_good_node(kc_testenv *env, const char *name)
{
    make_node(env, name);
    beat(env, name, "True");
    renew(env, name);
}

/* Number of Events recorded with this reason and message, in namespace default. */
static inline KC_UNUSED int count_events(kc_testenv *env, const char *reason, const char *message)
{
    kc_scoped(kc_object_list) events = {0};
    int n = 0;
    assert_int_equal(kc_client_list(kc_testenv_client(env), &kc_kind_event,
                                    &(kc_list_opts){.ns = "default"}, &events, NULL),
                     0);
    for (size_t i = 0; i < events.n; i++) {
        kc_auto(kc_view) *view = kc_view_of(events.items[i]);
        const kc_value *root = kc_view_root(view);
        n += kc_str_is(kc_value_as_str(kc_value_get(root, "reason")), reason) &&
             kc_str_is(kc_value_as_str(kc_value_get(root, "message")), message);
    }
    return n;
}

static inline KC_UNUSED bool has_taint(kc_testenv *env, const char *node, const char *key,
                                       const char *effect)
{
    bool found = false;
    kc_auto(kc_object) *object =
        kc_client_get(kc_testenv_client(env), &kc_kind_node, KC_KEY(NULL, node), NULL, NULL);
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_value_each_item (kc_value_nested(kc_view_root(view), "spec.taints"), taint)
        found = found || (kc_str_is(kc_value_as_str(kc_value_get(taint, "key")), key) &&
                          kc_str_is(kc_value_as_str(kc_value_get(taint, "effect")), effect));
    return found;
}

#endif
