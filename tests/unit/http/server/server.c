/* SPDX-License-Identifier: Apache-2.0 */
/* The server over real sockets: responses, late responses, slow readers, limits, drain and stop. */
#include "http_testing.h"

#include "base/sanitizer.h"
#include "kc/thread.h"

#include <malloc.h>
#include <stdio.h>
#include <sys/resource.h>

/* ---- a server with a few paths ---- */

typedef struct stage {
    kc__http_server *server;
    kc_metrics *metrics;
    kc_mutex mutex; /* Guards what follows. */
    kc_cond changed;
    kc__exchange *late;
    int handled, ended, released;
    bool peer_loopback;
    int peer_port;
    char *big;
    kc__loop_task task;
    int streams; /* Bodies made bit by bit, open now. */
} stage;

enum { BIG = 4 * 1000 * 1000 };

static void count(stage *s, int *what, int by)
{
    kc_locked (&s->mutex) {
        *what += by;
        kc_cond_broadcast(&s->changed);
    }
}

static void await(stage *s, const int *what, int at_least)
{
    int64_t deadline = kc_clock_deadline(kc_clock_real(), 20 * KC_SECOND);
    kc_locked (&s->mutex) {
        while (*what < at_least)
            if (!kc_cond_wait_until(&s->changed, &s->mutex, kc_clock_real(), deadline))
                fail_msg("timed out waiting for %d to be %d", *what, at_least);
    }
}

static void release(void *owner)
{
    count(owner, &((stage *)owner)->released, 1);
}

static kc__http_fill fill_wait(kc_buf *out, size_t room, void *user)
{
    (void)out;
    (void)room;
    (void)user;
    return KC__HTTP_FILL_WAIT;
}

static void end_source(void *user)
{
    count(user, &((stage *)user)->ended, 1);
}

static const kc__http_body_source silent = {fill_wait, end_source};

static void handle(kc__exchange *x, void *user)
{
    stage *s = user;
    kc_str path = x->request.target.path;
    if (kc_str_is(path, "/late")) {
        s->late = x;
        count(s, &s->handled, 1);
        return;
    }
    kc_locked (&s->mutex) { /* Handlers run on all loops. */
        s->peer_loopback = x->request.peer->loopback;
        s->peer_port = x->request.peer->port;
    }
    kc__http_response a = {.status = 200, .body = KC_STR("hello")};
    if (kc_str_is(path, "/echo"))
        a.body = x->request.body;
    if (kc_str_is(path, "/is-it-gone"))
        a.body = s->late->gone && s->late->request.peer->loopback ? KC_STR("gone") : KC_STR("no");
    if (kc_str_is(path, "/loop"))
        a.body = x->loop == kc__http_server_loop(s->server, 0) ? KC_STR("first") : KC_STR("second");
    if (kc_str_is(path, "/big"))
        a = (kc__http_response){
            .status = 200, .body = {s->big, BIG}, .owner = s, .release = release};
    if (kc_str_is(path, "/watch"))
        a = (kc__http_response){.status = 200, .source = &silent, .user = s, .flush = true};
    kc__exchange_respond(x, &a);
    count(s, &s->handled, 1);
}

static void respond_late(kc__loop_task *task)
{
    stage *s = kc_container_of(task, stage, task);
    kc__exchange_respond(s->late, &(kc__http_response){.status = 200, .body = KC_STR("at last")});
    count(s, &s->ended, 1);
}

static stage *stage_new(kc__http_server_opts opts)
{
    stage *s = kc_new(stage);
    kc_scoped(kc_error) err = {0};
    kc_mutex_init(&s->mutex);
    kc_cond_init(&s->changed);
    s->metrics = kc_metrics_new();
    s->big = kc_alloc(BIG);
    memset(s->big, 'b', BIG);
    s->task.run = respond_late;
    opts.listeners = &(kc__http_listener){0};
    opts.n_listeners = 1;
    opts.loops = opts.loops ? opts.loops : 2;
    opts.handle = handle;
    opts.user = s;
    opts.metrics = s->metrics;
    s->server = kc__http_server_start(&opts, &err);
    if (!s->server)
        fail_msg("%s", kc_error_text(&err));
    return s;
}

#define NEW_STAGE(...) stage_new((kc__http_server_opts){__VA_ARGS__})

static void stage_free(stage *s)
{
    if (!s)
        return;
    kc__http_server_stop(s->server, 0);
    kc_metrics_free(s->metrics);
    kc_cond_done(&s->changed);
    kc_mutex_done(&s->mutex);
    free(s->big);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

static client *connect_to(const stage *s)
{
    return client_connect(kc__http_server_port(s->server, 0));
}

/* ---- responses ---- */

static void client_is_answered_repeatedly(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_auto(client) *c = connect_to(s);
    for (int i = 0; i < 100; i++) {
        client_get(c, "/");
        assert_str(client_read_response(c), "hello");
        client_clear(c);
    }
    assert_true(s->peer_loopback);
    assert_int_not_equal(s->peer_port, 0);
}

static void many_clients_are_answered_concurrently(void **state)
{
    (void)state;
    enum { CLIENTS = 100 };
    kc_auto(stage) *s = NEW_STAGE(0);
    client *clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = connect_to(s);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < CLIENTS; i++)
            client_get(clients[i], "/");
        for (int i = 0; i < CLIENTS; i++) {
            assert_str(client_read_response(clients[i]), "hello");
            client_clear(clients[i]);
        }
    }
    for (int i = 0; i < CLIENTS; i++)
        client_free(clients[i]);
}

static void large_body_passes_both_ways(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_auto(client) *c = connect_to(s);
    client_send(c, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n");
    client_send_bytes(c, kc_str_of(s->big, 3000000));
    assert_true(kc_str_eq(client_read_response(c), kc_str_of(s->big, 3000000)));
    client_clear(c);
    client_get(c, "/big");
    assert_true(kc_str_eq(client_read_response(c), kc_str_of(s->big, BIG)));
    await(s, &s->released, 1);
}

static void pipelined_requests_are_all_answered(void **state)
{
    (void)state;
    enum { REQUESTS = 5000 };
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_auto(client) *c = connect_to(s);
    kc_scoped(kc_buf) text = {0};
    for (int i = 0; i < REQUESTS - 1; i++)
        kc_buf_puts(&text, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    kc_buf_puts(&text, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    client_send_bytes(c, kc_buf_str(&text));
    const char *all = client_read_all(c);
    int answers = 0;
    for (const char *p = all; (p = strstr(p, "\r\n\r\nhello")); p++)
        answers++;
    assert_int_equal(answers, REQUESTS);
    assert_false(c->reset);
}

static void late_response_is_sent(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_auto(client) *c = connect_to(s);
    for (int i = 1; i <= 3; i++) {
        client_get(c, "/late");
        await(s, &s->handled, i);
        kc__loop_post(s->late->loop, &s->task);
        assert_str(client_read_response(c), "at last");
        await(s, &s->ended, i);
        client_clear(c);
    }
}

static void half_closed_client_gets_its_response(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_auto(client) *c = connect_to(s);
    client_get(c, "/big");
    shutdown(c->fd, SHUT_WR);
    assert_int_equal(client_read_response(c).n, BIG);
    client_read_all(c);
    assert_false(c->reset);
}

/* ---- disconnects ---- */

static void disconnect_ends_a_watch(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    client *c = connect_to(s);
    client_get(c, "/watch");
    client_expect(c, "chunked\r\n\r\n");
    client_free(c);
    await(s, &s->ended, 1);
}

static void late_response_after_disconnect_is_dropped(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.loops = 1);
    client *c = connect_to(s);
    client_get(c, "/late");
    await(s, &s->handled, 1);
    client_free(c);
    kc_auto(client) *other = connect_to(s);
    bool gone = false;
    while (!gone) {
        client_get(other, "/is-it-gone");
        gone = kc_str_is(client_read_response(other), "gone");
        client_clear(other);
    }
    kc__loop_post(s->late->loop, &s->task);
    await(s, &s->ended, 1);
}

/* ---- slow clients ---- */

static void slow_reader_gets_everything(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_auto(client) *c = client_connect_with(kc__http_server_port(s->server, 0), 4096);
    client_get(c, "/big");
    client_expect(c, "\r\n\r\n");
    size_t total = c->in.n;
    const size_t head = (size_t)(strstr(kc_buf_cstr(&c->in), "\r\n\r\n") + 4 - c->in.p);
    while (total < head + BIG) {
        char some[5000];
        ssize_t n = client_receive(c, some, sizeof(some));
        assert_true(n > 0);
        for (ssize_t i = 0; i < n; i++)
            assert_int_equal(some[i], 'b');
        total += (size_t)n;
    }
    assert_int_equal(total, head + BIG);
}

static void client_that_reads_nothing_is_closed(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.limits.write_timeout = 50 * KC_MILLISECOND);
    kc_auto(client) *c = client_connect_with(kc__http_server_port(s->server, 0), 4096);
    client_get(c, "/big");
    await(s, &s->released, 1);
}

static void slow_bodies_are_closed(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.limits = {.body_timeout = 50 * KC_MILLISECOND});
    kc_auto(client) *c = connect_to(s);
    client_send(c, "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na");
    assert_contains(client_read_all(c), "HTTP/1.1 408 Request Timeout\r\n");
    assert_false(c->reset);
}

/* The same time is for the first byte. A client that was late for it is closed without an answer,
 * and tries again. */
static void slow_heads_are_closed(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.limits = {.head_timeout = 100 * KC_MILLISECOND});
    kc_auto(client) *silent_one = connect_to(s), *c = NULL;
    assert_string_equal(client_read_all(silent_one), "");
    do {
        client_free(c);
        c = connect_to(s);
        client_send(c, "GET / HTTP/1.1\r\n");
    } while (!*client_read_all(c));
    assert_contains(kc_buf_cstr(&c->in), "HTTP/1.1 408 Request Timeout\r\n");
    assert_false(c->reset);
}

static void idle_connections_are_closed(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.limits = {.idle_timeout = 50 * KC_MILLISECOND});
    kc_auto(client) *idle = connect_to(s);
    client_get(idle, "/");
    assert_contains(client_read_all(idle), "HTTP/1.1 200 OK\r\n");
}

static void error_response_to_large_upload_is_delivered(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.limits.max_body = 1000);
    kc_auto(client) *c = connect_to(s);
    client_send(c, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n");
    client_send_bytes(c, kc_str_of(s->big, 2000000));
    assert_contains(client_read_all(c), "HTTP/1.1 413 Request Entity Too Large\r\n");
    assert_false(c->reset);
}

/* ---- many ---- */

static void connections_are_spread_evenly(void **state)
{
    (void)state;
    enum { CLIENTS = 12 };
    kc_auto(stage) *s = NEW_STAGE(.loops = 2);
    client *clients[CLIENTS];
    int first = 0;
    for (size_t i = 0; i < CLIENTS; i++) {
        clients[i] = connect_to(s);
        client_get(clients[i], "/loop");
        first += kc_str_is(client_read_response(clients[i]), "first");
    }
    assert_int_equal(first, CLIENTS / 2);
    for (size_t i = 0; i < CLIENTS; i++)
        client_free(clients[i]);
}

static void connections_beyond_the_limit_wait(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.loops = 1, .max_connections = 2);
    client *first = connect_to(s);
    kc_auto(client) *second = connect_to(s);
    client_get(first, "/watch");
    client_expect(first, "\r\n\r\n");
    client_get(second, "/watch");
    client_expect(second, "\r\n\r\n");
    kc_auto(client) *third = connect_to(s);
    client_get(third, "/");
    struct pollfd p = {.fd = third->fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 50), 0);
    client_free(first);
    assert_str(client_read_response(third), "hello");
}

static void accept_without_descriptors_waits_without_spinning(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.loops = 1);
    struct rlimit before, few;
    kc_auto(client) *c = connect_to(s);
    client_get(c, "/watch");
    client_expect(c, "\r\n\r\n");
    kc_auto(client) *waiting = kc_new(client);
    waiting->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    few.rlim_cur = (rlim_t)waiting->fd + 1; /* All up to here are taken. */
    setrlimit(RLIMIT_NOFILE, &few);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)kc__http_server_port(s->server, 0))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(waiting->fd, (struct sockaddr *)&to, sizeof(to)), 0);
    client_get(waiting, "/");
    struct rusage start, end;
    getrusage(RUSAGE_SELF, &start);
    struct pollfd p = {.fd = waiting->fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 300), 0);
    getrusage(RUSAGE_SELF, &end);
    setrlimit(RLIMIT_NOFILE, &before);
    int64_t spent = (end.ru_utime.tv_sec - start.ru_utime.tv_sec) * 1000000 + end.ru_utime.tv_usec -
                    start.ru_utime.tv_usec;
    assert_true(spent < 100000);
    assert_str(client_read_response(waiting), "hello");
}

/* Bytes that are allocated; sanitizers have allocators of their own, and look for leaks themselves.
 */
static size_t allocated(void)
{
#if KC__SANITIZED
    return 0;
#else
    return mallinfo2().uordblks;
#endif
}

/* A hundred thousand of them take no more memory than ten thousand did. */
static void requests_leak_no_memory(void **state)
{
    (void)state;
    enum { BATCH = 100, BATCHES = 1000 };
    kc_auto(stage) *s = NEW_STAGE(.loops = 1);
    kc_auto(client) *c = connect_to(s);
    kc_scoped(kc_buf) batch = {0};
    for (int i = 0; i < BATCH; i++)
        kc_buf_puts(&batch, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
    size_t before = 0;
    for (int i = 0; i < BATCHES; i++) {
        if (i == BATCHES / 10)
            before = allocated();
        client_send_bytes(c, kc_buf_str(&batch));
        await(s, &s->handled, (i + 1) * BATCH);
        struct pollfd p = {.fd = c->fd, .events = POLLIN};
        while (poll(&p, 1, 0) == 1 && client_read(c))
            client_clear(c);
    }
    assert_int_equal(s->handled, BATCH * BATCHES);
    assert_true(allocated() < before + 256 * 1024);
}

/* ---- the server itself ---- */

static void address_in_use_is_an_error(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_scoped(kc_error) err = {0};
    kc__http_listener same = {.port = kc__http_server_port(s->server, 0)};
    kc__http_server_opts opts = {.listeners = &same, .n_listeners = 1, .handle = handle, .user = s};
    assert_null(kc__http_server_start(&opts, &err));
    assert_error(&err, KC_INTERNAL, "cannot listen on 127.0.0.1, port ");
    assert_contains(kc_error_text(&err), "Address already in use");
    kc__http_listener nowhere = {.address = "localhost"};
    opts.listeners = &nowhere;
    assert_null(kc__http_server_start(&opts, &err));
    assert_error(&err, KC_BAD_REQUEST, "localhost is not an IP address");
}

static void server_listens_on_several_addresses(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    const kc__http_listener two[] = {{.address = "127.0.0.1"}, {.address = "127.0.0.2"}};
    kc__http_server *server = kc__http_server_start(
        &(kc__http_server_opts){.listeners = two, .n_listeners = 2, .handle = handle, .user = s},
        NULL);
    assert_non_null(server);
    assert_int_not_equal(kc__http_server_port(server, 0), 0);
    assert_int_not_equal(kc__http_server_port(server, 1), 0);
    assert_int_equal(kc__http_server_port(server, 2), 0);
    assert_true(kc__http_server_loops(server) >= 1);
    assert_non_null(kc__http_server_loop(server, 0));
    kc__http_server_stop(server, 0);
}

static void drain_closes_idle_connections_and_completes_open_ones(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_auto(client) *idle = connect_to(s);
    kc_auto(client) *busy = connect_to(s);
    client_get(idle, "/");
    client_read_response(idle);
    client_get(busy, "/late");
    await(s, &s->handled, 2);
    kc__http_server_drain(s->server);
    kc__http_server_drain(s->server);
    client_clear(idle);
    assert_string_equal(client_read_all(idle), "");
    kc__loop_post(s->late->loop, &s->task);
    assert_contains(client_read_all(busy), "Connection: close\r\n\r\nat last");
    s->server = kc__http_server_stop(s->server, 20 * KC_SECOND);
}

static void stop_closes_requests_that_do_not_end(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_auto(client) *c = connect_to(s);
    client_get(c, "/watch");
    client_expect(c, "\r\n\r\n");
    s->server = kc__http_server_stop(s->server, 10 * KC_MILLISECOND);
    assert_int_equal(s->ended, 1);
    assert_null(strstr(client_read_all(c), "0\r\n\r\n"));
}

static void respond_after_delay(void *user)
{
    stage *s = user;
    kc_clock_sleep(kc_clock_real(), 30 * KC_MILLISECOND);
    kc__loop_post(s->late->loop, &s->task);
}

static void stop_waits_for_the_last_response(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_auto(client) *c = connect_to(s);
    client_get(c, "/late");
    await(s, &s->handled, 1);
    kc_thread *thread = kc_thread_start("late", respond_after_delay, s, NULL);
    s->server = kc__http_server_stop(s->server, 0);
    assert_int_equal(s->ended, 1);
    kc_thread_join(thread);
}

static void connections_and_bytes_are_counted_in_metrics(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_auto(client) *c = connect_to(s);
    client_get(c, "/");
    client_read_response(c);
    s->server = kc__http_server_stop(s->server, 0);
    kc_scoped(kc_buf) text = {0};
    char sent[64];
    kc_metrics_write(s->metrics, &text);
    assert_contains(kc_buf_cstr(&text), "http_server_connections 0\n");
    assert_contains(kc_buf_cstr(&text), "http_server_connections_total 1\n");
    assert_contains(kc_buf_cstr(&text), "http_server_received_bytes_total 35\n");
    snprintf(sent, sizeof(sent), "http_server_sent_bytes_total %zu\n", c->in.n);
    assert_contains(kc_buf_cstr(&text), sent);
}

TESTS(client_is_answered_repeatedly, many_clients_are_answered_concurrently,
      large_body_passes_both_ways, pipelined_requests_are_all_answered, late_response_is_sent,
      half_closed_client_gets_its_response, disconnect_ends_a_watch,
      late_response_after_disconnect_is_dropped, slow_reader_gets_everything,
      client_that_reads_nothing_is_closed, slow_bodies_are_closed, slow_heads_are_closed,
      idle_connections_are_closed, error_response_to_large_upload_is_delivered,
      connections_are_spread_evenly, connections_beyond_the_limit_wait,
      accept_without_descriptors_waits_without_spinning, requests_leak_no_memory,
      address_in_use_is_an_error, server_listens_on_several_addresses,
      drain_closes_idle_connections_and_completes_open_ones, stop_closes_requests_that_do_not_end,
      stop_waits_for_the_last_response, connections_and_bytes_are_counted_in_metrics)
