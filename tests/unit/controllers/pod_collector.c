/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that nobody else removes. */
#include "nodes_testing.h"

static const story collected;

static void assert_failed(kc_testenv *env, const char *name)
{
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, name);
    kc_auto(kc_view) *view = kc_view_of(pod);
    assert_str(kc_as_str(kc_dig(kc_view_root(view), "status.phase")), "Failed");
    assert_true(kc_object_being_deleted(pod));
}

/* ---- nodes that are gone ---- */

static void a_pod_of_no_node_goes_after_a_while(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&collected, 1);
    make_pod_with(env, "lost", "nowhere", STUCK, "");
    story_pass(&collected, env, 38 * KC_SECOND);
    kc_auto(kc_object) *before = look_up(env, &kc_kind_pod, "lost");
    assert_false(kc_object_being_deleted(before));
    story_pass(&collected, env, 4 * KC_SECOND);
    assert_failed(env, "lost");
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, "lost");
    kc_scoped(kc_arena) arena = {0};
    kc_condition c;
    assert_true(kc_condition_get(pod, KC_STR("DisruptionTarget"), &arena, &c));
    assert_str(c.status, "True");
    assert_str(c.reason, "DeletionByPodGC");
    assert_str(c.message, "PodGC: node no longer exists");
}

static void a_node_that_comes_in_time_keeps_its_pods(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&collected, 1);
    make_pod(env, "early", "late");
    story_pass(&collected, env, 30 * KC_SECOND);
    make_node(env, "late");
    story_pass(&collected, env, KC_MINUTE);
    assert_true(is_there(env, &kc_kind_pod, "early"));
}

static void pods_of_a_node_have_time_from_its_deletion_on(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&collected, 1);
    make_node(env, "made-again");
    make_pod(env, "web", "made-again");
    story_pass(&collected, env, 35 * KC_SECOND);
    delete_object(env, &kc_kind_node, "made-again");
    story_pass(&collected, env, 35 * KC_SECOND);
    assert_true(is_there(env, &kc_kind_pod, "web"));
    make_node(env, "made-again");
    story_pass(&collected, env, 2 * KC_SECOND);
    delete_object(env, &kc_kind_node, "made-again");
    story_pass(&collected, env, 35 * KC_SECOND);
    assert_true(is_there(env, &kc_kind_pod, "web"));
    story_pass(&collected, env, 10 * KC_SECOND);
    assert_false(is_there(env, &kc_kind_pod, "web"));
}

static void pods_stay_while_the_server_cannot_be_asked_for_their_node(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&collected, 1);
    story_pass(&collected, env, KC_SECOND);
    kc_testenv_fault(env,
                     &(kc_fault_opts){KC_FAULT_UNAVAILABLE, .chance = 1, .kind = &kc_kind_node});
    make_pod(env, "lost", "nowhere");
    story_pass(&collected, env, 2 * KC_MINUTE);
    assert_true(is_there(env, &kc_kind_pod, "lost"));
    kc_testenv_clear_faults(env);
    story_pass(&collected, env, 5 * KC_MINUTE);
    assert_false(is_there(env, &kc_kind_pod, "lost"));
}

static void a_pod_that_has_ended_keeps_its_status(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&collected, 1);
    make_pod_with(env, "done", "nowhere", STUCK, "");
    patch_status(env, &kc_kind_pod, "done", "{'phase':'Succeeded'}");
    story_pass(&collected, env, KC_MINUTE);
    kc_auto(kc_object) *pod = look_up(env, &kc_kind_pod, "done");
    kc_auto(kc_view) *view = kc_view_of(pod);
    assert_true(kc_object_being_deleted(pod));
    assert_str(kc_as_str(kc_dig(kc_view_root(view), "status.phase")), "Succeeded");
}

/* ---- ended pods ---- */

static void ended_pods_are_kept_up_to_a_number(void **state)
{
    (void)state;
    static const story few = {.controllers = {.names = "podgc", .ended_pods = 2}};
    kc_auto(kc_testenv) *env = story_begin(&few, 1);
    make_node(env, "n");
    static const char *const names[] = {"first", "second", "third", "evicted", "running"};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        make_pod(env, names[i], "n");
        patch_status(env, &kc_kind_pod, names[i],
                     i == 4   ? "{'phase':'Running'}"
                     : i == 3 ? "{'phase':'Failed','reason':'Evicted'}"
                              : "{'phase':'Succeeded'}");
        story_pass(&few, env, KC_SECOND);
    }
    story_pass(&few, env, 21 * KC_SECOND);
    assert_false(is_there(env, &kc_kind_pod, "evicted"));
    assert_false(is_there(env, &kc_kind_pod, "first"));
    assert_true(is_there(env, &kc_kind_pod, "second"));
    assert_true(is_there(env, &kc_kind_pod, "third"));
    assert_true(is_there(env, &kc_kind_pod, "running"));
}

/* ---- pods being deleted ---- */

static void one_that_was_never_on_a_node_is_ended(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&collected, 1);
    make_pod_with(env, "unbound", "", STUCK, "");
    delete_object(env, &kc_kind_pod, "unbound");
    story_pass(&collected, env, 21 * KC_SECOND);
    assert_failed(env, "unbound");
}

static void one_whose_node_is_out_of_service_is_ended(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&collected, 1);
    make_node(env, "dead");
    make_pod(env, "web", "dead");
    make_pod(env, "wanted", "dead");
    beat(env, "dead", "Unknown");
    delete_object(env, &kc_kind_pod, "web");
    story_pass(&collected, env, 25 * KC_SECOND);
    assert_true(is_there(env, &kc_kind_pod, "web"));
    patch(env, &kc_kind_node, "dead",
          "{'spec':{'taints':[{'key':'node.kubernetes.io/out-of-service','effect':'NoExecute'}]}}");
    story_pass(&collected, env, 21 * KC_SECOND);
    assert_false(is_there(env, &kc_kind_pod, "web"));
    assert_true(is_there(env, &kc_kind_pod, "wanted"));
}

static void one_whose_node_is_ready_is_left_to_it(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&collected, 1);
    make_node(env, "good");
    make_pod(env, "web", "good");
    beat(env, "good", "True");
    patch(env, &kc_kind_node, "good",
          "{'spec':{'taints':[{'key':'node.kubernetes.io/out-of-service','effect':'NoExecute'}]}}");
    delete_object(env, &kc_kind_pod, "web");
    story_pass(&collected, env, KC_MINUTE);
    assert_true(is_there(env, &kc_kind_pod, "web"));
}

static void what_is_removed_is_counted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&collected, 1);
    make_pod(env, "lost", "nowhere");
    story_pass(&collected, env, KC_MINUTE);
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(kc_manager_metrics(kc_testenv_manager(env)), &text);
    assert_contains(kc_buf_cstr(&text), "pod_gc_collector_force_delete_pods_total{namespace="
                                        "\"default\",reason=\"orphaned\"} 1\n");
}

/* ---- when things go wrong ---- */

static void two_nodes_and_their_pods(kc_testenv *env)
{
    make_node(env, "stays");
    make_node(env, "goes");
    make_pod(env, "kept", "stays");
    for (int i = 0; i < 3; i++) {
        kc_autofree char *name = kc_asprintf("lost-%d", i);
        make_pod(env, name, "goes");
    }
}

static void a_node_goes(kc_testenv *env)
{
    delete_object(env, &kc_kind_node, "goes");
}

static void its_pods_are_gone(kc_testenv *env)
{
    for (int i = 0; i < 3; i++) {
        kc_autofree char *name = kc_asprintf("lost-%d", i);
        assert_false(is_there(env, &kc_kind_pod, name));
    }
    assert_true(is_there(env, &kc_kind_pod, "kept"));
}

static const story collected = {
    .controllers = {.names = "podgc", .workers = 2},
    .before = two_nodes_and_their_pods,
    .event = a_node_goes,
    .takes = 90 * KC_SECOND,
    .end = its_pods_are_gone,
};

static void pods_of_a_deleted_node_go(void **state)
{
    (void)state;
    it_ends_well(&collected);
}

static void it_survives_faults(void **state)
{
    (void)state;
    it_survives_a_crash_after_any_write(&collected);
    it_survives_a_stale_cache(&collected);
    it_survives_missed_events(&collected);
    it_survives_a_bad_network(&collected);
}

TESTS(a_pod_of_no_node_goes_after_a_while, a_node_that_comes_in_time_keeps_its_pods,
      pods_of_a_node_have_time_from_its_deletion_on,
      pods_stay_while_the_server_cannot_be_asked_for_their_node,
      a_pod_that_has_ended_keeps_its_status, ended_pods_are_kept_up_to_a_number,
      one_that_was_never_on_a_node_is_ended, one_whose_node_is_out_of_service_is_ended,
      one_whose_node_is_ready_is_left_to_it, what_is_removed_is_counted, pods_of_a_deleted_node_go,
      it_survives_faults)
