/* SPDX-License-Identifier: Apache-2.0 */
/* Migrations in progress: copied keys, and faults during the copy. */
#include "redismigration_testing.h"

/* ---- keys of all types ---- */

enum { MANY = 1500 };

static void fill_with_all_types(redis_server *s)
{
    static const char binary[] = "a\0b\r\n\xff$5";
    kc_scoped(kc_buf) big = {0};
    for (int i = 0; i < 300000; i++)
        kc_buf_putc(&big, (char)(i * 7 % 251));
    redis_do(s, "FLUSHALL");
    REDIS_DO(s, KC_STR("SET"), kc_str_of(binary, sizeof(binary) - 1),
             kc_str_of(binary, sizeof(binary) - 1));
    REDIS_DO(s, KC_STR("SET"), KC_STR("big"), kc_buf_str(&big));
    REDIS_DO(s, KC_STR("SET"), KC_STR("empty"), KC_STR(""));
    redis_do(s, "SET number 42");
    redis_do(s, "SET short-lived x PX 600000");
    redis_do(s, "RPUSH list a b c a");
    redis_do(s, "HSET hash f v g w");
    redis_do(s, "SADD set 1 2 3");
    redis_do(s, "ZADD zset 1.5 a -inf b 3 c");
    redis_do(s, "XADD stream 1-1 k v");
    redis_do(s, "XGROUP CREATE stream group 0");
    redis_do(s, "PFADD loglog a b c");
    redis_do(s, "SETBIT bits 100000 1");
    redis_do(s, "HSET session user ada");
    redis_do(s, "PEXPIRE session 900000");
    /* Packed in an order of the server's own. */
    REDIS_DO(s, KC_STR("EVAL"),
             KC_STR("for i = 0, 1999 do redis.call('HSET', 'bighash', 'f' .. i, 'v' .. i) "
                    "redis.call('SADD', 'bigset', 'member-' .. i) "
                    "redis.call('ZADD', 'bigzset', i + 0.25, 'member-' .. i) end"),
             KC_STR("0"));
    redis_fill(s, "k", MANY);
}

enum { ALL = MANY + 16 };

static void begin_with_all_types(kc_testenv *env)
{
    definition(env);
    create_both_endpoints(env);
    fill_with_all_types(&source);
    redis_do(&dest, "FLUSHALL");
}

static void assert_migrated(kc_testenv *env)
{
    static const char *const commands[] = {
        "GET big",
        "GET empty",
        "STRLEN empty",
        "GET number",
        "GET bits",
        "LRANGE list 0 -1",
        "HGETALL hash",
        "PFCOUNT loglog",
        "SCARD bigset",
        "GET k0",
        "GET k1499",
        "HGETALL session",
        "ZRANGE zset 0 -1 WITHSCORES",
        "HLEN bighash",
        "HGET bighash f1999",
        "ZRANGE bigzset 0 -1 WITHSCORES",
        "XRANGE stream - +",
        "XINFO GROUPS stream",
        "TYPE set",
        "SMISMEMBER set 1 2 3 4",
    };
    for (size_t i = 0; i < KC_COUNT(commands); i++)
        assert_same_text(commands[i]);
    static const char binary[] = "a\0b\r\n\xff$5";
    assert_str(REDIS_DO(&dest, KC_STR("TYPE"), kc_str_of(binary, sizeof(binary) - 1)).str,
               "string");
    assert_int_equal(redis_count(&dest), ALL);
    const int64_t left = redis_do(&dest, "PTTL session").number;
    assert_true(left > 800000 && left <= 900000);
    assert_int_equal(redis_do(&dest, "PTTL hash").number, -1);
    ASSERT_FIELD("status.phase", "Succeeded");
    ASSERT_FIELD("status.state.InFlight.steps.verify.state.different", "0");
    ASSERT_FIELD("status.state.InFlight.steps.verify.warning", "");
}

static const scenario arrives = {.reconcilers = "redismigration",
                                 .config = "reconcilers: {redismigration: {batch: 600}}",
                                 .before = begin_with_all_types,
                                 .event = sample,
                                 .takes = 30 * KC_SECOND,
                                 .end = assert_migrated};

static void keys_of_all_types_are_copied(void **state)
{
    (void)state;
    start_both();
    kc_auto(kc_testenv) *env = scenario_begin(&arrives, 1);
    scenario_event(&arrives, env);
    scenario_advance(&arrives, env, arrives.takes);
    assert_migrated(env);
    ASSERT_FIELD("status.state.Pending.state.source", "ali-123");
    ASSERT_FIELD_CONTAINS("status.state.PreFlight.objects", "Destination has enough memory");
    ASSERT_FIELD_CONTAINS("status.state.InFlight.steps.copy_keys.state.progress", "/15");
    assert_int_equal(count_recorded_events(env, "PhaseSucceeded", "InFlight ended in Succeeded"),
                     1);
}

static void converges_under_faults(void **state)
{
    (void)state;
    start_both();
    scenario_converges_after_crashes(&arrives);
    scenario_converges_with_stale_cache(&arrives);
    scenario_converges_with_missed_events(&arrives);
    scenario_converges_with_bad_network(&arrives);
}

static void twenty_thousand_keys_are_copied(void **state)
{
    (void)state;
    start_both();
    kc_auto(kc_testenv) *env = plane(0);
    definition(env);
    create_both_endpoints(env);
    redis_fill(&source, "k", 20000);
    scenario_add(&(scenario){.reconcilers = "redismigration"}, kc_testenv_manager(env));
    kc_testenv_run(env, NULL);
    sample(env);
    for (int i = 0; i < 600; i++) {
        kc_testenv_advance(env, 100 * KC_MILLISECOND);
        kc_autofree char *phase = text_of(env, &redis_migration_kind, "rmtest", "status.phase");
        if (!strcmp(phase, "Succeeded"))
            break;
    }
    ASSERT_FIELD("status.phase", "Succeeded");
    ASSERT_FIELD_CONTAINS("status.state.InFlight.steps.copy_keys.state.progress", "200");
    assert_int_equal(redis_count(&dest), 20000);
    assert_same_text("GET k19999");
}

/* ---- during the copy ---- */

static void wait_until_some_are_copied(kc_testenv *env)
{
    for (int i = 0; i < 2000 && redis_count(&dest) == 0; i++)
        kc_testenv_advance(env, KC_MILLISECOND);
    assert_true(redis_count(&dest) > 0);
}

static void start_many(kc_testenv *env)
{
    redis_fill(&source, "m", 5000);
    sample(env);
    wait_until_some_are_copied(env);
    assert_true(redis_count(&dest) < 5000);
}

static void restarted_destination_gets_all_keys(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    start_many(env);
    redis_server_kill(&dest);
    kc_testenv_advance(env, 20 * KC_SECOND);
    ASSERT_FIELD("status.phase", "InFlight");
    ASSERT_FIELD_CONTAINS("status.state.InFlight.error", "Connection refused");
    redis_server_start(&dest);
    assert_succeeds(env);
    assert_int_equal(redis_count(&dest), 5050);
}

static void hanging_destination_is_waited_for(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env =
        begun_with_timeout(1, "300ms"); /* Others that it hits are retried. */
    start_many(env);
    kill(dest.pid, SIGSTOP);
    kc_testenv_advance(env, 10 * KC_SECOND);
    ASSERT_FIELD("status.phase", "InFlight");
    ASSERT_FIELD_CONTAINS("status.state.InFlight.error", "timed out waiting for a reply");
    kc_autofree char *before = text_of(env, &redis_migration_kind, "rmtest",
                                       "status.state.InFlight.steps.copy_keys.state.keys");
    kill(dest.pid, SIGCONT);
    assert_succeeds(env);
    assert_int_equal(redis_count(&dest), 5050);
    assert_true(atoi(before) > 0);
}

static void restarted_source_is_scanned_again(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    start_many(env);
    redis_server_kill(&source);
    redis_server_start(&source);
    redis_fill(&source, "k", 50);
    redis_fill(&source, "m", 5000);
    assert_succeeds(env);
    assert_int_equal(redis_count(&dest), 5050);
}

static void destination_out_of_memory_fails_and_resumes_after_reset(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    start_many(env);
    redis_do(&dest, "CONFIG SET maxmemory 1");
    kc_testenv_advance(env, 10 * KC_SECOND);
    ASSERT_FIELD("status.phase", "Failed");
    ASSERT_FIELD_CONTAINS("status.state.InFlight.error", "server replied: OOM command not allowed");
    redis_do(&dest, "CONFIG SET maxmemory 0");
    order(env, "reset");
    assert_succeeds(env);
    assert_int_equal(redis_count(&dest), 5050);
}

static void keys_expired_during_the_copy_are_no_difference(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    for (int i = 0; i < 2000; i++) {
        char text[64];
        snprintf(text, sizeof(text), "SET e%d x PX %d", i, 100 + i / 10);
        redis_do(&source, text);
    }
    migrate(env, "'source':'ali-123','dest':'tx-123'");
    assert_succeeds(env);
    while (redis_count(&dest) > 50)
        usleep(1000);
    assert_same_text("GET k49");
}

static void oversized_key_is_named_in_error(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    kc_scoped(kc_buf) noise = {0};
    kc_rand rand;
    kc_rand_seed(&rand, 1);
    kc_rand_bytes(&rand, kc_buf_reserve(&noise, 3 << 20), 3 << 20);
    noise.n = 3 << 20;
    REDIS_DO(&source, KC_STR("SET"), KC_STR("the \"big\" one"), kc_buf_str(&noise));
    migrate(env, "'source':'ali-123','dest':'tx-123'");
    ASSERT_FIELD("status.phase", "Failed");
    ASSERT_FIELD_CONTAINS("status.state.InFlight.error",
                          "key \"the \\x22big\\x22 one\": a reply of 31457");
    redis_do(&source, "FLUSHDB");
    redis_fill(&source, "k", 50);
    order(env, "reset");
    assert_succeeds(env);
}

/* Back to where all is copied and nothing is compared. */
static void verify_again(kc_testenv *env)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *now = kc_client_patch(
        kc_testenv_client(env), &redis_migration_kind, KC_KEY("default", "rmtest"), KC_PATCH_MERGE,
        KC_STR("{\"status\":{\"phase\":\"InFlight\",\"state\":{\"InFlight\":{\"done\":null,"
               "\"steps\":{\"verify\":null}}}}}"),
        &(kc_write_opts){.subresource = "status"}, &err);
    OK(now ? 0 : -1, &err);
    patch_object(env, &redis_migration_kind, "rmtest", "{'metadata':{'annotations':{'a':'b'}}}");
    kc_testenv_advance(env, 5 * KC_SECOND);
}

static void differing_keys_are_named_and_can_be_copied_again(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    migrate(env, "'source':'ali-123','dest':'tx-123'");
    assert_succeeds(env);
    redis_do(&dest, "DEL k7");
    redis_do(&dest, "SET k8 other");
    verify_again(env);
    ASSERT_FIELD("status.phase", "Failed");
    ASSERT_FIELD_CONTAINS("status.state.InFlight.error",
                          "verify: 2 of 50 keys differ at the destination: ");
    ASSERT_FIELD_CONTAINS("status.state.InFlight.error", "\"k7\" is missing");
    ASSERT_FIELD_CONTAINS("status.state.InFlight.error", "\"k8\" has another value");
    order(env, "reset");
    kc_testenv_advance(env, 10 * KC_SECOND);
    ASSERT_FIELD("status.phase", "Failed");
    order(env, "revert");
    assert_succeeds(env);
    assert_str(redis_do(&dest, "GET k8").str, "value 8");
}

static void verification_stops_after_100_differences(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    redis_fill(&source, "m", 1000);
    migrate(env, "'source':'ali-123','dest':'tx-123'");
    assert_succeeds(env);
    redis_do(&dest, "FLUSHALL");
    verify_again(env);
    ASSERT_FIELD("status.phase", "Failed");
    ASSERT_FIELD_CONTAINS("status.state.InFlight.error", "verify: at least 100 of ");
}

static void changed_destination_is_not_written(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    redis_fill(&source, "m", 5000);
    sample(env);
    wait_until_some_are_copied(env);
    patch_object(env, &kc_kind_config_map, "tx-123", "{'data':{'db':'4'}}");
    kc_testenv_advance(env, 20 * KC_SECOND);
    ASSERT_FIELD("status.phase", "Failed");
    ASSERT_FIELD_CONTAINS("status.state.InFlight.error", "/4 now and was 127.0.0.1:");
    redis_do(&dest, "SELECT 4");
    assert_int_equal(redis_count(&dest), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_TEST(keys_of_all_types_are_copied),
        REDIS_TEST(converges_under_faults),
        REDIS_TEST(twenty_thousand_keys_are_copied),
        REDIS_TEST(restarted_destination_gets_all_keys),
        REDIS_TEST(hanging_destination_is_waited_for),
        REDIS_TEST(restarted_source_is_scanned_again),
        REDIS_TEST(destination_out_of_memory_fails_and_resumes_after_reset),
        REDIS_TEST(keys_expired_during_the_copy_are_no_difference),
        REDIS_TEST(oversized_key_is_named_in_error),
        REDIS_TEST(differing_keys_are_named_and_can_be_copied_again),
        REDIS_TEST(verification_stops_after_100_differences),
        REDIS_TEST(changed_destination_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
