/* SPDX-License-Identifier: Apache-2.0 */
/* Migrations on their way: what is copied, what goes wrong meanwhile. */
#include "redismigration_testing.h"

/* ---- keys of all types ---- */

enum { MANY = 1500 };

static void fill_with_everything(redis_server *s)
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

static void nothing_but_everything(kc_testenv *env)
{
    definition(env);
    know_both(env);
    fill_with_everything(&source);
    redis_do(&dest, "FLUSHALL");
}

static void all_is_there(kc_testenv *env)
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
    SAYS("status.phase", "Succeeded");
    SAYS("status.state.InFlight.steps.verify.state.different", "0");
    SAYS("status.state.InFlight.steps.verify.warning", "");
}

static const story arrives = {.reconcilers = "redismigration",
                              .config = "reconcilers: {redismigration: {batch: 600}}",
                              .before = nothing_but_everything,
                              .event = sample,
                              .takes = 30 * KC_SECOND,
                              .end = all_is_there};

static void it_copies_keys_of_all_types(void **state)
{
    (void)state;
    start_both();
    kc_auto(kc_testenv) *env = story_begin(&arrives, 1);
    story_event(&arrives, env);
    story_pass(&arrives, env, arrives.takes);
    all_is_there(env);
    SAYS("status.state.Pending.state.source", "ali-123");
    TELLS("status.state.PreFlight.objects", "The dest has enough memory");
    TELLS("status.state.InFlight.steps.copy_keys.state.progress", "/15");
    assert_int_equal(events_told(env, "PhaseSucceeded", "InFlight ended in Succeeded"), 1);
}

static void it_survives_everything(void **state)
{
    (void)state;
    start_both();
    it_survives_a_crash_after_any_write(&arrives);
    it_survives_a_stale_cache(&arrives);
    it_survives_missed_events(&arrives);
    it_survives_a_bad_network(&arrives);
}

static void it_copies_many_keys(void **state)
{
    (void)state;
    start_both();
    kc_auto(kc_testenv) *env = plane(0);
    definition(env);
    know_both(env);
    redis_fill(&source, "k", 20000);
    story_add(&(story){.reconcilers = "redismigration"}, kc_testenv_manager(env));
    kc_testenv_run(env, NULL);
    sample(env);
    for (int i = 0; i < 600; i++) {
        kc_testenv_advance(env, 100 * KC_MILLISECOND);
        kc_autofree char *phase = text_of(env, &redis_migration_kind, "rmtest", "status.phase");
        if (!strcmp(phase, "Succeeded"))
            break;
    }
    SAYS("status.phase", "Succeeded");
    TELLS("status.state.InFlight.steps.copy_keys.state.progress", "200");
    assert_int_equal(redis_count(&dest), 20000);
    assert_same_text("GET k19999");
}

/* ---- on the way ---- */

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

static void a_dest_that_is_started_anew_gets_all_keys(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    start_many(env);
    redis_server_kill(&dest);
    kc_testenv_advance(env, 20 * KC_SECOND);
    SAYS("status.phase", "InFlight");
    TELLS("status.state.InFlight.error", "Connection refused");
    redis_server_start(&dest);
    assert_succeeds(env);
    assert_int_equal(redis_count(&dest), 5050);
}

static void a_dest_that_hangs_is_waited_for(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    start_many(env);
    kill(dest.pid, SIGSTOP);
    kc_testenv_advance(env, 10 * KC_SECOND);
    SAYS("status.phase", "InFlight");
    TELLS("status.state.InFlight.error", "no answer in time");
    kc_autofree char *before = text_of(env, &redis_migration_kind, "rmtest",
                                       "status.state.InFlight.steps.copy_keys.state.keys");
    kill(dest.pid, SIGCONT);
    assert_succeeds(env);
    assert_int_equal(redis_count(&dest), 5050);
    assert_true(atoi(before) > 0);
}

static void a_source_that_is_started_anew_is_gone_through_again(void **state)
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

static void a_dest_without_memory_fails_and_goes_on_with_more(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    start_many(env);
    redis_do(&dest, "CONFIG SET maxmemory 1");
    kc_testenv_advance(env, 10 * KC_SECOND);
    SAYS("status.phase", "Failed");
    TELLS("status.state.InFlight.error", "it answers: OOM command not allowed");
    redis_do(&dest, "CONFIG SET maxmemory 0");
    order(env, "reset");
    assert_succeeds(env);
    assert_int_equal(redis_count(&dest), 5050);
}

static void keys_that_expire_meanwhile_are_no_difference(void **state)
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

static void a_key_that_is_too_big_is_named(void **state)
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
    SAYS("status.phase", "Failed");
    TELLS("status.state.InFlight.error", "key \"the \\x22big\\x22 one\": an answer of 31457");
    redis_do(&source, "FLUSHDB");
    redis_fill(&source, "k", 50);
    order(env, "reset");
    assert_succeeds(env);
}

/* Back to where all is copied and nothing is compared. */
static void compare_anew(kc_testenv *env)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *now = kc_client_patch(
        kc_testenv_client(env), &redis_migration_kind, KC_KEY("default", "rmtest"), KC_PATCH_MERGE,
        KC_STR("{\"status\":{\"phase\":\"InFlight\",\"state\":{\"InFlight\":{\"done\":null,"
               "\"steps\":{\"verify\":null}}}}}"),
        &(kc_write_opts){.subresource = "status"}, &err);
    OK(now ? 0 : -1, &err);
    patch_it(env, &redis_migration_kind, "rmtest", "{'metadata':{'annotations':{'a':'b'}}}");
    kc_testenv_advance(env, 5 * KC_SECOND);
}

static void keys_that_differ_are_named_and_can_be_copied_again(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    migrate(env, "'source':'ali-123','dest':'tx-123'");
    assert_succeeds(env);
    redis_do(&dest, "DEL k7");
    redis_do(&dest, "SET k8 other");
    compare_anew(env);
    SAYS("status.phase", "Failed");
    TELLS("status.state.InFlight.error", "verify: 2 of 50 keys differ at the dest: ");
    TELLS("status.state.InFlight.error", "\"k7\" is missing");
    TELLS("status.state.InFlight.error", "\"k8\" has another value");
    order(env, "reset");
    kc_testenv_advance(env, 10 * KC_SECOND);
    SAYS("status.phase", "Failed");
    order(env, "revert");
    assert_succeeds(env);
    assert_str(redis_do(&dest, "GET k8").str, "value 8");
}

static void when_all_differs_it_does_not_look_at_all(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    redis_fill(&source, "m", 1000);
    migrate(env, "'source':'ali-123','dest':'tx-123'");
    assert_succeeds(env);
    redis_do(&dest, "FLUSHALL");
    compare_anew(env);
    SAYS("status.phase", "Failed");
    TELLS("status.state.InFlight.error", "verify: at least 100 of ");
}

static void a_source_that_is_another_now_is_not_touched(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    redis_fill(&source, "m", 5000);
    sample(env);
    wait_until_some_are_copied(env);
    patch_it(env, &kc_kind_config_map, "tx-123", "{'data':{'db':'4'}}");
    kc_testenv_advance(env, 20 * KC_SECOND);
    SAYS("status.phase", "Failed");
    TELLS("status.state.InFlight.error", "/4 now, and was 127.0.0.1:");
    redis_do(&dest, "SELECT 4");
    assert_int_equal(redis_count(&dest), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        REDIS_TEST(it_copies_keys_of_all_types),
        REDIS_TEST(it_survives_everything),
        REDIS_TEST(it_copies_many_keys),
        REDIS_TEST(a_dest_that_is_started_anew_gets_all_keys),
        REDIS_TEST(a_dest_that_hangs_is_waited_for),
        REDIS_TEST(a_source_that_is_started_anew_is_gone_through_again),
        REDIS_TEST(a_dest_without_memory_fails_and_goes_on_with_more),
        REDIS_TEST(keys_that_expire_meanwhile_are_no_difference),
        REDIS_TEST(a_key_that_is_too_big_is_named),
        REDIS_TEST(keys_that_differ_are_named_and_can_be_copied_again),
        REDIS_TEST(when_all_differs_it_does_not_look_at_all),
        REDIS_TEST(a_source_that_is_another_now_is_not_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
