/* SPDX-License-Identifier: Apache-2.0 */
/* Authenticators that take their time: shared questions, kept answers, limits. */
#include "apiserver/access/authn_remote.h"

#include "kc/thread.h"
#include "testing.h"

#include <stdio.h>

/* An authenticator that answers when the test says so. */
typedef struct slow {
    kc_mutex mutex; /* Guards what follows. */
    kc_cond changed;
    kc__authn_flight *flights[2048];
    size_t n;
    int asked;
} slow;

typedef struct stage {
    slow *slow;
    kc__authn_remote *remote;
    kc__loop *loop;
    kc_mutex mutex; /* Guards what follows. */
    kc_cond changed;
    int answers, found, busy;
} stage;

static void slow_ask(void *self, kc__authn_flight *flight, kc__loop *loop)
{
    slow *s = self;
    (void)loop;
    kc_locked (&s->mutex) {
        s->flights[s->n++] = flight;
        s->asked++;
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
    .name = "slow", .ask = slow_ask, .stop = slow_stop, .free = slow_free};

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

static void count_answer(kc__authn_answer *answer, void *user)
{
    stage *s = user;
    kc_locked (&s->mutex) {
        s->answers++;
        s->found += answer->found > 0;
        s->busy += answer->busy;
        kc_cond_broadcast(&s->changed);
    }
}

static void ask(stage *s, const char *token)
{
    kc__authn_remote_ask(s->remote, kc_cstr(token), (kc__user_audiences){0}, s->loop, count_answer,
                         s);
}

static void await_answers(stage *s, int n)
{
    const int64_t deadline = kc_clock_deadline(kc_clock_real(), 20 * KC_SECOND);
    kc_locked (&s->mutex)
        while (s->answers < n)
            if (!kc_cond_wait_until(&s->changed, &s->mutex, kc_clock_real(), deadline))
                fail_msg("%d answers of %d", s->answers, n);
}

static int asked(stage *s)
{
    int n = 0;
    kc_locked (&s->slow->mutex)
        n = s->slow->asked;
    return n;
}

/* Ends all flights on another thread than the loop's. */
static void end_flights(stage *s, int found)
{
    kc__authn_flight *flights[2048];
    size_t n = 0;
    kc_locked (&s->slow->mutex) {
        n = s->slow->n;
        memcpy(flights, s->slow->flights, n * sizeof(flights[0]));
        s->slow->n = 0;
    }
    for (size_t i = 0; i < n; i++) {
        kc__authn_answer *answer =
            found < 0 ? kc__authn_answer_error("broken") : kc__authn_answer_new(found);
        kc__authn_flight_end(flights[i], answer);
    }
}

static bool is_known(stage *s, const char *token)
{
    kc__authn_answer *answer =
        kc__authn_remote_known(s->remote, kc_cstr(token), (kc__user_audiences){0});
    const bool known = answer != NULL;
    kc__authn_answer_unref(answer);
    return known;
}

static void requests_with_one_token_share_a_question(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(KC_HOUR, KC_HOUR);
    for (int i = 0; i < 50; i++)
        ask(s, "token");
    ask(s, "other");
    assert_int_equal(asked(s), 2);
    end_flights(s, 1);
    await_answers(s, 51);
    assert_int_equal(s->found, 51);
}

static void answers_are_kept_by_result(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(KC_HOUR, 0);
    ask(s, "valid");
    end_flights(s, 1);
    ask(s, "invalid");
    end_flights(s, 0);
    ask(s, "broken");
    end_flights(s, -1);
    await_answers(s, 3);
    assert_true(is_known(s, "valid"));
    assert_false(is_known(s, "invalid"));
    assert_false(is_known(s, "broken"));
    kc__authn_remote_forget(s->remote);
    assert_false(is_known(s, "valid"));
}

static void failures_of_the_token_are_kept_and_those_of_the_server_are_not(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(KC_HOUR, KC_HOUR);
    ask(s, "invalid");
    end_flights(s, 0);
    ask(s, "broken");
    end_flights(s, -1);
    await_answers(s, 2);
    assert_true(is_known(s, "invalid"));
    assert_false(is_known(s, "broken"));
}

static void audiences_are_part_of_the_question(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(KC_HOUR, KC_HOUR);
    static const kc_str vault[] = {KC_STR_INIT("vault")};
    ask(s, "token");
    end_flights(s, 1);
    await_answers(s, 1);
    assert_null(kc__authn_remote_known(s->remote, KC_STR("token"), (kc__user_audiences){vault, 1}));
}

static void answer_of_an_old_configuration_is_not_kept(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(KC_HOUR, KC_HOUR);
    ask(s, "token");
    kc__authn_remote_forget(s->remote);
    end_flights(s, 1);
    await_answers(s, 1);
    assert_false(is_known(s, "token"));
}

static void requests_beyond_the_limit_are_refused_at_once(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(KC_HOUR, KC_HOUR);
    char token[16];
    for (int i = 0; i < KC__AUTHN_MAX_WAITING + 5; i++) {
        snprintf(token, sizeof(token), "t%d", i);
        ask(s, token);
    }
    await_answers(s, 5);
    assert_int_equal(s->busy, 5);
    assert_int_equal(asked(s), KC__AUTHN_MAX_WAITING);
    end_flights(s, 0);
    await_answers(s, KC__AUTHN_MAX_WAITING + 5);
    ask(s, "later");
    end_flights(s, 1);
    await_answers(s, KC__AUTHN_MAX_WAITING + 6);
    assert_int_equal(s->found, 1);
}

static void kept_answers_are_bounded(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(KC_HOUR, KC_HOUR);
    char token[16];
    for (int i = 0; i < KC__AUTHN_MAX_ANSWERS + 100; i++) {
        snprintf(token, sizeof(token), "t%d", i);
        ask(s, token);
        end_flights(s, 1);
    }
    await_answers(s, KC__AUTHN_MAX_ANSWERS + 100);
    assert_false(is_known(s, "t0"));
    assert_true(is_known(s, token));
}

static void answer_is_not_used_beyond_its_own_time(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(KC_HOUR, KC_HOUR);
    ask(s, "token");
    kc__authn_answer *answer = kc__authn_answer_new(1);
    answer->valid_until = kc_clock_wall(kc_clock_real()) - KC_SECOND;
    kc__authn_flight_end(s->slow->flights[--s->slow->n], answer);
    await_answers(s, 1);
    assert_false(is_known(s, "token"));
}

TESTS(requests_with_one_token_share_a_question, answers_are_kept_by_result,
      failures_of_the_token_are_kept_and_those_of_the_server_are_not,
      audiences_are_part_of_the_question, answer_of_an_old_configuration_is_not_kept,
      requests_beyond_the_limit_are_refused_at_once, kept_answers_are_bounded,
      answer_is_not_used_beyond_its_own_time)
