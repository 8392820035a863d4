/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt.c: one scheduling attempt for one pod and its consequences: a binding; or, if no node
 * fits, preemption, a condition and an event with the reason, and a return to the queue.
 *
 * An unchanged condition is not written again, and the same event is repeated after five minutes at
 * the earliest, so that a thousand unschedulable pods cause few writes.
 */
#include "scheduler/engine.h"

#include "kc/json.h"
#include "kc/time.h"
#include "scheduler/preempt.h"
#include "scheduler/texts.h"

#define REPEAT    (5 * KC_MINUTE)
#define MAX_EVENT 1024

static kc__sched_job *new_job(const kc__sched_pod *place, int type)
{
    kc__sched_job *job = kc_new(kc__sched_job);
    job->type = type;
    job->pod = kc_object_ref(place->demand->object);
    job->queued_at = place->first_queued_at;
    job->attempts = place->attempts;
    return job;
}

/* ---- condition and event ---- */

static const kc_pod_condition *scheduled_condition(const kc_pod *pod)
{
    for (size_t i = 0; i < pod->status.n_conditions; i++)
        if (kc__sched_text_is(pod->status.conditions[i].type, "PodScheduled"))
            return &pod->status.conditions[i];
    return NULL;
}

static void write_condition(kc_buf *out, const kc__sched_engine *e, const kc__sched_pod *place,
                            const char *reason, const char *message)
{
    const kc_pod_condition *old = scheduled_condition(place->demand->wants->pod);
    const bool kept =
        old && kc__sched_text_is(old->status, "False") && old->last_transition_time.at;
    char time[KC_TIME_TEXT];
    kc_buf_puts(out, "\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":");
    kc_json_quote(out, kc_cstr(reason));
    kc_buf_puts(out, ",\"message\":");
    kc_json_quote(out, kc_cstr(message));
    kc_buf_printf(
        out, ",\"lastTransitionTime\":\"%.*s\"}]",
        KC_ARG(kc_time_print(kept ? old->last_transition_time.at : kc_clock_wall(e->clock), time)));
}

static const char *nominated_node(const kc__sched_pod *place)
{
    return place->nominated ? place->nominated->name : "";
}

/* The condition that the pod has, as far as observed. */
static bool has_written_status(const kc__sched_pod *place)
{
    const kc_pod *pod = place->demand->wants->pod;
    const kc_pod_condition *old = scheduled_condition(pod);
    return old && kc__sched_text_is(old->status, "False") &&
           kc__sched_text_is(old->reason, place->reason) &&
           kc__sched_text_is(old->message, place->message) &&
           kc__sched_text_is(pod->status.nominated_node_name, nominated_node(place)) &&
           (place->nominated || !place->nominated_there);
}

static char *status_patch(const kc__sched_engine *e, const kc__sched_pod *place)
{
    kc_scoped(kc_buf) out = {0};
    kc_buf_puts(&out, "{\"metadata\":{\"uid\":");
    kc_json_quote(&out, place->demand->uid);
    kc_buf_puts(&out, "},\"status\":{");
    write_condition(&out, e, place, place->reason, place->message);
    kc_buf_puts(&out, ",\"nominatedNodeName\":");
    if (place->nominated)
        kc_json_quote(&out, kc_cstr(place->nominated->name));
    else
        kc_buf_puts(&out, "null");
    kc_buf_puts(&out, "}}");
    return kc_buf_take(&out);
}

static void sched_attempt_write_status(kc__sched_engine *e, kc__sched_pod *place)
{
    place->write_again = false;
    if (has_written_status(place))
        return;
    kc__sched_job *job = new_job(place, KC__SCHED_UPDATE_STATUS);
    job->patch = status_patch(e, place);
    place->writing_status = true;
    place->nominated_there = place->nominated;
    kc__sched_workers_add(&e->workers, job);
}

/* Writes the pod's condition and nomination. Skipped while another write is in progress, which
 * could finish later than this one. */
static void sched_attempt_report(kc__sched_engine *e, kc__sched_pod *place, const char *reason,
                                 const char *message)
{
    char *copy = kc_strdup(message);
    free(place->message);
    place->message = copy;
    place->reason = reason;
    if (place->writing_status)
        place->write_again = true;
    else
        sched_attempt_write_status(e, place);
}

void kc__sched_engine_status_written(kc__sched_engine *e, kc__sched_pod *place)
{
    place->writing_status = false;
    if (place->write_again && place->demand->wants && !place->host)
        sched_attempt_write_status(e, place);
}

static void sched_attempt_report_error(kc__sched_engine *e, kc__sched_pod *place,
                                       const char *message)
{
    const int64_t now = kc_clock_now(e->clock);
    if (place->last_event && !strcmp(place->last_event, message) &&
        now - place->last_event_at < REPEAT)
        return;
    free(place->last_event);
    place->last_event = kc_strdup(message);
    place->last_event_at = now;
    const bool cut = strlen(message) > MAX_EVENT;
    kc_recorder_event(e->recorder, place->demand->object, KC_EVENT_TYPE_WARNING, "FailedScheduling",
                      "%.*s%s", cut ? MAX_EVENT - 4 : MAX_EVENT, message, cut ? " ..." : "");
}

void kc__sched_engine_report_gated(kc__sched_engine *e, kc__sched_pod *place)
{
    sched_attempt_report(e, place, "SchedulingGated",
                         "Scheduling is blocked due to non-empty scheduling gates");
}

void kc__sched_engine_failed(kc__sched_engine *e, kc__sched_pod *place, const char *why)
{
    kc__sched_metrics_attempt(&e->measures, KC__SCHED_ERROR, 0);
    kc__sched_queue_back_off(&e->pending, place, kc_clock_now(e->clock));
    sched_attempt_report_error(e, place, why);
    sched_attempt_report(e, place, "SchedulerError", why);
}

/* ---- preemption ---- */

void kc__sched_engine_withdraw(kc__sched_engine *e, kc__sched_pod *place)
{
    const kc_pod_condition *old = scheduled_condition(place->demand->wants->pod);
    kc__sched_pod_nominate(&e->cluster, place, NULL);
    sched_attempt_report(e, place, "Unschedulable", old && old->message ? old->message : "");
    kc__sched_queue_move(&e->pending, place, kc_clock_now(e->clock));
}

/* The room is for this pod now: pods of lower priority that were nominated there are cleared. */
static void withdraw_lesser(kc__sched_engine *e, const kc__sched_pod *place, kc__sched_node *host)
{
    for (size_t i = host->nominated.n; i-- > 0;) {
        kc__sched_pod *other = host->nominated.items[i];
        if (other != place && !other->host && other->demand->wants &&
            other->demand->priority < place->demand->priority)
            kc__sched_engine_withdraw(e, other);
    }
}

static void send_victims(kc__sched_engine *e, kc__sched_pod *place, const kc__sched_preemption *p)
{
    kc__sched_job *job = new_job(place, KC__SCHED_PREEMPT);
    job->node = kc_strdup(p->host->name);
    kc_vec_each (&p->victims, v)
        kc_vec_push(&job->victims,
                    (kc__sched_victim){kc_object_ref((*v)->demand->object), (*v)->demand->leaving});
    place->preempting = true;
    kc_histogram_observe(e->measures.victims, (double)p->victims.n);
    kc__sched_workers_add(&e->workers, job);
}

/* The text to append to the message; NULL: none. The caller frees it. */
static char *sched_attempt_reserve(kc__sched_engine *e, kc__sched_pod *place,
                                   const kc__sched_decision *decision)
{
    kc__sched_preemption p = {0};
    char *message = NULL;
    if (!e->cluster.ready.n)
        return NULL;
    kc_counter_inc(e->measures.preemptions);
    kc__sched_preempt(&e->cluster, place, decision, &e->rand, kc_clock_now(e->clock),
                      kc_clock_wall(e->clock), &p);
    if (p.host) {
        withdraw_lesser(e, place, p.host);
        kc__sched_pod_nominate(&e->cluster, place, p.host);
        send_victims(e, place, &p);
    } else if (p.not_useful) {
        kc__sched_pod_nominate(&e->cluster, place, NULL);
    }
    message = kc_take(p.message);
    kc__sched_preemption_done(&p);
    return message;
}

/* ---- attempts ---- */

static void assume(kc__sched_engine *e, kc__sched_pod *place, kc__sched_node *host)
{
    kc__sched_job *job = new_job(place, KC__SCHED_BIND);
    job->node = kc_strdup(host->name);
    kc__sched_pod_assign(&e->cluster, place, kc_cstr(host->name));
    kc__sched_pod_nominate(&e->cluster, place, NULL);
    place->assumed = true;
    kc__sched_engine_touch(e, host, KC__SCHED_POD_ADDED);
    kc__sched_workers_add(&e->workers, job);
}

static void sched_attempt_give_up(kc__sched_engine *e, kc__sched_pod *place,
                                  const kc__sched_decision *decision)
{
    kc_autofree char *more = sched_attempt_reserve(e, place, decision);
    kc_autofree char *message =
        more ? kc_asprintf("%s preemption: %s", decision->message, more) : NULL;
    const char *text = message ? message : decision->message;
    kc__sched_queue_add_unschedulable(&e->pending, place, decision->refused_by,
                                      kc_clock_now(e->clock));
    sched_attempt_report_error(e, place, text);
    sched_attempt_report(e, place, "Unschedulable", text);
}

void kc__sched_engine_attempt(kc__sched_engine *e, kc__sched_pod *place)
{
    const int64_t began = kc_clock_now(e->clock);
    kc_scoped(kc__sched_decision) decision = {0};
    /* Its victims are terminating: their deletion queues the pod again. */
    if (place->preempting) {
        kc__sched_queue_add_unschedulable(&e->pending, place, place->refused_by, began);
        return;
    }
    kc__sched_decide(&e->cluster, place, &e->rand, began, &decision);
    if (decision.host)
        assume(e, place, decision.host);
    else
        sched_attempt_give_up(e, place, &decision);
    kc__sched_metrics_attempt(&e->measures,
                              decision.host ? KC__SCHED_SCHEDULED : KC__SCHED_UNSCHEDULABLE,
                              kc_clock_now(e->clock) - began);
}
