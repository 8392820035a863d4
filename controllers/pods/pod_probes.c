/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_probes.c: when a container is probed, and what comes of it.
 *
 * The startup probe comes first: until it has succeeded there are no others. A probe speaks when it
 * has said the same thing as often as its threshold asks; before that, what it said last holds. A
 * startup probe that has spoken, and a liveness probe that has failed, are not asked again for this
 * attempt.
 */
#include "pods/pod_record.h"

/* The server has set all of these; a pod made by hand in a test has not. */
static int64_t period_of(const kc_probe *probe)
{
    return (probe->period_seconds ? probe->period_seconds : 10) * KC_SECOND;
}

static int threshold_of(const kc_probe *probe, bool ok)
{
    const int n = ok ? probe->success_threshold : probe->failure_threshold;
    return n ? n : ok ? 1 : 3;
}

static kc_time due(const kc_probe *probe, const kc__probe_state *p, const kc__attempt *now)
{
    if (p->last)
        return p->last + period_of(probe);
    return now->started + probe->initial_delay_seconds * KC_SECOND;
}

static void plan_one(kc__container_state *c, size_t i, const kc_probe *probe, kc__probe_type type,
                     kc_time now, kc__plan *plan)
{
    kc__probe_state *p = &c->probes[type];
    if (p->held || p->under_way)
        return;
    const kc_time at = due(probe, p, &c->now);
    if (now < at) {
        kc__plan_look(plan, at);
        return;
    }
    p->last = now;
    p->under_way = true;
    kc_vec_push(&plan->actions,
                (kc__action){
                    .act = KC__ACT_PROBE, .container = i, .attempt = c->now.number, .probe = type});
}

void kc__plan_probes(const kc_pod *pod, kc__pod_record *state, size_t i, kc_time now,
                     kc__plan *plan)
{
    kc__container_state *c = &state->containers[i];
    const kc_container *spec = kc__pod_container(pod, i);
    const bool started = kc__container_is_started(c, spec);
    for (kc__probe_type type = 0; type < KC__PROBES; type++) {
        const kc_probe *probe = kc__container_probe(spec, type);
        if (probe && started == (type != KC__PROBE_STARTUP))
            plan_one(c, i, probe, type, now, plan);
    }
}

bool kc__pod_record_probed(kc__pod_record *state, const kc_pod *pod, size_t i, int attempt,
                           kc__probe_type type, bool ok)
{
    kc__container_state *c = &state->containers[i];
    kc__probe_state *p = &c->probes[type];
    const kc_probe *probe = kc__container_probe(kc__pod_container(pod, i), type);
    if (!probe || c->now.number != attempt || c->now.phase != KC__CONTAINER_RUNNING || p->held)
        return false;
    p->under_way = false;
    p->run = p->run && p->last_ok == ok ? p->run + 1 : 1;
    p->last_ok = ok;
    if (p->run < threshold_of(probe, ok))
        return true;
    p->has_value = true;
    p->value = ok;
    p->held = type == KC__PROBE_STARTUP || (type == KC__PROBE_LIVENESS && !ok);
    return true;
}
