/* SPDX-License-Identifier: Apache-2.0 */
/* The chain of authorizers: order, reloads, errors of several webhooks, metrics. */
#include "apiserver/authz/authz_chain.h"
#include "apiserver/authz/request_state.h"
#include "kc/json.h"
#include "testing.h"

static const kc__user alice = {.name = KC_STR_INIT("alice")};
static const kc__authz_attributes get_metrics = {
    .user = &alice, .verb = KC_STR_INIT("get"), .path = KC_STR_INIT("/metrics")};

typedef struct stage {
    kc_metrics *metrics;
    kc__authz_webhooks *webhooks;
    kc__authz *authz;
} stage;

static kc__authz_chain *chain_of(const kc__authz_mode *modes, size_t n)
{
    kc__authz_modes list = {.n = n};
    for (size_t i = 0; i < n; i++)
        list.items[i] = modes[i];
    return kc__authz_chain_of_modes(&list, NULL);
}

static stage *stage_with(kc__authz_chain *chain)
{
    stage *s = kc_new(stage);
    kc_scoped(kc_error) err = {0};
    s->metrics = kc_metrics_new();
    s->webhooks = kc__authz_webhooks_new(&(kc__authz_webhooks_opts){.metrics = s->metrics}, &err);
    s->authz = kc__authz_new(
        &(kc__authz_opts){.chain = chain, .reloads = true, .metrics = s->metrics}, &err);
    if (!s->webhooks || !s->authz)
        fail_msg("%s", kc_error_text(&err));
    kc__authz_chain_unref(chain);
    return s;
}

static void stage_free(stage *s)
{
    kc__authz_free(s->authz);
    kc__authz_webhooks_free(s->webhooks);
    kc_metrics_free(s->metrics);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

/* A webhook that is called for requests for which the expression is true. */
static kc__authz_webhook *webhook_of(const stage *s, const char *name, const char *expression,
                                     bool denies)
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
        s->webhooks, &(kc__authz_webhook_opts){.name = name,
                                               .target.url = "http://127.0.0.1:1",
                                               .version = "v1",
                                               .denies_on_error = denies,
                                               .conditions = conditions});
    kc__authz_conditions_unref(conditions);
    return webhook;
}

static void replace_with(stage *s, const kc__authz_link *links, size_t n)
{
    kc_auto(kc__authz_chain) *chain = kc__authz_chain_new(links, n);
    kc_scoped(kc_error) err = {0};
    if (kc__authz_replace(s->authz, chain, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
}

static kc__authz_decision decide(stage *s, kc_buf *errors)
{
    kc_scoped(kc__authz_request_state) request = {0};
    const kc__authz_decision decision = kc__authz_authorize(s->authz, &request, &get_metrics, NULL);
    if (errors)
        kc__authz_request_state_write_errors(&request, errors);
    return decision;
}

static void assert_metric(const stage *s, const char *line)
{
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(s->metrics, &text);
    assert_contains(kc_buf_cstr(&text), line);
}

static void replaced_chain_decides_the_next_request(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_with(chain_of((kc__authz_mode[]){KC__AUTHZ_ALWAYS_DENY}, 1));
    const kc__authz_link links[] = {{KC__AUTHZ_ALWAYS_DENY, "alwaysdeny", NULL, NULL, NULL},
                                    {KC__AUTHZ_ALWAYS_ALLOW, "alwaysallow", NULL, NULL, NULL}};
    assert_int_equal(decide(s, NULL), KC__AUTHZ_NO_OPINION);
    assert_false(kc__authz_has_mode(s->authz, KC__AUTHZ_ALWAYS_ALLOW));
    replace_with(s, links, 2);
    assert_int_equal(decide(s, NULL), KC__AUTHZ_ALLOW);
    assert_true(kc__authz_has_mode(s->authz, KC__AUTHZ_ALWAYS_ALLOW));
    assert_metric(s, "apiserver_authorization_decisions_total{type=\"AlwaysAllow\",name="
                     "\"alwaysallow\",decision=\"allowed\"} 1\n");
}

static void chain_with_an_authorizer_that_was_not_enabled_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_with(chain_of((kc__authz_mode[]){KC__AUTHZ_ALWAYS_DENY}, 1));
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__authz_chain) *chain = chain_of((kc__authz_mode[]){KC__AUTHZ_RBAC}, 1);
    assert_true(kc__authz_replace(s->authz, chain, &err) < 0);
    assert_error(&err, KC_INVALID,
                 "authorizer type RBAC is not allowed if it was not enabled at initial server "
                 "startup");
}

static void excluded_webhook_has_no_opinion(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_with(chain_of((kc__authz_mode[]){KC__AUTHZ_ALWAYS_DENY}, 1));
    kc_auto(kc__authz_webhook) *webhook = webhook_of(s, "w", "request.user == 'bob'", true);
    const kc__authz_link links[] = {{KC__AUTHZ_WEBHOOK_MODE, "w", webhook, NULL, NULL},
                                    {KC__AUTHZ_ALWAYS_ALLOW, "alwaysallow", NULL, NULL, NULL}};
    replace_with(s, links, 2);
    assert_int_equal(decide(s, NULL), KC__AUTHZ_ALLOW);
    assert_metric(s, "apiserver_authorization_match_condition_exclusions_total{type=\"Webhook\","
                     "name=\"w\"} 1\n");
    assert_metric(s, "apiserver_authorization_match_condition_evaluation_seconds_count{type="
                     "\"Webhook\",name=\"w\"} 1\n");
}

#define FAILING "request.resourceAttributes.name == 'a'"

static void failing_condition_denies_or_has_no_opinion(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_with(chain_of((kc__authz_mode[]){KC__AUTHZ_ALWAYS_DENY}, 1));
    kc_auto(kc__authz_webhook) *open = webhook_of(s, "open", FAILING, false);
    kc_auto(kc__authz_webhook) *again = webhook_of(s, "again", FAILING, false);
    kc_auto(kc__authz_webhook) *other = webhook_of(s, "other", FAILING " || false", false);
    kc_auto(kc__authz_webhook) *closed = webhook_of(s, "closed", FAILING, true);
    const char *message = "cel evaluation error: expression '" FAILING
                          "' resulted in error: no such key: resourceAttributes";
    kc_scoped(kc_buf) errors = {0};
    const kc__authz_link links[] = {{KC__AUTHZ_WEBHOOK_MODE, "open", open, NULL, NULL},
                                    {KC__AUTHZ_WEBHOOK_MODE, "again", again, NULL, NULL},
                                    {KC__AUTHZ_WEBHOOK_MODE, "other", other, NULL, NULL},
                                    {KC__AUTHZ_WEBHOOK_MODE, "closed", closed, NULL, NULL}};
    replace_with(s, links, 2);
    assert_int_equal(decide(s, &errors), KC__AUTHZ_NO_OPINION);
    assert_string_equal(kc_buf_cstr(&errors), message); /* Equal errors count once. */
    replace_with(s, links, 3);
    kc_buf_clear(&errors);
    assert_int_equal(decide(s, &errors), KC__AUTHZ_NO_OPINION);
    kc_autofree char *both = kc_asprintf("[%s, cel evaluation error: expression '" FAILING
                                         " || false' resulted in error: no such key: "
                                         "resourceAttributes]",
                                         message);
    assert_string_equal(kc_buf_cstr(&errors), both);
    replace_with(s, links, 4);
    kc_buf_clear(&errors);
    assert_int_equal(decide(s, &errors), KC__AUTHZ_DENY);
    assert_string_equal(kc_buf_cstr(&errors), message); /* Of the one that decides. */
    assert_metric(s, "apiserver_authorization_decisions_total{type=\"Webhook\",name=\"closed\","
                     "decision=\"denied\"} 1\n");
    assert_metric(s, "apiserver_authorization_match_condition_evaluation_errors_total{type="
                     "\"Webhook\",name=\"open\"} 3\n");
}

static void matching_webhook_is_called_and_conditions_are_evaluated_once(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_with(chain_of((kc__authz_mode[]){KC__AUTHZ_ALWAYS_DENY}, 1));
    kc_auto(kc__authz_webhook) *webhook = webhook_of(s, "w", "request.user == 'alice'", true);
    const kc__authz_link links[] = {{KC__AUTHZ_WEBHOOK_MODE, "w", webhook, NULL, NULL}};
    kc_scoped(kc__authz_request_state) request = {0};
    replace_with(s, links, 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kc__authz_authorize(s->authz, &request, &get_metrics, NULL),
                         KC__AUTHZ_PENDING);
        assert_false(request.needs_worker);
        assert_int_equal(request.pending_review, 1);
    }
    assert_metric(s, "apiserver_authorization_match_condition_evaluation_seconds_count{type="
                     "\"Webhook\",name=\"w\"} 1\n");
    /* A reload while the review is in flight: the state has a reference to the webhook. */
    const kc__authz_link none[] = {{KC__AUTHZ_ALWAYS_DENY, "alwaysdeny", NULL, NULL, NULL}};
    replace_with(s, none, 1);
    assert_int_equal(kc__authz_authorize(s->authz, &request, &get_metrics, NULL),
                     KC__AUTHZ_NO_OPINION);
}

TESTS(replaced_chain_decides_the_next_request,
      chain_with_an_authorizer_that_was_not_enabled_is_refused, excluded_webhook_has_no_opinion,
      failing_condition_denies_or_has_no_opinion,
      matching_webhook_is_called_and_conditions_are_evaluated_once)
