/* SPDX-License-Identifier: Apache-2.0 */
/* Migrations before they begin: what is looked at, and told; and what never is. */
#include "redismigration_testing.h"

static void assert_refused(kc_testenv *env, const char *part)
{
    TELLS("status.state.PreFlight.error", part);
    SAYS("status.phase", "PreFailed");
    assert_true(events_told(env, "PhaseFailed", part) > 0);
}

static void a_name_nobody_knows_is_told_and_can_be_put_right(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    kc_client_delete(kc_testenv_client(env), &kc_kind_config_map, KC_KEY("default", "tx-123"), NULL,
                     NULL);
    migrate(env, "'source':'ali-123','dest':'tx-123'");
    assert_refused(env, "spec.dest: no Redis is known as tx-123: there is neither a Secret nor a "
                        "ConfigMap of that name in namespace default");
    know_both(env);
    order(env, "reset");
    assert_succeeds(env);
    assert_int_equal(redis_count(&dest), 50);
}

static void a_wrong_password_is_told_and_not_shown(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    patch_it(env, &kc_kind_secret, "ali-123", "{'stringData':{'password':'wr0ng-one'}}");
    migrate(env, "'source':'ali-123','dest':'tx-123'");
    assert_refused(env, "it refuses the password (WRONGPASS)");
    know_both(env);
    order(env, "reset");
    assert_succeeds(env);
}

static void a_dest_with_keys_needs_leave(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    redis_do(&dest, "SET k1 old");
    redis_do(&dest, "SET own x");
    migrate(env, "'source':'ali-123','dest':'tx-123'");
    assert_refused(env, "the dest has 2 keys already; spec.overwrite: true allows that");
    patch_it(env, &redis_migration_kind, "rmtest", "{'spec':{'overwrite':true}}");
    order(env, "reset");
    assert_succeeds(env);
    assert_str(redis_do(&dest, "GET k1").str, "value 1");
    SAYS("status.state.InFlight.steps.verify.warning",
         "the dest has 1 keys that the source has not");
}

static void a_database_is_not_copied_onto_itself(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    kc_autofree char *spec =
        kc_asprintf("'source':'127.0.0.1:%d','dest':'127.1:%d/0'", dest.port, dest.port);
    migrate(env, spec);
    assert_refused(env, "source and dest are the same database of the same server");
}

static void another_database_of_the_same_server_is_fine(void **state)
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

static void a_replica_that_is_only_read_is_refused(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    redis_do(&dest, "REPLICAOF 127.0.0.1 1");
    migrate(env, "'source':'ali-123','dest':'tx-123'");
    assert_refused(env, "the dest is a replica that can only be read");
}

static void too_little_memory_is_told(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    redis_do(&source, "SETRANGE large 5000000 x");
    redis_do(&dest, "CONFIG SET maxmemory 3000000");
    migrate(env, "'source':'ali-123','dest':'tx-123'");
    assert_refused(env, "the dest has not enough memory: maxmemory is 3000000 bytes");
}

static void one_that_does_not_answer_is_waited_for_a_while(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    redis_server_kill(&dest);
    migrate(env, "'source':'ali-123','dest':'tx-123'");
    SAYS("status.phase", "PreFlight");
    TELLS("status.state.PreFlight.error", "dest tx-123 (127.0.0.1:");
    TELLS("status.state.PreFlight.error", "cannot connect: Connection refused");
    kc_testenv_advance(env, 60 * KC_SECOND);
    assert_refused(env, "(tried 6 times)");
    redis_server_start(&dest);
    order(env, "reset");
    assert_succeeds(env);
}

static void a_node_of_a_cluster_is_refused(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    char bus[8];
    snprintf(bus, sizeof(bus), "%d", free_port());
    redis_server node = {.args = {"--cluster-enabled", "yes", "--cluster-port", bus}};
    redis_server_start(&node);
    kc_autofree char *spec = kc_asprintf("'source':'ali-123','dest':'127.0.0.1:%d'", node.port);
    migrate(env, spec);
    assert_refused(env, "the dest is a node of a cluster, which has only some of the keys");
    redis_server_stop(&node);
}

static void all_that_is_wrong_is_told_at_once(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begun(1);
    redis_do(&dest, "SET own x");
    redis_do(&dest, "REPLICAOF 127.0.0.1 1");
    migrate(env, "'source':'ali-123','dest':'tx-123'");
    TELLS("status.state.PreFlight.objects", "\"error\":\"the dest is a replica");
    TELLS("status.state.PreFlight.objects", "\"error\":\"the dest has 1 keys already");
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
    kc_scoped(kc_objects) events = {0};
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
    know_both(env);
    story_add(&(story){.reconcilers = "redismigration"}, kc_testenv_manager(env));
    kc_testenv_run(env, NULL);
    kc_autofree char *spec = kc_asprintf("'source':'redis://%s127.0.0.1:%d','dest':'tx-123'",
                                         user_and_password, source.port);
    migrate(env, spec);
    kc_testenv_advance(env, 20 * KC_SECOND);
    SAYS("status.phase", phase);
    assert_nowhere(env, &lines, secret);
    env = kc_testenv_stop(env);
}

static void passwords_stand_nowhere(void **state)
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
        REDIS_TEST(a_name_nobody_knows_is_told_and_can_be_put_right),
        REDIS_TEST(a_wrong_password_is_told_and_not_shown),
        REDIS_TEST(a_dest_with_keys_needs_leave),
        REDIS_TEST(a_database_is_not_copied_onto_itself),
        REDIS_TEST(another_database_of_the_same_server_is_fine),
        REDIS_TEST(a_replica_that_is_only_read_is_refused),
        REDIS_TEST(too_little_memory_is_told),
        REDIS_TEST(one_that_does_not_answer_is_waited_for_a_while),
        REDIS_TEST(a_node_of_a_cluster_is_refused),
        REDIS_TEST(all_that_is_wrong_is_told_at_once),
        REDIS_TEST(passwords_stand_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
