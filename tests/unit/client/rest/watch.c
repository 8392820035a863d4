/* SPDX-License-Identifier: Apache-2.0 */
#include "client_testing.h"

#define MAPS &kc_kind_config_map

static kc_watch *watching(bench *b, const kc_watch_opts *opts)
{
    kc_scoped(kc_error) err = {0};
    kc_watch *watch = kc_client_watch(b->client, MAPS, opts, &err);
    if (!watch)
        fail_msg("%s", kc_error_text(&err));
    return watch;
}

/* A deadline half a minute from now; events arrive at once. */
static int64_t soon(void)
{
    return kc_clock_deadline(kc_clock_real(), 30 * KC_SECOND);
}

static void assert_event(kc_watch *watch, kc_watch_event_type type, const char *name)
{
    kc_watch_event event;
    kc_scoped(kc_error) err = {0};
    if (kc_watch_next(watch, soon(), &event, &err) != 1)
        fail_msg("no event: %s", kc_error_text(&err));
    assert_int_equal(event.type, type);
    assert_str(kc_object_name(event.object), name);
    assert_str(kc_object_kind(event.object), "ConfigMap");
    kc_object_unref(event.object);
}

static void events_are_delivered_in_order(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_watch) *w = watching(b, &(kc_watch_opts){.ns = "default"});
    kc_auto(kc_object) *a = created(b, "a");
    kc_auto(kc_object) *patched = kc_client_patch(b->client, MAPS, KEY("a"), KC_PATCH_MERGE,
                                                  KC_STR("{\"data\":{\"k\":\"x\"}}"), NULL, NULL);
    assert_int_equal(kc_client_delete(b->client, MAPS, KEY("a"), NULL, NULL), 0);
    assert_event(w, KC_WATCH_ADDED, "a");
    assert_event(w, KC_WATCH_MODIFIED, "a");
    assert_event(w, KC_WATCH_DELETED, "a");
}

static void watch_starts_after_resource_version(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *a = created(b, "a");
    kc_auto(kc_object) *second = created(b, "b");
    kc_autofree char *version = kc_str_dup(kc_object_resource_version(a));
    kc_auto(kc_watch) *w =
        watching(b, &(kc_watch_opts){.ns = "default", .resource_version = version});
    assert_event(w, KC_WATCH_ADDED, "b");
}

static void selectors_filter_the_watch(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_watch) *w =
        watching(b, &(kc_watch_opts){.ns = "default", .fields = "metadata.name=b"});
    kc_object_unref(created(b, "a"));
    kc_object_unref(created(b, "b"));
    assert_event(w, KC_WATCH_ADDED, "b");
}

static void options_are_in_the_request_target(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_watch) *w = watching(b, &(kc_watch_opts){.ns = "default",
                                                        .labels = "a=b",
                                                        .resource_version = "0",
                                                        .bookmarks = true,
                                                        .timeout = 1500 * KC_MILLISECOND});
    assert_string_equal(bench_sent(b, 0),
                        "GET /api/v1/namespaces/default/configmaps?watch=true&labelSelector=a%3Db&"
                        "resourceVersion=0&allowWatchBookmarks=true&timeoutSeconds=2");
}

static void initial_events_end_with_a_bookmark(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_object_unref(created(b, "a"));
    kc_object_unref(created(b, "b"));
    kc_auto(kc_watch) *w = watching(b, &(kc_watch_opts){.ns = "default", .initial_events = true});
    assert_event(w, KC_WATCH_ADDED, "a");
    assert_event(w, KC_WATCH_ADDED, "b");
    kc_watch_event end;
    assert_int_equal(kc_watch_next(w, soon(), &end, NULL), 1);
    assert_int_equal(end.type, KC_WATCH_BOOKMARK);
    assert_true(end.initial_end);
    assert_true(kc_object_revision(end.object) > 0);
    kc_object_unref(end.object);
}

static void metadata_only_watch_delivers_partial_objects(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_watch) *w = watching(b, &(kc_watch_opts){.ns = "default", .metadata_only = true});
    kc_object_unref(created(b, "a"));
    kc_watch_event event;
    assert_int_equal(kc_watch_next(w, soon(), &event, NULL), 1);
    assert_str(kc_object_kind(event.object), "PartialObjectMetadata");
    kc_object_unref(event.object);
}

/* ---- ends ---- */

static void watch_ends_at_server_timeout(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_watch) *w = watching(b, &(kc_watch_opts){.ns = "default", .timeout = KC_SECOND});
    kc_watch_event event;
    assert_int_equal(kc_watch_next(w, soon(), &event, NULL), 0);
    assert_int_equal(kc_watch_next(w, soon(), &event, NULL), 0);
}

static void read_deadline_leaves_the_watch_open(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_watch) *w = watching(b, &(kc_watch_opts){.ns = "default"});
    kc_watch_event event;
    kc_scoped(kc_error) err = {0};
    const int64_t now = kc_clock_now(kc_clock_real());
    assert_true(kc_watch_next(w, now + KC_MILLISECOND, &event, &err) < 0);
    assert_true(kc_is_timeout(&err));
    kc_object_unref(created(b, "a"));
    assert_event(w, KC_WATCH_ADDED, "a");
}

static void fire(void *user)
{
    kc_cancel_fire(user);
}

static void either_token_cancels_the_watch(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    for (int i = 0; i < 2; i++) {
        kc_auto(kc_cancel) *clients = kc_cancel_new(NULL);
        kc_auto(kc_cancel) *own = kc_cancel_new(NULL);
        kc_auto(kc_client) *c =
            kc_client_with(b->client, &(kc_client_overrides){.cancel = clients});
        kc_auto(kc_watch) *w = kc_client_watch(c, MAPS, &(kc_watch_opts){.cancel = own}, NULL);
        assert_non_null(w);
        kc_thread *thread = kc_thread_start("canceller", fire, i ? clients : own, NULL);
        kc_watch_event event;
        kc_scoped(kc_error) err = {0};
        int r;
        while ((r = kc_watch_next(w, soon(), &event, &err)) > 0)
            kc_object_unref(event.object);
        assert_true(r < 0);
        assert_error(&err, KC_TIMEOUT, "cancelled");
        kc_thread_join(thread);
        kc_scoped(kc_error) again = {0};
        assert_null(kc_client_watch(c, MAPS, &(kc_watch_opts){.cancel = own}, &again));
        assert_error(&again, KC_TIMEOUT, "cancelled");
    }
}

static void expired_version_is_reported_as_expired(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    bench_script(b,
                 &(scripted){.status = 200,
                             .body = "{'type':'ERROR','object':{'kind':'Status','apiVersion':"
                                     "'v1','metadata':{},'status':'Failure','message':'too old "
                                     "resource version: 1 (7)','reason':'Expired','code':410}}\n"});
    kc_auto(kc_watch) *w = watching(b, NULL);
    kc_watch_event event;
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc_watch_next(w, soon(), &event, &err), -KC_EXPIRED);
    assert_true(kc_is_expired(&err));
    assert_int_equal(err.code, 410);
    assert_string_equal(kc_error_text(&err), "too old resource version: 1 (7)");
}

static void refused_watch_returns_error_at_once(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_watch(b->client, MAPS, &(kc_watch_opts){.labels = "a in ("}, &err));
    assert_int_equal(err.code, 400);
    kc_auto(kc_object) *a = created(b, "a");
    assert_null(
        kc_client_watch(b->client, &(kc_kind){.version = "v1", .plural = "nothings"}, NULL, &err));
    assert_true(kc_is_not_found(&err));
}

static void broken_watch_is_unavailable(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    static const scripted broken[] = {
        {.status = 200,
         .body = "{'type':'ADDED','object':{'metadata':{'name':'a'}}}\n",
         .breaks = true},
        {.status = 200, .body = "{'type':'ADDED','object':{'metadata':{'name':'a'}}}\n{'type':'A"},
    };
    for (size_t i = 0; i < KC_COUNT(broken); i++) {
        bench_script(b, &broken[i]);
        kc_auto(kc_watch) *w = watching(b, NULL);
        assert_event(w, KC_WATCH_ADDED, "a");
        kc_watch_event event;
        kc_scoped(kc_error) err = {0};
        assert_true(kc_watch_next(w, soon(), &event, &err) < 0);
        assert_true(kc_is_unavailable(&err));
    }
}

static void invalid_events_are_errors(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    static const char *const lines[] = {
        "{'type':'RENAMED','object':{}}\n",
        "{'type':'ADDED','object':{'a':nil}}\n",
        "{'type':'ERROR','object':{'a':nil}}\n",
        "nothing\n",
    };
    for (size_t i = 0; i < KC_COUNT(lines); i++) {
        bench_script(b, &(scripted){.status = 200, .body = lines[i], .piece = 1});
        kc_auto(kc_watch) *w = watching(b, NULL);
        kc_watch_event event;
        kc_scoped(kc_error) err = {0};
        assert_true(kc_watch_next(w, soon(), &event, &err) < 0);
        assert_int_equal(err.reason, KC_INTERNAL);
    }
}

static void stopped_server_ends_its_watches(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_watch) *w = watching(b, NULL);
    b->server = kc_embedded_server_stop(b->server);
    kc_watch_event event;
    assert_true(kc_watch_next(w, soon(), &event, NULL) <= 0);
}

TESTS(events_are_delivered_in_order, watch_starts_after_resource_version,
      selectors_filter_the_watch, options_are_in_the_request_target,
      initial_events_end_with_a_bookmark, metadata_only_watch_delivers_partial_objects,
      watch_ends_at_server_timeout, read_deadline_leaves_the_watch_open,
      either_token_cancels_the_watch, expired_version_is_reported_as_expired,
      refused_watch_returns_error_at_once, broken_watch_is_unavailable, invalid_events_are_errors,
      stopped_server_ends_its_watches)
