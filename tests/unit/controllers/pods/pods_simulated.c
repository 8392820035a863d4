/* SPDX-License-Identifier: Apache-2.0 */
/* Pods on simulated nodes, from binding to deletion, in virtual time. */
#include "pods_testing.h"

static void bound_pod_becomes_running_and_ready(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made = make(env, POD("a", "", ""));
    settle(env);
    assert_pod(env, "a", "status.phase", "Running");
    assert_condition(env, "a", "Ready", "True");
    assert_condition(env, "a", "PodScheduled", "True");
    assert_pod(env, "a", "status.podIP", "10.0.0.1");
    assert_pod(env, "a", "status.hostIP", "172.16.0.1");
    assert_pod(env, "a", "status.qosClass", "BestEffort");
    assert_pod(env, "a", "status.containerStatuses.0.started", "true");
    assert_true(has_recorded_event(env, "a", "Created", "Created container: main"));
    assert_true(has_recorded_event(env, "a", "Started", "Started container main"));
}

static void pod_becomes_ready_in_one_write(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, &(kc_pods_opts){.quiet = true});
    kc_auto(kc_object) *made = make(env, POD("a", "", ""));
    settle(env);
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, "a");
    assert_int_equal(kc_object_revision(pod), kc_object_revision(made) + 1);
    kc_testenv_advance(env, 9 * KC_SECOND);
    kc_auto(kc_object) *later = look_up(env, &kc_kind_pod, "a");
    assert_int_equal(kc_object_revision(later), kc_object_revision(pod));
}

static void deleted_pod_is_removed(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made = make(env, POD("a", "", ""));
    settle(env);
    remove_pod(env, "a");
    settle(env);
    assert_false(is_there(env, "a"));
    assert_true(has_recorded_event(env, "a", "Killing", "Stopping container main"));
}

static void pods_of_other_nodes_are_unchanged(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made =
        make(env, "{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'default','name':'a'},"
                  "'spec':{'nodeName':'elsewhere','containers':[{'name':'main','image':'x'}]}}");
    settle(env);
    assert_pod(env, "a", "status.phase", "Pending");
    assert_pod(env, "a", "status.startTime", "-");
}

static void pod_bound_later_runs(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made =
        make(env, "{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'default','name':'a'},"
                  "'spec':{'containers':[{'name':'main','image':'x'}]}}");
    settle(env);
    assert_pod(env, "a", "status.phase", "Pending");
    kc_auto(kc_object) *binding =
        object_of("{'apiVersion':'v1','kind':'Binding','metadata':{'namespace':'default','name':"
                  "'a'},'target':{'kind':'Node','name':'simulated-0'}}");
    kc_auto(kc_object) *bound = kc_client_create(
        kc_testenv_client(env), binding,
        &(kc_write_opts){.kind = &kc_kind_pod, .subresource = "binding", .name = "a"}, &err);
    OK(err.reason ? -1 : 0, &err);
    settle(env);
    assert_pod(env, "a", "status.phase", "Running");
}

static void start_and_stop_delays_are_applied(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env =
        with_nodes(1, &(kc_pods_opts){.start_delay = 3 * KC_SECOND, .stop_delay = 2 * KC_SECOND});
    kc_auto(kc_object) *made = make(env, POD("a", "", ""));
    kc_testenv_advance(env, KC_SECOND);
    assert_pod(env, "a", "status.phase", "Pending");
    assert_pod(env, "a", "status.containerStatuses.0.state.waiting.reason", "ContainerCreating");
    kc_testenv_advance(env, 3 * KC_SECOND);
    assert_pod(env, "a", "status.phase", "Running");
    remove_pod(env, "a");
    kc_testenv_advance(env, KC_SECOND);
    assert_true(is_there(env, "a"));
    kc_testenv_advance(env, 2 * KC_SECOND);
    assert_false(is_there(env, "a"));
}

static void container_ignoring_sigterm_is_killed_after_grace_period(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made = make(env, POD("a", SIMULATED("ignore-stop", "true"), ""));
    settle(env);
    remove_pod(env, "a");
    kc_testenv_advance(env, 29 * KC_SECOND);
    assert_true(is_there(env, "a"));
    assert_pod(env, "a", "status.phase", "Running");
    kc_testenv_advance(env, 2 * KC_SECOND);
    assert_false(is_there(env, "a"));
}

static void exiting_pod_succeeds(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made =
        make(env, POD("a", SIMULATED("run-for", "5s"), ",'restartPolicy':'Never'"));
    settle(env);
    assert_pod(env, "a", "status.phase", "Running");
    kc_testenv_advance(env, 6 * KC_SECOND);
    assert_pod(env, "a", "status.phase", "Succeeded");
    assert_pod(env, "a", "status.containerStatuses.0.state.terminated.reason", "Completed");
    assert_condition(env, "a", "Ready", "False");
    remove_pod(env, "a");
    settle(env);
    assert_false(is_there(env, "a"));
}

static void crashing_container_restarts_with_backoff(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made = make(env, POD("a",
                                             ",'annotations':{'" KC__PODS_SIMULATE
                                             "run-for':'1s','" KC__PODS_SIMULATE "exit-code':'3'}",
                                             ""));
    kc_testenv_advance(env, 2500 * KC_MILLISECOND);
    assert_pod(env, "a", "status.containerStatuses.0.state.waiting.reason", "CrashLoopBackOff");
    assert_pod(env, "a", "status.containerStatuses.0.lastState.terminated.exitCode", "3");
    assert_pod(env, "a", "status.containerStatuses.0.restartCount", "1");
    assert_pod(env, "a", "status.phase", "Running");
    assert_condition(env, "a", "Ready", "False");
    kc_testenv_advance(env, 10 * KC_SECOND);
    assert_pod(env, "a", "status.containerStatuses.0.restartCount", "2");
    kc_testenv_advance(env, 30 * KC_MINUTE);
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, "a");
    kc_autofree char *count = text_at(pod, "status.containerStatuses.0.restartCount");
    assert_in_range(atoi(count), 8, 12);
    assert_true(
        has_recorded_event(env, "a", "BackOff", "Back-off restarting failed container main"));
}

static void init_containers_and_sidecars_start_first(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made =
        make(env, POD("a", SIMULATED("run-for.prepare", "4s"),
                      ",'initContainers':[{'name':'proxy','image':'x','restartPolicy':'Always'},"
                      "{'name':'prepare','image':'x'}]"));
    settle(env);
    assert_pod(env, "a", "status.phase", "Pending");
    assert_pod(env, "a", "status.initContainerStatuses.0.ready", "true");
    assert_pod(env, "a", "status.containerStatuses.0.state.waiting.reason", "PodInitializing");
    assert_condition(env, "a", "Initialized", "False");
    kc_testenv_advance(env, 5 * KC_SECOND);
    assert_pod(env, "a", "status.phase", "Running");
    assert_pod(env, "a", "status.initContainerStatuses.1.state.terminated.exitCode", "0");
    assert_condition(env, "a", "Initialized", "True");
}

#define READINESS                                                                            \
    ",'initContainers':[{'name':'s','image':'x','restartPolicy':'Always','readinessProbe':{" \
    "'tcpSocket':{'port':80},'periodSeconds':5}}]"

static void readiness_follows_its_probe(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made = make(env, POD("a", SIMULATED("ready-after.s", "12s"), READINESS));
    settle(env);
    assert_pod(env, "a", "status.phase", "Running");
    assert_condition(env, "a", "Ready", "False");
    kc_testenv_advance(env, 11 * KC_SECOND);
    assert_condition(env, "a", "Ready", "False");
    kc_testenv_advance(env, 6 * KC_SECOND);
    assert_condition(env, "a", "Ready", "True");
    assert_true(
        has_recorded_event(env, "a", "Unhealthy", "Readiness probe failed: simulated failure"));
}

static void failed_liveness_probe_restarts_container(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made = make(
        env, "{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'default','name':'a'"
             ",'annotations':{'" KC__PODS_SIMULATE "fail-probe':'liveness'}},'spec':{'nodeName':"
             "'simulated-0','containers':[{'name':'main','image':'x','livenessProbe':{"
             "'tcpSocket':{'port':80},'periodSeconds':1,'failureThreshold':2}}]}}");
    kc_testenv_advance(env, 3 * KC_SECOND);
    assert_true(
        has_recorded_event(env, "a", "Killing", "failed liveness probe, will be restarted"));
    assert_true(has_recorded_event(env, "a", "Unhealthy", "Liveness probe failed"));
    kc_testenv_advance(env, 30 * KC_SECOND);
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, "a");
    kc_autofree char *count = text_at(pod, "status.containerStatuses.0.restartCount");
    assert_in_range(atoi(count), 2, 3);
}

static void container_waits_for_its_config_map(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made =
        make(env, "{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'default','name':'a'},"
                  "'spec':{'nodeName':'simulated-0','containers':[{'name':'main','image':'x','env':"
                  "[{'name':'A','valueFrom':{'configMapKeyRef':{'name':'m','key':'k'}}}]}]}}");
    settle(env);
    assert_pod(env, "a", "status.containerStatuses.0.state.waiting.reason",
               "CreateContainerConfigError");
    assert_pod(env, "a", "status.containerStatuses.0.state.waiting.message",
               "configmap \"m\" not found");
    assert_true(has_recorded_event(env, "a", "Failed", "Error: configmap \"m\" not found"));
    kc_auto(kc_object) *map = make(env, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':"
                                        "'m','namespace':'default'},'data':{'k':'v'}}");
    settle(env);
    assert_pod(env, "a", "status.phase", "Running");
}

static void pod_waits_for_its_volumes(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made =
        make(env, POD("a", "", ",'volumes':[{'name':'v','configMap':{'name':'m'}}]"));
    settle(env);
    assert_pod(env, "a", "status.containerStatuses.0.state.waiting.reason", "ContainerCreating");
    assert_true(has_recorded_event(
        env, "a", "FailedMount",
        "MountVolume.SetUp failed for volume \"v\" : configmap \"m\" not found"));
    kc_auto(kc_object) *map = make(env, CONFIG_MAP("m"));
    settle(env);
    assert_pod(env, "a", "status.phase", "Running");
}

static void pod_exceeding_node_capacity_fails(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, &(kc_pods_opts){.node_pods = 1});
    kc_auto(kc_object) *first = make(env, POD("a", "", ""));
    settle(env);
    kc_auto(kc_object) *second = make(env, POD("b", "", ""));
    settle(env);
    assert_pod(env, "b", "status.phase", "Failed");
    assert_pod(env, "b", "status.reason", "OutOfpods");
    assert_pod(env, "b", "status.message",
               "Pod was rejected: Node didn't have enough resource: pods, requested: 1, used: 1, "
               "capacity: 1");
    assert_true(has_recorded_event(env, "b", "OutOfpods", "Node didn't have enough resource"));
    remove_pod(env, "a");
    remove_pod(env, "b");
    settle(env);
    assert_false(is_there(env, "b"));
    kc_auto(kc_object) *third = make(env, POD("c", "", ""));
    settle(env);
    assert_pod(env, "c", "status.phase", "Running");
}

static void pod_not_matching_node_affinity_fails(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *a = make(env, POD("a", "", ",'nodeSelector':{'disk':'ssd'}"));
    kc_auto(kc_object) *b = make(
        env, POD("b", "",
                 ",'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
                 "'nodeSelectorTerms':[{'matchExpressions':[{'key':'kubernetes.io/hostname',"
                 "'operator':'In','values':['simulated-0']}]}]}}}"));
    settle(env);
    assert_pod(env, "a", "status.phase", "Failed");
    assert_pod(env, "a", "status.reason", "NodeAffinity");
    assert_pod(env, "b", "status.phase", "Running");
}

static void recreated_pod_has_a_new_record(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *first = make(env, POD("a", "", ""));
    settle(env);
    OK(kc_client_delete(kc_testenv_client(env), &kc_kind_pod, KC_KEY("default", "a"),
                        &(kc_delete_opts){.immediately = true}, &err),
       &err);
    kc_auto(kc_object) *second = make(env, POD("a", "", ""));
    settle(env);
    assert_pod(env, "a", "status.phase", "Running");
    assert_pod(env, "a", "status.containerStatuses.0.restartCount", "0");
}

static void pod_with_finalizer_is_stopped_once(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made = make(env, POD("a", ",'finalizers':['example.com/hold']", ""));
    settle(env);
    remove_pod(env, "a");
    settle(env);
    assert_true(is_there(env, "a"));
    assert_pod(env, "a", "status.phase", "Succeeded");
    kc_auto(kc_object) *held = look_up(env, &kc_kind_pod, "a");
    kc_testenv_advance(env, KC_MINUTE);
    kc_auto(kc_object) *later = look_up(env, &kc_kind_pod, "a");
    assert_int_equal(kc_object_revision(held), kc_object_revision(later));
}

static void sleep_hook_delays_stop(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made =
        make(env, "{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'default','name':'a'},"
                  "'spec':{'nodeName':'simulated-0','containers':[{'name':'main','image':'x',"
                  "'lifecycle':{'preStop':{'sleep':{'seconds':5}}}}]}}");
    settle(env);
    remove_pod(env, "a");
    kc_testenv_advance(env, 4 * KC_SECOND);
    assert_true(is_there(env, "a"));
    kc_testenv_advance(env, 2 * KC_SECOND);
    assert_false(is_there(env, "a"));
}

static void actions_are_counted_in_metrics(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *a = make(env, POD("a", SIMULATED("ready-after.s", "2s"), READINESS));
    kc_auto(kc_object) *b = make(env, POD("b", "", ",'nodeSelector':{'disk':'ssd'}"));
    kc_auto(kc_object) *c = make(env, POD("c", SIMULATED("fail-start", "no"), ""));
    kc_testenv_advance(env, 6 * KC_SECOND);
    assert_pod(env, "c", "status.containerStatuses.0.state.waiting.reason", "CreateContainerError");
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(kc_manager_metrics(kc_testenv_manager(env)), &text);
    static const char *const lines[] = {
        "kubelet_running_pods 2\n",
        "kubelet_admission_rejections_total{reason=\"NodeAffinity\"} 1\n",
        "kubelet_started_containers_total{container_type=\"container\"} 1\n",
        "kubelet_started_containers_total{container_type=\"init_container\"} 1\n",
        "kubelet_started_containers_errors_total{container_type=\"container\"} 1\n",
        "prober_probe_total{probe_type=\"Readiness\",result=\"failed\"} 1\n",
        "prober_probe_total{probe_type=\"Readiness\",result=\"successful\"} 1\n",
        "kubelet_pod_start_duration_seconds_count 1\n",
    };
    for (size_t i = 0; i < KC_COUNT(lines); i++)
        assert_contains(kc_buf_cstr(&text), lines[i]);
}

TESTS(actions_are_counted_in_metrics, bound_pod_becomes_running_and_ready,
      pod_becomes_ready_in_one_write, deleted_pod_is_removed, pods_of_other_nodes_are_unchanged,
      pod_bound_later_runs, start_and_stop_delays_are_applied,
      container_ignoring_sigterm_is_killed_after_grace_period, exiting_pod_succeeds,
      crashing_container_restarts_with_backoff, init_containers_and_sidecars_start_first,
      readiness_follows_its_probe, failed_liveness_probe_restarts_container,
      container_waits_for_its_config_map, pod_waits_for_its_volumes,
      pod_exceeding_node_capacity_fails, pod_not_matching_node_affinity_fails,
      recreated_pod_has_a_new_record, pod_with_finalizer_is_stopped_once, sleep_hook_delays_stop)
