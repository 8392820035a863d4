/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dummy.c: a reconciler that is a function: copies spec.data to status.data after
 * spec.transitionDefer.
 *
 * The due time is stored in the object (status.dueTime), not in the process: a restarted process
 * waits for the same moment.
 */
#include "api/demo_v1/zz_generated.h"

#include "kc/app.h"

static bool dummy_is_equal(const char *a, const char *b)
{
    return !strcmp(a ? a : "", b ? b : "");
}

/* The time at which the status is updated; every change of the spec restarts it. */
static kc_time due_time(const dummy *d, const kc_clock *clock)
{
    const bool is_known = d->status.observed_generation == d->metadata.generation;
    if (is_known && d->status.due_time.at)
        return d->status.due_time.at;
    /* Rounded up to whole seconds, the stored precision, so that it is never too early. */
    const int64_t exact = kc_clock_wall(clock) + d->spec.transition_defer.ns;
    return (exact + KC_SECOND - 1) / KC_SECOND * KC_SECOND;
}

static kc_result dummy_reconcile(kc_context *ctx, const kc_request *req, kc_error *err)
{
    kc_auto(dummy) *d = dummy_get(ctx->client, req->key, err);
    if (!d)
        return kc_done_if_not_found(err);
    const bool is_known = d->status.observed_generation == d->metadata.generation;
    if (is_known && dummy_is_equal(d->status.data, d->spec.data))
        return kc_done();

    const kc_time due = due_time(d, ctx->clock);
    const int64_t left = d->spec.transition_defer.ns > 0 ? due - kc_clock_wall(ctx->clock) : 0;
    if (left > 0 && is_known)
        return kc_requeue_after(left);
    d->status.observed_generation = d->metadata.generation;
    d->status.due_time.at = left > 0 ? due : 0;
    if (left <= 0)
        d->status.data = d->spec.data;
    if (dummy_update_status(ctx->client, d, err) < 0)
        return kc_retry(err);
    return kc_requeue_after(left);
}

KC_RECONCILER(dummy) = {
    .description = "copies spec.data to status.data after spec.transitionDefer",
    .kind = &dummy_kind,
    .reconcile = dummy_reconcile,
};
