/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pods_testing.h: a test environment with simulated nodes, and helpers for the pods on them.
 */
#ifndef KC_PODS_TESTING_H
#define KC_PODS_TESTING_H

#include "plane_testing.h"

#include "common/indexes.h"
#include "kc/view.h"
#include "pods/pods.h"
#include "pods/simulate.h"

/* A pod on the first node; `meta` and `spec` are additional members, each preceded by a comma. */
#define POD(name, meta, spec)                                                                  \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'default','name':'" name "'" meta \
    "},'spec':{'nodeName':'simulated-0','containers':[{'name':'main','image':'x'}]" spec "}}"
#define SIMULATED(name, value) ",'annotations':{'" KC__PODS_SIMULATE name "':'" value "'}"

/* Adds nodes to the environment's manager; with the test's own runtime, or NULL. */
static inline KC_UNUSED void add_nodes(kc_testenv *env, const kc_pods_opts *given,
                                       kc__pods_runtime *runtime)
{
    kc_scoped(kc_error) err = {0};
    kc_pods_opts opts = given ? *given : (kc_pods_opts){0};
    opts.mode = KC_PODS_SIMULATE;
    OK(kc__common_make_indexes(kc_manager_cache(kc_testenv_manager(env)), &err), &err);
    OK(kc__pods_add(kc_testenv_manager(env), &opts, 3, runtime, &err), &err);
}

/* A test environment whose nodes are registered. */
static inline KC_UNUSED kc_testenv *with_nodes(uint64_t seed, const kc_pods_opts *pods)
{
    kc_scoped(kc_error) err = {0};
    kc_testenv *env = plane(seed);
    add_nodes(env, pods, NULL);
    OK(kc_testenv_run(env, &err), &err);
    kc_testenv_advance(env, 100 * KC_MILLISECOND);
    return env;
}

static inline KC_UNUSED kc_object *look_in(kc_testenv *env, const kc_kind *kind, const char *ns,
                                           const char *name)
{
    return kc_client_get(kc_testenv_client(env), kind, KC_KEY(ns, name), NULL, NULL);
}

/* The string at a path of an object (indexes as names: "a.0.b"); the caller frees it. "-": none. */
static inline KC_UNUSED char *text_at(const kc_object *object, const char *path)
{
    kc_auto(kc_view) *view = object ? kc_view_of(object) : NULL;
    const kc_value *at = view ? kc_view_root(view) : NULL;
    kc_str rest = kc_cstr(path);
    while (rest.p && at) {
        const kc_str part = kc_str_cut(&rest, '.');
        uint64_t i;
        at = kc_value_type(at) == KC_JSON_ARRAY && kc_str_to_u64(part, &i)
                 ? kc_value_at(at, i)
                 : kc_value_get_str(at, part);
    }
    if (!at)
        return kc_strdup("-");
    if (kc_value_type(at) == KC_JSON_STRING)
        return kc_str_dup(kc_value_as_str(at));
    int64_t n;
    if (kc_value_as_i64(at, &n))
        return kc_asprintf("%lld", (long long)n);
    return kc_strdup(kc_value_type(at) == KC_JSON_BOOL
                         ? (kc_value_as_bool(at, false) ? "true" : "false")
                         : "{}");
}

static inline KC_UNUSED void assert_pod(kc_testenv *env, const char *name, const char *path,
                                        const char *expected)
{
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, name);
    kc_autofree char *text = text_at(pod, path);
    if (strcmp(text, expected) != 0)
        fail_msg("%s of %s is %s, not %s; %s", path, name, text, expected,
                 pod ? kc_object_json(pod).p : "");
}

/* Asserts the status of a condition of a pod; "-": there is none. */
static inline KC_UNUSED void assert_condition(kc_testenv *env, const char *name, const char *type,
                                              const char *status)
{
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, name);
    kc_auto(kc_view) *view = kc_view_of(pod);
    kc_value_each_item (kc_value_nested(kc_view_root(view), "status.conditions"), c)
        if (kc_str_is(kc_value_as_str(kc_value_get(c, "type")), type)) {
            assert_str(kc_value_as_str(kc_value_get(c, "status")), status);
            return;
        }
    fail_msg("no condition %s", type);
}

static inline KC_UNUSED void remove_pod(kc_testenv *env, const char *name)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_client_delete(kc_testenv_client(env), &kc_kind_pod, KC_KEY("default", name), NULL, &err),
       &err);
}

static inline KC_UNUSED bool is_there(kc_testenv *env, const char *name)
{
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, name);
    return pod;
}

/* Whether a pod has an Event with this reason whose message contains `part`. */
static inline KC_UNUSED bool has_recorded_event(kc_testenv *env, const char *name,
                                                const char *reason, const char *part)
{
    kc_object_list events = {0};
    bool found = false;
    assert_int_equal(kc_client_list(kc_testenv_client(env), &kc_kind_event, NULL, &events, NULL),
                     0);
    for (size_t i = 0; i < events.n; i++) {
        kc_autofree char *why = text_at(events.items[i], "reason");
        kc_autofree char *about = text_at(events.items[i], "involvedObject.name");
        kc_autofree char *message = text_at(events.items[i], "message");
        found = found || (!strcmp(why, reason) && !strcmp(about, name) && strstr(message, part));
    }
    kc_object_list_done(&events);
    return found;
}

#endif
