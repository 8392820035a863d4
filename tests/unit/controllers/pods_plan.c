/* SPDX-License-Identifier: Apache-2.0 */
/* What is decided for a pod while it starts and runs, and what its status says. */
#include "pod_plan_testing.h"

/* ---- starting ---- */

static void containers_start_together(void **state)
{
    (void)state;
    world w = with_pod("'containers':[{'name':'b'},{'name':'a'}]");
    plan(&w, 0);
    assert_int_equal(planned(&w, KC__ACT_START, 0), 1);
    assert_int_equal(planned(&w, KC__ACT_START, 1), 1);
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
    world w = with_pod(INIT);
    plan(&w, 0);
    assert_int_equal(planned(&w, KC__ACT_START, 0), 1);
    assert_int_equal(planned(&w, KC__ACT_START, 1), 0);
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
    assert_int_equal(planned(&w, KC__ACT_START, 1), 1);
    assert_int_equal(planned(&w, KC__ACT_START, 2), 0);
    runs(&w, 1, 0, 2);
    ends(&w, 1, 0, 3);
    plan(&w, 3);
    assert_int_equal(planned(&w, KC__ACT_START, 2), 1);
    end(&w);
}

static void a_failed_init_container_fails_a_pod_that_never_restarts(void **state)
{
    (void)state;
    world w = with_pod(INIT ",'restartPolicy':'Never'");
    runs(&w, 0, 0, 0);
    ends(&w, 0, 3, 1);
    plan(&w, 1);
    assert_true(w.plan.over);
    assert_string_equal(status(&w, 1)->phase, "Failed");
    end(&w);
}

static void a_failed_init_container_is_run_again_otherwise(void **state)
{
    (void)state;
    world w = with_pod(INIT ",'restartPolicy':'OnFailure'");
    runs(&w, 0, 0, 0);
    ends(&w, 0, 3, 1);
    plan(&w, 1);
    assert_int_equal(planned(&w, KC__ACT_START, 0), 1);
    assert_string_equal(status(&w, 1)->phase, "Pending");
    end(&w);
}

static void a_sidecar_lets_the_next_go_when_it_has_started(void **state)
{
    (void)state;
    world w = with_pod("'initContainers':[{'name':'one','restartPolicy':'Always','startupProbe':"
                       "{'tcpSocket':{'port':1}}}]," ONE);
    runs(&w, 0, 0, 0);
    plan(&w, 0);
    assert_int_equal(planned(&w, KC__ACT_START, 1), 0);
    assert_int_equal(planned(&w, KC__ACT_PROBE, 0), 1);
    assert_true(kc__pod_record_probed(w.record, w.pod, 0, 0, KC__PROBE_STARTUP, true));
    plan(&w, 1);
    assert_int_equal(planned(&w, KC__ACT_START, 1), 1);
    end(&w);
}

/* ---- starting again ---- */

static void restart_policies_say_what_starts_again(void **state)
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
        world w = with_pod(spec);
        runs(&w, 0, 0, 0);
        ends(&w, 0, rows[i].code, 5);
        plan(&w, 5);
        assert_int_equal(planned(&w, KC__ACT_START, 0), rows[i].starts);
        assert_int_equal(w.plan.over, !rows[i].starts);
        assert_string_equal(status(&w, 5)->phase, rows[i].phase);
        end(&w);
    }
}

static void a_crash_loop_backs_off_longer_each_time(void **state)
{
    (void)state;
    static const int waits[] = {0, 10, 20, 40, 80, 160, 300, 300};
    world w = with_pod(ONE);
    int64_t now = 0;
    for (size_t i = 0; i < KC_COUNT(waits); i++) {
        runs(&w, 0, (int)i, now);
        ends(&w, 0, 1, ++now);
        if (waits[i]) {
            plan(&w, now + waits[i] - 1);
            assert_int_equal(planned(&w, KC__ACT_START, 0), 0);
            assert_int_equal(w.plan.next, AT(now + waits[i]));
        }
        now += waits[i];
        plan(&w, now);
        assert_int_equal(planned(&w, KC__ACT_START, 0), 1);
    }
    end(&w);
}

static void a_crash_loop_says_so(void **state)
{
    (void)state;
    world w = with_pod(ONE);
    runs(&w, 0, 0, 0);
    ends(&w, 0, 1, 1);
    plan(&w, 1);
    runs(&w, 0, 1, 1);
    ends(&w, 0, 7, 2);
    plan(&w, 2);
    assert_true(
        says(&w, "BackOff", "Back-off restarting failed container main in pod a_default(u)"));
    const kc_container_status *s = &status(&w, 2)->container_statuses[0];
    assert_string_equal(s->state.waiting->reason, "CrashLoopBackOff");
    assert_string_equal(s->state.waiting->message,
                        "back-off 10s restarting failed container=main pod=a_default(u)");
    assert_int_equal(s->last_state.terminated->exit_code, 7);
    assert_int_equal(s->restart_count, 1);
    assert_string_equal(w.status.phase, "Running");
    plan(&w, 3);
    assert_false(says(&w, "BackOff", ""));
    end(&w);
}

static void a_long_run_ends_the_back_off(void **state)
{
    (void)state;
    world w = with_pod(ONE);
    runs(&w, 0, 0, 0);
    ends(&w, 0, 1, 1);
    plan(&w, 1);
    runs(&w, 0, 1, 1);
    ends(&w, 0, 1, 602);
    plan(&w, 602);
    assert_int_equal(planned(&w, KC__ACT_START, 0), 1);
    end(&w);
}

static void a_start_that_failed_is_tried_again_as_the_same_attempt(void **state)
{
    (void)state;
    world w = with_pod(ONE);
    kc__pod_record_not_started(w.record, 0, "CreateContainerConfigError", "no", AT(10));
    plan(&w, 5);
    assert_int_equal(planned(&w, KC__ACT_START, 0), 0);
    assert_int_equal(w.plan.next, AT(10));
    assert_string_equal(status(&w, 5)->container_statuses[0].state.waiting->reason,
                        "CreateContainerConfigError");
    plan(&w, 10);
    assert_int_equal(planned(&w, KC__ACT_START, 0), 1);
    assert_int_equal(w.plan.actions.items[0].attempt, 0);
    end(&w);
}

static void another_image_starts_a_container_anew(void **state)
{
    (void)state;
    world w = with_pod(ONE);
    runs(&w, 0, 0, 0);
    w.pod->spec.containers[0].image = (char *)"y";
    plan(&w, 1);
    assert_int_equal(planned(&w, KC__ACT_STOP, 0), 1);
    assert_true(says(&w, "Killing", "Container main definition changed, will be restarted"));
    end(&w);
}

/* ---- probes ---- */

#define PROBED(kind, more)                                                         \
    "'containers':[{'name':'main','image':'x','" kind "':{'tcpSocket':{'port':1}," \
    "'periodSeconds':10,'failureThreshold':3,'successThreshold':1" more "}}]"

static void probe(world *w, kc__probe_type type, bool ok)
{
    assert_true(
        kc__pod_record_probed(w->record, w->pod, 0, w->record->containers[0].now.number, type, ok));
}

static void readiness_waits_for_its_probe(void **state)
{
    (void)state;
    world w = with_pod(PROBED("readinessProbe", ",'initialDelaySeconds':5"));
    runs(&w, 0, 0, 0);
    plan(&w, 0);
    assert_int_equal(planned(&w, KC__ACT_PROBE, 0), 0);
    assert_int_equal(w.plan.next, AT(5));
    assert_string_equal(condition(status(&w, 0), "Ready")->status, "False");
    plan(&w, 5);
    assert_int_equal(planned(&w, KC__ACT_PROBE, 0), 1);
    probe(&w, KC__PROBE_READINESS, true);
    assert_string_equal(condition(status(&w, 5), "Ready")->status, "True");
    plan(&w, 6);
    assert_int_equal(w.plan.next, AT(15));
    for (int i = 1; i <= 3; i++) {
        assert_string_equal(condition(status(&w, 5), "Ready")->status, "True");
        plan(&w, 5 + 10 * i);
        assert_int_equal(planned(&w, KC__ACT_PROBE, 0), 1);
        probe(&w, KC__PROBE_READINESS, false);
    }
    assert_string_equal(condition(status(&w, 40), "Ready")->status, "False");
    plan(&w, 40);
    assert_int_equal(planned(&w, KC__ACT_STOP, 0), 0);
    end(&w);
}

static void a_probe_under_way_is_not_begun_again(void **state)
{
    (void)state;
    world w = with_pod(PROBED("livenessProbe", ""));
    runs(&w, 0, 0, 0);
    plan(&w, 0);
    assert_int_equal(planned(&w, KC__ACT_PROBE, 0), 1);
    plan(&w, 20);
    assert_int_equal(planned(&w, KC__ACT_PROBE, 0), 0);
    probe(&w, KC__PROBE_LIVENESS, true);
    plan(&w, 20);
    assert_int_equal(planned(&w, KC__ACT_PROBE, 0), 1);
    end(&w);
}

static void a_failed_liveness_probe_ends_a_container(void **state)
{
    (void)state;
    world w = with_pod(PROBED("livenessProbe", ",'terminationGracePeriodSeconds':7"));
    runs(&w, 0, 0, 0);
    for (int i = 0; i < 3; i++) {
        plan(&w, 10 * i);
        assert_int_equal(planned(&w, KC__ACT_PROBE, 0), 1);
        probe(&w, KC__PROBE_LIVENESS, false);
    }
    plan(&w, 21);
    assert_int_equal(planned(&w, KC__ACT_STOP, 0), 1);
    assert_true(says(&w, "Killing", "Container main failed liveness probe, will be restarted"));
    assert_int_equal(w.plan.next, AT(28));
    ends(&w, 0, 137, 28);
    plan(&w, 28);
    assert_int_equal(planned(&w, KC__ACT_START, 0), 1);
    runs(&w, 0, 1, 28);
    plan(&w, 28);
    assert_int_equal(planned(&w, KC__ACT_PROBE, 0), 1);
    end(&w);
}

static void other_probes_wait_for_the_startup_probe(void **state)
{
    (void)state;
    world w = with_pod("'containers':[{'name':'main','startupProbe':{'tcpSocket':{'port':1},"
                       "'periodSeconds':1,'failureThreshold':2},'livenessProbe':{'tcpSocket':"
                       "{'port':1}},'readinessProbe':{'tcpSocket':{'port':1}}}]");
    runs(&w, 0, 0, 0);
    plan(&w, 0);
    assert_int_equal(planned(&w, KC__ACT_PROBE, 0), 1);
    assert_int_equal(w.plan.actions.items[0].probe, KC__PROBE_STARTUP);
    assert_false(*status(&w, 0)->container_statuses[0].started);
    probe(&w, KC__PROBE_STARTUP, true);
    plan(&w, 1);
    assert_int_equal(planned(&w, KC__ACT_PROBE, 0), 2);
    assert_true(*status(&w, 1)->container_statuses[0].started);
    end(&w);
}

static void a_result_of_an_attempt_that_is_over_does_not_count(void **state)
{
    (void)state;
    world w = with_pod(PROBED("readinessProbe", ""));
    runs(&w, 0, 0, 0);
    plan(&w, 0);
    runs(&w, 0, 1, 1);
    assert_false(kc__pod_record_probed(w.record, w.pod, 0, 0, KC__PROBE_READINESS, true));
    assert_string_equal(condition(status(&w, 1), "Ready")->status, "False");
    end(&w);
}

static void readiness_gates_are_asked_last(void **state)
{
    (void)state;
    world w = with_pod(ONE ",'readinessGates':[{'conditionType':'example.com/ok'}]");
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

TESTS(containers_start_together, init_containers_run_in_order,
      a_failed_init_container_fails_a_pod_that_never_restarts,
      a_failed_init_container_is_run_again_otherwise,
      a_sidecar_lets_the_next_go_when_it_has_started, restart_policies_say_what_starts_again,
      a_crash_loop_backs_off_longer_each_time, a_crash_loop_says_so, a_long_run_ends_the_back_off,
      a_start_that_failed_is_tried_again_as_the_same_attempt, another_image_starts_a_container_anew,
      readiness_waits_for_its_probe, a_probe_under_way_is_not_begun_again,
      a_failed_liveness_probe_ends_a_container, other_probes_wait_for_the_startup_probe,
      a_result_of_an_attempt_that_is_over_does_not_count, readiness_gates_are_asked_last)
