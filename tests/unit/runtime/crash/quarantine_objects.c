/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reconciler that crashes for one object, in a manager, against the real server: the key is
 * quarantined until the object changes, also by the next process. Without crash recovery the
 * process ends, and only the next one quarantines the key.
 */
#include "kc/controller.h"
#include "kc/embedded_server.h"
#include "kc/kinds.h"

#include "crash_testing.h"

typedef struct fixture {
    char folder[64];
    kc_embedded_server *server;
    kc_client *client;
    kc_crash_journal *journal;
    kc_manager *manager;
    bool without_recovery;
    _Atomic int bad_calls, good_calls;
} fixture;

/* A function of its own: a crash frees nothing of the one it happens in. */
static bool is_bad(kc_context *ctx, kc_key key)
{
    kc_auto(kc_object) *config = kc_client_get(ctx->client, &kc_kind_config_map, key, NULL, NULL);
    kc_auto(kc_view) *view = config ? kc_view_of(config) : NULL;
    return view && kc_value_as_str(kc_value_nested(kc_view_root(view), "data.bad")).p;
}

static kc_result crash_for_bad(kc_context *ctx, const kc_request *request, kc_error *err)
{
    fixture *f = ctx->user;
    (void)err;
    if (is_bad(ctx, request->key)) {
        f->bad_calls++;
        kc_reconcile_abort("bad data");
    }
    f->good_calls++;
    return kc_done();
}

static void drop_line(kc_str line, void *user)
{
    (void)line, (void)user;
}

static void start_manager(fixture *f)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_log) *log = kc_log_new(&(kc_log_opts){.write = drop_line});
    f->bad_calls = f->good_calls = 0;
    f->journal = kc_crash_journal_open(f->folder, log, &err);
    f->manager = kc_manager_new(&(kc_manager_opts){.client = f->client,
                                                   .no_signal_handlers = true,
                                                   .crash_journal = f->journal,
                                                   .log = log},
                                &err);
    kc_controller_new(f->manager,
                      &(kc_controller_opts){.kind = &kc_kind_config_map,
                                            .reconcile = crash_for_bad,
                                            .user = f,
                                            .crash_recovery = !f->without_recovery},
                      &err);
    if (err.reason || kc_manager_start(f->manager, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
}

static void stop_manager(fixture *f)
{
    f->manager = kc_manager_free(f->manager);
    f->journal = kc_crash_journal_close(f->journal);
}

static void make_folder(fixture *f)
{
    snprintf(f->folder, sizeof(f->folder), "/tmp/kc-quarantine-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
}

static void start_server(fixture *f)
{
    kc_scoped(kc_error) err = {0};
    f->server = kc_embedded_server_start(NULL, &err);
    assert_non_null(f->server);
    f->client = kc_embedded_server_client(f->server, &err);
    start_manager(f);
}

static void begin(fixture *f)
{
    *f = (fixture){0};
    make_folder(f);
    start_server(f);
}

static void remove_file(const fixture *f, const char *name)
{
    kc_autofree char *path = kc_asprintf("%s/%s", f->folder, name);
    unlink(path);
}

static void fixture_done(fixture *f)
{
    stop_manager(f);
    kc_client_unref(f->client);
    kc_embedded_server_stop(f->server);
    remove_file(f, "journal");
    remove_file(f, "quarantine.json");
    rmdir(f->folder);
}

/* Waits for a condition; fails after a while. */
#define await(condition)                                                        \
    do {                                                                        \
        int64_t deadline_ = kc_clock_deadline(kc_clock_real(), 30 * KC_SECOND); \
        while (!(condition)) {                                                  \
            assert_true(kc_clock_now(kc_clock_real()) < deadline_);             \
            kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);                    \
        }                                                                       \
    } while (0)

static void create(fixture *f, const char *name, const char *data)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *text =
        kc_asprintf("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'%s',"
                    "'namespace':'default'},'data':{'%s':'yes'}}",
                    name, data);
    kc_auto(kc_object) *object = object_of(text);
    kc_auto(kc_object) *created = kc_client_create(f->client, object, NULL, &err);
    if (!created)
        fail_msg("%s", kc_error_text(&err));
}

static void patch_bad(fixture *f, const char *patch)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *changed =
        kc_client_patch(f->client, &kc_kind_config_map, KC_KEY("default", "bad"), KC_PATCH_MERGE,
                        kc_cstr(patch), NULL, &err);
    if (!changed)
        fail_msg("%s", kc_error_text(&err));
}

static bool is_quarantined(const fixture *f)
{
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(kc_manager_metrics(f->manager), &text);
    return strstr(kc_buf_cstr(&text),
                  "\nkc_controller_quarantined_keys{controller=\"configmap\"} 1\n") != NULL;
}

static bool has_event(fixture *f, const char *reason)
{
    kc_object_list events = {0};
    bool found = false;
    kc_client_list(f->client, &kc_kind_event, NULL, &events, NULL);
    for (size_t i = 0; i < events.n; i++) {
        kc_auto(kc_view) *view = kc_view_of(events.items[i]);
        found =
            found || kc_str_is(kc_value_as_str(kc_value_get(kc_view_root(view), "reason")), reason);
    }
    kc_object_list_done(&events);
    return found;
}

/* Another object after it is reconciled: so what was queued before was, too. */
static void pass_by(fixture *f, const char *name)
{
    const int before = f->good_calls;
    create(f, name, "good");
    await(f->good_calls > before);
}

static void crashed_object_is_quarantined_until_it_changes(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    create(&f, "bad", "bad");
    await(is_quarantined(&f));
    assert_int_equal(f.bad_calls, 2);
    await(has_event(&f, "ReconcileQuarantined"));
    patch_bad(&f, "{\"metadata\":{\"annotations\":{\"try\":\"again\"}}}");
    await(f.bad_calls == 4 && is_quarantined(&f)); /* A change is worth two more. */
    patch_bad(&f, "{\"data\":{\"bad\":null}}");
    await(!is_quarantined(&f));
    assert_int_equal(f.bad_calls, 4);
}

static void quarantine_survives_restart(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    create(&f, "bad", "bad");
    await(is_quarantined(&f));
    stop_manager(&f);
    start_manager(&f);
    assert_true(is_quarantined(&f));
    pass_by(&f, "well");
    assert_int_equal(f.bad_calls, 0);
    patch_bad(&f, "{\"data\":{\"bad\":null}}");
    await(!is_quarantined(&f));
}

static void deleted_object_ends_its_quarantine(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    create(&f, "bad", "bad");
    await(is_quarantined(&f));
    assert_int_equal(
        kc_client_delete(f.client, &kc_kind_config_map, KC_KEY("default", "bad"), NULL, NULL), 0);
    await(!is_quarantined(&f));
}

static void crash_without_recovery(void *user)
{
    fixture *f = user;
    f->without_recovery = true;
    start_server(f);
    create(f, "bad", "bad");
    kc_clock_sleep(kc_clock_real(), 30 * KC_SECOND);
}

static void crash_without_recovery_is_quarantined_by_the_next_process(void **state)
{
    (void)state;
    if (KC__SANITIZED)
        skip();
    kc_scoped(fixture) f = {0};
    make_folder(&f);
    assert_int_equal(in_child(crash_without_recovery, &f), -SIGABRT);
    start_server(&f);
    assert_true(is_quarantined(&f));
    create(&f, "bad", "bad");
    pass_by(&f, "well");
    assert_int_equal(f.bad_calls, 0);
}

TESTS(crashed_object_is_quarantined_until_it_changes,
      crash_without_recovery_is_quarantined_by_the_next_process, quarantine_survives_restart,
      deleted_object_ends_its_quarantine)
