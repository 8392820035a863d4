/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconcile.h: the function a controller is written around: given a key, make the world as the
 * object says, and tell what next.
 *
 *     static kc_result reconcile(kc_context *ctx, const kc_request *req, kc_error *err)
 *     {
 *         kc_auto(kc_object) *robot = kc_client_get(ctx->client, &robot_kind, req->key, NULL, err);
 *         if (!robot)
 *             return kc_done_if_not_found(err);          deleted: nothing left to do
 *         …
 *         if (kc_create_or_update(…, err) < 0)
 *             return kc_retry(err);                      backs off, and /debug/queue says why
 *         return kc_done();
 *     }
 *
 * It is called for a key, not for an event: however many changes there were, it sees the newest
 * state. One worker at a time has a key. It may block. What it reads through ctx->client comes from
 * the cache; what it writes goes to the server, and is seen by what it reads next.
 */
#ifndef KC_RECONCILE_H
#define KC_RECONCILE_H

#include "kc/cache.h"
#include "kc/queue.h"

struct kc_recorder;

typedef struct kc_request {
    kc_key key;
    int priority;
    const kc_queue_item *item; /* Why it is there: its causes. */
} kc_request;

/* What a reconciler works with. Its own for the time of the call. */
typedef struct kc_context {
    kc_client *client; /* Reads from the cache, writes to the server; gives up with the call. */
    kc_cache *cache;
    struct kc_recorder *recorder;
    kc_log *log; /* Says controller, namespace and name with every line. */
    const kc_clock *clock;
    kc_rand *rand;
    kc_cancel *cancel; /* Fires when the call's time is over or the manager stops. */
    int64_t deadline;  /* KC_FOREVER without a time limit. */
    void *user;        /* As the controller was given it. */
} kc_context;

typedef enum kc_outcome {
    KC_OUTCOME_DONE,     /* Failures are forgotten. */
    KC_OUTCOME_AFTER,    /* The same, and again after a time. */
    KC_OUTCOME_REQUEUE,  /* Again, rate limited, without being an error. */
    KC_OUTCOME_RETRY,    /* err says why; again, rate limited. */
    KC_OUTCOME_TERMINAL, /* err says why; not again until something changes. */
} kc_outcome;

typedef struct kc_result {
    kc_outcome outcome;
    int64_t after;
    bool has_priority; /* Of the next time; else it stays. */
    int priority;
} kc_result;

static inline kc_result kc_done(void)
{
    return (kc_result){.outcome = KC_OUTCOME_DONE};
}
/* With 0 or less: done. */
static inline kc_result kc_again_after(int64_t ns)
{
    return ns > 0 ? (kc_result){.outcome = KC_OUTCOME_AFTER, .after = ns} : kc_done();
}
static inline kc_result kc_again(void)
{
    return (kc_result){.outcome = KC_OUTCOME_REQUEUE};
}
/* The error stays the caller's: these only say what it means. */
static inline kc_result kc_retry(const kc_error *err)
{
    (void)err;
    return (kc_result){.outcome = KC_OUTCOME_RETRY};
}
static inline kc_result kc_give_up(const kc_error *err)
{
    (void)err;
    return (kc_result){.outcome = KC_OUTCOME_TERMINAL};
}
static inline kc_result kc_done_if_not_found(kc_error *err)
{
    return kc_ignore_not_found(err) < 0 ? kc_retry(err) : kc_done();
}

typedef kc_result kc_reconcile_fn(kc_context *ctx, const kc_request *request, kc_error *err);

#endif
