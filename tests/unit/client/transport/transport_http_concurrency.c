/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of many threads over one transport: none is lost, and no resource leaks. */
#include "transport_testing.h"

#include <dirent.h>

#define MAPS "/api/v1/namespaces/default/configmaps"
enum { THREADS = 16 };

typedef struct thread_group {
    kc_transport *t;
    kc_cancel *cancel;
    int rounds;
    void (*work)(struct thread_group *thread_group, int who, int round);
    _Atomic int next;
} thread_group;

static void work_all(void *user)
{
    thread_group *c = user;
    const int who = atomic_fetch_add(&c->next, 1);
    for (int i = 0; i < c->rounds; i++)
        c->work(c, who, i);
}

static void thread_group_run(thread_group *c, size_t n)
{
    kc_thread *threads[THREADS];
    for (size_t i = 0; i < n; i++)
        threads[i] = kc_thread_start("worker", work_all, c, NULL);
    for (size_t i = 0; i < n; i++)
        kc_thread_join(threads[i]);
}

static size_t open_files(void)
{
    size_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* ---- actions ---- */

/* A thread cannot fail a test; it can end the program, and say why. */
static void wrong(const char *what, int status, const kc_error *err)
{
    fprintf(stderr, "%s: %d %s\n", what, status, kc_error_text(err));
    abort();
}

static void expect(thread_group *c, const char *method, const char *target, const char *body,
                   int expected, kc_buf *out)
{
    kc_scoped(kc_error) err = {0};
    const int status = request(c->t, method, target, body, out, &err);
    if (status != expected)
        wrong(target, status, &err);
}

static void get_version(thread_group *c, int who, int round)
{
    kc_scoped(kc_buf) out = {0};
    (void)who, (void)round;
    expect(c, "GET", "/version", NULL, 200, &out);
}

/* An object of its own comes, is listed among the others, and goes. */
static void make_requests(thread_group *c, int who, int round)
{
    char target[128], body[256];
    kc_scoped(kc_buf) out = {0};
    snprintf(target, sizeof(target), MAPS "/m%d-%d", who, round);
    snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"m%d-%d\"},\"data\":{\"k\":\"%d\"}}",
             who, round, who);
    expect(c, "POST", MAPS, body, 201, &out);
    expect(c, "GET", MAPS "?limit=500", NULL, 200, &out);
    expect(c, "GET", target, NULL, 200, &out);
    expect(c, "DELETE", target, NULL, 200, &out);
}

/* Leaves at a different moment each time; whatever comes is right. */
static void leave_early(thread_group *c, int who, int round)
{
    char byte;
    kc_scoped(kc_error) err = {0};
    const kc_http_request ask = {
        .method = "GET",
        .target = round % 2 ? KC_STR(MAPS "?watch=1") : KC_STR("/openapi/v2"),
        .deadline =
            kc_clock_deadline(kc_clock_real(), (who * 37 + round * 101) % 3000 * KC_MICROSECOND),
        .cancel = c->cancel,
    };
    kc_auto(kc_http_response) *r = kc_transport_open(c->t, &ask, &err);
    if (!r && err.reason != KC_TIMEOUT)
        wrong("open", 0, &err);
    if (r && kc_http_response_read(r, &byte, 1, &err) < 0 && err.reason != KC_TIMEOUT)
        wrong("read", r->status, &err);
}

/* The server is unreachable or untrusted: each request fails. */
static void expect_connection_error(thread_group *c, int who, int round)
{
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    (void)who, (void)round;
    const int status = request(c->t, "GET", "/version", NULL, &out, &err);
    if (status >= 0 || err.reason != KC_SERVICE_UNAVAILABLE || err.code != 0)
        wrong("nobody", status, &err);
}

/* A list that says nothing of being one, so that it shares a connection with others. */
static void read_long(thread_group *c, int who, int round)
{
    kc_scoped(kc_buf) out = {0};
    (void)who, (void)round;
    expect(c, "GET", MAPS, NULL, 200, &out);
    if (out.n < 24 * 200000 || !kc_str_ends(kc_str_trim(kc_buf_str(&out)), KC_STR("}")))
        wrong("a list that is not whole", (int)out.n, NULL);
}

/* ---- tests ---- */

static int connections_of(kc_transport *t)
{
    kc_scoped(kc_buf) out = {0};
    assert_int_equal(request(t, "GET", "/metrics", NULL, &out, NULL), 200);
    const char *line = strstr(kc_buf_cstr(&out), "\nhttp_server_connections ");
    return line ? atoi(line + strlen("\nhttp_server_connections ")) : -1;
}

static void tls_requests_share_a_connection(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_auto(stage) *s = stage_start(&(stage_opts){.metrics = metrics});
    const kc_config config = {.server = s->tls_url, .ca_file = s->ca_file};
    kc_auto(kc_transport) *t = transport_of(&config);
    thread_group c = {.t = t, .rounds = 1, .work = get_version};
    /* Without credentials a connection has eight streams. curl opens more before the server's
     * SETTINGS arrive, and moves each refused one to a connection of its own: the first request
     * waits for them. */
    thread_group_run(&c, 1);
    c.rounds = 80;
    thread_group_run(&c, 8);
    assert_int_equal(connections_of(t), 1);
}

static void ten_thousand_requests_leak_no_descriptors(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *t = transport_to(s->plain_url);
    thread_group c = {.t = t, .rounds = 10, .work = get_version};
    thread_group_run(&c, 4);
    const size_t files = open_files();
    c.rounds = 2500;
    thread_group_run(&c, 4);
    assert_true(open_files() <= files + 8);
}

static void run_mixed_requests(const char *url, const char *ca)
{
    const kc_config config = {.server = url, .ca_file = ca};
    kc_auto(kc_transport) *t = transport_of(&config);
    thread_group c = {.t = t, .rounds = 10, .work = make_requests};
    thread_group_run(&c, THREADS);
}

static void threads_use_the_transport_concurrently(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    run_mixed_requests(s->plain_url, NULL);
    run_mixed_requests(s->tls_url, s->ca_file);
}

static void cancelled_requests_do_not_affect_others(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    const kc_config config = {.server = s->tls_url, .ca_file = s->ca_file};
    kc_auto(kc_transport) *t = transport_of(&config);
    kc_auto(kc_cancel) *cancel = kc_cancel_new(NULL);
    thread_group c = {.t = t, .cancel = cancel, .rounds = 20, .work = leave_early};
    thread_group_run(&c, 8);
    c = (thread_group){.t = t, .rounds = 20, .work = get_version};
    thread_group_run(&c, 4);
}

static void http1_can_be_forced(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_auto(stage) *s = stage_start(&(stage_opts){.metrics = metrics});
    const kc_config config = {.server = s->tls_url, .ca_file = s->ca_file};
    kc_auto(kc_transport) *t = kc_transport_http_new(
        &config, &(kc_transport_http_opts){.http1 = true, .max_connections = 3}, NULL);
    thread_group c = {.t = t, .rounds = 20, .work = get_version};
    thread_group_run(&c, THREADS);
    assert_in_range(connections_of(t), 1, 3);
}

static void long_responses_are_complete_over_http2(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    const kc_config config = {.server = s->tls_url, .ca_file = s->ca_file};
    kc_auto(kc_transport) *t = transport_of(&config);
    kc_autofree char *filler = kc_calloc(1, 200001);
    memset(filler, 'x', 200000);
    for (int i = 0; i < 24; i++) {
        kc_autofree char *body =
            kc_asprintf("{\"metadata\":{\"name\":\"m%d\"},\"data\":{\"k\":\"%s\"}}", i, filler);
        assert_int_equal(request_status(t, "POST", MAPS, body), 201);
    }
    thread_group c = {.t = t, .rounds = 4, .work = read_long};
    thread_group_run(&c, 4);
}

static void all_threads_get_the_connection_error(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *untrusted = transport_to(s->tls_url);
    thread_group c = {.t = untrusted, .rounds = 3, .work = expect_connection_error};
    thread_group_run(&c, THREADS);
    const kc_config config = {.server = s->tls_url, .ca_file = s->ca_file};
    kc_auto(kc_transport) *t = transport_of(&config);
    kc__apiserver_stop(kc_take(s->server), 0);
    c = (thread_group){.t = t, .rounds = 3, .work = expect_connection_error};
    thread_group_run(&c, THREADS);
}

static void restarted_server_is_reconnected(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    const kc_config config = {.server = s->tls_url, .ca_file = s->ca_file};
    kc_auto(kc_transport) *t = transport_of(&config);
    thread_group c = {.t = t, .rounds = 5, .work = get_version};
    thread_group_run(&c, 4);
    stage_restart(s, KC_SECOND);
    thread_group_run(&c, 4);
    /* Without saying goodbye. */
    stage_restart(s, 0);
    thread_group_run(&c, 4);
}

TESTS(tls_requests_share_a_connection, ten_thousand_requests_leak_no_descriptors,
      threads_use_the_transport_concurrently, cancelled_requests_do_not_affect_others,
      http1_can_be_forced, long_responses_are_complete_over_http2,
      all_threads_get_the_connection_error, restarted_server_is_reconnected)
