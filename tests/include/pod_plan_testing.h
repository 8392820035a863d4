/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_plan_testing.h: a pod with its remembered state, and helpers for the action plan: without a
 * server, a runtime or a clock.
 */
#ifndef KC_POD_PLAN_TESTING_H
#define KC_POD_PLAN_TESTING_H

#include "testing.h"

#include "pods/pod_record.h"

#define AT(seconds) (1000 * KC_SECOND + (seconds) * KC_SECOND)

/* A pod with its remembered state, at a time. */
typedef struct plan_fixture {
    kc_pod *pod;
    kc__pod_record *record;
    kc__pod_action_plan plan;
    kc_arena arena;
    kc_pod_status status;
} plan_fixture;

static inline KC_UNUSED plan_fixture with_pod(const char *spec)
{
    kc_autofree char *text =
        kc_asprintf("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','namespace':'default',"
                    "'uid':'u'},'spec':{'terminationGracePeriodSeconds':30,%s}}",
                    spec);
    kc_auto(kc_object) *object = object_of(text);
    plan_fixture w = {.pod = kc_pod_of(object, NULL)};
    assert_non_null(w.pod);
    w.record = kc__pod_record_new(w.pod);
    w.record->prepared = w.record->admitted = true;
    w.record->start_time = AT(0);
    return w;
}

static inline KC_UNUSED void end(plan_fixture *w)
{
    kc__pod_action_plan_done(&w->plan);
    kc_arena_done(&w->arena);
    kc__pod_record_free(w->record);
    kc_pod_free(w->pod);
}

static inline KC_UNUSED void plan(plan_fixture *w, int64_t seconds)
{
    kc__pod_action_plan_done(&w->plan);
    w->plan = (kc__pod_action_plan){0};
    kc__pod_plan_make(w->pod, w->record, AT(seconds), &w->plan);
}

/* How often the plan contains this action for a container. */
static inline KC_UNUSED int planned(const plan_fixture *w, kc__pod_action_type act, size_t i)
{
    int n = 0;
    kc_vec_each (&w->plan.actions, a)
        n += a->act == act && a->container == i;
    return n;
}

static inline KC_UNUSED bool plan_has_event(const plan_fixture *w, const char *event,
                                            const char *part)
{
    kc_vec_each (&w->plan.actions, a)
        if (a->act == KC__POD_ACT_EVENT && !strcmp(a->event, event) && strstr(a->message, part))
            return true;
    return false;
}

static inline KC_UNUSED void runs(plan_fixture *w, size_t i, int attempt, int64_t seconds)
{
    kc__pod_record_started(w->record, w->pod, i, attempt);
    w->record->containers[i].now.phase = KC__POD_CONTAINER_RUNNING;
    w->record->containers[i].now.started = AT(seconds);
}

static inline KC_UNUSED void ends(plan_fixture *w, size_t i, int code, int64_t seconds)
{
    kc__pod_attempt *now = &w->record->containers[i].now;
    now->phase = KC__POD_CONTAINER_ENDED;
    now->exit_code = code;
    now->ended = AT(seconds);
}

static inline KC_UNUSED void deleted(plan_fixture *w, int64_t *grace)
{
    w->pod->metadata.deletion_timestamp.at = AT(0);
    w->pod->metadata.deletion_grace_period_seconds = grace;
}

static inline KC_UNUSED const kc_pod_status *status(plan_fixture *w, int64_t seconds)
{
    const kc__pod_host_info place = {.runtime = "test", .host_ip = "1.2.3.4"};
    kc__pod_status_make(w->pod, w->record, &place, AT(seconds), w->plan.over, &w->arena,
                        &w->status);
    return &w->status;
}

static inline KC_UNUSED const kc_pod_condition *condition(const kc_pod_status *s, const char *type)
{
    for (size_t i = 0; i < s->n_conditions; i++)
        if (!strcmp(s->conditions[i].type, type))
            return &s->conditions[i];
    fail_msg("no condition %s", type);
    return NULL;
}

#define ONE  "'containers':[{'name':'main','image':'x'}]"
#define INIT "'initContainers':[{'name':'one'},{'name':'two'}]," ONE
#define SIDECARS                                                                              \
    "'initContainers':[{'name':'one','restartPolicy':'Always'},{'name':'two','restartPolicy'" \
    ":'Always'}]," ONE

#endif
