/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver of a curl loop: callers that wait drive it one at a time, and its thread takes over
 * where they cannot. `end` runs on the driver, so its thread identifies the driver.
 */
#include "raw_server.h"
#include "thread_testing.h"

#include "http/client/curl_loop.h"

#include <assert.h>

#define LOOP_NAME "loop-under-test"
/* More than the transfers after which the thread leaves driving to a lone caller. */
enum { MANY_TRANSFERS = 40 };

typedef struct fixture {
    raw_server *server;
    kc__curl_loop *loop;
} fixture;

typedef struct fetch {
    kc__curl_transfer transfer;
    kc_ref refs; /* The test's, one of the loop, one of its inbox. */
    fixture *f;
    char *url;
    kc_mutex mutex; /* Guards the fields below. */
    kc_cond changed;
    bool ended;
    CURLcode code;
    pthread_t ended_on;
} fetch;

static fetch *fetch_of(kc__curl_transfer *transfer)
{
    return kc_container_of(transfer, fetch, transfer);
}

static void fetch_unref(fetch *x)
{
    if (!x || !kc_ref_drop(&x->refs))
        return;
    curl_easy_cleanup(x->transfer.easy);
    kc_cond_done(&x->changed);
    kc_mutex_done(&x->mutex);
    free(x->url);
    free(x);
}
KC_AUTO_DEFINE(fetch, fetch_unref)

static void hold_fetch(kc__curl_transfer *transfer)
{
    kc_ref_add(&fetch_of(transfer)->refs);
}

static void release_fetch(kc__curl_transfer *transfer)
{
    fetch_unref(fetch_of(transfer));
}

static void fetch_ended(kc__curl_transfer *transfer, CURLcode code)
{
    fetch *x = fetch_of(transfer);
    kc_locked (&x->mutex) {
        assert(!x->ended);
        x->ended = true;
        x->code = code;
        x->ended_on = pthread_self();
        kc_cond_broadcast(&x->changed);
    }
}

static fixture *fixture_new(void)
{
    fixture *f = kc_new(fixture);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    f->server = raw_start(raw_gated, NULL);
    f->loop = kc__curl_loop_new(&(kc__curl_loop_opts){.name = LOOP_NAME,
                                                      .connections = 8,
                                                      .own_handles = true,
                                                      .callers_drive = true,
                                                      .hold = hold_fetch,
                                                      .release = release_fetch,
                                                      .end = fetch_ended});
    return f;
}

static void fixture_free(fixture *f)
{
    if (!f)
        return;
    kc__curl_loop_free(f->loop);
    raw_stop(f->server);
    curl_global_cleanup();
    free(f);
}
KC_AUTO_DEFINE(fixture, fixture_free)

static size_t ignore_body(char *bytes, size_t size, size_t n, void *user)
{
    (void)bytes, (void)user;
    return size * n;
}

static fetch *fetch_new(fixture *f, const char *target)
{
    fetch *x = kc_new(fetch);
    kc_ref_init(&x->refs);
    kc_mutex_init(&x->mutex);
    kc_cond_init(&x->changed);
    x->f = f;
    x->url = kc_asprintf("%s%s", f->server->url, target);
    x->transfer.easy = curl_easy_init();
    curl_easy_setopt(x->transfer.easy, CURLOPT_URL, x->url);
    curl_easy_setopt(x->transfer.easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(x->transfer.easy, CURLOPT_PROXY, "");
    curl_easy_setopt(x->transfer.easy, CURLOPT_WRITEFUNCTION, ignore_body);
    return x;
}

static void fetch_add(fetch *x)
{
    kc_scoped(kc_error) err = {0};
    if (kc__curl_loop_add(x->f->loop, &x->transfer, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
}

static bool fetch_has_ended(fetch *x)
{
    bool ended = false;
    kc_locked (&x->mutex)
        ended = x->ended;
    return ended;
}

static void fetch_await_end(fetch *x)
{
    kc_locked (&x->mutex)
        while (!x->ended)
            kc_cond_wait(&x->changed, &x->mutex);
}

/* Waits for the end; drives if no other thread does. Returns whether it drove. */
static bool fetch_wait(fetch *x)
{
    const bool entered = kc__curl_loop_enter(x->f->loop);
    while (entered && kc__curl_loop_turn(x->f->loop)) {
        if (fetch_has_ended(x)) {
            kc__curl_loop_leave(x->f->loop, &x->transfer);
            break;
        }
        kc__curl_loop_sleep(x->f->loop, 1000);
    }
    fetch_await_end(x);
    return entered;
}

/* One transfer from start to end, which must succeed. Returns whether this thread drove. */
static bool get_drives(fixture *f, const char *target)
{
    kc_auto(fetch) *x = fetch_new(f, target);
    fetch_add(x);
    fetch_wait(x);
    assert(x->code == CURLE_OK); /* Also on threads that cannot fail a test. */
    return pthread_equal(x->ended_on, pthread_self());
}

/* ---- a second caller ---- */

typedef struct caller {
    fetch *x;
    kc_thread *thread;
    pthread_t native;
    bool drove;
} caller;

static void run_caller(void *user)
{
    caller *c = user;
    c->native = pthread_self();
    fetch_add(c->x);
    c->drove = fetch_wait(c->x);
}

/* Returns when the server has the request. */
static void caller_start(caller *c, fixture *f, const char *target, int requests)
{
    c->x = fetch_new(f, target);
    c->thread = kc_thread_start("caller", run_caller, c, NULL);
    raw_await_requests(f->server, requests);
}

static void caller_join(caller *c)
{
    c->thread = kc_thread_join(c->thread);
}

static void caller_done(caller *c)
{
    caller_join(c);
    fetch_unref(c->x);
}

static bool ended_on_loop_thread(const fetch *x, const caller *c)
{
    return !pthread_equal(x->ended_on, c->native) && !pthread_equal(x->ended_on, pthread_self());
}

/* ---- tests ---- */

static void lone_caller_drives_without_a_thread(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    for (int i = 0; i < 3; i++)
        assert_true(get_drives(f, "/x"));
    assert_int_equal(threads_named(LOOP_NAME), 0);
}

static void second_caller_is_served_by_the_first(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    kc_scoped(caller) a = {0};
    caller_start(&a, f, "/gate/0", 1);
    kc_auto(fetch) *b = fetch_new(f, "/x");
    fetch_add(b);
    assert_false(fetch_wait(b));
    assert_int_equal(b->code, CURLE_OK);
    assert_true(pthread_equal(b->ended_on, a.native));
    raw_open_gate(f->server, 0);
    caller_join(&a);
    assert_true(a.drove);
    assert_int_equal(a.x->code, CURLE_OK);
    assert_true(pthread_equal(a.x->ended_on, a.native));
}

static void thread_takes_over_when_the_driver_leaves_another_transfer(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    kc_scoped(caller) a = {0}, b = {0};
    caller_start(&a, f, "/gate/0", 1);
    caller_start(&b, f, "/gate/1", 2);
    raw_open_gate(f->server, 0);
    caller_join(&a);
    assert_true(pthread_equal(a.x->ended_on, a.native));
    raw_open_gate(f->server, 1);
    caller_join(&b);
    assert_false(b.drove);
    assert_int_equal(b.x->code, CURLE_OK);
    assert_true(ended_on_loop_thread(b.x, &a));
    assert_false(pthread_equal(b.x->ended_on, b.native));
}

static void transfer_that_needs_the_thread_ends_on_it(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    kc_scoped(caller) a = {0};
    caller_start(&a, f, "/gate/0", 1);
    kc_auto(fetch) *b = fetch_new(f, "/x");
    b->transfer.needs_thread = true;
    fetch_add(b);
    fetch_await_end(b);
    assert_int_equal(b->code, CURLE_OK);
    assert_true(ended_on_loop_thread(b, &a));
    /* The caller that drove waits for the thread now. */
    raw_open_gate(f->server, 0);
    caller_join(&a);
    assert_true(a.drove);
    assert_int_equal(a.x->code, CURLE_OK);
    assert_true(pthread_equal(a.x->ended_on, b->ended_on));
}

static void callers_do_not_drive_while_a_transfer_needs_the_thread(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    kc_auto(fetch) *b = fetch_new(f, "/gate/0");
    b->transfer.needs_thread = true;
    fetch_add(b);
    raw_await_requests(f->server, 1);
    for (int i = 0; i < MANY_TRANSFERS; i++)
        assert_false(get_drives(f, "/x"));
    raw_open_gate(f->server, 0);
    fetch_await_end(b);
    assert_int_equal(b->code, CURLE_OK);
}

static void thread_returns_the_role_to_a_lone_caller(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    kc_auto(fetch) *b = fetch_new(f, "/x");
    b->transfer.needs_thread = true;
    fetch_add(b);
    fetch_await_end(b);
    assert_false(get_drives(f, "/x"));
    for (int i = 0; i < MANY_TRANSFERS; i++)
        get_drives(f, "/x");
    /* The thread may still be between the end of the last transfer and its parking. */
    bool here = false;
    for (int i = 0; i < 30000 && !here; i++, usleep(2000))
        here = get_drives(f, "/x");
    assert_true(here);
    assert_int_equal(threads_named(LOOP_NAME), 1);
}

static void stop_request_of_a_waiting_caller_leaves_the_driver_unharmed(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    kc_scoped(caller) a = {0};
    caller_start(&a, f, "/gate/0", 1);
    kc_auto(fetch) *b = fetch_new(f, "/gate/1");
    fetch_add(b);
    raw_await_requests(f->server, 2);
    kc__curl_loop_request(f->loop, &b->transfer, KC__TRANSFER_STOP);
    fetch_await_end(b);
    assert_int_equal(b->code, CURLE_ABORTED_BY_CALLBACK);
    assert_true(ended_on_loop_thread(b, &a));
    raw_open_gate(f->server, 0);
    caller_join(&a);
    assert_int_equal(a.x->code, CURLE_OK);
}

static void lone_caller_that_gives_up_leaves_the_stop_to_the_thread(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    kc_auto(fetch) *x = fetch_new(f, "/gate/0");
    fetch_add(x);
    assert_true(kc__curl_loop_enter(f->loop));
    assert_true(kc__curl_loop_turn(f->loop));
    kc__curl_loop_leave(f->loop, &x->transfer);
    assert_int_equal(threads_named(LOOP_NAME), 0);
    kc__curl_loop_request(f->loop, &x->transfer, KC__TRANSFER_STOP);
    fetch_await_end(x);
    assert_int_equal(x->code, CURLE_ABORTED_BY_CALLBACK);
    assert_false(pthread_equal(x->ended_on, pthread_self()));
    get_drives(f, "/x");
}

/* The driver's own transfer has ended, so no transfer is open, but the driver still has the role.
 */
static void transfer_added_before_the_driver_leaves_is_served_by_the_thread(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    kc_auto(fetch) *own = fetch_new(f, "/x"), *late = fetch_new(f, "/y");
    fetch_add(own);
    assert_true(kc__curl_loop_enter(f->loop));
    while (!fetch_has_ended(own)) {
        assert_true(kc__curl_loop_turn(f->loop));
        kc__curl_loop_sleep(f->loop, 1);
    }
    fetch_add(late);
    assert_false(kc__curl_loop_enter(f->loop));
    kc__curl_loop_leave(f->loop, &own->transfer);
    fetch_await_end(late);
    assert_int_equal(late->code, CURLE_OK);
    assert_false(pthread_equal(late->ended_on, pthread_self()));
}

static void transfer_that_never_started_ends_once(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    kc_auto(fetch) *x = fetch_new(f, "/x");
    fetch_add(x);
    kc__curl_loop_request(f->loop, &x->transfer, KC__TRANSFER_STOP);
    fetch_await_end(x);
    assert_int_equal(x->code, CURLE_ABORTED_BY_CALLBACK);
    assert_int_equal(raw_requests(f->server), 0);
}

static void transfer_without_a_driver_continues_with_the_next_caller(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    kc_auto(fetch) *x = fetch_new(f, "/gate/0");
    fetch_add(x);
    assert_true(kc__curl_loop_enter(f->loop));
    while (raw_requests(f->server) < 1) {
        assert_true(kc__curl_loop_turn(f->loop));
        kc__curl_loop_sleep(f->loop, 1);
    }
    kc__curl_loop_leave(f->loop, &x->transfer);
    raw_open_gate(f->server, 0);
    /* The second caller drives both; whichever ends later, the thread or the caller ends it. */
    assert_true(get_drives(f, "/y"));
    fetch_await_end(x);
    assert_int_equal(x->code, CURLE_OK);
}

static void stop_ends_the_transfer_of_a_lone_driver(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    kc_scoped(caller) a = {0};
    caller_start(&a, f, "/gate/0", 1);
    kc__curl_loop_stop(f->loop);
    caller_join(&a);
    assert_true(a.drove);
    assert_int_equal(a.x->code, CURLE_ABORTED_BY_CALLBACK);
    kc_scoped(kc_error) err = {0};
    assert_true(kc__curl_loop_add(f->loop, &a.x->transfer, &err) < 0);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "shutting down");
}

static void stop_ends_the_transfers_of_driver_and_waiting_caller(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    kc_scoped(caller) a = {0}, b = {0};
    caller_start(&a, f, "/gate/0", 1);
    caller_start(&b, f, "/gate/1", 2);
    kc__curl_loop_stop(f->loop);
    caller_join(&a);
    caller_join(&b);
    assert_int_equal(a.x->code, CURLE_ABORTED_BY_CALLBACK);
    assert_int_equal(b.x->code, CURLE_ABORTED_BY_CALLBACK);
}

/* ---- many callers ---- */

enum { CALLERS = 6, ROUNDS = 60 };

static void run_rounds(void *user)
{
    fixture *f = user;
    for (int i = 0; i < ROUNDS; i++)
        get_drives(f, "/x");
}

/* Every third transfer is stopped at some moment; the others succeed. */
static void run_stops(void *user)
{
    fixture *f = user;
    for (int i = 0; i < ROUNDS; i++) {
        kc_auto(fetch) *x = fetch_new(f, "/x");
        x->transfer.needs_thread = i % 2;
        fetch_add(x);
        if (i % 3 == 0)
            kc__curl_loop_request(f->loop, &x->transfer, KC__TRANSFER_STOP);
        if (x->transfer.needs_thread || i % 3 == 0)
            fetch_await_end(x);
        else
            fetch_wait(x);
        assert(x->code == CURLE_OK || (i % 3 == 0 && x->code == CURLE_ABORTED_BY_CALLBACK));
    }
}

static void no_transfer_is_lost_when_callers_come_and_go(void **state)
{
    (void)state;
    kc_auto(fixture) *f = fixture_new();
    kc_thread *threads[CALLERS];
    for (size_t i = 0; i < CALLERS; i++)
        threads[i] = kc_thread_start("caller", i % 3 ? run_rounds : run_stops, f, NULL);
    for (size_t i = 0; i < CALLERS; i++)
        kc_thread_join(threads[i]);
}

TESTS(lone_caller_drives_without_a_thread, second_caller_is_served_by_the_first,
      thread_takes_over_when_the_driver_leaves_another_transfer,
      transfer_that_needs_the_thread_ends_on_it,
      callers_do_not_drive_while_a_transfer_needs_the_thread,
      thread_returns_the_role_to_a_lone_caller,
      stop_request_of_a_waiting_caller_leaves_the_driver_unharmed,
      lone_caller_that_gives_up_leaves_the_stop_to_the_thread,
      transfer_added_before_the_driver_leaves_is_served_by_the_thread,
      transfer_that_never_started_ends_once,
      transfer_without_a_driver_continues_with_the_next_caller,
      stop_ends_the_transfer_of_a_lone_driver, stop_ends_the_transfers_of_driver_and_waiting_caller,
      no_transfer_is_lost_when_callers_come_and_go)
