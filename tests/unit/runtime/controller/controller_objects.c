/* SPDX-License-Identifier: Apache-2.0 */
/* Complete controllers in a manager, with the real server. */
#include "kc/controller.h"
#include "kc/embedded_server.h"
#include "kc/kinds.h"

#include "testing.h"

#include <stdio.h>

typedef struct fixture {
    kc_embedded_server *server;
    kc_client *client;
    kc_manager *manager;
    kc_controller *controller;
    _Atomic int calls;
    _Atomic bool fail;
} fixture;

static void begin(fixture *f)
{
    kc_scoped(kc_error) err = {0};
    *f = (fixture){.server = kc_embedded_server_start(NULL, &err)};
    assert_non_null(f->server);
    f->client = kc_embedded_server_client(f->server, &err);
    kc_log *log = kc_log_new(&(kc_log_opts){.level = KC_LOG_ERROR});
    f->manager = kc_manager_new(
        &(kc_manager_opts){.client = f->client, .no_signal_handlers = true, .log = log}, &err);
    kc_log_free(log);
    if (!f->manager)
        fail_msg("%s", kc_error_text(&err));
}

static void start(fixture *f, kc_controller_opts opts)
{
    kc_scoped(kc_error) err = {0};
    opts.user = f;
    f->controller = kc_controller_new(f->manager, &opts, &err);
    if (!f->controller || kc_manager_start(f->manager, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
}

static void fixture_done(fixture *f)
{
    kc_manager_free(f->manager);
    kc_client_unref(f->client);
    kc_embedded_server_stop(f->server);
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

static void create(fixture *f, const char *text)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *object = object_of(text);
    kc_auto(kc_object) *created = kc_client_create(f->client, object, NULL, &err);
    if (!created)
        fail_msg("%s", kc_error_text(&err));
}

static bool exists(fixture *f, const kc_kind *kind, const char *name)
{
    kc_auto(kc_object) *object =
        kc_client_get(f->client, kind, KC_KEY("default", name), NULL, NULL);
    return object != NULL;
}

/* ---- owned objects ---- */

static kc_object *secret_of(const kc_object *config)
{
    kc_auto(kc_object) *plain = object_of("{'apiVersion':'v1','kind':'Secret','metadata':{}}");
    kc_auto(kc_edit) *edit = kc_edit_of(plain);
    kc_owner owner = kc_owner_of(config, true);
    kc_edit_set_name(edit, kc_object_name(config));
    kc_edit_set_namespace(edit, kc_object_namespace(config));
    assert_int_equal(kc_edit_set_controller(edit, &owner, NULL), 0);
    return kc_edit_freeze(edit, NULL);
}

static kc_result make_secret(kc_context *ctx, const kc_request *request, kc_error *err)
{
    fixture *f = ctx->user;
    f->calls++;
    kc_auto(kc_object) *config =
        kc_client_get(ctx->client, &kc_kind_config_map, request->key, NULL, err);
    if (!config)
        return kc_done_if_not_found(err);
    kc_auto(kc_object) *secret =
        kc_client_get(ctx->client, &kc_kind_secret, request->key, NULL, err);
    if (secret)
        return kc_done();
    if (!kc_is_not_found(err))
        return kc_retry(err);
    kc_auto(kc_object) *want = secret_of(config);
    kc_auto(kc_object) *made = kc_client_create(ctx->client, want, NULL, err);
    return made ? kc_done() : kc_retry(err);
}

static void deleted_owned_object_is_recreated(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    start(&f,
          (kc_controller_opts){.kind = &kc_kind_config_map,
                               .kind_predicate = kc_predicate_label_selector("secret=yes", NULL),
                               .owns = KC_KINDS(&kc_kind_secret),
                               .reconcile = make_secret,
                               .workers = 2});
    assert_string_equal(kc_controller_name(f.controller), "configmap");
    create(&f, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':"
               "'default','labels':{'secret':'yes'}}}");
    await(exists(&f, &kc_kind_secret, "a"));
    assert_int_equal(
        kc_client_delete(f.client, &kc_kind_secret, KC_KEY("default", "a"), NULL, NULL), 0);
    await(exists(&f, &kc_kind_secret, "a"));
}

/* ---- removal of a controller ---- */

static kc_result count_calls(kc_context *ctx, const kc_request *request, kc_error *err)
{
    (void)request;
    (void)err;
    ((fixture *)ctx->user)->calls++;
    return kc_done();
}

static void removed_controller_is_not_called(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    start(&f, (kc_controller_opts){.kind = &kc_kind_config_map, .reconcile = count_calls});
    create(&f, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':"
               "'default'}}");
    await(f.calls > 0);
    kc_controller_remove(f.controller);
    int calls = f.calls;
    create(&f, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'b','namespace':"
               "'default'}}");
    kc_scoped(kc_error) err = {0};
    f.controller = kc_controller_new(
        f.manager,
        &(kc_controller_opts){.kind = &kc_kind_config_map, .reconcile = count_calls, .user = &f},
        &err); /* While the manager runs: it starts at once. */
    assert_non_null(f.controller);
    await(f.calls >= calls + 2);
}

/* ---- cancelled client calls ---- */

static kc_result block_on_client_call(kc_context *ctx, const kc_request *request, kc_error *err)
{
    fixture *f = ctx->user;
    (void)request;
    kc_auto(kc_watch) *watch = kc_client_watch(
        ctx->client, &kc_kind_secret, &(kc_watch_opts){.ns = "nobody", .bookmarks = false}, err);
    kc_watch_event event;
    if (watch && kc_watch_next(watch, KC_FOREVER, &event, err) < 0 && kc_is_timeout(err))
        f->calls++;
    return kc_terminal(err);
}

static void client_call_ends_with_the_reconcile_timeout(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    start(&f, (kc_controller_opts){
                  .name = "slow",
                  .sources = KC_SOURCES(kc_source_timer(KC_MILLISECOND, KC_KEY("", "tick"))),
                  .reconcile = block_on_client_call,
                  .timeout = 20 * KC_MILLISECOND});
    await(f.calls >= 2); /* The second has a client that works again. */
}

/* ---- field managers ---- */

static bool is_managed_by(fixture *f, const kc_kind *kind, const char *name, const char *manager)
{
    kc_auto(kc_object) *object =
        kc_client_get(f->client, kind, KC_KEY("default", name), NULL, NULL);
    kc_scoped(kc_buf) entry = {0};
    kc_buf_printf(&entry, "\"manager\":\"%s\"", manager);
    const kc_str fields = object ? kc_object_managed_fields_json(object) : (kc_str){0};
    return fields.n && memmem(fields.p, fields.n, entry.p, entry.n);
}

static void controller_writes_as_its_field_manager(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    start(&f, (kc_controller_opts){.kind = &kc_kind_config_map,
                                   .reconcile = make_secret,
                                   .field_manager = "secret-maker"});
    create(&f,
           "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':'default'},"
           "'data':{'k':'v'}}");
    await(exists(&f, &kc_kind_secret, "a"));
    assert_true(is_managed_by(&f, &kc_kind_secret, "a", "secret-maker"));
    assert_false(is_managed_by(&f, &kc_kind_config_map, "a", "secret-maker"));
}

TESTS(controller_writes_as_its_field_manager, deleted_owned_object_is_recreated,
      removed_controller_is_not_called, client_call_ends_with_the_reconcile_timeout)
