/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_post.c: one POST and its repetitions.
 *
 * A posting belongs to its loop: the timer between two attempts is the loop's, and the callbacks of
 * the HTTP client run there. A request to an unreachable server is not repeated.
 */
#include "http/client/http_post.h"

#include "kc/buf.h"

#define DEFAULT_BACKOFF (500 * KC_MILLISECOND)
#define JITTER          0.2

enum { MAX_ATTEMPTS = 5 };

typedef struct http_posting {
    kc__http_post_opts opts;
    kc_buf body;
    kc__loop_timer timer; /* Until the next attempt. */
    int64_t began;        /* Of the attempt. */
    unsigned attempts;
} http_posting;

/* ---- targets ---- */

static const char *copy_target_text(kc_arena *arena, const char *text)
{
    return text ? kc_arena_strndup(arena, text, strlen(text)) : NULL;
}

kc__http_target kc__http_target_copy(const kc__http_target *target, kc_arena *arena)
{
    const kc__http_client_identity *id = &target->identity;
    return (kc__http_target){
        .url = copy_target_text(arena, target->url),
        .ca = kc_arena_str(arena, target->ca),
        .identity = {.insecure = id->insecure,
                     .server_name = copy_target_text(arena, id->server_name),
                     .cert = kc_arena_str(arena, id->cert),
                     .key = kc_arena_str(arena, id->key),
                     .authorization = copy_target_text(arena, id->authorization)}};
}

const char *kc__http_url_with_timeout(const char *url, int64_t timeout, kc_arena *arena)
{
    kc_scoped(kc_buf) text = {0};
    kc_duration_write(&text, timeout);
    return kc_arena_printf(arena, "%s%stimeout=%s", url, strchr(url, '?') ? "&" : "?",
                           kc_buf_cstr(&text));
}

/* ---- attempts ---- */

static void send_posting(http_posting *p);

static void posting_retry_due(kc__loop_timer *timer)
{
    send_posting(kc_container_of(timer, http_posting, timer));
}

static bool may_succeed_later(const kc__http_client_response *response)
{
    if (!response->status)
        return kc_str_contains(kc_cstr(response->error), KC_STR("connection reset by peer"));
    return response->status == 429 || response->status == 500 || response->status == 504;
}

/* The pause after the last attempt. */
static int64_t posting_pause(const http_posting *p)
{
    int64_t pause = KC_MAX(p->opts.backoff, 0);
    for (unsigned i = 1; i < p->attempts; i++)
        pause += pause / 2;
    return p->opts.rand ? kc_rand_jitter(p->opts.rand, pause, JITTER) : pause;
}

/* False: the last attempt has been made. */
static bool retry_posting(http_posting *p)
{
    const int64_t due = kc_clock_deadline(p->opts.clock, posting_pause(p));
    if (p->attempts >= MAX_ATTEMPTS || (p->opts.deadline && due >= p->opts.deadline))
        return false;
    p->timer = (kc__loop_timer){.loop = p->opts.loop, .fire = posting_retry_due};
    kc__loop_timer_start(&p->timer, due);
    return true;
}

static void posting_answered(const kc__http_client_response *response, void *user)
{
    http_posting *p = user;
    if (p->opts.attempted)
        p->opts.attempted(response, kc_clock_now(p->opts.clock) - p->began, p->opts.user);
    if (may_succeed_later(response) && retry_posting(p))
        return;
    p->opts.done(response, p->opts.user);
    kc_buf_done(&p->body);
    free(p);
}

static int64_t attempt_timeout(const http_posting *p)
{
    if (!p->opts.deadline)
        return p->opts.timeout;
    return KC_MAX(KC_MIN(p->opts.timeout, p->opts.deadline - p->began), 1);
}

static void send_posting(http_posting *p)
{
    const kc__http_target *target = p->opts.target;
    p->attempts++;
    p->began = kc_clock_now(p->opts.clock);
    p->opts.send(p->opts.client,
                 &(kc__http_client_request){.url = target->url,
                                            .allow_plain = true,
                                            .identity = &target->identity,
                                            .body = kc_buf_str(&p->body),
                                            .ca = target->ca,
                                            .agent = p->opts.agent,
                                            .timeout = attempt_timeout(p),
                                            .max_response = p->opts.max_response},
                 p->opts.loop, posting_answered, p);
}

void kc__http_post(const kc__http_post_opts *opts)
{
    http_posting *p = kc_new(http_posting);
    p->opts = *opts;
    p->opts.clock = opts->clock ? opts->clock : kc_clock_real();
    p->opts.backoff = opts->backoff ? opts->backoff : DEFAULT_BACKOFF;
    p->opts.send = opts->send ? opts->send : kc__http_client_send;
    kc_buf_append(&p->body, opts->body);
    send_posting(p);
}
