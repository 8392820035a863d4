/* SPDX-License-Identifier: Apache-2.0 */
/* Bidirectional streams: messages, flow control in both directions, ends. */
#include "grpc_testing.h"

/* What a stream has reported. Written on the channel's thread, read by the test. */
typedef struct record {
    kc__grpc_stream *stream;
    _Atomic bool opened;
    _Atomic size_t messages;
    _Atomic size_t bytes;
    _Atomic size_t pause_at; /* Pauses when it has received so many messages; 0: never. */
    kc_mutex mutex;          /* Guards `text`. */
    kc_buf text;             /* Short messages, each followed by '|'. */
    kc_latch closed;
    kc__grpc_code code;
    char *message;
    bool unsent;
} record;

static void on_opened(void *user)
{
    record *r = user;
    atomic_store(&r->opened, true);
}

static void on_message(kc_str message, void *user)
{
    record *r = user;
    kc_locked (&r->mutex) {
        if (message.n < 100) {
            kc_buf_append(&r->text, message);
            kc_buf_putc(&r->text, '|');
        }
    }
    atomic_fetch_add(&r->bytes, message.n);
    if (atomic_fetch_add(&r->messages, 1) + 1 == atomic_load(&r->pause_at))
        kc__grpc_stream_pause(r->stream);
}

static void on_closed(const kc__grpc_status *status, void *user)
{
    record *r = user;
    r->code = status->code;
    r->message = kc_strdup(status->message);
    r->unsent = status->unsent;
    kc_latch_count_down(&r->closed);
}

static record *open_stream(kc__grpc_channel *channel, kc__grpc_stream_opts opts)
{
    record *r = kc_new(record);
    kc_mutex_init(&r->mutex);
    kc_latch_init(&r->closed);
    kc_latch_add(&r->closed, 1);
    opts.opened = on_opened;
    opts.message = on_message;
    opts.closed = on_closed;
    opts.user = r;
    r->stream = kc__grpc_stream_open(channel, &opts);
    return r;
}

static record *echo_stream(kc__grpc_channel *channel)
{
    return open_stream(channel, (kc__grpc_stream_opts){.method = "/test/Echo"});
}

static void send_text(record *r, const char *text)
{
    kc_scoped(kc_error) err = {0};
    if (kc__grpc_stream_send(r->stream, kc_cstr(text), &err) < 0)
        fail_msg("%s", kc_error_text(&err));
}

static void await_close(record *r, kc__grpc_code code, const char *text)
{
    assert_true(kc_latch_wait_until(&r->closed, kc_clock_real(), in_a_while()));
    if (r->code != code)
        print_error("%s\n", r->message);
    assert_int_equal(r->code, code);
    assert_contains(r->message, text);
}

static void record_free(record *r)
{
    kc__grpc_stream_unref(r->stream);
    kc_latch_done(&r->closed);
    kc_mutex_done(&r->mutex);
    kc_buf_done(&r->text);
    free(r->message);
    free(r);
}

static void messages_pass_in_order_both_ways(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    record *r = echo_stream(channel);
    send_text(r, "before it is connected");
    send_text(r, "");
    eventually(atomic_load(&r->messages) == 2);
    assert_true(atomic_load(&r->opened));
    send_text(r, "later");
    kc__grpc_stream_close_send(r->stream);
    await_close(r, KC__GRPC_OK, "");
    assert_str(kc_buf_str(&r->text), "before it is connected||later|");
    record_free(r);
}

static void stream_is_opened_before_the_first_message(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    record *r = open_stream(channel, (kc__grpc_stream_opts){.method = "/test/Open"});
    send_text(r, "x");
    eventually(atomic_load(&r->opened));
    kc__grpc_stream_cancel(r->stream);
    await_close(r, KC__GRPC_CANCELLED, "cancelled by the caller");
    eventually(atomic_load(&server->cancelled) == 1);
    record_free(r);
}

static void server_that_ends_the_stream_early_is_reported(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    record *r = open_stream(channel, (kc__grpc_stream_opts){.method = "/test/Fail"});
    send_text(r, "9 lease not found");
    await_close(r, KC__GRPC_FAILED_PRECONDITION, "lease not found");
    kc_scoped(kc_error) err = {0};
    assert_true(kc__grpc_stream_send(r->stream, KC_STR("x"), &err) < 0);
    assert_error(&err, KC_GONE, "has ended");
    record_free(r);
}

static void message_after_close_send_is_refused(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    record *r = open_stream(channel, (kc__grpc_stream_opts){.method = "/test/Hang"});
    kc__grpc_stream_close_send(r->stream);
    kc_scoped(kc_error) err = {0};
    assert_true(kc__grpc_stream_send(r->stream, KC_STR("x"), &err) < 0);
    assert_error(&err, KC_GONE, "sending side");
    kc__grpc_stream_cancel(r->stream);
    await_close(r, KC__GRPC_CANCELLED, "");
    record_free(r);
}

static void paused_stream_stops_the_server_and_not_other_calls(void **state)
{
    (void)state;
    enum { MESSAGES = 300, SIZE = 100000 };
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    record *r = open_stream(channel, (kc__grpc_stream_opts){.method = "/test/Flood"});
    atomic_store(&r->pause_at, 1);
    send_text(r, "300 100000");
    kc__grpc_stream_close_send(r->stream);
    eventually(atomic_load(&r->messages) == 1);
    for (int i = 0; i < 20; i++)
        assert_reply(channel, "/test/Echo", "passes", KC__GRPC_OK, "passes");
    assert_int_equal(atomic_load(&r->messages), 1);
    /* The window, and what was passed on. */
    assert_true(atomic_load(&server->sent) <= KC__GRPC_STREAM_WINDOW + 2 * SIZE);
    atomic_store(&r->pause_at, 0);
    kc__grpc_stream_resume(r->stream);
    await_close(r, KC__GRPC_OK, "");
    assert_int_equal(atomic_load(&r->messages), MESSAGES);
    assert_int_equal(atomic_load(&r->bytes), (size_t)MESSAGES * SIZE);
    record_free(r);
}

static void stream_that_pauses_after_each_message_gets_all(void **state)
{
    (void)state;
    enum { MESSAGES = 200 };
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    record *r = open_stream(channel, (kc__grpc_stream_opts){.method = "/test/Flood"});
    atomic_store(&r->pause_at, 1);
    send_text(r, "200 20000");
    kc__grpc_stream_close_send(r->stream);
    for (size_t i = 1; i <= MESSAGES; i++) {
        eventually(atomic_load(&r->messages) == i);
        atomic_store(&r->pause_at, i + 1);
        kc__grpc_stream_resume(r->stream);
    }
    await_close(r, KC__GRPC_OK, "");
    assert_int_equal(atomic_load(&r->messages), MESSAGES);
    record_free(r);
}

static void held_messages_are_delivered_after_a_lost_connection(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    record *r = open_stream(channel, (kc__grpc_stream_opts){.method = "/test/Twice"});
    atomic_store(&r->pause_at, 1);
    send_text(r, "m");
    eventually(atomic_load(&r->messages) == 1);
    grpc_server_cut(server);
    eventually(atomic_load(&server->connections) >= 2);
    assert_int_equal(atomic_load(&r->messages), 1);
    kc__grpc_stream_resume(r->stream);
    await_close(r, KC__GRPC_UNAVAILABLE, "connection lost");
    assert_str(kc_buf_str(&r->text), "m|m|");
    record_free(r);
}

static void cancel_of_a_paused_stream_ends_it(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    record *r = open_stream(channel, (kc__grpc_stream_opts){.method = "/test/Twice"});
    atomic_store(&r->pause_at, 1);
    send_text(r, "m");
    kc__grpc_stream_close_send(r->stream);
    eventually(atomic_load(&r->messages) == 1);
    kc__grpc_stream_cancel(r->stream);
    await_close(r, KC__GRPC_CANCELLED, "");
    record_free(r);
}

static void queue_of_a_server_that_does_not_read_is_bounded(void **state)
{
    (void)state;
    enum { SIZE = 50000, LIMIT = 200000 };
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    record *r =
        open_stream(channel, (kc__grpc_stream_opts){.method = "/test/Deaf", .max_queued = LIMIT});
    kc_autofree char *bytes = kc_calloc(1, LIMIT * 2);
    kc_scoped(kc_error) err = {0};
    int result = 0;
    for (int i = 0; i < 1000 && result == 0; i++) {
        result = kc__grpc_stream_send(r->stream, kc_str_of(bytes, SIZE), &err);
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
    }
    assert_error(&err, KC_TOO_MANY_REQUESTS, "wait to be sent");
    assert_reply(channel, "/test/Nothing", "", KC__GRPC_INTERNAL, "no response");
    kc__grpc_stream_cancel(r->stream);
    await_close(r, KC__GRPC_CANCELLED, "");
    record_free(r);
}

static void message_above_the_limit_of_the_queue_is_accepted_by_an_empty_queue(void **state)
{
    (void)state;
    enum { SIZE = 300000 };
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    record *r =
        open_stream(channel, (kc__grpc_stream_opts){.method = "/test/Size", .max_queued = 1000});
    kc_autofree char *bytes = kc_calloc(1, SIZE);
    assert_int_equal(kc__grpc_stream_send(r->stream, kc_str_of(bytes, SIZE), NULL), 0);
    eventually(atomic_load(&r->messages) == 1);
    assert_str(kc_buf_str(&r->text), "300000|");
    kc__grpc_stream_close_send(r->stream);
    await_close(r, KC__GRPC_OK, "");
    record_free(r);
}

static void stream_is_never_opened_again_after_a_lost_connection(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    atomic_store(&server->drop, 1);
    record *r = open_stream(channel, (kc__grpc_stream_opts){.method = "/test/Drop"});
    send_text(r, "x");
    await_close(r, KC__GRPC_UNAVAILABLE, "connection lost");
    assert_false(r->unsent);
    assert_int_equal(atomic_load(&server->requests), 1);
    record_free(r);
}

static void stream_fails_at_once_if_no_endpoint_can_be_reached(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_autofree char *url = kc_strdup(server->url);
    grpc_server_stop(kc_take(server));
    kc_auto(kc__grpc_channel) *channel = channel_to_url(url);
    record *r = echo_stream(channel);
    await_close(r, KC__GRPC_UNAVAILABLE, "no endpoint");
    assert_true(r->unsent);
    record_free(r);
}

static void closing_the_channel_ends_streams(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc__grpc_channel *channel = channel_to(server);
    record *r = echo_stream(channel);
    send_text(r, "x");
    eventually(atomic_load(&r->messages) == 1);
    kc__grpc_channel_free(channel);
    await_close(r, KC__GRPC_CANCELLED, "channel is closed");
    kc__grpc_stream_cancel(r->stream);
    kc__grpc_stream_resume(r->stream);
    record_free(r);
}

TESTS(messages_pass_in_order_both_ways, stream_is_opened_before_the_first_message,
      server_that_ends_the_stream_early_is_reported, message_after_close_send_is_refused,
      paused_stream_stops_the_server_and_not_other_calls,
      stream_that_pauses_after_each_message_gets_all,
      held_messages_are_delivered_after_a_lost_connection, cancel_of_a_paused_stream_ends_it,
      queue_of_a_server_that_does_not_read_is_bounded,
      message_above_the_limit_of_the_queue_is_accepted_by_an_empty_queue,
      stream_is_never_opened_again_after_a_lost_connection,
      stream_fails_at_once_if_no_endpoint_can_be_reached, closing_the_channel_ends_streams)
