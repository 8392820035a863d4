/* SPDX-License-Identifier: Apache-2.0 */
/* The server over real sockets under pressure: too many connections, refused bodies, ports. */
#include "http_testing.h"

#include "kc/thread.h"

#include <stdio.h>
#include <sys/resource.h>

typedef struct stage {
    kc__http_server *server;
    kc_metrics *metrics;
} stage;

static kc__http_fill fill_wait(kc_buf *out, size_t room, void *user)
{
    (void)out, (void)room, (void)user;
    return KC__HTTP_FILL_WAIT;
}

static void done(void *user)
{
    (void)user;
}

static const kc__http_body_source silent = {fill_wait, done};

static bool begin(kc__exchange *x, kc__exchange_grant *grant, void *user)
{
    (void)user;
    grant->authenticated = kc__http_headers_get(&x->request.headers, KC_STR("Authorization")).n > 0;
    grant->user = KC_STR("alice");
    if (grant->authenticated)
        return true;
    kc__exchange_respond(x, &(kc__http_response){.status = 401, .body = KC_STR("who?")});
    return false;
}

static void handle(kc__exchange *x, void *user)
{
    (void)user;
    if (kc_str_is(x->request.target.path, "/watch"))
        kc__exchange_respond(x,
                             &(kc__http_response){.status = 200, .source = &silent, .flush = true});
    else
        kc__exchange_respond(x, &(kc__http_response){.status = 200, .body = KC_STR("hello")});
}

static stage *stage_new(kc__http_server_opts opts)
{
    stage *s = kc_new(stage);
    kc_scoped(kc_error) err = {0};
    s->metrics = kc_metrics_new();
    opts.listeners = &(kc__http_listener){0};
    opts.n_listeners = 1;
    opts.begin = begin;
    opts.handle = handle;
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
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

static client *connect_to(const stage *s)
{
    return client_connect(kc__http_server_port(s->server, 0));
}

static void send_request(client *c, const char *path)
{
    kc_scoped(kc_buf) request = {0};
    kc_buf_printf(&request, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\n\r\n", path);
    client_clear(c);
    client_send(c, kc_buf_cstr(&request));
}

static void assert_answered(client *c)
{
    send_request(c, "/");
    assert_str(client_read_response(c), "hello");
}

static double metric(stage *s, const char *name)
{
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(s->metrics, &text);
    const char *at = strstr(kc_buf_cstr(&text), name);
    return at ? strtod(at + strlen(name), NULL) : 0;
}

#define EVICTED "http_server_connections_evicted_total"

/* ---- eviction ---- */

static void idle_connections_make_room_for_a_new_client(void **state)
{
    (void)state;
    enum { MANY = 100, ROUNDS = 3 };
    kc_auto(stage) *s = NEW_STAGE(.loops = 2, .max_connections = MANY);
    client *idle[ROUNDS * MANY];
    for (size_t i = 0; i < KC_COUNT(idle); i++)
        idle[i] = connect_to(s);
    for (int i = 0; i < 5; i++) {
        kc_auto(client) *c = connect_to(s);
        assert_answered(c);
    }
    assert_true(metric(s, EVICTED "{state=\"unauthenticated\"}") >= (ROUNDS - 1) * MANY);
    for (size_t i = 0; i < KC_COUNT(idle); i++)
        client_free(idle[i]);
}

static void unauthenticated_connections_are_evicted_first_and_busy_ones_never(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.loops = 1, .max_connections = 3);
    kc_auto(client) *watch = connect_to(s), *keep_alive = connect_to(s), *unknown = connect_to(s);
    send_request(watch, "/watch");
    client_expect(watch, "\r\n\r\n");
    assert_answered(keep_alive);
    client_send(unknown, "GET / HT");
    kc_auto(client) *first = connect_to(s);
    assert_answered(first);
    assert_string_equal(client_read_all(unknown), "");
    kc_clock_sleep(kc_clock_real(), 2 * KC_MILLISECOND);
    assert_answered(keep_alive);
    kc_auto(client) *second = connect_to(s);
    assert_answered(second);
    client_clear(first);
    assert_string_equal(client_read_all(first), ""); /* Idle for longest. */
    assert_answered(keep_alive);
    assert_int_equal(metric(s, EVICTED "{state=\"unauthenticated\"}"), 1);
    assert_int_equal(metric(s, EVICTED "{state=\"idle\"}"), 1);
    struct pollfd p = {.fd = watch->fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 0), 0);
}

static void idle_connections_are_closed_without_descriptors(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.loops = 1);
    struct rlimit before, few;
    client *idle[20];
    for (size_t i = 0; i < KC_COUNT(idle); i++)
        idle[i] = connect_to(s);
    kc_auto(client) *known = connect_to(s);
    assert_answered(known);
    kc_auto(client) *c = kc_new(client);
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    few.rlim_cur = (rlim_t)c->fd + 1; /* All up to here are taken. */
    setrlimit(RLIMIT_NOFILE, &few);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)kc__http_server_port(s->server, 0))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int connected = connect(c->fd, (struct sockaddr *)&to, sizeof(to));
    send_request(c, "/");
    kc_str answer = client_read_response(c);
    setrlimit(RLIMIT_NOFILE, &before);
    assert_int_equal(connected, 0);
    assert_str(answer, "hello");
    assert_answered(known);
    for (size_t i = 0; i < KC_COUNT(idle); i++)
        client_free(idle[i]);
}

static bool evicted(stage *s, double wanted)
{
    kc__http_server_evict_idle(s->server);
    return metric(s, EVICTED "{state=\"unauthenticated\"}") >= wanted;
}

static void server_short_of_memory_closes_idle_connections_and_no_others(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.loops = 2);
    client *idle[40];
    kc_auto(client) *watch = connect_to(s), *known = connect_to(s);
    send_request(watch, "/watch");
    client_expect(watch, "\r\n\r\n");
    assert_answered(known);
    for (size_t i = 0; i < KC_COUNT(idle); i++)
        idle[i] = connect_to(s);
    while (!evicted(s, KC_COUNT(idle))) /* After a second of idleness. */
        kc_clock_sleep(kc_clock_real(), 5 * KC_MILLISECOND);
    assert_answered(known);
    assert_int_equal(metric(s, EVICTED "{state=\"unauthenticated\"}"), KC_COUNT(idle));
    assert_int_equal(metric(s, EVICTED "{state=\"idle\"}"), 0);
    struct pollfd p = {.fd = watch->fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 0), 0);
    for (size_t i = 0; i < KC_COUNT(idle); i++)
        client_free(idle[i]);
}

static void bound_of_the_default_number_of_connections_is_held(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.loops = 1, .max_default_connections = 3);
    client *idle[9];
    for (size_t i = 0; i < KC_COUNT(idle); i++)
        idle[i] = connect_to(s);
    kc_auto(client) *c = connect_to(s);
    assert_answered(c);
    assert_true(metric(s, EVICTED "{state=\"unauthenticated\"}") >= KC_COUNT(idle) - 2);
    assert_true(metric(s, "\nhttp_server_connections ") <= 3);
    for (size_t i = 0; i < KC_COUNT(idle); i++)
        client_free(idle[i]);
}

/* ---- endings ---- */

static void connection_that_a_limit_ends_is_counted_with_its_reason(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.loops = 1, .limits = {.idle_timeout = 10 * KC_MILLISECOND,
                                                         .head_timeout = 10 * KC_MILLISECOND});
    kc_auto(client) *idle = connect_to(s);
    assert_answered(idle);
    client_clear(idle);
    assert_string_equal(client_read_all(idle), "");
    kc_auto(client) *slow = connect_to(s); /* Sends no head at all. */
    assert_string_equal(client_read_all(slow), "");
    assert_int_equal(metric(s, "http_server_limit_endings_total{reason=\"idle_timeout\"}"), 1);
    assert_int_equal(metric(s, "http_server_limit_endings_total{reason=\"head_timeout\"}"), 1);
    assert_int_equal(metric(s, "http_server_limit_endings_total{reason=\"resets\"}"), 0);
}

/* ---- bodies ---- */

static void rejected_upload_gets_its_response(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.loops = 1);
    static char body[2000000];
    kc_auto(client) *c = connect_to(s);
    client_send(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n");
    client_send_bytes(c, kc_str_of(body, sizeof(body)));
    assert_contains(client_read_all(c), "HTTP/1.1 401 Unauthorized\r\n");
    assert_false(c->reset);
}

/* ---- ports ---- */

static int try_to_bind(int port, bool reuse_port)
{
    const int yes = 1;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (reuse_port)
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof(yes));
    int r = bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ? errno : 0;
    close(fd);
    return r;
}

static void another_socket_with_reuse_port_cannot_take_the_port(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.loops = 2);
    assert_int_equal(try_to_bind(kc__http_server_port(s->server, 0), true), EADDRINUSE);
    assert_int_equal(try_to_bind(kc__http_server_port(s->server, 0), false), EADDRINUSE);
}

TESTS(idle_connections_make_room_for_a_new_client,
      unauthenticated_connections_are_evicted_first_and_busy_ones_never,
      idle_connections_are_closed_without_descriptors,
      server_short_of_memory_closes_idle_connections_and_no_others,
      bound_of_the_default_number_of_connections_is_held,
      connection_that_a_limit_ends_is_counted_with_its_reason, rejected_upload_gets_its_response,
      another_socket_with_reuse_port_cannot_take_the_port)
