/* SPDX-License-Identifier: Apache-2.0 */
/* login_limits.c: tries per account and per source. */
#include "testing.h"

#include "apiserver/people/login_limits.h"

#include <stdio.h>

static int spend_all(kc__people_limits *limits, kc_str account, kc_str address)
{
    int n = 0, seconds = 0;
    while (n < 1000 && kc__people_limits_take(limits, account, address, &seconds))
        n++;
    assert_true(seconds > 0);
    return n;
}

static void account_has_ten_tries_and_gets_one_more_after_the_refill(void **state)
{
    (void)state;
    int seconds = 0;
    kc_clock *clock = kc_clock_virtual_new(0);
    kc__people_limits *limits = kc__people_limits_new(clock);
    assert_int_equal(spend_all(limits, KC_STR("ann"), (kc_str){0}), KC__PEOPLE_ACCOUNT_TRIES);
    assert_false(kc__people_limits_take(limits, KC_STR("ann"), (kc_str){0}, &seconds));
    assert_int_equal(seconds, KC__PEOPLE_ACCOUNT_REFILL / KC_SECOND);
    kc_clock_advance(clock, KC__PEOPLE_ACCOUNT_REFILL);
    assert_int_equal(spend_all(limits, KC_STR("ann"), (kc_str){0}), 1);
    kc__people_limits_free(limits);
    kc_clock_free(clock);
}

static void successful_try_is_given_back(void **state)
{
    (void)state;
    int seconds = 0;
    kc_clock *clock = kc_clock_virtual_new(0);
    kc__people_limits *limits = kc__people_limits_new(clock);
    for (int i = 0; i < 100; i++) {
        assert_true(kc__people_limits_take(limits, KC_STR("ann"), KC_STR("10.0.0.1"), &seconds));
        kc__people_limits_return(limits, KC_STR("ann"), KC_STR("10.0.0.1"));
    }
    kc__people_limits_free(limits);
    kc_clock_free(clock);
}

static void source_is_limited_over_all_accounts_and_ipv6_by_network(void **state)
{
    (void)state;
    int seconds = 0, n = 0;
    kc_clock *clock = kc_clock_virtual_new(0);
    kc__people_limits *limits = kc__people_limits_new(clock);
    for (char name[16] = ""; n < 1000; n++) {
        snprintf(name, sizeof(name), "user-%d", n);
        if (!kc__people_limits_take(limits, kc_cstr(name), KC_STR("2001:db8::1"), &seconds))
            break;
    }
    assert_int_equal(n, KC__PEOPLE_SOURCE_TRIES);
    assert_false(
        kc__people_limits_take(limits, KC_STR("other"), KC_STR("2001:db8::ffff:2"), &seconds));
    assert_true(
        kc__people_limits_take(limits, KC_STR("other"), KC_STR("2001:db8:0:1::1"), &seconds));
    kc__people_limits_free(limits);
    kc_clock_free(clock);
}

TESTS(account_has_ten_tries_and_gets_one_more_after_the_refill, successful_try_is_given_back,
      source_is_limited_over_all_accounts_and_ipv6_by_network)
