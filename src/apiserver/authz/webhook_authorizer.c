/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_authorizer.c: sends SubjectAccessReviews and reads their status.
 *
 * The HTTP client repeats a review while the webhook is overloaded (http_post.h). What a webhook
 * that fails means is configured: no opinion, or a denial. The same holds for match conditions that
 * cannot be evaluated.
 *
 * A reload of the configuration replaces the webhooks. A review in flight has a reference to its
 * webhook, so it ends as it began.
 */
#include "apiserver/authz/webhook_internal.h"

#include "apiserver/access/webhook_review.h"
#include "apiserver/authz/access_spec.h"
#include "kc/ref.h"

#define AGENT "kc-apiserver"

struct kc__authz_webhooks {
    kc__http_client *client;
    const kc_clock *clock;
    kc_log *log;
    kc__authz_webhook_metrics metrics;
};

struct kc__authz_webhook {
    kc_ref refs;
    kc__authz_webhooks *shared;
    kc__authz_webhook_opts opts;
    kc_arena arena; /* Of the options. */
    kc__authz_result_cache *cache;
};

/* One review in flight. Belongs to its loop. */
typedef struct access_review {
    kc__authz_webhook *webhook;
    char *spec;
    bool cacheable;
    const char *outcome;      /* Of the last attempt, in metrics. */
    kc__authz_result *result; /* Of the last attempt. */
    kc__authz_webhook_done_fn *done;
    void *user;
} access_review;

/* ---- all webhooks ---- */

kc__authz_webhooks *kc__authz_webhooks_new(const kc__authz_webhooks_opts *opts, kc_error *err)
{
    kc_auto(kc__authz_webhooks) *webhooks = kc_new(kc__authz_webhooks);
    webhooks->client = kc__http_client_new();
    webhooks->clock = opts->clock;
    webhooks->log = opts->log;
    if (kc__authz_webhook_metrics_init(&webhooks->metrics, opts->metrics, err) < 0)
        return NULL;
    return kc_take(webhooks);
}

void kc__authz_webhooks_end_by(kc__authz_webhooks *webhooks, int64_t deadline)
{
    kc__http_client_end_by(webhooks->client, deadline);
}

void kc__authz_webhooks_stop(kc__authz_webhooks *webhooks)
{
    kc__http_client_stop(webhooks->client);
}

kc__authz_webhooks *kc__authz_webhooks_free(kc__authz_webhooks *webhooks)
{
    if (webhooks)
        kc__http_client_free(webhooks->client);
    free(webhooks);
    return NULL;
}

/* ---- one webhook ---- */

static const char *copy_option(kc_arena *arena, const char *text)
{
    return kc_arena_strndup(arena, text, strlen(text));
}

kc__authz_webhook *kc__authz_webhook_new(kc__authz_webhooks *webhooks,
                                         const kc__authz_webhook_opts *opts)
{
    kc__authz_webhook *w = kc_new(kc__authz_webhook);
    kc_ref_init(&w->refs);
    w->shared = webhooks;
    w->opts = *opts;
    w->opts.name = copy_option(&w->arena, opts->name ? opts->name : "default");
    w->opts.version = copy_option(&w->arena, opts->version);
    w->opts.timeout = opts->timeout ? opts->timeout : KC__AUTHZ_WEBHOOK_TIMEOUT;
    w->opts.target = kc__http_target_copy(&opts->target, &w->arena);
    w->opts.target.url = kc__http_url_with_timeout(opts->target.url, w->opts.timeout, &w->arena);
    w->opts.conditions = kc__authz_conditions_ref(opts->conditions);
    w->cache = kc__authz_result_cache_new(webhooks->clock);
    return w;
}

kc__authz_webhook *kc__authz_webhook_ref(kc__authz_webhook *webhook)
{
    kc_ref_add(&webhook->refs);
    return webhook;
}

kc__authz_webhook *kc__authz_webhook_unref(kc__authz_webhook *webhook)
{
    if (!webhook || !kc_ref_drop(&webhook->refs))
        return NULL;
    kc__authz_conditions_unref(webhook->opts.conditions);
    kc__authz_result_cache_free(webhook->cache);
    kc_arena_done(&webhook->arena);
    free(webhook);
    return NULL;
}

/* ---- reviews ---- */

void kc__authz_webhook_review(const kc__authz_webhook *webhook, const kc__authz_attributes *a,
                              kc_buf *out)
{
    const bool beta = !strcmp(webhook->opts.version, "v1beta1");
    kc__authz_spec_write(out, a, beta ? KC__AUTHZ_SPEC_V1BETA1 : KC__AUTHZ_SPEC_V1);
}

kc__authz_result *kc__authz_webhook_cached(kc__authz_webhook *webhook, kc_str review)
{
    return kc__authz_result_cache_get(webhook->cache, review);
}

static kc__authz_decision decision_on_error(const kc__authz_webhook *webhook)
{
    return webhook->opts.denies_on_error ? KC__AUTHZ_DENY : KC__AUTHZ_NO_OPINION;
}

/* ---- match conditions ---- */

bool kc__authz_webhook_has_conditions(const kc__authz_webhook *webhook)
{
    return webhook->opts.conditions;
}

kc__authz_match kc__authz_webhook_match(const kc__authz_webhook *webhook,
                                        const kc__authz_attributes *a, bool on_worker,
                                        kc__authz_result **ret)
{
    kc_scoped(kc_buf) problems = {0};
    const int64_t began = kc_clock_now(kc_clock_real());
    if (!webhook->opts.conditions)
        return KC__AUTHZ_MATCHES;
    const kc__authz_match match =
        kc__authz_conditions_evaluate(webhook->opts.conditions, a, on_worker, &problems);
    if (match == KC__AUTHZ_TOO_LONG)
        return match;
    kc__authz_webhook_count_match(&webhook->shared->metrics, webhook->opts.name, match,
                                  kc_clock_now(kc_clock_real()) - began);
    if (match == KC__AUTHZ_EXCLUDED)
        *ret = kc__authz_result_new(KC__AUTHZ_NO_OPINION, (kc_str){0}, (kc_str){0});
    if (match == KC__AUTHZ_FAILED)
        *ret = kc__authz_result_new(decision_on_error(webhook), (kc_str){0}, kc_buf_str(&problems));
    return match;
}

/* ---- results ---- */

static kc__authz_result *result_of_status(const kc_value *status)
{
    const bool allowed = kc_value_as_bool(kc_value_get(status, "allowed"), false),
               denied = kc_value_as_bool(kc_value_get(status, "denied"), false);
    const kc_str reason = kc_value_as_str(kc_value_get(status, "reason"));
    const kc_str both =
        KC_STR("webhook subject access review returned both allow and deny response");
    if (denied)
        return kc__authz_result_new(KC__AUTHZ_DENY, reason, allowed ? both : (kc_str){0});
    return kc__authz_result_new(allowed ? KC__AUTHZ_ALLOW : KC__AUTHZ_NO_OPINION, reason,
                                (kc_str){0});
}

static bool is_timeout(const kc__http_client_response *response)
{
    return response->status == 504 ||
           (!response->status && response->error && strstr(response->error, "exceeded"));
}

/* The result of one attempt. *ret_outcome is its name in metrics. */
static kc__authz_result *result_of_response(const access_review *q,
                                            const kc__http_client_response *response,
                                            const char **ret_outcome)
{
    kc_scoped(kc_error) err = {0};
    const kc__authn_review_expected expected = {q->webhook->opts.target.url, "SubjectAccessReview",
                                                "authorization.k8s.io/"};
    kc_auto(kc_view) *review = kc__authn_review_read(response, &expected, &err);
    if (review) {
        *ret_outcome = "success";
        return result_of_status(kc_value_get(kc_view_root(review), "status"));
    }
    *ret_outcome = is_timeout(response) ? "timeout" : "error";
    return kc__authz_result_new(decision_on_error(q->webhook), (kc_str){0},
                                kc_cstr(kc_error_text(&err)));
}

/* ---- calls ---- */

static void cache_access_result(const access_review *q)
{
    const kc__authz_webhook_opts *o = &q->webhook->opts;
    const bool allows = kc__authz_result_decision(q->result) == KC__AUTHZ_ALLOW;
    if (q->cacheable && kc_str_empty(kc__authz_result_error(q->result)))
        kc__authz_result_cache_put(q->webhook->cache, kc_cstr(q->spec), q->result,
                                   allows ? o->authorized_ttl : o->unauthorized_ttl);
}

static void report_failure(const access_review *q)
{
    const kc__authz_webhook *w = q->webhook;
    if (kc_str_empty(kc__authz_result_error(q->result)))
        return;
    kc_log_warn(w->shared->log, "authorization webhook failed", kc_kv("webhook", w->opts.name),
                kc_kv("err", kc__authz_result_error(q->result)));
    if (kc__authz_result_decision(q->result) == KC__AUTHZ_NO_OPINION)
        kc__authz_webhook_count_fail_open(&w->shared->metrics, w->opts.name, q->outcome);
}

static void access_attempted(const kc__http_client_response *response, int64_t took, void *user)
{
    access_review *q = user;
    kc__authz_result_unref(q->result);
    q->result = result_of_response(q, response, &q->outcome);
    kc__authz_webhook_count_attempt(&q->webhook->shared->metrics, q->webhook->opts.name, q->outcome,
                                    took);
}

static void access_done(const kc__http_client_response *response, void *user)
{
    access_review *q = user;
    (void)response;
    report_failure(q);
    cache_access_result(q);
    q->done(q->result, q->user);
    kc__authz_result_unref(q->result);
    kc__authz_webhook_unref(q->webhook);
    free(q->spec);
    free(q);
}

void kc__authz_webhook_send(kc__authz_webhook *webhook, kc_str review, bool cacheable,
                            kc__loop *loop, kc__authz_webhook_done_fn *done, void *user)
{
    kc_scoped(kc_buf) body = {0};
    access_review *q = kc_new(access_review);
    *q = (access_review){.webhook = kc__authz_webhook_ref(webhook),
                         .spec = kc_str_dup(review),
                         .cacheable = cacheable,
                         .done = done,
                         .user = user};
    kc_buf_printf(&body,
                  "{\"kind\":\"SubjectAccessReview\",\"apiVersion\":\"authorization.k8s.io/%s\","
                  "\"metadata\":{},\"spec\":%s,\"status\":{\"allowed\":false}}\n",
                  webhook->opts.version, q->spec);
    kc__http_post(&(kc__http_post_opts){.client = webhook->shared->client,
                                        .target = &webhook->opts.target,
                                        .agent = AGENT,
                                        .body = kc_buf_str(&body),
                                        .timeout = webhook->opts.timeout,
                                        .max_response = KC__AUTHZ_WEBHOOK_MAX_RESPONSE,
                                        .loop = loop,
                                        .attempted = access_attempted,
                                        .done = access_done,
                                        .user = q});
}
