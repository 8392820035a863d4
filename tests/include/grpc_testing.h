/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grpc_testing.h: for tests of the gRPC client: channels to servers of the test, and short calls.
 *
 *     kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
 *     kc_auto(kc__grpc_channel) *channel = channel_to(server);
 *     assert_reply(channel, "/test/Echo", "hello", KC__GRPC_OK, "hello");
 *
 * Waits end the test after half a minute of real time; nothing depends on how long they take.
 */
#ifndef KC_GRPC_TESTING_H
#define KC_GRPC_TESTING_H

#include "testing.h"

#include "grpc/grpc.h"
#include "grpc_server.h"

#define TEST_TIMEOUT (30 * KC_SECOND)

/* Waits until the condition holds. */
#define eventually(condition)                                                \
    do {                                                                     \
        const int64_t until_ = kc_clock_now(kc_clock_real()) + TEST_TIMEOUT; \
        while (!(condition)) {                                               \
            if (kc_clock_now(kc_clock_real()) > until_)                      \
                fail_msg("timed out waiting for %s", #condition);            \
            kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);                 \
        }                                                                    \
    } while (0)

KC_UNUSED static kc__grpc_channel *channel_with(kc__grpc_channel_opts opts)
{
    kc_scoped(kc_error) err = {0};
    kc__grpc_channel *channel = kc__grpc_channel_open(&opts, &err);
    if (!channel)
        fail_msg("%s", kc_error_text(&err));
    return channel;
}

KC_UNUSED static kc__grpc_channel *channel_to_url(const char *url)
{
    return channel_with((kc__grpc_channel_opts){.endpoints = &url, .n_endpoints = 1});
}

KC_UNUSED static kc__grpc_channel *channel_to(const grpc_server *server)
{
    return channel_to_url(server->url);
}

KC_UNUSED static int64_t in_a_while(void)
{
    return kc_clock_deadline(kc_clock_real(), TEST_TIMEOUT);
}

/* Calls and waits. The caller frees the contents of the result. */
KC_UNUSED static kc__grpc_reply reply_of(kc__grpc_channel *channel, const char *method,
                                         kc_str request)
{
    kc__grpc_reply reply;
    kc__grpc_call_wait(
        channel,
        &(kc__grpc_call_opts){.method = method, .request = request, .deadline = in_a_while()}, NULL,
        &reply);
    return reply;
}

/* Asserts the code; the response if that is OK, or else a part of the status message. */
#define assert_reply(channel, method, request, code, text) \
    kc__assert_reply(channel, method, request, code, text, __FILE__, __LINE__)

KC_UNUSED static void kc__assert_reply(kc__grpc_channel *channel, const char *method,
                                       const char *request, kc__grpc_code code, const char *text,
                                       const char *file, int line)
{
    kc_scoped(kc__grpc_reply) reply = reply_of(channel, method, kc_cstr(request));
    if (reply.status.code != code)
        print_error("%s: %s\n", kc__grpc_code_text(reply.status.code), reply.status.message);
    _assert_int_equal(reply.status.code, code, file, line);
    if (code == KC__GRPC_OK)
        kc__assert_str(kc_buf_str(&reply.response), text, file, line);
    else
        kc__assert_contains(reply.status.message, text, file, line);
}

/* A call that runs beside the test. */
typedef struct pending_call {
    kc__grpc_call *call;
    kc_latch done;
    kc__grpc_reply reply;
} pending_call;

KC_UNUSED static void keep_pending_reply(kc__grpc_reply *reply, void *user)
{
    pending_call *pending = user;
    pending->reply = *reply;
    *reply = (kc__grpc_reply){0};
    kc_latch_count_down(&pending->done);
}

KC_UNUSED static pending_call *begin_call(kc__grpc_channel *channel, kc__grpc_call_opts opts)
{
    pending_call *pending = kc_new(pending_call);
    kc_latch_init(&pending->done);
    kc_latch_add(&pending->done, 1);
    opts.done = keep_pending_reply;
    opts.user = pending;
    pending->call = kc__grpc_call_start(channel, &opts);
    return pending;
}

/* Waits for the end of the call, asserts its code, and frees it. */
KC_UNUSED static void end_call(pending_call *pending, kc__grpc_code code)
{
    assert_true(kc_latch_wait_until(&pending->done, kc_clock_real(), in_a_while()));
    if (pending->reply.status.code != code)
        print_error("%s\n", pending->reply.status.message);
    assert_int_equal(pending->reply.status.code, code);
    kc__grpc_reply_done(&pending->reply);
    kc__grpc_call_unref(pending->call);
    kc_latch_done(&pending->done);
    free(pending);
}

#endif
