/* SPDX-License-Identifier: Apache-2.0 */
/* Checks before a migration starts, and what is never reported. */
#include "redismigration_testing.h"

static void assert_refused(kc_testenv *env, const char *part)
{
    ASSERT_FIELD_CONTAINS("status.state.PreFlight.error", part);
    ASSERT_FIELD("status.phase", "PreFailed");
    assert_true(count_recorded_events(env, "PhaseFailed", part) > 0);
}

static void unknown_endpoint_name_fails_and_can_be_reset(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    kc_client_delete(kc_testenv_client(env), &kc_kind_config_map, KC_KEY("default", "tx-123"), NULL,
                     NULL);
    migrate(env, "'source':'ali-123','dest':'tx-123'");
    assert_refused(env, "spec.dest: Redis tx-123 not found: no Secret or "
                        "ConfigMap of that name in namespace default");
    create_both_endpoints(env);
    order(env, "reset");
    assert_succeeds(env);
    assert_int_equal(redis_count(&dest), 50);
}

static void wrong_password_is_reported_without_the_password(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    patch_object(env, &kc_kind_secret, "ali-123", "{'stringData':{'password':'wr0ng-one'}}");
    migrate(env, "'source':'ali-123','dest':'tx-123'");
    assert_refused(env, "server refused the password (WRONGPASS)");
    create_both_endpoints(env);
    order(env, "reset");
    assert_succeeds(env);
}

static void destination_with_keys_requires_overwrite(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    redis_do(&dest, "SET k1 old");
    redis_do(&dest, "SET own x");
    migrate(env, "'source':'ali-123','dest':'tx-123'");
    assert_refused(env,
                   "the destination already has 2 keys; set spec.overwrite: true to allow that");
    patch_object(env, &redis_migration_kind, "rmtest", "{'spec':{'overwrite':true}}");
    order(env, "reset");
    assert_succeeds(env);
    assert_str(redis_do(&dest, "GET k1").str, "value 1");
    ASSERT_FIELD("status.state.InFlight.steps.verify.warning",
                 "the destination has 1 keys that the source does not have");
}

static void copy_onto_the_same_database_is_refused(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    kc_autofree char *spec =
        kc_asprintf("'source':'127.0.0.1:%d','dest':'127.1:%d/0'", dest.port, dest.port);
    migrate(env, spec);
    assert_refused(env, "source and destination are the same database");
}

static void another_database_of_the_same_server_is_allowed(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    redis_fill(&dest, "own", 30);
    kc_autofree char *spec = kc_asprintf("'source':'127.0.0.1:%d','dest':'redis://127.0.0.1:%d/3'",
                                         dest.port, dest.port);
    migrate(env, spec);
    assert_succeeds(env);
    redis_do(&dest, "SELECT 3");
    assert_int_equal(redis_count(&dest), 30);
}

static void read_only_replica_is_refused(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    redis_do(&dest, "REPLICAOF 127.0.0.1 1");
    migrate(env, "'source':'ali-123','dest':'tx-123'");
    assert_refused(env, "the destination is a read-only replica");
}

static void destination_with_too_little_memory_is_refused(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    redis_do(&source, "SETRANGE large 5000000 x");
    redis_do(&dest, "CONFIG SET maxmemory 3000000");
    migrate(env, "'source':'ali-123','dest':'tx-123'");
    assert_refused(env, "the destination has too little memory: maxmemory 3000000 bytes");
}

static void unreachable_server_is_retried_for_a_time(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    redis_server_kill(&dest);
    migrate(env, "'source':'ali-123','dest':'tx-123'");
    ASSERT_FIELD("status.phase", "PreFlight");
    ASSERT_FIELD_CONTAINS("status.state.PreFlight.error", "dest tx-123 (127.0.0.1:");
    ASSERT_FIELD_CONTAINS("status.state.PreFlight.error", "cannot connect: Connection refused");
    kc_testenv_advance(env, 60 * KC_SECOND);
    assert_refused(env, "(after 6 attempts)");
    redis_server_start(&dest);
    order(env, "reset");
    assert_succeeds(env);
}

static void cluster_node_is_refused(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    char bus[8];
    snprintf(bus, sizeof(bus), "%d", free_port());
    redis_server node = {.args = {"--cluster-enabled", "yes", "--cluster-port", bus}};
    redis_server_start(&node);
    kc_autofree char *spec = kc_asprintf("'source':'ali-123','dest':'127.0.0.1:%d'", node.port);
    migrate(env, spec);
    assert_refused(env, "the dest is a cluster node, which has only a part of the keys");
    redis_server_stop(&node);
}

static void all_failed_checks_are_reported(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    redis_do(&dest, "SET own x");
    redis_do(&dest, "REPLICAOF 127.0.0.1 1");
    migrate(env, "'source':'ali-123','dest':'tx-123'");
    ASSERT_FIELD_CONTAINS("status.state.PreFlight.objects",
                          "\"error\":\"the destination is a read-only replica");
    ASSERT_FIELD_CONTAINS("status.state.PreFlight.objects",
                          "\"error\":\"the destination already has 1 keys");
}

/* ---- passwords ---- */

static void keep_line(kc_str line, void *user)
{
    kc_buf_append(user, line);
}

/* In what was said: status, events, log. */
static void assert_nowhere(kc_testenv *env, const kc_buf *log, const char *secret)
{
    kc_autofree char *status = text_of(env, &redis_migration_kind, "rmtest", "status");
    assert_null(strstr(status, secret));
    kc_scoped(kc_object_list) events = {0};
    kc_client_list(kc_testenv_client(env), &kc_kind_event, NULL, &events, NULL);
    assert_true(events.n > 0);
    for (size_t i = 0; i < events.n; i++)
        assert_false(kc_str_contains(kc_object_json(events.items[i]), kc_cstr(secret)));
    assert_true(log->n > 0);
    assert_false(kc_str_contains(kc_buf_str(log), kc_cstr(secret)));
}

static void migrate_with_secret(const char *user_and_password, const char *phase,
                                const char *secret)
{
    kc_scoped(kc_buf) lines = {0};
    kc_auto(kc_log) *log = kc_log_new(&(kc_log_opts){
        .level = KC_LOG_DEBUG, .verbosity = KC_LOG_MAX_V, .write = keep_line, .user = &lines});
    kc_auto(kc_testenv) *env = kc_testenv_start(&(kc_testenv_opts){.seed = 1, .log = log}, NULL);
    definition(env);
    create_both_endpoints(env);
    scenario_add(&(scenario){.reconcilers = "redismigration"}, kc_testenv_manager(env));
    kc_testenv_run(env, NULL);
    kc_autofree char *spec = kc_asprintf("'source':'redis://%s127.0.0.1:%d','dest':'tx-123'",
                                         user_and_password, source.port);
    migrate(env, spec);
    kc_testenv_advance(env, 20 * KC_SECOND);
    ASSERT_FIELD("status.phase", phase);
    assert_nowhere(env, &lines, secret);
    env = kc_testenv_stop(env);
}

static void passwords_appear_in_no_object_or_event(void **state)
{
    (void)state;
    start_both();
    migrate_with_secret(":s3cret-of-ali@", "Succeeded", "s3cret-of-ali");
    migrate_with_secret(":wr0ng@", "PreFailed", "wr0ng");
    migrate_with_secret("ada:wr0ng@", "PreFailed", "wr0ng");
    migrate_with_secret(":wr0ng%@", "PreFailed", "wr0ng");
    migrate_with_secret(":wr0ng", "PreFailed", "wr0ng");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_TEST(unknown_endpoint_name_fails_and_can_be_reset),
        REDIS_TEST(wrong_password_is_reported_without_the_password),
        REDIS_TEST(destination_with_keys_requires_overwrite),
        REDIS_TEST(copy_onto_the_same_database_is_refused),
        REDIS_TEST(another_database_of_the_same_server_is_allowed),
        REDIS_TEST(read_only_replica_is_refused),
        REDIS_TEST(destination_with_too_little_memory_is_refused),
        REDIS_TEST(unreachable_server_is_retried_for_a_time),
        REDIS_TEST(cluster_node_is_refused),
        REDIS_TEST(all_failed_checks_are_reported),
        REDIS_TEST(passwords_appear_in_no_object_or_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
