/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP transport with a scripted server that violates HTTP. */
#include "transport_testing.h"

#include "client/transport/transport_http_internal.h"

#define OK(text) "HTTP/1.1 200 OK\r\nContent-Length: " text

static int get(kc_transport *t, kc_buf *out, kc_error *err)
{
    return request(t, "GET", "/x", NULL, out, err);
}

/* The request fails, in the terms of the contract. */
static void assert_fails(raw_serve *serve, const char *method, const char *part, int code)
{
    kc_auto(raw_server) *s = raw_start(serve, NULL);
    kc_auto(kc_transport) *t = transport_to(s->url);
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    const bool has_body = !strcmp(method, "POST");
    assert_int_equal(request(t, method, "/x", has_body ? "{}" : NULL, &out, &err),
                     -KC_SERVICE_UNAVAILABLE);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, part);
    assert_int_equal(err.code, code);
}

/* ---- servers ---- */

/* Says one text after each request. */
#define SAYS(name, text)                                \
    static void name(raw_server *s, client *c, int nth) \
    {                                                   \
        kc_scoped(kc_buf) in = {0};                     \
        (void)nth;                                      \
        while (raw_next(s, c, &in))                     \
            client_send(c, text);                       \
    }
/* The same, and closes. */
#define SAYS_ONCE(name, text)                           \
    static void name(raw_server *s, client *c, int nth) \
    {                                                   \
        kc_scoped(kc_buf) in = {0};                     \
        (void)nth;                                      \
        raw_next(s, c, &in);                            \
        client_send(c, text);                           \
    }

SAYS(sends_ok, OK("2\r\n\r\nok"))
SAYS_ONCE(sends_nothing, "")
SAYS_ONCE(sends_garbage, "\x16\x03\x01 what is this\r\n\r\n")
SAYS_ONCE(sends_half_a_head, "HTTP/1.1 200 OK\r\nContent-Le")
SAYS_ONCE(sends_half_a_body, OK("100\r\n\r\nhalf"))
SAYS_ONCE(sends_broken_chunks, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
SAYS_ONCE(sends_half_a_chunk, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\nabc")
SAYS_ONCE(sends_until_close, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it")
SAYS(sends_continue_first,
     "HTTP/1.1 100 Continue\r\nX-First: 1\r\n\r\nHTTP/1.1 201 Created\r\nX-Second: 2\r\n"
     "Content-Length: 2\r\n\r\nok")
SAYS(sends_trailers, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
                     "X-Trailer: 1\r\n\r\n")
SAYS(sends_redirect,
     "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")

static void closes_at_once(raw_server *s, client *c, int nth)
{
    (void)s, (void)c, (void)nth;
}

static void sends_huge_head(raw_server *s, client *c, int nth)
{
    kc_scoped(kc_buf) in = {0};
    (void)nth;
    raw_next(s, c, &in);
    client_send(c, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 20000; i++)
        client_send(c, "X-Field: 0123456789012345678901234567890123456789\r\n");
    client_send(c, "Content-Length: 0\r\n\r\n");
}

static void sends_nothing_until_released(raw_server *s, client *c, int nth)
{
    kc_scoped(kc_buf) in = {0};
    (void)nth;
    if (raw_next(s, c, &in))
        raw_hold(s);
}

/* A head, some body, and then silence. */
static void sends_part_and_holds(raw_server *s, client *c, int nth)
{
    kc_scoped(kc_buf) in = {0};
    (void)nth;
    if (!raw_next(s, c, &in))
        return;
    client_send(c, OK("10\r\n\r\nhello"));
    raw_hold(s);
}

/* Answers the first request of a connection; at the second it goes away. */
static void closes_at_second_request(raw_server *s, client *c, int nth)
{
    kc_scoped(kc_buf) in = {0};
    (void)nth;
    if (!raw_next(s, c, &in))
        return;
    client_send(c, OK("2\r\n\r\nok"));
    raw_next(s, c, &in);
}

/* ---- tests ---- */

static void refused_connection_means_not_sent(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    kc_auto(raw_server) *s = raw_start(sends_ok, NULL);
    kc_autofree char *url = kc_strdup(s->url);
    raw_stop(kc_take(s));
    kc_auto(kc_transport) *t = transport_to(url);
    assert_int_equal(get(t, &out, &err), -KC_SERVICE_UNAVAILABLE);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "onnect");
    assert_int_equal(err.code, 0);
}

static void unknown_host_means_not_sent(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    unsetenv("http_proxy"); /* A proxy would look it up. */
    kc_auto(kc_transport) *t = transport_to("http://no-such-host.invalid:1");
    assert_int_equal(get(t, &out, &err), -KC_SERVICE_UNAVAILABLE);
    /* "Could not resolve host", or "Resolving timed out" where no name server answers. */
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "esolv");
    assert_int_equal(err.code, 0);
}

static void lost_response_may_have_been_executed(void **state)
{
    (void)state;
    assert_fails(sends_nothing, "POST", "", 503);
    assert_fails(sends_nothing, "GET", "", 503);
    assert_fails(sends_half_a_head, "POST", "", 503);
    assert_fails(sends_half_a_body, "POST", "", 503);
    assert_fails(sends_garbage, "GET", "", 503);
    assert_fails(sends_broken_chunks, "GET", "", 503);
    assert_fails(sends_half_a_chunk, "GET", "", 503);
    assert_fails(sends_huge_head, "GET", "", 503);
}

static void connection_closed_at_once_is_an_error(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(closes_at_once, NULL);
    kc_auto(kc_transport) *t = transport_to(s->url);
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    assert_int_equal(get(t, &out, &err), -KC_SERVICE_UNAVAILABLE);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "");
}

static void body_may_end_with_its_connection(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(sends_until_close, NULL);
    kc_auto(kc_transport) *t = transport_to(s->url);
    kc_scoped(kc_buf) out = {0};
    assert_int_equal(get(t, &out, NULL), 200);
    assert_string_equal(kc_buf_cstr(&out), "all of it");
}

static void interim_and_surplus_bytes_are_ignored(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(sends_continue_first, NULL);
    kc_auto(kc_transport) *t = transport_to(s->url);
    kc_auto(kc_http_response) *r =
        kc_transport_open(t, &(kc_http_request){.method = "GET", .target = KC_STR("/x")}, NULL);
    assert_int_equal(r->status, 201);
    assert_str(kc_http_response_field(r, KC_STR("x-first")), "");
    assert_str(kc_http_response_field(r, KC_STR("x-second")), "2");
    kc_auto(raw_server) *other = raw_start(sends_trailers, NULL);
    kc_auto(kc_transport) *u = transport_to(other->url);
    kc_scoped(kc_buf) out = {0};
    assert_int_equal(get(u, &out, NULL), 200);
    assert_string_equal(kc_buf_cstr(&out), "ok");
}

static void redirect_is_returned(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(sends_redirect, NULL);
    kc_auto(kc_transport) *t = transport_to(s->url);
    assert_int_equal(GET(t, "/x"), 302);
}

static void connections_are_kept_alive(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(sends_ok, NULL);
    kc_auto(kc_transport) *t = transport_to(s->url);
    for (int i = 0; i < 100; i++)
        assert_int_equal(GET(t, "/x"), 200);
    assert_int_equal(s->connections, 1);
}

static void only_safe_requests_are_resent_automatically(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(closes_at_second_request, NULL);
    kc_auto(kc_transport) *t = transport_to(s->url);
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    assert_int_equal(GET(t, "/x"), 200);
    assert_int_equal(GET(t, "/x"), 200);
    assert_int_equal(raw_requests(s), 3);
    assert_int_equal(request(t, "POST", "/x", "{}", &out, &err), -KC_SERVICE_UNAVAILABLE);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "may have processed the request");
    assert_int_equal(err.code, 503);
    assert_int_equal(raw_requests(s), 4);
}

/* ---- time ---- */

static kc_http_request with_deadline(int64_t ns)
{
    return (kc_http_request){.method = "GET",
                             .target = KC_STR("/x"),
                             .deadline = kc_clock_deadline(kc_clock_real(), ns)};
}

static void deadline_ends_waiting_for_the_head(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(sends_nothing_until_released, NULL);
    kc_auto(kc_transport) *t = transport_to(s->url);
    kc_scoped(kc_error) err = {0};
    const kc_http_request late = with_deadline(30 * KC_MILLISECOND);
    assert_null(kc_transport_open(t, &late, &err));
    assert_error(&err, KC_TIMEOUT, "deadline");
}

static void deadline_ends_reading(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(sends_part_and_holds, NULL);
    kc_auto(kc_transport) *t = transport_to(s->url);
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    const kc_http_request late = with_deadline(KC_SECOND);
    kc_auto(kc_http_response) *r = kc_transport_open(t, &late, &err);
    assert_non_null(r);
    assert_true(read_all(r, &out, &err) < 0);
    assert_string_equal(kc_buf_cstr(&out), "hello");
    assert_error(&err, KC_TIMEOUT, "deadline");
}

typedef struct canceller {
    raw_server *server;
    kc_cancel *cancel;
} canceller;

static void cancel_at_request(void *user)
{
    canceller *c = user;
    raw_await_requests(c->server, 1);
    kc_cancel_fire(c->cancel);
}

static void cancellation_ends_waiting_for_the_head(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(sends_nothing_until_released, NULL);
    kc_auto(kc_transport) *t = transport_to(s->url);
    kc_auto(kc_cancel) *cancel = kc_cancel_new(NULL);
    kc_scoped(kc_error) err = {0};
    canceller c = {s, cancel};
    const kc_http_request ask = {.method = "GET", .target = KC_STR("/x"), .cancel = cancel};
    kc_thread *thread = kc_thread_start("cancel", cancel_at_request, &c, NULL);
    assert_null(kc_transport_open(t, &ask, &err));
    assert_error(&err, KC_TIMEOUT, "cancelled");
    kc_thread_join(thread);
    /* One that was fired before sends nothing. */
    assert_null(kc_transport_open(t, &ask, &err));
    assert_error(&err, KC_TIMEOUT, "cancelled");
    assert_int_equal(raw_requests(s), 1);
}

static void cancellation_ends_reading(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(sends_part_and_holds, NULL);
    kc_auto(kc_transport) *t = transport_to(s->url);
    kc_auto(kc_cancel) *cancel = kc_cancel_new(NULL);
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_http_response) *r = kc_transport_open(
        t, &(kc_http_request){.method = "GET", .target = KC_STR("/x"), .cancel = cancel}, &err);
    canceller c = {s, cancel};
    kc_thread *thread = kc_thread_start("cancel", cancel_at_request, &c, NULL);
    assert_true(read_all(r, &out, &err) < 0);
    assert_error(&err, KC_TIMEOUT, "cancelled");
    kc_thread_join(thread);
}

static void server_that_does_not_accept_times_out(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t length = sizeof(at);
    /* A queue of one, which is full: further connections get no answer. */
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(fd, 0), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &length), 0);
    int fillers[4];
    for (size_t i = 0; i < KC_COUNT(fillers); i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        (void)!connect(fillers[i], (struct sockaddr *)&at, sizeof(at));
    }
    kc_autofree char *url = kc_asprintf("http://127.0.0.1:%d", ntohs(at.sin_port));
    kc_auto(kc_config) *config = kc_config_for_url(url);
    kc_auto(kc_transport) *t = kc_transport_http_new(
        config, &(kc_transport_http_opts){.connect_timeout = 100 * KC_MILLISECOND}, NULL);
    assert_int_equal(get(t, &out, &err), -KC_SERVICE_UNAVAILABLE);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "");
    assert_int_equal(err.code, 0);
    for (size_t i = 0; i < KC_COUNT(fillers); i++)
        close(fillers[i]);
    close(fd);
}

/* ---- back-pressure ---- */

enum { MANY = 64 << 20 };

/* Counts in *user what it could say. */
static void sends_large_body(raw_server *s, client *c, int nth)
{
    _Atomic size_t *sent_bytes = s->user;
    static char chunk[65536];
    kc_scoped(kc_buf) in = {0};
    (void)nth;
    if (!raw_next(s, c, &in))
        return;
    client_send(c, "HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n");
    for (size_t n = 0; n < MANY; n += sizeof(chunk)) {
        size_t left = sizeof(chunk);
        while (left) {
            const ssize_t sent = send(c->fd, chunk, left, MSG_NOSIGNAL);
            if (sent <= 0)
                return;
            left -= (size_t)sent;
            atomic_fetch_add(sent_bytes, (size_t)sent);
        }
    }
}

static void unread_body_stops_its_sender(void **state)
{
    (void)state;
    _Atomic size_t sent_bytes = 0;
    kc_auto(raw_server) *s = raw_start(sends_large_body, &sent_bytes);
    kc_auto(kc_transport) *t = transport_to(s->url);
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_http_response) *r =
        kc_transport_open(t, &(kc_http_request){.method = "GET", .target = KC_STR("/x")}, NULL);
    /* Until it stands still. */
    for (size_t before = 0, now; (now = atomic_load(&sent_bytes)) != before || !now; before = now)
        kc_clock_sleep(kc_clock_real(), 100 * KC_MILLISECOND);
    assert_true(atomic_load(&sent_bytes) < MANY / 2);
    assert_int_equal(read_all(r, &out, NULL), 0);
    assert_int_equal(out.n, MANY);
}

static void unread_body_can_be_closed(void **state)
{
    (void)state;
    _Atomic size_t sent_bytes = 0;
    kc_auto(raw_server) *s = raw_start(sends_large_body, &sent_bytes);
    kc_auto(kc_transport) *t = transport_to(s->url);
    for (int i = 0; i < 10; i++) {
        char byte;
        kc_auto(kc_http_response) *r =
            kc_transport_open(t, &(kc_http_request){.method = "GET", .target = KC_STR("/x")}, NULL);
        assert_int_equal(kc_http_response_read(r, &byte, 1, NULL), 1);
    }
}

/* ---- requests ---- */

static void echoes(raw_server *s, client *c, int nth)
{
    kc_scoped(kc_buf) in = {0};
    (void)nth;
    for (const char *text; (text = raw_next(s, c, &in));) {
        kc_scoped(kc_buf) answer = {0};
        kc_buf_printf(&answer, OK("%zu\r\n\r\n"), strlen(text));
        kc_buf_puts(&answer, text);
        client_send(c, kc_buf_cstr(&answer));
    }
}

static void requests_have_credentials_and_impersonation(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(echoes, NULL);
    kc_scoped(kc_buf) out = {0};
    const kc_config config = {
        .server = s->url,
        .username = "Aladdin",
        .password = "open sesame",
        .impersonate_user = "jane",
        .impersonate_uid = "7",
        .impersonate_groups = (const char *const[]){"a", "b", NULL},
        .impersonate_extra = (const char *const[]){"example.org/x", "y", NULL},
    };
    kc_auto(kc_transport) *t =
        kc_transport_http_new(&config, &(kc_transport_http_opts){.user_agent = "tester/1.0"}, NULL);
    assert_int_equal(request(t, "PATCH", "/a?b=c%20d", "{\"e\":1}", &out, NULL), 200);
    const char *text = kc_buf_cstr(&out);
    assert_contains(text, "PATCH /a?b=c%20d HTTP/1.1\r\n");
    assert_contains(text, "User-Agent: tester/1.0\r\n");
    assert_contains(text, "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n");
    assert_contains(text, "Impersonate-User: jane\r\n");
    assert_contains(text, "Impersonate-Uid: 7\r\n");
    assert_contains(text, "Impersonate-Group: a\r\n");
    assert_contains(text, "Impersonate-Group: b\r\n");
    assert_contains(text, "Impersonate-Extra-example.org%2Fx: y\r\n");
    assert_contains(text, "Content-Type: application/json\r\n");
    assert_contains(text, "\r\n\r\n{\"e\":1}");
    assert_null(strstr(text, "Accept-Encoding"));
    assert_null(strstr(text, "Expect"));
}

static void headers_of_the_caller_take_precedence(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(echoes, NULL);
    kc_scoped(kc_buf) out = {0};
    const kc_config config = {.server = s->url, .token = "mine", .impersonate_user = "jane"};
    const kc_http_field fields[] = {{KC_STR("authorization"), KC_STR("Bearer other")},
                                    {KC_STR("impersonate-user"), KC_STR("bob")},
                                    {KC_STR("x-empty"), KC_STR("")}};
    kc_auto(kc_transport) *t = transport_of(&config);
    kc_auto(kc_http_response) *r = kc_transport_open(
        t,
        &(kc_http_request){
            .method = "DELETE", .target = KC_STR("/x"), .fields = fields, .n_fields = 3},
        NULL);
    read_all(r, &out, NULL);
    const char *text = kc_buf_cstr(&out);
    assert_contains(text, "DELETE /x HTTP/1.1\r\n");
    assert_contains(text, "authorization: Bearer other\r\n");
    assert_contains(text, "x-empty:");
    assert_null(strstr(text, "mine"));
    assert_null(strstr(text, "jane"));
    assert_null(strstr(text, "Content-Type"));
}

static void user_of_a_request_is_impersonated(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(echoes, NULL);
    kc_scoped(kc_buf) out = {0};
    const kc_config config = {.server = s->url, .impersonate_user = "jane"};
    const kc_client_user bob = {"bob", (const char *const[]){"a", "b", NULL}};
    kc_auto(kc_transport) *t = transport_of(&config);
    kc_auto(kc_http_response) *r = kc_transport_open(
        t, &(kc_http_request){.method = "GET", .target = KC_STR("/x"), .as = &bob}, NULL);
    read_all(r, &out, NULL);
    const char *text = kc_buf_cstr(&out);
    assert_contains(text, "Impersonate-User: bob\r\n");
    assert_contains(text, "Impersonate-Group: a\r\n");
    assert_contains(text, "Impersonate-Group: b\r\n");
    assert_null(strstr(text, "jane"));
}

static void large_body_is_sent_without_expect(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(echoes, NULL);
    kc_auto(kc_transport) *t = transport_to(s->url);
    kc_scoped(kc_buf) out = {0};
    kc_autofree char *body = kc_alloc((3 << 20) + 1);
    memset(body, 'b', 3 << 20);
    body[3 << 20] = '\0';
    assert_int_equal(request(t, "PUT", "/x", body, &out, NULL), 200);
    assert_true(out.n > 3 << 20);
    assert_null(strstr(kc_buf_cstr(&out), "Expect"));
}

static void request_with_line_breaks_is_refused(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(echoes, NULL);
    kc_auto(kc_transport) *t = transport_to(s->url);
    static const char *const targets[] = {"/a b", "/a\r\nX: y", "/a#b", "/\xc3\xa4"};
    for (size_t i = 0; i < KC_COUNT(targets); i++) {
        kc_scoped(kc_error) err = {0};
        kc_http_request r = {.method = "GET", .target = kc_cstr(targets[i])};
        assert_null(kc_transport_open(t, &r, &err));
        assert_error(&err, KC_BAD_REQUEST, "not escaped");
    }
    static const char *const fields[][2] = {{"a b", "c"}, {"", "c"}, {"a", "b\nc"}, {"a:", "b"}};
    for (size_t i = 0; i < KC_COUNT(fields); i++) {
        kc_scoped(kc_error) err = {0};
        const kc_http_field field = {kc_cstr(fields[i][0]), kc_cstr(fields[i][1])};
        kc_http_request r = {
            .method = "GET", .target = KC_STR("/"), .fields = &field, .n_fields = 1};
        assert_null(kc_transport_open(t, &r, &err));
        assert_error(&err, KC_BAD_REQUEST, "field");
    }
    assert_int_equal(raw_requests(s), 0);
    assert_int_equal(GET(t, "/../a/./b"), 200);
}

/* "hello, hello, hello" by gzip. */
static const char zipped[] =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\xd7\x51\xc8\x40\xa2\x00\x9f\xa1\xca\x09\x13\x00\x00\x00";

static void sends_gzip_if_accepted(raw_server *s, client *c, int nth)
{
    kc_scoped(kc_buf) in = {0};
    (void)nth;
    while (raw_next(s, c, &in)) {
        kc_scoped(kc_buf) answer = {0};
        assert_contains(kc_buf_cstr(&in), "Accept-Encoding: gzip\r\n");
        kc_buf_printf(&answer, OK("%zu\r\nContent-Encoding: gzip\r\n\r\n"), sizeof(zipped) - 1);
        kc_buf_append(&answer, kc_str_of(zipped, sizeof(zipped) - 1));
        client_send_bytes(c, kc_buf_str(&answer));
    }
}

static void compressed_responses_are_decompressed(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(sends_gzip_if_accepted, NULL);
    kc_auto(kc_transport) *t = transport_to(s->url);
    kc_scoped(kc_buf) out = {0};
    /* As if the server were far away. */
    ((kc__client_transport_http *)(void *)t)->loopback = false;
    kc_auto(kc_http_response) *r =
        kc_transport_open(t, &(kc_http_request){.method = "GET", .target = KC_STR("/x")}, NULL);
    assert_int_equal(read_all(r, &out, NULL), 0);
    assert_string_equal(kc_buf_cstr(&out), "hello, hello, hello");
    assert_str(kc_http_response_field(r, KC_STR("content-encoding")), "");
    assert_str(kc_http_response_field(r, KC_STR("content-length")), "");
}

static void proxy_is_used_for_the_server(void **state)
{
    (void)state;
    kc_auto(raw_server) *s = raw_start(echoes, NULL);
    kc_scoped(kc_buf) out = {0};
    const kc_config config = {.server = "http://far.invalid:8080", .proxy = s->url};
    kc_auto(kc_transport) *t = transport_of(&config);
    assert_int_equal(get(t, &out, NULL), 200);
    assert_contains(kc_buf_cstr(&out), "GET http://far.invalid:8080/x HTTP/1.1\r\n");
    /* To a server with TLS a proxy is a tunnel; this one is none. */
    const kc_config tls = {.server = "https://far.invalid", .proxy = s->url};
    kc_auto(kc_transport) *u = transport_of(&tls);
    kc_scoped(kc_error) err = {0};
    assert_int_equal(get(u, &out, &err), -KC_SERVICE_UNAVAILABLE);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "");
    assert_int_equal(err.code, 0);
}

TESTS(refused_connection_means_not_sent, unknown_host_means_not_sent,
      lost_response_may_have_been_executed, connection_closed_at_once_is_an_error,
      body_may_end_with_its_connection, interim_and_surplus_bytes_are_ignored, redirect_is_returned,
      connections_are_kept_alive, only_safe_requests_are_resent_automatically,
      deadline_ends_waiting_for_the_head, deadline_ends_reading,
      cancellation_ends_waiting_for_the_head, cancellation_ends_reading,
      server_that_does_not_accept_times_out, unread_body_stops_its_sender,
      unread_body_can_be_closed, requests_have_credentials_and_impersonation,
      headers_of_the_caller_take_precedence, user_of_a_request_is_impersonated,
      large_body_is_sent_without_expect, request_with_line_breaks_is_refused,
      compressed_responses_are_decompressed, proxy_is_used_for_the_server)
