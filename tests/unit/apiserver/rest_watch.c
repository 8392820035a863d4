/* SPDX-License-Identifier: Apache-2.0 */
/* rest_watch.c: watches. */
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

static void a_watch_begins_with_what_there_is(void **state)
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

static void a_watch_of_a_version_shows_what_came_after(void **state)
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

static void what_changes_nothing_is_no_event(void **state)
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

static void entering_and_leaving_a_selection_are_events(void **state)
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

static void a_deleted_object_is_shown_as_it_was_with_the_version_of_its_end(void **state)
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

static void a_name_is_watched_by_selector_or_by_the_old_path(void **state)
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

static void a_streamed_list_ends_with_a_bookmark(void **state)
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

static void a_streamed_list_without_bookmarks_has_none(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    put(a, "a", "x", "1");
    watch *w = WATCH(a, MAPS "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
    assert_event(w, "ADDED", "a");
    assert_true(watch_is_silent(w));
}

static void a_watch_may_begin_with_nothing(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    put(a, "a", "x", "1");
    watch *w = WATCH(a, MAPS "?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
    put(a, "b", "x", "1");
    assert_event(w, "ADDED", "b");
}

static void a_streamed_list_of_a_version_to_come_fails(void **state)
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

static void a_version_to_come_is_waited_for(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    watch *w = WATCH(a, MAPS "?watch=1&resourceVersion=999");
    put(a, "a", "x", "1");
    assert_true(watch_is_silent(w));
}

static void a_version_that_is_no_number_is_the_servers_fault(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(
        api_get(a, MAPS "?watch=1&resourceVersion=x"), 500, "",
        "resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid "
        "syntax");
}

static void a_version_that_is_forgotten_is_an_event(void **state)
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

static void an_expired_page_says_how_to_go_on(void **state)
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

static void bookmarks_come_once_a_minute_and_at_the_end(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    put(a, "a", "x", "1");
    watch *w = WATCH(a, text(a,
                             MAPS "?watch=1&allowWatchBookmarks=1&timeoutSeconds=100&"
                                  "resourceVersion=%s",
                             version_now(a)));
    api_post(a, "/api/v1/namespaces/default/secrets", "{'metadata':{'name':'s'}}");
    assert_true(watch_is_silent(w));
    api_advance(a, 65 * KC_SECOND);
    const char *line = watch_line(w);
    assert_string_equal(line_text(w, line, "type"), "BOOKMARK");
    assert_string_equal(line_text(w, line, "object.metadata.annotations"), "");
    api_post(a, "/api/v1/namespaces/default/secrets", "{'metadata':{'name':'t'}}");
    api_advance(a, 36 * KC_SECOND);
    line = watch_line(w);
    assert_string_equal(line_text(w, line, "type"), "BOOKMARK");
    assert_ended(w);
}

static void a_watch_ends_in_time(void **state)
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

static void a_watch_whose_time_is_over_ends_at_once(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    watch *w = WATCH(a, MAPS "?watch=1&timeoutSeconds=-1");
    assert_int_equal(w->status, 200);
    assert_ended(w);
}

static void watches_end_when_the_server_goes_down(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    watch *w = WATCH(a, MAPS "?watch=1");
    api_drain(a);
    assert_ended(w);
    assert_code(api_get(a, "/readyz"), 500);
    assert_code(api_get(a, MAPS), 200);
}

static void tables_and_metadata_are_watched_too(void **state)
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

static void a_client_that_goes_away_harms_nobody(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    watch *gone = WATCH(a, MAPS "?watch=1"), *stays = WATCH(a, MAPS "?watch=1");
    watch_close(gone);
    put(a, "a", "x", "1");
    assert_event(stays, "ADDED", "a");
}

static void many_changes_come_in_order(void **state)
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

TESTS(a_watch_begins_with_what_there_is, a_watch_of_a_version_shows_what_came_after,
      what_changes_nothing_is_no_event, entering_and_leaving_a_selection_are_events,
      a_deleted_object_is_shown_as_it_was_with_the_version_of_its_end,
      a_name_is_watched_by_selector_or_by_the_old_path, a_streamed_list_ends_with_a_bookmark,
      a_streamed_list_without_bookmarks_has_none, a_watch_may_begin_with_nothing,
      a_streamed_list_of_a_version_to_come_fails, a_version_to_come_is_waited_for,
      a_version_that_is_no_number_is_the_servers_fault, a_version_that_is_forgotten_is_an_event,
      an_expired_page_says_how_to_go_on, bookmarks_come_once_a_minute_and_at_the_end,
      a_watch_ends_in_time, a_watch_whose_time_is_over_ends_at_once,
      watches_end_when_the_server_goes_down, tables_and_metadata_are_watched_too,
      a_client_that_goes_away_harms_nobody, many_changes_come_in_order)
