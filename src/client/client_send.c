/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_send.c: a request on its way: may we write, is it our turn, send, and again?
 *
 *     fence ─▶ share of requests ─▶ transport ─┬─▶ below 300: the answer
 *       ▲                                      ├─▶ 429, 5xx with Retry-After ──▶ wait, again
 *       └──────────────────────────────────────┼─▶ the way broke: reads, and what surely did not
 *                                              │   get there ──▶ wait a little, again
 *                                              └─▶ anything else: an error
 *
 * The time of a call covers all of its tries. A wait that would not end in that time is not begun:
 * the error is then the server's, which says more than "too late".
 */
#include "client/client_internal.h"
#include "client/list_cutter.h"
#include "http/header.h"

/* A server that asks us to come again is believed so often; a broken way is tried fewer times:
 * whoever calls has a longer view. */
enum { MAX_TRIES = 10, MAX_BREAKS = 4 };
#define FIRST_PAUSE (100 * KC_MILLISECOND)
enum { CHUNK = 64 << 10 };

typedef struct attempt {
    kc_client *client;
    kc__ask *ask;
    const char *method;
    kc_cancel *cancel;
    int64_t deadline;
    int tries, breaks;
    enum { FINAL, LATER, BROKE } outcome; /* Of the last try, when it failed. */
} attempt;

/* ---- our share ---- */

/* A token bucket as one number: the time at which everything taken so far is paid for. */
static int take_turn(const attempt *a, int64_t deadline, kc_error *err)
{
    kc__core *core = a->client->core;
    int64_t at = 0;
    if (core->qps <= 0)
        return 0;
    const int64_t now = kc_clock_now(core->clock);
    const int64_t each = (int64_t)((double)KC_SECOND / core->qps);
    kc_locked (&core->mutex) {
        const int64_t full = now - (int64_t)(core->burst * (double)each);
        at = KC_MAX(core->paid_until, full) + each;
        if (at <= deadline)
            core->paid_until = at;
    }
    if (at > deadline)
        return kc_error_set(err, KC_TIMEOUT,
                            "the client's own limit of requests leaves no turn in time");
    if (core->waits)
        kc_histogram_observe_duration(kc_histogram_of(core->waits, kc_cstr(a->method)),
                                      KC_MAX(at - now, 0));
    if (at > now && !kc_cancel_sleep_until(a->cancel, core->clock, at))
        return kc_cancel_check(a->cancel, err);
    return 0;
}

static int64_t jitter(kc__core *core, int64_t ns)
{
    kc_locked (&core->mutex)
        ns = kc_rand_jitter(&core->rand, ns, 1);
    return ns;
}

/* ---- one try ---- */

/* The time the try has: less than the call's where a fence ends earlier. */
static int check_fence(const attempt *a, int64_t *deadline, kc_error *err)
{
    kc_fence *fence = a->client->bind.fence;
    int64_t until = KC_FOREVER;
    if (!a->ask->fenced || !fence)
        return 0;
    const int r = fence->check(fence, &until, err);
    *deadline = KC_MIN(*deadline, until);
    return r;
}

/* Nothing is sent too late: a write after the end of a term would be somebody else's. */
static int check_time(const attempt *a, int64_t deadline, kc_error *err)
{
    return kc_clock_now(a->client->core->clock) < deadline
               ? 0
               : kc_error_set(err, KC_TIMEOUT, "the time for the request is over");
}

static size_t fill_fields(const attempt *a, kc_http_field fields[3])
{
    const kc_str accept = a->ask->accept;
    size_t n = 0;
    fields[n++] = (kc_http_field){KC_STR("Accept"), accept.n ? accept : KC_STR("application/json")};
    fields[n++] = (kc_http_field){KC_STR("User-Agent"), kc_cstr(a->client->core->user_agent)};
    if (a->ask->type.n)
        fields[n++] = (kc_http_field){KC_STR("Content-Type"), a->ask->type};
    return n;
}

/* Once is enough: a controller does the same again and again. */
static bool is_new_warning(kc__core *core, kc_str text)
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

/* What a server warns of is meant for whoever runs the program: 299 - "text". */
static void log_warnings(const attempt *a, const kc_http_response *response)
{
    for (size_t i = 0; i < response->n_fields; i++)
        if (kc_str_is(response->fields[i].name, "warning") &&
            is_new_warning(a->client->core, response->fields[i].value))
            kc_log_warn(a->client->core->log, "the server warns",
                        kc_kv("warning", response->fields[i].value),
                        kc_kv("target", kc_buf_str(&a->ask->target)));
}

static void note(const attempt *a, const kc_http_response *response, int64_t took)
{
    kc_log *log = a->client->core->log;
    kc_log_debug(log, "request", kc_kv("method", a->method),
                 kc_kv("target", kc_buf_str(&a->ask->target)),
                 kc_kv("status", response ? response->status : 0), kc_kv_duration("took", took));
    if (response && log)
        log_warnings(a, response);
}

static kc_http_response *transmit(attempt *a, int64_t deadline, kc_error *err)
{
    const kc__core *core = a->client->core;
    kc_http_field fields[3];
    const int64_t began = kc_clock_now(core->clock);
    const kc_http_request request = {.method = a->method,
                                     .target = kc_buf_str(&a->ask->target),
                                     .fields = fields,
                                     .n_fields = fill_fields(a, fields),
                                     .body = a->ask->body,
                                     .deadline = deadline == KC_FOREVER ? 0 : deadline,
                                     .cancel = a->cancel};
    kc_http_response *response = kc_transport_open(core->transport, &request, err);
    note(a, response, kc_clock_now(core->clock) - began);
    return response;
}

static kc_http_response *try_once(attempt *a, kc_error *err)
{
    int64_t deadline = a->deadline;
    a->outcome = FINAL;
    if (kc_cancel_check(a->cancel, err) < 0 || check_fence(a, &deadline, err) < 0 ||
        take_turn(a, deadline, err) < 0 || check_time(a, deadline, err) < 0)
        return NULL;
    kc_auto(kc_http_response) *response = transmit(a, deadline, err);
    if (!response) {
        a->outcome = err->reason == KC_SERVICE_UNAVAILABLE ? BROKE : FINAL;
        return NULL;
    }
    if (response->status < 300)
        return kc_take(response);
    int seconds;
    if ((response->status == 429 || response->status >= 500) &&
        kc__retry_after(kc_http_field_of(response, KC_STR("retry-after")), &seconds))
        a->outcome = LATER;
    kc__error_of_answer(a->method, response, err);
    return NULL;
}

/* ---- again ---- */

/* How long to wait before the next try; negative: there is none. */
static int64_t pause_of(attempt *a, const kc_error *err)
{
    kc__core *core = a->client->core;
    if (a->outcome == LATER && ++a->tries < MAX_TRIES)
        return err->retry_after_seconds ? err->retry_after_seconds * KC_SECOND
                                        : jitter(core, FIRST_PAUSE);
    /* Code 0: it surely did not get there. */
    if (a->outcome == BROKE && (!a->ask->writes || err->code == 0) && ++a->breaks < MAX_BREAKS)
        return jitter(core, FIRST_PAUSE << a->breaks);
    return -1;
}

static void count_retry(const attempt *a, const kc_error *err)
{
    kc_metric *retries = a->client->core->retries;
    kc_scoped(kc_buf) code = {0};
    if (!retries)
        return;
    if (a->outcome == BROKE)
        kc_buf_puts(&code, "<error>");
    else
        kc_buf_printf(&code, "%d", err->code);
    kc_counter_inc(kc_counter_of(retries, kc_buf_str(&code), kc_cstr(a->method)));
}

static bool wait_for_next(attempt *a, const kc_error *err)
{
    const kc__core *core = a->client->core;
    const int64_t pause = pause_of(a, err);
    const int64_t until = pause < 0 ? KC_FOREVER : kc_clock_deadline(core->clock, pause);
    if (until == KC_FOREVER || until > a->deadline)
        return false;
    count_retry(a, err);
    kc_log_debug(core->log, "trying again", kc_kv("target", kc_buf_str(&a->ask->target)),
                 kc_kv("err", err), kc_kv_duration("after", pause));
    return kc_cancel_sleep_until(a->cancel, core->clock, until);
}

static int64_t deadline_of(const kc_client *client, const kc__ask *ask)
{
    const int64_t bound = client->bind.deadline ? client->bind.deadline : KC_FOREVER;
    const int64_t own =
        ask->watches ? KC_FOREVER : kc_clock_deadline(client->core->clock, client->core->timeout);
    return KC_MIN(bound, own);
}

kc_http_response *kc__send(kc_client *client, kc__ask *ask, kc_error *err)
{
    attempt a = {.client = client,
                 .ask = ask,
                 .method = ask->method ? ask->method : "GET",
                 .cancel = ask->cancel ? ask->cancel : client->bind.cancel,
                 .deadline = deadline_of(client, ask)};
    kc_scoped(kc_error) why = {0};
    if (ask->broken) {
        kc_error_move(err, &ask->why);
        return NULL;
    }
    for (;;) {
        kc_http_response *response = try_once(&a, &why);
        if (response)
            return response;
        if (!wait_for_next(&a, &why))
            break;
        kc_error_done(&why);
    }
    kc_error_move(err, &why);
    return NULL;
}

/* ---- answers ---- */

int kc__read_all(kc_http_response *response, kc_buf *out, kc_error *err)
{
    char chunk[CHUNK];
    ssize_t n;
    while ((n = kc_http_read(response, chunk, sizeof(chunk), err)) > 0) {
        kc_buf_append(out, kc_str_of(chunk, (size_t)n));
        if (out->failed)
            return kc_error_set(err, KC_TOO_LARGE, "the server's answer is larger than %zu bytes",
                                out->limit);
    }
    return (int)n;
}

kc_object *kc__send_for_object(kc_client *client, kc__ask *ask, const kc_kind *kind, kc_error *err)
{
    kc_auto(kc_http_response) *response = kc__send(client, ask, err);
    kc_scoped(kc_buf) body = {.limit = KC_JSON_MAX_BYTES};
    if (!response || kc__read_all(response, &body, err) < 0)
        return NULL;
    kc_object *object = kind ? kc__object_of_kind(kc_buf_str(&body), kind, err)
                             : kc_object_parse(kc_buf_str(&body), NULL, err);
    if (!object)
        kc__bad_answer(err, "the server's answer");
    return object;
}
