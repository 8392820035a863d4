/* SPDX-License-Identifier: Apache-2.0 */
/* watch_frames.c: events are serialized once for each representation and shared by watches. */
#include "api_testing.h"

#include "apiserver/verbs/watch_frames.h"
#include "apiserver/verbs/watch_render.h"

#include <stdio.h>
#include <unistd.h>

#define MAPS   "/api/v1/namespaces/default/configmaps"
#define CRDS   "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define ROBOTS "/apis/example.com/v1/namespaces/default/robots"

static void create_map(api *a, const char *name, const char *label)
{
    assert_code(
        api_post(a, MAPS, text(a, "{'metadata':{'name':'%s','labels':{'l':'%s'}}}", name, label)),
        201);
}

static long made(api *a)
{
    return api_metric(a, "kc_watch_frames_total{result=\"made\"}");
}

static long shared(api *a)
{
    return api_metric(a, "kc_watch_frames_total{result=\"shared\"}");
}

static void event_for_many_watches_is_serialized_once(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    enum { WATCHES = 20 };
    watch *w[WATCHES];
    for (size_t i = 0; i < WATCHES; i++)
        w[i] = WATCH(a, i % 2 ? MAPS "?watch=1" : "/api/v1/configmaps?watch=1&labelSelector=l%3Dx");
    const long before = made(a);
    create_map(a, "a", "x");
    const char *first = assert_event(w[0], "ADDED", "a");
    for (size_t i = 1; i < WATCHES; i++)
        assert_string_equal(assert_event(w[i], "ADDED", "a"), first);
    assert_int_equal(made(a), before + 1);
    create_map(a, "b", "x"); /* With it the loops count what they have shared. */
    for (size_t i = 0; i < WATCHES; i++)
        assert_event(w[i], "ADDED", "b");
    assert_int_equal(made(a), before + 2);
    assert_in_range(shared(a), WATCHES - 1, 2 * (WATCHES - 1));
    assert_true(api_metric(a, "kc_watch_frame_bytes") > 0);
}

static void representations_of_one_event_have_separate_frames(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    create_map(a, "a", "x");
    const char *from = r_text(api_get(a, MAPS "/a"), "metadata.resourceVersion");
    const char *target = text(a, MAPS "?watch=1&resourceVersion=%s", from);
    watch *whole = WATCH(a, target);
    watch *metadata =
        WATCH(a, target, .accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
    watch *entered = WATCH(a, text(a, "%s&labelSelector=l%%3Dy", target));
    watch *left = WATCH(a, text(a, "%s&labelSelector=l%%3Dx", target));
    assert_code(api_patch(a, MAPS "/a", "{'metadata':{'labels':{'l':'y'}},'data':{'k':'v'}}"), 200);
    const char *line = assert_event(whole, "MODIFIED", "a");
    assert_string_equal(line_text(whole, line, "object.kind"), "ConfigMap");
    line = assert_event(metadata, "MODIFIED", "a");
    assert_string_equal(line_text(metadata, line, "object.kind"), "PartialObjectMetadata");
    line = assert_event(entered, "ADDED", "a");
    assert_string_equal(line_text(entered, line, "object.data.k"), "v");
    line = assert_event(left, "DELETED", "a");
    assert_string_equal(line_text(left, line, "object.data.k"), "");
}

static void versions_of_one_event_have_separate_frames(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    watch *core = WATCH(a, "/api/v1/namespaces/default/events?watch=1");
    watch *group = WATCH(a, "/apis/events.k8s.io/v1/namespaces/default/events?watch=1");
    assert_code(api_post(a, "/api/v1/namespaces/default/events",
                         "{'metadata':{'name':'e'},'involvedObject':{'namespace':'default'},"
                         "'message':'m','reason':'r','type':'Normal'}"),
                201);
    const char *line = assert_event(core, "ADDED", "e");
    assert_string_equal(line_text(core, line, "object.apiVersion"), "v1");
    assert_string_equal(line_text(core, line, "object.message"), "m");
    line = assert_event(group, "ADDED", "e");
    assert_string_equal(line_text(group, line, "object.apiVersion"), "events.k8s.io/v1");
    assert_string_equal(line_text(group, line, "object.note"), "m");
}

static void kept_frames_stay_within_their_budget(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    enum { BYTES = 700 << 10 };
    char *data = kc_alloc(BYTES + 1);
    memset(data, 'x', BYTES);
    data[BYTES] = '\0';
    watch *w = WATCH(a, MAPS "?watch=1");
    for (int i = 0; i < 30; i++) {
        assert_code(
            api_post(a, MAPS, text(a, "{'metadata':{'name':'m%d'},'data':{'k':'%s'}}", i, data)),
            201);
        assert_event(w, "ADDED", text(a, "m%d", i));
        assert_in_range(api_metric(a, "kc_watch_frame_bytes"), 1, KC__REST_FRAME_BYTES);
    }
    free(data);
}

/* ---- long custom objects ---- */

static void define_robots(api *a)
{
    assert_code(
        api_post(a, CRDS,
                 "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition',"
                 "'metadata':{'name':'robots.example.com'},'spec':{'group':'example.com','scope':"
                 "'Namespaced','names':{'plural':'robots','kind':'Robot'},'versions':[{'name':'v1',"
                 "'served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
                 "'properties':{'spec':{'type':'object','properties':{'text':{'type':'string'},"
                 "'speed':{'type':'integer','default':7}}}}}}}]}}"),
        201);
    for (int i = 0; i < 5000 && api_get(a, ROBOTS)->status != 200; i++)
        usleep(2000);
    assert_code(api_get(a, ROBOTS), 200);
}

static void create_long_robot(api *a, const char *name)
{
    enum { BYTES = 100 << 10 };
    char *data = kc_alloc(BYTES + 1);
    memset(data, 'x', BYTES);
    data[BYTES] = '\0';
    assert_code(api_post(a, ROBOTS,
                         text(a,
                              "{'apiVersion':'example.com/v1','kind':'Robot','metadata':{'name':"
                              "'%s'},'spec':{'text':'%s'}}",
                              name, data)),
                201);
    free(data);
}

static void long_custom_event_is_rendered_by_one_worker_for_all_watches(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_robots(a);
    enum { WATCHES = 20 };
    watch *w[WATCHES];
    for (size_t i = 0; i < WATCHES; i++)
        w[i] = WATCH(a, ROBOTS "?watch=1");
    const long before = made(a);
    create_long_robot(a, "long");
    const char *first = assert_event(w[0], "ADDED", "long");
    assert_string_equal(line_text(w[0], first, "object.spec.speed"), "7");
    for (size_t i = 1; i < WATCHES; i++)
        assert_string_equal(assert_event(w[i], "ADDED", "long"), first);
    assert_int_equal(made(a), before + 1);
}

static void watch_that_ends_during_rendering_does_not_affect_others(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_robots(a);
    for (int i = 0; i < 20; i++) {
        watch *leaving = WATCH(a, ROBOTS "?watch=1&sendInitialEvents=false"
                                         "&resourceVersionMatch=NotOlderThan");
        watch *staying = WATCH(a, ROBOTS "?watch=1&sendInitialEvents=false"
                                         "&resourceVersionMatch=NotOlderThan");
        create_long_robot(a, text(a, "long-%d", i));
        watch_close(leaving);
        assert_event(staying, "ADDED", text(a, "long-%d", i));
        watch_close(staying);
    }
}

static void initial_events_of_long_custom_objects_are_complete(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_robots(a);
    create_long_robot(a, "a");
    create_long_robot(a, "b");
    watch *bytes = WATCH(a, ROBOTS "?watch=1"), *other = WATCH(a, ROBOTS "?watch=1");
    watch *items = WATCH(a, ROBOTS "?watch=1", .takes_items = true);
    watch *all[] = {bytes, other, items};
    for (size_t i = 0; i < KC_COUNT(all); i++) {
        const char *line = assert_event(all[i], "ADDED", "a");
        assert_string_equal(line_text(all[i], line, "object.spec.speed"), "7");
        assert_event(all[i], "ADDED", "b");
    }
}

/* ---- long objects of converted versions ---- */

static long offloaded(api *a)
{
    return api_metric(a, "apiserver_offloaded_requests_total{result=\"done\"}");
}

static void create_long_event(api *a, const char *name)
{
    enum { BYTES = 100 << 10 };
    char *data = kc_alloc(BYTES + 1);
    memset(data, 'x', BYTES);
    data[BYTES] = '\0';
    assert_code(api_post(a, "/api/v1/namespaces/default/events",
                         text(a,
                              "{'metadata':{'name':'%s','annotations':{'a':'%s'}},'involvedObject':"
                              "{'namespace':'default'},'message':'m','reason':'r','type':'Normal'}",
                              name, data)),
                201);
    free(data);
}

static void long_event_of_a_converted_version_is_rendered_by_a_worker(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    watch *stored = WATCH(a, "/api/v1/namespaces/default/events?watch=1");
    long before = offloaded(a);
    create_long_event(a, "first");
    assert_event(stored, "ADDED", "first");
    const long of_the_write = offloaded(a) - before;
    watch *converted =
        WATCH(a, "/apis/events.k8s.io/v1/namespaces/default/events?watch=1&resourceVersion=0"
                 "&fieldSelector=metadata.name%3Dsecond");
    before = offloaded(a);
    create_long_event(a, "second");
    const char *line = assert_event(converted, "ADDED", "second");
    assert_string_equal(line_text(converted, line, "object.apiVersion"), "events.k8s.io/v1");
    assert_string_equal(line_text(converted, line, "object.note"), "m");
    assert_int_equal(offloaded(a) - before, of_the_write + 1);
}

TESTS(long_event_of_a_converted_version_is_rendered_by_a_worker,
      event_for_many_watches_is_serialized_once, representations_of_one_event_have_separate_frames,
      versions_of_one_event_have_separate_frames, kept_frames_stay_within_their_budget,
      long_custom_event_is_rendered_by_one_worker_for_all_watches,
      watch_that_ends_during_rendering_does_not_affect_others,
      initial_events_of_long_custom_objects_are_complete)
