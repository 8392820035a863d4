/* SPDX-License-Identifier: Apache-2.0 */
/* Watches over WebSocket, through the whole server and a real socket. */
#include "http_testing.h"

#include "apiserver/apiserver.h"
#include "apiserver/storage/storage_file.h"
#include "http/websocket.h"

#include <dirent.h>

/* ---- a server in a folder of its own ---- */

typedef struct stage {
    char folder[32];
    kc__authn *authn;
    kc_apiserver *server;
    int port;
} stage;

/* An object came and went, and nobody remembers. */
static void forget_the_past(kc_storage *storage)
{
    const kc_str key = KC_STR("/registry/core/configmaps/default/past");
    const kc_storage_op ops[] = {
        {KC_STORAGE_PUT, key, KC_STORAGE_ABSENT, KC_STR("{}")},
        {KC_STORAGE_DELETE, key, KC_STORAGE_ANY, {0}},
    };
    kc_storage_result results[KC_COUNT(ops)];
    uint64_t revision = 0;
    assert_int_equal(kc_storage_commit(storage, ops, KC_COUNT(ops), results, &revision, NULL), 0);
    assert_int_equal(kc_storage_compact(storage, revision, NULL), 0);
}

static stage *stage_start(const kc__authn_opts *authn)
{
    stage *s = kc_new(stage);
    kc_scoped(kc_error) err = {0};
    strcpy(s->folder, "/tmp/kc-websocket-XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    kc_storage *storage = NULL;
    assert_int_equal(kc_storage_open(&kc_storage_file, &(kc_storage_opts){.location = s->folder},
                                     &storage, &err),
                     0);
    forget_the_past(storage);
    s->authn = kc__authn_new(authn, &err);
    s->server = kc_apiserver_start(&(kc_apiserver_opts){.storage = storage,
                                                        .listeners = &(kc__listener){0},
                                                        .n_listeners = 1,
                                                        .authn = s->authn},
                                   &err);
    if (!s->server)
        fail_msg("the server did not start: %s", kc_error_text(&err));
    s->port = kc_apiserver_port(s->server, 0);
    return s;
}

/* Everybody may do everything. */
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
    kc_apiserver_kill(s->server);
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
    client_say(c, kc_buf_cstr(&request));
    client_hear_answer(c);
    assert_contains(kc_buf_cstr(&c->in), "HTTP/1.1 201 ");
}

static void create(stage *s, const char *name, const char *labels)
{
    create_with(s, name, labels, "");
}

/* ---- a client ---- */

static client *ask_with(stage *s, const char *target, const char *fields)
{
    client *c = client_connect(s->port);
    kc_scoped(kc_buf) request = {0};
    kc_buf_printf(&request, "GET %s HTTP/1.1\r\n%s\r\n", target, fields);
    client_say(c, kc_buf_cstr(&request));
    return c;
}

/* Up to the end of the answer's head, which is taken out of what was heard. */
static char *hear_head(client *c)
{
    client_hear(c, "\r\n\r\n");
    size_t n = (size_t)(strstr(c->in.p, "\r\n\r\n") - c->in.p) + 4;
    char *head = kc_str_dup(kc_str_of(c->in.p, n));
    memmove(c->in.p, c->in.p + n, c->in.n - n);
    c->in.n -= n;
    return head;
}

static client *watch_with(stage *s, const char *target, const char *fields)
{
    client *c = ask_with(s, target, fields);
    kc_autofree char *head = hear_head(c);
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
static char *hear_frame(client *c, unsigned *ret_first, size_t *ret_n)
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

static char *hear_event(client *c)
{
    unsigned first;
    size_t n;
    char *text = hear_frame(c, &first, &n);
    assert_int_equal(first, 0x81);
    assert_int_equal(n, strlen(text));
    return text;
}

static void hears_event(client *c, const char *type, const char *name)
{
    kc_autofree char *text = hear_event(c);
    kc_auto(kc_object) *event = kc_object_parse(kc_cstr(text), NULL, NULL);
    assert_non_null(event);
    assert_contains(text, type);
    kc_autofree char *part = kc_asprintf("\"name\":\"%s\"", name);
    assert_contains(text, part);
}

/* A close frame, and the end of the connection. */
static void hears_close(client *c, int code)
{
    unsigned first;
    size_t n;
    kc_autofree char *payload = hear_frame(c, &first, &n);
    assert_int_equal(first, 0x88);
    assert_int_equal(n, code ? 2 : 0);
    if (code)
        assert_int_equal((unsigned char)payload[0] << 8 | (unsigned char)payload[1], code);
    assert_false(client_read(c));
    assert_false(c->reset);
}

/* One frame, masked with zeros. */
static void say_frame(client *c, unsigned first, kc_str payload)
{
    kc_scoped(kc_buf) out = {0};
    assert_true(payload.n <= 125);
    kc_buf_putc(&out, (char)first);
    kc_buf_putc(&out, (char)(0x80 | payload.n));
    kc_buf_append(&out, kc_str_of("\0\0\0\0", 4));
    kc_buf_append(&out, payload);
    client_say_bytes(c, kc_buf_str(&out));
}

/* ---- events ---- */

static void every_event_is_one_message(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    create(s, "before", "");
    kc_auto(client) *c = watch(s, CONFIG_MAPS "?watch=1");
    hears_event(c, "{\"type\":\"ADDED\",\"object\":{", "before");
    create(s, "after", "");
    hears_event(c, "{\"type\":\"ADDED\",\"object\":{", "after");
    create(s, "one-more", "");
    hears_event(c, "{\"type\":\"ADDED\",\"object\":{", "one-more");
}

static void selectors_and_the_old_way_to_watch_work_too(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c =
        watch(s, "/api/v1/watch/namespaces/default/configmaps?labelSelector=a%3Db");
    create(s, "other", "");
    create(s, "chosen", "\"a\":\"b\"");
    hears_event(c, "ADDED", "chosen");
}

static void a_streamed_list_ends_with_its_bookmark(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c = watch(s, "/api/v1/namespaces?watch=1&allowWatchBookmarks=true"
                                  "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
    for (int i = 0; i < 4; i++) {
        kc_autofree char *text = hear_event(c);
        assert_contains(text, "\"ADDED\"");
    }
    kc_autofree char *mark = hear_event(c);
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

static void a_large_event_is_one_message_too(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_autofree char *value = long_text(500 * 1000);
    kc_auto(client) *c = watch(s, CONFIG_MAPS "?watch=1");
    create_with(s, "small", "", "");
    create_with(s, "large", "", value);
    create_with(s, "medium", "", "more than 125 bytes with its metadata");
    hears_event(c, "ADDED", "small");
    hears_event(c, "ADDED", "large");
    hears_event(c, "ADDED", "medium");
}

/* What it does not take waits; then it gets all of it. */
static void a_client_that_does_not_read_for_a_while_misses_nothing(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_autofree char *value = long_text(400 * 1000);
    kc_auto(client) *c = client_connect_with(s->port, 4096);
    client_say(c, "GET " CONFIG_MAPS "?watch=1 HTTP/1.1\r\n" HELLO "\r\n");
    kc_autofree char *head = hear_head(c);
    assert_contains(head, " 101 ");
    for (int i = 0; i < 20; i++) {
        kc_autofree char *name = kc_asprintf("n%d", i);
        create_with(s, name, "", value);
    }
    for (int i = 0; i < 20; i++) {
        kc_autofree char *name = kc_asprintf("n%d", i);
        hears_event(c, "ADDED", name);
    }
}

static void a_watch_that_is_too_old_says_so_and_closes(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c = watch(s, CONFIG_MAPS "?watch=1&resourceVersion=1");
    kc_autofree char *text = hear_event(c);
    assert_contains(text, "{\"type\":\"ERROR\",\"object\":{");
    assert_contains(text, "\"reason\":\"Expired\"");
    hears_close(c, KC__WEBSOCKET_NORMAL);
}

static void the_end_of_its_time_closes_a_watch(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c = watch(s, CONFIG_MAPS "?watch=1&timeoutSeconds=1");
    hears_close(c, KC__WEBSOCKET_NORMAL);
}

static void going_down_closes_watches(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c = watch(s, CONFIG_MAPS "?watch=1");
    create(s, "a", "");
    hears_event(c, "ADDED", "a");
    kc_apiserver_drain(s->server);
    hears_close(c, KC__WEBSOCKET_NORMAL);
}

/* ---- what the client says ---- */

static void a_ping_is_answered(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c = watch(s, CONFIG_MAPS "?watch=1");
    unsigned first;
    size_t n;
    say_frame(c, 0x89, KC_STR("are you there?"));
    kc_autofree char *payload = hear_frame(c, &first, &n);
    assert_int_equal(first, 0x8A);
    assert_string_equal(payload, "are you there?");
    create(s, "after", "");
    hears_event(c, "ADDED", "after");
}

static void messages_of_the_client_are_dropped(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c = watch(s, CONFIG_MAPS "?watch=1");
    say_frame(c, 0x81, KC_STR("hello"));
    say_frame(c, 0x02, KC_STR("in "));
    say_frame(c, 0x80, KC_STR("two"));
    say_frame(c, 0x8A, KC_STR(""));
    create(s, "after", "");
    hears_event(c, "ADDED", "after");
}

static void a_close_is_answered_with_its_code(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c = watch(s, CONFIG_MAPS "?watch=1");
    say_frame(c, 0x88, KC_STR("\x0f\xa0 enough"));
    hears_close(c, 4000);
    kc_auto(client) *other = watch(s, CONFIG_MAPS "?watch=1");
    say_frame(other, 0x88, KC_STR(""));
    hears_close(other, KC__WEBSOCKET_NO_CODE);
}

static void what_breaks_the_protocol_closes(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *unmasked = watch(s, CONFIG_MAPS "?watch=1");
    client_say(unmasked, "\x81\x01x");
    hears_close(unmasked, KC__WEBSOCKET_PROTOCOL_ERROR);
    kc_auto(client) *huge = watch(s, CONFIG_MAPS "?watch=1");
    client_say_bytes(huge, KC_STR("\x82\xff\x00\x00\x01\x00\x00\x00\x00\x00mask"));
    hears_close(huge, KC__WEBSOCKET_TOO_LARGE);
}

static void frames_may_follow_the_request_at_once(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c = client_connect(s->port);
    client_say_bytes(
        c, KC_STR("GET " CONFIG_MAPS "?watch=1 HTTP/1.1\r\n" HELLO "\r\n\x88\x80\0\0\0\0"));
    kc_autofree char *head = hear_head(c);
    assert_contains(head, " 101 ");
    hears_close(c, KC__WEBSOCKET_NO_CODE);
}

/* ---- handshakes ---- */

static void is_refused(stage *s, const char *target, const char *fields, const char *status,
                       const char *message)
{
    kc_auto(client) *c = ask_with(s, target, fields);
    client_hear_answer(c);
    assert_contains(kc_buf_cstr(&c->in), status);
    assert_contains(kc_buf_cstr(&c->in), "Content-Type: application/json\r\n");
    assert_contains(kc_buf_cstr(&c->in), message);
}

static void a_bad_handshake_is_a_bad_request(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    is_refused(s, CONFIG_MAPS "?watch=1",
               "Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n", "HTTP/1.1 400 ",
               "\"missing or bad WebSocket Version\"");
    is_refused(s, CONFIG_MAPS "?watch=1",
               "Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
               "Sec-WebSocket-Version: 12\r\n",
               "HTTP/1.1 400 ", "\r\nSec-WebSocket-Version: 13\r\n");
    is_refused(s, CONFIG_MAPS "?watch=1",
               "Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
               "Sec-WebSocket-Version: 13\r\n",
               "HTTP/1.1 400 ", "\"missing or bad Sec-WebSocket-Key\"");
    is_refused(s, CONFIG_MAPS "?watch=1", HELLO "Sec-WebSocket-Protocol: a, b\r\n", "HTTP/1.1 400 ",
               "\"missing or bad WebSocket-Protocol\"");
    is_refused(s, CONFIG_MAPS "?watch=1", HELLO "Origin: null\r\n", "HTTP/1.1 403 ",
               "\"missing or bad WebSocket-Origin\"");
}

static void other_errors_come_first_and_are_ordinary_answers(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    is_refused(s, "/api/v1/nonsense?watch=1", HELLO, "HTTP/1.1 404 ", "\"NotFound\"");
    is_refused(s, CONFIG_MAPS "?watch=1&labelSelector=a%3D%3D%3Db", HELLO, "HTTP/1.1 400 ",
               "\"BadRequest\"");
    is_refused(s, CONFIG_MAPS "?watch=1&resourceVersion=x", HELLO, "HTTP/1.1 500 ", "\"Status\"");
}

static void only_watches_are_upgraded(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    is_refused(s, CONFIG_MAPS, HELLO, "HTTP/1.1 200 ", "\"ConfigMapList\"");
}

static void the_only_subprotocol_is_echoed(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c =
        ask_with(s, CONFIG_MAPS "?watch=1", HELLO "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n");
    kc_autofree char *head = hear_head(c);
    assert_contains(head, "\r\nSec-WebSocket-Protocol: v4.channel.k8s.io\r\n");
    assert_contains(head, "\r\nAudit-Id: ");
}

static void a_client_of_http_1_0_gets_an_ordinary_watch(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_open();
    kc_auto(client) *c = client_connect(s->port);
    client_say(c, "GET " CONFIG_MAPS "?watch=1&timeoutSeconds=1 HTTP/1.0\r\n" HELLO "\r\n");
    assert_contains(client_hear_all(c), "HTTP/1.1 200 OK\r\n");
}

/* ---- who may ---- */

/* A browser sends WebSocket handshakes to anywhere for any page, and asks nobody. */
static void pages_of_elsewhere_are_not_let_in(stage *s)
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
        is_refused(s, CONFIG_MAPS "?watch=1", foreign[i], "HTTP/1.1 401 ", "\"Unauthorized\"");
}

static void a_web_page_of_elsewhere_is_not_this_machine(void **state)
{
    (void)state;
    kc_auto(stage) *s =
        stage_start(&(kc__authn_opts){.allow_localhost = true, .refuse_anonymous = true});
    pages_of_elsewhere_are_not_let_in(s);
    kc_auto(client) *program = watch(s, CONFIG_MAPS "?watch=1");
    kc_auto(client) *page =
        watch_with(s, CONFIG_MAPS "?watch=1", HELLO "Origin: http://localhost:3000\r\n");
}

static void nor_is_it_anybody(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(&(kc__authn_opts){.refuse_pages = true});
    pages_of_elsewhere_are_not_let_in(s);
    kc_auto(client) *program = watch(s, CONFIG_MAPS "?watch=1");
}

/* Whoever knows a token may show it from anywhere; it does not come back. */
static void a_page_may_show_a_token(void **state)
{
    (void)state;
    char tokens[] = "/tmp/kc-tokens-XXXXXX";
    const int fd = mkstemp(tokens);
    assert_true(write(fd, "secret,alice,1\n", 15) == 15);
    close(fd);
    kc_auto(stage) *s =
        stage_start(&(kc__authn_opts){.token_file = tokens, .refuse_anonymous = true});
    unlink(tokens);
    kc_auto(client) *c = ask_with(
        s, CONFIG_MAPS "?watch=1",
        HELLO "Origin: https://page.example\r\nSec-WebSocket-Protocol: " KC__WEBSOCKET_TOKEN
              "c2VjcmV0, v4\r\n");
    kc_autofree char *head = hear_head(c);
    assert_contains(head, " 101 ");
    assert_contains(head, "\r\nSec-WebSocket-Protocol: v4\r\n");
    assert_null(strstr(head, "c2VjcmV0"));
    is_refused(s, CONFIG_MAPS "?watch=1",
               HELLO "Sec-WebSocket-Protocol: " KC__WEBSOCKET_TOKEN "d3Jvbmc, v4\r\n",
               "HTTP/1.1 401 ", "\"Unauthorized\"");
}

static void nobody_watches_without_credentials(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(&(kc__authn_opts){.refuse_anonymous = true});
    is_refused(s, CONFIG_MAPS "?watch=1", HELLO, "HTTP/1.1 401 ", "\"Unauthorized\"");
}

TESTS(every_event_is_one_message, selectors_and_the_old_way_to_watch_work_too,
      a_streamed_list_ends_with_its_bookmark, a_large_event_is_one_message_too,
      a_client_that_does_not_read_for_a_while_misses_nothing,
      a_watch_that_is_too_old_says_so_and_closes, the_end_of_its_time_closes_a_watch,
      going_down_closes_watches, a_ping_is_answered, messages_of_the_client_are_dropped,
      a_close_is_answered_with_its_code, what_breaks_the_protocol_closes,
      frames_may_follow_the_request_at_once, a_bad_handshake_is_a_bad_request,
      other_errors_come_first_and_are_ordinary_answers, only_watches_are_upgraded,
      the_only_subprotocol_is_echoed, a_client_of_http_1_0_gets_an_ordinary_watch,
      a_web_page_of_elsewhere_is_not_this_machine, nor_is_it_anybody, a_page_may_show_a_token,
      nobody_watches_without_credentials)
