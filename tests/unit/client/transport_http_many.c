/* SPDX-License-Identifier: Apache-2.0 */
/* Many requests of many threads over one transport: none is lost, nothing is left over. */
#include "transport_testing.h"

#include <dirent.h>

#define MAPS "/api/v1/namespaces/default/configmaps"
enum { THREADS = 16 };

typedef struct crew {
    kc_transport *t;
    kc_cancel *cancel;
    int rounds;
    void (*work)(struct crew *crew, int who, int round);
    _Atomic int next;
} crew;

static void work_all(void *user)
{
    crew *c = user;
    const int who = atomic_fetch_add(&c->next, 1);
    for (int i = 0; i < c->rounds; i++)
        c->work(c, who, i);
}

static void crew_run(crew *c, size_t n)
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

/* ---- what they do ---- */

static void get_version(crew *c, int who, int round)
{
    kc_scoped(kc_buf) out = {0};
    (void)who, (void)round;
    if (request(c->t, "GET", "/version", NULL, &out, NULL) != 200 || out.n < 50)
        abort();
}

/* An object of its own comes, is listed among the others, and goes. */
static void live(crew *c, int who, int round)
{
    char target[128], body[256];
    kc_scoped(kc_buf) out = {0};
    snprintf(target, sizeof(target), MAPS "/m%d-%d", who, round);
    snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"m%d-%d\"},\"data\":{\"k\":\"%d\"}}",
             who, round, who);
    if (request(c->t, "POST", MAPS, body, &out, NULL) != 201)
        abort();
    if (request(c->t, "GET", MAPS "?limit=500", NULL, &out, NULL) != 200)
        abort();
    if (request(c->t, "GET", target, NULL, &out, NULL) != 200)
        abort();
    if (request(c->t, "DELETE", target, NULL, &out, NULL) != 200)
        abort();
}

/* Leaves at a different moment each time; whatever comes is right. */
static void leave_early(crew *c, int who, int round)
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
        abort();
    if (r && kc_http_read(r, &byte, 1, &err) < 0 && err.reason != KC_TIMEOUT)
        abort();
}

/* ---- tests ---- */

static int connections_of(kc_transport *t)
{
    kc_scoped(kc_buf) out = {0};
    assert_int_equal(request(t, "GET", "/metrics", NULL, &out, NULL), 200);
    const char *line = strstr(kc_buf_cstr(&out), "\nhttp_server_connections ");
    return line ? atoi(line + strlen("\nhttp_server_connections ")) : -1;
}

static void requests_over_tls_share_a_connection(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_auto(stage) *s = stage_start(&(stage_opts){.metrics = metrics});
    const kc_config config = {.server = s->tls_url, .ca_file = s->ca_file};
    kc_auto(kc_transport) *t = transport_of(&config);
    crew c = {.t = t, .rounds = 40, .work = get_version};
    crew_run(&c, THREADS);
    assert_int_equal(connections_of(t), 1);
}

static void ten_thousand_requests_leave_nothing_behind(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *t = transport_to(s->plain_url);
    crew c = {.t = t, .rounds = 10, .work = get_version};
    crew_run(&c, 4);
    const size_t files = open_files();
    c.rounds = 2500;
    crew_run(&c, 4);
    assert_true(open_files() <= files + 8);
}

static void threads_live_their_lives(const char *url, const char *ca)
{
    const kc_config config = {.server = url, .ca_file = ca};
    kc_auto(kc_transport) *t = transport_of(&config);
    crew c = {.t = t, .rounds = 10, .work = live};
    crew_run(&c, THREADS);
}

static void threads_do_not_disturb_each_other(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    threads_live_their_lives(s->plain_url, NULL);
    threads_live_their_lives(s->tls_url, s->ca_file);
}

static void those_who_leave_early_disturb_nobody(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    const kc_config config = {.server = s->tls_url, .ca_file = s->ca_file};
    kc_auto(kc_transport) *t = transport_of(&config);
    kc_auto(kc_cancel) *cancel = kc_cancel_new(NULL);
    crew c = {.t = t, .cancel = cancel, .rounds = 20, .work = leave_early};
    crew_run(&c, 8);
    c = (crew){.t = t, .rounds = 20, .work = get_version};
    crew_run(&c, 4);
}

static void http1_can_be_asked_for(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_auto(stage) *s = stage_start(&(stage_opts){.metrics = metrics});
    const kc_config config = {.server = s->tls_url, .ca_file = s->ca_file};
    kc_auto(kc_transport) *t = kc_transport_http_new(
        &config, &(kc_transport_http_opts){.http1 = true, .max_connections = 3}, NULL);
    crew c = {.t = t, .rounds = 20, .work = get_version};
    crew_run(&c, THREADS);
    assert_in_range(connections_of(t), 1, 3);
}

TESTS(requests_over_tls_share_a_connection, ten_thousand_requests_leave_nothing_behind,
      threads_do_not_disturb_each_other, those_who_leave_early_disturb_nobody,
      http1_can_be_asked_for)
