/* SPDX-License-Identifier: Apache-2.0 */
/* Leader election, in simulated time, with the real server. */
#include "testing.h"

#include "kc/election.h"
#include "kc/embedded_server.h"
#include "kc/kinds.h"
#include "kc/sim.h"
#include "runtime/manager/lease_record.h"

typedef struct candidate {
    kc_election *election;
    kc_cancel *stop;
    kc_thread *thread;
    const kc_clock *clock;
    int64_t led_at, lost_at; /* Virtual time; 0: not. */
    int led, lost, result;
    char leader[64];
} candidate;

typedef struct fixture {
    kc_sim *sim;
    kc_embedded_server *server;
    kc_client *client;
    kc_rand rand;
} fixture;

static void fixture_open(fixture *t, uint64_t seed)
{
    kc_scoped(kc_error) err = {0};
    t->sim = kc_sim_new(seed, INT64_C(1767323045) * KC_SECOND);
    kc_sim_enter(t->sim);
    t->rand = kc_sim_rand(t->sim);
    t->server = kc_embedded_server_start(
        &(kc_embedded_server_opts){.clock = kc_sim_clock(t->sim), .rand = &t->rand}, &err);
    t->client = t->server ? kc_embedded_server_client(t->server, &err) : NULL;
    if (!t->client)
        fail_msg("%s", kc_error_text(&err));
}

static void fixture_close(fixture *t)
{
    kc_client_unref(t->client);
    kc_embedded_server_stop(t->server);
    kc_sim_leave(t->sim);
    kc_sim_free(t->sim);
}

static void on_led(void *user)
{
    candidate *c = user;
    c->led++;
    c->led_at = kc_clock_now(c->clock);
}

static void on_lost(void *user)
{
    candidate *c = user;
    c->lost++;
    c->lost_at = kc_clock_now(c->clock);
}

static void on_leader(kc_str identity, void *user)
{
    candidate *c = user;
    memcpy(c->leader, identity.p, identity.n);
    c->leader[identity.n] = 0;
}

static void candidate_run(void *user)
{
    candidate *c = user;
    c->result = kc_election_run(c->election, c->stop, NULL);
}

static void start_candidate(fixture *t, candidate *c, const char *identity, bool release)
{
    *c = (candidate){.stop = kc_cancel_new(NULL), .clock = kc_sim_clock(t->sim)};
    c->election = kc_election_new(&(kc_election_opts){.client = t->client,
                                                      .name = "robots",
                                                      .identity = identity,
                                                      .release = release,
                                                      .led = on_led,
                                                      .lost = on_lost,
                                                      .leader = on_leader,
                                                      .user = c,
                                                      .rand = &t->rand},
                                  NULL);
    assert_non_null(c->election);
    c->thread = kc_thread_start(identity, candidate_run, c, NULL);
}

static void stop_candidate(candidate *c)
{
    kc_cancel_fire(c->stop);
    kc_thread_join(c->thread);
    kc_election_free(c->election);
    kc_cancel_unref(c->stop);
}

static kc__lease_record record(fixture *t)
{
    kc_auto(kc_object) *lease =
        kc_client_get(t->client, &kc_kind_lease, KC_KEY("default", "robots"), NULL, NULL);
    assert_non_null(lease);
    return kc__lease_record_of(lease);
}

static void first_candidate_leads_and_renews(void **state)
{
    (void)state;
    fixture t;
    candidate a;
    fixture_open(&t, 1);
    start_candidate(&t, &a, "a", false);
    kc_sim_run_for(t.sim, KC_SECOND);
    assert_int_equal(a.led, 1);
    assert_true(kc_election_is_leader(a.election));
    kc_scoped(kc__lease_record) first = record(&t);
    assert_string_equal(first.holder, "a");
    assert_int_equal(first.seconds, 15);
    assert_int_equal(first.transitions, 0);
    kc_sim_run_for(t.sim, KC_MINUTE);
    kc_scoped(kc__lease_record) later = record(&t);
    assert_true(later.renewed >= first.renewed + 58 * KC_SECOND);
    assert_int_equal(later.acquired, first.acquired);
    assert_int_equal(a.lost, 0);
    stop_candidate(&a);
    assert_int_equal(a.result, 0);
    assert_int_equal(a.lost, 1);
    fixture_close(&t);
}

static void one_of_three_candidates_leads(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        fixture t;
        candidate c[3];
        fixture_open(&t, seed);
        start_candidate(&t, &c[0], "a", false);
        start_candidate(&t, &c[1], "b", false);
        start_candidate(&t, &c[2], "c", false);
        kc_sim_run_for(t.sim, 2 * KC_MINUTE);
        assert_int_equal(c[0].led + c[1].led + c[2].led, 1);
        assert_string_equal(c[0].leader, c[1].leader);
        for (int i = 0; i < 3; i++)
            stop_candidate(&c[i]);
        fixture_close(&t);
    }
}

/* A candidate observes a renewal up to 2.2 times two seconds late, and counts the duration from
 * then. */
static void expired_lease_is_taken_by_another_candidate(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS_OF(20); seed++) {
        fixture t;
        candidate a, b;
        fixture_open(&t, seed);
        start_candidate(&t, &a, "a", false);
        kc_sim_run_for(t.sim, 5 * KC_SECOND);
        start_candidate(&t, &b, "b", false);
        kc_sim_run_for(t.sim, 5 * KC_SECOND + (int64_t)seed * 100 * KC_MILLISECOND);
        stop_candidate(&a);
        kc_scoped(kc__lease_record) before = record(&t);
        kc_sim_run_for(t.sim, 30 * KC_SECOND);
        assert_int_equal(b.led, 1);
        kc_scoped(kc__lease_record) now = record(&t);
        assert_true(now.acquired >= before.renewed + 15 * KC_SECOND);
        assert_true(now.acquired <= before.renewed + 15 * KC_SECOND + 4500 * KC_MILLISECOND);
        assert_int_equal(now.transitions, 1);
        assert_int_equal(kc_election_term(b.election), 1);
        stop_candidate(&b);
        fixture_close(&t);
    }
}

static void released_lease_is_taken_early(void **state)
{
    (void)state;
    fixture t;
    candidate a, b;
    fixture_open(&t, 4);
    start_candidate(&t, &a, "a", true);
    kc_sim_run_for(t.sim, 5 * KC_SECOND);
    start_candidate(&t, &b, "b", true);
    kc_sim_run_for(t.sim, 5 * KC_SECOND);
    stop_candidate(&a);
    int64_t left = kc_clock_now(kc_sim_clock(t.sim));
    kc_sim_run_for(t.sim, 6 * KC_SECOND);
    assert_int_equal(b.led, 1);
    assert_true(b.led_at <= left + 5 * KC_SECOND);
    stop_candidate(&b);
    kc_scoped(kc__lease_record) now = record(&t);
    assert_string_equal(now.holder, "");
    assert_int_equal(now.seconds, 1);
    fixture_close(&t);
}

static void wall_clock_of_the_holder_is_ignored(void **state)
{
    (void)state;
    fixture t;
    candidate b;
    fixture_open(&t, 5);
    /* The holder's clock is a year behind. */
    kc_auto(kc_object) *lease = object_of(
        "{'apiVersion':'coordination.k8s.io/v1','kind':'Lease','metadata':{'name':'robots',"
        "'namespace':'default'},'spec':{'holderIdentity':'old','leaseDurationSeconds':15,"
        "'acquireTime':'2025-01-01T00:00:00.000000Z','renewTime':'2025-01-01T00:00:00.000000Z'}}");
    kc_auto(kc_object) *made = kc_client_create(t.client, lease, NULL, NULL);
    assert_non_null(made);
    start_candidate(&t, &b, "b", false);
    kc_sim_run_for(t.sim, 14 * KC_SECOND);
    assert_int_equal(b.led, 0);
    assert_string_equal(b.leader, "old");
    kc_sim_run_for(t.sim, 10 * KC_SECOND);
    assert_int_equal(b.led, 1);
    stop_candidate(&b);
    fixture_close(&t);
}

static void steal(fixture *t)
{
    kc_auto(kc_object) *stolen =
        kc_client_patch(t->client, &kc_kind_lease, KC_KEY("default", "robots"), KC_PATCH_MERGE,
                        KC_STR("{\"spec\":{\"holderIdentity\":\"thief\"}}"), NULL, NULL);
    assert_non_null(stolen);
}

static void stolen_lease_ends_leadership(void **state)
{
    (void)state;
    fixture t;
    candidate a;
    int64_t until;
    fixture_open(&t, 6);
    start_candidate(&t, &a, "a", false);
    kc_sim_run_for(t.sim, 5 * KC_SECOND);
    kc_fence *fence = kc_election_fence(a.election);
    assert_int_equal(fence->check(fence, &until, NULL), 0);
    int64_t stolen = kc_clock_now(kc_sim_clock(t.sim));
    steal(&t);
    kc_sim_run_for(t.sim, 14 * KC_SECOND);
    assert_int_equal(a.lost, 1);
    assert_true(a.lost_at <= stolen + 13 * KC_SECOND);
    assert_true(fence->check(fence, &until, NULL) < 0);
    kc_thread_join(a.thread);
    a.thread = NULL;
    assert_true(a.result < 0);
    stop_candidate(&a);
    fixture_close(&t);
}

static void fence_closes_before_the_lease_expires(void **state)
{
    (void)state;
    fixture t;
    candidate a;
    int64_t until = 0;
    fixture_open(&t, 7);
    start_candidate(&t, &a, "a", false);
    kc_sim_run_for(t.sim, 5 * KC_SECOND);
    kc_fence *fence = kc_election_fence(a.election);
    assert_int_equal(fence->check(fence, &until, NULL), 0);
    int64_t now = kc_clock_now(kc_sim_clock(t.sim));
    assert_true(until > now && until <= now + 10 * KC_SECOND);
    stop_candidate(&a);
    fixture_close(&t);
}

static void invalid_timings_are_refused(void **state)
{
    (void)state;
    fixture t;
    fixture_open(&t, 8);
    kc_scoped(kc_error) err = {0};
    kc_election_opts opts = {
        .client = t.client, .name = "x", .duration = 10 * KC_SECOND, .renew = 10 * KC_SECOND};
    assert_null(kc_election_new(&opts, &err));
    assert_error(&err, KC_BAD_REQUEST, "longer than its renew deadline");
    kc_error_done(&err);
    opts = (kc_election_opts){.client = t.client, .name = "x", .renew = 2400 * KC_MILLISECOND};
    assert_null(kc_election_new(&opts, &err));
    assert_error(&err, KC_BAD_REQUEST, "1.2 times");
    fixture_close(&t);
}

TESTS(first_candidate_leads_and_renews, one_of_three_candidates_leads,
      expired_lease_is_taken_by_another_candidate, released_lease_is_taken_early,
      wall_clock_of_the_holder_is_ignored, stolen_lease_ends_leadership,
      fence_closes_before_the_lease_expires, invalid_timings_are_refused)
