/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch_validating.c: calls the validating webhooks that match, in parallel, and waits for all
 * of them, so that each has seen the object. The request fails with the first denial that arrives.
 */
#include "apiserver/admission/webhooks/dispatch.h"

static kc__rest_verdict collect_calls(kc__admission_dispatch *d)
{
    const size_t n = d->set->validating.n;
    d->calls = kc_arena_calloc(d->call->arena, n + 1, sizeof(*d->calls));
    d->n_calls = d->n_reported = 0;
    for (size_t i = 0; i < n; i++) {
        const kc__admission_webhook *hook = d->set->validating.items[i];
        const kc__resource *as = NULL;
        bool matches;
        kc__rest_verdict verdict = kc__admission_dispatch_match(d, hook, &as, &matches);
        if (verdict != KC__REST_NEXT) {
            d->n_calls = 0;
            return verdict;
        }
        if (matches)
            d->calls[d->n_calls++] = (kc__admission_webhook_call){
                .call = d->call, .hook = hook, .about = &d->about, .as = as};
    }
    return d->n_calls ? kc__admission_dispatch_check_deadline(d) : KC__REST_NEXT;
}

static kc__rest_verdict start_calls(kc__admission_dispatch *d)
{
    kc__rest_verdict verdict = d->collected ? KC__REST_NEXT : collect_calls(d);
    if (verdict != KC__REST_NEXT) {
        d->n_calls = 0;
        return verdict;
    }
    d->collected = true;
    if (d->call->on_worker)
        return KC__REST_ON_LOOP;
    d->started = true;
    for (size_t i = 0; i < d->n_calls; i++)
        kc__admission_webhook_call_start(&d->calls[i]);
    return KC__REST_NEXT;
}

/* The audit event names the webhook that failed and was ignored, by its index among those that
 * match. */
static void audit_failed_open(const kc__admission_dispatch *d, const kc__admission_webhook_call *c)
{
    kc__rest_call *call = d->call;
    const char *key = kc_arena_printf(
        call->arena, "failed-open.validating.webhook.admission.k8s.io/round_0_index_%td",
        c - d->calls);
    kc__rest_audit(call, kc_cstr(key), c->hook->name);
}

static void report_call(kc__admission_dispatch *d, kc__admission_webhook_call *c)
{
    kc__admission_webhook_call_report(c);
    const bool failed_open = c->result == KC__ADMISSION_CALL_FAILED && c->hook->ignored,
               fails = c->result != KC__ADMISSION_ALLOWED && !failed_open;
    if (failed_open)
        audit_failed_open(d, c);
    if (fails && !d->call->error.reason)
        kc__admission_webhook_call_fail(c);
    kc__admission_webhook_call_done(c);
    d->n_reported++;
}

/* kc__admission_webhook_call_done clears `hook`, so a call whose hook is NULL was already
 * reported. */
static void report_ended_calls(kc__admission_dispatch *d)
{
    for (size_t i = 0; i < d->n_calls; i++)
        if (d->calls[i].hook && !d->calls[i].pending)
            report_call(d, &d->calls[i]);
}

kc__rest_verdict kc__admission_dispatch_validate(kc__admission_dispatch *d)
{
    kc__rest_verdict verdict = d->started ? KC__REST_NEXT : start_calls(d);
    if (verdict != KC__REST_NEXT)
        return verdict;
    report_ended_calls(d);
    if (d->n_reported < d->n_calls)
        return KC__REST_PENDING;
    return d->call->error.reason ? KC__REST_FAIL : KC__REST_NEXT;
}
