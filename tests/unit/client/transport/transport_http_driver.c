/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callers that drive the HTTP transport themselves: beside streams, other callers, deadlines and
 * cancellation. tests/unit/http/client/curl_loop.c tests the role of the driver itself.
 */
#include "stream_testing.h"
#include "thread_testing.h"
#include "transport_testing.h"

#include <assert.h>
#include <signal.h>

/* The threads of a transport, see make_loops in http.c. */
static size_t loop_threads(void)
{
    return threads_named("kc-http") + threads_named("kc-http-slow");
}

/* ---- a second caller ---- */

typedef struct caller {
    kc_transport *t;
    const char *target;
    int64_t deadline;
    kc_cancel *cancel;
    int result; /* Status, or a negative error. */
    kc_thread *thread;
} caller;

static void run_caller(void *user)
{
    caller *c = user;
    char chunk[4096];
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_http_response) *r =
        kc_transport_open(c->t,
                          &(kc_http_request){.method = "GET",
                                             .target = kc_cstr(c->target),
                                             .deadline = c->deadline,
                                             .cancel = c->cancel},
                          &err);
    c->result = r ? r->status : kc_error_result(&err);
    while (r && kc_http_response_read(r, chunk, sizeof(chunk), NULL) > 0)
        ;
}

static void caller_start(caller *c)
{
    c->thread = kc_thread_start("caller", run_caller, c, NULL);
}

static int caller_join(caller *c)
{
    c->thread = kc_thread_join(c->thread);
    return c->result;
}

/* ---- a lone caller ---- */

static void lone_caller_needs_no_thread(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *plain = transport_to(s->plain_url);
    const kc_config config = {.server = s->tls_url, .ca_file = s->ca_file};
    kc_auto(kc_transport) *tls = transport_of(&config);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(GET(plain, "/version"), 200);
        assert_int_equal(GET(tls, "/version"), 200);
    }
    make_long_list(plain);
    assert_int_equal(GET(plain, STREAM_MAPS), 200);
    assert_int_equal(GET(tls, STREAM_MAPS "?limit=7"), 200);
    assert_int_equal(loop_threads(), 0);
}

static void lone_caller_reads_a_watch_without_a_thread(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *t = transport_to(s->plain_url), *writer = transport_to(s->plain_url);
    kc_auto(kc_http_response) *r = kc_transport_open(
        t, &(kc_http_request){.method = "GET", .target = KC_STR(STREAM_MAPS "?watch=1")}, NULL);
    char chunk[4096];
    kc_scoped(kc_error) err = {0};
    assert_non_null(r);
    r->read_deadline = kc_clock_deadline(kc_clock_real(), 20 * KC_MILLISECOND);
    while (kc_http_response_read(r, chunk, sizeof(chunk), &err) > 0)
        ; /* Existing objects. */
    assert_error(&err, KC_TIMEOUT, "read timeout");
    r->read_deadline = 0;
    assert_int_equal(request_status(writer, "POST", STREAM_MAPS, "{\"metadata\":{\"name\":\"m\"}}"),
                     201);
    assert_true(kc_http_response_read(r, chunk, sizeof(chunk), NULL) > 0);
    assert_int_equal(loop_threads(), 0);
}

static void reader_that_polls_receives_events(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *t = transport_to(s->plain_url), *writer = transport_to(s->plain_url);
    kc_auto(kc_http_response) *r = kc_transport_open(
        t, &(kc_http_request){.method = "GET", .target = KC_STR(STREAM_MAPS "?watch=1")}, NULL);
    kc_scoped(kc_buf) out = {0};
    const int64_t end = kc_clock_deadline(kc_clock_real(), 20 * KC_SECOND);
    assert_non_null(r);
    assert_int_equal(request_status(writer, "POST", STREAM_MAPS, "{\"metadata\":{\"name\":\"m\"}}"),
                     201);
    r->read_deadline = 1; /* In the past. */
    while (!strstr(kc_buf_cstr(&out), "\"name\":\"m\"")) {
        read_all(r, &out, NULL);
        assert_true(kc_clock_now(kc_clock_real()) < end);
    }
}

static void closes_at_once(raw_server *s, client *c, int nth)
{
    (void)s, (void)c, (void)nth;
}

static void write_to_a_lost_connection_raises_no_signal(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(raw_server) *closing = raw_start(closes_at_once, NULL);
    const kc_config config = {.server = s->tls_url, .ca_file = s->ca_file};
    kc_auto(kc_transport) *lost = transport_to(closing->url);
    kc_auto(kc_transport) *tls = transport_of(&config);
    kc_scoped(kc_buf) large = {0}, out = {0};
    void (*before)(int) = signal(SIGPIPE, SIG_DFL);
    memset(kc_buf_reserve(&large, 8 << 20), 'x', 8 << 20);
    large.n = 8 << 20;
    for (int i = 0; i < 5; i++) {
        assert_true(request(lost, "POST", "/x", kc_buf_cstr(&large), &out, NULL) < 0);
        assert_int_equal(GET(tls, "/version"), 200);
        stage_restart(s, 0);
    }
    signal(SIGPIPE, before);
}

/* ---- several callers ---- */

static void deadline_of_the_driver_leaves_other_callers_waiting(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(raw_gated, NULL);
    kc_auto(kc_transport) *t = transport_to(s->url);
    caller a = {
        .t = t, .target = "/gate/0", .deadline = kc_clock_deadline(kc_clock_real(), 2 * KC_SECOND)};
    caller b = {.t = t, .target = "/gate/1"};
    caller_start(&a);
    raw_await_requests(s, 1);
    caller_start(&b);
    assert_int_equal(caller_join(&a), -KC_TIMEOUT);
    raw_open_gate(s, 1);
    assert_int_equal(caller_join(&b), 200);
}

static void cancellation_ends_driver_and_waiting_caller(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(raw_gated, NULL);
    kc_auto(kc_transport) *t = transport_to(s->url);
    kc_auto(kc_cancel) *first = kc_cancel_new(NULL), *second = kc_cancel_new(NULL);
    caller a = {.t = t, .target = "/gate/0", .cancel = first};
    caller b = {.t = t, .target = "/gate/1", .cancel = second};
    caller c = {.t = t, .target = "/gate/2"};
    caller_start(&a);
    raw_await_requests(s, 1);
    caller_start(&b);
    caller_start(&c);
    raw_await_requests(s, 3);
    kc_cancel_fire(second);
    assert_int_equal(caller_join(&b), -KC_TIMEOUT);
    kc_cancel_fire(first);
    assert_int_equal(caller_join(&a), -KC_TIMEOUT);
    raw_open_gate(s, 2);
    assert_int_equal(caller_join(&c), 200);
}

/* The other caller drives both transfers until the buffer of the first is full. */
static void body_is_complete_after_another_caller_drove(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *t = transport_to(s->plain_url);
    make_long_list(t);
    kc_auto(kc_http_response) *r = kc_transport_open(
        t, &(kc_http_request){.method = "GET", .target = KC_STR(STREAM_MAPS)}, NULL);
    kc_scoped(kc_buf) out = {0};
    assert_non_null(r);
    for (int i = 0; i < 20; i++)
        assert_int_equal(GET(t, "/version"), 200);
    assert_int_equal(read_all(r, &out, NULL), 0);
    assert_true(out.n > STREAM_MAP_COUNT * STREAM_MAP_BYTES);
    assert_int_equal(out.p[out.n - 1 - (out.p[out.n - 1] == '\n')], '}');
}

static void virtual_deadline_ends_a_wait(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(raw_gated, NULL);
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    kc_auto(kc_config) *config = kc_config_for_url(s->url);
    kc_auto(kc_transport) *t =
        kc_transport_http_new(config, &(kc_transport_http_opts){.clock = clock}, NULL);
    caller a = {.t = t, .target = "/gate/0", .deadline = kc_clock_deadline(clock, KC_HOUR)};
    caller_start(&a);
    raw_await_requests(s, 1);
    kc_clock_await_waiters(clock, 1);
    kc_clock_advance(clock, KC_HOUR);
    assert_int_equal(caller_join(&a), -KC_TIMEOUT);
}

/* ---- streams ---- */

/* A stream that records on which threads its callbacks run. */
typedef struct observer {
    kc_mutex mutex; /* Guards the fields below. */
    kc_cond changed;
    pthread_t thread;
    bool known, moved;
    size_t bytes;
    int ends;
} observer;

static void observe(observer *o, size_t bytes, int ends)
{
    kc_locked (&o->mutex) {
        o->moved |= o->known && !pthread_equal(o->thread, pthread_self());
        o->thread = pthread_self();
        o->known = true;
        o->bytes += bytes;
        o->ends += ends;
        kc_cond_broadcast(&o->changed);
    }
}

static void observe_head(kc_stream *s, const kc_http_response *head, void *user)
{
    (void)s, (void)head;
    observe(user, 0, 0);
}

static bool observe_body(kc_stream *s, kc_str bytes, void *user)
{
    (void)s;
    observe(user, bytes.n, 0);
    return true;
}

static void observe_end(kc_stream *s, const kc_error *err, void *user)
{
    (void)s, (void)err;
    observe(user, 0, 1);
}

static kc_stream *observe_stream(kc_transport *t, const char *target, observer *o)
{
    static const kc_stream_callbacks callbacks = {
        .on_head = observe_head, .on_body = observe_body, .on_end = observe_end};
    *o = (observer){0};
    kc_mutex_init(&o->mutex);
    kc_cond_init(&o->changed);
    kc_stream *s = kc_transport_start(
        t, &(kc_http_request){.method = "GET", .target = kc_cstr(target)}, &callbacks, o, NULL);
    assert(s);
    return s;
}

static size_t observed_bytes(observer *o)
{
    size_t bytes = 0;
    kc_locked (&o->mutex)
        bytes = o->bytes;
    return bytes;
}

static void await_more_bytes(observer *o, size_t than)
{
    kc_locked (&o->mutex)
        while (o->bytes <= than)
            kc_cond_wait(&o->changed, &o->mutex);
}

static void observer_finish(observer *o, kc_stream *s)
{
    kc_stream_cancel(s);
    kc_locked (&o->mutex)
        while (!o->ends)
            kc_cond_wait(&o->changed, &o->mutex);
    kc_stream_release(s);
    /* Also on threads that cannot fail a test. */
    assert(o->ends == 1 && !o->moved && !pthread_equal(o->thread, pthread_self()));
    kc_cond_done(&o->changed);
    kc_mutex_done(&o->mutex);
}

static void watch_receives_events_while_callers_come_and_go(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *t = transport_to(s->plain_url);
    observer o;
    for (int i = 0; i < 20; i++)
        assert_int_equal(GET(t, "/version"), 200);
    kc_stream *watch = observe_stream(t, STREAM_MAPS "?watch=1", &o);
    for (int i = 0; i < 30; i++) {
        const size_t before = observed_bytes(&o);
        kc_autofree char *body = kc_asprintf("{\"metadata\":{\"name\":\"watched-%d\"}}", i);
        assert_int_equal(request_status(t, "POST", STREAM_MAPS, body), 201);
        await_more_bytes(&o, before);
    }
    observer_finish(&o, watch);
    /* Afterwards, callers drive again. */
    for (int i = 0; i < 100; i++)
        assert_int_equal(GET(t, "/version"), 200);
}

static void stream_started_while_a_caller_drives_runs_on_the_thread(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(raw_gated, NULL);
    kc_auto(kc_transport) *t = transport_to(s->url);
    caller a = {.t = t, .target = "/gate/0"};
    observer o;
    caller_start(&a);
    raw_await_requests(s, 1);
    assert_int_equal(loop_threads(), 0);
    kc_stream *stream = observe_stream(t, "/x", &o);
    await_more_bytes(&o, 0);
    assert_int_equal(loop_threads(), 1);
    raw_open_gate(s, 0);
    assert_int_equal(caller_join(&a), 200);
    observer_finish(&o, stream);
}

/* ---- everything at the same time ---- */

/* With a limit, as every client sends it: see "Known limits" in docs/internals/transport.md. */
#define LONG_LIST STREAM_MAPS "?limit=500"
enum { MIXED_THREADS = 6, MIXED_ROUNDS = 25 };

typedef struct mixed {
    kc_transport *t;
    _Atomic int next;
} mixed;

/* Gives up after a time that differs from round to round. */
static void get_in_time(kc_transport *t, int who, int round)
{
    caller c = {.t = t,
                .target = round % 2 ? LONG_LIST : "/version",
                .deadline = kc_clock_deadline(kc_clock_real(),
                                              (who * 37 + round * 101) % 2000 * KC_MICROSECOND)};
    run_caller(&c);
    assert(c.result == 200 || c.result == -KC_TIMEOUT);
}

static void run_mixed(void *user)
{
    mixed *m = user;
    const int who = atomic_fetch_add(&m->next, 1);
    for (int i = 0; i < MIXED_ROUNDS; i++) {
        caller c = {.t = m->t, .target = i % 5 ? "/version" : LONG_LIST};
        if (who == 0) {
            observer o;
            kc_stream *s = observe_stream(m->t, i % 2 ? STREAM_MAPS "?watch=1" : LONG_LIST, &o);
            run_caller(&c);
            observer_finish(&o, s);
        } else if (who % 3 == 1) {
            get_in_time(m->t, who, i);
        } else {
            run_caller(&c);
            assert(c.result == 200);
        }
    }
}

static void run_mixed_threads(kc_transport *t)
{
    mixed m = {.t = t};
    kc_thread *threads[MIXED_THREADS];
    for (size_t i = 0; i < MIXED_THREADS; i++)
        threads[i] = kc_thread_start("mixed", run_mixed, &m, NULL);
    for (size_t i = 0; i < MIXED_THREADS; i++)
        kc_thread_join(threads[i]);
}

static void callers_streams_and_deadlines_mix(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    const kc_config config = {.server = s->tls_url, .ca_file = s->ca_file};
    kc_auto(kc_transport) *plain = transport_to(s->plain_url);
    kc_auto(kc_transport) *tls = transport_of(&config);
    make_long_list(plain);
    run_mixed_threads(plain);
    run_mixed_threads(tls);
}

TESTS(lone_caller_needs_no_thread, lone_caller_reads_a_watch_without_a_thread,
      reader_that_polls_receives_events, write_to_a_lost_connection_raises_no_signal,
      deadline_of_the_driver_leaves_other_callers_waiting,
      cancellation_ends_driver_and_waiting_caller, body_is_complete_after_another_caller_drove,
      virtual_deadline_ends_a_wait, watch_receives_events_while_callers_come_and_go,
      stream_started_while_a_caller_drives_runs_on_the_thread, callers_streams_and_deadlines_mix)
