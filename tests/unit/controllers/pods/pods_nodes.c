/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of the runner: registration, heartbeats and repair; one node, and thousands. */
#include "pods_testing.h"

#include "kc/controllers.h"

static char *lease_time(kc_testenv *env, const char *node)
{
    kc_auto(kc_object) *lease = look_in(env, &kc_kind_lease, "kube-node-lease", node);
    return text_at(lease, "spec.renewTime");
}

static void registered_node_has_capacity_and_info(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env =
        with_nodes(1, &(kc_pods_opts){.nodes = 2, .node_cpu = 4500, .node_pods = 7});
    kc_auto(kc_object) *node = look_in(env, &kc_kind_node, "", "simulated-1");
    static const char *const expected[][2] = {
        {"status.capacity.cpu", "4500m"},
        {"status.allocatable.pods", "7"},
        {"status.capacity.memory", "1Ti"},
        {"status.capacity.ephemeral-storage", "1Ti"},
        {"status.addresses.0.address", "172.16.0.2"},
        {"status.addresses.1.address", "simulated-1"},
        {"status.nodeInfo.operatingSystem", "linux"},
        {"status.nodeInfo.containerRuntimeVersion", "simulated://1.0"},
        {"status.conditions.3.type", "Ready"},
        {"status.conditions.3.status", "True"},
        {"status.conditions.0.reason", "KubeletHasSufficientMemory"},
    };
    for (size_t i = 0; i < KC_COUNT(expected); i++) {
        kc_autofree char *text = text_at(node, expected[i][0]);
        assert_string_equal(text, expected[i][1]);
    }
    assert_true(kc_object_label_is(node, KC_STR("kubernetes.io/hostname"), KC_STR("simulated-1")));
    assert_true(kc_object_label_is(node, KC_STR("kubernetes.io/os"), KC_STR("linux")));
}

static void lease_is_renewed_every_ten_seconds(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *node = look_in(env, &kc_kind_node, "", "simulated-0");
    kc_auto(kc_object) *lease = look_in(env, &kc_kind_lease, "kube-node-lease", "simulated-0");
    assert_true(kc_object_owned_by(lease, kc_object_uid(node)));
    kc_autofree char *holder = text_at(lease, "spec.holderIdentity");
    assert_string_equal(holder, "simulated-0");
    kc_testenv_advance(env, 11 * KC_SECOND);
    for (int i = 0; i < 5; i++) {
        kc_autofree char *before = lease_time(env, "simulated-0");
        kc_testenv_advance(env, 10 * KC_SECOND);
        kc_autofree char *after = lease_time(env, "simulated-0");
        kc_time a, b;
        assert_int_equal(kc_time_parse_micro(kc_cstr(before), &a, NULL), 0);
        assert_int_equal(kc_time_parse_micro(kc_cstr(after), &b, NULL), 0);
        assert_int_equal((b - a) / KC_SECOND, 10);
    }
    kc_auto(kc_object) *later = look_in(env, &kc_kind_node, "", "simulated-0");
    assert_int_equal(kc_object_revision(node), kc_object_revision(later));
}

static void status_is_written_every_five_minutes(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *before = look_in(env, &kc_kind_node, "", "simulated-0");
    kc_testenv_advance(env, 310 * KC_SECOND);
    kc_auto(kc_object) *after = look_in(env, &kc_kind_node, "", "simulated-0");
    kc_autofree char *first = text_at(before, "status.conditions.3.lastHeartbeatTime");
    kc_autofree char *second = text_at(after, "status.conditions.3.lastHeartbeatTime");
    assert_string_not_equal(first, second);
    kc_autofree char *since = text_at(before, "status.conditions.3.lastTransitionTime");
    kc_autofree char *still = text_at(after, "status.conditions.3.lastTransitionTime");
    assert_string_equal(since, still);
}

static void deleted_node_is_registered_again(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_testenv_advance(env, 5 * KC_SECOND);
    kc_auto(kc_object) *before = look_in(env, &kc_kind_node, "", "simulated-0");
    OK(kc_client_delete(kc_testenv_client(env), &kc_kind_node, KC_KEY("", "simulated-0"), NULL,
                        &err),
       &err);
    kc_testenv_advance(env, KC_SECOND);
    kc_auto(kc_object) *after = look_in(env, &kc_kind_node, "", "simulated-0");
    assert_non_null(after);
    assert_false(kc_str_eq(kc_object_uid(before), kc_object_uid(after)));
    kc_auto(kc_object) *lease = look_in(env, &kc_kind_lease, "kube-node-lease", "simulated-0");
    assert_true(kc_object_owned_by(lease, kc_object_uid(after)));
}

static void lost_node_reports_ready_again(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *lost = kc_client_patch(
        kc_testenv_client(env), &kc_kind_node, KC_KEY("", "simulated-0"), KC_PATCH_STRATEGIC,
        KC_STR("{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"Unknown\"},{\"type\":"
               "\"Custom\",\"status\":\"True\"}]}}"),
        &(kc_write_opts){.subresource = "status"}, &err);
    OK(lost ? 0 : -1, &err);
    kc_testenv_advance(env, 21 * KC_SECOND);
    kc_auto(kc_object) *node = look_in(env, &kc_kind_node, "", "simulated-0");
    assert_non_null(strstr(kc_object_json(node).p, "\"KubeletReady\""));
    assert_null(strstr(kc_object_json(node).p, "\"Unknown\""));
    assert_non_null(strstr(kc_object_json(node).p, "\"Custom\""));
}

static void existing_node_keeps_foreign_conditions_and_labels(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = plane(1);
    kc_auto(kc_object) *was = make(
        env, "{'apiVersion':'v1','kind':'Node','metadata':{'name':'simulated-0','labels':{'zone':"
             "'a'}},'spec':{'unschedulable':true}}");
    add_nodes(env, NULL, NULL);
    OK(kc_testenv_run(env, &err), &err);
    kc_testenv_advance(env, KC_SECOND);
    kc_auto(kc_object) *node = look_in(env, &kc_kind_node, "", "simulated-0");
    assert_true(kc_str_eq(kc_object_uid(was), kc_object_uid(node)));
    assert_true(kc_object_label_is(node, KC_STR("zone"), KC_STR("a")));
    assert_true(kc_object_label_is(node, KC_STR("kubernetes.io/hostname"), KC_STR("simulated-0")));
    kc_autofree char *cordoned = text_at(node, "spec.unschedulable");
    assert_string_equal(cordoned, "true");
    kc_autofree char *ready = text_at(node, "status.conditions.3.status");
    assert_string_equal(ready, "True");
}

static void lease_taken_by_another_holder_is_reclaimed(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    OK(kc_client_delete(kc_testenv_client(env), &kc_kind_lease,
                        KC_KEY("kube-node-lease", "simulated-0"), NULL, &err),
       &err);
    kc_testenv_advance(env, 21 * KC_SECOND);
    kc_auto(kc_object) *lease = look_in(env, &kc_kind_lease, "kube-node-lease", "simulated-0");
    assert_non_null(lease);
}

static void stopped_node_writes_no_status(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = with_nodes(1, NULL);
    kc_auto(kc_object) *made = make(env, POD("a", "", ""));
    settle(env);
    kc_auto(kc_object) *node = look_in(env, &kc_kind_node, "", "simulated-0");
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, "a");
    OK(kc_testenv_restart(env, &err) ? 0 : -1, &err);
    kc_auto(kc_object) *node_after = look_in(env, &kc_kind_node, "", "simulated-0");
    kc_auto(kc_object) *pod_after = look_up(env, &kc_kind_pod, "a");
    assert_int_equal(kc_object_revision(node), kc_object_revision(node_after));
    assert_int_equal(kc_object_revision(pod), kc_object_revision(pod_after));
}

static void graceful_shutdown_marks_node_not_ready(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = with_nodes(1, &(kc_pods_opts){.nodes = 2, .report_stop = true});
    OK(kc_testenv_restart(env, &err) ? 0 : -1, &err);
    for (int i = 0; i < 2; i++) {
        kc_autofree char *name = kc_asprintf("simulated-%d", i);
        kc_auto(kc_object) *node = look_in(env, &kc_kind_node, "", name);
        kc_autofree char *message = text_at(node, "status.conditions.3.message");
        assert_string_equal(message, "node is shutting down");
    }
    add_nodes(env, &(kc_pods_opts){.nodes = 2}, NULL);
    OK(kc_testenv_run(env, &err), &err);
    kc_testenv_advance(env, KC_SECOND);
    kc_auto(kc_object) *node = look_in(env, &kc_kind_node, "", "simulated-0");
    kc_autofree char *status = text_at(node, "status.conditions.3.status");
    assert_string_equal(status, "True");
}

static void thousands_of_nodes_need_few_threads(void **state)
{
    (void)state;
    enum { N = 2000 };
    kc_auto(kc_testenv) *env = with_nodes(1, &(kc_pods_opts){.nodes = N});
    kc_object_list nodes = {0}, leases = {0};
    kc_testenv_advance(env, 20 * KC_SECOND);
    kc_client *client = kc_testenv_client(env);
    assert_int_equal(kc_client_list(client, &kc_kind_node, NULL, &nodes, NULL), 0);
    assert_int_equal(nodes.n, N);
    assert_int_equal(kc_client_list(client, &kc_kind_lease, NULL, &leases, NULL), 0);
    assert_int_equal(leases.n, N);
    const kc_time now = kc_clock_wall(kc_testenv_clock(env));
    for (size_t i = 0; i < leases.n; i++) {
        kc_autofree char *text = text_at(leases.items[i], "spec.renewTime");
        kc_time at;
        assert_int_equal(kc_time_parse_micro(kc_cstr(text), &at, NULL), 0);
        assert_true(now - at <= 11 * KC_SECOND);
    }
    kc_object_list_done(&nodes);
    kc_object_list_done(&leases);
}

static void each_pod_costs_one_write(void **state)
{
    (void)state;
    enum { NODES = 20, PODS = 400 };
    kc_auto(kc_testenv) *env = with_nodes(1, &(kc_pods_opts){.nodes = NODES, .quiet = true});
    uint64_t first = 0;
    for (int i = 0; i < PODS; i++) {
        kc_autofree char *text =
            kc_asprintf("{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'default','name':"
                        "'p%d'},'spec':{'nodeName':'simulated-%d','containers':[{'name':'main',"
                        "'image':'x'}]}}",
                        i, i % NODES);
        kc_auto(kc_object) *pod = make(env, text);
        first = first ? first : kc_object_revision(pod);
    }
    settle(env);
    kc_object_list pods = {0};
    assert_int_equal(kc_client_list(kc_testenv_client(env), &kc_kind_pod, NULL, &pods, NULL), 0);
    assert_int_equal(pods.n, PODS);
    for (size_t i = 0; i < pods.n; i++) {
        kc_autofree char *phase = text_at(pods.items[i], "status.phase");
        assert_string_equal(phase, "Running");
    }
    uint64_t revision;
    assert_true(kc_str_to_u64(kc_cstr(pods.resource_version), &revision));
    /* Created, and its status once; leases beside. */
    assert_true(revision - first < 2 * PODS + 2 * NODES);
    kc_object_list_done(&pods);
}

static void host_name_is_converted_to_a_valid_node_name(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"vm", "vm"},
        {"DESKTOP-4711", "desktop-4711"},
        {"Build_Box.Local", "build-box.local"},
        {"-_node..one.", "node.one"},
        {"", "localhost"},
        {"__", "localhost"},
        {"a123456789012345678901234567890123456789012345678901234567890123",
         "a12345678901234567890123456789012345678901234567890123456789012"},
    };
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_autofree char *name = kc__pods_node_name_of(kc_cstr(names[i][0]));
        assert_string_equal(name, names[i][1]);
    }
}

static void invalid_node_name_is_refused(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = kc_testenv_start(NULL, &err);
    OK(env ? 0 : -1, &err);
    const kc_controllers_opts opts = {.pods = {.mode = KC_PODS_SIMULATE, .node = "Build_Box"}};
    assert_true(kc_controllers_add(kc_testenv_manager(env), &opts, &err) < 0);
    assert_contains(kc_error_text(&err), "\"Build_Box\" is not a valid node name");
}

TESTS(host_name_is_converted_to_a_valid_node_name, invalid_node_name_is_refused,
      registered_node_has_capacity_and_info, lease_is_renewed_every_ten_seconds,
      status_is_written_every_five_minutes, deleted_node_is_registered_again,
      lost_node_reports_ready_again, existing_node_keeps_foreign_conditions_and_labels,
      lease_taken_by_another_holder_is_reclaimed, stopped_node_writes_no_status,
      graceful_shutdown_marks_node_not_ready, thousands_of_nodes_need_few_threads,
      each_pod_costs_one_write)
