/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event-driven list and watch over a transport that delivers objects, as a server in the same
 * process does, or bytes in parts. (The tests of the caches cover them with a real server.)
 */
#include "client/rest/client_stream.h"
#include "testing.h"

#include "kc/kinds.h"
#include "kc/sim.h"

#include <stdio.h>

/* One thing the transport tells. */
typedef struct delivery {
    enum { TELL_HEAD, TELL_BODY, TELL_OBJECT, TELL_END, TELL_FAILURE } what;
    int status;
    const char *text;
    kc_stream_item item;
    kc_object *object;
} delivery;

/* A transport that answers each request with the next script, from within start. */
typedef struct scripted {
    kc_transport base;
    kc_stream stream;
    const delivery *scripts[4];
    size_t n_requests;
    char targets[4][200];
    int released, resumed, wakes;
} scripted;

static void deliver_script(scripted *t, const delivery *script, const kc_stream_callbacks *c,
                           void *user)
{
    kc_scoped(kc_error) broken = {0};
    for (;; script++)
        switch (script->what) {
        case TELL_HEAD:
            c->on_head(&t->stream, &(kc_http_response){.status = script->status}, user);
            break;
        case TELL_BODY: c->on_body(&t->stream, kc_cstr(script->text), user); break;
        case TELL_OBJECT: c->on_object(&t->stream, script->item, script->object, user); break;
        case TELL_END: c->on_end(&t->stream, NULL, user); return;
        case TELL_FAILURE:
            kc_error_set(&broken, KC_SERVICE_UNAVAILABLE, "broken");
            broken.code = script->status;
            c->on_end(&t->stream, &broken, user);
            return;
        }
}

static void scripted_resume(kc_stream *s)
{
    kc_container_of(s, scripted, stream)->resumed++;
}

static void scripted_release(kc_stream *s)
{
    kc_container_of(s, scripted, stream)->released++;
}

static const kc_stream_ops scripted_stream_ops = {
    .resume = scripted_resume, .cancel = scripted_resume, .release = scripted_release};

static kc_stream *scripted_start(kc_transport *transport, const kc_http_request *request,
                                 const kc_stream_callbacks *callbacks, void *user, kc_error *err)
{
    scripted *t = kc_container_of(transport, scripted, base);
    (void)err;
    assert_true(request->takes_objects);
    t->stream.ops = &scripted_stream_ops;
    snprintf(t->targets[t->n_requests], sizeof(t->targets[0]), "%.*s", KC_ARG(request->target));
    deliver_script(t, t->scripts[t->n_requests++], callbacks, user);
    return &t->stream;
}

static void scripted_free(kc_transport *transport)
{
    (void)transport;
}

static const kc_transport_ops scripted_ops = {.start = scripted_start, .free = scripted_free};

static void count_wake(void *user)
{
    ((scripted *)user)->wakes++;
}

static kc_client *client_of(scripted *t, const kc_clock *clock)
{
    t->base.ops = &scripted_ops;
    return kc_client_new(&(kc_client_opts){.transport = &t->base, .clock = clock}, NULL);
}

static kc_object *pod(const char *name, const char *version)
{
    kc_autofree char *text = kc_asprintf("{'apiVersion':'v1','kind':'Pod','metadata':{"
                                         "'name':'%s','namespace':'a','resourceVersion':'%s'}}",
                                         name, version);
    return object_of(text);
}

static int next(kc__client_stream *s, kc__client_stream_event *event, kc_error *err)
{
    *event = (kc__client_stream_event){0};
    return kc__client_stream_next(s, event, err);
}

static void assert_opened(kc__client_stream *s)
{
    kc__client_stream_event event;
    assert_int_equal(next(s, &event, NULL), KC__STREAM_EVENT);
    assert_int_equal(event.type, KC__STREAM_OPENED);
}

/* ---- watches ---- */

static void watch_delivers_objects_without_copy(void **state)
{
    (void)state;
    kc_auto(kc_object) *one = pod("one", "5");
    kc_auto(kc_object) *mark =
        object_of("{'apiVersion':'v1','kind':'Pod','metadata':{'resourceVersion':'6',"
                  "'annotations':{'k8s.io/initial-events-end':'true'}}}");
    const delivery script[] = {{TELL_HEAD, .status = 200},
                               {TELL_OBJECT, .item = KC_STREAM_ADDED, .object = one},
                               {TELL_OBJECT, .item = KC_STREAM_BOOKMARK, .object = mark},
                               {TELL_OBJECT, .item = KC_STREAM_DELETED, .object = one},
                               {TELL_END}};
    scripted t = {.scripts = {script}};
    kc_client *client = client_of(&t, kc_clock_real());
    kc__client_stream *s = kc__client_stream_watch(
        client, &kc_kind_pod, &(kc_watch_opts){.initial_events = true}, KC_FOREVER, count_wake, &t);
    kc__client_stream_event event;
    assert_opened(s);
    assert_true(t.wakes >= 1);
    assert_int_equal(next(s, &event, NULL), KC__STREAM_EVENT);
    assert_int_equal(event.watch, KC_WATCH_ADDED);
    assert_true(event.shared);
    assert_ptr_equal(event.object, one); /* The same object, not a copy. */
    kc_object_unref(event.object);
    assert_int_equal(next(s, &event, NULL), KC__STREAM_EVENT);
    assert_true(event.initial_end);
    kc_object_unref(event.object);
    assert_int_equal(next(s, &event, NULL), KC__STREAM_EVENT);
    assert_int_equal(event.watch, KC_WATCH_DELETED);
    kc_object_unref(event.object);
    assert_int_equal(next(s, &event, NULL), KC__STREAM_DONE);
    assert_true(kc__client_stream_is_over(s));
    kc__client_stream_free(s);
    assert_int_equal(t.released, 1);
    kc_client_unref(client);
}

static void error_event_ends_watch_with_its_status(void **state)
{
    (void)state;
    kc_auto(kc_object) *expired =
        object_of("{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure',"
                  "'reason':'Expired','code':410,'message':'too old resource version: 1 (2)'}");
    const delivery script[] = {{TELL_HEAD, .status = 200},
                               {TELL_OBJECT, .item = KC_STREAM_ERROR, .object = expired},
                               {TELL_END}};
    scripted t = {.scripts = {script}};
    kc_client *client = client_of(&t, kc_clock_real());
    kc__client_stream *s = kc__client_stream_watch(client, &kc_kind_pod, &(kc_watch_opts){0},
                                                   KC_FOREVER, count_wake, &t);
    kc__client_stream_event event;
    kc_scoped(kc_error) err = {0};
    assert_opened(s);
    assert_true(next(s, &event, &err) < 0);
    assert_error(&err, KC_EXPIRED, "too old resource version");
    kc__client_stream_cancel(s);
    assert_true(kc__client_stream_is_over(s));
    kc__client_stream_free(s);
    kc_client_unref(client);
}

static void split_bytes_are_parsed_into_events(void **state)
{
    (void)state;
    const delivery script[] = {
        {TELL_HEAD, .status = 200},
        {TELL_BODY, .text = "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"apiVer"},
        {TELL_BODY, .text = "sion\":\"v1\",\"metadata\":{\"name\":\"x\"}}}\n{\"type"},
        {TELL_END}};
    scripted t = {.scripts = {script}};
    kc_client *client = client_of(&t, kc_clock_real());
    kc__client_stream *s = kc__client_stream_watch(client, &kc_kind_pod, &(kc_watch_opts){0},
                                                   KC_FOREVER, count_wake, &t);
    kc__client_stream_event event;
    kc_scoped(kc_error) err = {0};
    assert_opened(s);
    assert_int_equal(next(s, &event, NULL), KC__STREAM_EVENT);
    assert_false(event.shared);
    assert_str(kc_object_name(event.object), "x");
    kc_object_unref(event.object);
    assert_true(next(s, &event, &err) < 0);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "in the middle of an event");
    kc__client_stream_free(s);
    kc_client_unref(client);
}

/* ---- lists ---- */

static void list_continues_page_by_page(void **state)
{
    (void)state;
    kc_auto(kc_object) *one = pod("one", "5");
    kc_auto(kc_object) *more = object_of(
        "{'kind':'PodList','apiVersion':'v1','metadata':{'resourceVersion':'9','continue':'abc'}}");
    const delivery first[] = {{TELL_HEAD, .status = 200},
                              {TELL_OBJECT, .item = KC_STREAM_LISTED, .object = one},
                              {TELL_OBJECT, .item = KC_STREAM_LIST_END, .object = more},
                              {TELL_END}};
    const delivery second[] = {
        {TELL_HEAD, .status = 200},
        {TELL_BODY, .text = "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{"
                            "\"resourceVersion\":\"9\"},\"items\":[{\"metadata\":{\"name\":"
                            "\"two\",\"namespace\":\"a\"}}]}"},
        {TELL_END}};
    scripted t = {.scripts = {first, second}};
    kc_client *client = client_of(&t, kc_clock_real());
    kc__client_stream *s =
        kc__client_stream_list(client, &kc_kind_pod, &(kc_list_opts){0}, count_wake, &t);
    kc__client_stream_event event;
    assert_opened(s);
    assert_int_equal(next(s, &event, NULL), KC__STREAM_EVENT);
    assert_ptr_equal(event.object, one);
    kc_object_unref(event.object);
    assert_int_equal(next(s, &event, NULL), KC__STREAM_EVENT);
    assert_str(kc_object_name(event.object), "two");
    assert_str(kc_object_kind(event.object), "Pod");
    kc_object_unref(event.object);
    assert_int_equal(next(s, &event, NULL), KC__STREAM_EVENT);
    assert_int_equal(event.type, KC__STREAM_LIST_END);
    assert_string_equal(event.resource_version, "9");
    assert_int_equal(next(s, &event, NULL), KC__STREAM_DONE);
    assert_int_equal(t.n_requests, 2);
    assert_contains(t.targets[0], "limit=500");
    assert_contains(t.targets[1], "continue=abc");
    kc__client_stream_free(s);
    assert_int_equal(t.released, 2);
    kc_client_unref(client);
}

/* ---- retries ---- */

static void broken_connection_is_retried_after_a_delay(void **state)
{
    (void)state;
    kc_auto(kc_sim) *sim = kc_sim_new(1, 0);
    kc_sim_enter(sim);
    const kc_clock *clock = kc_sim_clock(sim);
    const delivery broken[] = {{TELL_FAILURE, .status = 0}};
    const delivery good[] = {{TELL_HEAD, .status = 200}, {TELL_END}};
    scripted t = {.scripts = {broken, good}};
    kc_client *client = client_of(&t, clock);
    kc__client_stream *s = kc__client_stream_watch(client, &kc_kind_pod, &(kc_watch_opts){0},
                                                   KC_FOREVER, count_wake, &t);
    kc__client_stream_event event;
    assert_int_equal(next(s, &event, NULL), KC__STREAM_WAIT);
    const int64_t at = kc__client_stream_wake_at(s);
    assert_true(at > kc_clock_now(clock) && at < kc_clock_now(clock) + KC_SECOND);
    assert_int_equal(next(s, &event, NULL), KC__STREAM_WAIT);
    assert_int_equal(t.n_requests, 1);
    kc_clock_sleep_until(clock, at);
    assert_opened(s);
    assert_int_equal(t.n_requests, 2);
    kc__client_stream_free(s);
    kc_client_unref(client);
    kc_sim_leave(sim);
}

static void error_response_is_returned_and_401_retried_once(void **state)
{
    (void)state;
    const delivery unauthorized[] = {{TELL_HEAD, .status = 401}, {TELL_END}};
    const delivery refused[] = {
        {TELL_HEAD, .status = 422},
        {TELL_BODY, .text = "{\"kind\":\"Status\",\"reason\":\"Invalid\",\"code\":422,"
                            "\"message\":\"sendInitialEvents is forbidden\"}"},
        {TELL_END}};
    scripted t = {.scripts = {unauthorized, refused}};
    kc_client *client = client_of(&t, kc_clock_real());
    kc__client_stream *s = kc__client_stream_watch(client, &kc_kind_pod, &(kc_watch_opts){0},
                                                   KC_FOREVER, count_wake, &t);
    kc__client_stream_event event;
    kc_scoped(kc_error) err = {0};
    assert_true(next(s, &event, &err) < 0);
    assert_error(&err, KC_INVALID, "forbidden");
    assert_int_equal(t.n_requests, 2);
    kc__client_stream_free(s);
    kc_client_unref(client);
}

TESTS(watch_delivers_objects_without_copy, error_event_ends_watch_with_its_status,
      split_bytes_are_parsed_into_events, list_continues_page_by_page,
      broken_connection_is_retried_after_a_delay, error_response_is_returned_and_401_retried_once)
