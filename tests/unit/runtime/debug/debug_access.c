/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/debug/debug_access.h"

#include "kc/http_server.h"
#include "kc/kubeconfig.h"
#include "runtime/debug/debug_review.h"
#include "runtime/debug/debug_server.h"
#include "testing.h"

#include "kc/view.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- an API server that reviews ---- */

typedef struct stage {
    kc_http_server *api;
    kc_client *client;
    kc__debug_server *site;
    _Atomic int reviews, stalled;
    _Atomic bool stall, absent, broken;
    char subject[1024]; /* The last SubjectAccessReview. */
} stage;

static void answer_token(kc_http_call *call)
{
    const kc_str body = kc_http_request_body(call);
    if (!kc_str_contains(body, KC_STR("\"token\":\"good\"")) &&
        !kc_str_contains(body, KC_STR("\"token\":\"guest\"")))
        kc_http_response_send(call, 201, "application/json", KC_STR("{\"status\":{}}"));
    else
        kc_http_response_send(
            call, 201, "application/json",
            kc_str_contains(body, KC_STR("good"))
                ? KC_STR("{\"status\":{\"authenticated\":true,\"user\":{\"username\":"
                         "\"prom\",\"uid\":\"7\",\"groups\":[\"a\",\"b\"],\"extra\":{"
                         "\"k\":[\"v\"]}}}}")
                : KC_STR("{\"status\":{\"authenticated\":true,\"user\":{\"username\":"
                         "\"guest\"}}}"));
}

static void answer_access(stage *s, kc_http_call *call)
{
    const kc_str body = kc_http_request_body(call);
    snprintf(s->subject, sizeof(s->subject), "%.*s", KC_ARG(body));
    kc_http_response_send(call, 201, "application/json",
                          kc_str_contains(body, KC_STR("\"user\":\"prom\""))
                              ? KC_STR("{\"status\":{\"allowed\":true}}")
                              : KC_STR("{\"status\":{\"allowed\":false}}"));
}

static void api_handle(kc_http_call *call, void *user)
{
    stage *s = user;
    s->reviews++;
    if (s->stall) {
        s->stalled++;
        while (s->stall && !kc_http_request_wait_closed(
                               call, kc_clock_deadline(kc_clock_real(), KC_MILLISECOND)))
            ;
    }
    if (s->absent)
        kc_http_response_send(call, 404, "text/plain", KC_STR("404 page not found\n"));
    else if (s->broken)
        kc_http_response_send(
            call, 403, "application/json",
            KC_STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
                   "\"reason\":\"Forbidden\",\"code\":403}"));
    else if (kc_str_ends(kc_http_request_path(call), KC_STR("/tokenreviews")))
        answer_token(call);
    else
        answer_access(s, call);
}

/* ---- fixture: debug server with a page ---- */

static void write_page(kc_buf *out, void *user)
{
    kc_buf_puts(out, user);
}

static int passes(void *user, kc_error *err)
{
    (void)user;
    (void)err;
    return 0;
}

static stage *stage_start(bool no_local)
{
    kc_scoped(kc_error) err = {0};
    stage *s = kc_new(stage);
    s->api = kc_http_server_start(
        &(kc_http_server_opts){.address = "127.0.0.1:0", .handle = api_handle, .user = s}, &err);
    assert_non_null(s->api);
    kc_autofree char *url = kc_asprintf("http://127.0.0.1:%d", kc_http_server_port(s->api));
    kc_auto(kc_config) *config = kc_config_for_url(url);
    s->client = kc_client_new(&(kc_client_opts){.config = config}, &err);
    assert_non_null(s->client);
    s->site = kc__debug_server_new();
    kc__debug_server_add_page(s->site, "/metrics", "text/plain", write_page,
                              (void *)"secret figures", NULL);
    kc__debug_server_add_check(s->site, "/healthz", "ping", passes, NULL, NULL);
    if (kc__debug_server_start(s->site,
                               &(kc__debug_server_opts){.address = "127.0.0.1:0",
                                                        .client = s->client,
                                                        .no_local_trust = no_local,
                                                        .clock = kc_clock_real()},
                               &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return s;
}

static void stage_free(stage *s)
{
    if (!s)
        return;
    s->stall = false;
    kc__debug_server_free(s->site);
    kc_client_unref(s->client);
    kc_http_server_stop(s->api);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

static int connect_to(const stage *s)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)kc__debug_server_port(s->site)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static void request(int fd, const char *path, const char *fields)
{
    dprintf(fd, "GET %s HTTP/1.1\r\nHost: localhost\r\n%sConnection: close\r\n\r\n", path, fields);
}

static int status_of(int fd, bool *ret_secret)
{
    kc_scoped(kc_buf) text = {0};
    char chunk[1000];
    for (ssize_t n; (n = read(fd, chunk, sizeof(chunk))) > 0;)
        kc_buf_append(&text, kc_str_of(chunk, (size_t)n));
    close(fd);
    const bool secret = strstr(kc_buf_cstr(&text), "secret figures") != NULL;
    if (ret_secret)
        *ret_secret = secret;
    return text.n > 12 ? atoi(text.p + 9) : 0;
}

static int get(const stage *s, const char *path, const char *fields)
{
    bool secret;
    const int fd = connect_to(s);
    request(fd, path, fields);
    const int status = status_of(fd, &secret);
    assert_int_equal(secret, status == 200 && !strcmp(path, "/metrics"));
    return status;
}

#define BEARER(token) "Authorization: Bearer " token "\r\n"

/* ---- tests ---- */

static void loopback_client_of_own_user_reads_pages_without_token(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(false);
    assert_int_equal(get(s, "/metrics", ""), 200);
    assert_int_equal(get(s, "/metrics", "X-Forwarded-For: 192.0.2.1\r\n"), 401);
    assert_int_equal(get(s, "/metrics", "Origin: https://evil.example\r\n"), 401);
    assert_int_equal(get(s, "/metrics", "Authorization: Basic eA==\r\n"), 401);
    assert_int_equal(s->reviews, 0);
}

static void foreign_host_is_unauthorized(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(false);
    int fd = connect_to(s);
    dprintf(fd, "GET /metrics HTTP/1.1\r\nHost: rebound.example\r\nConnection: close\r\n\r\n");
    assert_int_equal(status_of(fd, NULL), 401);
    fd = connect_to(s);
    dprintf(fd, "GET /metrics HTTP/1.0\r\n\r\n");
    assert_int_equal(status_of(fd, NULL), 401);
}

static void health_is_open_and_other_pages_need_a_token_without_local_trust(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(true);
    assert_int_equal(get(s, "/healthz", ""), 200);
    assert_int_equal(get(s, "/healthz/ping", ""), 200);
    assert_int_equal(get(s, "/metrics", ""), 401);
    assert_int_equal(get(s, "/elsewhere", ""), 404);
}

static void token_is_reviewed_and_the_result_cached(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(true);
    assert_int_equal(get(s, "/metrics", BEARER("good")), 200);
    assert_string_equal(
        s->subject,
        "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview\",\"spec\":{"
        "\"nonResourceAttributes\":{\"path\":\"/metrics\",\"verb\":\"get\"},\"user\":\"prom\","
        "\"uid\":\"7\",\"groups\":[\"a\",\"b\"],\"extra\":{\"k\":[\"v\"]}}}");
    assert_int_equal(s->reviews, 2);
    assert_int_equal(get(s, "/metrics", BEARER("good")), 200);
    assert_int_equal(s->reviews, 2);
}

static void unknown_token_is_unauthorized_and_user_without_access_forbidden(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(false);
    assert_int_equal(get(s, "/metrics", BEARER("bad")), 401);
    assert_int_equal(get(s, "/metrics", BEARER("guest")), 403);
}

static void token_is_unauthorized_when_server_has_no_reviews(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(false);
    s->absent = true;
    assert_int_equal(get(s, "/metrics", BEARER("good")), 401);
}

/* Our own lack of rights is not the client's, and is not cached. */
static void failed_review_is_an_error_and_not_cached(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(false);
    s->broken = true;
    assert_int_equal(get(s, "/metrics", BEARER("good")), 500);
    s->broken = false;
    assert_int_equal(get(s, "/metrics", BEARER("good")), 200);
}

/* How many of the connections have something to read. */
static int n_readable(const int *fds, int n)
{
    int readable = 0;
    for (int i = 0; i < n; i++)
        readable += poll(&(struct pollfd){.fd = fds[i], .events = POLLIN}, 1, 0) == 1;
    return readable;
}

static void waiting_reviews_are_limited(void **state)
{
    (void)state;
    enum { MANY = 20, ACCEPTED = 17 }; /* One under way, sixteen waiting. */
    kc_auto(stage) *s = stage_start(false);
    int fds[MANY], refused = 0;
    s->stall = true;
    for (int i = 0; i < MANY; i++) {
        char field[64];
        snprintf(field, sizeof(field), "Authorization: Bearer t%d\r\n", i);
        fds[i] = connect_to(s);
        request(fds[i], "/metrics", field);
        while (i == 0 && !s->stalled)
            kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
    }
    assert_int_equal(get(s, "/healthz", ""), 200);
    for (int i = 0; i < 60000 && n_readable(fds, MANY) < MANY - ACCEPTED; i++)
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
    s->stall = false;
    for (int i = 0; i < MANY; i++)
        refused += status_of(fds[i], NULL) == 429;
    assert_int_equal(refused, MANY - ACCEPTED);
}

static void stop_ends_pending_reviews(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(false);
    s->stall = true;
    const int fd = connect_to(s);
    request(fd, "/metrics", BEARER("good"));
    while (!s->stalled)
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
    kc__debug_server_stop(s->site);
    assert_int_equal(status_of(fd, NULL), 500);
}

TESTS(loopback_client_of_own_user_reads_pages_without_token, foreign_host_is_unauthorized,
      health_is_open_and_other_pages_need_a_token_without_local_trust,
      token_is_reviewed_and_the_result_cached,
      unknown_token_is_unauthorized_and_user_without_access_forbidden,
      token_is_unauthorized_when_server_has_no_reviews, failed_review_is_an_error_and_not_cached,
      waiting_reviews_are_limited, stop_ends_pending_reviews)
