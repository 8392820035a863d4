/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_state.c: the SubjectAccessReviews of one request and their results.
 *
 * The failure of a webhook is a result, too, so that a request sends each review once. So is an
 * exclusion by match conditions.
 *
 *     result here? ─▶ match conditions ─▶ cached result? ─▶ review: KC__AUTHZ_PENDING
 *                            └─ too expensive for an event loop: KC__AUTHZ_PENDING, needs_worker
 */
#include "apiserver/authz/request_state.h"

#include "kc/thread.h"

/* Results about longer attributes are not cached, as in Kubernetes. */
enum { MAX_CACHED_ATTRIBUTES = 10000 };

void kc__authz_request_state_done(kc__authz_request_state *state)
{
    kc_vec_each (&state->results, known) {
        free(known->review);
        kc__authz_result_unref(known->result);
        kc__authz_webhook_unref(known->webhook);
    }
    kc_vec_done(&state->results);
    kc__authz_request_state_drop_errors(state, state->errors.n);
    kc_vec_done(&state->errors);
}

/* ---- errors ---- */

static bool has_error(const char *const *errors, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(errors[i], text))
            return true;
    return false;
}

/* Several messages are separated by their terminators. */
static void add_state_errors(kc__authz_request_state *state, kc_str text)
{
    while (text.n) {
        const kc_str one = kc_str_cut(&text, '\0');
        kc_vec_push(&state->errors, kc_str_dup(one));
    }
}

void kc__authz_request_state_drop_errors(kc__authz_request_state *state, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(state->errors.items[i]);
    for (size_t i = n; i < state->errors.n; i++)
        state->errors.items[i - n] = state->errors.items[i];
    state->errors.n -= n;
}

void kc__authz_request_state_write_errors(const kc__authz_request_state *state, kc_buf *out)
{
    kc_scoped(kc_buf) all = {0};
    const char *const *errors = (const char *const *)state->errors.items;
    size_t n = 0;
    for (size_t i = 0; i < state->errors.n; i++)
        if (!has_error(errors, i, errors[i]))
            kc_buf_printf(&all, "%s%s", n++ ? ", " : "", errors[i]);
    kc_buf_printf(out, n > 1 ? "[%s]" : "%s", kc_buf_cstr(&all));
}

/* ---- deciding ---- */

static bool is_cacheable(const kc__authz_attributes *a)
{
    return a->ns.n + a->verb.n + a->group.n + a->version.n + a->resource.n + a->subresource.n +
               a->name.n + a->path.n <
           MAX_CACHED_ATTRIBUTES;
}

/* 1 + the index of the review; 0: there is none. */
static size_t find_result(const kc__authz_request_state *state, const kc__authz_webhook *webhook,
                          kc_str review)
{
    for (size_t i = 0; i < state->results.n; i++) {
        const kc__authz_webhook_result *known = &state->results.items[i];
        if (known->webhook == webhook && kc_str_is(review, known->review))
            return i + 1;
    }
    return 0;
}

static size_t add_result(kc__authz_request_state *state, kc__authz_webhook *webhook, kc_str review,
                         kc__authz_result *result)
{
    kc_vec_push(&state->results,
                (kc__authz_webhook_result){.webhook = kc__authz_webhook_ref(webhook),
                                           .review = kc_str_dup(review),
                                           .result = result ? kc__authz_result_ref(result) : NULL});
    return state->results.n;
}

/* The first time that the request needs this webhook for this review. A result with a reference;
 * NULL: the decision is pending. */
static kc__authz_result *first_result(kc__authz_request_state *state, kc__authz_webhook *webhook,
                                      const kc__authz_attributes *a, kc_str review)
{
    kc__authz_result *result = NULL;
    const kc__authz_match match = kc__authz_webhook_match(webhook, a, state->on_worker, &result);
    state->needs_worker = match == KC__AUTHZ_TOO_LONG;
    if (state->needs_worker)
        return NULL;
    if (match == KC__AUTHZ_MATCHES)
        result = kc__authz_webhook_cached(webhook, review);
    if (result && !kc__authz_webhook_has_conditions(webhook))
        return result;
    const size_t at = add_result(state, webhook, review, result);
    state->pending_review = result ? 0 : at;
    return result;
}

/* As first_result, later. */
static kc__authz_result *later_result(kc__authz_request_state *state, size_t at)
{
    kc__authz_result *result = state->results.items[at - 1].result;
    state->needs_worker = false;
    state->pending_review = result ? 0 : at;
    return result ? kc__authz_result_ref(result) : NULL;
}

kc__authz_decision kc__authz_request_state_decide(kc__authz_request_state *state,
                                                  kc__authz_webhook *webhook,
                                                  const kc__authz_attributes *a, kc_buf *reason)
{
    kc_scoped(kc_buf) review = {0};
    kc__authz_webhook_review(webhook, a, &review);
    const size_t at = find_result(state, webhook, kc_buf_str(&review));
    kc__authz_result *result =
        at ? later_result(state, at) : first_result(state, webhook, a, kc_buf_str(&review));
    if (!result) {
        state->cacheable = is_cacheable(a);
        return KC__AUTHZ_PENDING;
    }
    const kc__authz_decision decision = kc__authz_result_decision(result);
    add_state_errors(state, kc__authz_result_error(result));
    if (reason)
        kc_buf_append(reason, kc__authz_result_reason(result));
    kc__authz_result_unref(result);
    return decision;
}

/* ---- sending ---- */

static void store_result(kc__authz_result *result, void *user)
{
    kc__authz_request_state *state = user;
    state->results.items[state->pending_review - 1].result = kc__authz_result_ref(result);
    state->pending_review = 0;
    state->resume(state->user);
}

void kc__authz_request_state_call_webhook(kc__authz_request_state *state, kc__loop *loop,
                                          void (*resume)(void *user), void *user)
{
    const kc__authz_webhook_result *pending = &state->results.items[state->pending_review - 1];
    state->resume = resume;
    state->user = user;
    kc__authz_webhook_send(pending->webhook, kc_cstr(pending->review), state->cacheable, loop,
                           store_result, state);
}

/* ---- waiting ---- */

typedef struct awaited_review {
    kc__loop_task task;
    kc__authz_request_state *state;
    kc__loop *loop;
    kc_latch arrived;
} awaited_review;

static void wake_waiting(void *user)
{
    kc_latch_count_down(&((awaited_review *)user)->arrived);
}

static void send_on_loop(kc__loop_task *task)
{
    awaited_review *q = kc_container_of(task, awaited_review, task);
    kc__authz_request_state_call_webhook(q->state, q->loop, wake_waiting, q);
}

kc__authz_decision kc__authz_wait(kc__authz *authz, kc__loop *loop, const kc__authz_attributes *a,
                                  kc_buf *reason)
{
    kc_scoped(kc__authz_request_state) state = {0};
    return kc__authz_request_state_wait(&state, authz, loop, a, reason);
}

kc__authz_decision kc__authz_request_state_wait(kc__authz_request_state *state, kc__authz *authz,
                                                kc__loop *loop, const kc__authz_attributes *a,
                                                kc_buf *reason)
{
    kc__authz_decision decision;
    state->on_worker = true;
    while ((decision = kc__authz_authorize(authz, state, a, reason)) == KC__AUTHZ_PENDING) {
        awaited_review q = {.task.run = send_on_loop, .state = state, .loop = loop};
        kc_latch_init(&q.arrived);
        kc_latch_add(&q.arrived, 1);
        kc__loop_post(loop, &q.task);
        kc_latch_wait(&q.arrived);
        kc_latch_done(&q.arrived);
    }
    return decision;
}
