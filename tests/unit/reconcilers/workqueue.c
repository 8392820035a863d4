/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workqueue reconciler, a controller without kc_controller: what it logs about pods, and when.
 */
#include "reconciler_testing.h"

#include "kc/kinds.h"

#define SYNC(name) "Sync/Add/Update for Pod " name
#define GONE(name) "Pod default/" name " does not exist anymore"
#define FAILED     "Error syncing pod default/bad: label fail=true is set"
#define DROPPED    "Dropping pod \\\"default/bad\\\" out of the queue: label fail=true is set"
#define STOPPED    "Stopping Pod controller"

/* ---- logged lines ---- */

typedef struct line {
    char *text;
    int64_t at;
} line;

/* One test at a time has a log. */
typedef struct log_lines {
    kc_mutex mutex; /* Guards lines. Taken last. */
    KC_VEC(line) lines;
    const kc_clock *clock; /* Of the environment, once there is one. */
    kc_log *log;
} log_lines;

static void keep_line(kc_str text, void *user)
{
    log_lines *h = user;
    kc_locked (&h->mutex)
        kc_vec_push(&h->lines, ((line){kc_str_dup(text), h->clock ? kc_clock_now(h->clock) : 0}));
}

static log_lines *log_lines_new(void)
{
    log_lines *h = kc_new(log_lines);
    kc_mutex_init(&h->mutex);
    h->log = kc_log_new(&(kc_log_opts){.format = KC_LOG_JSON, .write = keep_line, .user = h});
    return h;
}

static void log_lines_clear(log_lines *h)
{
    kc_vec_each (&h->lines, one)
        free(one->text);
    kc_vec_clear(&h->lines);
}

static log_lines *log_lines_free(log_lines *h)
{
    kc_log_free(h->log);
    log_lines_clear(h);
    kc_vec_done(&h->lines);
    kc_mutex_done(&h->mutex);
    free(h);
    return NULL;
}
KC_AUTO_DEFINE(log_lines, log_lines_free)

/* How often; the times of the first few go to `times`, which may be NULL. */
static size_t count_logged_times(log_lines *h, const char *text, int64_t *times, size_t max)
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

static size_t count_logged(log_lines *h, const char *text)
{
    return count_logged_times(h, text, NULL, 0);
}

/* ---- the environment ---- */

static const scenario by_hand = {.reconcilers = "workqueue", .config = ""};

static kc_testenv *begin_with(log_lines *h, const scenario *s, kc_testenv_opts opts)
{
    kc_scoped(kc_error) err = {0};
    opts.log = h->log;
    kc_testenv *env = kc_testenv_start(&opts, NULL);
    h->clock = kc_testenv_clock(env);
    scenario_add(s, kc_testenv_manager(env));
    OK(kc_testenv_run(env, &err), &err);
    return env;
}

static kc_testenv *begin(log_lines *h, uint64_t seed)
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
    patch_object(env, &kc_kind_pod, name,
                 fails ? "{'metadata':{'labels':{'fail':'true'}}}"
                       : "{'metadata':{'labels':{'fail':'false'}}}");
}

static void delete_pod(kc_testenv *env, const char *name)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_client_delete(kc_testenv_client(env), &kc_kind_pod, KC_KEY("default", name),
                        &(kc_delete_opts){.immediately = true}, &err),
       &err);
}

/* ---- tests ---- */

static void created_and_deleted_pods_are_logged(void **state)
{
    (void)state;
    kc_auto(log_lines) *h = log_lines_new();
    kc_auto(kc_testenv) *env = begin(h, 1);
    make_pod(env, "web");
    kc_testenv_advance(env, KC_SECOND);
    assert_int_equal(count_logged(h, SYNC("web")), 1);
    delete_pod(env, "web");
    kc_testenv_advance(env, KC_SECOND);
    /* A pod is marked before it is removed: two events, which the queue may or may not merge, and
     * the pod may be gone when the first is handled. */
    const size_t synced = count_logged(h, SYNC("web")), gone = count_logged(h, GONE("web"));
    assert_in_range(synced, 1, 2);
    assert_in_range(gone, 1, 2);
    assert_in_range(synced + gone, 2, 3);
}

static void existing_pods_are_logged(void **state)
{
    (void)state;
    kc_auto(log_lines) *h = log_lines_new();
    kc_auto(kc_testenv) *env = kc_testenv_start(&(kc_testenv_opts){.seed = 1, .log = h->log}, NULL);
    make_pod(env, "old");
    scenario_add(&by_hand, kc_testenv_manager(env));
    kc_testenv_run(env, NULL);
    kc_testenv_advance(env, KC_SECOND);
    assert_int_equal(count_logged(h, SYNC("old")), 1);
}

/* 5, 10, 20, 40 and 80 milliseconds. */
static void assert_six_tries(log_lines *h)
{
    int64_t tries[6] = {0};
    assert_int_equal(count_logged_times(h, FAILED, tries, 5), 5);
    assert_int_equal(count_logged_times(h, DROPPED, tries + 5, 1), 1);
    int64_t expected = 5 * KC_MILLISECOND;
    for (int i = 1; i < 6; i++, expected *= 2)
        assert_in_range(tries[i] - tries[i - 1], expected, expected + KC_MILLISECOND);
}

static void failing_key_is_retried_with_backoff_then_dropped(void **state)
{
    (void)state;
    kc_auto(log_lines) *h = log_lines_new();
    kc_auto(kc_testenv) *env = begin(h, 2);
    make_pod_in(env, "default", "bad", true);
    kc_testenv_advance(env, KC_HOUR);
    assert_six_tries(h);
    assert_int_equal(count_logged(h, SYNC("bad")), 0);
}

static void changed_pod_is_retried_after_it_was_dropped(void **state)
{
    (void)state;
    kc_auto(log_lines) *h = log_lines_new();
    kc_auto(kc_testenv) *env = begin(h, 3);
    make_pod_in(env, "default", "bad", true);
    kc_testenv_advance(env, KC_MINUTE);
    log_lines_clear(h);
    patch_object(env, &kc_kind_pod, "bad", "{'metadata':{'annotations':{'a':'b'}}}");
    kc_testenv_advance(env, KC_MINUTE);
    assert_six_tries(h);
    log_lines_clear(h);
    set_failing(env, "bad", false);
    kc_testenv_advance(env, KC_MINUTE);
    assert_int_equal(count_logged(h, SYNC("bad")), 1);
    assert_int_equal(count_logged(h, FAILED), 0);
}

static void success_resets_backoff(void **state)
{
    (void)state;
    kc_auto(log_lines) *h = log_lines_new();
    kc_auto(kc_testenv) *env = begin(h, 4);
    make_pod_in(env, "default", "bad", true);
    kc_testenv_advance(env, 20 * KC_MILLISECOND);
    const size_t before = count_logged(h, FAILED);
    assert_in_range(before, 1, 4);
    set_failing(env, "bad", false);
    kc_testenv_advance(env, KC_MINUTE);
    assert_int_equal(count_logged(h, FAILED), before);
    assert_int_equal(count_logged(h, DROPPED), 0);
    log_lines_clear(h);
    set_failing(env, "bad", true);
    kc_testenv_advance(env, KC_MINUTE);
    assert_six_tries(h);
}

static void failing_key_does_not_block_others(void **state)
{
    (void)state;
    kc_auto(log_lines) *h = log_lines_new();
    kc_auto(kc_testenv) *env = begin(h, 5);
    make_pod_in(env, "default", "bad", true);
    make_pod(env, "good");
    kc_testenv_advance(env, 5 * KC_MILLISECOND);
    assert_int_equal(count_logged(h, SYNC("good")), 1);
}

static void namespace_setting_selects_pods(void **state)
{
    (void)state;
    static const struct {
        const char *config;
        bool near, far;
    } cases[] = {{"", true, false},
                 {"reconcilers: {workqueue: {namespace: far}}", false, true},
                 {"reconcilers: {workqueue: {namespace: \"\"}}", true, true}};
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_auto(log_lines) *h = log_lines_new();
        const scenario s = {.reconcilers = "workqueue", .config = cases[i].config};
        kc_auto(kc_testenv) *env = begin_with(h, &s, (kc_testenv_opts){.seed = 6});
        kc_auto(kc_object) *ns =
            make(env, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'far'}}");
        make_pod(env, "near-pod");
        make_pod_in(env, "far", "far-pod", false);
        kc_testenv_advance(env, KC_SECOND);
        assert_int_equal(count_logged(h, SYNC("near-pod")), cases[i].near);
        assert_int_equal(count_logged(h, SYNC("far-pod")), cases[i].far);
    }
}

/* ---- faults ---- */

/* Whatever happens between it and the server, in the end it has count_logged of each pod how it is.
 */
static void run_with_faults(uint64_t seed, const kc_fault_opts *faults)
{
    kc_auto(log_lines) *h = log_lines_new();
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
    assert_true(count_logged(h, SYNC("stays")) > 0);
    assert_true(count_logged(h, SYNC("bad")) > 0);
    assert_true(count_logged(h, SYNC("goes")) == 0 || count_logged(h, GONE("goes")) > 0);
}

static void converges_under_faults(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= scenario_seeds(); seed++) {
        run_with_faults(seed, (kc_fault_opts[]){{KC_FAULT_STALE_READ, .chance = 1}, {0}});
        run_with_faults(seed, (kc_fault_opts[]){{KC_FAULT_DROP_WATCH, .chance = 0.5},
                                                {KC_FAULT_EXPIRE_WATCH, .chance = 0.5},
                                                {0}});
        run_with_faults(seed, (kc_fault_opts[]){{KC_FAULT_UNAVAILABLE, .chance = 0.2},
                                                {KC_FAULT_SLOW, .chance = 0.2},
                                                {0}});
    }
}

static void new_leader_reconciles_existing_pods(void **state)
{
    (void)state;
    kc_auto(log_lines) *h = log_lines_new();
    kc_auto(kc_testenv) *env = begin_with(
        h, &by_hand,
        (kc_testenv_opts){.seed = 7,
                          .manager = {.election.name = "hub", .restart_on_lost_lease = true}});
    make_pod(env, "first");
    kc_testenv_advance(env, KC_SECOND);
    assert_int_equal(count_logged(h, SYNC("first")), 1);

    assert_int_equal(kc_testenv_steal_lease(env, NULL), 0);
    kc_testenv_advance(env, 14 * KC_SECOND);
    assert_false(kc_manager_is_leader(kc_testenv_manager(env)));
    assert_int_equal(count_logged(h, STOPPED), 1);
    make_pod(env, "second");
    delete_pod(env, "first");
    kc_testenv_advance(env, KC_SECOND);
    assert_int_equal(count_logged(h, "second"), 0);

    kc_testenv_advance(env, KC_MINUTE);
    assert_true(kc_manager_is_leader(kc_testenv_manager(env)));
    assert_int_equal(count_logged(h, SYNC("second")), 1);
    /* It was not there when this lead began. */
    assert_int_equal(count_logged(h, GONE("first")), 0);
}

static void stop_leaves_queued_work(void **state)
{
    (void)state;
    kc_auto(log_lines) *h = log_lines_new();
    kc_testenv *env = begin(h, 8);
    make_pod_in(env, "default", "bad", true);
    kc_testenv_advance(env, 10 * KC_MILLISECOND);
    assert_int_equal(count_logged(h, DROPPED), 0);
    h->clock = NULL;
    kc_testenv_stop(env);
    assert_int_equal(count_logged(h, STOPPED), 1);
    assert_int_equal(count_logged(h, DROPPED), 0);
}

/* With the threads that it has in production. */
static void works_with_real_clock_and_threads(void **state)
{
    (void)state;
    kc_auto(log_lines) *h = log_lines_new();
    kc_testenv *env = begin(h, 0);
    for (int i = 0; i < 30; i++) {
        kc_autofree char *name = kc_asprintf("web-%d", i);
        make_pod_in(env, "default", name, i % 10 == 0);
    }
    while (count_logged(h, "Sync/Add/Update") < 27 || count_logged(h, "Dropping pod") < 3)
        kc_testenv_advance(env, KC_MILLISECOND);
    delete_pod(env, "web-1");
    while (!count_logged(h, GONE("web-1")))
        kc_testenv_advance(env, KC_MILLISECOND);
    kc_testenv_stop(env);
    assert_int_equal(count_logged(h, "Error syncing"), 15);
    assert_int_equal(count_logged(h, STOPPED), 1);
}

TESTS(created_and_deleted_pods_are_logged, existing_pods_are_logged,
      failing_key_is_retried_with_backoff_then_dropped, changed_pod_is_retried_after_it_was_dropped,
      success_resets_backoff, failing_key_does_not_block_others, namespace_setting_selects_pods,
      converges_under_faults, new_leader_reconciles_existing_pods, stop_leaves_queued_work,
      works_with_real_clock_and_threads)
