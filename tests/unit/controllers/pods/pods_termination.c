/* SPDX-License-Identifier: Apache-2.0 */
/* The action plan and the status of a pod that ends. */
#include "pod_plan_testing.h"

static void deleted_pod_is_stopped_then_killed(void **state)
{
    (void)state;
    int64_t grace = 30;
    plan_fixture w = with_pod(ONE);
    runs(&w, 0, 0, 0);
    deleted(&w, &grace);
    plan(&w, 1);
    assert_int_equal(planned(&w, KC__POD_ACT_STOP, 0), 1);
    assert_true(plan_has_event(&w, "Killing", "Stopping container main"));
    assert_false(w.plan.over);
    assert_int_equal(w.plan.next, AT(31));
    plan(&w, 30);
    assert_int_equal(w.plan.actions.n, 0);
    plan(&w, 31);
    assert_int_equal(planned(&w, KC__POD_ACT_FORCE, 0), 1);
    ends(&w, 0, 137, 31);
    plan(&w, 31);
    assert_true(w.plan.over);
    assert_string_equal(status(&w, 31)->phase, "Failed");
    end(&w);
}

static void shorter_grace_period_shortens_the_wait(void **state)
{
    (void)state;
    int64_t grace = 30;
    plan_fixture w = with_pod(ONE);
    runs(&w, 0, 0, 0);
    deleted(&w, &grace);
    plan(&w, 0);
    grace = 5;
    plan(&w, 1);
    assert_int_equal(w.plan.next, AT(6));
    plan(&w, 6);
    assert_int_equal(planned(&w, KC__POD_ACT_FORCE, 0), 1);
    end(&w);
}

static void pod_deleted_before_start_is_over(void **state)
{
    (void)state;
    plan_fixture w = with_pod(ONE);
    deleted(&w, NULL);
    plan(&w, 0);
    assert_true(w.plan.over);
    assert_int_equal(w.plan.actions.n, 0);
    assert_string_equal(status(&w, 0)->phase, "Failed");
    end(&w);
}

static void completed_pod_succeeds_even_when_deleted(void **state)
{
    (void)state;
    plan_fixture w = with_pod(ONE);
    runs(&w, 0, 0, 0);
    ends(&w, 0, 0, 1);
    deleted(&w, NULL);
    plan(&w, 1);
    assert_true(w.plan.over);
    assert_string_equal(status(&w, 1)->phase, "Succeeded");
    end(&w);
}

static void pre_stop_hook_runs_first_within_the_grace_period(void **state)
{
    (void)state;
    int64_t grace = 10;
    plan_fixture w = with_pod("'containers':[{'name':'main','lifecycle':{'preStop':{'exec':{}}}}]");
    runs(&w, 0, 0, 0);
    deleted(&w, &grace);
    plan(&w, 0);
    assert_int_equal(planned(&w, KC__POD_ACT_PRE_STOP, 0), 1);
    assert_int_equal(planned(&w, KC__POD_ACT_STOP, 0), 0);
    w.record->containers[0].pre_stop = KC__POD_HOOK_OK;
    plan(&w, 4);
    assert_int_equal(planned(&w, KC__POD_ACT_STOP, 0), 1);
    assert_int_equal(w.plan.next, AT(10));
    end(&w);
}

static void pre_stop_hook_beyond_the_grace_period_is_abandoned(void **state)
{
    (void)state;
    int64_t grace = 10;
    plan_fixture w = with_pod("'containers':[{'name':'main','lifecycle':{'preStop':{'exec':{}}}}]");
    runs(&w, 0, 0, 0);
    deleted(&w, &grace);
    plan(&w, 0);
    plan(&w, 10);
    assert_int_equal(planned(&w, KC__POD_ACT_STOP, 0), 1);
    assert_int_equal(w.plan.next, AT(12));
    plan(&w, 12);
    assert_int_equal(planned(&w, KC__POD_ACT_FORCE, 0), 1);
    end(&w);
}

static void sidecars_stop_last_in_reverse_order(void **state)
{
    (void)state;
    int64_t grace = 30;
    plan_fixture w = with_pod(SIDECARS);
    for (size_t i = 0; i < 3; i++)
        runs(&w, i, 0, 0);
    deleted(&w, &grace);
    plan(&w, 0);
    assert_int_equal(planned(&w, KC__POD_ACT_STOP, 2), 1);
    assert_int_equal(planned(&w, KC__POD_ACT_STOP, 0) + planned(&w, KC__POD_ACT_STOP, 1), 0);
    ends(&w, 2, 0, 1);
    plan(&w, 1);
    assert_int_equal(planned(&w, KC__POD_ACT_STOP, 1), 1);
    assert_int_equal(planned(&w, KC__POD_ACT_STOP, 0), 0);
    ends(&w, 1, 0, 2);
    plan(&w, 2);
    assert_int_equal(planned(&w, KC__POD_ACT_STOP, 0), 1);
    end(&w);
}

static void sidecars_stop_when_the_containers_have_completed(void **state)
{
    (void)state;
    plan_fixture w = with_pod(SIDECARS ",'restartPolicy':'Never'");
    for (size_t i = 0; i < 3; i++)
        runs(&w, i, 0, 0);
    ends(&w, 2, 0, 1);
    plan(&w, 1);
    assert_int_equal(planned(&w, KC__POD_ACT_STOP, 1), 1);
    assert_string_equal(status(&w, 1)->phase, "Running");
    ends(&w, 1, 143, 2);
    plan(&w, 2);
    ends(&w, 0, 143, 3);
    plan(&w, 3);
    assert_true(w.plan.over);
    assert_string_equal(status(&w, 3)->phase, "Succeeded");
    end(&w);
}

static void crashed_sidecar_is_restarted(void **state)
{
    (void)state;
    plan_fixture w = with_pod(SIDECARS ",'restartPolicy':'Never'");
    for (size_t i = 0; i < 3; i++)
        runs(&w, i, 0, 0);
    ends(&w, 0, 1, 1);
    plan(&w, 1);
    assert_int_equal(planned(&w, KC__POD_ACT_START, 0), 1);
    assert_string_equal(status(&w, 1)->phase, "Running");
    end(&w);
}

static void pod_beyond_active_deadline_fails(void **state)
{
    (void)state;
    plan_fixture w = with_pod(ONE ",'activeDeadlineSeconds':60");
    runs(&w, 0, 0, 0);
    plan(&w, 1);
    assert_int_equal(w.plan.next, AT(60));
    plan(&w, 60);
    assert_int_equal(planned(&w, KC__POD_ACT_STOP, 0), 1);
    const kc_pod_status *s = status(&w, 60);
    assert_string_equal(s->phase, "Failed");
    assert_string_equal(s->reason, "DeadlineExceeded");
    assert_string_equal(s->message,
                        "Pod was active on the node longer than the specified deadline");
    assert_string_equal(condition(s, "Ready")->reason, "PodFailed");
    end(&w);
}

static void terminal_phase_is_kept(void **state)
{
    (void)state;
    plan_fixture w = with_pod(ONE);
    runs(&w, 0, 0, 0);
    w.pod->status.phase = (char *)"Failed";
    w.pod->status.reason = (char *)"Evicted";
    plan(&w, 0);
    assert_int_equal(planned(&w, KC__POD_ACT_STOP, 0), 1);
    assert_string_equal(status(&w, 0)->phase, "Failed");
    assert_string_equal(w.status.reason, "Evicted");
    end(&w);
}

static void pod_without_its_volumes_is_pending(void **state)
{
    (void)state;
    plan_fixture w = with_pod(ONE);
    w.record->prepared = false;
    plan(&w, 0);
    assert_int_equal(w.plan.actions.n, 0);
    const kc_pod_status *s = status(&w, 0);
    assert_string_equal(s->phase, "Pending");
    assert_string_equal(condition(s, "PodReadyToStartContainers")->status, "False");
    assert_null(s->pod_ip);
    end(&w);
}

static void completed_container_that_restarts_is_not_ready(void **state)
{
    (void)state;
    plan_fixture w = with_pod(ONE);
    runs(&w, 0, 0, 0);
    ends(&w, 0, 0, 1);
    const kc_pod_status *s = status(&w, 1);
    assert_string_equal(s->container_statuses[0].state.terminated->reason, "Completed");
    assert_string_equal(s->phase, "Running");
    assert_false(s->container_statuses[0].ready);
    end(&w);
}

static void container_is_started_after_its_post_start_hook(void **state)
{
    (void)state;
    plan_fixture w =
        with_pod("'containers':[{'name':'main','lifecycle':{'postStart':{'exec':{}}}}]");
    runs(&w, 0, 0, 0);
    plan(&w, 0);
    assert_int_equal(planned(&w, KC__POD_ACT_POST_START, 0), 1);
    assert_false(*status(&w, 0)->container_statuses[0].started);
    plan(&w, 1);
    assert_int_equal(planned(&w, KC__POD_ACT_POST_START, 0), 0);
    w.record->containers[0].post_start = KC__POD_HOOK_FAILED;
    plan(&w, 2);
    assert_int_equal(planned(&w, KC__POD_ACT_STOP, 0), 1);
    assert_true(plan_has_event(&w, "Killing", "FailedPostStartHook"));
    end(&w);
}

static void transition_times_change_with_status_only(void **state)
{
    (void)state;
    plan_fixture w = with_pod(ONE);
    runs(&w, 0, 0, 0);
    w.pod->status = *status(&w, 5);
    assert_int_equal(condition(status(&w, 9), "Ready")->last_transition_time.at, AT(5));
    ends(&w, 0, 1, 10);
    assert_int_equal(condition(status(&w, 10), "Ready")->last_transition_time.at, AT(10));
    assert_int_equal(condition(status(&w, 10), "Initialized")->last_transition_time.at, AT(5));
    end(&w);
}

TESTS(deleted_pod_is_stopped_then_killed, shorter_grace_period_shortens_the_wait,
      pod_deleted_before_start_is_over, completed_pod_succeeds_even_when_deleted,
      pre_stop_hook_runs_first_within_the_grace_period,
      pre_stop_hook_beyond_the_grace_period_is_abandoned, sidecars_stop_last_in_reverse_order,
      sidecars_stop_when_the_containers_have_completed, crashed_sidecar_is_restarted,
      pod_beyond_active_deadline_fails, terminal_phase_is_kept, pod_without_its_volumes_is_pending,
      completed_container_that_restarts_is_not_ready,
      container_is_started_after_its_post_start_hook, transition_times_change_with_status_only)
