/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_probes.c: schedules the probes of a container and applies their results.
 *
 * The startup probe runs first, and no other probe before it succeeds. A probe's result changes
 * when the same outcome has occurred as often as its threshold; before that the previous result
 * holds. A startup probe with a result, and a liveness probe that has failed, do not run again in
 * this attempt.
 */
#include "pods/pod_record.h"

/* The server defaults all of these; a pod built by a test may lack them. */
static int64_t period_of(const kc_probe *probe)
{
    return (probe->period_seconds ? probe->period_seconds : 10) * KC_SECOND;
}

static int threshold_of(const kc_probe *probe, bool ok)
{
    const int n = ok ? probe->success_threshold : probe->failure_threshold;
    return n ? n : ok ? 1 : 3;
}

static kc_time pod_probes_due(const kc_probe *probe, const kc__pod_probe_state *p,
                              const kc__pod_attempt *now)
{
    if (p->last)
        return p->last + period_of(probe);
    return now->started + probe->initial_delay_seconds * KC_SECOND;
}

static void plan_one(kc__pod_container_state *c, size_t i, const kc_probe *probe,
                     kc__pod_probe_type type, kc_time now, kc__pod_action_plan *plan)
{
    kc__pod_probe_state *p = &c->probes[type];
    if (p->held || p->under_way)
        return;
    const kc_time at = pod_probes_due(probe, p, &c->now);
    if (now < at) {
        kc__pod_plan_wake_at(plan, at);
        return;
    }
    p->last = now;
    p->under_way = true;
    kc_vec_push(&plan->actions, (kc__pod_action){.act = KC__POD_ACT_PROBE,
                                                 .container = i,
                                                 .attempt = c->now.number,
                                                 .probe = type});
}

void kc__pod_plan_probes(const kc_pod *pod, kc__pod_record *state, size_t i, kc_time now,
                         kc__pod_action_plan *plan)
{
    kc__pod_container_state *c = &state->containers[i];
    const kc_container *spec = kc__pod_container(pod, i);
    const bool started = kc__pod_container_is_started(c, spec);
    for (kc__pod_probe_type type = 0; type < KC__POD_PROBE_TYPES; type++) {
        const kc_probe *probe = kc__pod_container_probe(spec, type);
        if (probe && started == (type != KC__POD_PROBE_STARTUP))
            plan_one(c, i, probe, type, now, plan);
    }
}

bool kc__pod_record_probed(kc__pod_record *state, const kc_pod *pod, size_t i, int attempt,
                           kc__pod_probe_type type, bool ok)
{
    kc__pod_container_state *c = &state->containers[i];
    kc__pod_probe_state *p = &c->probes[type];
    const kc_probe *probe = kc__pod_container_probe(kc__pod_container(pod, i), type);
    if (!probe || c->now.number != attempt || c->now.phase != KC__POD_CONTAINER_RUNNING || p->held)
        return false;
    p->under_way = false;
    p->run = p->run && p->last_ok == ok ? p->run + 1 : 1;
    p->last_ok = ok;
    if (p->run < threshold_of(probe, ok))
        return true;
    p->has_value = true;
    p->value = ok;
    p->held = type == KC__POD_PROBE_STARTUP || (type == KC__POD_PROBE_LIVENESS && !ok);
    return true;
}
