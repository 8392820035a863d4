/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for custom resources with a conversion webhook, against the whole server. */
#include "conversion_testing.h"

/* ---- reads ---- */

static void get_converts_once_and_keeps_the_conversion(void **state)
{
    (void)state;
    api *a = start("/convert");
    create(a, "a");
    assert_int_equal(calls(), 0);
    assert_at(api_get(a, V1 "/a"), "spec.one", "xa");
    assert_int_equal(calls(), 0);
    for (int i = 0; i < 5; i++) {
        const reply *r = api_get(a, V2 "/a");
        assert_code(r, 200);
        assert_at(r, "apiVersion", "x.io/v2");
        assert_at(r, "spec.two", "xa");
        assert_at(r, "spec.one", "");
        assert_at(r, "spec.from", "v1"); /* Defaults of the stored version. */
        assert_at(r, "metadata.labels.l", "a");
    }
    assert_int_equal(calls(), 1);
    stop(a);
}

static void list_converts_in_batches_and_keeps_them(void **state)
{
    (void)state;
    api *a = start("/convert");
    for (int i = 0; i < 250; i++)
        create(a, text(a, "r%03d", i));
    const reply *r = api_get(a, V2);
    assert_code(r, 200);
    assert_int_equal(r_count(r, "items"), 250);
    assert_at(r, "items[249].spec.two", "xr249");
    assert_at(r, "items[0].apiVersion", "x.io/v2");
    assert_int_equal(calls(), 3);
    assert_int_equal(webhook.most, 100);
    assert_code(api_get(a, V2), 200);
    assert_code(api_get(a, V2 "?limit=10"), 200);
    assert_int_equal(calls(), 3);
    create(a, "new");
    assert_int_equal(r_count(api_get(a, V2), "items"), 251);
    assert_int_equal(calls(), 4);
    assert_int_equal(webhook.objects, 251);
    stop(a);
}

static void limited_list_converts_only_its_page(void **state)
{
    (void)state;
    api *a = start("/convert");
    create(a, "a");
    create(a, "b");
    create(a, "c");
    assert_string_equal(r_names(api_get(a, V2 "?limit=2")), "a b");
    assert_int_equal(webhook.objects, 2);
    stop(a);
}

/* The resourceVersion of a list, for a watch that begins without initial events. */
static const char *watch_from_now(api *a)
{
    return text(a, V2 "?watch=1&resourceVersion=%s",
                r_text(api_get(a, V1), "metadata.resourceVersion"));
}

static void watches_share_one_conversion(void **state)
{
    (void)state;
    api *a = start("/convert");
    webhook.holds = true;
    watch *one = WATCH(a, watch_from_now(a));
    watch *two = WATCH(a, watch_from_now(a));
    create(a, "a");
    await_calls(1);
    kc_clock_sleep(kc_clock_real(), 50 * KC_MILLISECOND);
    assert_int_equal(calls(), 1);
    release_webhook();
    assert_event(one, "ADDED", "a");
    assert_event(two, "ADDED", "a");
    assert_int_equal(calls(), 1);
    watch_close(one);
    watch_close(two);
    stop(a);
}

static void selectors_match_what_the_webhook_returns(void **state)
{
    (void)state;
    api *a = start("/labels");
    create(a, "a");
    create(a, "b");
    assert_string_equal(r_names(api_get(a, V2 "?labelSelector=seen%3Dv2,l%3Db")), "b");
    assert_string_equal(r_names(api_get(a, V2 "?fieldSelector=spec.two%3Dxa")), "a");
    assert_string_equal(r_names(api_get(a, V1 "?labelSelector=seen%3Dv2")), "");
    stop(a);
}

static void metadata_and_storage_version_need_no_webhook(void **state)
{
    (void)state;
    api *a = start("/away");
    create(a, "a");
    const char *partial = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
    const char *partials = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
    assert_at(SEND(a, "GET", V2 "/a", .accept = partial), "metadata.name", "a");
    assert_int_equal(r_count(SEND(a, "GET", V2, .accept = partials), "items"), 1);
    assert_code(api_get(a, V1 "/a"), 200);
    assert_code(api_get(a, V1), 200);
    assert_int_equal(calls(), 0);
    assert_code(SEND(a, "DELETE", V2 "/a", .accept = partial), 200);
    assert_int_equal(calls(), 0);
    create(a, "b");
    assert_int_equal(r_count(SEND(a, "DELETE", V2, .accept = partials), "items"), 1);
    assert_int_equal(calls(), 0);
    stop(a);
}

/* ---- writes ---- */

static void create_stores_the_converted_object(void **state)
{
    (void)state;
    api *a = start("/convert");
    const reply *r = api_post(a, V2,
                              "{'apiVersion':'x.io/v2','kind':'Robot','metadata':{'name':'a'},"
                              "'spec':{'two':'x','unknown':1}}");
    assert_code(r, 201);
    assert_at(r, "spec.two", "x");
    assert_at(r, "spec.from", "v2");
    assert_at(r, "apiVersion", "x.io/v2");
    r = api_get(a, V1 "/a");
    assert_at(r, "spec.one", "x");
    assert_at(r, "spec.from", "v2");
    assert_at(r, "metadata.generation", "1");
    stop(a);
}

static void patch_applies_to_the_converted_object(void **state)
{
    (void)state;
    api *a = start("/convert");
    create(a, "a");
    const reply *r = api_patch(a, V2 "/a", "{'spec':{'two':'y'}}");
    assert_code(r, 200);
    assert_at(r, "spec.two", "y");
    assert_at(r, "metadata.generation", "2");
    assert_at(api_get(a, V1 "/a"), "spec.one", "y");
    const size_t before = calls();
    r = api_patch(a, V2 "/a", "{'spec':{'two':'y'}}"); /* Changes nothing. */
    assert_code(r, 200);
    assert_int_equal(calls(), before + 1); /* Owners of v1 are compared in v1. */
    stop(a);
}

static void update_of_status_and_scale_in_the_other_version_is_stored(void **state)
{
    (void)state;
    api *a = start("/convert");
    create(a, "a");
    assert_code(api_patch(a, V2 "/a/status", "{'status':{'note':'n'},'spec':{'two':'no'}}"), 200);
    assert_code(api_patch(a, V2 "/a", "{'spec':{'replicas':1}}"), 200);
    const reply *r = api_patch(a, V2 "/a/scale", "{'spec':{'replicas':4}}");
    assert_code(r, 200);
    assert_at(r, "kind", "Scale");
    assert_at(r, "spec.replicas", "4");
    r = api_get(a, V1 "/a");
    assert_at(r, "spec.one", "xa");
    assert_at(r, "spec.replicas", "4");
    assert_at(r, "status.note", "n");
    stop(a);
}

static void write_in_a_new_storage_version_rewrites_the_object(void **state)
{
    (void)state;
    api *a = start("/convert");
    create(a, "a");
    assert_code(api_patch(a, CRDS "/robots.x.io",
                          text(a, "{'spec':{'versions':[%s,%s]}}", VERSION("v1", "false", "one"),
                               VERSION("v2", "true", "two"))),
                200);
    const reply *r = api_get(a, CRDS "/robots.x.io");
    assert_at(r, "status.storedVersions", "[\"v1\",\"v2\"]");
    const char *before = r_text(api_get(a, V1 "/a"), "metadata.resourceVersion"), *after = before;
    /* A write that changes nothing stores the object in the new version, once that is in effect. */
    for (int i = 0; i < 10000 && !strcmp(before, after); i++) {
        assert_code(api_patch(a, V1 "/a", "{}"), 200);
        after = r_text(api_get(a, V1 "/a"), "metadata.resourceVersion");
    }
    assert_string_not_equal(before, after);
    const size_t sent = calls();
    assert_at(api_get(a, V2 "/a"), "spec.two", "xa");
    assert_int_equal(calls(), sent); /* Stored in v2 now. */
    stop(a);
}

/* ---- failures ---- */

#define REFUSED                                                \
    "conversion webhook for x.io/v1, Kind=Robot failed: Post " \
    "\"https://test.invalid/away?timeout=30s\": dial tcp 127.0.0.1:1: connect: connection refused"

static void requests_fail_while_the_webhook_is_away(void **state)
{
    (void)state;
    api *a = start("/away");
    create(a, "a");
    assert_status(api_get(a, V2 "/a"), 500, "", REFUSED);
    assert_status(api_get(a, V2), 500, "", REFUSED);
    assert_status(api_patch(a, V2 "/a", "{'spec':{'two':'y'}}"), 500, "", REFUSED);
    assert_status(api_get(a, V2 "/a/scale"), 500, "", REFUSED);
    const reply *r = api_post(a, V2,
                              "{'apiVersion':'x.io/v2','kind':'Robot','metadata':{'name':'b'},"
                              "'spec':{'two':'x'}}");
    assert_code(r, 500);
    assert_contains(r_text(r, "message"), "conversion webhook for x.io/v2, Kind=Robot failed: ");
    assert_code(api_get(a, V1 "/b"), 404);
    assert_status(api_delete(a, V2 "/a", NULL), 500, "", REFUSED);
    assert_status(api_delete(a, V2, NULL), 500, "", REFUSED);
    assert_status(api_get(a, V2 "?watch=1"), 500, "", REFUSED);
    assert_code(api_get(a, V1 "/a"), 200);
    stop(a);
}

/* Kubernetes has not filled its cache of the version. */
static void lists_are_retried_if_nothing_was_converted_since_the_definition_changed(void **state)
{
    (void)state;
    api *a = start("/convert");
    create(a, "a");
    use_path(a, "/away");
    const char *message =
        "storage is (re)initializing: failed to list x.io/v2, Kind=Robot: " REFUSED;
    assert_status(api_get(a, V2), 429, "TooManyRequests", message);
    assert_status(api_get(a, V2 "?watch=1"), 429, "TooManyRequests", message);
    assert_status(api_get(a, V2 "?limit=5"), 500, "", REFUSED);
    assert_status(api_get(a, V2 "/a"), 500, "", REFUSED);
    stop(a);
}

static void one_bad_object_fails_the_list_and_not_the_others(void **state)
{
    (void)state;
    api *a = start("/failb");
    create(a, "a");
    create(a, "b");
    create(a, "c");
    assert_status(api_get(a, V2), 500, "", "conversion webhook for x.io/v1, Kind=Robot failed: no");
    assert_code(api_get(a, V2 "/a"), 200);
    assert_code(api_get(a, V2 "/b"), 500);
    assert_code(api_get(a, V2 "/c"), 200);
    stop(a);
}

static void watch_ends_when_an_event_cannot_be_converted(void **state)
{
    (void)state;
    api *a = start("/failb");
    create(a, "a");
    watch *w = WATCH(a, V2 "?watch=1&resourceVersion=0");
    assert_event(w, "ADDED", "a");
    create(a, "b");
    const char *line = watch_line(w);
    assert_contains(line, "\"ERROR\"");
    assert_contains(line, "failed: no");
    assert_ended(w);
    stop(a);
}

/* ---- watches ---- */

static void watch_sends_converted_events_in_order(void **state)
{
    (void)state;
    api *a = start("/labels");
    create(a, "a");
    watch *w = WATCH(a, V2 "?watch=1&resourceVersion=0&labelSelector=seen%3Dv2,l!%3Dout");
    assert_string_equal(line_text(w, assert_event(w, "ADDED", "a"), "object.spec.two"), "xa");
    assert_code(api_patch(a, V1 "/a", "{'spec':{'one':'y'}}"), 200);
    assert_string_equal(line_text(w, assert_event(w, "MODIFIED", "a"), "object.spec.two"), "y");
    assert_code(api_patch(a, V1 "/a", "{'metadata':{'labels':{'l':'out'}},'spec':{'one':'z'}}"),
                200);
    const char *gone = assert_event(w, "DELETED", "a"); /* Its last selected state. */
    assert_string_equal(line_text(w, gone, "object.spec.two"), "y");
    assert_string_equal(line_text(w, gone, "object.metadata.resourceVersion"),
                        r_text(api_get(a, V1 "/a"), "metadata.resourceVersion"));
    assert_code(api_patch(a, V1 "/a", "{'metadata':{'labels':{'l':'in'}}}"), 200);
    assert_event(w, "ADDED", "a");
    const size_t before = calls();
    assert_code(api_delete(a, V1 "/a", NULL), 200);
    assert_string_equal(line_text(w, assert_event(w, "DELETED", "a"), "object.spec.two"), "z");
    assert_int_equal(calls(), before); /* The last state is known. */
    watch_close(w);
    stop(a);
}

static void initial_events_of_many_objects_are_all_sent(void **state)
{
    (void)state;
    api *a = start("/convert");
    for (int i = 0; i < 250; i++)
        create(a, text(a, "r%03d", i));
    watch *w = WATCH(a, V2 "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                           "&allowWatchBookmarks=true");
    for (int i = 0; i < 250; i++)
        assert_event(w, "ADDED", text(a, "r%03d", i));
    assert_contains(watch_line(w), "k8s.io/initial-events-end");
    assert_int_equal(webhook.objects, 250);
    create(a, "s");
    assert_event(w, "ADDED", "s");
    watch_close(w);
    stop(a);
}

static void watch_that_closes_while_the_webhook_hangs_leaves_nothing(void **state)
{
    (void)state;
    api *a = start("/convert");
    webhook.holds = true;
    watch *w = WATCH(a, watch_from_now(a));
    create(a, "a");
    await_calls(1);
    watch_close(w);
    release_webhook();
    assert_at(api_get(a, V2 "/a"), "spec.two", "xa");
    stop(a);
}

static void request_times_out_while_the_webhook_hangs(void **state)
{
    (void)state;
    api *a = start("/convert");
    create(a, "a");
    webhook.holds = true;
    const reply *r = api_get(a, V2 "/a?timeout=1s");
    assert_code(r, 504);
    assert_code(api_get(a, V1 "/a"), 200);
    stop(a);
}

static void change_of_the_definition_converts_again(void **state)
{
    (void)state;
    api *a = start("/convert");
    create(a, "a");
    assert_at(api_get(a, V2 "/a"), "metadata.labels.seen", "");
    use_path(a, "/labels");
    assert_at(api_get(a, V2 "/a"), "metadata.labels.seen", "v2");
    stop(a);
}

TESTS(get_converts_once_and_keeps_the_conversion, list_converts_in_batches_and_keeps_them,
      limited_list_converts_only_its_page, watches_share_one_conversion,
      selectors_match_what_the_webhook_returns, metadata_and_storage_version_need_no_webhook,
      create_stores_the_converted_object, patch_applies_to_the_converted_object,
      update_of_status_and_scale_in_the_other_version_is_stored,
      write_in_a_new_storage_version_rewrites_the_object, requests_fail_while_the_webhook_is_away,
      lists_are_retried_if_nothing_was_converted_since_the_definition_changed,
      one_bad_object_fails_the_list_and_not_the_others,
      watch_ends_when_an_event_cannot_be_converted, watch_sends_converted_events_in_order,
      initial_events_of_many_objects_are_all_sent,
      watch_that_closes_while_the_webhook_hangs_leaves_nothing,
      request_times_out_while_the_webhook_hangs, change_of_the_definition_converts_again)
