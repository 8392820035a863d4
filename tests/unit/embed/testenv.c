/* SPDX-License-Identifier: Apache-2.0 */
/* The test environment: a controller against the real server, in simulated time, with faults. */
#include "kc/testenv.h"
#include "testing.h"

#include "kc/create_or_update.h"
#include "kc/kinds.h"

/* For each ConfigMap a Secret of its name, which it controls. */
typedef struct mirror {
    const kc_object *of;
} mirror;

static int fill_secret(kc_edit *edit, void *user, kc_error *err)
{
    const mirror *m = user;
    kc_owner owner = kc_owner_of(m->of, true);
    kc_node *data = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("stringData"));
    kc_node_remove(kc_edit_root(edit), KC_STR("stringData"));
    (void)data;
    kc_edit_set_label(edit, KC_STR("mirror"), KC_STR("yes"));
    return kc_edit_set_controller(edit, &owner, err);
}

static kc_result reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    kc_auto(kc_object) *map =
        kc_client_get(ctx->client, &kc_kind_config_map, request->key, NULL, err);
    if (!map)
        return kc_done_if_not_found(err);
    mirror m = {map};
    if (kc_create_or_update(ctx->client, &kc_kind_secret, request->key, fill_secret, &m, NULL,
                            err) < 0)
        return kc_retry(err);
    return kc_done();
}

static void add_controller(kc_testenv *env)
{
    kc_scoped(kc_error) err = {0};
    kc_controller *c = kc_controller_new(kc_testenv_manager(env),
                                         &(kc_controller_opts){.kind = &kc_kind_config_map,
                                                               .owns = KC_KINDS(&kc_kind_secret),
                                                               .reconcile = reconcile,
                                                               .workers = 2},
                                         &err);
    if (!c)
        fail_msg("%s", kc_error_text(&err));
}

static void apply(kc_testenv *env, const char *yaml)
{
    kc_scoped(kc_error) err = {0};
    if (kc_testenv_apply(env, kc_cstr(yaml), &err) < 0)
        fail_msg("%s", kc_error_text(&err));
}

static void settle(kc_testenv *env)
{
    kc_scoped(kc_error) err = {0};
    if (kc_testenv_settle(env, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
}

static bool has_secret(kc_testenv *env, const char *name)
{
    kc_auto(kc_object) *secret =
        kc_client_get(kc_testenv_client(env), &kc_kind_secret, KC_KEY("default", name), NULL, NULL);
    return secret;
}

static void apply_maps(kc_testenv *env, int n)
{
    for (int i = 0; i < n; i++) {
        kc_autofree char *yaml = kc_asprintf(
            "{apiVersion: v1, kind: ConfigMap, metadata: {name: map-%d}, data: {k: v}}", i);
        apply(env, yaml);
    }
}

static bool has_all(kc_testenv *env, int n)
{
    for (int i = 0; i < n; i++) {
        kc_autofree char *name = kc_asprintf("map-%d", i);
        if (!has_secret(env, name))
            return false;
    }
    return true;
}

static void controller_reconciles_objects(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = kc_testenv_start(&(kc_testenv_opts){.seed = 7}, NULL);
    add_controller(env);
    apply_maps(env, 3);
    settle(env);
    assert_true(has_all(env, 3));
}

static void deleted_owned_object_is_recreated(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = kc_testenv_start(&(kc_testenv_opts){.seed = 8}, NULL);
    add_controller(env);
    apply_maps(env, 1);
    settle(env);
    assert_int_equal(kc_client_delete(kc_testenv_client(env), &kc_kind_secret,
                                      KC_KEY("default", "map-0"), NULL, NULL),
                     0);
    settle(env);
    assert_true(has_secret(env, "map-0"));
}

static void controller_works_with_real_clock(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = kc_testenv_start(NULL, NULL);
    add_controller(env);
    apply_maps(env, 3);
    settle(env);
    assert_true(has_all(env, 3));
}

static uint64_t fingerprint(uint64_t seed)
{
    kc_auto(kc_testenv) *env = kc_testenv_start(&(kc_testenv_opts){.seed = seed}, NULL);
    kc_testenv_fault(env, &(kc_fault_opts){KC_FAULT_UNAVAILABLE, .chance = 0.2});
    kc_testenv_fault(env, &(kc_fault_opts){KC_FAULT_SLOW, .chance = 0.2});
    add_controller(env);
    apply_maps(env, 5);
    settle(env);
    assert_true(has_all(env, 5));
    return kc_testenv_fingerprint(env);
}

static void equal_seeds_give_equal_runs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++)
        assert_true(fingerprint(seed) == fingerprint(seed));
    assert_true(fingerprint(1) != fingerprint(2));
}

static void assert_converges(kc_fault fault, uint64_t seed)
{
    kc_auto(kc_testenv) *env = kc_testenv_start(&(kc_testenv_opts){.seed = seed}, NULL);
    add_controller(env);
    kc_testenv_fault(env, &(kc_fault_opts){fault, .chance = 0.3});
    apply_maps(env, 4);
    kc_testenv_settle_within(env, 5 * KC_MINUTE, NULL);
    apply_maps(env, 8);
    kc_testenv_advance(env, KC_MINUTE);
    kc_testenv_clear_faults(env);
    kc_scoped(kc_error) err = {0};
    if (kc_testenv_settle_within(env, 20 * KC_MINUTE, &err) < 0)
        fail_msg("fault %d, seed %d: %s", fault, (int)seed, kc_error_text(&err));
    assert_true(has_all(env, 8));
}

static void controller_converges_under_every_fault(void **state)
{
    (void)state;
    for (int fault = 1; fault < KC_FAULTS; fault++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            assert_converges((kc_fault)fault, seed);
}

static void crash_between_two_writes_is_recovered(void **state)
{
    (void)state;
    for (size_t writes = 1; writes <= 3; writes++) {
        kc_auto(kc_testenv) *env = kc_testenv_start(&(kc_testenv_opts){.seed = 11}, NULL);
        add_controller(env);
        kc_testenv_crash_after(env, writes);
        apply_maps(env, 5);
        kc_testenv_settle(env, NULL);
        assert_true(kc_testenv_crashed(env));
        assert_false(has_all(env, 5));
        assert_non_null(kc_testenv_restart(env, NULL));
        add_controller(env);
        settle(env);
        assert_true(has_all(env, 5));
    }
}

static void server_can_be_restarted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = kc_testenv_start(&(kc_testenv_opts){.seed = 12}, NULL);
    add_controller(env);
    apply_maps(env, 2);
    settle(env);
    assert_int_equal(kc_testenv_restart_server(env, NULL), 0);
    apply_maps(env, 4);
    settle(env);
    assert_true(has_all(env, 4));
}

static void stolen_lease_is_acquired_again(void **state)
{
    (void)state;
    kc_testenv_opts opts = {.seed = 13,
                            .manager = {.election.name = "mirrors", .restart_on_lost_lease = true}};
    kc_auto(kc_testenv) *env = kc_testenv_start(&opts, NULL);
    add_controller(env);
    apply_maps(env, 1);
    settle(env);
    assert_int_equal(kc_testenv_steal_lease(env, NULL), 0);
    kc_testenv_advance(env, 14 * KC_SECOND);
    assert_false(kc_manager_is_leader(kc_testenv_manager(env)));
    apply_maps(env, 2);
    kc_testenv_advance(env, KC_SECOND);
    assert_false(has_secret(env, "map-1"));
    settle(env);
    assert_true(has_secret(env, "map-1"));
}

/* The request may have been executed: only its caller can decide whether to repeat it. */
static void request_with_lost_response_is_executed_once(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = kc_testenv_start(&(kc_testenv_opts){.seed = 1}, NULL);
    kc_scoped(kc_error) err = {0};
    kc_testenv_run(env, NULL);
    kc_testenv_fault(
        env, &(kc_fault_opts){.fault = KC_FAULT_LOST_RESPONSE, .chance = 1, .method = "POST"});
    kc_auto(kc_object) *wanted = object_of(
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'generateName':'a-','namespace':"
        "'default'}}");
    kc_client *client = kc_manager_client(kc_testenv_manager(env));
    assert_null(kc_client_create(client, wanted, NULL, &err));
    assert_int_equal(err.code, 503);
    assert_int_equal(kc_testenv_faults(env, KC_FAULT_LOST_RESPONSE), 1);
    kc_scoped(kc_object_list) list = {0};
    kc_client_list(kc_testenv_client(env), &kc_kind_config_map, &(kc_list_opts){.ns = "default"},
                   &list, NULL);
    assert_int_equal(list.n, 1);
}

TESTS(controller_reconciles_objects, deleted_owned_object_is_recreated,
      controller_works_with_real_clock, equal_seeds_give_equal_runs,
      controller_converges_under_every_fault, crash_between_two_writes_is_recovered,
      server_can_be_restarted, stolen_lease_is_acquired_again,
      request_with_lost_response_is_executed_once)
