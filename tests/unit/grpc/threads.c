/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads use one channel; for ThreadSanitizer above all. */
#include "grpc_testing.h"

#include "kc/rand.h"

enum { THREADS = 8, ROUNDS = 100 };

typedef struct worker {
    kc__grpc_channel *channel;
    kc_thread *thread;
    unsigned seed;
    size_t ok, other;
} worker;

static void run_workers(kc__grpc_channel *channel, void (*run)(void *user), worker *workers)
{
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (worker){.channel = channel, .seed = i};
        workers[i].thread = kc_thread_start("worker", run, &workers[i], NULL);
    }
    for (unsigned i = 0; i < THREADS; i++)
        kc_thread_join(workers[i].thread);
}

static void call_again_and_again(void *user)
{
    worker *w = user;
    for (int i = 0; i < ROUNDS; i++) {
        kc_autofree char *text = kc_asprintf("%u of %d", w->seed, i);
        kc_scoped(kc__grpc_reply) reply = reply_of(w->channel, "/test/Echo", kc_cstr(text));
        const bool same = kc_str_is(kc_buf_str(&reply.response), text);
        w->ok += reply.status.code == KC__GRPC_OK && same;
    }
}

static void each_thread_gets_its_own_responses(void **state)
{
    (void)state;
    kc_auto(grpc_server) *a = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(grpc_server) *b = grpc_server_start(&(grpc_server_opts){0});
    const char *urls[] = {a->url, b->url};
    kc_auto(kc__grpc_channel) *channel =
        channel_with((kc__grpc_channel_opts){.endpoints = urls, .n_endpoints = 2});
    worker workers[THREADS];
    run_workers(channel, call_again_and_again, workers);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(workers[i].ok, ROUNDS);
}

static void call_and_cancel(void *user)
{
    worker *w = user;
    kc_rand rand;
    kc_rand_seed(&rand, w->seed);
    for (int i = 0; i < ROUNDS; i++) {
        const bool hangs = kc_rand_below(&rand, 2) > 0;
        pending_call *pending = begin_call(
            w->channel, (kc__grpc_call_opts){.method = hangs ? "/test/Hang" : "/test/Echo",
                                             .wait_for_ready = true});
        if (kc_rand_below(&rand, 2))
            kc_clock_sleep(kc_clock_real(), (int64_t)kc_rand_below(&rand, KC_MILLISECOND));
        kc__grpc_call_cancel(pending->call);
        kc_latch_wait(&pending->done);
        const kc__grpc_code code = pending->reply.status.code;
        w->ok += code == KC__GRPC_CANCELLED || (code == KC__GRPC_OK && !hangs);
        end_call(pending, code);
        kc__grpc_channel_set_metadata(w->channel, "x-ask", KC_STR("changes"));
    }
}

static void calls_may_be_cancelled_at_any_time(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){.max_streams = 10});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    worker workers[THREADS];
    run_workers(channel, call_and_cancel, workers);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(workers[i].ok, ROUNDS);
    assert_reply(channel, "/test/Echo", "usable", KC__GRPC_OK, "usable");
}

static void call_while_servers_fail(void *user)
{
    worker *w = user;
    for (int i = 0; i < ROUNDS; i++) {
        kc_scoped(kc__grpc_reply) reply = {0};
        kc__grpc_call_wait(w->channel,
                           &(kc__grpc_call_opts){.method = "/test/Echo",
                                                 .request = KC_STR("x"),
                                                 .wait_for_ready = true,
                                                 .idempotent = true,
                                                 .deadline = in_a_while()},
                           NULL, &reply);
        w->ok += reply.status.code == KC__GRPC_OK;
        w->other += reply.status.code == KC__GRPC_UNAVAILABLE;
    }
}

static void cut_connections(void *user)
{
    grpc_server *server = user;
    for (int i = 0; i < 10; i++) {
        kc_clock_sleep(kc_clock_real(), 10 * KC_MILLISECOND);
        grpc_server_cut(server);
    }
}

static void every_call_ends_once_while_connections_are_cut(void **state)
{
    (void)state;
    kc_auto(grpc_server) *a = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(grpc_server) *b = grpc_server_start(&(grpc_server_opts){0});
    const char *urls[] = {a->url, b->url};
    kc_auto(kc__grpc_channel) *channel =
        channel_with((kc__grpc_channel_opts){.endpoints = urls, .n_endpoints = 2});
    worker workers[THREADS];
    kc_thread *cutter = kc_thread_start("cutter", cut_connections, a, NULL);
    run_workers(channel, call_while_servers_fail, workers);
    kc_thread_join(cutter);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(workers[i].ok + workers[i].other, ROUNDS);
}

/* ---- streams ---- */

typedef struct shared_stream {
    kc__grpc_stream *stream;
    _Atomic size_t messages;
    kc_latch closed;
} shared_stream;

static void count_message(kc_str message, void *user)
{
    shared_stream *s = user;
    if (atomic_fetch_add(&s->messages, 1) % 50 == 0)
        kc__grpc_stream_pause(s->stream);
    (void)message;
}

static void note_close(const kc__grpc_status *status, void *user)
{
    shared_stream *s = user;
    (void)status;
    kc_latch_count_down(&s->closed);
}

static void send_on_stream(void *user)
{
    shared_stream *s = user;
    for (int i = 0; i < ROUNDS; i++)
        while (kc__grpc_stream_send(s->stream, KC_STR("some bytes"), NULL) < 0)
            kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
}

static void threads_may_send_on_one_stream_that_pauses(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    kc_auto(kc__grpc_channel) *channel = channel_to(server);
    shared_stream s = {0};
    kc_thread *senders[THREADS];
    kc_latch_init(&s.closed);
    kc_latch_add(&s.closed, 1);
    s.stream = kc__grpc_stream_open(channel, &(kc__grpc_stream_opts){.method = "/test/Echo",
                                                                     .max_queued = 1000,
                                                                     .message = count_message,
                                                                     .closed = note_close,
                                                                     .user = &s});
    for (int i = 0; i < THREADS; i++)
        senders[i] = kc_thread_start("sender", send_on_stream, &s, NULL);
    for (int i = 0; i < THREADS; i++)
        kc_thread_join(senders[i]);
    kc__grpc_stream_close_send(s.stream);
    while (!kc_latch_wait_until(&s.closed, kc_clock_real(),
                                kc_clock_deadline(kc_clock_real(), KC_MILLISECOND)))
        kc__grpc_stream_resume(s.stream);
    assert_int_equal(atomic_load(&s.messages), THREADS * ROUNDS);
    kc__grpc_stream_unref(s.stream);
    kc_latch_done(&s.closed);
}

/* ---- closing ---- */

static void count_end(kc__grpc_reply *reply, void *user)
{
    _Atomic int *ended = user;
    (void)reply;
    atomic_fetch_add(ended, 1);
}

static void channel_closes_with_calls_in_every_state(void **state)
{
    (void)state;
    kc_auto(grpc_server) *server = grpc_server_start(&(grpc_server_opts){0});
    for (int round = 0; round < 20; round++) {
        kc__grpc_channel *channel = channel_to(server);
        _Atomic int ended = 0;
        for (int i = 0; i < 50; i++)
            kc__grpc_call_unref(kc__grpc_call_start(
                channel,
                &(kc__grpc_call_opts){.method = "/test/Echo", .done = count_end, .user = &ended}));
        kc_clock_sleep(kc_clock_real(), round * KC_MILLISECOND / 4);
        kc__grpc_channel_free(channel);
        assert_int_equal(atomic_load(&ended), 50);
    }
}

TESTS(each_thread_gets_its_own_responses, calls_may_be_cancelled_at_any_time,
      every_call_ends_once_while_connections_are_cut, threads_may_send_on_one_stream_that_pauses,
      channel_closes_with_calls_in_every_state)
