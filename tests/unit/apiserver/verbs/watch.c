/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c: watches. */
#include "api_testing.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

static const char *put(api *a, const char *name, const char *label, const char *value)
{
    const char *body = text(a, "{'metadata':{'name':'%s','labels':{'l':'%s'}},'data':{'v':'%s'}}",
                            name, label, value);
    const reply *r = api_put(a, text(a, MAPS "/%s", name), body);
    if (r->status == 404)
        r = api_post(a, MAPS, body);
    return r_text(r, "metadata.resourceVersion");
}

static const char *version_now(api *a)
{
    return r_text(api_get(a, MAPS), "metadata.resourceVersion");
}

static void watch_without_version_starts_with_existing_objects(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    put(a, "a", "x", "1");
    put(a, "b", "x", "1");
    watch *w = WATCH(a, MAPS "?watch=1");
    assert_int_equal(w->status, 200);
    assert_string_equal(w->type, "application/json");
    assert_event(w, "ADDED", "a");
    assert_event(w, "ADDED", "b");
    put(a, "b", "x", "2");
    const char *line = assert_event(w, "MODIFIED", "b");
    assert_string_equal(line_text(w, line, "object.kind"), "ConfigMap");
    api_delete(a, MAPS "/a", NULL);
    assert_event(w, "DELETED", "a");
}

static void watch_from_resource_version_sends_later_events(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    put(a, "a", "x", "1");
    const char *then = version_now(a);
    put(a, "b", "x", "1");
    watch *w = WATCH(a, text(a, MAPS "?watch=1&resourceVersion=%s", then));
    assert_event(w, "ADDED", "b");
    assert_true(watch_is_silent(w));
}

static void write_without_changes_sends_no_event(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    put(a, "a", "x", "1");
    watch *w = WATCH(a, MAPS "?watch=1");
    assert_event(w, "ADDED", "a");
    put(a, "a", "x", "1");
    api_put(a, MAPS "/a?dryRun=All", "{'metadata':{'name':'a'}}");
    assert_true(watch_is_silent(w));
}

static void entering_and_leaving_a_selector_are_added_and_deleted(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    watch *w = WATCH(a, MAPS "?watch=1&labelSelector=l%3Dx");
    put(a, "a", "y", "1");
    put(a, "a", "x", "2");
    const char *line = assert_event(w, "ADDED", "a");
    const char *left = put(a, "a", "y", "3");
    line = assert_event(w, "DELETED", "a");
    assert_string_equal(line_text(w, line, "object.data.v"), "2");
    assert_string_equal(line_text(w, line, "object.metadata.resourceVersion"), left);
}

static void deleted_event_has_last_object_with_revision_of_deletion(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_post(a, MAPS, "{'metadata':{'name':'a','finalizers':['e/f']},'data':{'v':'1'}}");
    api_delete(a, MAPS "/a", NULL);
    const char *then = version_now(a);
    watch *w = WATCH(a, text(a, MAPS "?watch=1&resourceVersion=%s", then));
    api_put(a, MAPS "/a", "{'metadata':{'name':'a'},'data':{'v':'2'}}");
    const char *line = assert_event(w, "DELETED", "a");
    assert_string_equal(line_text(w, line, "object.data.v"), "1");
    assert_string_equal(line_text(w, line, "object.metadata.finalizers"), "[\"e/f\"]");
    assert_string_not_equal(line_text(w, line, "object.metadata.resourceVersion"), then);
}

static void name_is_watched_by_selector_or_deprecated_path(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    watch *w = WATCH(a, MAPS "?watch=1&fieldSelector=metadata.name%3Db");
    watch *old = WATCH(a, "/api/v1/watch/namespaces/default/configmaps/b");
    put(a, "a", "x", "1");
    put(a, "b", "x", "1");
    assert_event(w, "ADDED", "b");
    assert_event(old, "ADDED", "b");
    assert_status(api_get(a, "/api/v1/watch/namespaces/default/configmaps/b?fieldSelector=metadata."
                             "name%3Dc"),
                  400, "BadRequest", "fieldSelector metadata.name doesn't match requested name");
}

static void streamed_list_ends_with_bookmark(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    put(a, "a", "x", "1");
    static const char *const queries[] = {
        "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", "", "&resourceVersion=0"};
    for (size_t i = 0; i < KC_COUNT(queries); i++) {
        watch *w = WATCH(a, text(a, MAPS "?watch=1&allowWatchBookmarks=1%s", queries[i]));
        assert_event(w, "ADDED", "a");
        const char *line = watch_line(w);
        assert_string_equal(
            line, text(a,
                       "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"ConfigMap\",\"apiVersion\":"
                       "\"v1\",\"metadata\":{\"resourceVersion\":\"%s\",\"annotations\":{"
                       "\"k8s.io/initial-events-end\":\"true\"}}}}",
                       version_now(a)));
    }
}

static void streamed_list_without_bookmarks_sends_none(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    put(a, "a", "x", "1");
    watch *w = WATCH(a, MAPS "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
    assert_event(w, "ADDED", "a");
    assert_true(watch_is_silent(w));
}

static void watch_without_initial_events_starts_empty(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    put(a, "a", "x", "1");
    watch *w = WATCH(a, MAPS "?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
    put(a, "b", "x", "1");
    assert_event(w, "ADDED", "b");
}

static void streamed_list_at_future_version_fails(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    watch *w = WATCH(a, MAPS "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                             "&resourceVersion=999");
    const char *line = watch_line(w);
    assert_string_equal(line_text(w, line, "type"), "ERROR");
    assert_string_equal(line_text(w, line, "object.code"), "504");
    assert_string_equal(line_text(w, line, "object.details.causes[0].reason"),
                        "ResourceVersionTooLarge");
    assert_ended(w);
}

static void watch_from_future_version_waits(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    watch *w = WATCH(a, MAPS "?watch=1&resourceVersion=999");
    put(a, "a", "x", "1");
    assert_true(watch_is_silent(w));
}

static void invalid_resource_version_returns_500(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(
        api_get(a, MAPS "?watch=1&resourceVersion=x"), 500, "",
        "resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid "
        "syntax");
}

static void expired_resource_version_sends_error_event(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    const char *then = version_now(a);
    put(a, "a", "x", "1");
    api_advance(a, KC_HOUR);
    put(a, "a", "x", "2");
    put(a, "a", "x", "3");
    watch *w = WATCH(a, text(a, MAPS "?watch=1&resourceVersion=%s", then));
    const char *line = watch_line(w);
    assert_string_equal(line_text(w, line, "type"), "ERROR");
    assert_string_equal(line_text(w, line, "object.reason"), "Expired");
    assert_string_equal(line_text(w, line, "object.code"), "410");
    assert_contains(line_text(w, line, "object.message"),
                    text(a, "too old resource version: %s (", then));
    assert_ended(w);
}

static void expired_continue_token_returns_410_with_new_token(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    put(a, "a", "x", "1");
    put(a, "b", "x", "1");
    const char *token = r_text(api_get(a, MAPS "?limit=1"), "metadata.continue");
    put(a, "b", "x", "2");
    api_advance(a, KC_HOUR);
    for (int i = 0; i < 50; i++) { /* Versions that are kept make room. */
        put(a, "a", "x", text(a, "%d", i));
        api_get(a, MAPS "?limit=1");
    }
    const reply *r = api_get(a, text(a, MAPS "?limit=1&continue=%s", token));
    assert_code(r, 410);
    assert_at(r, "reason", "Expired");
    r = api_get(a, text(a, MAPS "?limit=1&continue=%s", r_text(r, "metadata.continue")));
    assert_string_equal(r_names(r), "b");
}

static void bookmarks_are_sent_every_30_seconds_and_at_the_end(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    put(a, "a", "x", "1");
    watch *w = WATCH(a, text(a,
                             MAPS "?watch=1&allowWatchBookmarks=1&timeoutSeconds=50&"
                                  "resourceVersion=%s",
                             version_now(a)));
    api_post(a, "/api/v1/namespaces/default/secrets", "{'metadata':{'name':'s'}}");
    assert_true(watch_is_silent(w));
    api_advance(a, 30 * KC_SECOND);
    const char *line = watch_line(w);
    assert_string_equal(line_text(w, line, "type"), "BOOKMARK");
    assert_string_equal(line_text(w, line, "object.metadata.annotations"), "");
    api_post(a, "/api/v1/namespaces/default/secrets", "{'metadata':{'name':'t'}}");
    api_advance(a, 21 * KC_SECOND);
    line = watch_line(w);
    assert_string_equal(line_text(w, line, "type"), "BOOKMARK");
    assert_ended(w);
}

static void watch_ends_at_its_timeout(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    watch *w = WATCH(a, MAPS "?watch=1&timeoutSeconds=10");
    watch *endless = WATCH(a, MAPS "?watch=1");
    api_advance(a, 11 * KC_SECOND);
    assert_ended(w);
    put(a, "a", "x", "1");
    assert_event(endless, "ADDED", "a");
    api_advance(a, KC_HOUR + KC_SECOND);
    assert_ended(endless);
}

static void watch_with_negative_timeout_ends_at_once(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    watch *w = WATCH(a, MAPS "?watch=1&timeoutSeconds=-1");
    assert_int_equal(w->status, 200);
    assert_ended(w);
}

static void draining_server_ends_watches(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    watch *w = WATCH(a, MAPS "?watch=1");
    api_drain(a);
    assert_ended(w);
    assert_code(api_get(a, "/readyz"), 500);
    assert_code(api_get(a, MAPS), 200);
}

static void tables_and_metadata_are_watched(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char query[] = MAPS "?watch=1&allowWatchBookmarks=1&sendInitialEvents=true&"
                                     "resourceVersionMatch=NotOlderThan";
    put(a, "a", "x", "1");
    watch *table = WATCH(a, query, .accept = "application/json;as=Table;v=v1;g=meta.k8s.io");
    const char *line = watch_line(table);
    assert_string_equal(line_text(table, line, "object.kind"), "Table");
    assert_string_equal(line_text(table, line, "object.rows[0].cells[0]"), "a");
    line = watch_line(table);
    assert_string_equal(line_text(table, line, "type"), "BOOKMARK");
    assert_string_equal(line_text(table, line, "object.kind"), "Table");
    watch *partial =
        WATCH(a, query, .accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io");
    line = watch_line(partial);
    assert_string_equal(line_text(partial, line, "object.kind"), "PartialObjectMetadata");
    assert_string_equal(line_text(partial, line, "object.data"), "");
}

static void closed_watch_does_not_affect_others(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    watch *gone = WATCH(a, MAPS "?watch=1"), *stays = WATCH(a, MAPS "?watch=1");
    watch_close(gone);
    put(a, "a", "x", "1");
    assert_event(stays, "ADDED", "a");
}

static void events_are_sent_in_order(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    watch *w = WATCH(a, MAPS "?watch=1");
    for (int i = 0; i < 200; i++)
        put(a, "a", "x", text(a, "%d", i));
    for (int i = 0; i < 200; i++) {
        const char *line = assert_event(w, i ? "MODIFIED" : "ADDED", "a");
        assert_string_equal(line_text(w, line, "object.data.v"), text(a, "%d", i));
    }
}

TESTS(watch_without_version_starts_with_existing_objects,
      watch_from_resource_version_sends_later_events, write_without_changes_sends_no_event,
      entering_and_leaving_a_selector_are_added_and_deleted,
      deleted_event_has_last_object_with_revision_of_deletion,
      name_is_watched_by_selector_or_deprecated_path, streamed_list_ends_with_bookmark,
      streamed_list_without_bookmarks_sends_none, watch_without_initial_events_starts_empty,
      streamed_list_at_future_version_fails, watch_from_future_version_waits,
      invalid_resource_version_returns_500, expired_resource_version_sends_error_event,
      expired_continue_token_returns_410_with_new_token,
      bookmarks_are_sent_every_30_seconds_and_at_the_end, watch_ends_at_its_timeout,
      watch_with_negative_timeout_ends_at_once, draining_server_ends_watches,
      tables_and_metadata_are_watched, closed_watch_does_not_affect_others,
      events_are_sent_in_order)
