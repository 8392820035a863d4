/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP transport with the real server over real sockets: plain and TLS, with certificates. */
#include "transport_testing.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

static void create_map(kc_transport *t, const char *name, size_t size)
{
    kc_scoped(kc_buf) body = {0};
    kc_buf_printf(&body, "{\"metadata\":{\"name\":\"%s\"},\"data\":{\"k\":\"", name);
    for (size_t i = 0; i < size; i++)
        kc_buf_putc(&body, 'x');
    kc_buf_puts(&body, "\"}}");
    assert_int_equal(request_status(t, "POST", MAPS, kc_buf_cstr(&body)), 201);
}

static void make_and_check(kc_transport *t)
{
    kc_scoped(kc_buf) out = {0};
    create_map(t, "a", 10);
    assert_int_equal(request(t, "GET", MAPS "/a", NULL, &out, NULL), 200);
    assert_contains(kc_buf_cstr(&out), "xxxxxxxxxx");
    assert_int_equal(request_status(t, "PUT", MAPS "/a", "{\"metadata\":{\"name\":\"a\"}}"), 200);
    assert_int_equal(request_status(t, "DELETE", MAPS "/a", NULL), 200);
    assert_int_equal(GET(t, MAPS "/a"), 404);
}

static kc_config tls_config(const stage *s)
{
    return (kc_config){.server = s->tls_url, .ca_file = s->ca_file};
}

static void requests_succeed_over_plain_http(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *t = transport_to(s->plain_url);
    make_and_check(t);
}

static void requests_succeed_over_tls(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    const kc_config config = tls_config(s);
    kc_auto(kc_transport) *t = transport_of(&config);
    make_and_check(t);
}

static void response_header_names_are_lower_case(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *t = transport_to(s->plain_url);
    kc_auto(kc_http_response) *r = kc_transport_open(
        t, &(kc_http_request){.method = "GET", .target = KC_STR("/version")}, NULL);
    assert_int_equal(r->status, 200);
    assert_str(kc_http_response_field(r, KC_STR("content-type")), "application/json");
    assert_str(kc_http_response_field(r, KC_STR("no-such")), "");
}

static void head_response_has_no_body(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *t = transport_to(s->plain_url);
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    assert_true(request(t, "HEAD", "/healthz", NULL, &out, &err) > 0);
    assert_int_equal(out.n, 0);
    /* The handle is used again, for something else. */
    assert_int_equal(GET(t, "/version"), 200);
}

static void path_prefix_of_server_is_prepended(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_autofree char *url = kc_asprintf("%s/api/", s->plain_url);
    kc_auto(kc_transport) *t = transport_to(url);
    assert_int_equal(GET(t, "/v1"), 200);
}

/* ---- certificates ---- */

static void unknown_ca_is_refused_before_any_request(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_transport) *t = transport_to(s->tls_url);
    assert_int_equal(request(t, "GET", "/version", NULL, &out, &err), -KC_SERVICE_UNAVAILABLE);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "certificate");
    assert_int_equal(err.code, 0);
    const kc_config insecure = {.server = s->tls_url, .insecure = true};
    kc_auto(kc_transport) *any = transport_of(&insecure);
    assert_int_equal(GET(any, "/version"), 200);
}

static void tls_server_name_accepts_certificate_of_another_name(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(&(stage_opts){.name = "kubernetes.test"});
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    kc_config config = tls_config(s);
    kc_auto(kc_transport) *wrong = transport_of(&config);
    assert_int_equal(request(wrong, "GET", "/version", NULL, &out, &err), -KC_SERVICE_UNAVAILABLE);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "");
    config.tls_server_name = "kubernetes.test";
    kc_auto(kc_transport) *right = transport_of(&config);
    assert_int_equal(GET(right, "/version"), 200);
    assert_int_equal(GET(right, MAPS "?limit=1"), 200);
}

static void file_get(const char *path, kc_buf *out)
{
    char chunk[4096];
    FILE *file = fopen(path, "r");
    for (size_t n; (n = fread(chunk, 1, sizeof(chunk), file));)
        kc_buf_append(out, kc_str_of(chunk, n));
    fclose(file);
}

static void client_certificate_authenticates(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(&(stage_opts){.refuse_anonymous = true});
    kc_config config = tls_config(s);
    kc_auto(kc_transport) *anonymous = transport_of(&config);
    assert_int_equal(GET(anonymous, MAPS), 401);
    config.cert_file = s->user_cert_file;
    config.key_file = s->user_key_file;
    kc_auto(kc_transport) *files = transport_of(&config);
    assert_int_equal(GET(files, MAPS), 200);

    kc_scoped(kc_buf) ca = {0};
    kc_scoped(kc_buf) cert = {0};
    kc_scoped(kc_buf) key = {0};
    file_get(s->ca_file, &ca);
    file_get(s->user_cert_file, &cert);
    file_get(s->user_key_file, &key);
    const kc_config data = {.server = s->tls_url,
                            .ca_data = kc_buf_str(&ca),
                            .cert_data = kc_buf_str(&cert),
                            .key_data = kc_buf_str(&key)};
    kc_auto(kc_transport) *memory = transport_of(&data);
    assert_int_equal(GET(memory, MAPS), 200);
    assert_int_equal(GET(memory, MAPS "?limit=3"), 200);
}

static void missing_files_are_named_in_error(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    const kc_config config = {.server = "https://h", .ca_file = "/nowhere/ca.crt"};
    assert_null(kc_transport_http_new(&config, NULL, &err));
    assert_error(&err, KC_NOT_FOUND, "/nowhere/ca.crt");
    const kc_config rubbish = {.server = "https://h", .ca_data = KC_STR("abc")};
    assert_null(kc_transport_http_new(&rubbish, NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "PEM");
}

/* ---- long responses ---- */

static void fill(kc_transport *t, int n, size_t size)
{
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof(name), "m%d", i);
        create_map(t, name, size);
    }
}

/* Unread lists do not block other requests. */
static void check_unread_lists(kc_transport *t)
{
    kc_http_response *lists[2];
    fill(t, 24, 400000);
    for (size_t i = 0; i < KC_COUNT(lists); i++) {
        lists[i] = kc_transport_open(
            t, &(kc_http_request){.method = "GET", .target = KC_STR(MAPS "?limit=500")}, NULL);
        assert_non_null(lists[i]);
    }
    for (int i = 0; i < 50; i++)
        assert_int_equal(GET(t, "/version"), 200);
    for (size_t i = 0; i < KC_COUNT(lists); i++) {
        kc_scoped(kc_buf) out = {0};
        kc_scoped(kc_error) err = {0};
        if (read_all(lists[i], &out, &err) < 0)
            fail_msg("%s", kc_error_text(&err));
        assert_true(out.n > 24 * 400000);
        kc_http_response_close(lists[i]);
    }
}

static void unread_lists_do_not_block_others_over_tls(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    const kc_config config = tls_config(s);
    kc_auto(kc_transport) *t = transport_of(&config);
    check_unread_lists(t);
}

static void unread_lists_do_not_block_others_over_plain_http(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *t = transport_to(s->plain_url);
    check_unread_lists(t);
}

static void watch_delivers_each_event_at_once(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    const kc_config config = tls_config(s);
    kc_auto(kc_transport) *t = transport_of(&config);
    kc_auto(kc_http_response) *w = kc_transport_open(
        t, &(kc_http_request){.method = "GET", .target = KC_STR(MAPS "?watch=1")}, NULL);
    assert_int_equal(w->status, 200);
    for (int i = 0; i < 20; i++) {
        char name[32], part[64], chunk[4096];
        snprintf(name, sizeof(name), "w%d", i);
        create_map(t, name, 10);
        const ssize_t n = kc_http_response_read(w, chunk, sizeof(chunk) - 1, NULL);
        assert_true(n > 0);
        chunk[n] = '\0';
        snprintf(part, sizeof(part), "\"name\":\"w%d\"", i);
        assert_contains(chunk, part);
    }
}

static void read_that_timed_out_can_be_repeated(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *t = transport_to(s->plain_url);
    kc_scoped(kc_error) err = {0};
    char chunk[4096];
    kc_auto(kc_http_response) *w = kc_transport_open(
        t, &(kc_http_request){.method = "GET", .target = KC_STR(MAPS "?watch=1")}, NULL);
    w->read_deadline = kc_clock_deadline(kc_clock_real(), 20 * KC_MILLISECOND);
    assert_int_equal(kc_http_response_read(w, chunk, sizeof(chunk), &err), -KC_TIMEOUT);
    create_map(t, "late", 10);
    w->read_deadline = 0;
    assert_true(kc_http_response_read(w, chunk, sizeof(chunk), &err) > 0);
}

static void stopped_server_ends_its_watches(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    const kc_config config = tls_config(s);
    kc_auto(kc_transport) *t = transport_of(&config);
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    assert_int_equal(GET(t, "/version"), 200);
    kc_auto(kc_http_response) *w = kc_transport_open(
        t, &(kc_http_request){.method = "GET", .target = KC_STR(MAPS "?watch=1")}, NULL);
    kc__apiserver_stop(kc_take(s->server), 5 * KC_SECOND);
    read_all(w, &out, &err);
    assert_int_equal(request(t, "GET", "/version", NULL, &out, &err), -KC_SERVICE_UNAVAILABLE);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "");
    assert_int_equal(err.code, 0);
}

static void request_send_returns_the_whole_response(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *t = transport_to(s->plain_url);
    kc_scoped(kc_buf) body = {0}, small = {.limit = 10};
    kc_scoped(kc_error) err = {0};
    const kc_http_request version = {.method = "GET", .target = KC_STR("/version")};
    assert_int_equal(kc_http_request_send(t, &version, &body, &err), 200);
    assert_contains(kc_buf_cstr(&body), "gitVersion");
    assert_int_equal(kc_http_request_send(t, &version, &small, &err), -KC_TOO_LARGE);
    assert_error(&err, KC_TOO_LARGE, "exceeds 10 bytes");
    const kc_http_request nothing = {.method = "GET", .target = KC_STR("/nothing")};
    assert_int_equal(kc_http_request_send(t, &nothing, &body, &err), 404);
}

TESTS(request_send_returns_the_whole_response, requests_succeed_over_plain_http,
      requests_succeed_over_tls, response_header_names_are_lower_case, head_response_has_no_body,
      path_prefix_of_server_is_prepended, unknown_ca_is_refused_before_any_request,
      tls_server_name_accepts_certificate_of_another_name, client_certificate_authenticates,
      missing_files_are_named_in_error, unread_lists_do_not_block_others_over_tls,
      unread_lists_do_not_block_others_over_plain_http, watch_delivers_each_event_at_once,
      read_that_timed_out_can_be_repeated, stopped_server_ends_its_watches)
