/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a server with webhooks: expensive match conditions, failed webhooks, reloads while
 * requests are decided. */
#include "rbac_testing.h"

#include "apiserver/authz/authz_chain.h"
#include "kc/json.h"
#include "kc/thread.h"

#include <stdatomic.h>

/* All pairs of the user's 120 groups: too expensive for an event loop. */
#define PAIRS "request.groups.exists(g, request.groups.exists(h, g != h && g == h))"

typedef struct stage {
    scratch *files;
    kc__authn *authn;
    kc__authz_webhooks *webhooks;
    api *api;
    atomic_bool stopping;
} stage;

/* A webhook that cannot be reached, and denies then. */
static kc__authz_webhook *webhook_with(const stage *s, const char *expression)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_buf) json = {0};
    kc_buf_puts(&json, "[{\"expression\":");
    kc_json_quote(&json, kc_cstr(expression));
    kc_buf_puts(&json, "}]");
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&json), NULL, NULL);
    kc__authz_conditions *conditions =
        kc__authz_conditions_compile(kc_view_root(view), "w", &errors);
    assert_non_null(conditions);
    kc__authz_webhook *webhook = kc__authz_webhook_new(
        s->webhooks, &(kc__authz_webhook_opts){.name = "w",
                                               .target.url = "http://127.0.0.1:1/",
                                               .version = "v1",
                                               .denies_on_error = true,
                                               .conditions = conditions});
    kc__authz_conditions_unref(conditions);
    return webhook;
}

static kc__authz_chain *chain_with(const stage *s, const char *expression)
{
    kc_auto(kc__authz_webhook) *webhook = webhook_with(s, expression);
    const kc__authz_link links[] = {
        {.mode = KC__AUTHZ_WEBHOOK_MODE, .name = "w", .webhook = webhook},
        {.mode = KC__AUTHZ_ALWAYS_ALLOW, .name = "alwaysallow"}};
    return kc__authz_chain_new(links, 2);
}

static void write_users(const stage *s)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "admin,root,1,system:masters\nmany,carol,2,\"");
    for (int i = 0; i < 120; i++)
        kc_buf_printf(&text, "%sgroup-%d", i ? "," : "", i);
    kc_buf_puts(&text, "\"\n");
    scratch_write(s->files, "tokens.csv", kc_buf_cstr(&text));
}

static stage *stage_start(const char *expression)
{
    stage *s = kc_new(stage);
    s->files = scratch_new();
    write_users(s);
    kc_autofree char *path = scratch_path(s->files, "tokens.csv");
    s->authn = kc__authn_new(&(kc__authn_opts){.token_file = path}, NULL);
    s->webhooks = kc__authz_webhooks_new(&(kc__authz_webhooks_opts){0}, NULL);
    kc_auto(kc__authz_chain) *chain = chain_with(s, expression);
    s->api = api_start(&(api_opts){.server = {.authn = s->authn,
                                              .authz_chain = chain,
                                              .authz_reloads = true,
                                              .authz_webhooks = s->webhooks}});
    return s;
}

static void stage_stop(stage *s)
{
    api_stop(s->api);
    kc__authz_webhooks_free(s->webhooks);
    kc__authn_free(s->authn);
    scratch_free(s->files);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_stop)

static const reply *ask(stage *s, const char *method, const char *target, const char *sent)
{
    return SEND(s->api, method, target, .body = sent, .headers = {"Authorization: Bearer many"});
}

#define REVIEW                                                                         \
    "{'kind':'SelfSubjectAccessReview','apiVersion':'authorization.k8s.io/v1','spec':" \
    "{'resourceAttributes':{'verb':'get','resource':'pods'}}}"

static void expensive_condition_that_excludes_leaves_the_decision_to_others(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(PAIRS);
    assert_code(ask(s, "GET", "/api/v1/pods", NULL), 200);
    const reply *review =
        ask(s, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", REVIEW);
    assert_code(review, 201);
    assert_contains(review->body, "\"allowed\":true");
}

static void expensive_condition_that_matches_asks_the_webhook(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start("!" PAIRS);
    const reply *r = ask(s, "GET", "/api/v1/pods", NULL);
    assert_code(r, 500);
    assert_contains(r->body, "connection refused");
    r = ask(s, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", REVIEW);
    assert_code(r, 500); /* The review itself must be allowed, too. */
}

static void cheap_condition_needs_no_worker(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start("'group-119' in request.groups");
    assert_code(ask(s, "GET", "/api/v1/pods", NULL), 500);
    assert_code(SEND(s->api, "GET", "/api/v1/pods", .headers = {"Authorization: Bearer admin"}),
                200);
}

/* ---- reloads ---- */

static void reload_again_and_again(void *user)
{
    stage *s = user;
    for (int i = 0; !atomic_load(&s->stopping); i++) {
        kc_auto(kc__authz_chain) *chain = chain_with(s, i % 2 ? "request.user == 'nobody'" : PAIRS);
        if (kc__authz_replace(api_inside(s->api)->authz, chain, NULL) < 0)
            abort();
    }
}

static void requests_during_reloads_are_decided_by_one_chain(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start("request.user == 'nobody'");
    kc_thread *reloader = kc_thread_start("reloader", reload_again_and_again, s, NULL);
    for (int i = 0; i < 100; i++)
        assert_code(ask(s, "GET", "/api/v1/pods", NULL), 200);
    atomic_store(&s->stopping, true);
    kc_thread_join(reloader);
}

TESTS(expensive_condition_that_excludes_leaves_the_decision_to_others,
      expensive_condition_that_matches_asks_the_webhook, cheap_condition_needs_no_worker,
      requests_during_reloads_are_decided_by_one_chain)
