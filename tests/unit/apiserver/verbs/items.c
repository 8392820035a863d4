/* SPDX-License-Identifier: Apache-2.0 */
/* items.c: lists and watches that pass objects to a client in the same process. */
#include "api_testing.h"

#include "apiserver/kinds/key_layout.h"

#include <stdio.h>
#include <unistd.h>

#define MAPS   "/api/v1/namespaces/default/configmaps"
#define CRDS   "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define ROBOTS "/apis/example.com/v1/namespaces/default/robots"

static const char *create_map(api *a, const char *name, const char *label)
{
    const reply *r =
        api_post(a, MAPS, text(a, "{'metadata':{'name':'%s','labels':{'l':'%s'}}}", name, label));
    assert_code(r, 201);
    return r_text(r, "metadata.resourceVersion");
}

static kc_object *stored_map(api *a, const char *name)
{
    kc__watch_cache *maps = kc__store_watch_cache(
        api_inside(a)->store, kc__resource_key_builtin_prefix("", "configmaps"));
    return kc__watch_cache_get(maps, kc_cstr(text(a, "default/%s", name)));
}

#define assert_stored(a, w, i, name)                             \
    do {                                                         \
        kc_auto(kc_object) *stored_object = stored_map(a, name); \
        assert_ptr_equal(watch_item(w, i), stored_object);       \
    } while (0)

static void watch_delivers_the_stored_objects(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    create_map(a, "a", "x");
    watch *w = WATCH(a, MAPS "?watch=1", .takes_items = true);
    assert_event(w, "ADDED", "a");
    assert_stored(a, w, 0, "a");
    create_map(a, "b", "x");
    assert_event(w, "ADDED", "b");
    assert_stored(a, w, 1, "b");
    assert_code(api_patch(a, MAPS "/b", "{'data':{'k':'v'}}"), 200);
    assert_event(w, "MODIFIED", "b");
    assert_stored(a, w, 2, "b");
    assert_code(api_delete(a, MAPS "/b", NULL), 200);
    assert_event(w, "DELETED", "b");
}

static void watch_of_items_equals_watch_of_bytes(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    create_map(a, "before", "x");
    static const char target[] = MAPS "?watch=1&labelSelector=l%3Dx&sendInitialEvents=true"
                                      "&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    watch *items = WATCH(a, target, .takes_items = true), *bytes = WATCH(a, target);
    create_map(a, "b", "x");
    create_map(a, "other", "y");
    assert_code(api_patch(a, MAPS "/b", "{'metadata':{'labels':{'l':'y'}}}"), 200);
    assert_code(api_patch(a, MAPS "/other", "{'metadata':{'labels':{'l':'x'}}}"), 200);
    assert_code(api_delete(a, MAPS "/before", NULL), 200);
    static const char *const types[] = {"ADDED",   "BOOKMARK", "ADDED",
                                        "DELETED", "ADDED",    "DELETED"};
    for (size_t i = 0; i < KC_COUNT(types); i++) {
        const char *line = watch_line(bytes);
        assert_string_equal(line_text(bytes, line, "type"), types[i]);
        assert_string_equal(watch_line(items), line);
    }
}

static void bookmarks_of_this_process_are_sent_at_the_same_time(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    static const char target[] = MAPS "?watch=1&allowWatchBookmarks=1&resourceVersion=0";
    watch *first = WATCH(a, target, .takes_items = true);
    api_advance(a, 7 * KC_SECOND);
    watch *second = WATCH(a, target, .takes_items = true);
    api_post(a, "/api/v1/namespaces/default/secrets", "{'metadata':{'name':'s'}}");
    watch_line(first); /* The end of the initial events. */
    watch_line(second);
    api_advance(a, 19 * KC_SECOND);
    assert_true(watch_is_silent(first) && watch_is_silent(second));
    api_advance(a, 4 * KC_SECOND);
    assert_string_equal(line_text(first, watch_line(first), "type"), "BOOKMARK");
    assert_string_equal(line_text(second, watch_line(second), "type"), "BOOKMARK");
}

static void expired_watch_delivers_its_error(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(&(api_opts){.virtual_time = true});
    const char *then = create_map(a, "a", "x");
    create_map(a, "b", "x");
    api_advance(a, 10 * KC_MINUTE);
    create_map(a, "c", "x");
    watch *w = NULL;
    const char *line = NULL;
    for (int i = 0; i < 30000; i++) {
        w = WATCH(a, text(a, MAPS "?watch=1&resourceVersion=%s", then), .takes_items = true);
        line = watch_line(w);
        if (!strcmp(line_text(w, line, "type"), "ERROR"))
            break;
        watch_close(w);
        usleep(2000);
    }
    assert_string_equal(line_text(w, line, "type"), "ERROR");
    assert_string_equal(line_text(w, line, "object.kind"), "Status");
    assert_string_equal(line_text(w, line, "object.code"), "410");
    assert_ended(w);
}

static void list_delivers_its_items_and_metadata(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    create_map(a, "a", "x");
    create_map(a, "b", "y");
    create_map(a, "c", "x");
    const reply *plain = api_get(a, MAPS "?labelSelector=l%3Dx");
    watch *w = WATCH(a, MAPS "?labelSelector=l%3Dx", .takes_items = true);
    const char *line = assert_event(w, "LISTED", "a");
    assert_string_equal(line_text(w, line, "object.kind"), "ConfigMap");
    assert_string_equal(line_text(w, line, "object.apiVersion"), "v1");
    assert_event(w, "LISTED", "c");
    line = watch_line(w);
    assert_string_equal(line_text(w, line, "type"), "LIST_END");
    assert_string_equal(line_text(w, line, "object.kind"), "ConfigMapList");
    assert_string_equal(line_text(w, line, "object.metadata.resourceVersion"),
                        r_text(plain, "metadata.resourceVersion"));
    assert_ended(w);
    assert_stored(a, w, 0, "a");
    assert_stored(a, w, 1, "c");
}

static void pages_of_items_continue_where_they_ended(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    for (int i = 0; i < 5; i++)
        create_map(a, text(a, "m%d", i), "x");
    watch *w = WATCH(a, MAPS "?limit=3", .takes_items = true);
    for (int i = 0; i < 3; i++)
        assert_event(w, "LISTED", text(a, "m%d", i));
    const char *end = watch_line(w);
    assert_string_equal(line_text(w, end, "object.metadata.remainingItemCount"), "2");
    const char *token = line_text(w, end, "object.metadata.continue");
    w = WATCH(a, text(a, MAPS "?limit=3&continue=%s", token), .takes_items = true);
    assert_event(w, "LISTED", "m3");
    assert_event(w, "LISTED", "m4");
    end = watch_line(w);
    assert_string_equal(line_text(w, end, "object.metadata.continue"), "");
    assert_ended(w);
}

/* More than fits into one turn, and than a loop renders by itself. */
static void long_list_delivers_all_items(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    enum { N = 600 };
    for (int i = 0; i < N; i++)
        create_map(a, text(a, "m%03d", i), i % 2 ? "x" : "y");
    watch *w = WATCH(a, MAPS, .takes_items = true);
    for (int i = 0; i < N; i++)
        assert_event(w, "LISTED", text(a, "m%03d", i));
    assert_string_equal(line_text(w, watch_line(w), "type"), "LIST_END");
    w = WATCH(a, MAPS "?labelSelector=l%3Dx", .takes_items = true);
    for (int i = 1; i < N; i += 2)
        assert_event(w, "LISTED", text(a, "m%03d", i));
    assert_string_equal(line_text(w, watch_line(w), "type"), "LIST_END");
    assert_ended(w);
}

static void items_are_in_the_requested_version(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(api_post(a, "/api/v1/namespaces/default/events",
                         "{'metadata':{'name':'e'},'involvedObject':{'namespace':'default'},"
                         "'message':'m','reason':'r','type':'Normal'}"),
                201);
    static const char events[] = "/apis/events.k8s.io/v1/namespaces/default/events";
    watch *w = WATCH(a, text(a, "%s?watch=1", events), .takes_items = true);
    const char *line = assert_event(w, "ADDED", "e");
    assert_string_equal(line_text(w, line, "object.apiVersion"), "events.k8s.io/v1");
    assert_string_equal(line_text(w, line, "object.note"), "m");
    w = WATCH(a, events, .takes_items = true);
    line = assert_event(w, "LISTED", "e");
    assert_string_equal(line_text(w, line, "object.note"), "m");
}

static void errors_and_other_formats_are_sent_as_bytes(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    create_map(a, "a", "x");
    const reply *r = SEND(a, "GET", MAPS "?fieldSelector=spec.x%3D1", .takes_items = true);
    assert_code(r, 400);
    assert_at(r, "kind", "Status");
    r = SEND(a, "GET", MAPS, .takes_items = true,
             .accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
    assert_at(r, "kind", "PartialObjectMetadataList");
    assert_string_equal(r_names(r), "a");
    r = SEND(a, "GET", MAPS "/a", .takes_items = true);
    assert_at(r, "kind", "ConfigMap");
}

static void closed_list_of_items_is_freed(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    for (int i = 0; i < 300; i++)
        create_map(a, text(a, "m%03d", i), "x");
    watch *w = WATCH(a, MAPS, .takes_items = true, .stall_after = 1);
    assert_event(w, "LISTED", "m000");
    watch_close(w);
}

TESTS(watch_delivers_the_stored_objects, watch_of_items_equals_watch_of_bytes,
      bookmarks_of_this_process_are_sent_at_the_same_time, expired_watch_delivers_its_error,
      list_delivers_its_items_and_metadata, pages_of_items_continue_where_they_ended,
      long_list_delivers_all_items, items_are_in_the_requested_version,
      errors_and_other_formats_are_sent_as_bytes, closed_list_of_items_is_freed)
