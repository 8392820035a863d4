/* SPDX-License-Identifier: Apache-2.0 */
/* Posts with retries: which responses are followed by another attempt, and how long. */
#include "http/client/http_post.h"
#include "http/server/server.h"
#include "kc/thread.h"
#include "testing.h"

#include <stdatomic.h>

typedef struct stage {
    kc__http_server *server;
    kc__loop *loop;
    kc__http_client *client;
    char *url;
    kc__http_target target;
    kc__http_post_opts opts;
    kc__loop_task task;
    atomic_int requests, attempts;
    int overloaded; /* Requests that get `status`; then 200. */
    int status;
    int final;
    kc_latch done;
} stage;

static void answer_post(kc__exchange *x, void *user)
{
    stage *s = user;
    const bool overloaded = atomic_fetch_add(&s->requests, 1) < s->overloaded;
    kc__exchange_respond(x, &(kc__http_response){.status = overloaded ? s->status : 200,
                                                 .type = KC_STR("text/plain"),
                                                 .body = x->request.body});
}

static stage *stage_new(int status, int overloaded)
{
    stage *s = kc_new(stage);
    kc_scoped(kc_error) err = {0};
    const kc__http_listener listener = {.address = "127.0.0.1"};
    s->status = status;
    s->overloaded = overloaded;
    s->server = kc__http_server_start(
        &(kc__http_server_opts){
            .listeners = &listener, .n_listeners = 1, .loops = 1, .handle = answer_post, .user = s},
        &err);
    assert_non_null(s->server);
    s->url = kc_asprintf("http://127.0.0.1:%d/", kc__http_server_port(s->server, 0));
    s->target.url = s->url;
    s->loop = kc__loop_start("http_post", NULL, NULL);
    s->client = kc__http_client_new();
    kc_latch_init(&s->done);
    return s;
}

static void stage_free(stage *s)
{
    kc__http_client_stop(s->client);
    kc__loop_stop(s->loop);
    kc__http_client_free(s->client);
    kc__http_server_stop(s->server, 0);
    kc_latch_done(&s->done);
    free(s->url);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

static void count_attempts(const kc__http_client_response *response, int64_t took, void *user)
{
    stage *s = user;
    assert_true(took > 0 && (response->status || response->error));
    atomic_fetch_add(&s->attempts, 1);
}

static void post_ended(const kc__http_client_response *response, void *user)
{
    stage *s = user;
    s->final = response->status;
    if (response->status == 200)
        assert_str(response->body, "question");
    kc_latch_count_down(&s->done);
}

static void post_on_loop(kc__loop_task *task)
{
    kc__http_post(&kc_container_of(task, stage, task)->opts);
}

/* Posts, with what the test has set in s->opts, and waits for the end. */
static void post(stage *s, int64_t deadline)
{
    s->opts = (kc__http_post_opts){.client = s->client,
                                   .target = &s->target,
                                   .agent = "test",
                                   .body = KC_STR("question"),
                                   .timeout = 10 * KC_SECOND,
                                   .deadline = deadline,
                                   .backoff = s->opts.backoff,
                                   .rand = s->opts.rand,
                                   .loop = s->loop,
                                   .send = s->opts.send,
                                   .attempted = count_attempts,
                                   .done = post_ended,
                                   .user = s};
    s->task.run = post_on_loop;
    kc_latch_add(&s->done, 1);
    kc__loop_post(s->loop, &s->task);
    kc_latch_wait(&s->done);
}

static void request_to_overloaded_server_is_retried(void **state)
{
    (void)state;
    static const int statuses[] = {429, 500, 504};
    for (size_t i = 0; i < KC_COUNT(statuses); i++) {
        kc_auto(stage) *s = stage_new(statuses[i], 1);
        post(s, 0);
        assert_int_equal(s->final, 200);
        assert_int_equal(atomic_load(&s->attempts), 2);
    }
}

static void other_failures_are_final(void **state)
{
    (void)state;
    static const int statuses[] = {400, 404, 503};
    for (size_t i = 0; i < KC_COUNT(statuses); i++) {
        kc_auto(stage) *s = stage_new(statuses[i], 1);
        post(s, 0);
        assert_int_equal(s->final, statuses[i]);
        assert_int_equal(atomic_load(&s->attempts), 1);
    }
}

static void fifth_attempt_is_the_last(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(429, 100);
    post(s, 0);
    assert_int_equal(s->final, 429);
    assert_int_equal(atomic_load(&s->requests), 5);
}

static void no_attempt_begins_after_the_deadline(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(429, 100);
    post(s, kc_clock_deadline(kc_clock_real(), KC_SECOND));
    assert_int_equal(s->final, 429);
    assert_int_equal(atomic_load(&s->requests), 2); /* At 0 s and 0.5 s; the next is at 1.25 s. */
}

/* ---- a replaced transport ---- */

typedef struct reset_answer {
    kc__loop_task task;
    kc__http_client_done_fn *done;
    void *user;
} reset_answer;

static atomic_int resets;

/* The first attempt meets a connection that is reset, the second a server that is not there. */
static void answer_reset(kc__loop_task *task)
{
    reset_answer *answer = kc_container_of(task, reset_answer, task);
    const bool first = atomic_fetch_add(&resets, 1) == 0;
    answer->done(&(kc__http_client_response){.error = first ? "read: connection reset by peer"
                                                            : "connect: connection refused"},
                 answer->user);
    free(answer);
}

static void send_reset(kc__http_client *client, const kc__http_client_request *request,
                       kc__loop *loop, kc__http_client_done_fn *done, void *user)
{
    (void)client, (void)request;
    reset_answer *answer = kc_new(reset_answer);
    *answer = (reset_answer){.task.run = answer_reset, .done = done, .user = user};
    kc__loop_post(loop, &answer->task);
}

static void reset_connection_is_followed_by_another_attempt(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(200, 0);
    atomic_store(&resets, 0);
    s->opts = (kc__http_post_opts){.backoff = -1, .send = send_reset};
    post(s, 0);
    assert_int_equal(s->final, 0);
    assert_int_equal(atomic_load(&resets), 2);
}

static void pauses_grow_from_the_backoff(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(429, 100);
    kc_rand rand;
    kc_rand_seed(&rand, 7);
    const int64_t began = kc_clock_now(kc_clock_real());
    s->opts = (kc__http_post_opts){.backoff = 20 * KC_MILLISECOND, .rand = &rand};
    post(s, 0);
    /* 20, 30, 45 and 67.5 ms; longer by up to a fifth. */
    assert_true(kc_clock_now(kc_clock_real()) - began >= 162 * KC_MILLISECOND);
    assert_int_equal(atomic_load(&s->requests), 5);
}

static void url_gets_the_timeout_as_a_parameter(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    assert_string_equal(kc__http_url_with_timeout("https://h/x", 30 * KC_SECOND, &arena),
                        "https://h/x?timeout=30s");
    assert_string_equal(kc__http_url_with_timeout("https://h?a=b", 1500 * KC_MILLISECOND, &arena),
                        "https://h?a=b&timeout=1.5s");
}

TESTS(url_gets_the_timeout_as_a_parameter, request_to_overloaded_server_is_retried,
      other_failures_are_final, fifth_attempt_is_the_last, no_attempt_begins_after_the_deadline,
      reset_connection_is_followed_by_another_attempt, pauses_grow_from_the_backoff)
