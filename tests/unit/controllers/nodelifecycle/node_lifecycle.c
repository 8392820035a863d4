/* SPDX-License-Identifier: Apache-2.0 */
/* Lost nodes: conditions, taints and evictions. */
#include "nodes_testing.h"

#define NOT_READY   "node.kubernetes.io/not-ready"
#define UNREACHABLE "node.kubernetes.io/unreachable"

/* Who renews leases: "a" to "j", as far as there are such nodes. */
static bool alive[10];

static const char *name_of(int i)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    return names[i];
}

static void make_nodes(kc_testenv *env, int n)
{
    memset(alive, 0, sizeof(alive));
    for (int i = 0; i < n; i++) {
        make_good_node(env, name_of(i));
        alive[i] = true;
    }
}

static void renew_live_nodes(kc_testenv *env)
{
    if (kc_clock_now(kc_testenv_clock(env)) / KC_SECOND % 5)
        return;
    for (int i = 0; i < 10; i++)
        if (alive[i])
            renew(env, name_of(i));
}

static const scenario plain = {.controllers = {.names = "nodelifecycle", .workers = 2},
                               .outside = renew_live_nodes};

static kc_testenv *with_nodes(int n)
{
    kc_testenv *env = scenario_begin(&plain, 1);
    make_nodes(env, n);
    scenario_advance(&plain, env, KC_SECOND);
    return env;
}

static void stop_nodes(int from, int to)
{
    for (int i = from; i < to; i++)
        alive[i] = false;
}

static kc_object *look_up_node(kc_testenv *env, const char *name)
{
    return kc_client_get(kc_testenv_client(env), &kc_kind_node, KC_KEY(NULL, name), NULL, NULL);
}

static void assert_condition(kc_testenv *env, const char *node, const char *type,
                             const char *status, const char *reason, const char *message)
{
    kc_scoped(kc_arena) arena = {0};
    kc_condition c;
    kc_auto(kc_object) *object = look_up_node(env, node);
    assert_true(kc_condition_get(object, kc_cstr(type), &arena, &c));
    assert_str(c.status, status);
    assert_str(c.reason, reason);
    assert_str(c.message, message);
}

static bool is_lost(kc_testenv *env, const char *node)
{
    kc_auto(kc_object) *object = look_up_node(env, node);
    return kc_condition_is(object, KC_STR("Ready"), KC_STR("Unknown"));
}

static int count_evicting(kc_testenv *env, int n)
{
    int found = 0;
    for (int i = 0; i < n; i++)
        found += has_taint(env, name_of(i), UNREACHABLE, "NoExecute");
    return found;
}

/* ---- health ---- */

static void node_without_heartbeat_becomes_unknown(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(3);
    stop_nodes(0, 1);
    scenario_advance(&plain, env, 35 * KC_SECOND);
    assert_false(is_lost(env, "a"));
    scenario_advance(&plain, env, 8 * KC_SECOND);
    static const char *const types[] = {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"};
    for (size_t i = 0; i < KC_COUNT(types); i++)
        assert_condition(env, "a", types[i], "Unknown", "NodeStatusUnknown",
                         "Kubelet stopped posting node status.");
    assert_true(has_taint(env, "a", UNREACHABLE, "NoSchedule"));
    assert_true(has_taint(env, "a", UNREACHABLE, "NoExecute"));
    assert_false(has_taint(env, "a", NOT_READY, "NoExecute"));
    assert_false(is_lost(env, "b"));
    assert_false(has_taint(env, "b", UNREACHABLE, "NoSchedule"));
    assert_int_equal(count_events(env, "NodeNotReady", "Node a status is now: NodeNotReady"), 1);
}

static void renewed_lease_keeps_node_ready(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1);
    scenario_advance(&plain, env, 10 * KC_MINUTE);
    assert_false(is_lost(env, "a"));
}

static void status_heartbeats_keep_node_ready(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(2);
    stop_nodes(0, 1);
    for (int i = 0; i < 10; i++) {
        beat(env, "a", "True");
        scenario_advance(&plain, env, 30 * KC_SECOND);
    }
    assert_false(is_lost(env, "a"));
}

static void skewed_node_clock_does_not_matter(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(2);
    stop_nodes(0, 1);
    for (int i = 0; i < 10; i++) {
        kc_autofree char *json = kc_asprintf("{'conditions':[{'type':'Ready','status':'True',"
                                             "'lastHeartbeatTime':'1999-01-01T00:00:%02dZ'}]}",
                                             50 - i);
        patch_status(env, &kc_kind_node, "a", json);
        scenario_advance(&plain, env, 30 * KC_SECOND);
    }
    assert_false(is_lost(env, "a"));
}

static void node_without_status_has_startup_grace_period(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(2);
    make_node(env, "mute");
    scenario_advance(&plain, env, 55 * KC_SECOND);
    assert_false(is_lost(env, "mute"));
    scenario_advance(&plain, env, 7 * KC_SECOND);
    assert_condition(env, "mute", "Ready", "Unknown", "NodeStatusNeverUpdated",
                     "Kubelet never posted node status.");
    assert_condition(env, "mute", "PIDPressure", "Unknown", "NodeStatusNeverUpdated",
                     "Kubelet never posted node status.");
}

static void returned_node_loses_taints_and_conditions(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(3);
    stop_nodes(0, 1);
    scenario_advance(&plain, env, 50 * KC_SECOND);
    assert_true(has_taint(env, "a", UNREACHABLE, "NoExecute"));
    alive[0] = true;
    beat(env, "a", "True");
    scenario_advance(&plain, env, 2 * KC_SECOND);
    kc_auto(kc_object) *node = look_up_node(env, "a");
    kc_auto(kc_view) *view = kc_view_of(node);
    assert_int_equal(kc_value_len(kc_value_nested(kc_view_root(view), "spec.taints")), 0);
    assert_false(is_lost(env, "a"));
}

static void added_and_removed_nodes_record_events(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(2);
    assert_int_equal(
        count_events(env, "RegisteredNode", "Node a event: Registered Node a in Controller"), 1);
    stop_nodes(0, 1);
    delete_object(env, &kc_kind_node, "a");
    scenario_advance(&plain, env, 5 * KC_SECOND);
    assert_int_equal(
        count_events(env, "RemovingNode", "Node a event: Removing Node a from Controller"), 1);
}

/* ---- taints and labels ---- */

static void conditions_become_taints(void **state)
{
    (void)state;
    static const struct {
        const char *condition, *taint;
    } rows[] = {{"MemoryPressure", "node.kubernetes.io/memory-pressure"},
                {"DiskPressure", "node.kubernetes.io/disk-pressure"},
                {"PIDPressure", "node.kubernetes.io/pid-pressure"},
                {"NetworkUnavailable", "node.kubernetes.io/network-unavailable"}};
    kc_auto(kc_testenv) *env = with_nodes(2);
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc_autofree char *json =
            kc_asprintf("{'conditions':[{'type':'Ready','status':'True'},{'type':'%s','status':"
                        "'True'}]}",
                        rows[i].condition);
        patch_status(env, &kc_kind_node, "a", json);
        scenario_advance(&plain, env, KC_SECOND);
        for (size_t j = 0; j < KC_COUNT(rows); j++)
            assert_int_equal(has_taint(env, "a", rows[j].taint, "NoSchedule"), i == j);
    }
}

static void cordoned_node_gets_unschedulable_taint(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(2);
    patch(env, &kc_kind_node, "a", "{'spec':{'unschedulable':true}}");
    scenario_advance(&plain, env, KC_SECOND);
    assert_true(has_taint(env, "a", "node.kubernetes.io/unschedulable", "NoSchedule"));
    patch(env, &kc_kind_node, "a", "{'spec':{'unschedulable':null}}");
    scenario_advance(&plain, env, KC_SECOND);
    assert_false(has_taint(env, "a", "node.kubernetes.io/unschedulable", "NoSchedule"));
}

static void taints_of_other_owners_stay(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(2);
    patch(env, &kc_kind_node, "a",
          "{'spec':{'taints':[{'key':'mine','value':'x','effect':'NoSchedule'},{'key':'" NOT_READY
          "','effect':'NoSchedule'},{'key':'node.kubernetes.io/memory-pressure','effect':"
          "'NoExecute'}]}}");
    scenario_advance(&plain, env, KC_SECOND);
    assert_true(has_taint(env, "a", "mine", "NoSchedule"));
    assert_true(has_taint(env, "a", "node.kubernetes.io/memory-pressure", "NoExecute"));
    assert_false(has_taint(env, "a", NOT_READY, "NoSchedule"));
}

static void not_ready_node_gets_not_ready_taint(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(2);
    beat(env, "a", "False");
    scenario_advance(&plain, env, 12 * KC_SECOND);
    assert_true(has_taint(env, "a", NOT_READY, "NoSchedule"));
    assert_true(has_taint(env, "a", NOT_READY, "NoExecute"));
    stop_nodes(0, 1);
    scenario_advance(&plain, env, KC_MINUTE);
    assert_true(has_taint(env, "a", UNREACHABLE, "NoExecute"));
    assert_true(has_taint(env, "a", UNREACHABLE, "NoSchedule"));
    assert_false(has_taint(env, "a", NOT_READY, "NoExecute"));
    assert_false(has_taint(env, "a", NOT_READY, "NoSchedule"));
}

static void deprecated_labels_follow_current_ones(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(1);
    patch(env, &kc_kind_node, "a",
          "{'metadata':{'labels':{'kubernetes.io/os':'linux','kubernetes.io/arch':'amd64',"
          "'beta.kubernetes.io/arch':'other'}}}");
    scenario_advance(&plain, env, KC_SECOND);
    kc_auto(kc_object) *node = look_up_node(env, "a");
    assert_true(kc_object_label_is(node, KC_STR("beta.kubernetes.io/os"), KC_STR("linux")));
    assert_true(kc_object_label_is(node, KC_STR("beta.kubernetes.io/arch"), KC_STR("amd64")));
}

/* ---- zones ---- */

static void no_eviction_when_all_nodes_are_lost(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(3);
    stop_nodes(0, 3);
    scenario_advance(&plain, env, 5 * KC_MINUTE);
    assert_true(is_lost(env, "a") && is_lost(env, "b") && is_lost(env, "c"));
    assert_true(has_taint(env, "a", UNREACHABLE, "NoSchedule"));
    assert_int_equal(count_evicting(env, 3), 0);
    alive[0] = true;
    beat(env, "a", "True");
    scenario_advance(&plain, env, 30 * KC_SECOND);
    assert_int_equal(count_evicting(env, 3), 2);
    assert_false(has_taint(env, "a", UNREACHABLE, "NoExecute"));
}

static void evictions_are_rate_limited_per_zone(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(10);
    stop_nodes(0, 5);
    scenario_advance(&plain, env, 47 * KC_SECOND);
    assert_true(is_lost(env, "e"));
    assert_int_equal(count_evicting(env, 10), 1);
    for (int i = 2; i <= 5; i++) {
        scenario_advance(&plain, env, 10 * KC_SECOND);
        assert_int_equal(count_evicting(env, 10), i);
    }
}

static void returned_node_leaves_the_eviction_queue(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(10);
    stop_nodes(0, 5);
    scenario_advance(&plain, env, 47 * KC_SECOND);
    assert_int_equal(count_evicting(env, 10), 1);
    for (int i = 0; i < 5; i++)
        if (!has_taint(env, name_of(i), UNREACHABLE, "NoExecute")) {
            alive[i] = true;
            beat(env, name_of(i), "True");
            break;
        }
    scenario_advance(&plain, env, 32 * KC_SECOND);
    assert_int_equal(count_evicting(env, 10), 4);
}

static void no_eviction_in_partially_disrupted_small_zone(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(10);
    for (int i = 0; i < 6; i++)
        beat(env, name_of(i), "False");
    scenario_advance(&plain, env, 2 * KC_SECOND);
    int evicting = 0;
    for (int i = 0; i < 6; i++)
        evicting += has_taint(env, name_of(i), NOT_READY, "NoExecute");
    scenario_advance(&plain, env, 2 * KC_MINUTE);
    for (int i = 0; i < 6; i++)
        evicting -= has_taint(env, name_of(i), NOT_READY, "NoExecute");
    assert_int_equal(evicting, 0);
    beat(env, "a", "True");
    scenario_advance(&plain, env, KC_MINUTE);
    for (int i = 1; i < 6; i++)
        assert_true(has_taint(env, name_of(i), NOT_READY, "NoExecute"));
}

/* Nodes of a large zone that evict their pods. */
static int count_of_sixty(kc_testenv *env)
{
    int found = 0;
    for (int i = 0; i < 60; i++) {
        kc_autofree char *name = kc_asprintf("n-%d", i);
        found += has_taint(env, name, NOT_READY, "NoExecute");
    }
    return found;
}

static void slow_eviction_in_partially_disrupted_large_zone(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(0);
    for (int i = 0; i < 60; i++) {
        kc_autofree char *name = kc_asprintf("n-%d", i);
        make_node(env, name);
        beat(env, name, "True");
    }
    scenario_advance(&plain, env, 2 * KC_SECOND);
    for (int i = 0; i < 40; i++) {
        kc_autofree char *name = kc_asprintf("n-%d", i);
        beat(env, name, "False");
    }
    scenario_advance(&plain, env, 2 * KC_SECOND);
    const int at_first = count_of_sixty(env);
    assert_true(at_first <= 1);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 60; j++) {
            kc_autofree char *name = kc_asprintf("n-%d", j);
            beat(env, name, j < 40 ? "False" : "True");
        }
        scenario_advance(&plain, env, 25 * KC_SECOND);
        assert_true(count_of_sixty(env) <= at_first + 1);
    }
    scenario_advance(&plain, env, 5 * KC_SECOND);
    assert_int_equal(count_of_sixty(env), at_first + 1);
}

static void fully_disrupted_zone_is_evicted_while_others_are_ready(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(4);
    patch(env, &kc_kind_node, "a", "{'metadata':{'labels':{'topology.kubernetes.io/zone':'z'}}}");
    patch(env, &kc_kind_node, "b", "{'metadata':{'labels':{'topology.kubernetes.io/zone':'z'}}}");
    stop_nodes(0, 2);
    scenario_advance(&plain, env, 70 * KC_SECOND);
    assert_int_equal(count_evicting(env, 4), 2);
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(kc_manager_metrics(kc_testenv_manager(env)), &text);
    assert_contains(kc_buf_cstr(&text), "node_collector_evictions_total{zone=\"::z\"} 2\n");
    assert_contains(kc_buf_cstr(&text), "node_collector_zone_health{zone=\"::z\"} 0\n");
    assert_contains(kc_buf_cstr(&text), "node_collector_unhealthy_nodes_in_zone{zone=\"::z\"} 2\n");
    assert_contains(kc_buf_cstr(&text), "node_collector_zone_size{zone=\"\"} 2\n");
}

static void new_process_computes_zone_states_from_all_nodes(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(4);
    patch(env, &kc_kind_node, "a", "{'metadata':{'labels':{'topology.kubernetes.io/zone':'z'}}}");
    stop_nodes(0, 1);
    scenario_advance(&plain, env, 50 * KC_SECOND);
    assert_true(has_taint(env, "a", UNREACHABLE, "NoExecute"));
    kc_auto(kc_object) *before = look_up_node(env, "a");
    scenario_add(&plain, kc_testenv_restart(env, NULL));
    assert_int_equal(kc_testenv_run(env, NULL), 0);
    scenario_advance(&plain, env, KC_MINUTE);
    kc_auto(kc_object) *after = look_up_node(env, "a");
    assert_true(kc_object_revision(before) == kc_object_revision(after));
}

static void excluded_node_does_not_count_in_its_zone(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(2);
    patch(env, &kc_kind_node, "b",
          "{'metadata':{'labels':{'node.kubernetes.io/exclude-disruption':''}}}");
    stop_nodes(0, 1);
    scenario_advance(&plain, env, 2 * KC_MINUTE);
    assert_true(is_lost(env, "a"));
    assert_int_equal(count_evicting(env, 2), 0);
}

/* ---- pods ---- */

static bool is_pod_ready(kc_testenv *env, const char *name)
{
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, name);
    return kc_condition_true(pod, KC_STR("Ready"));
}

static void make_ready_pod(kc_testenv *env, const char *name, const char *node)
{
    make_pod(env, name, node);
    patch_status(env, &kc_kind_pod, name,
                 "{'phase':'Running','conditions':[{'type':'Ready','status':'True','reason':'Why'},"
                 "{'type':'Initialized','status':'True'}]}");
}

static void pods_of_a_lost_node_are_not_ready(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(2);
    make_ready_pod(env, "web", "a");
    make_ready_pod(env, "other", "b");
    stop_nodes(0, 1);
    scenario_advance(&plain, env, 45 * KC_SECOND);
    assert_false(is_pod_ready(env, "web"));
    assert_true(is_pod_ready(env, "other"));
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, "web");
    kc_scoped(kc_arena) arena = {0};
    kc_condition c;
    assert_true(kc_condition_get(pod, KC_STR("Ready"), &arena, &c));
    assert_str(c.reason, "Why");
    assert_true(kc_condition_true(pod, KC_STR("Initialized")));
    assert_int_equal(count_events(env, "NodeNotReady", "Node is not ready"), 1);
}

static void pod_bound_to_lost_node_becomes_not_ready(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(2);
    stop_nodes(0, 1);
    scenario_advance(&plain, env, 45 * KC_SECOND);
    make_ready_pod(env, "late", "");
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    OK(kc_client_raw(kc_testenv_client(env), "POST",
                     KC_STR("/api/v1/namespaces/default/pods/late/binding"),
                     KC_STR("application/json"),
                     KC_STR("{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":"
                            "\"late\"},\"target\":{\"kind\":\"Node\",\"name\":\"a\"}}"),
                     &out, &err),
       &err);
    scenario_advance(&plain, env, 2 * KC_SECOND);
    assert_false(is_pod_ready(env, "late"));
}

/* ---- memory use ---- */

static double count_keys(kc_testenv *env)
{
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(kc_manager_metrics(kc_testenv_manager(env)), &text);
    static const char name[] = "workqueue_adds_total{name=\"node_lifecycle_controller\"";
    const char *at = strstr(kc_buf_cstr(&text), name);
    assert_non_null(at);
    return strtod(strstr(at, "} ") + 2, NULL);
}

static void heartbeats_queue_no_key(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_nodes(10);
    scenario_advance(&plain, env, 5 * KC_SECOND);
    const double before = count_keys(env);
    for (int i = 0; i < 12; i++) {
        for (int j = 0; j < 10; j++)
            beat(env, name_of(j), "True");
        scenario_advance(&plain, env, 10 * KC_SECOND);
    }
    /* 120 s of heartbeats and renewals: a look when the time would have been up, thrice. */
    assert_true(count_keys(env) - before <= 40);
}

/* ---- faults ---- */

static void create_three_nodes_and_a_pod(kc_testenv *env)
{
    make_nodes(env, 3);
    make_ready_pod(env, "web", "a");
    make_ready_pod(env, "other", "b");
}

static void stop_one_node(kc_testenv *env)
{
    (void)env;
    stop_nodes(0, 1);
}

static void assert_node_is_lost(kc_testenv *env)
{
    assert_true(is_lost(env, "a"));
    assert_true(has_taint(env, "a", UNREACHABLE, "NoSchedule"));
    assert_true(has_taint(env, "a", UNREACHABLE, "NoExecute"));
    assert_false(is_pod_ready(env, "web"));
    assert_true(is_pod_ready(env, "other"));
    assert_false(is_lost(env, "b"));
    assert_false(is_lost(env, "c"));
}

static const scenario lost = {
    .controllers = {.names = "nodelifecycle", .workers = 2},
    .before = create_three_nodes_and_a_pod,
    .event = stop_one_node,
    .outside = renew_live_nodes,
    .takes = 100 * KC_SECOND,
    .end = assert_node_is_lost,
};

static void converges_under_faults(void **state)
{
    (void)state;
    scenario_converges(&lost);
    scenario_converges_after_crashes(&lost);
    scenario_converges_with_stale_cache(&lost);
    scenario_converges_with_missed_events(&lost);
    scenario_converges_with_bad_network(&lost);
}

static void works_with_real_clock_and_threads(void **state)
{
    (void)state;
    static const scenario quick = {
        .controllers = {.names = "nodelifecycle", .node_grace = KC_SECOND}};
    kc_auto(kc_testenv) *env = scenario_begin(&quick, 0);
    make_good_node(env, "a");
    make_good_node(env, "b");
    make_ready_pod(env, "web", "a");
    for (int i = 0; i < 2000 && (!is_lost(env, "a") || is_pod_ready(env, "web")); i++) {
        renew(env, "b");
        kc_testenv_advance(env, 50 * KC_MILLISECOND);
    }
    assert_true(is_lost(env, "a"));
    assert_false(is_pod_ready(env, "web"));
}

TESTS(node_without_heartbeat_becomes_unknown, renewed_lease_keeps_node_ready,
      status_heartbeats_keep_node_ready, skewed_node_clock_does_not_matter,
      node_without_status_has_startup_grace_period, returned_node_loses_taints_and_conditions,
      added_and_removed_nodes_record_events, conditions_become_taints,
      cordoned_node_gets_unschedulable_taint, taints_of_other_owners_stay,
      not_ready_node_gets_not_ready_taint, deprecated_labels_follow_current_ones,
      no_eviction_when_all_nodes_are_lost, evictions_are_rate_limited_per_zone,
      returned_node_leaves_the_eviction_queue, no_eviction_in_partially_disrupted_small_zone,
      slow_eviction_in_partially_disrupted_large_zone,
      fully_disrupted_zone_is_evicted_while_others_are_ready,
      new_process_computes_zone_states_from_all_nodes, excluded_node_does_not_count_in_its_zone,
      pods_of_a_lost_node_are_not_ready, pod_bound_to_lost_node_becomes_not_ready,
      heartbeats_queue_no_key, converges_under_faults, works_with_real_clock_and_threads)
