/* SPDX-License-Identifier: Apache-2.0 */
/* Apps: which reconcilers exist, which run, their settings, and what is refused. */
#include "app/app_internal.h"
#include "reconciler_testing.h"

#include <stdio.h>

static _Atomic int calls_of_maps, synced_maps, calls_of_secrets;

/* ---- reconcilers of this test ---- */

/* Marks what it has seen. */
static kc_result mark(kc_context *ctx, const kc_request *req, kc_error *err)
{
    calls_of_maps++;
    kc_auto(kc_object) *map = kc_client_get(ctx->client, &kc_kind_config_map, req->key, NULL, err);
    if (!map)
        return kc_done_if_not_found(err);
    kc_auto(kc_object) *now = kc_client_patch(ctx->client, &kc_kind_config_map, req->key,
                                              KC_PATCH_MERGE, kc_cstr(ctx->user), NULL, err);
    return now ? kc_done() : kc_retry(err);
}

static int set_up_patch(const kc_reconciler_setup *setup, void **ret_user, kc_error *err)
{
    (void)setup;
    (void)err;
    static char patch[] = "{\"data\":{\"seen\":\"yes\"}}";
    *ret_user = patch;
    return 0;
}

static int record_synced_maps(kc_manager *manager, void *user, kc_error *err)
{
    (void)user;
    kc_scoped(kc_object_list) maps = {0};
    if (kc_client_list(kc_manager_client(manager), &kc_kind_config_map,
                       &(kc_list_opts){.ns = "default"}, &maps, err) < 0)
        return -1;
    synced_maps = (int)maps.n;
    return 0;
}

static bool not_private(kc_key key)
{
    return !kc_str_starts(key.name, KC_STR("private"));
}

KC_RECONCILER(maps) = {
    .description = "marks config maps",
    .kind = &kc_kind_config_map,
    .reconcile = mark,
    .setup = set_up_patch,
    .after_sync = record_synced_maps,
    .key_filter = not_private,
    .labels = "marked!=never",
    .namespaces = KC_NAMES("default", "other"),
};

static kc_result count(kc_context *ctx, const kc_request *req, kc_error *err)
{
    (void)ctx;
    (void)req;
    (void)err;
    calls_of_secrets++;
    return kc_done();
}

/* Two in one file. */
KC_RECONCILER(secrets) = {.kind = &kc_kind_secret, .reconcile = count, .disabled = true};

/* ---- messages ---- */

static bool is_marked(kc_testenv *env, const char *name)
{
    kc_autofree char *seen = text_of(env, &kc_kind_config_map, name, "data.seen");
    return !strcmp(seen, "yes");
}

static kc_testenv *with(const char *names)
{
    kc_scoped(kc_error) err = {0};
    calls_of_maps = synced_maps = calls_of_secrets = 0;
    kc_testenv *env = plane(1);
    OK(kc_reconcilers_add(kc_testenv_manager(env), names, &err), &err);
    return env;
}

static void refused(const kc_reconciler *r, const char *why)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = plane(1);
    kc_auto(kc_app) *app = kc_app_new(NULL);
    assert_int_equal(kc_app_add_reconciler(app, r, &err), 0);
    assert_true(kc_app_setup(app, kc_testenv_manager(env), &err) < 0);
    assert_contains(kc_error_text(&err), "reconciler bad: ");
    assert_contains(kc_error_text(&err), why);
}

/* ---- tests ---- */

static void linked_reconcilers_are_found(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_app) *app = kc_app_new(NULL);
    OK(kc_app_add_linked(app, &err), &err);
    OK(kc_app_select(app, &err), &err);
    assert_string_equal(kc_app_entry_at(app, 0)->name, "maps");
    assert_ptr_equal(kc_app_entry_at(app, 0)->kind, &kc_kind_config_map);
    assert_true(kc_app_entry_at(app, 0)->enabled);
    assert_string_equal(kc_app_entry_at(app, 1)->name, "secrets");
    assert_false(kc_app_entry_at(app, 1)->enabled);
    assert_null(kc_app_entry_at(app, 2));
}

static void crash_recovery_is_for_plugins_only(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    for (int on = 0; on < 2; on++) {
        kc_auto(kc_app) *linked = kc_app_new(&(kc_app_opts){.plugin_crash_recovery = on});
        kc_auto(kc_app) *loaded = kc_app_new(&(kc_app_opts){.plugin_crash_recovery = on});
        OK(kc_app_add_linked(linked, &err), &err);
        OK(kc__app_add_plugin_section(loaded, __start_kc_reconcilers, __stop_kc_reconcilers, &err),
           &err);
        assert_false(kc_app_entry_at(linked, 0)->crash_recovery);
        assert_int_equal(kc_app_entry_at(loaded, 0)->crash_recovery, on);
    }
}

static void reconciler_uses_the_state_of_its_setup(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with("*");
    kc_auto(kc_object) *made = make(env, CONFIG_MAP("one"));
    settle(env);
    assert_true(is_marked(env, "one"));
}

static void filters_exclude_objects(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with("maps");
    kc_auto(kc_object) *a = make(env, CONFIG_MAP("private-one"));
    kc_auto(kc_object) *b =
        make(env, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'labelled',"
                  "'namespace':'default','labels':{'marked':'never'}}}");
    kc_auto(kc_object) *c = make(env, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{"
                                      "'name':'elsewhere','namespace':'kube-system'}}");
    settle(env);
    assert_int_equal(calls_of_maps, 0);
    assert_false(is_marked(env, "private-one"));
    assert_false(is_marked(env, "labelled"));
    patch_object(env, &kc_kind_config_map, "labelled", "{'metadata':{'labels':null}}");
    settle(env);
    assert_true(is_marked(env, "labelled"));
}

static void after_sync_runs_when_the_cache_has_synced(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with("maps");
    kc_auto(kc_object) *a = make(env, CONFIG_MAP("one"));
    kc_auto(kc_object) *b = make(env, CONFIG_MAP("two"));
    settle(env);
    assert_int_equal(synced_maps, 2);
}

static void disabled_reconciler_runs_when_named(void **state)
{
    (void)state;
    static const char secret[] = "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s',"
                                 "'namespace':'default'}}";
    kc_auto(kc_testenv) *all = with("*");
    kc_auto(kc_object) *a = make(all, secret);
    settle(all);
    assert_int_equal(calls_of_secrets, 0);
    all = kc_testenv_stop(all);
    kc_auto(kc_testenv) *named = with("*,secrets,-maps");
    kc_auto(kc_object) *b = make(named, secret);
    settle(named);
    assert_int_equal(calls_of_secrets, 1);
    assert_int_equal(calls_of_maps, 0);
}

static void config_file_selects_reconcilers(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_app_config) *config =
        kc_app_config_parse(KC_STR("reconcilermgr: {controllers: [secrets]}"), &err);
    kc_auto(kc_app) *app = kc_app_new(&(kc_app_opts){.config = config});
    OK(kc_app_add_linked(app, &err), &err);
    OK(kc_app_select(app, &err), &err);
    assert_false(kc_app_find(app, "maps", &err)->enabled);
    assert_true(kc_app_find(app, "secrets", &err)->enabled);
}

static void app_uses_the_given_client(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = plane(1);
    kc_auto(kc_object) *made = make(env, CONFIG_MAP("one"));
    kc_auto(kc_app) *app = kc_app_new(&(kc_app_opts){
        .names = "maps", .metrics_address = "", .health_address = "", .no_signal_handlers = true});
    OK(kc_app_add_linked(app, &err), &err);
    kc_app_set_client(app, kc_testenv_client(env));
    OK(kc_app_prepare_run(app, &err), &err);
    OK(kc_manager_start(kc_app_manager(app), &err), &err);
    kc_testenv_advance(env, 10 * KC_SECOND);
    assert_true(is_marked(env, "one"));
}

static void unknown_reconciler_name_is_refused(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = plane(1);
    assert_true(kc_reconcilers_add(kc_testenv_manager(env), "*,-map", &err) < 0);
    assert_error(&err, KC_INVALID, "there is no reconciler \"map\"; did you mean \"maps\"?");
}

static void reconciler_of_another_version_is_refused(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_app) *app = kc_app_new(NULL);
    const kc__app_registration old = {"old", &maps_reconciler, sizeof(kc_reconciler) - 8};
    const kc__app_registration *const section[] = {&old};
    assert_true(kc__app_add_section(app, section, section + 1, &err) < 0);
    assert_error(&err, KC_INVALID, "\"old\" was compiled with headers of another version");
}

static void duplicate_name_is_refused(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_app) *app = kc_app_new(NULL);
    OK(kc_app_add_linked(app, &err), &err);
    const kc_reconciler another = {.name = "maps", .kind = &kc_kind_pod, .reconcile = count};
    assert_true(kc_app_add_reconciler(app, &another, &err) < 0);
    assert_error(&err, KC_ALREADY_EXISTS, "duplicate reconciler \"maps\"");
    const kc_reconciler odd = {.name = "-maps", .kind = &kc_kind_pod, .reconcile = count};
    assert_true(kc_app_add_reconciler(app, &odd, &err) < 0);
    assert_true(kc_app_add_reconciler(app, &(kc_reconciler){.reconcile = count}, &err) < 0);
}

static int fail_to_set_up(const kc_reconciler_setup *setup, void **ret_user, kc_error *err)
{
    (void)setup;
    (void)ret_user;
    return kc_error_set(err, KC_INTERNAL, "no such luck");
}

static void invalid_definition_is_refused_before_start(void **state)
{
    (void)state;
    static const kc_phase_machine circle = {.kind = &kc_kind_pod, .initial = "A"};
    refused(&(kc_reconciler){.name = "bad"}, "no function, phase machine or setup is set");
    refused(&(kc_reconciler){.name = "bad", .reconcile = count}, "no kind");
    refused(&(kc_reconciler){.name = "bad", .kind = &kc_kind_pod, .machine = &circle},
            "phase machine pod: a phase machine needs");
    refused(
        &(kc_reconciler){
            .name = "bad", .kind = &kc_kind_pod, .machine = &circle, .reconcile = count},
        "both a function and a phase machine");
    refused(
        &(kc_reconciler){
            .name = "bad", .kind = &kc_kind_pod, .reconcile = count, .labels = "a b c"},
        "labels");
    refused(&(kc_reconciler){.name = "bad", .setup = fail_to_set_up}, "no such luck");
}

static kc_phase_result pass(kc_phase_call *call, kc_error *err)
{
    (void)call;
    (void)err;
    return KC_PHASE_DONE;
}

static KC_PHASE_MACHINE(short_way) = {.kind = &kc_kind_pod,
                                      .initial = "A",
                                      .phases = KC_PHASES({"A", pass, .next = "B"}),
                                      .terminal = KC_NAMES("B")};

static void second_phase_machine_of_a_kind_is_refused(void **state)
{
    (void)state;
    const kc_reconciler one = {.name = "one", .machine = &short_way_machine};
    const kc_reconciler two = {.name = "two", .machine = &short_way_machine, .labels = "a=b"};
    for (int off = 0; off < 2; off++) {
        kc_scoped(kc_error) err = {0};
        kc_auto(kc_testenv) *env = kc_testenv_start(NULL, &err);
        kc_auto(kc_app) *app = kc_app_new(&(kc_app_opts){.names = off ? "*,-one" : "*"});
        OK(kc_app_add_reconciler(app, &one, &err), &err);
        OK(kc_app_add_reconciler(app, &two, &err), &err);
        const int set_up = kc_app_setup(app, kc_testenv_manager(env), &err);
        assert_int_equal(set_up < 0, !off);
        if (!off)
            assert_error(&err, KC_INVALID,
                         "reconcilers one and two are both phase machines of Pod");
    }
}

/* ---- settings ---- */

static char read_settings[64];

static int keep_settings(const kc_reconciler_setup *setup, void **ret_user, kc_error *err)
{
    (void)ret_user;
    (void)err;
    snprintf(read_settings, sizeof(read_settings), "%s %s", setup->settings[0], setup->settings[1]);
    return 0;
}

static const kc_reconciler settled = {
    .name = "settled",
    .settings = KC_SETTINGS({"service", "http://nowhere", "where it is"}, {"tries", "3"}),
    .setup = keep_settings,
};

/* What setting up says with this config file; "" when it went well. */
static void set_up_with(const char *yaml, char *message, size_t n)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = plane(1);
    kc_auto(kc_app_config) *config = kc_app_config_parse(kc_cstr(yaml), &err);
    kc_auto(kc_app) *app = kc_app_new(&(kc_app_opts){.config = config});
    if (config && kc_app_add_reconciler(app, &settled, &err) == 0)
        kc_app_setup(app, kc_testenv_manager(env), &err);
    snprintf(message, n, "%s", err.reason ? kc_error_text(&err) : "");
}

static void settings_are_read_from_the_config_file(void **state)
{
    (void)state;
    char message[256];
    set_up_with("", message, sizeof(message));
    assert_string_equal(message, "");
    assert_string_equal(read_settings, "http://nowhere 3");
    set_up_with("reconcilers:\n  settled:\n    tries: 7\n    service: here\n", message,
                sizeof(message));
    assert_string_equal(message, "");
    assert_string_equal(read_settings, "here 7");
}

static void unknown_setting_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *message;
    } cases[] = {
        {"reconcilers:\n  settled:\n    sevice: here\n",
         "line 3: reconcilers.settled.sevice: unknown setting; did you mean \"service\"?"},
        {"reconcilers:\n  setled: {tries: 1}\n", "line 2: reconcilers.setled.tries: unknown "
                                                 "reconciler; did you mean \"settled\"?"},
        {"reconcilers: {settled: {tries: [1]}}\n",
         "line 1: reconcilers.settled.tries: must be a string, a number or a boolean"},
        {"reconcilers: {settled: 3}\n", "reconcilers.settled: must contain settings, not a value"},
        {"reconcilers: 3\n", "reconcilers: must contain names of reconcilers"},
        {"reconciler: {}\n", "line 1: reconciler: unknown key; did you mean \"reconcilers\"?"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        char message[256];
        set_up_with(cases[i].yaml, message, sizeof(message));
        assert_string_equal(message, cases[i].message);
    }
}

/* ---- keys of one's own ---- */

static _Atomic int rounds;

static kc_result go_round(kc_context *ctx, const kc_request *req, kc_error *err)
{
    (void)ctx;
    (void)err;
    rounds += kc_str_is(req->key.name, "round");
    return kc_done();
}

static int keep_channel(const kc_reconciler_setup *setup, void **ret_user, kc_error *err)
{
    (void)err;
    *ret_user = setup->channel;
    return 0;
}

static int send_round(kc_manager *manager, void *user, kc_error *err)
{
    (void)manager;
    return kc_channel_send(user, KC_KEY("", "round"), err);
}

static void own_channel_adds_keys(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = plane(1);
    kc_auto(kc_app) *app = kc_app_new(NULL);
    static const kc_reconciler sends = {.name = "sends",
                                        .kind = &kc_kind_secret,
                                        .setup = keep_channel,
                                        .after_sync = send_round,
                                        .reconcile = go_round};
    OK(kc_app_add_reconciler(app, &sends, &err), &err);
    OK(kc_app_setup(app, kc_testenv_manager(env), &err), &err);
    settle(env);
    assert_int_equal(rounds, 1);
}

/* ---- resync ---- */

static void resync_reconciles_all_objects(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = plane(1);
    kc_auto(kc_app) *app = kc_app_new(NULL);
    static const kc_reconciler again = {
        .name = "again", .kind = &kc_kind_secret, .reconcile = count, .resync = 30 * KC_SECOND};
    OK(kc_app_add_reconciler(app, &again, &err), &err);
    OK(kc_app_setup(app, kc_testenv_manager(env), &err), &err);
    OK(kc_testenv_apply(env, KC_STR("{apiVersion: v1, kind: Secret, metadata: {name: one}}"), &err),
       &err);
    OK(kc_testenv_run(env, &err), &err);
    calls_of_secrets = 0;
    kc_testenv_advance(env, 10 * KC_SECOND);
    assert_int_equal(calls_of_secrets, 1);
    kc_testenv_advance(env, 65 * KC_SECOND);
    assert_int_equal(calls_of_secrets, 3);
}

/* A call takes a second here; the name of the last object it was for. */
static char last_looked_at[64];

static kc_result take_a_second(kc_context *ctx, const kc_request *request, kc_error *err)
{
    (void)err;
    snprintf(last_looked_at, sizeof(last_looked_at), "%.*s", KC_ARG(request->key.name));
    kc_clock_sleep(ctx->clock, KC_SECOND);
    return kc_done();
}

static void changes_have_priority_over_resync(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_testenv) *env = plane(1);
    kc_auto(kc_app) *app = kc_app_new(NULL);
    static const kc_reconciler slow = {.name = "slow",
                                       .kind = &kc_kind_secret,
                                       .reconcile = take_a_second,
                                       .resync = 60 * KC_SECOND};
    OK(kc_app_add_reconciler(app, &slow, &err), &err);
    OK(kc_app_setup(app, kc_testenv_manager(env), &err), &err);
    for (int i = 0; i < 30; i++) {
        kc_autofree char *yaml =
            kc_asprintf("{apiVersion: v1, kind: Secret, metadata: {name: s-%d}}", i);
        OK(kc_testenv_apply(env, kc_cstr(yaml), &err), &err);
    }
    OK(kc_testenv_run(env, &err), &err);
    kc_testenv_advance(env, 62 * KC_SECOND); /* 28 of the second round are waiting. */
    OK(kc_testenv_apply(env, KC_STR("{apiVersion: v1, kind: Secret, metadata: {name: new}}"), &err),
       &err);
    kc_testenv_advance(env, KC_SECOND);
    assert_string_equal(last_looked_at, "new");
}

TESTS(crash_recovery_is_for_plugins_only, second_phase_machine_of_a_kind_is_refused,
      settings_are_read_from_the_config_file, unknown_setting_is_refused, own_channel_adds_keys,
      resync_reconciles_all_objects, changes_have_priority_over_resync,
      linked_reconcilers_are_found, reconciler_uses_the_state_of_its_setup, filters_exclude_objects,
      after_sync_runs_when_the_cache_has_synced, disabled_reconciler_runs_when_named,
      config_file_selects_reconcilers, app_uses_the_given_client,
      unknown_reconciler_name_is_refused, reconciler_of_another_version_is_refused,
      duplicate_name_is_refused, invalid_definition_is_refused_before_start)
