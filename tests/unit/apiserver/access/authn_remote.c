/* SPDX-License-Identifier: Apache-2.0 */
/* Remote authenticators: shared verifications, cached results, limits. */
#include "apiserver/access/authn_remote.h"

#include "kc/thread.h"
#include "testing.h"

#include <stdio.h>

/* An authenticator whose verifications the test ends. */
typedef struct slow {
    kc_mutex mutex; /* Guards what follows. */
    kc_cond changed;
    kc__authn_verification *verifications[2048];
    size_t n;
    int calls;
} slow;

typedef struct stage {
    slow *slow;
    kc__authn_remote *remote;
    kc__loop *loop;
    kc_mutex mutex; /* Guards what follows. */
    kc_cond changed;
    int results, found, busy;
} stage;

static void slow_verify(void *self, kc__authn_verification *verification, kc__loop *loop)
{
    slow *s = self;
    (void)loop;
    kc_locked (&s->mutex) {
        s->verifications[s->n++] = verification;
        s->calls++;
        kc_cond_broadcast(&s->changed);
    }
}

static void slow_stop(void *self)
{
    (void)self;
}

static void slow_free(void *self)
{
    slow *s = self;
    kc_cond_done(&s->changed);
    kc_mutex_done(&s->mutex);
    free(s);
}

static const kc__authn_remote_ops slow_ops = {
    .name = "slow", .verify = slow_verify, .stop = slow_stop, .free = slow_free};

static stage *stage_new(int64_t success_ttl, int64_t failure_ttl)
{
    stage *s = kc_new(stage);
    s->slow = kc_new(slow);
    kc_mutex_init(&s->slow->mutex);
    kc_cond_init(&s->slow->changed);
    kc_mutex_init(&s->mutex);
    kc_cond_init(&s->changed);
    s->remote = kc__authn_remote_new(&(kc__authn_remote_opts){.ops = &slow_ops,
                                                              .self = s->slow,
                                                              .success_ttl = success_ttl,
                                                              .failure_ttl = failure_ttl,
                                                              .clock = kc_clock_real()},
                                     NULL);
    s->loop = kc__loop_start("test", NULL, NULL);
    assert_non_null(s->remote);
    assert_non_null(s->loop);
    return s;
}

static void stage_free(stage *s)
{
    kc__loop_stop(s->loop);
    kc__authn_remote_free(s->remote);
    kc_cond_done(&s->changed);
    kc_mutex_done(&s->mutex);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

static void count_result(kc__authn_result *result, void *user)
{
    stage *s = user;
    kc_locked (&s->mutex) {
        s->results++;
        s->found += result->found > 0;
        s->busy += result->busy;
        kc_cond_broadcast(&s->changed);
    }
}

static void verify(stage *s, const char *token)
{
    kc__authn_remote_verify(s->remote, kc_cstr(token), (kc__user_audiences){0}, s->loop,
                            count_result, s);
}

static void await_results(stage *s, int n)
{
    const int64_t deadline = kc_clock_deadline(kc_clock_real(), 20 * KC_SECOND);
    kc_locked (&s->mutex)
        while (s->results < n)
            if (!kc_cond_wait_until(&s->changed, &s->mutex, kc_clock_real(), deadline))
                fail_msg("%d results of %d", s->results, n);
}

static int calls_of(stage *s)
{
    int n = 0;
    kc_locked (&s->slow->mutex)
        n = s->slow->calls;
    return n;
}

/* Ends all verifications on another thread than the loop's. */
static void end_verifications(stage *s, int found)
{
    kc__authn_verification *verifications[2048];
    size_t n = 0;
    kc_locked (&s->slow->mutex) {
        n = s->slow->n;
        memcpy(verifications, s->slow->verifications, n * sizeof(verifications[0]));
        s->slow->n = 0;
    }
    for (size_t i = 0; i < n; i++) {
        kc__authn_result *result =
            found < 0 ? kc__authn_result_error("broken") : kc__authn_result_new(found);
        kc__authn_verification_end(verifications[i], result);
    }
}

static bool is_cached(stage *s, const char *token)
{
    kc__authn_result *result =
        kc__authn_remote_cached(s->remote, kc_cstr(token), (kc__user_audiences){0});
    const bool cached = result != NULL;
    kc__authn_result_unref(result);
    return cached;
}

static void requests_with_one_token_share_a_verification(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(KC_HOUR, KC_HOUR);
    for (int i = 0; i < 50; i++)
        verify(s, "token");
    verify(s, "other");
    assert_int_equal(calls_of(s), 2);
    end_verifications(s, 1);
    await_results(s, 51);
    assert_int_equal(s->found, 51);
}

static void results_are_cached_by_outcome(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(KC_HOUR, 0);
    verify(s, "valid");
    end_verifications(s, 1);
    verify(s, "invalid");
    end_verifications(s, 0);
    verify(s, "broken");
    end_verifications(s, -1);
    await_results(s, 3);
    assert_true(is_cached(s, "valid"));
    assert_false(is_cached(s, "invalid"));
    assert_false(is_cached(s, "broken"));
    kc__authn_remote_clear_cache(s->remote);
    assert_false(is_cached(s, "valid"));
}

static void invalid_token_is_cached_and_server_error_is_not(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(KC_HOUR, KC_HOUR);
    verify(s, "invalid");
    end_verifications(s, 0);
    verify(s, "broken");
    end_verifications(s, -1);
    await_results(s, 2);
    assert_true(is_cached(s, "invalid"));
    assert_false(is_cached(s, "broken"));
}

static void audiences_are_part_of_the_cache_key(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(KC_HOUR, KC_HOUR);
    static const kc_str vault[] = {KC_STR_INIT("vault")};
    verify(s, "token");
    end_verifications(s, 1);
    await_results(s, 1);
    assert_null(
        kc__authn_remote_cached(s->remote, KC_STR("token"), (kc__user_audiences){vault, 1}));
}

static void result_of_an_old_configuration_is_not_cached(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(KC_HOUR, KC_HOUR);
    verify(s, "token");
    kc__authn_remote_clear_cache(s->remote);
    end_verifications(s, 1);
    await_results(s, 1);
    assert_false(is_cached(s, "token"));
}

static void requests_beyond_the_limit_are_refused_at_once(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(KC_HOUR, KC_HOUR);
    char token[16];
    for (int i = 0; i < KC__AUTHN_MAX_WAITING + 5; i++) {
        snprintf(token, sizeof(token), "t%d", i);
        verify(s, token);
    }
    await_results(s, 5);
    assert_int_equal(s->busy, 5);
    assert_int_equal(calls_of(s), KC__AUTHN_MAX_WAITING);
    end_verifications(s, 0);
    await_results(s, KC__AUTHN_MAX_WAITING + 5);
    verify(s, "later");
    end_verifications(s, 1);
    await_results(s, KC__AUTHN_MAX_WAITING + 6);
    assert_int_equal(s->found, 1);
}

static void cached_results_are_bounded(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(KC_HOUR, KC_HOUR);
    char token[16];
    for (int i = 0; i < KC__AUTHN_MAX_CACHED_RESULTS + 100; i++) {
        snprintf(token, sizeof(token), "t%d", i);
        verify(s, token);
        end_verifications(s, 1);
    }
    await_results(s, KC__AUTHN_MAX_CACHED_RESULTS + 100);
    assert_false(is_cached(s, "t0"));
    assert_true(is_cached(s, token));
}

static void result_is_not_used_after_its_expiry(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(KC_HOUR, KC_HOUR);
    verify(s, "token");
    kc__authn_result *result = kc__authn_result_new(1);
    result->valid_until = kc_clock_wall(kc_clock_real()) - KC_SECOND;
    kc__authn_verification_end(s->slow->verifications[--s->slow->n], result);
    await_results(s, 1);
    assert_false(is_cached(s, "token"));
}

TESTS(requests_with_one_token_share_a_verification, results_are_cached_by_outcome,
      invalid_token_is_cached_and_server_error_is_not, audiences_are_part_of_the_cache_key,
      result_of_an_old_configuration_is_not_cached, requests_beyond_the_limit_are_refused_at_once,
      cached_results_are_bounded, result_is_not_used_after_its_expiry)
