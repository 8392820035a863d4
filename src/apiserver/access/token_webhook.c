/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_webhook.c: verifies bearer tokens by another server.
 *
 * The HTTP client repeats the request while the webhook is overloaded (http_post.h), within 30
 * seconds altogether. Its callback runs on the I/O loop of the call and reads a response of at most
 * 1 MiB.
 *
 * Audiences: the webhook gets those of the server that received the token. If it names audiences,
 * one of them must be among these; if it names none, the token is for this server.
 */
#include "apiserver/access/token_webhook.h"

#include "apiserver/access/webhook_review.h"
#include "kc/json.h"

#define AGENT "kube-apiserver"

struct kc__token_webhook {
    kc_arena arena; /* Holds the texts of the options. */
    kc__token_webhook_opts opts;
    kc__http_client *client;
};

/* One token. */
typedef struct webhook_request {
    kc__token_webhook *webhook;
    kc__authn_verification *verification;
} webhook_request;

/* ---- the review ---- */

static void write_token_review(const webhook_request *q, kc_buf *out)
{
    const kc__user_audiences wanted = kc__authn_verification_wanted(q->verification);
    kc_buf_printf(out,
                  "{\"kind\":\"TokenReview\",\"apiVersion\":\"authentication.k8s.io/%s\","
                  "\"metadata\":{},\"spec\":{\"token\":",
                  q->webhook->opts.version);
    kc_json_quote(out, kc__authn_verification_token(q->verification));
    if (wanted.n) {
        kc_buf_puts(out, ",\"audiences\":");
        kc_json_quote_all(out, wanted.items, wanted.n);
    }
    kc_buf_puts(out, "},\"status\":{\"user\":{}}}");
}

/* ---- the result ---- */

static bool names_audience(kc__user_audiences list, kc_str audience)
{
    for (size_t i = 0; i < list.n; i++)
        if (kc_str_eq(list.items[i], audience))
            return true;
    return false;
}

static kc__user_audiences reviewed_audiences(const webhook_request *q, const kc_value *status,
                                             kc_arena *arena)
{
    const kc_value *list = kc_value_get(status, "audiences");
    const size_t n = kc_value_len(list);
    if (!n)
        return q->webhook->opts.implicit;
    kc_str *items = kc_arena_calloc(arena, n, sizeof(*items));
    size_t at = 0;
    kc_value_each_item (list, item)
        items[at++] = kc_arena_str(arena, kc_value_as_str(item));
    return (kc__user_audiences){items, at};
}

/* The wanted audiences that the token has. False if there is none. */
static bool match_audiences(const webhook_request *q, const kc_value *status,
                            kc__authn_result *result)
{
    const kc__user_audiences wanted = kc__authn_verification_wanted(q->verification);
    const kc__user_audiences has = reviewed_audiences(q, status, &result->arena);
    kc_str *both = kc_arena_calloc(&result->arena, wanted.n + 1, sizeof(*both));
    size_t n = 0;
    for (size_t i = 0; i < wanted.n; i++)
        if (names_audience(has, wanted.items[i]))
            both[n++] = kc_arena_str(&result->arena, wanted.items[i]);
    result->identity.audiences = (kc__user_audiences){both, n};
    return n || !wanted.n;
}

static kc__authn_result *result_of_status(const webhook_request *q, const kc_value *status)
{
    const kc_str error = kc_value_as_str(kc_value_get(status, "error"));
    kc__authn_result *result = kc__authn_result_new(0);
    if (!match_audiences(q, status, result))
        return result;
    if (kc_value_as_bool(kc_value_get(status, "authenticated"), false)) {
        result->found = 1;
        kc__user_read(kc_value_get(status, "user"), &result->arena, &result->identity.user);
    } else if (error.n) {
        result->found = -1;
        result->error = kc_arena_strndup(&result->arena, error.p, error.n);
    }
    return result;
}

/* ---- the call ---- */

static void end_webhook_request(webhook_request *q, kc__authn_result *result)
{
    if (result->found < 0)
        kc_log_verbose(q->webhook->opts.log, 2, "token webhook failed",
                       kc_kv("err", result->error));
    kc__authn_verification_end(q->verification, result);
    free(q);
}

static void token_review_arrived(const kc__http_client_response *response, void *user)
{
    webhook_request *q = user;
    kc_scoped(kc_error) err = {0};
    const kc__authn_review_expected expected = {q->webhook->opts.target.url, "TokenReview",
                                                "authentication.k8s.io/"};
    kc_auto(kc_view) *review = kc__authn_review_read(response, &expected, &err);
    if (review)
        end_webhook_request(q, result_of_status(q, kc_value_get(kc_view_root(review), "status")));
    else
        end_webhook_request(q, kc__authn_result_error("%s", kc_error_text(&err)));
}

/* ---- the authenticator ---- */

static void webhook_verify(void *self, kc__authn_verification *verification, kc__loop *loop)
{
    kc__token_webhook *webhook = self;
    kc_scoped(kc_buf) body = {0};
    webhook_request *q = kc_new(webhook_request);
    *q = (webhook_request){.webhook = webhook, .verification = verification};
    write_token_review(q, &body);
    kc__http_post(&(kc__http_post_opts){
        .client = webhook->client,
        .target = &webhook->opts.target,
        .agent = AGENT,
        .body = kc_buf_str(&body),
        .timeout = KC__TOKEN_WEBHOOK_TIMEOUT,
        .deadline = kc_clock_deadline(kc_clock_real(), KC__TOKEN_WEBHOOK_TIMEOUT),
        .max_response = KC__TOKEN_WEBHOOK_MAX_RESPONSE,
        .loop = loop,
        .done = token_review_arrived,
        .user = q});
}

static void end_webhook_by(void *self, int64_t deadline)
{
    kc__http_client_end_by(((kc__token_webhook *)self)->client, deadline);
}

static void stop_webhook(void *self)
{
    kc__http_client_stop(((kc__token_webhook *)self)->client);
}

static void free_webhook(void *self)
{
    kc__token_webhook *webhook = self;
    kc__http_client_free(webhook->client);
    kc_arena_done(&webhook->arena);
    free(webhook);
}

const kc__authn_remote_ops kc__token_webhook_ops = {.name = "webhook",
                                                    .verify = webhook_verify,
                                                    .end_by = end_webhook_by,
                                                    .stop = stop_webhook,
                                                    .free = free_webhook};

kc__token_webhook *kc__token_webhook_new(const kc__token_webhook_opts *opts)
{
    kc__token_webhook *webhook = kc_new(kc__token_webhook);
    kc_arena *arena = &webhook->arena;
    kc_str *implicit = kc_arena_calloc(arena, opts->implicit.n + 1, sizeof(*implicit));
    for (size_t i = 0; i < opts->implicit.n; i++)
        implicit[i] = kc_arena_str(arena, opts->implicit.items[i]);
    webhook->opts = (kc__token_webhook_opts){
        .target = kc__http_target_copy(&opts->target, arena),
        .version = kc_arena_strndup(arena, opts->version, strlen(opts->version)),
        .implicit = {implicit, opts->implicit.n},
        .log = opts->log};
    webhook->opts.target.url =
        kc__http_url_with_timeout(opts->target.url, KC__TOKEN_WEBHOOK_TIMEOUT, arena);
    webhook->client = kc__http_client_new();
    return webhook;
}
