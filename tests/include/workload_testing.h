/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload_testing.h: workload controllers in a test environment, and helpers that update their
 * pods as a node would.
 *
 *     kc_auto(kc_testenv) *env = workloads(7, "replicaset");
 *     make_set(env, "web", 3);
 *     settle(env);
 *     assert_int_equal(run_pods(env), 3);               they are ready now
 */
#ifndef KC_WORKLOAD_TESTING_H
#define KC_WORKLOAD_TESTING_H

#include "plane_testing.h"

#include "kc/controllers.h"
#include "kc/time.h"
#include "kc/view.h"

static inline KC_UNUSED void add_controllers(kc_manager *manager, const char *names)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_controllers_add(manager, &(kc_controllers_opts){.names = names}, &err), &err);
}

static inline KC_UNUSED kc_testenv *workloads(uint64_t seed, const char *names)
{
    kc_testenv *env = plane(seed);
    add_controllers(kc_testenv_manager(env), names);
    return env;
}

#define POD_TEMPLATE(image)                                                                    \
    "{'metadata':{'labels':{'app':'web'}},'spec':{'containers':[{'name':'web','image':'" image \
    "'}]}}"

/* A ReplicaSet with this name and the selector app=web; `more` is added to its spec:
 * "'minReadySeconds':5". */
static inline KC_UNUSED void make_set_with(kc_testenv *env, const char *name, int replicas,
                                           const char *more)
{
    kc_autofree char *json = kc_asprintf(
        "{'apiVersion':'apps/v1','kind':'ReplicaSet','metadata':{'name':'%s','namespace':"
        "'default'},'spec':{'replicas':%d,'selector':{'matchLabels':{'app':'web'}},'template':%s"
        "%s%s}}",
        name, replicas, POD_TEMPLATE("web:1"), *more ? "," : "", more);
    kc_object_unref(make(env, json));
}

static inline KC_UNUSED void make_set(kc_testenv *env, const char *name, int replicas)
{
    make_set_with(env, name, replicas, "");
}

/* A Deployment; `more` is added to its spec. */
static inline KC_UNUSED void make_deployment_with(kc_testenv *env, const char *name, int replicas,
                                                  const char *more)
{
    kc_autofree char *json = kc_asprintf(
        "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'%s','namespace':"
        "'default'},'spec':{'replicas':%d,'selector':{'matchLabels':{'app':'web'}},'template':%s"
        "%s%s}}",
        name, replicas, POD_TEMPLATE("web:1"), *more ? "," : "", more);
    kc_object_unref(make(env, json));
}

static inline KC_UNUSED void make_deployment(kc_testenv *env, const char *name, int replicas)
{
    make_deployment_with(env, name, replicas, "");
}

/* Applies a merge patch, with ' for "; `subresource` may be NULL. False if the object does not
 * exist. */
static inline KC_UNUSED bool try_patch(kc_testenv *env, const kc_kind *kind, kc_str name,
                                       const char *subresource, const char *json)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *text = kc_strdup(json);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    kc_auto(kc_object) *now = kc_client_patch(
        kc_testenv_client(env), kind, (kc_key){KC_STR("default"), name}, KC_PATCH_MERGE,
        kc_cstr(text), &(kc_write_opts){.subresource = subresource}, &err);
    if (!now && !kc_is_not_found(&err))
        fail_msg("patch %.*s: %s", KC_ARG(name), kc_error_text(&err));
    return now != NULL;
}

static inline KC_UNUSED void patch_with(kc_testenv *env, const kc_kind *kind, kc_str name,
                                        const char *subresource, const char *json)
{
    if (!try_patch(env, kind, name, subresource, json))
        fail_msg("%.*s to patch not found", KC_ARG(name));
}

static inline KC_UNUSED void scale_to(kc_testenv *env, const kc_kind *kind, const char *name,
                                      int replicas)
{
    kc_autofree char *json = kc_asprintf("{'spec':{'replicas':%d}}", replicas);
    patch_with(env, kind, kc_cstr(name), NULL, json);
}

static inline KC_UNUSED void set_image(kc_testenv *env, const char *deployment, const char *image)
{
    kc_autofree char *json = kc_asprintf(
        "{'spec':{'template':{'spec':{'containers':[{'name':'web','image':'%s'}]}}}}", image);
    patch_with(env, &kc_kind_deployment, kc_cstr(deployment), NULL, json);
}

/* ---- inspection ---- */

static inline KC_UNUSED kc_object_list all_of(kc_testenv *env, const kc_kind *kind)
{
    kc_object_list list = {0};
    kc_scoped(kc_error) err = {0};
    OK(kc_client_list(kc_testenv_client(env), kind, &(kc_list_opts){.ns = "default"}, &list, &err),
       &err);
    return list;
}

static inline KC_UNUSED size_t count_of(kc_testenv *env, const kc_kind *kind)
{
    kc_scoped(kc_object_list) list = all_of(env, kind);
    return list.n;
}

/* The string at a path; the caller frees it. "" if it does not exist. */
static inline KC_UNUSED char *text_at(const kc_object *object, const char *path)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    return kc_strdup(kc_value_as_cstr(kc_value_nested(kc_view_root(view), path), ""));
}

static inline KC_UNUSED int64_t number_at(const kc_object *object, const char *path)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    return kc_value_as_i64_or(kc_value_nested(kc_view_root(view), path), 0);
}

static inline KC_UNUSED int64_t number_of(kc_testenv *env, const kc_kind *kind, const char *name,
                                          const char *path)
{
    kc_auto(kc_object) *object = look_up(env, kind, name);
    if (!object)
        fail_msg("%s %s not found", kind->kind, name);
    return number_at(object, path);
}

/* "status reason" of a condition, or "" if there is none; the caller frees it. */
static inline KC_UNUSED char *condition_of(const kc_object *object, const char *type)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_value_each_item (kc_value_nested(kc_view_root(view), "status.conditions"), c)
        if (kc_str_is(kc_value_as_str(kc_value_get(c, "type")), type))
            return kc_asprintf("%s %s", kc_value_as_cstr(kc_value_get(c, "status"), ""),
                               kc_value_as_cstr(kc_value_get(c, "reason"), ""));
    return kc_strdup("");
}

/* Number of Events with this reason and message (NULL: any). */
static inline KC_UNUSED size_t events_of(kc_testenv *env, const char *reason, const char *message)
{
    kc_scoped(kc_object_list) list = all_of(env, &kc_kind_event);
    size_t n = 0;
    for (size_t i = 0; i < list.n; i++) {
        kc_autofree char *why = text_at(list.items[i], "reason");
        kc_autofree char *what = text_at(list.items[i], "message");
        n += strcmp(why, reason) == 0 && (!message || strcmp(what, message) == 0);
    }
    return n;
}

/* ---- node side ---- */

/* Skips a pod that has been deleted meanwhile: controllers do not wait for a node. */
static inline KC_UNUSED void set_pod(kc_testenv *env, kc_str pod, const char *phase, bool ready)
{
    char now[KC_TIME_TEXT];
    kc_time_print(kc_clock_wall(kc_testenv_clock(env)), now);
    kc_autofree char *json =
        kc_asprintf("{'status':{'phase':'%s','conditions':[{'type':'Ready','status':'%s',"
                    "'lastTransitionTime':'%s'}]}}",
                    phase, ready ? "True" : "False", now);
    try_patch(env, &kc_kind_pod, pod, "status", json);
}

static inline KC_UNUSED bool pod_is_pending(const kc_object *pod)
{
    kc_autofree char *phase = text_at(pod, "status.phase");
    return strcmp(phase, "Pending") == 0 && !kc_object_being_deleted(pod);
}

/* Makes up to `most` pending pods ready, and finishes those that are being deleted. Returns how
 * many became ready. */
static inline KC_UNUSED size_t run_some_pods(kc_testenv *env, size_t most)
{
    size_t started = 0;
    kc_scoped(kc_object_list) pods = all_of(env, &kc_kind_pod);
    for (size_t i = 0; i < pods.n; i++) {
        if (kc_object_being_deleted(pods.items[i]))
            kc_client_delete(kc_testenv_client(env), &kc_kind_pod, kc_object_key(pods.items[i]),
                             &(kc_delete_opts){.immediately = true}, NULL);
        else if (pod_is_pending(pods.items[i]) && started < most && ++started)
            set_pod(env, kc_object_name(pods.items[i]), "Running", true);
    }
    return started;
}

static inline KC_UNUSED size_t run_pods(kc_testenv *env)
{
    return run_some_pods(env, SIZE_MAX);
}

/* Runs until all pods have been created and are ready. */
static inline KC_UNUSED void run_to_end(kc_testenv *env)
{
    do
        settle(env);
    while (run_pods(env) > 0);
}

/* Binds a pod to a node, as a scheduler would. */
static inline KC_UNUSED void bind_pod(kc_testenv *env, kc_str pod, const char *node)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) answer = {0};
    kc_autofree char *target =
        kc_asprintf("/api/v1/namespaces/default/pods/%.*s/binding", KC_ARG(pod));
    kc_autofree char *body = kc_asprintf(
        "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"%.*s\"},\"target\":{"
        "\"kind\":\"Node\",\"name\":\"%s\"}}",
        KC_ARG(pod), node);
    OK(kc_client_raw(kc_testenv_client(env), "POST", kc_cstr(target), KC_STR("application/json"),
                     kc_cstr(body), &answer, &err),
       &err);
}

/* ---- convergence ---- */

/* Runs until nothing is left to do. If the manager ends meanwhile another one is started, and
 * counted. */
static inline KC_UNUSED int settle_through(kc_testenv *env, const char *names)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_testenv_settle_within(env, 10 * KC_MINUTE, &err), &err);
    if (!kc_testenv_crashed(env))
        return 0;
    kc_manager *manager = kc_testenv_restart(env, &err);
    assert_non_null(manager);
    add_controllers(manager, names);
    return 1 + settle_through(env, names);
}

static inline int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline char *line_of(const kc_object *object)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view), *status = kc_value_get(root, "status");
    const char *of_many = kc_value_as_cstr(kc_value_nested(root, "metadata.generateName"), NULL);
    kc_scoped(kc_buf) line = {0};
    kc_buf_printf(&line, "%.*s %s%s labels=%.*s", KC_ARG(kc_object_kind(object)),
                  of_many ? of_many : kc_value_as_cstr(kc_value_nested(root, "metadata.name"), ""),
                  kc_object_owners_json(object).n ? " owned" : "",
                  KC_ARG(kc_object_labels_json(object)));
    if (!of_many)
        kc_buf_printf(&line, " %.*s", KC_ARG(kc_object_annotations_json(object)));
    kc_buf_printf(&line, " wants=%lld phase=%s",
                  (long long)kc_value_as_i64_or(kc_value_nested(root, "spec.replicas"), -1),
                  kc_value_as_cstr(kc_value_get(status, "phase"), ""));
    kc_value_each_member (status, name, value) {
        int64_t number;
        if (kc_str_is(name, "observedGeneration"))
            kc_buf_printf(&line, " %s",
                          kc_value_as_i64_or(value, 0) == kc_object_generation(object) ? "observed"
                                                                                       : "behind");
        else if (kc_value_as_i64(value, &number))
            kc_buf_printf(&line, " %.*s=%lld", KC_ARG(name), (long long)number);
    }
    static const char *const types[] = {"Available", "Progressing", "ReplicaFailure", "Ready"};
    for (size_t i = 0; i < KC_COUNT(types); i++) { /* They are in the order of their changes. */
        kc_autofree char *condition = condition_of(object, types[i]);
        kc_buf_printf(&line, "%s%s%s%s", *condition ? " " : "", *condition ? types[i] : "",
                      *condition ? "=" : "", condition);
    }
    return kc_buf_take(&line);
}

/* All workloads and their pods, one per line, without random and time-dependent parts. */
static inline KC_UNUSED char *state_text_of(kc_testenv *env)
{
    const kc_kind *kinds[] = {&kc_kind_deployment, &kc_kind_replica_set, &kc_kind_pod};
    KC_VEC(char *) lines = {0};
    kc_scoped(kc_buf) text = {0};
    for (size_t k = 0; k < KC_COUNT(kinds); k++) {
        kc_scoped(kc_object_list) list = all_of(env, kinds[k]);
        for (size_t i = 0; i < list.n; i++)
            kc_vec_push(&lines, line_of(list.items[i]));
    }
    kc_vec_sort(&lines, by_text);
    kc_vec_each (&lines, line) {
        kc_buf_printf(&text, "%s\n", *line);
        free(*line);
    }
    kc_vec_done(&lines);
    return kc_buf_take(&text);
}

/* Number of objects of a kind that were ever created. */
static inline KC_UNUSED size_t ever_made(kc_testenv *env, const kc_kind *kind)
{
    kc_scoped(kc_error) err = {0};
    kc_client *client = kc_testenv_client(env);
    kc_auto(kc_watch) *watch =
        kc_client_watch(client, kind, &(kc_watch_opts){.resource_version = "1"}, &err);
    if (!watch)
        fail_msg("%s", kc_error_text(&err));
    for (size_t n = 0;;) {
        kc_scoped(kc_watch_event) event = {0};
        const int64_t soon = kc_clock_deadline(kc_testenv_clock(env), KC_SECOND);
        if (kc_watch_next(watch, soon, &event, NULL) <= 0)
            return n;
        n += event.type == KC_WATCH_ADDED;
    }
}

#endif
