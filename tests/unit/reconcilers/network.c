/* SPDX-License-Identifier: Apache-2.0 */
/* Networks: the service has exactly what the objects say, whatever happens to either side. */
#include "network_testing.h"

#include "api/samplecrd_v1/zz_generated.h"

#define BETA "../manifests/network/v1beta1/crd.yaml"
#define V1   "../manifests/network/samplecrd.k8s.io_networks.yaml"

static void object(kc_testenv *env, const char *name, const char *cidr)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) yaml = {0};
    kc_buf_printf(&yaml,
                  "{apiVersion: samplecrd.k8s.io/v1, kind: Network, metadata: {name: %s, "
                  "namespace: default}, spec: {cidr: \"%s\"}}",
                  name, cidr);
    OK(kc_testenv_apply(env, kc_buf_str(&yaml), &err), &err);
}

static void no_object(kc_testenv *env, const char *name)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_client_delete(kc_testenv_client(env), &network_kind, KC_KEY("default", name), NULL, &err),
       &err);
}

/* ---- one by one ---- */

static story plain = {.reconcilers = "network", .takes = 5 * KC_SECOND};

static void an_empty_service(kc_testenv *env)
{
    outside_begin(env);
    apply_file(env, BETA);
}

static void an_empty_service_and_a_status(kc_testenv *env)
{
    outside_begin(env);
    apply_file(env, V1);
}

static kc_testenv *begin_with(uint64_t seed, void (*before)(kc_testenv *env))
{
    plain.before = before;
    plain.instead = network_outside();
    return story_begin(&plain, seed);
}

static kc_testenv *begin(void (*before)(kc_testenv *env))
{
    return begin_with(1, before);
}

static void what_the_object_says_is_there(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(an_empty_service);
    apply_file(env, "../manifests/network/example/example-network.yaml");
    settle(env);
    assert_outside_has("example-network 192.168.0.0/16 192.168.0.1");
    assert_int_equal(events_told(env, "Created", "192.168.0.0/16"), 1);
    patch_it(env, &network_kind, "example-network", "{'spec':{'gateway':'192.168.0.254'}}");
    settle(env);
    assert_outside_has("example-network 192.168.0.0/16 192.168.0.254");
    patch_it(env, &network_kind, "example-network",
             "{'spec':{'cidr':'fd00:7::/64','gateway':null}}");
    settle(env);
    assert_outside_has("example-network fd00:7::/64 ");
    assert_true(events_told(env, "Updated", "fd00:7::/64") > 0);
    no_object(env, "example-network");
    settle(env);
    assert_outside_has("");
    assert_int_equal(events_told(env, "Deleted", "deleted the network"), 1);
}

static void nothing_is_written_when_nothing_differs(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(an_empty_service);
    object(env, "one", "10.0.0.0/8");
    settle(env);
    kc_testenv_advance(env, KC_MINUTE);
    const size_t calls = outside.calls;
    assert_int_equal(outside.writes, 1);
    kc_testenv_advance(env, 10 * KC_MINUTE);
    assert_int_equal(outside.writes, 1);
    assert_true(outside.calls - calls < 30); /* One each half minute, and two looks at all. */
    kc_autofree char *version = text_of(env, &network_kind, "one", "metadata.resourceVersion");
    kc_testenv_advance(env, 10 * KC_MINUTE);
    assert_says(env, &network_kind, "one", "metadata.resourceVersion", version);
}

static void what_is_done_to_the_service_by_hand_is_put_right(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(an_empty_service);
    object(env, "one", "10.0.0.0/8");
    settle(env);
    assert_int_equal(outside_call("DELETE", "/v1/networks/default/one", NULL, NULL), 200);
    kc_testenv_advance(env, 31 * KC_SECOND);
    assert_outside_has("one 10.0.0.0/8 ");
    assert_int_equal(outside_call("PUT", "/v1/networks/default/stray",
                                  "{'cidr':'11.0.0.0/8','owner':'kubecontroller'}", NULL),
                     201);
    kc_testenv_advance(env, 6 * KC_MINUTE);
    assert_outside_has("one 10.0.0.0/8 ");
}

static void an_empty_service_out_of_reach(kc_testenv *env)
{
    an_empty_service(env);
    outside.unreachable = 1;
    kc_testenv_fault(env, &(kc_fault_opts){.fault = KC_FAULT_STALE_READ, .chance = 1});
}

/* An earlier run has made a network for an object that the cache of this one has not heard of, when
 * it looks for orphans. */
static void a_cache_that_is_behind_deletes_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        kc_auto(kc_testenv) *env = begin_with(seed, an_empty_service_out_of_reach);
        while (!outside.calls)
            kc_testenv_advance(env, 100 * KC_MILLISECOND);
        kc_testenv_advance(env, 29800 * KC_MILLISECOND); /* Shortly before it tries again. */
        assert_int_equal(outside.calls, 1);
        object(env, "first", "9.0.0.0/8");
        kc_testenv_advance(env, 50 * KC_MILLISECOND); /* From this one on it is behind. */
        object(env, "one", "10.0.0.0/8");
        outside_call("PUT", "/v1/networks/default/one",
                     "{'cidr':'10.0.0.0/8','owner':'kubecontroller'}", NULL);
        outside.unreachable = 0;
        kc_testenv_advance(env, 10 * KC_MINUTE);
        assert_outside_has("first 9.0.0.0/8 , one 10.0.0.0/8 ");
        assert_int_equal(outside.writes, 1);
    }
}

static void what_others_have_made_is_left_alone(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(an_empty_service);
    outside_call("PUT", "/v1/networks/default/theirs", "{'cidr':'10.0.0.0/8','owner':'others'}",
                 NULL);
    outside_call("PUT", "/v1/networks/default/hand", "{'cidr':'11.0.0.0/8'}", NULL);
    object(env, "theirs", "12.0.0.0/8");
    kc_testenv_advance(env, 6 * KC_MINUTE);
    assert_outside_has("theirs 10.0.0.0/8 , hand 11.0.0.0/8 ");
    assert_true(events_told(env, "Conflict", "default/theirs belongs to others") > 0);
    no_object(env, "theirs");
    settle(env);
    assert_outside_has("theirs 10.0.0.0/8 , hand 11.0.0.0/8 ");
    assert_int_equal(events_told(env, "Deleted", ""), 0);
}

/* ---- refusals ---- */

static void a_refusal_is_told_and_waits_for_the_object_to_change(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(an_empty_service);
    object(env, "one", "10.0.0.0/8");
    settle(env);
    patch_it(env, &network_kind, "one", "{'spec':{'cidr':'10.0.0.1/8'}}");
    settle(env); /* Nothing is tried again. */
    assert_int_equal(events_told(env, "Invalid", "did you mean \"10.0.0.0/8\"?"), 1);
    assert_outside_has("one 10.0.0.0/8 ");
    patch_it(env, &network_kind, "one", "{'spec':{'cidr':12}}");
    settle(env);
    assert_int_equal(events_told(env, "Invalid", "expected a string"), 1);
    assert_outside_has("one 10.0.0.0/8 ");
    patch_it(env, &network_kind, "one", "{'spec':{'cidr':'12.0.0.0/8'}}");
    settle(env);
    assert_outside_has("one 12.0.0.0/8 ");
}

static void an_overlap_ends_when_the_other_one_goes(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(an_empty_service);
    object(env, "one", "10.0.0.0/8");
    settle(env);
    object(env, "two", "10.7.0.0/16");
    kc_testenv_advance(env, 5 * KC_MINUTE);
    assert_outside_has("one 10.0.0.0/8 ");
    assert_true(
        events_told(env, "Conflict", "10.7.0.0/16 overlaps with 10.0.0.0/8 of default/one") > 0);
    no_object(env, "one");
    kc_testenv_advance(env, 31 * KC_SECOND);
    assert_outside_has("two 10.7.0.0/16 ");
}

/* The one that is there stays, if only the other one wants to change. */
static void an_overlap_costs_nobody_what_he_has(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(an_empty_service);
    object(env, "one", "10.0.0.0/8");
    object(env, "two", "11.0.0.0/8");
    settle(env);
    object(env, "two", "10.7.0.0/16");
    kc_testenv_advance(env, 5 * KC_MINUTE);
    assert_outside_has("one 10.0.0.0/8 , two 11.0.0.0/8 ");
}

static void an_outage_is_told_once_and_then_all_is_done(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(an_empty_service);
    outside.unreachable = 1;
    object(env, "one", "10.0.0.0/8");
    kc_testenv_advance(env, 3 * KC_MINUTE);
    assert_int_equal(events_told(env, "Unreachable", "network service: nobody is there"), 1);
    assert_outside_has("");
    outside.unreachable = 0;
    kc_testenv_advance(env, 31 * KC_SECOND);
    assert_outside_has("one 10.0.0.0/8 ");
}

static void something_else_at_the_address_is_no_service(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(an_empty_service);
    object(env, "one", "10.0.0.0/8");
    settle(env);
    outside.broken = 1;
    no_object(env, "one");
    kc_testenv_advance(env, KC_MINUTE);
    outside.broken = 0;
    assert_outside_has("one 10.0.0.0/8 ");
    kc_testenv_advance(env, 20 * KC_MINUTE);
    assert_outside_has("");
}

static void what_is_no_answer_of_a_service_makes_nobody_ready(void **state)
{
    (void)state;
    static const char *const answers[] = {"[1,2]", "{}", "{\"items\":[]}", "null", "\"ok\""};
    for (size_t i = 0; i < KC_COUNT(answers); i++) {
        kc_auto(kc_testenv) *env = begin(an_empty_service_and_a_status);
        outside.instead = answers[i];
        object(env, "one", "10.0.0.0/8");
        kc_testenv_advance(env, KC_MINUTE);
        outside.instead = NULL;
        kc_auto(kc_object) *one = look_up(env, &network_kind, "one");
        kc_auto(kc_view) *view = kc_view_of(one);
        assert_false(kc_as_bool(kc_dig(kc_view_root(view), "status.ready"), false));
    }
}

/* ---- status ---- */

/* How often an event was told in all. */
static int64_t times_told(kc_testenv *env, const char *reason)
{
    kc_scoped(kc_objects) events = {0};
    int64_t n = 0;
    kc_client_list(kc_testenv_client(env), &kc_kind_event, NULL, &events, NULL);
    for (size_t i = 0; i < events.n; i++) {
        kc_auto(kc_view) *view = kc_view_of(events.items[i]);
        if (kc_str_is(kc_as_str(kc_get(kc_view_root(view), "reason")), reason))
            n += kc_as_i64_or(kc_get(kc_view_root(view), "count"), 1);
    }
    return n;
}

static void a_status_is_written_where_there_is_one(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(an_empty_service_and_a_status);
    object(env, "one", "10.0.0.0/8");
    settle(env);
    assert_says(env, &network_kind, "one", "status.ready", "true");
    assert_says(env, &network_kind, "one", "status.observedGeneration", "1");
    object(env, "one", "10.0.0.0/99");
    settle(env);
    assert_says(env, &network_kind, "one", "status.ready", "false");
    kc_autofree char *why = text_of(env, &network_kind, "one", "status.message");
    assert_contains(why, "cidr \"10.0.0.0/99\" is not a range of addresses");
    kc_testenv_advance(env, 5 * KC_MINUTE);
    assert_int_equal(events_told(env, "Invalid", "10.0.0.0/99"), 1);
    assert_int_equal(times_told(env, "Invalid"), 1);
    object(env, "one", "11.0.0.0/8");
    settle(env);
    assert_says(env, &network_kind, "one", "status.ready", "true");
    assert_says(env, &network_kind, "one", "status.message", "");
}

static void a_status_that_the_server_has_not_is_tried_once(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(an_empty_service);
    kc_testenv_fault(env, &(kc_fault_opts){.fault = KC_FAULT_SLOW,
                                           .chance = 1,
                                           .kind = &network_kind,
                                           .method = "PUT"}); /* To count them. */
    object(env, "one", "10.0.0.0/8");
    object(env, "two", "11.0.0.0/8");
    kc_testenv_advance(env, 4 * KC_MINUTE);
    assert_true(kc_testenv_faults(env, KC_FAULT_SLOW) > 0);
    assert_true(kc_testenv_faults(env, KC_FAULT_SLOW) <= 2);
    assert_says(env, &network_kind, "one", "status", "");
    assert_outside_has("one 10.0.0.0/8 , two 11.0.0.0/8 ");
    /* Once it has one, that is found out. */
    apply_file(env, V1);
    kc_testenv_advance(env, 6 * KC_MINUTE);
    assert_says(env, &network_kind, "one", "status.ready", "true");
}

/* ---- all at once, while things go wrong ---- */

static void much_is_there(kc_testenv *env)
{
    an_empty_service_and_a_status(env);
    outside_call("PUT", "/v1/networks/default/orphan",
                 "{'cidr':'10.9.0.0/16','owner':'kubecontroller'}", NULL);
    outside_call("PUT", "/v1/networks/default/theirs", "{'cidr':'10.8.0.0/16','owner':'others'}",
                 NULL);
    object(env, "gone", "10.1.0.0/16");
    object(env, "moves", "10.2.0.0/16");
    object(env, "left", "10.3.0.0/16");
    object(env, "right", "10.4.0.0/16");
}

/* One is made, one is deleted, one takes its range, two exchange theirs. */
static void much_happens(kc_testenv *env)
{
    apply_file(env, "../manifests/network/example/example-network.yaml");
    object(env, "moves", "10.1.0.0/16");
    no_object(env, "gone");
    object(env, "left", "10.4.0.0/16");
    object(env, "right", "10.3.0.0/16");
}

static void all_is_as_the_objects_say(kc_testenv *env)
{
    assert_outside_has("moves 10.1.0.0/16 , right 10.3.0.0/16 , left 10.4.0.0/16 , theirs "
                       "10.8.0.0/16 , example-network 192.168.0.0/16 192.168.0.1");
    assert_says(env, &network_kind, "moves", "status.ready", "true");
    assert_says(env, &network_kind, "left", "status.ready", "true");
    assert_says(env, &network_kind, "right", "status.ready", "true");
}

static const story *much(void)
{
    static story s;
    s = (story){.reconcilers = "network",
                .instead = network_outside(),
                .before = much_is_there,
                .event = much_happens,
                .takes = 65 * KC_SECOND,
                .end = all_is_as_the_objects_say};
    return &s;
}

static void it_ends_as_the_objects_say(void **state)
{
    (void)state;
    it_ends_well(much());
}

static void it_survives_everything(void **state)
{
    (void)state;
    it_survives_a_crash_after_any_write(much());
    it_survives_a_stale_cache(much());
    it_survives_missed_events(much());
    it_survives_a_bad_network(much());
}

static void it_starts_anew(const story *s, kc_testenv *env)
{
    kc_scoped(kc_error) err = {0};
    kc_manager *next = kc_testenv_restart(env, &err);
    OK(next ? 0 : -1, &err);
    story_add(s, next);
    OK(kc_testenv_run(env, &err), &err);
}

/* The service has done it, and nobody is left who knows. */
static void it_survives_a_crash_after_any_write_outside(void **state)
{
    (void)state;
    const story *s = much();
    size_t writes = 0;
    bool crashed = true;
    while (crashed) {
        kc_auto(kc_testenv) *env = story_begin(s, 3);
        outside.crash_after = ++writes;
        story_event(s, env);
        story_pass(s, env, s->takes);
        crashed = kc_testenv_crashed(env);
        if (crashed)
            it_starts_anew(s, env);
        story_pass(s, env, s->takes);
        settle(env);
        s->end(env);
    }
    assert_true(writes > 4);
}

/* What went while nobody ran left no key. */
static void what_was_deleted_meanwhile_is_found(void **state)
{
    (void)state;
    const story *s = much();
    kc_auto(kc_testenv) *env = story_begin(s, 1);
    settle(env);
    kc_testenv_crash_after(env, 0);
    story_event(s, env);
    story_pass(s, env, s->takes);
    it_starts_anew(s, env);
    story_pass(s, env, s->takes);
    settle(env);
    s->end(env);
}

static void with_a_bad_service(double unreachable, double lost, double late, double broken)
{
    const story *s = much();
    for (uint64_t seed = 1; seed <= story_seeds(); seed++) {
        kc_auto(kc_testenv) *env = story_begin(s, seed);
        kc_rand_seed(&outside.rand, seed);
        outside.unreachable = unreachable;
        outside.lost = lost;
        outside.late = late;
        outside.broken = broken;
        story_event(s, env);
        story_pass(s, env, s->takes);
        outside.unreachable = outside.lost = outside.late = outside.broken = 0;
        story_pass(s, env, s->takes);
        settle(env);
        s->end(env);
    }
}

static void it_survives_a_bad_service(void **state)
{
    (void)state;
    with_a_bad_service(1, 0, 0, 0);
    with_a_bad_service(0.5, 0, 0, 0);
    with_a_bad_service(0, 0.5, 0, 0);
    with_a_bad_service(0, 1, 0, 0);
    with_a_bad_service(0, 0, 0.5, 0);
    with_a_bad_service(0, 0, 0, 0.5);
    with_a_bad_service(0.2, 0.2, 0.2, 0.2);
    outside_end();
}

/* ---- over HTTP ---- */

static void it_works_over_http_too(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__network_service) *service =
        kc__network_service_start(&(kc__network_service_opts){.address = "127.0.0.1:0"}, &err);
    assert_non_null(service);
    kc_autofree char *config = kc_asprintf("reconcilers: {network: {service: "
                                           "\"http://127.0.0.1:%d\", owner: site-7}}",
                                           kc__network_service_port(service));
    const story s = {.reconcilers = "network", .config = config};
    kc_auto(kc_testenv) *env = kc_testenv_start(&(kc_testenv_opts){0}, &err);
    story_add(&s, kc_testenv_manager(env));
    apply_file(env, BETA);
    object(env, "one", "10.0.0.0/8");
    settle(env);
    outside_end();
    outside.service = service;
    assert_outside_has("one 10.0.0.0/8 ");
    no_object(env, "one");
    settle(env);
    assert_outside_has("");
    outside.service = NULL;
}

static void settings_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *config, *said;
    } cases[] = {
        {"reconcilers: {network: {service: \"ftp://here\"}}", "reconciler network: service: "},
        {"reconcilers: {network: {owner: \"Two words\"}}",
         "reconciler network: owner: \"Two words\" is not a name"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_error) err = {0};
        kc_auto(kc_testenv) *env = plane(1);
        kc_auto(kc_app_config) *config = kc_app_config_parse(kc_cstr(cases[i].config), &err);
        kc_auto(kc_app) *app = kc_app_new(&(kc_app_opts){.config = config, .names = "network"});
        OK(kc_app_with_linked(app, &err), &err);
        assert_true(kc_app_setup(app, kc_testenv_manager(env), &err) < 0);
        assert_contains(kc_error_text(&err), cases[i].said);
    }
}

TESTS(what_is_no_answer_of_a_service_makes_nobody_ready, what_the_object_says_is_there,
      nothing_is_written_when_nothing_differs, what_is_done_to_the_service_by_hand_is_put_right,
      what_others_have_made_is_left_alone, a_cache_that_is_behind_deletes_nothing,
      a_refusal_is_told_and_waits_for_the_object_to_change, an_overlap_ends_when_the_other_one_goes,
      an_overlap_costs_nobody_what_he_has, an_outage_is_told_once_and_then_all_is_done,
      something_else_at_the_address_is_no_service, a_status_is_written_where_there_is_one,
      a_status_that_the_server_has_not_is_tried_once, it_ends_as_the_objects_say,
      it_survives_everything, it_survives_a_crash_after_any_write_outside,
      what_was_deleted_meanwhile_is_found, it_survives_a_bad_service, it_works_over_http_too,
      settings_that_make_no_sense_are_refused)
