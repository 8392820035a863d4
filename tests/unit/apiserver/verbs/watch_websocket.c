/* SPDX-License-Identifier: Apache-2.0 */
/* Watches over WebSocket, through the whole server and a real socket. */
#include "http_testing.h"

#include "apiserver/apiserver.h"
#include "apiserver/storage/file/file_backend.h"
#include "http/server/websocket.h"

#include <dirent.h>

/* ---- fixture: server in its own directory ---- */

typedef struct stage {
    char folder[32];
    kc__authn *authn;
    kc__apiserver *server;
    int port;
} stage;

/* Creates and deletes an object, and compacts the history. */
static void compact_history(kc__storage *storage)
{
    const kc_str key = KC_STR("/registry/configmaps/default/past");
    const kc__storage_op ops[] = {
        {KC__STORAGE_PUT, key, KC__STORAGE_ABSENT, KC_STR("{}")},
        {KC__STORAGE_DELETE, key, KC__STORAGE_ANY, {0}},
    };
    kc__storage_result results[KC_COUNT(ops)];
    uint64_t revision = 0;
    assert_int_equal(kc__storage_commit(storage, ops, KC_COUNT(ops), results, &revision, NULL), 0);
    assert_int_equal(kc__storage_compact(storage, revision, NULL), 0);
}

static stage *stage_start(const kc__authn_opts *authn)
{
    stage *s = kc_new(stage);
    kc_scoped(kc_error) err = {0};
    strcpy(s->folder, "/tmp/kc-websocket-XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    kc__storage *storage = NULL;
    assert_int_equal(kc__storage_open(&kc__storage_file_backend,
                                      &(kc__storage_opts){.location = s->folder}, &storage, &err),
                     0);
    compact_history(storage);
    s->authn = kc__authn_new(authn, &err);
    s->server = kc__apiserver_start(&(kc__apiserver_opts){.storage = storage,
                                                          .listeners = &(kc__http_listener){0},
                                                          .n_listeners = 1,
                                                          .authn = s->authn},
                                    &err);
    if (!s->server)
        fail_msg("the server did not start: %s", kc_error_text(&err));
    s->port = kc__apiserver_port(s->server, 0);
    return s;
}

/* No authentication and no authorization: all requests are allowed. */
static stage *stage_open(void)
{
    return stage_start(&(kc__authn_opts){0});
}

static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(folder);
}

static void stage_free(stage *s)
{
    if (!s)
        return;
    kc__apiserver_kill(s->server);
    kc__authn_free(s->authn);
    remove_folder(s->folder);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

#define CONFIG_MAPS "/api/v1/namespaces/default/configmaps"
#define HELLO_TO(host)                                                \
    "Host: " host "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define HELLO HELLO_TO("127.0.0.1")

static void create_with(stage *s, const char *name, const char *labels, const char *value)
{
    kc_auto(client) *c = client_connect(s->port);
    kc_scoped(kc_buf) body = {0}, request = {0};
    kc_buf_printf(&body, "{\"metadata\":{\"name\":\"%s\",\"labels\":{%s}},\"data\":{\"k\":\"%s\"}}",
                  name, labels, value);
    kc_buf_printf(&request,
                  "POST " CONFIG_MAPS " HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                  "application/json\r\nContent-Length: %zu\r\n\r\n%s",
                  body.n, kc_buf_cstr(&body));
    client_send(c, kc_buf_cstr(&request));
    client_read_response(c);
    assert_contains(kc_buf_cstr(&c->in), "HTTP/1.1 201 ");
}

static void create(stage *s, const char *name, const char *labels)
{
    create_with(s, name, labels, "");
}

/* ---- a client ---- */

static client *send_request(stage *s, const char *target, const char *fields)
{
    client *c = client_connect(s->port);
    kc_scoped(kc_buf) request = {0};
    kc_buf_printf(&request, "GET %s HTTP/1.1\r\n%s\r\n", target, fields);
    client_send(c, kc_buf_cstr(&request));
    return c;
}

/* Up to the end of the answer's head, which is taken out of what was heard. */
static char *read_head(client *c)
{
    client_expect(c, "\r\n\r\n");
    size_t n = (size_t)(strstr(c->in.p, "\r\n\r\n") - c->in.p) + 4;
    char *head = kc_str_dup(kc_str_of(c->in.p, n));
    memmove(c->in.p, c->in.p + n, c->in.n - n);
    c->in.n -= n;
    return head;
}

static client *watch_with(stage *s, const char *target, const char *fields)
{
    client *c = send_request(s, target, fields);
    kc_autofree char *head = read_head(c);
    assert_contains(head, "HTTP/1.1 101 Switching Protocols\r\n");
    assert_contains(head, "Upgrade: websocket\r\nConnection: Upgrade\r\n");
    assert_contains(head, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n");
    return c;
}

static client *watch(stage *s, const char *target)
{
    return watch_with(s, target, HELLO);
}

static void need(client *c, size_t n)
{
    while (c->in.n < n)
        if (!client_read(c))
            fail_msg("the connection ended in the middle of a frame");
}

/* The next frame; its payload is the caller's to free. */
static char *read_frame(client *c, unsigned *ret_first, size_t *ret_n)
{
    need(c, 2);
    size_t head = 2, n = (unsigned char)c->in.p[1];
    if (n == 126) {
        need(c, head = 4);
        n = (size_t)(unsigned char)c->in.p[2] << 8 | (unsigned char)c->in.p[3];
    } else if (n == 127) {
        need(c, head = 10);
        n = 0;
        for (int i = 2; i < 10; i++)
            n = n << 8 | (unsigned char)c->in.p[i];
    }
    need(c, head + n);
    *ret_first = (unsigned char)c->in.p[0];
    *ret_n = n;
    char *payload = kc_str_dup(kc_str_of(c->in.p + head, n));
    memmove(c->in.p, c->in.p + head + n, c->in.n - head - n);
    c->in.n -= head + n;
    return payload;
}

static char *read_event(client *c)
{
    unsigned first;
    size_t n;
    char *text = read_frame(c, &first, &n);
    assert_int_equal(first, 0x81);
    assert_int_equal(n, strlen(text));
    return text;
}

static void expect_event(client *c, const char *type, const char *name)
{
    kc_autofree char *text = read_event(c);
    kc_auto(kc_object) *event = kc_object_parse(kc_cstr(text), NULL, NULL);
    assert_non_null(event);
    assert_contains(text, type);
    kc_autofree char *part = kc_asprintf("\"name\":\"%s\"", name);
    assert_contains(text, part);
}

/* A close frame, and the end of the connection. */
static void expect_close(client *c, int code)
{
    unsigned first;
    size_t n;
    kc_autofree char *payload = read_frame(c, &first, &n);
    assert_int_equal(first, 0x88);
    assert_int_equal(n, code ? 2 : 0);
    if (code)
        assert_int_equal((unsigned char)payload[0] << 8 | (unsigned char)payload[1], code);
    assert_false(client_read(c));
    assert_false(c->reset);
}

/* One frame, masked with zeros. */
static void send_frame(client *c, unsigned first, kc_str payload)
{
    kc_scoped(kc_buf) out = {0};
    assert_true(payload.n <= 125);
    kc_buf_putc(&out, (char)first);
    kc_buf_putc(&out, (char)(0x80 | payload.n));
    kc_buf_append(&out, kc_str_of("\0\0\0\0", 4));
    kc_buf_append(&out, payload);
    client_send_bytes(c, kc_buf_str(&out));
}

/* ---- events ---- */

static void every_event_is_one_message(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    create(s, "before", "");
    kc_auto(client) *c = watch(s, CONFIG_MAPS "?watch=1");
    expect_event(c, "{\"type\":\"ADDED\",\"object\":{", "before");
    create(s, "after", "");
    expect_event(c, "{\"type\":\"ADDED\",\"object\":{", "after");
    create(s, "one-more", "");
    expect_event(c, "{\"type\":\"ADDED\",\"object\":{", "one-more");
}

static void selectors_and_deprecated_watch_path_are_supported(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c =
        watch(s, "/api/v1/watch/namespaces/default/configmaps?labelSelector=a%3Db");
    create(s, "other", "");
    create(s, "chosen", "\"a\":\"b\"");
    expect_event(c, "ADDED", "chosen");
}

static void streamed_list_ends_with_bookmark(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c = watch(s, "/api/v1/namespaces?watch=1&allowWatchBookmarks=true"
                                  "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
    for (int i = 0; i < 4; i++) {
        kc_autofree char *text = read_event(c);
        assert_contains(text, "\"ADDED\"");
    }
    kc_autofree char *mark = read_event(c);
    assert_contains(mark, "\"BOOKMARK\"");
    assert_contains(mark, "initial-events-end");
}

static char *long_text(size_t n)
{
    char *text = kc_alloc(n + 1);
    memset(text, 'x', n);
    text[n] = '\0';
    return text;
}

static void large_event_is_one_message(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_autofree char *value = long_text(500 * 1000);
    kc_auto(client) *c = watch(s, CONFIG_MAPS "?watch=1");
    create_with(s, "small", "", "");
    create_with(s, "large", "", value);
    create_with(s, "medium", "", "more than 125 bytes with its metadata");
    expect_event(c, "ADDED", "small");
    expect_event(c, "ADDED", "large");
    expect_event(c, "ADDED", "medium");
}

/* What it does not take waits; then it gets all of it. */
static void client_that_pauses_reading_receives_every_event(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_autofree char *value = long_text(400 * 1000);
    kc_auto(client) *c = client_connect_with(s->port, 4096);
    client_send(c, "GET " CONFIG_MAPS "?watch=1 HTTP/1.1\r\n" HELLO "\r\n");
    kc_autofree char *head = read_head(c);
    assert_contains(head, " 101 ");
    for (int i = 0; i < 20; i++) {
        kc_autofree char *name = kc_asprintf("n%d", i);
        create_with(s, name, "", value);
    }
    for (int i = 0; i < 20; i++) {
        kc_autofree char *name = kc_asprintf("n%d", i);
        expect_event(c, "ADDED", name);
    }
}

static void expired_watch_sends_error_and_closes(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c = watch(s, CONFIG_MAPS "?watch=1&resourceVersion=1");
    kc_autofree char *text = read_event(c);
    assert_contains(text, "{\"type\":\"ERROR\",\"object\":{");
    assert_contains(text, "\"reason\":\"Expired\"");
    expect_close(c, KC__WEBSOCKET_NORMAL);
}

static void watch_timeout_closes_the_websocket(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c = watch(s, CONFIG_MAPS "?watch=1&timeoutSeconds=1");
    expect_close(c, KC__WEBSOCKET_NORMAL);
}

static void draining_server_closes_websockets(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c = watch(s, CONFIG_MAPS "?watch=1");
    create(s, "a", "");
    expect_event(c, "ADDED", "a");
    kc__apiserver_drain(s->server);
    expect_close(c, KC__WEBSOCKET_NORMAL);
}

/* ---- options of the client ---- */

static void ping_is_answered_with_pong(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c = watch(s, CONFIG_MAPS "?watch=1");
    unsigned first;
    size_t n;
    send_frame(c, 0x89, KC_STR("are you there?"));
    kc_autofree char *payload = read_frame(c, &first, &n);
    assert_int_equal(first, 0x8A);
    assert_string_equal(payload, "are you there?");
    create(s, "after", "");
    expect_event(c, "ADDED", "after");
}

static void messages_of_the_client_are_ignored(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c = watch(s, CONFIG_MAPS "?watch=1");
    send_frame(c, 0x81, KC_STR("hello"));
    send_frame(c, 0x02, KC_STR("in "));
    send_frame(c, 0x80, KC_STR("two"));
    send_frame(c, 0x8A, KC_STR(""));
    create(s, "after", "");
    expect_event(c, "ADDED", "after");
}

static void close_is_answered_with_its_code(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c = watch(s, CONFIG_MAPS "?watch=1");
    send_frame(c, 0x88, KC_STR("\x0f\xa0 enough"));
    expect_close(c, 4000);
    kc_auto(client) *other = watch(s, CONFIG_MAPS "?watch=1");
    send_frame(other, 0x88, KC_STR(""));
    expect_close(other, KC__WEBSOCKET_NO_CODE);
}

static void protocol_violation_closes_the_websocket(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *unmasked = watch(s, CONFIG_MAPS "?watch=1");
    client_send(unmasked, "\x81\x01x");
    expect_close(unmasked, KC__WEBSOCKET_PROTOCOL_ERROR);
    kc_auto(client) *huge = watch(s, CONFIG_MAPS "?watch=1");
    client_send_bytes(huge, KC_STR("\x82\xff\x00\x00\x01\x00\x00\x00\x00\x00mask"));
    expect_close(huge, KC__WEBSOCKET_TOO_LARGE);
}

static void frames_may_follow_the_request_immediately(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c = client_connect(s->port);
    client_send_bytes(
        c, KC_STR("GET " CONFIG_MAPS "?watch=1 HTTP/1.1\r\n" HELLO "\r\n\x88\x80\0\0\0\0"));
    kc_autofree char *head = read_head(c);
    assert_contains(head, " 101 ");
    expect_close(c, KC__WEBSOCKET_NO_CODE);
}

/* ---- handshakes ---- */

static void expect_refused(stage *s, const char *target, const char *fields, const char *status,
                           const char *message)
{
    kc_auto(client) *c = send_request(s, target, fields);
    client_read_response(c);
    assert_contains(kc_buf_cstr(&c->in), status);
    assert_contains(kc_buf_cstr(&c->in), "Content-Type: application/json\r\n");
    assert_contains(kc_buf_cstr(&c->in), message);
}

static void invalid_handshake_returns_bad_request(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    expect_refused(s, CONFIG_MAPS "?watch=1",
                   "Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
                   "HTTP/1.1 400 ", "\"missing or bad WebSocket Version\"");
    expect_refused(s, CONFIG_MAPS "?watch=1",
                   "Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                   "Sec-WebSocket-Version: 12\r\n",
                   "HTTP/1.1 400 ", "\r\nSec-WebSocket-Version: 13\r\n");
    expect_refused(s, CONFIG_MAPS "?watch=1",
                   "Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                   "Sec-WebSocket-Version: 13\r\n",
                   "HTTP/1.1 400 ", "\"missing or bad Sec-WebSocket-Key\"");
    expect_refused(s, CONFIG_MAPS "?watch=1", HELLO "Sec-WebSocket-Protocol: a, b\r\n",
                   "HTTP/1.1 400 ", "\"missing or bad WebSocket-Protocol\"");
    expect_refused(s, CONFIG_MAPS "?watch=1", HELLO "Origin: null\r\n", "HTTP/1.1 403 ",
                   "\"missing or bad WebSocket-Origin\"");
}

static void other_errors_are_returned_before_the_upgrade(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    expect_refused(s, "/api/v1/nonsense?watch=1", HELLO, "HTTP/1.1 404 ", "\"NotFound\"");
    expect_refused(s, CONFIG_MAPS "?watch=1&labelSelector=a%3D%3D%3Db", HELLO, "HTTP/1.1 400 ",
                   "\"BadRequest\"");
    expect_refused(s, CONFIG_MAPS "?watch=1&resourceVersion=x", HELLO, "HTTP/1.1 500 ",
                   "\"Status\"");
}

static void only_watches_are_upgraded(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    expect_refused(s, CONFIG_MAPS, HELLO, "HTTP/1.1 200 ", "\"ConfigMapList\"");
}

static void only_subprotocol_is_echoed(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c = send_request(s, CONFIG_MAPS "?watch=1",
                                      HELLO "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n");
    kc_autofree char *head = read_head(c);
    assert_contains(head, "\r\nSec-WebSocket-Protocol: v4.channel.k8s.io\r\n");
    assert_contains(head, "\r\nAudit-Id: ");
}

static void http_1_0_client_gets_a_plain_watch(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c = client_connect(s->port);
    client_send(c, "GET " CONFIG_MAPS "?watch=1&timeoutSeconds=1 HTTP/1.0\r\n" HELLO "\r\n");
    assert_contains(client_read_all(c), "HTTP/1.1 200 OK\r\n");
}

/* ---- access ---- */

/* A browser sends WebSocket handshakes of any page to any server, without a CORS check. */
static void assert_cross_site_pages_refused(stage *s)
{
    static const char *const foreign[] = {
        HELLO "Origin: https://evil.example\r\n",
        HELLO "Origin: http://localhost.evil.example\r\n",
        HELLO "Origin: null\r\n",
        HELLO "Sec-Fetch-Site: cross-site\r\n",
        HELLO "Origin: http://localhost:3000\r\nOrigin: https://evil.example\r\n",
        HELLO_TO("rebound.evil.example"),
    };
    for (size_t i = 0; i < KC_COUNT(foreign); i++)
        expect_refused(s, CONFIG_MAPS "?watch=1", foreign[i], "HTTP/1.1 401 ", "\"Unauthorized\"");
}

static void cross_site_page_has_no_local_trust(void **state)
{
    (void)state;
    kc_auto(stage) *s =
        stage_start(&(kc__authn_opts){.allow_localhost = true, .refuse_anonymous = true});
    assert_cross_site_pages_refused(s);
    kc_auto(client) *program = watch(s, CONFIG_MAPS "?watch=1");
    kc_auto(client) *page =
        watch_with(s, CONFIG_MAPS "?watch=1", HELLO "Origin: http://localhost:3000\r\n");
}

static void cross_site_page_is_not_anonymous(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(&(kc__authn_opts){.refuse_pages = true});
    assert_cross_site_pages_refused(s);
    kc_auto(client) *program = watch(s, CONFIG_MAPS "?watch=1");
}

/* Whoever knows a token may show it from anywhere; it does not come back. */
static void page_may_authenticate_with_token(void **state)
{
    (void)state;
    char tokens[] = "/tmp/kc-tokens-XXXXXX";
    const int fd = mkstemp(tokens);
    assert_true(write(fd, "secret,alice,1\n", 15) == 15);
    close(fd);
    kc_auto(stage) *s =
        stage_start(&(kc__authn_opts){.token_file = tokens, .refuse_anonymous = true});
    unlink(tokens);
    kc_auto(client) *c = send_request(
        s, CONFIG_MAPS "?watch=1",
        HELLO "Origin: https://page.example\r\nSec-WebSocket-Protocol: " KC__WEBSOCKET_TOKEN
              "c2VjcmV0, v4\r\n");
    kc_autofree char *head = read_head(c);
    assert_contains(head, " 101 ");
    assert_contains(head, "\r\nSec-WebSocket-Protocol: v4\r\n");
    assert_null(strstr(head, "c2VjcmV0"));
    expect_refused(s, CONFIG_MAPS "?watch=1",
                   HELLO "Sec-WebSocket-Protocol: " KC__WEBSOCKET_TOKEN "d3Jvbmc, v4\r\n",
                   "HTTP/1.1 401 ", "\"Unauthorized\"");
}

static void watch_without_credentials_is_unauthorized(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(&(kc__authn_opts){.refuse_anonymous = true});
    expect_refused(s, CONFIG_MAPS "?watch=1", HELLO, "HTTP/1.1 401 ", "\"Unauthorized\"");
}

TESTS(every_event_is_one_message, selectors_and_deprecated_watch_path_are_supported,
      streamed_list_ends_with_bookmark, large_event_is_one_message,
      client_that_pauses_reading_receives_every_event, expired_watch_sends_error_and_closes,
      watch_timeout_closes_the_websocket, draining_server_closes_websockets,
      ping_is_answered_with_pong, messages_of_the_client_are_ignored,
      close_is_answered_with_its_code, protocol_violation_closes_the_websocket,
      frames_may_follow_the_request_immediately, invalid_handshake_returns_bad_request,
      other_errors_are_returned_before_the_upgrade, only_watches_are_upgraded,
      only_subprotocol_is_echoed, http_1_0_client_gets_a_plain_watch,
      cross_site_page_has_no_local_trust, cross_site_page_is_not_anonymous,
      page_may_authenticate_with_token, watch_without_credentials_is_unauthorized)
