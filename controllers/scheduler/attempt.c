/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt.c: one pod is tried, and what follows from it: a binding; or, where no node will do, room
 * made at the cost of others, a condition and an event that say why, and waiting.
 *
 * A condition that says the same already is not written again, and the same event is repeated after
 * five minutes at the earliest: a thousand pods that wait for a node do not talk all day.
 */
#include "scheduler/engine.h"

#include "kc/json.h"
#include "kc/time.h"
#include "scheduler/preempt.h"
#include "scheduler/texts.h"

#define REPEAT    (5 * KC_MINUTE)
#define MAX_EVENT 1024

static kc__job *new_job(const kc__place *place, int type)
{
    kc__job *job = kc_new(kc__job);
    job->type = type;
    job->pod = kc_object_ref(place->demand->object);
    job->queued_at = place->first_queued_at;
    job->attempts = place->attempts;
    return job;
}

/* ---- what is said of it ---- */

static const kc_pod_condition *scheduled_condition(const kc_pod *pod)
{
    for (size_t i = 0; i < pod->status.n_conditions; i++)
        if (kc__says(pod->status.conditions[i].type, "PodScheduled"))
            return &pod->status.conditions[i];
    return NULL;
}

static void write_condition(kc_buf *out, const kc__engine *e, const kc__place *place,
                            const char *reason, const char *message)
{
    const kc_pod_condition *old = scheduled_condition(place->demand->wants->pod);
    const bool kept = old && kc__says(old->status, "False") && old->last_transition_time.at;
    char time[KC_TIME_TEXT];
    kc_buf_puts(out, "\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":");
    kc_json_quote(out, kc_cstr(reason));
    kc_buf_puts(out, ",\"message\":");
    kc_json_quote(out, kc_cstr(message));
    kc_buf_printf(
        out, ",\"lastTransitionTime\":\"%.*s\"}]",
        KC_ARG(kc_time_print(kept ? old->last_transition_time.at : kc_clock_wall(e->clock), time)));
}

static const char *nominated_node(const kc__place *place)
{
    return place->nominated ? place->nominated->name : "";
}

/* What the pod says already, as far as we have seen. */
static bool is_said(const kc__place *place)
{
    const kc_pod *pod = place->demand->wants->pod;
    const kc_pod_condition *old = scheduled_condition(pod);
    return old && kc__says(old->status, "False") && kc__says(old->reason, place->reason) &&
           kc__says(old->message, place->message) &&
           kc__says(pod->status.nominated_node_name, nominated_node(place)) &&
           (place->nominated || !place->nominated_there);
}

static char *status_patch(const kc__engine *e, const kc__place *place)
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

static void write_status(kc__engine *e, kc__place *place)
{
    place->say_again = false;
    if (is_said(place))
        return;
    kc__job *job = new_job(place, KC__SAY);
    job->patch = status_patch(e, place);
    place->saying = true;
    place->nominated_there = place->nominated;
    kc__workers_add(&e->workers, job);
}

/* Its condition and where it is nominated. Not while another one is on its way, which could come
 * later than this. */
static void say(kc__engine *e, kc__place *place, const char *reason, const char *message)
{
    char *copy = kc_strdup(message);
    free(place->message);
    place->message = copy;
    place->reason = reason;
    if (place->saying)
        place->say_again = true;
    else
        write_status(e, place);
}

void kc__engine_said(kc__engine *e, kc__place *place)
{
    place->saying = false;
    if (place->say_again && place->demand->wants && !place->host)
        write_status(e, place);
}

static void complain(kc__engine *e, kc__place *place, const char *message)
{
    const int64_t now = kc_clock_now(e->clock);
    if (place->said && !strcmp(place->said, message) && now - place->said_at < REPEAT)
        return;
    free(place->said);
    place->said = kc_strdup(message);
    place->said_at = now;
    const bool cut = strlen(message) > MAX_EVENT;
    kc_event(e->recorder, place->demand->object, KC_WARNING, "FailedScheduling", "%.*s%s",
             cut ? MAX_EVENT - 4 : MAX_EVENT, message, cut ? " ..." : "");
}

void kc__engine_say_gated(kc__engine *e, kc__place *place)
{
    say(e, place, "SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates");
}

void kc__engine_failed(kc__engine *e, kc__place *place, const char *why)
{
    kc__measure_attempt(&e->measures, KC__ERROR, 0);
    kc__pending_back_off(&e->pending, place, kc_clock_now(e->clock));
    complain(e, place, why);
    say(e, place, "SchedulerError", why);
}

/* ---- preemption ---- */

void kc__engine_withdraw(kc__engine *e, kc__place *place)
{
    const kc_pod_condition *old = scheduled_condition(place->demand->wants->pod);
    kc__place_nominate(&e->cluster, place, NULL);
    say(e, place, "Unschedulable", old && old->message ? old->message : "");
    kc__pending_move(&e->pending, place, kc_clock_now(e->clock));
}

/* Room there is now for the pod: lesser ones that waited for it look elsewhere. */
static void withdraw_lesser(kc__engine *e, const kc__place *place, kc__host *host)
{
    for (size_t i = host->nominated.n; i-- > 0;) {
        kc__place *other = host->nominated.items[i];
        if (other != place && !other->host && other->demand->wants &&
            other->demand->priority < place->demand->priority)
            kc__engine_withdraw(e, other);
    }
}

static void send_victims(kc__engine *e, kc__place *place, const kc__preemption *p)
{
    kc__job *job = new_job(place, KC__PREEMPT);
    job->node = kc_strdup(p->host->name);
    kc_vec_each (&p->victims, v)
        kc_vec_push(&job->victims,
                    (kc__victim){kc_object_ref((*v)->demand->object), (*v)->demand->leaving});
    place->preempting = true;
    kc_histogram_observe(e->measures.victims, (double)p->victims.n);
    kc__workers_add(&e->workers, job);
}

/* What is added to the message; NULL: nothing. The caller's. */
static char *make_room(kc__engine *e, kc__place *place, const kc__decision *decision)
{
    kc__preemption p = {0};
    char *message = NULL;
    if (!e->cluster.ready.n)
        return NULL;
    kc_counter_inc(e->measures.preemptions);
    kc__preempt(&e->cluster, place, decision, &e->rand, kc_clock_now(e->clock),
                kc_clock_wall(e->clock), &p);
    if (p.host) {
        withdraw_lesser(e, place, p.host);
        kc__place_nominate(&e->cluster, place, p.host);
        send_victims(e, place, &p);
    } else if (p.not_useful) {
        kc__place_nominate(&e->cluster, place, NULL);
    }
    message = kc_take(p.message);
    kc__preemption_done(&p);
    return message;
}

/* ---- trying ---- */

static void assume(kc__engine *e, kc__place *place, kc__host *host)
{
    kc__job *job = new_job(place, KC__BIND);
    job->node = kc_strdup(host->name);
    kc__place_put(&e->cluster, place, kc_cstr(host->name));
    kc__place_nominate(&e->cluster, place, NULL);
    place->assumed = true;
    kc__engine_touch(e, host, KC__POD_CAME);
    kc__workers_add(&e->workers, job);
}

static void give_up(kc__engine *e, kc__place *place, const kc__decision *decision)
{
    kc_autofree char *more = make_room(e, place, decision);
    kc_autofree char *message =
        more ? kc_asprintf("%s preemption: %s", decision->message, more) : NULL;
    const char *text = message ? message : decision->message;
    kc__pending_stick(&e->pending, place, decision->refused_by, kc_clock_now(e->clock));
    complain(e, place, text);
    say(e, place, "Unschedulable", text);
}

void kc__engine_attempt(kc__engine *e, kc__place *place)
{
    const int64_t began = kc_clock_now(e->clock);
    kc_scoped(kc__decision) decision = {0};
    /* Its victims are on their way out: it comes again when they are. */
    if (place->preempting) {
        kc__pending_stick(&e->pending, place, place->refused_by, began);
        return;
    }
    kc__decide(&e->cluster, place, &e->rand, began, &decision);
    if (decision.host)
        assume(e, place, decision.host);
    else
        give_up(e, place, &decision);
    kc__measure_attempt(&e->measures, decision.host ? KC__SCHEDULED : KC__UNSCHEDULABLE,
                        kc_clock_now(e->clock) - began);
}
