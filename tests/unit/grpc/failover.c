/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoints that fail: what is sent again, where, and what is not. */
#include "grpc_testing.h"

#include "tcp_proxy.h"
#include "thread_testing.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <unistd.h>

/* An address that refuses connections, reserved while the socket exists. */
typedef struct dead_end {
    int fd;
    char url[64];
} dead_end;

static dead_end dead_end_new(void)
{
    dead_end d = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    assert_int_equal(bind(d.fd, (struct sockaddr *)&address, size), 0);
    getsockname(d.fd, (struct sockaddr *)&address, &size);
    snprintf(d.url, sizeof(d.url), "http://127.0.0.1:%d", ntohs(address.sin_port));
    return d;
}

static kc__grpc_channel *channel_to_both(const char *first, const char *second)
{
    const char *urls[] = {first, second};
    return channel_with((kc__grpc_channel_opts){.endpoints = urls, .n_endpoints = 2});
}

static void await_connected(const kc__grpc_channel *channel, size_t n)
{
    eventually(kc__grpc_channel_connected(channel) == n);
}

static void calls_are_spread_over_the_endpoints(void **state)
{
    (void)state;
    kc_auto(grpc_server) *a = grpc_server_start(&(grpc_server_opts){.name = "a"});
    kc_auto(grpc_server) *b = grpc_server_start(&(grpc_server_opts){.name = "b"});
    kc_auto(kc__grpc_channel) *channel = channel_to_both(a->url, b->url);
    await_connected(channel, 2);
    for (int i = 0; i < 10; i++) {
        kc_scoped(kc__grpc_reply) reply = reply_of(channel, "/test/Name", KC_STR(""));
        assert_int_equal(reply.status.code, KC__GRPC_OK);
    }
    assert_int_equal(atomic_load(&a->requests), 5);
    assert_int_equal(atomic_load(&b->requests), 5);
    assert_int_equal(atomic_load(&a->connections), 1);
}

static void endpoint_that_refuses_connections_is_left_out(void **state)
{
    (void)state;
    const dead_end dead = dead_end_new();
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){.name = "a"});
    kc_auto(kc__grpc_channel) *channel = channel_to_both(dead.url, server->url);
    for (int i = 0; i < 4; i++)
        assert_reply(channel, "/test/Name", "", KC__GRPC_OK, "a");
    close(dead.fd);
}

static void call_fails_at_once_if_no_endpoint_can_be_reached(void **state)
{
    (void)state;
    const dead_end dead = dead_end_new();
    kc_auto(kc__grpc_channel) *channel = channel_to_url(dead.url);
    kc_scoped(kc__grpc_reply) reply = {0};
    kc__grpc_call_wait(channel, &(kc__grpc_call_opts){.method = "/test/Echo"}, NULL, &reply);
    assert_int_equal(reply.status.code, KC__GRPC_UNAVAILABLE);
    assert_contains(reply.status.message, dead.url);
    assert_contains(reply.status.message, "onnection refused");
    assert_true(reply.status.unsent);
    close(dead.fd);
}

static void call_that_waits_for_readiness_survives_a_server_that_starts_late(void **state)
{
    (void)state;
    dead_end dead = dead_end_new();
    int port = 0;
    assert_int_equal(sscanf(dead.url, "http://127.0.0.1:%d", &port), 1);
    kc_auto(kc__grpc_channel) *channel = channel_to_url(dead.url);
    assert_reply(channel, "/test/Echo", "", KC__GRPC_UNAVAILABLE, "refused");
    pending_call *patient =
        begin_call(channel, (kc__grpc_call_opts){.method = "/test/Echo", .wait_for_ready = true});
    close(dead.fd);
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){.port = port});
    end_call(patient, KC__GRPC_OK);
}

static void waiting_call_ends_at_its_deadline(void **state)
{
    (void)state;
    const dead_end dead = dead_end_new();
    kc_auto(kc__grpc_channel) *channel = channel_to_url(dead.url);
    pending_call *patient = begin_call(
        channel,
        (kc__grpc_call_opts){.method = "/test/Echo",
                             .wait_for_ready = true,
                             .deadline = kc_clock_deadline(kc_clock_real(), KC_SECOND / 5)});
    assert_true(kc_latch_wait_until(&patient->done, kc_clock_real(), in_a_while()));
    assert_true(patient->reply.status.unsent);
    assert_contains(patient->reply.status.message, "while connecting");
    end_call(patient, KC__GRPC_DEADLINE_EXCEEDED);
    close(dead.fd);
}

static void refused_stream_is_sent_to_another_endpoint(void **state)
{
    (void)state;
    kc_auto(grpc_server) *a = grpc_server_start(&(grpc_server_opts){.name = "a"});
    kc_auto(grpc_server) *b = grpc_server_start(&(grpc_server_opts){.name = "b"});
    kc_auto(kc__grpc_channel) *channel = channel_to_both(a->url, b->url);
    await_connected(channel, 2);
    atomic_store(&a->refuse, 1000);
    for (int i = 0; i < 4; i++)
        assert_reply(channel, "/test/Name", "", KC__GRPC_OK, "b");
    assert_true(atomic_load(&a->requests) > 0);
}

static void stream_that_is_always_refused_fails_after_a_few_attempts(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    atomic_store(&server->refuse, 1000);
    kc_scoped(kc__grpc_reply) reply = reply_of(channel, "/test/Echo", KC_STR("x"));
    assert_int_equal(reply.status.code, KC__GRPC_UNAVAILABLE);
    assert_true(reply.status.unsent);
    assert_true(atomic_load(&server->requests) <= 5);
    atomic_store(&server->refuse, 0);
    assert_reply(channel, "/test/Echo", "x", KC__GRPC_OK, "x");
}

static void request_above_the_last_stream_of_a_goaway_is_sent_again(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    atomic_store(&server->go_away, 1);
    kc_scoped(kc__grpc_reply) reply = {0};
    kc__grpc_call_wait(channel,
                       &(kc__grpc_call_opts){.method = "/test/GoAway",
                                             .request = KC_STR("again"),
                                             .wait_for_ready = true,
                                             .deadline = in_a_while()},
                       NULL, &reply);
    assert_int_equal(reply.status.code, KC__GRPC_OK);
    assert_str(kc_buf_str(&reply.response), "again");
    assert_int_equal(atomic_load(&server->requests), 2);
    assert_int_equal(atomic_load(&server->connections), 2);
}

static void call_in_flight_survives_a_goaway_and_the_next_uses_a_new_connection(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    pending_call *open = begin_call(channel, (kc__grpc_call_opts){.method = "/test/Hang"});
    eventually(atomic_load(&server->requests) == 1);
    assert_reply(channel, "/test/EchoGoAway", "processed", KC__GRPC_OK, "processed");
    pending_call *next =
        begin_call(channel, (kc__grpc_call_opts){.method = "/test/Echo", .wait_for_ready = true});
    end_call(next, KC__GRPC_OK);
    assert_int_equal(atomic_load(&server->connections), 2);
    assert_false(kc_latch_wait_until(&open->done, kc_clock_real(), 0));
    kc__grpc_call_cancel(open->call);
    end_call(open, KC__GRPC_CANCELLED);
}

static void request_that_waits_for_its_turn_leaves_a_draining_connection(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){.max_streams = 1});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    await_connected(channel, 1);
    pending_call *open = begin_call(channel, (kc__grpc_call_opts){.method = "/test/HangGoAway"});
    pending_call *next =
        begin_call(channel, (kc__grpc_call_opts){.method = "/test/Echo", .wait_for_ready = true});
    end_call(next, KC__GRPC_OK);
    kc__grpc_call_cancel(open->call);
    end_call(open, KC__GRPC_CANCELLED);
}

static void request_of_a_lost_connection_is_not_sent_again(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    atomic_store(&server->drop, 1);
    kc_scoped(kc__grpc_reply) reply = reply_of(channel, "/test/Drop", KC_STR("x"));
    assert_int_equal(reply.status.code, KC__GRPC_UNAVAILABLE);
    assert_contains(reply.status.message, "connection lost");
    assert_false(reply.status.unsent);
    assert_int_equal(atomic_load(&server->requests), 1);
}

static void idempotent_request_of_a_lost_connection_is_sent_again(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    atomic_store(&server->drop, 2);
    kc_scoped(kc__grpc_reply) reply = {0};
    kc__grpc_call_wait(channel,
                       &(kc__grpc_call_opts){.method = "/test/Drop",
                                             .request = KC_STR("again"),
                                             .idempotent = true,
                                             .wait_for_ready = true,
                                             .deadline = in_a_while()},
                       NULL, &reply);
    assert_int_equal(reply.status.code, KC__GRPC_OK);
    assert_str(kc_buf_str(&reply.response), "again");
    assert_int_equal(atomic_load(&server->requests), 3);
}

static void channel_reconnects_to_a_restarted_server(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){.name = "old"});
    const int port = server->port;
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    assert_reply(channel, "/test/Name", "", KC__GRPC_OK, "old");
    grpc_server_stop(kc_take(server));
    await_connected(channel, 0);
    server = grpc_server_start(&(grpc_server_opts){.name = "new", .port = port});
    await_connected(channel, 1);
    assert_reply(channel, "/test/Name", "", KC__GRPC_OK, "new");
}

static void calls_go_on_at_the_other_endpoint_when_one_stops(void **state)
{
    (void)state;
    kc_auto(grpc_server) *a = grpc_server_start(&(grpc_server_opts){.name = "a"});
    kc_auto(grpc_server) *b = grpc_server_start(&(grpc_server_opts){.name = "b"});
    kc_auto(kc__grpc_channel) *channel = channel_to_both(a->url, b->url);
    await_connected(channel, 2);
    grpc_server_stop(kc_take(a));
    await_connected(channel, 1);
    for (int i = 0; i < 4; i++)
        assert_reply(channel, "/test/Name", "", KC__GRPC_OK, "b");
}

static void server_that_sends_no_settings_is_not_used(void **state)
{
    (void)state;
    kc_auto(grpc_server) *mute = grpc_server_start(&(grpc_server_opts){0});
    atomic_store(&mute->mute, true);
    const char *url = mute->url;
    kc_auto(kc__grpc_channel) *channel = channel_with((kc__grpc_channel_opts){
        .endpoints = &url, .n_endpoints = 1, .connect_timeout = KC_SECOND / 10});
    assert_reply(channel, "/test/Echo", "", KC__GRPC_UNAVAILABLE, "timed out");
}

static void unreachable_peer_is_detected_by_keepalive(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    const char *url = server->url;
    kc_auto(kc__grpc_channel) *channel =
        channel_with((kc__grpc_channel_opts){.endpoints = &url,
                                             .n_endpoints = 1,
                                             .clock = clock,
                                             .keepalive_time = 10 * KC_SECOND,
                                             .keepalive_timeout = 5 * KC_SECOND});
    pending_call *open = begin_call(channel, (kc__grpc_call_opts){.method = "/test/Hang"});
    eventually(atomic_load(&server->requests) == 1);
    atomic_store(&server->silent, true);
    eventually((kc_clock_advance(clock, KC_SECOND),
                kc_latch_wait_until(&open->done, kc_clock_real(),
                                    kc_clock_deadline(kc_clock_real(), 5 * KC_MILLISECOND))));
    assert_contains(open->reply.status.message, "keepalive");
    assert_false(open->reply.status.unsent);
    end_call(open, KC__GRPC_UNAVAILABLE);
}

/* The next PING is sent only if the one before was answered. In virtual time the answer is never
 * too late, however long it takes. */
static void answered_ping_keeps_the_connection(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    const char *url = server->url;
    kc_auto(kc__grpc_channel) *channel =
        channel_with((kc__grpc_channel_opts){.endpoints = &url,
                                             .n_endpoints = 1,
                                             .clock = clock,
                                             .keepalive_time = 10 * KC_SECOND,
                                             .keepalive_timeout = 1000 * KC_HOUR});
    pending_call *open = begin_call(channel, (kc__grpc_call_opts){.method = "/test/Hang"});
    eventually(atomic_load(&server->requests) == 1);
    eventually((kc_clock_advance(clock, KC_SECOND), atomic_load(&server->pings) >= 3));
    assert_int_equal(atomic_load(&server->connections), 1);
    kc__grpc_call_cancel(open->call);
    end_call(open, KC__GRPC_CANCELLED);
}

static void idle_connection_sends_no_pings(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    const char *url = server->url;
    kc_auto(kc__grpc_channel) *channel = channel_with((kc__grpc_channel_opts){
        .endpoints = &url, .n_endpoints = 1, .clock = clock, .keepalive_timeout = 1000 * KC_HOUR});
    for (int i = 0; i < 3; i++) {
        kc_scoped(kc__grpc_reply) reply = {0};
        kc__grpc_call_wait(channel, &(kc__grpc_call_opts){.method = "/test/Echo"}, NULL, &reply);
        assert_int_equal(reply.status.code, KC__GRPC_OK);
        kc_clock_advance(clock, 100 * KC_SECOND);
        kc_clock_sleep(kc_clock_real(), 20 * KC_MILLISECOND); /* The timer has a chance. */
    }
    assert_int_equal(atomic_load(&server->pings), 0);
}

static void assert_name(kc__grpc_channel *channel, bool idempotent, const char *expected)
{
    kc_scoped(kc__grpc_reply) reply = {0};
    kc__grpc_call_wait(channel,
                       &(kc__grpc_call_opts){.method = "/test/Name",
                                             .idempotent = idempotent,
                                             .deadline = in_a_while()},
                       NULL, &reply);
    assert_int_equal(reply.status.code, KC__GRPC_OK);
    assert_str(kc_buf_str(&reply.response), expected);
}

static bool answers(kc__grpc_channel *channel)
{
    kc_scoped(kc__grpc_reply) reply = reply_of(channel, "/test/Name", KC_STR(""));
    return reply.status.code == KC__GRPC_OK;
}

static void proxy_url(const tcp_proxy *proxy, char url[64])
{
    snprintf(url, 64, "http://127.0.0.1:%d", proxy->port);
}

/* Long before keepalive would close its connection. */
static void idempotent_call_moves_from_a_silent_endpoint_and_later_ones_avoid_it(void **state)
{
    (void)state;
    kc_auto(grpc_server) *a = grpc_server_start(&(grpc_server_opts){.name = "a"});
    kc_auto(grpc_server) *b = grpc_server_start(&(grpc_server_opts){.name = "b"});
    tcp_proxy *proxy = tcp_proxy_start(a->port);
    char url[64];
    proxy_url(proxy, url);
    const char *urls[] = {url, b->url};
    kc_auto(kc__grpc_channel) *channel =
        channel_with((kc__grpc_channel_opts){.endpoints = urls,
                                             .n_endpoints = 2,
                                             .keepalive_timeout = KC_HOUR,
                                             .probe_after = 50 * KC_MILLISECOND});
    await_connected(channel, 2);
    tcp_proxy_freeze(proxy, true);
    for (int i = 0; i < 2; i++) /* One of them is sent to the silent endpoint first. */
        assert_name(channel, true, "b");
    for (int i = 0; i < 4; i++)
        assert_name(channel, false, "b");
    assert_int_equal(atomic_load(&a->requests), 0);
    assert_int_equal(kc__grpc_channel_connected(channel), 2);
    tcp_proxy_freeze(proxy, false);
    eventually(answers(channel) && atomic_load(&a->requests) > 1);
    tcp_proxy_free(proxy);
}

/* The connection is alive: it answers PINGs. */
static void quick_call_moves_from_an_endpoint_that_does_not_answer(void **state)
{
    (void)state;
    kc_auto(grpc_server) *a = grpc_server_start(&(grpc_server_opts){.name = "a"});
    kc_auto(grpc_server) *b = grpc_server_start(&(grpc_server_opts){.name = "b"});
    const char *urls[] = {a->url, b->url};
    kc_auto(kc__grpc_channel) *channel = channel_with((kc__grpc_channel_opts){
        .endpoints = urls, .n_endpoints = 2, .probe_after = 20 * KC_MILLISECOND});
    await_connected(channel, 2);
    pending_call *call = begin_call(channel, (kc__grpc_call_opts){.method = "/test/Hang",
                                                                  .idempotent = true,
                                                                  .quick = true,
                                                                  .deadline = in_a_while()});
    eventually(atomic_load(&a->requests) > 0 && atomic_load(&b->requests) > 0);
    kc__grpc_call_cancel(call->call);
    end_call(call, KC__GRPC_CANCELLED);
}

/* Blocks the thread of the channel. */
typedef struct blockade {
    kc_latch entered, over;
} blockade;

static void block_thread(kc__grpc_reply *reply, void *user)
{
    blockade *b = user;
    (void)reply;
    kc_latch_count_down(&b->entered);
    kc_latch_wait(&b->over);
}

/* As after SIGSTOP: the time is over, and the answer is in the socket. */
static void ping_answered_while_the_process_stood_still_keeps_the_connection(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    tcp_proxy *proxy = tcp_proxy_start(server->port);
    char text[64];
    const char *url = text;
    proxy_url(proxy, text);
    blockade b;
    kc_latch_init(&b.entered);
    kc_latch_init(&b.over);
    kc_latch_add(&b.entered, 1);
    kc_latch_add(&b.over, 1);
    kc_auto(kc__grpc_channel) *channel =
        channel_with((kc__grpc_channel_opts){.endpoints = &url,
                                             .n_endpoints = 1,
                                             .clock = clock,
                                             .keepalive_time = 10 * KC_SECOND,
                                             .keepalive_timeout = 5 * KC_SECOND});
    pending_call *open = begin_call(channel, (kc__grpc_call_opts){.method = "/test/Hang"});
    kc__grpc_call *stop = kc__grpc_call_start(
        channel, &(kc__grpc_call_opts){.method = "/test/Hang", .done = block_thread, .user = &b});
    eventually(atomic_load(&server->requests) == 2);
    tcp_proxy_freeze(proxy, true);
    kc_clock_advance(clock, 10 * KC_SECOND);
    eventually(tcp_proxy_waiting(proxy) >= 17); /* The PING is sent: a head of 9 bytes, and 8. */
    kc__grpc_call_cancel(stop);
    kc_latch_wait(&b.entered);
    tcp_proxy_freeze(proxy, false);
    eventually(atomic_load(&server->pings) == 1);
    await_other_threads(); /* The answer has arrived. */
    kc_clock_advance(clock, 20 * KC_SECOND);
    kc_latch_count_down(&b.over);
    kc__grpc_call_unref(stop);
    assert_reply(channel, "/test/Echo", "x", KC__GRPC_OK, "x");
    assert_int_equal(atomic_load(&server->connections), 1);
    kc__grpc_call_cancel(open->call);
    end_call(open, KC__GRPC_CANCELLED);
    kc_latch_done(&b.entered);
    kc_latch_done(&b.over);
    tcp_proxy_free(proxy);
}

TESTS(calls_are_spread_over_the_endpoints, endpoint_that_refuses_connections_is_left_out,
      call_fails_at_once_if_no_endpoint_can_be_reached,
      call_that_waits_for_readiness_survives_a_server_that_starts_late,
      waiting_call_ends_at_its_deadline, refused_stream_is_sent_to_another_endpoint,
      stream_that_is_always_refused_fails_after_a_few_attempts,
      request_above_the_last_stream_of_a_goaway_is_sent_again,
      call_in_flight_survives_a_goaway_and_the_next_uses_a_new_connection,
      request_that_waits_for_its_turn_leaves_a_draining_connection,
      request_of_a_lost_connection_is_not_sent_again,
      idempotent_request_of_a_lost_connection_is_sent_again,
      channel_reconnects_to_a_restarted_server, calls_go_on_at_the_other_endpoint_when_one_stops,
      server_that_sends_no_settings_is_not_used, unreachable_peer_is_detected_by_keepalive,
      answered_ping_keeps_the_connection, idle_connection_sends_no_pings,
      idempotent_call_moves_from_a_silent_endpoint_and_later_ones_avoid_it,
      quick_call_moves_from_an_endpoint_that_does_not_answer,
      ping_answered_while_the_process_stood_still_keeps_the_connection)
