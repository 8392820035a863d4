/* SPDX-License-Identifier: Apache-2.0 */
/* Networks: the service has exactly the networks of the objects, under faults on either side. */
#include "network_testing.h"

#include "network/client.h"

#include <unistd.h>

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

static scenario plain = {.reconcilers = "network", .takes = 5 * KC_SECOND};

static void begin_empty_service(kc_testenv *env)
{
    outside_begin(env);
    apply_file(env, BETA);
}

static void begin_empty_service_with_status(kc_testenv *env)
{
    outside_begin(env);
    apply_file(env, V1);
}

static kc_testenv *begin_with(uint64_t seed, void (*before)(kc_testenv *env))
{
    plain.before = before;
    plain.instead = network_outside();
    return scenario_begin(&plain, seed);
}

static kc_testenv *begin(void (*before)(kc_testenv *env))
{
    return begin_with(1, before);
}

static void network_of_the_object_is_created_updated_and_deleted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(begin_empty_service);
    apply_file(env, "../manifests/network/example/example-network.yaml");
    settle(env);
    assert_service_has("example-network 192.168.0.0/16 192.168.0.1");
    assert_int_equal(count_recorded_events(env, "Created", "192.168.0.0/16"), 1);
    patch_object(env, &network_kind, "example-network", "{'spec':{'gateway':'192.168.0.254'}}");
    settle(env);
    assert_service_has("example-network 192.168.0.0/16 192.168.0.254");
    patch_object(env, &network_kind, "example-network",
                 "{'spec':{'cidr':'fd00:7::/64','gateway':null}}");
    settle(env);
    assert_service_has("example-network fd00:7::/64 ");
    assert_true(count_recorded_events(env, "Updated", "fd00:7::/64") > 0);
    no_object(env, "example-network");
    settle(env);
    assert_service_has("");
    assert_int_equal(count_recorded_events(env, "Deleted", "deleted the network"), 1);
}

static void unchanged_network_causes_no_write(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(begin_empty_service);
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
    assert_field_is(env, &network_kind, "one", "metadata.resourceVersion", version);
}

static void manual_changes_of_the_service_are_reverted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(begin_empty_service);
    object(env, "one", "10.0.0.0/8");
    settle(env);
    assert_int_equal(outside_call("DELETE", "/v1/networks/default/one", NULL, NULL), 200);
    kc_testenv_advance(env, 31 * KC_SECOND);
    assert_service_has("one 10.0.0.0/8 ");
    assert_int_equal(outside_call("PUT", "/v1/networks/default/stray",
                                  "{'cidr':'11.0.0.0/8','owner':'kubecontroller'}", NULL),
                     201);
    kc_testenv_advance(env, 6 * KC_MINUTE);
    assert_service_has("one 10.0.0.0/8 ");
}

static void begin_unreachable_service(kc_testenv *env)
{
    begin_empty_service(env);
    outside.unreachable = 1;
    kc_testenv_fault(env, &(kc_fault_opts){.fault = KC_FAULT_STALE_READ, .chance = 1});
}

/* An earlier run has made a network for an object that the cache of this one has not heard of, when
 * it looks for orphans. */
static void stale_cache_deletes_no_network(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        kc_auto(kc_testenv) *env = begin_with(seed, begin_unreachable_service);
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
        assert_service_has("first 9.0.0.0/8 , one 10.0.0.0/8 ");
        assert_int_equal(outside.writes, 1);
    }
}

static void networks_of_other_owners_are_unchanged(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(begin_empty_service);
    outside_call("PUT", "/v1/networks/default/theirs", "{'cidr':'10.0.0.0/8','owner':'others'}",
                 NULL);
    outside_call("PUT", "/v1/networks/default/hand", "{'cidr':'11.0.0.0/8'}", NULL);
    object(env, "theirs", "12.0.0.0/8");
    kc_testenv_advance(env, 6 * KC_MINUTE);
    assert_service_has("theirs 10.0.0.0/8 , hand 11.0.0.0/8 ");
    assert_true(count_recorded_events(env, "Conflict", "default/theirs belongs to others") > 0);
    no_object(env, "theirs");
    settle(env);
    assert_service_has("theirs 10.0.0.0/8 , hand 11.0.0.0/8 ");
    assert_int_equal(count_recorded_events(env, "Deleted", ""), 0);
}

/* ---- refusals ---- */

static void refused_network_is_reported_and_waits_for_a_change(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(begin_empty_service);
    object(env, "one", "10.0.0.0/8");
    settle(env);
    patch_object(env, &network_kind, "one", "{'spec':{'cidr':'10.0.0.1/8'}}");
    settle(env); /* Nothing is tried again. */
    assert_int_equal(count_recorded_events(env, "Invalid", "did you mean \"10.0.0.0/8\"?"), 1);
    assert_service_has("one 10.0.0.0/8 ");
    patch_object(env, &network_kind, "one", "{'spec':{'cidr':12}}");
    settle(env);
    assert_int_equal(count_recorded_events(env, "Invalid", "expected a string"), 1);
    assert_service_has("one 10.0.0.0/8 ");
    patch_object(env, &network_kind, "one", "{'spec':{'cidr':'12.0.0.0/8'}}");
    settle(env);
    assert_service_has("one 12.0.0.0/8 ");
}

static void overlap_ends_when_the_other_network_is_deleted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(begin_empty_service);
    object(env, "one", "10.0.0.0/8");
    settle(env);
    object(env, "two", "10.7.0.0/16");
    kc_testenv_advance(env, 5 * KC_MINUTE);
    assert_service_has("one 10.0.0.0/8 ");
    assert_true(count_recorded_events(env, "Conflict",
                                      "10.7.0.0/16 overlaps with 10.0.0.0/8 of default/one") > 0);
    no_object(env, "one");
    kc_testenv_advance(env, 31 * KC_SECOND);
    assert_service_has("two 10.7.0.0/16 ");
}

/* The one that is there stays, if only the other one wants to change. */
static void overlap_keeps_existing_networks(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(begin_empty_service);
    object(env, "one", "10.0.0.0/8");
    object(env, "two", "11.0.0.0/8");
    settle(env);
    object(env, "two", "10.7.0.0/16");
    kc_testenv_advance(env, 5 * KC_MINUTE);
    assert_service_has("one 10.0.0.0/8 , two 11.0.0.0/8 ");
}

static void outage_is_reported_once_and_recovered(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(begin_empty_service);
    outside.unreachable = 1;
    object(env, "one", "10.0.0.0/8");
    kc_testenv_advance(env, 3 * KC_MINUTE);
    assert_int_equal(
        count_recorded_events(env, "Unreachable", "network service: connection refused"), 1);
    assert_service_has("");
    outside.unreachable = 0;
    kc_testenv_advance(env, 31 * KC_SECOND);
    assert_service_has("one 10.0.0.0/8 ");
}

static void foreign_response_deletes_nothing(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(begin_empty_service);
    object(env, "one", "10.0.0.0/8");
    settle(env);
    outside.broken = 1;
    no_object(env, "one");
    kc_testenv_advance(env, KC_MINUTE);
    outside.broken = 0;
    assert_service_has("one 10.0.0.0/8 ");
    kc_testenv_advance(env, 20 * KC_MINUTE);
    assert_service_has("");
}

static void invalid_response_keeps_object_not_ready(void **state)
{
    (void)state;
    static const char *const answers[] = {"[1,2]", "{}", "{\"items\":[]}", "null", "\"ok\""};
    for (size_t i = 0; i < KC_COUNT(answers); i++) {
        kc_auto(kc_testenv) *env = begin(begin_empty_service_with_status);
        outside.instead = answers[i];
        object(env, "one", "10.0.0.0/8");
        kc_testenv_advance(env, KC_MINUTE);
        outside.instead = NULL;
        kc_auto(kc_object) *one = look_up(env, &network_kind, "one");
        kc_auto(kc_view) *view = kc_view_of(one);
        assert_false(kc_value_as_bool(kc_value_nested(kc_view_root(view), "status.ready"), false));
    }
}

/* ---- status ---- */

/* The sum of the counts of an event. */
static int64_t count_reported(kc_testenv *env, const char *reason)
{
    kc_scoped(kc_object_list) events = {0};
    int64_t n = 0;
    kc_client_list(kc_testenv_client(env), &kc_kind_event, NULL, &events, NULL);
    for (size_t i = 0; i < events.n; i++) {
        kc_auto(kc_view) *view = kc_view_of(events.items[i]);
        if (kc_str_is(kc_value_as_str(kc_value_get(kc_view_root(view), "reason")), reason))
            n += kc_value_as_i64_or(kc_value_get(kc_view_root(view), "count"), 1);
    }
    return n;
}

static void status_is_written_with_status_subresource(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(begin_empty_service_with_status);
    object(env, "one", "10.0.0.0/8");
    settle(env);
    assert_field_is(env, &network_kind, "one", "status.ready", "true");
    assert_field_is(env, &network_kind, "one", "status.observedGeneration", "1");
    object(env, "one", "10.0.0.0/99");
    settle(env);
    assert_field_is(env, &network_kind, "one", "status.ready", "false");
    kc_autofree char *why = text_of(env, &network_kind, "one", "status.message");
    assert_contains(why, "cidr \"10.0.0.0/99\" is not a valid CIDR");
    kc_testenv_advance(env, 5 * KC_MINUTE);
    assert_int_equal(count_recorded_events(env, "Invalid", "10.0.0.0/99"), 1);
    assert_int_equal(count_reported(env, "Invalid"), 1);
    object(env, "one", "11.0.0.0/8");
    settle(env);
    assert_field_is(env, &network_kind, "one", "status.ready", "true");
    assert_field_is(env, &network_kind, "one", "status.message", "");
}

static void missing_status_subresource_is_tried_once(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(begin_empty_service);
    kc_testenv_fault(env, &(kc_fault_opts){.fault = KC_FAULT_SLOW,
                                           .chance = 1,
                                           .kind = &network_kind,
                                           .method = "PUT"}); /* To count them. */
    object(env, "one", "10.0.0.0/8");
    object(env, "two", "11.0.0.0/8");
    kc_testenv_advance(env, 4 * KC_MINUTE);
    assert_true(kc_testenv_faults(env, KC_FAULT_SLOW) > 0);
    assert_true(kc_testenv_faults(env, KC_FAULT_SLOW) <= 2);
    assert_field_is(env, &network_kind, "one", "status", "");
    assert_service_has("one 10.0.0.0/8 , two 11.0.0.0/8 ");
    /* Once it has one, that is found out. */
    apply_file(env, V1);
    kc_testenv_advance(env, 6 * KC_MINUTE);
    assert_field_is(env, &network_kind, "one", "status.ready", "true");
}

/* ---- concurrent clients under faults ---- */

static void create_objects(kc_testenv *env)
{
    begin_empty_service_with_status(env);
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
static void change_objects(kc_testenv *env)
{
    apply_file(env, "../manifests/network/example/example-network.yaml");
    object(env, "moves", "10.1.0.0/16");
    no_object(env, "gone");
    object(env, "left", "10.4.0.0/16");
    object(env, "right", "10.3.0.0/16");
}

static void assert_networks_match(kc_testenv *env)
{
    assert_service_has("moves 10.1.0.0/16 , right 10.3.0.0/16 , left 10.4.0.0/16 , theirs "
                       "10.8.0.0/16 , example-network 192.168.0.0/16 192.168.0.1");
    assert_field_is(env, &network_kind, "moves", "status.ready", "true");
    assert_field_is(env, &network_kind, "left", "status.ready", "true");
    assert_field_is(env, &network_kind, "right", "status.ready", "true");
}

static const scenario *network_scenario(void)
{
    static scenario s;
    s = (scenario){.reconcilers = "network",
                   .instead = network_outside(),
                   .before = create_objects,
                   .event = change_objects,
                   .takes = 65 * KC_SECOND,
                   .end = assert_networks_match};
    return &s;
}

static void final_networks_match_the_objects(void **state)
{
    (void)state;
    scenario_converges(network_scenario());
}

static void converges_under_faults(void **state)
{
    (void)state;
    scenario_converges_after_crashes(network_scenario());
    scenario_converges_with_stale_cache(network_scenario());
    scenario_converges_with_missed_events(network_scenario());
    scenario_converges_with_bad_network(network_scenario());
}

static void restart_reconciler(const scenario *s, kc_testenv *env)
{
    kc_scoped(kc_error) err = {0};
    kc_manager *next = kc_testenv_restart(env, &err);
    OK(next ? 0 : -1, &err);
    scenario_add(s, next);
    OK(kc_testenv_run(env, &err), &err);
}

/* The service has executed the write, and the reconciler crashes before it records that. */
static void crash_after_any_write_to_the_service_is_recovered(void **state)
{
    (void)state;
    const scenario *s = network_scenario();
    size_t writes = 0;
    bool crashed = true;
    while (crashed) {
        kc_auto(kc_testenv) *env = scenario_begin(s, 3);
        outside.crash_after = ++writes;
        scenario_event(s, env);
        scenario_advance(s, env, s->takes);
        crashed = kc_testenv_crashed(env);
        if (crashed)
            restart_reconciler(s, env);
        scenario_advance(s, env, s->takes);
        settle(env);
        s->end(env);
    }
    assert_true(writes > 4);
}

/* A deletion while the reconciler is stopped enqueues no key. */
static void objects_deleted_while_stopped_are_cleaned_up(void **state)
{
    (void)state;
    const scenario *s = network_scenario();
    kc_auto(kc_testenv) *env = scenario_begin(s, 1);
    settle(env);
    kc_testenv_crash_after(env, 0);
    scenario_event(s, env);
    scenario_advance(s, env, s->takes);
    restart_reconciler(s, env);
    scenario_advance(s, env, s->takes);
    settle(env);
    s->end(env);
}

static void converge_with_faulty_service(double unreachable, double lost, double late,
                                         double broken)
{
    const scenario *s = network_scenario();
    for (uint64_t seed = 1; seed <= scenario_seeds(); seed++) {
        kc_auto(kc_testenv) *env = scenario_begin(s, seed);
        kc_rand_seed(&outside.rand, seed);
        outside.unreachable = unreachable;
        outside.lost = lost;
        outside.late = late;
        outside.broken = broken;
        scenario_event(s, env);
        scenario_advance(s, env, s->takes);
        outside.unreachable = outside.lost = outside.late = outside.broken = 0;
        scenario_advance(s, env, s->takes);
        settle(env);
        s->end(env);
    }
}

static void converges_with_a_faulty_service(void **state)
{
    (void)state;
    converge_with_faulty_service(1, 0, 0, 0);
    converge_with_faulty_service(0.5, 0, 0, 0);
    converge_with_faulty_service(0, 0.5, 0, 0);
    converge_with_faulty_service(0, 1, 0, 0);
    converge_with_faulty_service(0, 0, 0.5, 0);
    converge_with_faulty_service(0, 0, 0, 0.5);
    converge_with_faulty_service(0.2, 0.2, 0.2, 0.2);
    outside_end();
}

/* ---- over HTTP ---- */

static void works_over_http(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    char path[] = "/tmp/kc-network-token-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(write(fd, "sesame\n", 7) == 7);
    close(fd);
    kc_auto(kc__network_service) *service = kc__network_service_start(
        &(kc__network_service_opts){.address = "127.0.0.1:0", .token = "sesame"}, &err);
    assert_non_null(service);
    kc_autofree char *config =
        kc_asprintf("reconcilers: {network: {service: \"http://127.0.0.1:%d\", owner: site-7, "
                    "token-file: \"%s\"}}",
                    kc__network_service_port(service), path);
    const scenario s = {.reconcilers = "network", .config = config};
    kc_auto(kc_testenv) *env = kc_testenv_start(&(kc_testenv_opts){0}, &err);
    scenario_add(&s, kc_testenv_manager(env));
    apply_file(env, BETA);
    object(env, "one", "10.0.0.0/8");
    settle(env);
    outside_end();
    outside.service = service;
    assert_service_has("one 10.0.0.0/8 ");
    no_object(env, "one");
    settle(env);
    assert_service_has("");
    outside.service = NULL;
    unlink(path);
}

/* It may be another one soon: neither "not there" nor "refused for good". */
static void wrong_token_is_retried(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0}, why = {0};
    kc_scoped(kc__network_record) record = {0};
    kc_auto(kc__network_service) *service = kc__network_service_start(
        &(kc__network_service_opts){.address = "127.0.0.1:0", .token = "sesame"}, &err);
    kc_autofree char *url = kc_asprintf("http://127.0.0.1:%d", kc__network_service_port(service));
    kc_auto(kc_config) *server = kc_config_for_url(url);
    kc_config config = *server;
    config.token = "open";
    kc__network_client *client = kc__network_client_new(
        &(kc__network_client_opts){.transport = kc_transport_http_new(&config, NULL, &err),
                                   .owner = "me",
                                   .clock = kc_clock_real()});
    assert_true(kc__network_get(client, KC_KEY("default", "one"), NULL, &record, &why) < 0);
    assert_int_equal(why.code, 401);
    assert_false(kc__network_got_response(&why));
    assert_true(kc__network_remove(client, KC_KEY("default", "one"), NULL, NULL) < 0);
    kc__network_client_free(client);
}

static void missing_token_file_is_reported(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = plane(1);
    kc_auto(kc_app_config) *config =
        kc_app_config_parse(KC_STR("reconcilers: {network: {token-file: /no/such/token}}"), &err);
    kc_auto(kc_app) *app = kc_app_new(&(kc_app_opts){.config = config, .names = "network"});
    OK(kc_app_add_linked(app, &err), &err);
    assert_true(kc_app_setup(app, kc_testenv_manager(env), &err) < 0);
    assert_contains(kc_error_text(&err), "/no/such/token");
}

static void invalid_settings_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *config, *expected_message;
    } cases[] = {
        {"reconcilers: {network: {service: \"ftp://here\"}}", "reconciler network: service: "},
        {"reconcilers: {network: {owner: \"Two words\"}}",
         "reconciler network: owner: \"Two words\" is not a valid name"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_error) err = {0};
        kc_auto(kc_testenv) *env = plane(1);
        kc_auto(kc_app_config) *config = kc_app_config_parse(kc_cstr(cases[i].config), &err);
        kc_auto(kc_app) *app = kc_app_new(&(kc_app_opts){.config = config, .names = "network"});
        OK(kc_app_add_linked(app, &err), &err);
        assert_true(kc_app_setup(app, kc_testenv_manager(env), &err) < 0);
        assert_contains(kc_error_text(&err), cases[i].expected_message);
    }
}

TESTS(invalid_response_keeps_object_not_ready, network_of_the_object_is_created_updated_and_deleted,
      unchanged_network_causes_no_write, manual_changes_of_the_service_are_reverted,
      networks_of_other_owners_are_unchanged, stale_cache_deletes_no_network,
      refused_network_is_reported_and_waits_for_a_change,
      overlap_ends_when_the_other_network_is_deleted, overlap_keeps_existing_networks,
      outage_is_reported_once_and_recovered, foreign_response_deletes_nothing,
      status_is_written_with_status_subresource, missing_status_subresource_is_tried_once,
      final_networks_match_the_objects, converges_under_faults,
      crash_after_any_write_to_the_service_is_recovered,
      objects_deleted_while_stopped_are_cleaned_up, converges_with_a_faulty_service,
      works_over_http, wrong_token_is_retried, missing_token_file_is_reported,
      invalid_settings_are_refused)
