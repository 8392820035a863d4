/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pods.c: the pod runner (the kubelet's role) and its parts.
 *
 *     nodes.c         Node objects and leases      a few threads for all nodes
 *     a controller of the pods bound to its nodes:
 *       pod_run.c     one pod sync                 workers of the controller
 *       pod_plan.c …  next actions, pod_status.c …  the status: pure functions
 *       pod_table.c   records of pods
 *     a runtime (runtime.h), which runs the containers and wakes the controller
 *
 * It runs in every process, leader or not: each process has nodes of its own.
 */
#include "pods/pods.h"

#include "internal.h"
#include "pods/process.h"
#include "pods/simulate.h"

#include "kc/kinds.h"
#include "kc/names.h"
#include "kc/view.h"

#include <unistd.h>

/* ---- options ---- */

static int64_t machine_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (int64_t)pages * size : INT64_C(1) << 30;
}

/* Sets defaults. Texts are owned by the state. */
static void pods_complete(kc_pods_opts *o)
{
    const bool simulated = o->mode == KC_PODS_SIMULATE;
    o->node = !simulated ? kc_pods_node_name(o, 0) : kc_strdup(o->node ? o->node : "simulated");
    o->nodes = o->nodes ? o->nodes : 1;
    if (!o->node_cpu)
        o->node_cpu = simulated ? 256000 : KC_MAX(sysconf(_SC_NPROCESSORS_ONLN), 1) * 1000;
    if (!o->node_memory)
        o->node_memory = simulated ? INT64_C(1) << 40 : machine_memory();
    if (!o->node_pods)
        o->node_pods = simulated ? 1000 : 110;
    o->address = o->address ? o->address : "127.0.0.1:0";
}

static int pods_check(const kc_pods_opts *o, kc_error *err)
{
    if (kc_name_valid(KC_NAME_DNS_SUBDOMAIN, kc_cstr(o->node)))
        return 0;
    return kc_error_set(err, KC_INVALID, "\"%s\" is not a valid node name; example: site-7",
                        o->node);
}

/* ---- start and stop ---- */

static void pods_free(void *user)
{
    kc__pods *pods = user;
    if (pods->own_runtime && pods->runtime)
        pods->runtime->ops->free(pods->runtime);
    else if (pods->runtime)
        kc__pods_simulated_listen(pods->runtime, NULL, NULL);
    kc__pods_free_refs(pods);
    kc_map_each (&pods->by_uid, it)
        kc__pod_record_free(it->value);
    kc_map_done(&pods->by_uid);
    kc_map_done(&pods->by_key);
    kc_map_done(&pods->addresses);
    kc__pod_metrics_done(&pods->metrics);
    kc__pod_jobs_free(pods->jobs);
    kc__pods_nodes_free(pods->nodes);
    kc__pods_node_server_free(pods->server);
    kc_cond_done(&pods->taken);
    kc_mutex_done(&pods->wake_mutex);
    kc_mutex_done(&pods->mutex);
    kc_log_free(pods->log);
    free((char *)pods->opts.node);
    free((char *)pods->opts.api_server);
    free(pods);
}

/* The next pod sync applies the result of the job. */
static void job_done(kc_str uid, const kc__pod_job_result *result, void *user)
{
    kc__pods *pods = user;
    bool taken = false;
    kc_locked (&pods->mutex) {
        kc__pod_record *state = kc_map_get(&pods->by_uid, uid);
        taken = state;
        if (state)
            kc_vec_push(&state->inbox, *result);
    }
    if (taken)
        kc__pods_wake(pods, uid);
    else
        free(result->message);
}

static void runtime_changed(kc_str uid, void *user)
{
    kc__pods_wake(user, uid);
}

static int make_runtime(kc__pods *pods, kc__pods_runtime *given, kc_error *err)
{
    pods->own_runtime = !given;
    pods->runtime = given;
    if (!given && pods->opts.mode == KC_PODS_SIMULATE)
        pods->runtime = kc__pods_simulated_runtime_new(&pods->opts, pods->clock, err);
    else if (!given)
        pods->runtime = kc__process_runtime_new(&pods->opts, pods->clock, pods->log, err);
    if (!pods->runtime)
        return kc_error_result(err);
    if (given)
        kc__pods_simulated_listen(given, runtime_changed, pods);
    pods->runtime->changed = runtime_changed;
    pods->runtime->changed_user = pods;
    return 0;
}

/* Pods that are bound to one of this process's nodes. */
static bool pods_is_ours(kc_change_type type, const kc_change *change, void *user)
{
    (void)type;
    kc__pods *pods = user;
    kc_auto(kc_view) *view = kc_view_of(change->object);
    const kc_str node = kc_value_as_str(kc_value_nested(kc_view_root(view), "spec.nodeName"));
    return node.n && kc__pods_nodes_find(pods->nodes, node);
}

static int add_controller(kc__pods *pods, kc_manager *manager, int workers, kc_error *err)
{
    const kc_controller_opts opts = {
        .name = "pods",
        .field_manager = KC__CONTROLLERS_KUBELET,
        .kind = &kc_kind_pod,
        .kind_predicate = kc_predicate_new(pods_is_ours, pods),
        .watches = KC_WATCHES(
            {.kind = &kc_kind_config_map, .map = kc__pods_of_config_map, .map_user = pods},
            {.kind = &kc_kind_secret, .map = kc__pods_of_secret, .map_user = pods}),
        .sources = KC_SOURCES(kc__pods_wake_source(pods)),
        .reconcile = kc__pods_reconcile,
        .user = pods,
        .workers = workers,
        .without_leader_election = true,
        .hot_loop = -1,
    };
    return kc_controller_new(manager, &opts, err) ? 0 : kc_error_result(err);
}

/* In virtual time there is no network. */
static bool serves(const kc__pods *pods)
{
    return pods->clock == kc_clock_real();
}

static int pods_serve(kc__pods *pods, kc_manager *manager, kc_error *err)
{
    pods->server = kc__pods_node_server_new(manager, &pods->opts, err);
    pods->nodes->server = pods->server;
    return pods->server ? 0 : kc_error_result(err);
}

int kc__pods_add(kc_manager *manager, const kc_pods_opts *opts, int workers,
                 kc__pods_runtime *runtime, kc_error *err)
{
    kc__pods *pods = kc_new(kc__pods);
    pods->opts = *opts;
    pods->opts.api_server = opts->api_server ? kc_strdup(opts->api_server) : NULL;
    pods_complete(&pods->opts);
    pods->clock = kc_manager_clock(manager);
    pods->cache = kc_manager_cache(manager);
    pods->log = kc_log_child(kc_manager_log(manager), "pods");
    kc_mutex_init(&pods->mutex);
    kc_mutex_init(&pods->wake_mutex);
    kc_cond_init(&pods->taken);
    kc_manager_defer(manager, pods, pods_free);
    if (pods_check(&pods->opts, err) < 0 || make_runtime(pods, runtime, err) < 0)
        return kc_error_result(err);
    pods->opts.hidden = NULL; /* The caller's; the runtime copies it. */
    pods->recorder = kc_recorder_with_component(kc_manager_recorder(manager), "kubelet",
                                                KC__CONTROLLERS_KUBELET);
    pods->nodes =
        kc__pods_nodes_new(manager, &pods->opts, pods->runtime->name, pods->runtime->version, err);
    pods->jobs = kc__pod_jobs_new(manager, pods->runtime, job_done, pods, err);
    if (!pods->nodes || !pods->jobs || (serves(pods) && pods_serve(pods, manager, err) < 0) ||
        kc__pod_metrics_init(&pods->metrics, kc_manager_metrics(manager), pods->nodes, err) < 0)
        return kc_error_result(err);
    return add_controller(pods, manager, workers, err);
}

int kc__pods_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    kc_pods_opts pods = opts->pods;
    pods.mode = kc_pods_resolve_mode(&pods);
    pods.own_identity = opts->own_identities;
    if (pods.mode == KC_PODS_NONE)
        return 0;
    return kc__pods_add(manager, &pods, opts->workers, NULL, err);
}
