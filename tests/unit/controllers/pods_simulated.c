/* SPDX-License-Identifier: Apache-2.0 */
/* Pods on simulated nodes, from bound to gone, in virtual time. */
#include "pods_testing.h"

static void a_bound_pod_becomes_running_and_ready(void **state)
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
    assert_true(was_said(env, "a", "Created", "Created container: main"));
    assert_true(was_said(env, "a", "Started", "Started container main"));
}

static void it_takes_one_write_to_be_ready(void **state)
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

static void a_deleted_pod_goes(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made = make(env, POD("a", "", ""));
    settle(env);
    remove_pod(env, "a");
    settle(env);
    assert_false(is_there(env, "a"));
    assert_true(was_said(env, "a", "Killing", "Stopping container main"));
}

static void pods_of_other_nodes_are_left_alone(void **state)
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

static void a_pod_bound_later_runs_too(void **state)
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

static void delays_are_kept(void **state)
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

static void who_ignores_being_asked_is_forced_when_the_grace_is_over(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made = make(env, POD("a", SAYING("ignore-stop", "true"), ""));
    settle(env);
    remove_pod(env, "a");
    kc_testenv_advance(env, 29 * KC_SECOND);
    assert_true(is_there(env, "a"));
    assert_pod(env, "a", "status.phase", "Running");
    kc_testenv_advance(env, 2 * KC_SECOND);
    assert_false(is_there(env, "a"));
}

static void a_pod_that_does_its_work_completes(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made =
        make(env, POD("a", SAYING("run-for", "5s"), ",'restartPolicy':'Never'"));
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

static void a_crashing_pod_is_started_again_and_again(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made = make(env, POD("a",
                                             ",'annotations':{'" KC__SIMULATE
                                             "run-for':'1s','" KC__SIMULATE "exit-code':'3'}",
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
    assert_true(was_said(env, "a", "BackOff", "Back-off restarting failed container main"));
}

static void init_containers_and_sidecars_come_first(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made =
        make(env, POD("a", SAYING("run-for.prepare", "4s"),
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
    kc_auto(kc_object) *made = make(env, POD("a", SAYING("ready-after.s", "12s"), READINESS));
    settle(env);
    assert_pod(env, "a", "status.phase", "Running");
    assert_condition(env, "a", "Ready", "False");
    kc_testenv_advance(env, 11 * KC_SECOND);
    assert_condition(env, "a", "Ready", "False");
    kc_testenv_advance(env, 6 * KC_SECOND);
    assert_condition(env, "a", "Ready", "True");
    assert_true(was_said(env, "a", "Unhealthy", "Readiness probe failed: simulated failure"));
}

static void a_container_that_is_not_alive_is_started_again(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made =
        make(env, "{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'default','name':'a'"
                  ",'annotations':{'" KC__SIMULATE "fail-probe':'liveness'}},'spec':{'nodeName':"
                  "'simulated-0','containers':[{'name':'main','image':'x','livenessProbe':{"
                  "'tcpSocket':{'port':80},'periodSeconds':1,'failureThreshold':2}}]}}");
    kc_testenv_advance(env, 3 * KC_SECOND);
    assert_true(was_said(env, "a", "Killing", "failed liveness probe, will be restarted"));
    assert_true(was_said(env, "a", "Unhealthy", "Liveness probe failed"));
    kc_testenv_advance(env, 30 * KC_SECOND);
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, "a");
    kc_autofree char *count = text_at(pod, "status.containerStatuses.0.restartCount");
    assert_in_range(atoi(count), 2, 3);
}

static void a_container_waits_for_its_config_map(void **state)
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
    assert_true(was_said(env, "a", "Failed", "Error: configmap \"m\" not found"));
    kc_auto(kc_object) *map = make(env, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':"
                                        "'m','namespace':'default'},'data':{'k':'v'}}");
    settle(env);
    assert_pod(env, "a", "status.phase", "Running");
}

static void a_pod_waits_for_its_volumes(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made =
        make(env, POD("a", "", ",'volumes':[{'name':'v','configMap':{'name':'m'}}]"));
    settle(env);
    assert_pod(env, "a", "status.containerStatuses.0.state.waiting.reason", "ContainerCreating");
    assert_true(was_said(env, "a", "FailedMount",
                         "MountVolume.SetUp failed for volume \"v\" : configmap \"m\" not found"));
    kc_auto(kc_object) *map = make(env, CONFIG_MAP("m"));
    settle(env);
    assert_pod(env, "a", "status.phase", "Running");
}

static void a_pod_that_does_not_fit_fails(void **state)
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
    assert_true(was_said(env, "b", "OutOfpods", "Node didn't have enough resource"));
    remove_pod(env, "a");
    remove_pod(env, "b");
    settle(env);
    assert_false(is_there(env, "b"));
    kc_auto(kc_object) *third = make(env, POD("c", "", ""));
    settle(env);
    assert_pod(env, "c", "status.phase", "Running");
}

static void a_pod_that_wants_another_node_fails(void **state)
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

static void a_pod_of_the_same_name_is_another_one(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *first = make(env, POD("a", "", ""));
    settle(env);
    OK(kc_client_delete(kc_testenv_client(env), &kc_kind_pod, KC_KEY("default", "a"),
                        &(kc_delete_opts){.now = true}, &err),
       &err);
    kc_auto(kc_object) *second = make(env, POD("a", "", ""));
    settle(env);
    assert_pod(env, "a", "status.phase", "Running");
    assert_pod(env, "a", "status.containerStatuses.0.restartCount", "0");
}

static void a_pod_with_a_finalizer_is_ended_once(void **state)
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

static void a_hook_that_sleeps_takes_its_time(void **state)
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

static void what_is_done_is_counted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *a = make(env, POD("a", SAYING("ready-after.s", "2s"), READINESS));
    kc_auto(kc_object) *b = make(env, POD("b", "", ",'nodeSelector':{'disk':'ssd'}"));
    kc_auto(kc_object) *c = make(env, POD("c", SAYING("fail-start", "no"), ""));
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

TESTS(what_is_done_is_counted, a_bound_pod_becomes_running_and_ready,
      it_takes_one_write_to_be_ready, a_deleted_pod_goes, pods_of_other_nodes_are_left_alone,
      a_pod_bound_later_runs_too, delays_are_kept,
      who_ignores_being_asked_is_forced_when_the_grace_is_over, a_pod_that_does_its_work_completes,
      a_crashing_pod_is_started_again_and_again, init_containers_and_sidecars_come_first,
      readiness_follows_its_probe, a_container_that_is_not_alive_is_started_again,
      a_container_waits_for_its_config_map, a_pod_waits_for_its_volumes,
      a_pod_that_does_not_fit_fails, a_pod_that_wants_another_node_fails,
      a_pod_of_the_same_name_is_another_one, a_pod_with_a_finalizer_is_ended_once,
      a_hook_that_sleeps_takes_its_time)
