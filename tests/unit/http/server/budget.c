/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets of buffered requests: the charged user, refusals, releases. */
#include "testing.h"

#include "http/server/budget.h"

#define MB ((size_t)1 << 20)

static void assert_metric(kc_metrics *metrics, const char *line)
{
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(metrics, &text);
    if (!strstr(kc_buf_cstr(&text), line))
        fail_msg("no %s in %s", line, kc_buf_cstr(&text));
}

static void unauthenticated_requests_beyond_their_budget_are_refused(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc__http_budget *budget =
        kc__http_budget_new(&(kc__http_budget_opts){.unauthenticated = 4 * MB}, metrics);
    kc__http_charge a = {0}, b = {0};
    assert_true(kc__http_charge_set(budget, &a, 3 * MB));
    assert_false(kc__http_charge_set(budget, &b, 2 * MB));
    assert_int_equal(b.bytes, 0);
    assert_metric(metrics, "http_server_request_bytes{budget=\"unauthenticated\"} 3.145728e+06\n");
    assert_metric(metrics, "http_server_budget_refused_total{budget=\"unauthenticated\"} 1\n");
    assert_true(kc__http_charge_set(budget, &a, MB));
    assert_true(kc__http_charge_set(budget, &b, 2 * MB));
    kc__http_charge_end(budget, &a);
    kc__http_charge_end(budget, &b);
    assert_metric(metrics, "http_server_request_bytes{budget=\"unauthenticated\"} 0\n");
    kc__http_budget_free(budget);
}

static void authenticated_request_moves_to_the_share_of_its_user(void **state)
{
    (void)state;
    kc__http_budget *budget = kc__http_budget_new(
        &(kc__http_budget_opts){.unauthenticated = MB, .in_flight = 8 * MB, .per_user = 4 * MB},
        NULL);
    kc__http_charge a = {0}, b = {0};
    assert_true(kc__http_charge_set(budget, &a, MB));
    assert_false(kc__http_charge_set(budget, &b, MB));
    assert_true(kc__http_charge_to_user(budget, &a, KC_STR("alice")));
    assert_true(kc__http_charge_set(budget, &b, MB));
    assert_true(kc__http_charge_set(budget, &a, 4 * MB));
    assert_false(kc__http_charge_set(budget, &a, 4 * MB + 1));
    assert_int_equal(a.bytes, 4 * MB);
    kc__http_charge_end(budget, &a);
    kc__http_charge_end(budget, &b);
    kc__http_budget_free(budget);
}

static void one_user_cannot_take_the_whole_budget(void **state)
{
    (void)state;
    kc__http_budget *budget =
        kc__http_budget_new(&(kc__http_budget_opts){.in_flight = 8 * MB}, NULL);
    kc__http_charge alice[2] = {0}, bob = {0}, carol = {0};
    assert_true(kc__http_charge_to_user(budget, &alice[0], KC_STR("alice")));
    assert_true(kc__http_charge_to_user(budget, &alice[1], KC_STR("alice")));
    assert_true(kc__http_charge_set(budget, &alice[0], 2 * MB));
    assert_false(kc__http_charge_set(budget, &alice[1], 1));
    assert_true(kc__http_charge_to_user(budget, &bob, KC_STR("bob")));
    assert_true(kc__http_charge_set(budget, &bob, 2 * MB));
    kc__http_charge_end(budget, &alice[0]);
    assert_true(kc__http_charge_set(budget, &alice[1], 2 * MB));
    assert_true(kc__http_charge_to_user(budget, &carol, KC_STR("")));
    assert_false(kc__http_charge_set(budget, &carol, 4 * MB + 1));
    assert_true(kc__http_charge_set(budget, &carol, 4 * MB));
    kc__http_charge_end(budget, &alice[1]);
    kc__http_charge_end(budget, &bob);
    kc__http_charge_end(budget, &carol);
    kc__http_budget_free(budget);
}

static void request_that_does_not_fit_its_share_holds_nothing(void **state)
{
    (void)state;
    kc__http_budget *budget = kc__http_budget_new(
        &(kc__http_budget_opts){.unauthenticated = 2 * MB, .in_flight = MB, .per_user = MB}, NULL);
    kc__http_charge a = {0}, b = {0};
    assert_true(kc__http_charge_set(budget, &a, 2 * MB));
    assert_false(kc__http_charge_to_user(budget, &a, KC_STR("alice")));
    assert_int_equal(a.bytes, 0);
    assert_true(kc__http_charge_set(budget, &b, 2 * MB));
    kc__http_charge_end(budget, &a);
    kc__http_charge_end(budget, &a);
    kc__http_charge_end(budget, &b);
    kc__http_budget_free(budget);
}

static void null_budget_allows_everything(void **state)
{
    (void)state;
    kc__http_charge a = {0};
    assert_true(kc__http_charge_set(NULL, &a, SIZE_MAX));
    assert_true(kc__http_charge_to_user(NULL, &a, KC_STR("alice")));
    kc__http_charge_end(NULL, &a);
}

TESTS(unauthenticated_requests_beyond_their_budget_are_refused,
      authenticated_request_moves_to_the_share_of_its_user, one_user_cannot_take_the_whole_budget,
      request_that_does_not_fit_its_share_holds_nothing, null_budget_allows_everything)
