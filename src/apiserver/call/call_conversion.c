/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_conversion.c: waits for conversions by webhook.
 *
 *     phase ── no kept conversion ──▶ job, PENDING ──▶ done: pins, the phase runs again
 *                                          └── the request's deadline passes: 504, job abandoned
 *
 * The state is allocated with the first conversion of a call. Pins keep conversions until the call
 * ends, so what a phase has waited for is there when it reads it.
 */
#include "apiserver/call/call_conversion.h"

struct kc__rest_conversion {
    kc__rest_call *call;
    kc__remote_conversion *job; /* Not started yet, or in progress. */
    bool started;
    kc__loop_timer timer;
    kc__remote_pins pins;
    bool failed;
    kc_error error;
    kc_object *from, *to; /* The last conversion of an object that is not stored. */
};

static kc__rest_conversion *state_of(kc__rest_call *call)
{
    if (!call->conversion) {
        call->conversion = kc_arena_new(call->arena, kc__rest_conversion);
        call->conversion->call = call;
    }
    return call->conversion;
}

/* ---- the end of a job ---- */

static void job_done(kc__remote_conversion *job)
{
    kc__rest_conversion *state = job->user;
    const kc_error *error = kc__remote_conversion_error(job);
    kc__loop_timer_stop(&state->timer);
    state->job = NULL;
    state->failed = error != NULL;
    if (error)
        kc_error_set(&state->error, error->reason, "%s", kc_error_text(error));
    kc__remote_conversion_take_pins(job, &state->pins);
    if (!job->keep && !error) {
        kc_object_unref(state->to);
        state->to = kc_take(job->items.items[0].result);
    }
    kc__remote_conversion_free(job);
    kc__rest_call_rerun(state->call);
}

static void job_timed_out(kc__loop_timer *timer)
{
    kc__rest_conversion *state = kc_container_of(timer, kc__rest_conversion, timer);
    kc__rest_call *call = state->call;
    kc__remote_conversion_abandon(kc_take(state->job));
    kc__rest_call_resume(call, kc__rest_fail_timeout(call));
}

/* ---- the start ---- */

static kc__rest_verdict wait_for_job(kc__rest_call *call)
{
    kc__rest_conversion *state = call->conversion;
    if (call->on_worker)
        return KC__REST_ON_LOOP;
    if (state->started)
        return KC__REST_PENDING;
    state->started = true;
    state->job->loop = call->x->loop;
    state->job->done = job_done;
    state->job->user = state;
    state->timer = (kc__loop_timer){.loop = call->x->loop, .fire = job_timed_out};
    kc__loop_timer_start(&state->timer, call->x->request.received + call->request_timeout);
    kc__remote_conversion_start(state->job);
    return KC__REST_PENDING;
}

static kc__rest_verdict repeat_failure(kc__rest_call *call)
{
    const kc_error *error = &call->conversion->error;
    kc_error_set(&call->error, error->reason, "%s", kc_error_text(error));
    return KC__REST_FAIL;
}

kc__rest_verdict kc__rest_convert_job(kc__rest_call *call, kc__remote_conversion *job)
{
    kc__rest_conversion *state = call->conversion;
    if (job) {
        state = state_of(call);
        assert(!state->job && "a call waits for one conversion at a time");
        state->job = job;
        state->started = false;
    }
    if (!state)
        return KC__REST_NEXT;
    if (state->failed)
        return repeat_failure(call);
    return state->job ? wait_for_job(call) : KC__REST_NEXT;
}

void kc__rest_convert_collect(kc__rest_call *call, const kc__resource *resource,
                              const kc_object *stored, kc__remote_conversion **job)
{
    if (!kc__remote_is_needed(resource, stored))
        return;
    kc__remote_converted *pin = kc__remote_converted_pin(resource, stored);
    if (pin) {
        kc_vec_push(&state_of(call)->pins, pin);
        return;
    }
    if (!*job) {
        *job = kc__remote_conversion_new(resource, call->x->loop);
        (*job)->keep = true;
    }
    kc__remote_conversion_add(*job, stored, NULL);
}

kc__rest_verdict kc__rest_convert_stored(kc__rest_call *call, const kc__resource *resource,
                                         const kc_object *stored)
{
    if (!stored || !kc__remote_is_needed(resource, stored))
        return KC__REST_NEXT;
    if (kc__rest_conversion_is_pending(call))
        return kc__rest_convert_job(call, NULL);
    kc__remote_conversion *job = NULL;
    kc__rest_convert_collect(call, resource, stored, &job);
    return kc__rest_convert_job(call, job);
}

/* Converts an object that is not stored as `like` says, which lives until this returns. */
static kc__rest_verdict convert_unstored(kc__rest_call *call, const kc__remote_conversion *like,
                                         const kc_object *object, kc_object **ret)
{
    if (kc__rest_conversion_is_pending(call))
        return kc__rest_convert_job(call, NULL);
    kc__rest_conversion *state = state_of(call);
    if (state->to && state->from == object) {
        *ret = kc_take(state->to);
        state->from = kc_object_unref(state->from);
        return KC__REST_NEXT;
    }
    kc_object_unref(state->from);
    state->from = kc_object_ref(object);
    kc__remote_conversion *job = kc__remote_conversion_new(like->resource, call->x->loop);
    job->to_storage = like->to_storage;
    job->api_version = like->api_version;
    job->as_returned = like->as_returned;
    kc__remote_conversion_add(job, object, NULL);
    return kc__rest_convert_job(call, job);
}

kc__rest_verdict kc__rest_convert_to_storage(kc__rest_call *call, const kc__resource *resource,
                                             const kc_object *object, kc_object **ret)
{
    const kc__remote_conversion like = {.resource = resource, .to_storage = true};
    return convert_unstored(call, &like, object, ret);
}

kc__rest_verdict kc__rest_convert_to_served(kc__rest_call *call, const kc__resource *resource,
                                            const kc_object *object, kc_object **ret)
{
    return convert_unstored(call, &(kc__remote_conversion){.resource = resource}, object, ret);
}

kc__rest_verdict kc__rest_convert_to_version(kc__rest_call *call, const kc__resource *resource,
                                             const kc_object *object, kc_str api_version,
                                             kc_object **ret)
{
    const kc__remote_conversion like = {
        .resource = resource, .api_version = api_version, .as_returned = true};
    return convert_unstored(call, &like, object, ret);
}

/* ---- the state ---- */

bool kc__rest_conversion_is_pending(const kc__rest_call *call)
{
    return call->conversion && (call->conversion->job || call->conversion->failed);
}

bool kc__rest_conversion_is_running(const kc__rest_call *call)
{
    return call->conversion && call->conversion->job;
}

void kc__rest_conversion_forgive(kc__rest_call *call)
{
    call->conversion->failed = false;
    kc_error_done(&call->conversion->error);
    kc_error_done(&call->error);
}

void kc__rest_conversion_take_pins(kc__rest_call *call, kc__remote_pins *pins)
{
    if (!call->conversion)
        return;
    *pins = call->conversion->pins;
    call->conversion->pins = (kc__remote_pins){0};
}

void kc__rest_conversion_release(kc__rest_call *call)
{
    kc__rest_conversion *state = call->conversion;
    if (!state)
        return;
    if (state->job && state->started)
        kc__remote_conversion_abandon(state->job);
    else
        kc__remote_conversion_free(state->job);
    kc__loop_timer_stop(&state->timer);
    kc__remote_pins_done(&state->pins);
    kc_error_done(&state->error);
    kc_object_unref(state->from);
    kc_object_unref(state->to);
    call->conversion = NULL;
}
