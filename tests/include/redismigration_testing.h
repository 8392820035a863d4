/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redismigration_testing.h: two real Redis servers, a plane that knows them as ali-123 and tx-123,
 * and what a migration between them says. The plane is simulated all the same: while a thread waits
 * for a Redis server, virtual time stands still.
 */
#ifndef KC_REDISMIGRATION_TESTING_H
#define KC_REDISMIGRATION_TESTING_H

#include "reconciler_testing.h"
#include "redis_testing.h"

#include "api/database_v1/zz_generated.h"

static redis_server source, dest;

static inline KC_UNUSED void start_both(void)
{
    source =
        (redis_server){.args = {"--requirepass", "s3cret-of-ali"}, .password = "s3cret-of-ali"};
    dest = (redis_server){.args = {NULL}};
    redis_server_start(&source);
    redis_server_start(&dest);
}

static inline KC_UNUSED int stop_both(void **state)
{
    (void)state;
    redis_server_stop(&source);
    redis_server_stop(&dest);
    return 0;
}

static inline KC_UNUSED void definition(kc_testenv *env)
{
    apply_file(env, "../manifests/redismigration/database.cloud.tencent.com_redismigrations.yaml");
}

/* A Secret for what is secret, a ConfigMap for what is not. */
static inline KC_UNUSED void create_both_endpoints(kc_testenv *env)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *yaml = kc_asprintf(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: ali-123, namespace: default}\n"
        "stringData: {address: '127.0.0.1:%d', password: s3cret-of-ali}\n---\n"
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: tx-123, namespace: default}\n"
        "data: {address: '127.0.0.1:%d'}\n",
        source.port, dest.port);
    OK(kc_testenv_apply(env, kc_cstr(yaml), &err), &err);
}

static inline KC_UNUSED void sample(kc_testenv *env)
{
    apply_file(env, "../manifests/redismigration/cr.yaml");
}

#define ASSERT_FIELD(path, text) assert_field_is(env, &redis_migration_kind, "rmtest", path, text)

/* A part of what stands there. */
#define ASSERT_FIELD_CONTAINS(path, part)                                                  \
    do {                                                                                   \
        kc_autofree char *contains_ = text_of(env, &redis_migration_kind, "rmtest", path); \
        assert_contains(contains_, part);                                                  \
    } while (0)

static inline KC_UNUSED void order(kc_testenv *env, const char *action)
{
    kc_autofree char *patch =
        kc_asprintf("{'metadata':{'annotations':{'kubecontroller.io/phase-action':'%s'}}}", action);
    patch_object(env, &redis_migration_kind, "rmtest", patch);
}

static inline KC_UNUSED void assert_same_text(const char *command)
{
    const resp_value there = redis_do(&dest, command), here = redis_do(&source, command);
    if (!resp_equal(&there, &here))
        fail_msg("%s: another response", command);
}

/* The timeout is for responses of Redis, in real time. */
static inline KC_UNUSED kc_testenv *begun_with_timeout(uint64_t seed, const char *timeout)
{
    kc_autofree char *config = kc_asprintf(
        "reconcilers: {redismigration: {timeout: %s, batch: 20, max-key-bytes: 1048576}}", timeout);
    start_both();
    kc_testenv *env = plane(seed);
    definition(env);
    create_both_endpoints(env);
    redis_fill(&source, "k", 50);
    scenario_add(&(scenario){.reconcilers = "redismigration", .config = config},
                 kc_testenv_manager(env));
    kc_testenv_run(env, NULL);
    return env;
}

static inline KC_UNUSED kc_testenv *begun(uint64_t seed)
{
    return begun_with_timeout(seed, "1m");
}

/* With these words instead of the sample's: source, dest, overwrite. */
static inline KC_UNUSED void migrate(kc_testenv *env, const char *spec)
{
    kc_autofree char *json = kc_asprintf("{'apiVersion':'database.cloud.tencent.com/v1',"
                                         "'kind':'RedisMigration','metadata':{'name':'rmtest',"
                                         "'namespace':'default'},'spec':{%s}}",
                                         spec);
    kc_auto(kc_object) *made = make(env, json);
    kc_testenv_advance(env, 5 * KC_SECOND);
}

static inline KC_UNUSED void assert_succeeds(kc_testenv *env)
{
    kc_testenv_advance(env, 20 * KC_SECOND);
    ASSERT_FIELD("status.state.InFlight.error", "");
    ASSERT_FIELD("status.phase", "Succeeded");
}

/* A test that starts servers. */
#define REDIS_TEST(name) cmocka_unit_test_teardown(name, stop_both)

#endif
