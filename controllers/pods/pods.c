/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pods.c: the runner of pods: what it is made of.
 *
 *     nodes.c    Nodes, their leases               threads of their own, a few for all nodes
 *     a controller of pods that are bound to one of the nodes:
 *       pod_run.c     one look at a pod            workers of the controller
 *       pod_plan.c …  what to do, pod_status.c …   what to say: pure
 *       pod_table.c   what is remembered of pods
 *     a runtime (runtime.h), which carries the containers and wakes the controller
 *
 * It runs in every copy of the program, leader or not: nodes are its own.
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

/* Zeroes become defaults. Texts are the state's own. */
static void complete(kc_pods_opts *o)
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

static int check(const kc_pods_opts *o, kc_error *err)
{
    if (kc_name_valid(KC_NAME_DNS_SUBDOMAIN, kc_cstr(o->node)))
        return 0;
    return kc_error_set(err, KC_INVALID, "\"%s\" is no name for a node, such as site-7", o->node);
}

/* ---- life ---- */

static void pods_free(void *user)
{
    kc__pods *pods = user;
    if (pods->own_runtime && pods->runtime)
        pods->runtime->ops->free(pods->runtime);
    else if (pods->runtime)
        kc__simulated_listen(pods->runtime, NULL, NULL);
    kc__pods_free_refs(pods);
    kc_map_each (&pods->by_uid, it)
        kc__pod_record_free(it->value);
    kc_map_done(&pods->by_uid);
    kc_map_done(&pods->by_key);
    kc_map_done(&pods->addresses);
    kc__pod_metrics_done(&pods->metrics);
    kc__jobs_free(pods->jobs);
    kc__nodes_free(pods->nodes);
    kc__node_server_free(pods->server);
    kc_cond_done(&pods->taken);
    kc_mutex_done(&pods->wake_mutex);
    kc_mutex_done(&pods->mutex);
    kc_log_free(pods->log);
    free((char *)pods->opts.node);
    free(pods);
}

/* What a job came to is taken up by the next look at its pod. */
static void job_done(kc_str uid, const kc__job_result *result, void *user)
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

static int make_runtime(kc__pods *pods, kc__runtime *given, kc_error *err)
{
    pods->own_runtime = !given;
    pods->runtime = given;
    if (!given && pods->opts.mode == KC_PODS_SIMULATE)
        pods->runtime = kc__simulated_runtime_new(&pods->opts, pods->clock, err);
    else if (!given)
        pods->runtime = kc__process_runtime_new(&pods->opts, pods->clock, pods->log, err);
    if (!pods->runtime)
        return -1;
    if (given)
        kc__simulated_listen(given, runtime_changed, pods);
    pods->runtime->changed = runtime_changed;
    pods->runtime->changed_user = pods;
    return 0;
}

/* Pods that are bound to one of our nodes. */
static bool is_ours(kc_change_type type, const kc_change *change, void *user)
{
    (void)type;
    kc__pods *pods = user;
    kc_auto(kc_view) *view = kc_view_of(change->object);
    const kc_str node = kc_as_str(kc_dig(kc_view_root(view), "spec.nodeName"));
    return node.n && kc__nodes_find(pods->nodes, node);
}

static int add_controller(kc__pods *pods, kc_manager *manager, int workers, kc_error *err)
{
    const kc_controller_opts opts = {
        .name = "pods",
        .kind = &kc_kind_pod,
        .kind_predicate = kc_predicate_new(is_ours, pods),
        .watches = KC_WATCHES(
            {.kind = &kc_kind_config_map, .map = kc__pods_of_config_map, .map_user = pods},
            {.kind = &kc_kind_secret, .map = kc__pods_of_secret, .map_user = pods}),
        .sources = KC_SOURCES(kc__pods_wake_source(pods)),
        .reconcile = kc__pods_reconcile,
        .user = pods,
        .workers = workers,
        .without_election = true,
        .hot_loop = -1,
    };
    return kc_controller_new(manager, &opts, err) ? 0 : -1;
}

/* In virtual time there is no network. */
static bool serves(const kc__pods *pods)
{
    return pods->clock == kc_clock_real();
}

static int serve(kc__pods *pods, kc_manager *manager, kc_error *err)
{
    pods->server = kc__node_server_new(manager, &pods->opts, err);
    pods->nodes->server = pods->server;
    return pods->server ? 0 : -1;
}

int kc__pods_add(kc_manager *manager, const kc_pods_opts *opts, int workers, kc__runtime *runtime,
                 kc_error *err)
{
    kc__pods *pods = kc_new(kc__pods);
    pods->opts = *opts;
    complete(&pods->opts);
    pods->clock = kc_manager_clock(manager);
    pods->cache = kc_manager_cache(manager);
    pods->log = kc_log_child(kc_manager_log(manager), "pods");
    kc_mutex_init(&pods->mutex);
    kc_mutex_init(&pods->wake_mutex);
    kc_cond_init(&pods->taken);
    kc_manager_keep(manager, pods, pods_free);
    if (check(&pods->opts, err) < 0 || make_runtime(pods, runtime, err) < 0)
        return -1;
    pods->recorder = kc_recorder_as(kc_manager_recorder(manager), "kubelet");
    pods->nodes =
        kc__nodes_new(manager, &pods->opts, pods->runtime->name, pods->runtime->version, err);
    pods->jobs = kc__jobs_new(manager, pods->runtime, job_done, pods, err);
    if (!pods->nodes || !pods->jobs || (serves(pods) && serve(pods, manager, err) < 0) ||
        kc__pod_metrics_init(&pods->metrics, kc_manager_metrics(manager), pods->nodes, err) < 0)
        return -1;
    return add_controller(pods, manager, workers, err);
}

int kc__pods_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    if (opts->pods.mode == KC_PODS_NONE)
        return 0;
    return kc__pods_add(manager, &opts->pods, opts->workers, NULL, err);
}
