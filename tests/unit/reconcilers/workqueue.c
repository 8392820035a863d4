/* SPDX-License-Identifier: Apache-2.0 */
/* The controller made by hand: what it says of pods, and when. */
#include "reconciler_testing.h"

#include "kc/kinds.h"

#define SYNC(name) "Sync/Add/Update for Pod " name
#define GONE(name) "Pod default/" name " does not exist anymore"
#define FAILED     "Error syncing pod default/bad: it is labelled so"
#define DROPPED    "Dropping pod \\\"default/bad\\\" out of the queue: it is labelled so"
#define STOPPED    "Stopping Pod controller"

/* ---- what it has said ---- */

typedef struct line {
    char *text;
    int64_t at;
} line;

/* One test at a time has a log. */
typedef struct heard {
    kc_mutex mutex; /* Guards lines. Taken last. */
    KC_VEC(line) lines;
    const kc_clock *clock; /* Of the environment, once there is one. */
    kc_log *log;
} heard;

static void keep_line(kc_str text, void *user)
{
    heard *h = user;
    kc_locked (&h->mutex)
        kc_vec_push(&h->lines, ((line){kc_str_dup(text), h->clock ? kc_clock_now(h->clock) : 0}));
}

static heard *heard_new(void)
{
    heard *h = kc_new(heard);
    kc_mutex_init(&h->mutex);
    h->log = kc_log_new(&(kc_log_opts){.format = KC_LOG_JSON, .write = keep_line, .user = h});
    return h;
}

static void heard_clear(heard *h)
{
    kc_vec_each (&h->lines, one)
        free(one->text);
    kc_vec_clear(&h->lines);
}

static heard *heard_free(heard *h)
{
    kc_log_free(h->log);
    heard_clear(h);
    kc_vec_done(&h->lines);
    kc_mutex_done(&h->mutex);
    free(h);
    return NULL;
}
KC_AUTO_DEFINE(heard, heard_free)

/* How often; the times of the first few go to `times`, which may be NULL. */
static size_t times_said(heard *h, const char *text, int64_t *times, size_t max)
{
    size_t n = 0;
    kc_locked (&h->mutex)
        kc_vec_each (&h->lines, one)
            if (strstr(one->text, text)) {
                if (times && n < max)
                    times[n] = one->at;
                n++;
            }
    return n;
}

static size_t said(heard *h, const char *text)
{
    return times_said(h, text, NULL, 0);
}

/* ---- the environment ---- */

static const story by_hand = {.reconcilers = "workqueue", .config = ""};

static kc_testenv *begin_with(heard *h, const story *s, kc_testenv_opts opts)
{
    kc_scoped(kc_error) err = {0};
    opts.log = h->log;
    kc_testenv *env = kc_testenv_start(&opts, NULL);
    h->clock = kc_testenv_clock(env);
    story_add(s, kc_testenv_manager(env));
    OK(kc_testenv_run(env, &err), &err);
    return env;
}

static kc_testenv *begin(heard *h, uint64_t seed)
{
    return begin_with(h, &by_hand, (kc_testenv_opts){.seed = seed});
}

static void make_pod_in(kc_testenv *env, const char *ns, const char *name, bool fails)
{
    kc_autofree char *json =
        kc_asprintf("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'%s',"
                    "'labels':{'fail':'%s'}},'spec':{'containers':[{'name':'c','image':'i'}]}}",
                    name, ns, fails ? "true" : "false");
    kc_auto(kc_object) *made = make(env, json);
}

static void make_pod(kc_testenv *env, const char *name)
{
    make_pod_in(env, "default", name, false);
}

static void set_failing(kc_testenv *env, const char *name, bool fails)
{
    patch_it(env, &kc_kind_pod, name,
             fails ? "{'metadata':{'labels':{'fail':'true'}}}"
                   : "{'metadata':{'labels':{'fail':'false'}}}");
}

static void delete_pod(kc_testenv *env, const char *name)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_client_delete(kc_testenv_client(env), &kc_kind_pod, KC_KEY("default", name),
                        &(kc_delete_opts){.now = true}, &err),
       &err);
}

/* ---- tests ---- */

static void it_says_what_comes_and_goes(void **state)
{
    (void)state;
    kc_auto(heard) *h = heard_new();
    kc_auto(kc_testenv) *env = begin(h, 1);
    make_pod(env, "web");
    kc_testenv_advance(env, KC_SECOND);
    assert_int_equal(said(h, SYNC("web")), 1);
    delete_pod(env, "web");
    kc_testenv_advance(env, KC_SECOND);
    assert_int_equal(said(h, SYNC("web")), 1);
    assert_int_equal(said(h, GONE("web")), 1);
}

static void what_was_there_before_it_is_said_too(void **state)
{
    (void)state;
    kc_auto(heard) *h = heard_new();
    kc_auto(kc_testenv) *env = kc_testenv_start(&(kc_testenv_opts){.seed = 1, .log = h->log}, NULL);
    make_pod(env, "old");
    story_add(&by_hand, kc_testenv_manager(env));
    kc_testenv_run(env, NULL);
    kc_testenv_advance(env, KC_SECOND);
    assert_int_equal(said(h, SYNC("old")), 1);
}

/* 5, 10, 20, 40 and 80 milliseconds. */
static void assert_six_tries(heard *h)
{
    int64_t tries[6] = {0};
    assert_int_equal(times_said(h, FAILED, tries, 5), 5);
    assert_int_equal(times_said(h, DROPPED, tries + 5, 1), 1);
    int64_t expected = 5 * KC_MILLISECOND;
    for (int i = 1; i < 6; i++, expected *= 2)
        assert_in_range(tries[i] - tries[i - 1], expected, expected + KC_MILLISECOND);
}

static void one_that_fails_is_tried_six_times_later_and_later(void **state)
{
    (void)state;
    kc_auto(heard) *h = heard_new();
    kc_auto(kc_testenv) *env = begin(h, 2);
    make_pod_in(env, "default", "bad", true);
    kc_testenv_advance(env, KC_HOUR);
    assert_six_tries(h);
    assert_int_equal(said(h, SYNC("bad")), 0);
}

static void one_that_was_dropped_comes_back_with_a_change(void **state)
{
    (void)state;
    kc_auto(heard) *h = heard_new();
    kc_auto(kc_testenv) *env = begin(h, 3);
    make_pod_in(env, "default", "bad", true);
    kc_testenv_advance(env, KC_MINUTE);
    heard_clear(h);
    patch_it(env, &kc_kind_pod, "bad", "{'metadata':{'annotations':{'a':'b'}}}");
    kc_testenv_advance(env, KC_MINUTE);
    assert_six_tries(h);
    heard_clear(h);
    set_failing(env, "bad", false);
    kc_testenv_advance(env, KC_MINUTE);
    assert_int_equal(said(h, SYNC("bad")), 1);
    assert_int_equal(said(h, FAILED), 0);
}

static void success_makes_failures_forgotten(void **state)
{
    (void)state;
    kc_auto(heard) *h = heard_new();
    kc_auto(kc_testenv) *env = begin(h, 4);
    make_pod_in(env, "default", "bad", true);
    kc_testenv_advance(env, 20 * KC_MILLISECOND);
    const size_t before = said(h, FAILED);
    assert_in_range(before, 1, 4);
    set_failing(env, "bad", false);
    kc_testenv_advance(env, KC_MINUTE);
    assert_int_equal(said(h, FAILED), before);
    assert_int_equal(said(h, DROPPED), 0);
    heard_clear(h);
    set_failing(env, "bad", true);
    kc_testenv_advance(env, KC_MINUTE);
    assert_six_tries(h);
}

static void one_that_fails_keeps_nobody_waiting(void **state)
{
    (void)state;
    kc_auto(heard) *h = heard_new();
    kc_auto(kc_testenv) *env = begin(h, 5);
    make_pod_in(env, "default", "bad", true);
    make_pod(env, "good");
    kc_testenv_advance(env, 5 * KC_MILLISECOND);
    assert_int_equal(said(h, SYNC("good")), 1);
}

static void pods_of_other_namespaces_are_for_those_who_say_so(void **state)
{
    (void)state;
    static const struct {
        const char *config;
        bool near, far;
    } cases[] = {{"", true, false},
                 {"reconcilers: {workqueue: {namespace: far}}", false, true},
                 {"reconcilers: {workqueue: {namespace: \"\"}}", true, true}};
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_auto(heard) *h = heard_new();
        const story s = {.reconcilers = "workqueue", .config = cases[i].config};
        kc_auto(kc_testenv) *env = begin_with(h, &s, (kc_testenv_opts){.seed = 6});
        kc_auto(kc_object) *ns =
            make(env, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'far'}}");
        make_pod(env, "near-pod");
        make_pod_in(env, "far", "far-pod", false);
        kc_testenv_advance(env, KC_SECOND);
        assert_int_equal(said(h, SYNC("near-pod")), cases[i].near);
        assert_int_equal(said(h, SYNC("far-pod")), cases[i].far);
    }
}

/* ---- where things go wrong ---- */

/* Whatever happens between it and the server, in the end it has said of each pod how it is. */
static void tell_with(uint64_t seed, const kc_fault_opts *faults)
{
    kc_auto(heard) *h = heard_new();
    kc_auto(kc_testenv) *env = begin(h, seed);
    for (; faults->fault; faults++)
        kc_testenv_fault(env, faults);
    make_pod(env, "stays");
    make_pod(env, "goes");
    make_pod_in(env, "default", "bad", true);
    kc_testenv_advance(env, 10 * KC_SECOND);
    delete_pod(env, "goes");
    set_failing(env, "bad", false);
    kc_testenv_advance(env, 10 * KC_SECOND);
    kc_testenv_clear_faults(env);
    kc_testenv_advance(env, 2 * KC_MINUTE);
    assert_true(said(h, SYNC("stays")) > 0);
    assert_true(said(h, SYNC("bad")) > 0);
    assert_true(said(h, SYNC("goes")) == 0 || said(h, GONE("goes")) > 0);
}

static void it_survives_everything(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= story_seeds(); seed++) {
        tell_with(seed, (kc_fault_opts[]){{KC_FAULT_STALE_READ, .chance = 1}, {0}});
        tell_with(seed, (kc_fault_opts[]){{KC_FAULT_DROP_WATCH, .chance = 0.5},
                                          {KC_FAULT_EXPIRE_WATCH, .chance = 0.5},
                                          {0}});
        tell_with(seed, (kc_fault_opts[]){{KC_FAULT_UNAVAILABLE, .chance = 0.2},
                                          {KC_FAULT_SLOW, .chance = 0.2},
                                          {0}});
    }
}

static void it_works_while_it_leads(void **state)
{
    (void)state;
    kc_auto(heard) *h = heard_new();
    kc_auto(kc_testenv) *env =
        begin_with(h, &by_hand,
                   (kc_testenv_opts){
                       .seed = 7, .manager = {.election.name = "hub", .outlive_leadership = true}});
    make_pod(env, "first");
    kc_testenv_advance(env, KC_SECOND);
    assert_int_equal(said(h, SYNC("first")), 1);

    assert_int_equal(kc_testenv_steal_lease(env, NULL), 0);
    kc_testenv_advance(env, 14 * KC_SECOND);
    assert_false(kc_manager_leads(kc_testenv_manager(env)));
    assert_int_equal(said(h, STOPPED), 1);
    make_pod(env, "second");
    delete_pod(env, "first");
    kc_testenv_advance(env, KC_SECOND);
    assert_int_equal(said(h, "second"), 0);

    kc_testenv_advance(env, KC_MINUTE);
    assert_true(kc_manager_leads(kc_testenv_manager(env)));
    assert_int_equal(said(h, SYNC("second")), 1);
    /* It was not there when this lead began. */
    assert_int_equal(said(h, GONE("first")), 0);
}

static void it_stops_with_work_left(void **state)
{
    (void)state;
    kc_auto(heard) *h = heard_new();
    kc_testenv *env = begin(h, 8);
    make_pod_in(env, "default", "bad", true);
    kc_testenv_advance(env, 10 * KC_MILLISECOND);
    assert_int_equal(said(h, DROPPED), 0);
    h->clock = NULL;
    kc_testenv_stop(env);
    assert_int_equal(said(h, STOPPED), 1);
    assert_int_equal(said(h, DROPPED), 0);
}

/* With the threads that it has in production. */
static void in_real_time_it_does_the_same(void **state)
{
    (void)state;
    kc_auto(heard) *h = heard_new();
    kc_testenv *env = begin(h, 0);
    for (int i = 0; i < 30; i++) {
        kc_autofree char *name = kc_asprintf("web-%d", i);
        make_pod_in(env, "default", name, i % 10 == 0);
    }
    while (said(h, "Sync/Add/Update") < 27 || said(h, "Dropping pod") < 3)
        kc_testenv_advance(env, KC_MILLISECOND);
    delete_pod(env, "web-1");
    while (!said(h, GONE("web-1")))
        kc_testenv_advance(env, KC_MILLISECOND);
    kc_testenv_stop(env);
    assert_int_equal(said(h, "Error syncing"), 15);
    assert_int_equal(said(h, STOPPED), 1);
}

TESTS(it_says_what_comes_and_goes, what_was_there_before_it_is_said_too,
      one_that_fails_is_tried_six_times_later_and_later,
      one_that_was_dropped_comes_back_with_a_change, success_makes_failures_forgotten,
      one_that_fails_keeps_nobody_waiting, pods_of_other_namespaces_are_for_those_who_say_so,
      it_survives_everything, it_works_while_it_leads, it_stops_with_work_left,
      in_real_time_it_does_the_same)
