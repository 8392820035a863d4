/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send.c: sends a request and decides whether to retry it.
 *
 *     fence ─▶ rate limit ─▶ transport ─┬─▶ below 300: the response
 *       ▲                               ├─▶ 429, 5xx with Retry-After ──▶ wait, retry
 *       └───────────────────────────────┼─▶ connection failed: for reads, and for writes that were
 *                                       │   certainly not sent (code 0) ──▶ wait briefly, retry
 *                                       └─▶ otherwise: an error
 *
 * The deadline of a request covers all its attempts. A wait that would end after the deadline is
 * not started: the call then returns the server's error, which says more than "timeout".
 *
 * kc__client_send blocks. The rules (rate limit, which failures are retried and when) are functions
 * of kc__client_attempt, which the event-driven client_stream.c uses too.
 */
#include "client/rest/client_attempt.h"
#include "client/stream/list_splitter.h"
#include "http/message/header.h"

/* Maximum number of attempts when the server asks for a retry, and when the connection breaks.
 * The latter is smaller, because callers have their own retry policy. */
enum { MAX_TRIES = 10, MAX_BREAKS = 4 };
#define FIRST_PAUSE (100 * KC_MILLISECOND)
enum { CHUNK = 64 << 10 };

/* ---- the rate limit ---- */

/* A token bucket represented by one number: the time up to which all reserved slots are used up. */
int kc__client_attempt_take_turn(const kc__client_attempt *a, int64_t deadline, int64_t *ret_at,
                                 kc_error *err)
{
    kc__client_core *core = a->client->core;
    const int64_t now = kc_clock_now(core->clock);
    int64_t at = now;
    if (core->qps > 0) {
        const int64_t each = (int64_t)((double)KC_SECOND / core->qps);
        kc_locked (&core->mutex) {
            const int64_t full = now - (int64_t)(core->burst * (double)each);
            at = KC_MAX(core->paid_until, full) + each;
            if (at <= deadline)
                core->paid_until = at;
        }
        if (at > deadline)
            return kc_error_set(err, KC_TIMEOUT,
                                "the client rate limiter would exceed the request deadline");
        if (core->waits)
            kc_histogram_observe_duration(kc_metric_histogram(core->waits, kc_cstr(a->method)),
                                          KC_MAX(at - now, 0));
    }
    *ret_at = at;
    return 0;
}

static int take_turn(const kc__client_attempt *a, int64_t deadline, kc_error *err)
{
    const kc_clock *clock = a->client->core->clock;
    int64_t at = 0;
    if (kc__client_attempt_take_turn(a, deadline, &at, err) < 0)
        return kc_error_result(err);
    if (at > kc_clock_now(clock) && !kc_cancel_sleep_until(a->cancel, clock, at))
        return kc_cancel_check(a->cancel, err);
    return 0;
}

static int64_t jitter(kc__client_core *core, int64_t ns)
{
    kc_locked (&core->mutex)
        ns = kc_rand_jitter(&core->rand, ns, 1);
    return ns;
}

/* ---- one attempt ---- */

/* Computes the deadline of the attempt: earlier than that of the call if the fence expires
 * before. */
static int check_fence(const kc__client_attempt *a, int64_t *deadline, kc_error *err)
{
    kc_fence *fence = a->client->bind.fence;
    int64_t until = KC_FOREVER;
    if (!a->request->fenced || !fence)
        return 0;
    const int r = fence->check(fence, &until, err);
    *deadline = KC_MIN(*deadline, until);
    return r;
}

/* Do not send after the deadline: after the lease has expired, another process may be the
 * leader. */
static int check_time(const kc__client_attempt *a, int64_t deadline, kc_error *err)
{
    return kc_clock_now(a->client->core->clock) < deadline
               ? 0
               : kc_error_set(err, KC_TIMEOUT, "request deadline exceeded");
}

size_t kc__client_attempt_fields(const kc__client_attempt *a, kc_http_field fields[3])
{
    const kc_str accept = a->request->accept;
    size_t n = 0;
    fields[n++] = (kc_http_field){KC_STR("Accept"), accept.n ? accept : KC_STR("application/json")};
    fields[n++] = (kc_http_field){KC_STR("User-Agent"), kc_cstr(a->client->core->user_agent)};
    if (a->request->type.n)
        fields[n++] = (kc_http_field){KC_STR("Content-Type"), a->request->type};
    return n;
}

/* Each warning is logged once, because controllers repeat the same requests. */
static bool is_new_warning(kc__client_core *core, kc_str text)
{
    const uint64_t hash = kc_str_hash(text, 0);
    bool known = false;
    kc_locked (&core->mutex) {
        for (size_t i = 0; i < KC_MIN(core->n_warned, KC_COUNT(core->warned)); i++)
            known = known || core->warned[i] == hash;
        if (!known)
            core->warned[core->n_warned++ % KC_COUNT(core->warned)] = hash;
    }
    return !known;
}

/* Logs the server's warnings for the operator of the program: 299 - "text". */
static void log_warnings(const kc__client_attempt *a, const kc_http_response *response)
{
    for (size_t i = 0; i < response->n_fields; i++)
        if (kc_str_is(response->fields[i].name, "warning") &&
            is_new_warning(a->client->core, response->fields[i].value))
            kc_log_warn(a->client->core->log, "API server warning",
                        kc_kv("warning", response->fields[i].value),
                        kc_kv("target", kc_buf_str(&a->request->target)));
}

void kc__client_attempt_note(const kc__client_attempt *a, const kc_http_response *response,
                             int64_t took)
{
    kc_log *log = a->client->core->log;
    kc_log_debug(log, "request", kc_kv("method", a->method),
                 kc_kv("target", kc_buf_str(&a->request->target)),
                 kc_kv("status", response ? response->status : 0), kc_kv_duration("took", took));
    if (response && log)
        log_warnings(a, response);
}

static kc_http_response *transmit(kc__client_attempt *a, int64_t deadline, kc_error *err)
{
    const kc__client_core *core = a->client->core;
    kc_http_field fields[3];
    const int64_t began = kc_clock_now(core->clock);
    const kc_http_request request = {.method = a->method,
                                     .target = kc_buf_str(&a->request->target),
                                     .fields = fields,
                                     .n_fields = kc__client_attempt_fields(a, fields),
                                     .body = a->request->body,
                                     .deadline = deadline == KC_FOREVER ? 0 : deadline,
                                     .cancel = a->cancel,
                                     .as = a->client->bind.act_as};
    kc_http_response *response = kc_transport_open(core->transport, &request, err);
    kc__client_attempt_note(a, response, kc_clock_now(core->clock) - began);
    return response;
}

void kc__client_attempt_broke(kc__client_attempt *a, const kc_error *err)
{
    a->outcome =
        err->reason == KC_SERVICE_UNAVAILABLE ? KC__CLIENT_ATTEMPT_BROKE : KC__CLIENT_ATTEMPT_FINAL;
}

void kc__client_attempt_refused(kc__client_attempt *a, int status, kc_str retry_after)
{
    int seconds;
    const bool later =
        (status == 429 || status >= 500) && kc__http_retry_after(retry_after, &seconds);
    a->outcome = later ? KC__CLIENT_ATTEMPT_LATER : KC__CLIENT_ATTEMPT_FINAL;
}

static kc_http_response *client_send_try_once(kc__client_attempt *a, kc_error *err)
{
    int64_t deadline = a->deadline;
    a->outcome = KC__CLIENT_ATTEMPT_FINAL;
    if (kc_cancel_check(a->cancel, err) < 0 || check_fence(a, &deadline, err) < 0 ||
        take_turn(a, deadline, err) < 0 || check_time(a, deadline, err) < 0)
        return NULL;
    kc_auto(kc_http_response) *response = transmit(a, deadline, err);
    if (!response) {
        kc__client_attempt_broke(a, err);
        return NULL;
    }
    if (response->status < 300)
        return kc_take(response);
    kc__client_attempt_refused(a, response->status,
                               kc_http_response_field(response, KC_STR("retry-after")));
    kc__client_error_from_response(a->method, response, err);
    return NULL;
}

/* ---- retries ---- */

/* Returns the delay before the next attempt; negative: do not retry. */
static int64_t pause_of(kc__client_attempt *a, const kc_error *err)
{
    kc__client_core *core = a->client->core;
    if (a->outcome == KC__CLIENT_ATTEMPT_LATER && ++a->tries < MAX_TRIES)
        return err->retry_after_seconds ? err->retry_after_seconds * KC_SECOND
                                        : jitter(core, FIRST_PAUSE);
    /* Code 0: the request certainly did not reach the server. */
    if (a->outcome == KC__CLIENT_ATTEMPT_BROKE && (!a->request->writes || err->code == 0) &&
        ++a->breaks < MAX_BREAKS)
        return jitter(core, FIRST_PAUSE << a->breaks);
    return -1;
}

static void count_retry(const kc__client_attempt *a, const kc_error *err)
{
    kc_metric *retries = a->client->core->retries;
    kc_scoped(kc_buf) code = {0};
    if (!retries)
        return;
    if (a->outcome == KC__CLIENT_ATTEMPT_BROKE)
        kc_buf_puts(&code, "<error>");
    else
        kc_buf_printf(&code, "%d", err->code);
    kc_counter_inc(kc_metric_counter(retries, kc_buf_str(&code), kc_cstr(a->method)));
}

bool kc__client_attempt_retry_at(kc__client_attempt *a, const kc_error *err, int64_t *ret_at)
{
    const kc__client_core *core = a->client->core;
    const int64_t pause = pause_of(a, err);
    const int64_t until = pause < 0 ? KC_FOREVER : kc_clock_deadline(core->clock, pause);
    if (until == KC_FOREVER || until > a->deadline)
        return false;
    count_retry(a, err);
    kc_log_debug(core->log, "retrying the request",
                 kc_kv("target", kc_buf_str(&a->request->target)), kc_kv("err", err),
                 kc_kv_duration("after", pause));
    *ret_at = until;
    return true;
}

static bool wait_for_next(kc__client_attempt *a, const kc_error *err)
{
    int64_t at = 0;
    return kc__client_attempt_retry_at(a, err, &at) &&
           kc_cancel_sleep_until(a->cancel, a->client->core->clock, at);
}

static int64_t client_send_deadline_of(const kc_client *client, const kc__client_request *request)
{
    const int64_t bound = client->bind.deadline ? client->bind.deadline : KC_FOREVER;
    const int64_t own = request->watches
                            ? KC_FOREVER
                            : kc_clock_deadline(client->core->clock, client->core->timeout);
    return KC_MIN(bound, own);
}

kc__client_attempt kc__client_attempt_of(kc_client *client, kc__client_request *request)
{
    return (kc__client_attempt){.client = client,
                                .request = request,
                                .method = request->method ? request->method : "GET",
                                .cancel = request->cancel ? request->cancel : client->bind.cancel,
                                .deadline = client_send_deadline_of(client, request)};
}

kc_http_response *kc__client_send(kc_client *client, kc__client_request *request, kc_error *err)
{
    kc__client_attempt a = kc__client_attempt_of(client, request);
    kc_scoped(kc_error) why = {0};
    if (request->broken) {
        kc_error_move(err, &request->why);
        return NULL;
    }
    for (;;) {
        kc_http_response *response = client_send_try_once(&a, &why);
        if (response)
            return response;
        if (!wait_for_next(&a, &why))
            break;
        kc_error_done(&why);
    }
    kc_error_move(err, &why);
    return NULL;
}

/* ---- responses ---- */

int kc__client_read_body(kc_http_response *response, kc_buf *out, kc_error *err)
{
    char chunk[CHUNK];
    ssize_t n;
    while ((n = kc_http_response_read(response, chunk, sizeof(chunk), err)) > 0) {
        kc_buf_append(out, kc_str_of(chunk, (size_t)n));
        if (out->failed)
            return kc_error_set(err, KC_TOO_LARGE, "the response exceeds %zu bytes", out->limit);
    }
    return (int)n;
}

kc_object *kc__client_send_for_object(kc_client *client, kc__client_request *request,
                                      const kc_kind *kind, kc_error *err)
{
    kc_auto(kc_http_response) *response = kc__client_send(client, request, err);
    kc_scoped(kc_buf) body = {.limit = KC_JSON_MAX_BYTES};
    if (!response || kc__client_read_body(response, &body, err) < 0)
        return NULL;
    kc_object *object = kind ? kc__stream_object_of_kind(kc_buf_str(&body), kind, err)
                             : kc_object_parse(kc_buf_str(&body), NULL, err);
    if (!object)
        kc__client_bad_response(err, "response");
    return object;
}
