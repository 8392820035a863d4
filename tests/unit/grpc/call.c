/* SPDX-License-Identifier: Apache-2.0 */
/* Unary calls to a server that responds, correctly or not. */
#include "grpc_testing.h"

#include <netdb.h>

static void response_of_the_server_is_returned(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    assert_reply(channel, "/test/Echo", "hello", KC__GRPC_OK, "hello");
    assert_reply(channel, "/test/Echo", "", KC__GRPC_OK, "");
    assert_reply(channel, "/test/Bytes", "split everywhere", KC__GRPC_OK, "split everywhere");
    assert_reply(channel, "/test/Hints", "after 103", KC__GRPC_OK, "after 103");
    assert_int_equal(atomic_load(&server->connections), 1);
    assert_int_equal(atomic_load(&server->cancelled), 0);
    assert_int_equal(kc__grpc_channel_connected(channel), 1);
}

/* The server listens on 127.0.0.1 only; the name may have ::1 as its first address. */
static void name_is_resolved_and_every_address_is_tried(void **state)
{
    (void)state;
    struct addrinfo *found = NULL;
    if (getaddrinfo("localhost", NULL, NULL, &found) != 0)
        skip(); /* A machine without a hosts file. */
    freeaddrinfo(found);
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_autofree char *url = kc_asprintf("http://localhost:%d", server->port);
    kc_auto(kc__grpc_channel) *channel = channel_to_url(url);
    assert_reply(channel, "/test/Echo", "hello", KC__GRPC_OK, "hello");
}

static void status_of_the_server_is_returned(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    assert_reply(channel, "/test/Fail", "11 mvcc: compacted %25", KC__GRPC_OUT_OF_RANGE,
                 "mvcc: compacted %");
    assert_reply(channel, "/test/FailAtOnce", "7 no permission", KC__GRPC_PERMISSION_DENIED,
                 "no permission");
    assert_reply(channel, "/test/Unknown", "", KC__GRPC_UNIMPLEMENTED, "unknown method");
    assert_reply(channel, "/test/Reset", "11", KC__GRPC_RESOURCE_EXHAUSTED, "ENHANCE_YOUR_CALM");
    assert_reply(channel, "/test/Reset", "1", KC__GRPC_INTERNAL, "PROTOCOL_ERROR");
}

static void response_that_is_not_grpc_gets_a_status(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    assert_reply(channel, "/test/Http", "503", KC__GRPC_UNAVAILABLE, "HTTP status 503");
    assert_reply(channel, "/test/Http", "404", KC__GRPC_UNIMPLEMENTED, "HTTP status 404");
    assert_reply(channel, "/test/Html", "", KC__GRPC_UNKNOWN, "text/html");
    assert_reply(channel, "/test/NoTrailers", "x", KC__GRPC_INTERNAL, "no grpc-status");
    assert_reply(channel, "/test/Echo", "still usable", KC__GRPC_OK, "still usable");
}

static void wrong_number_of_messages_is_an_error(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    assert_reply(channel, "/test/Nothing", "x", KC__GRPC_INTERNAL, "no response");
    assert_reply(channel, "/test/Twice", "x", KC__GRPC_INTERNAL, "more than one");
    assert_reply(channel, "/test/Truncated", "x", KC__GRPC_INTERNAL, "truncated");
    assert_reply(channel, "/test/Compressed", "x", KC__GRPC_UNIMPLEMENTED, "compressed");
}

static void large_messages_pass_both_ways(void **state)
{
    (void)state;
    enum { SIZE = 5 << 20 };
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    kc_autofree char *bytes = kc_calloc(1, SIZE);
    kc_scoped(kc__grpc_reply) size = reply_of(channel, "/test/Size", kc_str_of(bytes, SIZE));
    assert_str(kc_buf_str(&size.response), "5242880");
    kc_scoped(kc__grpc_reply) large = reply_of(channel, "/test/Large", KC_STR("5242880"));
    assert_int_equal(large.status.code, KC__GRPC_OK);
    assert_int_equal(large.response.n, SIZE);
}

static void message_above_the_limit_is_refused_and_the_connection_stays(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    const char *url = server->url;
    kc_auto(kc__grpc_channel) *channel = channel_with(
        (kc__grpc_channel_opts){.endpoints = &url, .n_endpoints = 1, .max_receive = 1000});
    assert_reply(channel, "/test/Large", "1001", KC__GRPC_RESOURCE_EXHAUSTED,
                 "1001 bytes; the limit is 1000");
    assert_reply(channel, "/test/LargeHead", "x", KC__GRPC_RESOURCE_EXHAUSTED,
                 "head of the response");
    kc_scoped(kc__grpc_reply) fits = reply_of(channel, "/test/Large", KC_STR("1000"));
    assert_int_equal(fits.response.n, 1000);
    assert_int_equal(atomic_load(&server->connections), 1);
}

static kc_str ask(kc__grpc_channel *channel, const kc__grpc_metadata *metadata, size_t n,
                  kc__grpc_reply *ret)
{
    kc__grpc_call_wait(
        channel,
        &(kc__grpc_call_opts){.method = "/test/Fields", .metadata = metadata, .n_metadata = n},
        NULL, ret);
    return kc_buf_str(&ret->response);
}

static void metadata_of_call_and_channel_is_sent(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    const kc__grpc_metadata own = {"x-ask", KC_STR("of the call")};
    kc_scoped(kc__grpc_reply) none = {0}, of_call = {0}, of_channel = {0}, removed = {0};
    assert_str(ask(channel, NULL, 0, &none), "|");
    assert_str(ask(channel, &own, 1, &of_call), "of the call|");
    assert_true(kc__grpc_channel_set_metadata(channel, "x-ask", KC_STR("old")));
    assert_true(kc__grpc_channel_set_metadata(channel, "x-ask", KC_STR("of the channel")));
    assert_str(ask(channel, NULL, 0, &of_channel), "of the channel|");
    assert_true(kc__grpc_channel_set_metadata(channel, "x-ask", (kc_str){0}));
    assert_str(ask(channel, NULL, 0, &removed), "|");
}

static void invalid_metadata_is_refused(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    assert_false(kc__grpc_channel_set_metadata(channel, "Upper", KC_STR("x")));
    assert_false(kc__grpc_channel_set_metadata(channel, ":path", KC_STR("x")));
    assert_false(kc__grpc_channel_set_metadata(channel, "grpc-timeout", KC_STR("1S")));
    assert_false(kc__grpc_channel_set_metadata(channel, "token", KC_STR("a\nb")));
    const kc__grpc_metadata wrong = {"te", KC_STR("x")};
    kc_scoped(kc__grpc_reply) reply = {0};
    ask(channel, &wrong, 1, &reply);
    assert_int_equal(reply.status.code, KC__GRPC_INTERNAL);
    assert_true(reply.status.unsent);
}

static void deadline_is_sent_to_the_server(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    kc_scoped(kc__grpc_reply) reply = reply_of(channel, "/test/Fields", KC_STR(""));
    kc_str text = kc_buf_str(&reply.response);
    uint64_t us = 0;
    assert_true(kc_str_starts(text, KC_STR("|")) && kc_str_ends(text, KC_STR("u")));
    assert_true(kc_str_to_u64(kc_str_sub(text, 1, text.n - 1), &us));
    assert_true(us > 0 && us <= 30 * 1000 * 1000);
}

static void call_without_response_ends_at_its_deadline(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    kc__grpc_call_opts opts = {.method = "/test/Hang",
                               .deadline = kc_clock_deadline(kc_clock_real(), KC_SECOND / 5)};
    end_call(begin_call(channel, opts), KC__GRPC_DEADLINE_EXCEEDED);
    opts.deadline = 1;
    end_call(begin_call(channel, opts), KC__GRPC_DEADLINE_EXCEEDED);
    assert_reply(channel, "/test/Echo", "usable", KC__GRPC_OK, "usable");
}

static void cancelled_call_ends_and_the_server_learns_of_it(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    pending_call *pending = begin_call(channel, (kc__grpc_call_opts){.method = "/test/Hang"});
    eventually(atomic_load(&server->requests) == 1);
    kc__grpc_call_cancel(pending->call);
    kc__grpc_call_cancel(pending->call);
    end_call(pending, KC__GRPC_CANCELLED);
    eventually(atomic_load(&server->cancelled) == 1);
}

static void cancellation_token_ends_a_blocking_call(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    kc_auto(kc_cancel) *cancel = kc_cancel_new(NULL);
    kc_scoped(kc__grpc_reply) reply = {0};
    kc_cancel_fire(cancel);
    kc__grpc_call_wait(channel, &(kc__grpc_call_opts){.method = "/test/Hang"}, cancel, &reply);
    assert_int_equal(reply.status.code, KC__GRPC_CANCELLED);
}

static void closing_the_channel_ends_calls_in_flight(void **state)
{
    (void)state;
    enum { CALLS = 20 };
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc__grpc_channel *channel = channel_to(server);
    pending_call *pending[CALLS + 1];
    for (int i = 0; i < CALLS; i++)
        pending[i] = begin_call(channel, (kc__grpc_call_opts){.method = "/test/Hang"});
    eventually(atomic_load(&server->requests) == CALLS);
    kc__grpc_channel_shutdown(channel);
    pending[CALLS] = begin_call(channel, (kc__grpc_call_opts){.method = "/test/Echo"});
    kc__grpc_channel_free(channel);
    kc__grpc_call_cancel(pending[0]->call); /* Has no effect on a call that has ended. */
    for (int i = 0; i <= CALLS; i++)
        end_call(pending[i], KC__GRPC_CANCELLED);
}

static void requests_above_the_limit_of_streams_wait_for_their_turn(void **state)
{
    (void)state;
    enum { CALLS = 50 };
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){.max_streams = 2});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    pending_call *pending[CALLS];
    for (int i = 0; i < CALLS; i++)
        pending[i] = begin_call(channel, (kc__grpc_call_opts){.method = "/test/Echo"});
    for (int i = 0; i < CALLS; i++)
        end_call(pending[i], KC__GRPC_OK);
}

static void cancelled_request_above_the_limit_of_streams_is_never_sent(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){.max_streams = 1});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    assert_reply(channel, "/test/Echo", "settings are known", KC__GRPC_OK, "settings are known");
    pending_call *first = begin_call(channel, (kc__grpc_call_opts){.method = "/test/Hang"});
    pending_call *second = begin_call(channel, (kc__grpc_call_opts){.method = "/test/Echo"});
    eventually(atomic_load(&server->requests) == 2);
    kc__grpc_call_cancel(second->call);
    assert_true(kc_latch_wait_until(&second->done, kc_clock_real(), in_a_while()));
    assert_true(second->reply.status.unsent);
    end_call(second, KC__GRPC_CANCELLED);
    kc__grpc_call_cancel(first->call);
    end_call(first, KC__GRPC_CANCELLED);
    assert_reply(channel, "/test/Echo", "next", KC__GRPC_OK, "next");
    assert_int_equal(atomic_load(&server->requests), 3);
}

static void metrics_count_calls_by_code(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    const char *url = server->url;
    kc_auto(kc__grpc_channel) *channel = channel_with(
        (kc__grpc_channel_opts){.endpoints = &url, .n_endpoints = 1, .metrics = metrics});
    assert_reply(channel, "/test/Echo", "a", KC__GRPC_OK, "a");
    assert_reply(channel, "/test/Fail", "5 x", KC__GRPC_NOT_FOUND, "x");
    assert_reply(channel, "/test/Echo", "b", KC__GRPC_OK, "b"); /* The others are counted by now. */
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(metrics, &text);
    assert_contains(
        kc_buf_cstr(&text),
        "grpc_client_handled_total{grpc_method=\"test/Fail\",grpc_code=\"NOT_FOUND\"} 1");
    assert_contains(kc_buf_cstr(&text), "grpc_client_ready_endpoints 1");
}

TESTS(response_of_the_server_is_returned, name_is_resolved_and_every_address_is_tried,
      status_of_the_server_is_returned, response_that_is_not_grpc_gets_a_status,
      wrong_number_of_messages_is_an_error, large_messages_pass_both_ways,
      message_above_the_limit_is_refused_and_the_connection_stays,
      metadata_of_call_and_channel_is_sent, invalid_metadata_is_refused,
      deadline_is_sent_to_the_server, call_without_response_ends_at_its_deadline,
      cancelled_call_ends_and_the_server_learns_of_it, cancellation_token_ends_a_blocking_call,
      closing_the_channel_ends_calls_in_flight,
      requests_above_the_limit_of_streams_wait_for_their_turn,
      cancelled_request_above_the_limit_of_streams_is_never_sent, metrics_count_calls_by_code)
