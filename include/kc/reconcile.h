/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconcile.h: the reconcile function of a controller. Given a key, it brings the actual state to
 * the desired state of the object, and returns when to run next.
 *
 *     static kc_result reconcile(kc_context *ctx, const kc_request *req, kc_error *err)
 *     {
 *         kc_auto(kc_object) *robot = kc_client_get(ctx->client, &robot_kind, req->key, NULL, err);
 *         if (!robot)
 *             return kc_done_if_not_found(err);          deleted: nothing left to do
 *         …
 *         if (kc_create_or_update(ctx->client, &kc_kind_deployment, req->key, web, robot, NULL,
 *                                 err) < 0)
 *             return kc_retry(err);                      backs off, and /debug/queue shows why
 *         return kc_done();
 *     }
 *
 * The function is called for a key, not for an event: it sees the newest state, however many
 * changes there were. One worker at a time processes a key. The function may block. Reads through
 * ctx->client come from the cache; writes go to the server, and later reads reflect them.
 */
#ifndef KC_RECONCILE_H
#define KC_RECONCILE_H

#include "kc/cache.h"
#include "kc/queue.h"

struct kc_recorder;

typedef struct kc_request {
    kc_key key;
    int priority;
    const kc_queue_item *item; /* With the causes. */
} kc_request;

/* The context of one reconcile; valid during the call. */
typedef struct kc_context {
    /* Reads from the cache, writes to the server; its calls end with the reconcile. */
    kc_client *client;
    kc_cache *cache;
    struct kc_recorder *recorder;
    kc_log *log; /* Adds controller, namespace and name to every line. */
    const kc_clock *clock;
    kc_rand *rand;
    kc_cancel *cancel; /* Fires at the deadline or when the manager stops. */
    int64_t deadline;  /* KC_FOREVER without a timeout. */
    void *user;        /* From the controller's options. */
} kc_context;

typedef enum kc_outcome {
    KC_OUTCOME_DONE,          /* Resets the failures. */
    KC_OUTCOME_REQUEUE_AFTER, /* The same, and runs again after a time. */
    KC_OUTCOME_REQUEUE,       /* Runs again, rate limited; not an error. */
    KC_OUTCOME_RETRY,         /* Failed, see err; runs again, rate limited. */
    KC_OUTCOME_TERMINAL,      /* Failed, see err; does not run again until a change. */
} kc_outcome;

typedef struct kc_result {
    kc_outcome outcome;
    int64_t after;
    bool has_priority; /* Sets the priority of the next run; otherwise it stays. */
    int priority;
} kc_result;

static inline kc_result kc_done(void)
{
    return (kc_result){.outcome = KC_OUTCOME_DONE};
}
/* Done, for 0 or less. */
static inline kc_result kc_requeue_after(int64_t ns)
{
    return ns > 0 ? (kc_result){.outcome = KC_OUTCOME_REQUEUE_AFTER, .after = ns} : kc_done();
}
static inline kc_result kc_requeue(void)
{
    return (kc_result){.outcome = KC_OUTCOME_REQUEUE};
}
/* The caller keeps the error; these functions only classify it. */
static inline kc_result kc_retry(const kc_error *err)
{
    (void)err;
    return (kc_result){.outcome = KC_OUTCOME_RETRY};
}
static inline kc_result kc_terminal(const kc_error *err)
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
