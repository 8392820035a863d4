/* SPDX-License-Identifier: Apache-2.0 */
/* The action plan and the status of a pod while it starts and runs. */
#include "pod_plan_testing.h"

/* ---- starting ---- */

static void containers_start_together(void **state)
{
    (void)state;
    plan_fixture w = with_pod("'containers':[{'name':'b'},{'name':'a'}]");
    plan(&w, 0);
    assert_int_equal(planned(&w, KC__POD_ACT_START, 0), 1);
    assert_int_equal(planned(&w, KC__POD_ACT_START, 1), 1);
    const kc_pod_status *s = status(&w, 0);
    assert_string_equal(s->phase, "Pending");
    assert_string_equal(s->container_statuses[0].name, "a");
    assert_string_equal(s->container_statuses[0].state.waiting->reason, "ContainerCreating");
    assert_string_equal(condition(s, "Ready")->message, "containers with unready status: [b a]");
    assert_string_equal(condition(s, "Initialized")->status, "True");
    end(&w);
}

static void init_containers_run_in_order(void **state)
{
    (void)state;
    plan_fixture w = with_pod(INIT);
    plan(&w, 0);
    assert_int_equal(planned(&w, KC__POD_ACT_START, 0), 1);
    assert_int_equal(planned(&w, KC__POD_ACT_START, 1), 0);
    runs(&w, 0, 0, 0);
    plan(&w, 1);
    assert_int_equal(w.plan.actions.n, 0);
    const kc_pod_status *s = status(&w, 1);
    assert_string_equal(s->phase, "Pending");
    assert_string_equal(s->container_statuses[0].state.waiting->reason, "PodInitializing");
    assert_string_equal(condition(s, "Initialized")->message,
                        "containers with incomplete status: [one two]");
    ends(&w, 0, 0, 2);
    plan(&w, 2);
    assert_int_equal(planned(&w, KC__POD_ACT_START, 1), 1);
    assert_int_equal(planned(&w, KC__POD_ACT_START, 2), 0);
    runs(&w, 1, 0, 2);
    ends(&w, 1, 0, 3);
    plan(&w, 3);
    assert_int_equal(planned(&w, KC__POD_ACT_START, 2), 1);
    end(&w);
}

static void failed_init_container_fails_pod_with_policy_never(void **state)
{
    (void)state;
    plan_fixture w = with_pod(INIT ",'restartPolicy':'Never'");
    runs(&w, 0, 0, 0);
    ends(&w, 0, 3, 1);
    plan(&w, 1);
    assert_true(w.plan.over);
    assert_string_equal(status(&w, 1)->phase, "Failed");
    end(&w);
}

static void failed_init_container_is_restarted_with_policy_on_failure(void **state)
{
    (void)state;
    plan_fixture w = with_pod(INIT ",'restartPolicy':'OnFailure'");
    runs(&w, 0, 0, 0);
    ends(&w, 0, 3, 1);
    plan(&w, 1);
    assert_int_equal(planned(&w, KC__POD_ACT_START, 0), 1);
    assert_string_equal(status(&w, 1)->phase, "Pending");
    end(&w);
}

static void started_sidecar_allows_the_next_container(void **state)
{
    (void)state;
    plan_fixture w =
        with_pod("'initContainers':[{'name':'one','restartPolicy':'Always','startupProbe':"
                 "{'tcpSocket':{'port':1}}}]," ONE);
    runs(&w, 0, 0, 0);
    plan(&w, 0);
    assert_int_equal(planned(&w, KC__POD_ACT_START, 1), 0);
    assert_int_equal(planned(&w, KC__POD_ACT_PROBE, 0), 1);
    assert_true(kc__pod_record_probed(w.record, w.pod, 0, 0, KC__POD_PROBE_STARTUP, true));
    plan(&w, 1);
    assert_int_equal(planned(&w, KC__POD_ACT_START, 1), 1);
    end(&w);
}

/* ---- restarts ---- */

static void restart_policy_decides_which_containers_restart(void **state)
{
    (void)state;
    static const struct {
        const char *policy;
        int code, starts;
        const char *phase;
    } rows[] = {
        {"Always", 0, 1, "Running"},      {"Always", 1, 1, "Running"},
        {"OnFailure", 0, 0, "Succeeded"}, {"OnFailure", 1, 1, "Running"},
        {"Never", 0, 0, "Succeeded"},     {"Never", 1, 0, "Failed"},
    };
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc_autofree char *spec = kc_asprintf(ONE ",'restartPolicy':'%s'", rows[i].policy);
        plan_fixture w = with_pod(spec);
        runs(&w, 0, 0, 0);
        ends(&w, 0, rows[i].code, 5);
        plan(&w, 5);
        assert_int_equal(planned(&w, KC__POD_ACT_START, 0), rows[i].starts);
        assert_int_equal(w.plan.over, !rows[i].starts);
        assert_string_equal(status(&w, 5)->phase, rows[i].phase);
        end(&w);
    }
}

static void crash_loop_backoff_grows(void **state)
{
    (void)state;
    static const int waits[] = {0, 10, 20, 40, 80, 160, 300, 300};
    plan_fixture w = with_pod(ONE);
    int64_t now = 0;
    for (size_t i = 0; i < KC_COUNT(waits); i++) {
        runs(&w, 0, (int)i, now);
        ends(&w, 0, 1, ++now);
        if (waits[i]) {
            plan(&w, now + waits[i] - 1);
            assert_int_equal(planned(&w, KC__POD_ACT_START, 0), 0);
            assert_int_equal(w.plan.next, AT(now + waits[i]));
        }
        now += waits[i];
        plan(&w, now);
        assert_int_equal(planned(&w, KC__POD_ACT_START, 0), 1);
    }
    end(&w);
}

static void crash_loop_is_reported(void **state)
{
    (void)state;
    plan_fixture w = with_pod(ONE);
    runs(&w, 0, 0, 0);
    ends(&w, 0, 1, 1);
    plan(&w, 1);
    runs(&w, 0, 1, 1);
    ends(&w, 0, 7, 2);
    plan(&w, 2);
    assert_true(plan_has_event(&w, "BackOff",
                               "Back-off restarting failed container main in pod a_default(u)"));
    const kc_container_status *s = &status(&w, 2)->container_statuses[0];
    assert_string_equal(s->state.waiting->reason, "CrashLoopBackOff");
    assert_string_equal(s->state.waiting->message,
                        "back-off 10s restarting failed container=main pod=a_default(u)");
    assert_int_equal(s->last_state.terminated->exit_code, 7);
    assert_int_equal(s->restart_count, 1);
    assert_string_equal(w.status.phase, "Running");
    plan(&w, 3);
    assert_false(plan_has_event(&w, "BackOff", ""));
    end(&w);
}

static void long_run_resets_the_backoff(void **state)
{
    (void)state;
    plan_fixture w = with_pod(ONE);
    runs(&w, 0, 0, 0);
    ends(&w, 0, 1, 1);
    plan(&w, 1);
    runs(&w, 0, 1, 1);
    ends(&w, 0, 1, 602);
    plan(&w, 602);
    assert_int_equal(planned(&w, KC__POD_ACT_START, 0), 1);
    end(&w);
}

static void failed_start_is_retried_as_the_same_attempt(void **state)
{
    (void)state;
    plan_fixture w = with_pod(ONE);
    kc__pod_record_not_started(w.record, 0, "CreateContainerConfigError", "no", AT(10));
    plan(&w, 5);
    assert_int_equal(planned(&w, KC__POD_ACT_START, 0), 0);
    assert_int_equal(w.plan.next, AT(10));
    assert_string_equal(status(&w, 5)->container_statuses[0].state.waiting->reason,
                        "CreateContainerConfigError");
    plan(&w, 10);
    assert_int_equal(planned(&w, KC__POD_ACT_START, 0), 1);
    assert_int_equal(w.plan.actions.items[0].attempt, 0);
    end(&w);
}

static void changed_image_restarts_the_container(void **state)
{
    (void)state;
    plan_fixture w = with_pod(ONE);
    runs(&w, 0, 0, 0);
    w.pod->spec.containers[0].image = (char *)"y";
    plan(&w, 1);
    assert_int_equal(planned(&w, KC__POD_ACT_STOP, 0), 1);
    assert_true(
        plan_has_event(&w, "Killing", "Container main definition changed, will be restarted"));
    end(&w);
}

/* ---- probes ---- */

#define PROBED(kind, more)                                                         \
    "'containers':[{'name':'main','image':'x','" kind "':{'tcpSocket':{'port':1}," \
    "'periodSeconds':10,'failureThreshold':3,'successThreshold':1" more "}}]"

static void probe(plan_fixture *w, kc__pod_probe_type type, bool ok)
{
    assert_true(
        kc__pod_record_probed(w->record, w->pod, 0, w->record->containers[0].now.number, type, ok));
}

static void readiness_follows_its_probe(void **state)
{
    (void)state;
    plan_fixture w = with_pod(PROBED("readinessProbe", ",'initialDelaySeconds':5"));
    runs(&w, 0, 0, 0);
    plan(&w, 0);
    assert_int_equal(planned(&w, KC__POD_ACT_PROBE, 0), 0);
    assert_int_equal(w.plan.next, AT(5));
    assert_string_equal(condition(status(&w, 0), "Ready")->status, "False");
    plan(&w, 5);
    assert_int_equal(planned(&w, KC__POD_ACT_PROBE, 0), 1);
    probe(&w, KC__POD_PROBE_READINESS, true);
    assert_string_equal(condition(status(&w, 5), "Ready")->status, "True");
    plan(&w, 6);
    assert_int_equal(w.plan.next, AT(15));
    for (int i = 1; i <= 3; i++) {
        assert_string_equal(condition(status(&w, 5), "Ready")->status, "True");
        plan(&w, 5 + 10 * i);
        assert_int_equal(planned(&w, KC__POD_ACT_PROBE, 0), 1);
        probe(&w, KC__POD_PROBE_READINESS, false);
    }
    assert_string_equal(condition(status(&w, 40), "Ready")->status, "False");
    plan(&w, 40);
    assert_int_equal(planned(&w, KC__POD_ACT_STOP, 0), 0);
    end(&w);
}

static void running_probe_is_not_started_again(void **state)
{
    (void)state;
    plan_fixture w = with_pod(PROBED("livenessProbe", ""));
    runs(&w, 0, 0, 0);
    plan(&w, 0);
    assert_int_equal(planned(&w, KC__POD_ACT_PROBE, 0), 1);
    plan(&w, 20);
    assert_int_equal(planned(&w, KC__POD_ACT_PROBE, 0), 0);
    probe(&w, KC__POD_PROBE_LIVENESS, true);
    plan(&w, 20);
    assert_int_equal(planned(&w, KC__POD_ACT_PROBE, 0), 1);
    end(&w);
}

static void failed_liveness_probe_stops_the_container(void **state)
{
    (void)state;
    plan_fixture w = with_pod(PROBED("livenessProbe", ",'terminationGracePeriodSeconds':7"));
    runs(&w, 0, 0, 0);
    for (int i = 0; i < 3; i++) {
        plan(&w, 10 * i);
        assert_int_equal(planned(&w, KC__POD_ACT_PROBE, 0), 1);
        probe(&w, KC__POD_PROBE_LIVENESS, false);
    }
    plan(&w, 21);
    assert_int_equal(planned(&w, KC__POD_ACT_STOP, 0), 1);
    assert_true(
        plan_has_event(&w, "Killing", "Container main failed liveness probe, will be restarted"));
    assert_int_equal(w.plan.next, AT(28));
    ends(&w, 0, 137, 28);
    plan(&w, 28);
    assert_int_equal(planned(&w, KC__POD_ACT_START, 0), 1);
    runs(&w, 0, 1, 28);
    plan(&w, 28);
    assert_int_equal(planned(&w, KC__POD_ACT_PROBE, 0), 1);
    end(&w);
}

static void other_probes_wait_for_the_startup_probe(void **state)
{
    (void)state;
    plan_fixture w =
        with_pod("'containers':[{'name':'main','startupProbe':{'tcpSocket':{'port':1},"
                 "'periodSeconds':1,'failureThreshold':2},'livenessProbe':{'tcpSocket':"
                 "{'port':1}},'readinessProbe':{'tcpSocket':{'port':1}}}]");
    runs(&w, 0, 0, 0);
    plan(&w, 0);
    assert_int_equal(planned(&w, KC__POD_ACT_PROBE, 0), 1);
    assert_int_equal(w.plan.actions.items[0].probe, KC__POD_PROBE_STARTUP);
    assert_false(*status(&w, 0)->container_statuses[0].started);
    probe(&w, KC__POD_PROBE_STARTUP, true);
    plan(&w, 1);
    assert_int_equal(planned(&w, KC__POD_ACT_PROBE, 0), 2);
    assert_true(*status(&w, 1)->container_statuses[0].started);
    end(&w);
}

static void probe_result_of_an_old_attempt_is_ignored(void **state)
{
    (void)state;
    plan_fixture w = with_pod(PROBED("readinessProbe", ""));
    runs(&w, 0, 0, 0);
    plan(&w, 0);
    runs(&w, 0, 1, 1);
    assert_false(kc__pod_record_probed(w.record, w.pod, 0, 0, KC__POD_PROBE_READINESS, true));
    assert_string_equal(condition(status(&w, 1), "Ready")->status, "False");
    end(&w);
}

static void readiness_gates_decide_pod_readiness(void **state)
{
    (void)state;
    plan_fixture w = with_pod(ONE ",'readinessGates':[{'conditionType':'example.com/ok'}]");
    runs(&w, 0, 0, 0);
    const kc_pod_status *s = status(&w, 0);
    assert_string_equal(condition(s, "ContainersReady")->status, "True");
    assert_string_equal(condition(s, "Ready")->status, "False");
    assert_string_equal(condition(s, "Ready")->reason, "ReadinessGatesNotReady");
    assert_string_equal(
        condition(s, "Ready")->message,
        "corresponding condition of pod readiness gate \"example.com/ok\" does not exist.");
    kc_pod_condition gate = {.type = (char *)"example.com/ok", .status = (char *)"True"};
    w.pod->status.conditions = &gate;
    w.pod->status.n_conditions = 1;
    s = status(&w, 0);
    assert_string_equal(condition(s, "Ready")->status, "True");
    assert_string_equal(s->conditions[0].type, "example.com/ok");
    end(&w);
}

/* ---- local storage ---- */

static void storage_is_measured_every_ten_seconds_while_running(void **state)
{
    (void)state;
    plan_fixture w = with_pod(ONE);
    w.record->measures = true;
    plan(&w, 0);
    assert_int_equal(planned(&w, KC__POD_ACT_MEASURE, 0), 0);
    runs(&w, 0, 0, 0);
    plan(&w, 1);
    assert_int_equal(planned(&w, KC__POD_ACT_MEASURE, 0), 0);
    assert_int_equal(w.plan.next, AT(11));
    plan(&w, 11);
    assert_int_equal(planned(&w, KC__POD_ACT_MEASURE, 0), 1);
    plan(&w, 30);
    assert_int_equal(planned(&w, KC__POD_ACT_MEASURE, 0), 0); /* The first is under way. */
    w.record->measuring = false;
    plan(&w, 30);
    assert_int_equal(planned(&w, KC__POD_ACT_MEASURE, 0), 1);
    end(&w);
}

static void evicted_pod_stops_within_seconds_and_fails(void **state)
{
    (void)state;
    plan_fixture w = with_pod(ONE);
    runs(&w, 0, 0, 0);
    w.record->failed = "Evicted";
    w.record->failed_message = kc_strdup("Usage of EmptyDir volume \"v\" exceeds the limit");
    plan(&w, 1);
    assert_int_equal(planned(&w, KC__POD_ACT_STOP, 0), 1);
    plan(&w, 4);
    assert_int_equal(planned(&w, KC__POD_ACT_FORCE, 0), 1);
    ends(&w, 0, 137, 4);
    plan(&w, 5);
    const kc_pod_status *s = status(&w, 5);
    assert_string_equal(s->phase, "Failed");
    assert_string_equal(s->reason, "Evicted");
    assert_contains(s->message, "Usage of EmptyDir volume");
    end(&w);
}

static void storage_limits_are_detected(void **state)
{
    (void)state;
    plan_fixture none = with_pod(ONE);
    plan_fixture volume = with_pod(ONE ",'volumes':[{'name':'v','emptyDir':{'sizeLimit':'1Mi'}}]");
    plan_fixture container = with_pod("'containers':[{'name':'c','resources':{'limits':"
                                      "{'ephemeral-storage':'1Gi'}}}]");
    assert_false(kc__pod_limits_storage(none.pod));
    assert_true(kc__pod_limits_storage(volume.pod));
    assert_true(kc__pod_limits_storage(container.pod));
    end(&none);
    end(&volume);
    end(&container);
}

static void ignored_fields_set_a_condition(void **state)
{
    (void)state;
    plan_fixture w = with_pod(ONE);
    runs(&w, 0, 0, 0);
    const size_t n = status(&w, 1)->n_conditions;
    w.record->ignored = kc_strdup("Not applied on this node: tty");
    const kc_pod_status *s = status(&w, 1);
    assert_int_equal(s->n_conditions, n + 1);
    assert_string_equal(condition(s, KC__POD_CONDITION_APPLIED)->status, "False");
    assert_string_equal(condition(s, KC__POD_CONDITION_APPLIED)->reason, "FieldsNotApplied");
    assert_string_equal(condition(s, KC__POD_CONDITION_APPLIED)->message,
                        "Not applied on this node: tty");
    assert_string_equal(condition(s, "Ready")->status, "True");
    end(&w);
}

TESTS(storage_is_measured_every_ten_seconds_while_running,
      evicted_pod_stops_within_seconds_and_fails, storage_limits_are_detected,
      ignored_fields_set_a_condition, containers_start_together, init_containers_run_in_order,
      failed_init_container_fails_pod_with_policy_never,
      failed_init_container_is_restarted_with_policy_on_failure,
      started_sidecar_allows_the_next_container, restart_policy_decides_which_containers_restart,
      crash_loop_backoff_grows, crash_loop_is_reported, long_run_resets_the_backoff,
      failed_start_is_retried_as_the_same_attempt, changed_image_restarts_the_container,
      readiness_follows_its_probe, running_probe_is_not_started_again,
      failed_liveness_probe_stops_the_container, other_probes_wait_for_the_startup_probe,
      probe_result_of_an_old_attempt_is_ignored, readiness_gates_decide_pod_readiness)
