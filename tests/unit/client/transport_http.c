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

static void objects_come_and_go_over_plain_http(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *t = transport_to(s->plain_url);
    make_and_check(t);
}

static void objects_come_and_go_over_tls(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    const kc_config config = tls_config(s);
    kc_auto(kc_transport) *t = transport_of(&config);
    make_and_check(t);
}

static void an_answer_has_its_fields_in_lower_case(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *t = transport_to(s->plain_url);
    kc_auto(kc_http_response) *r = kc_transport_open(
        t, &(kc_http_request){.method = "GET", .target = KC_STR("/version")}, NULL);
    assert_int_equal(r->status, 200);
    assert_str(kc_http_field_of(r, KC_STR("content-type")), "application/json");
    assert_str(kc_http_field_of(r, KC_STR("no-such")), "");
}

static void a_head_has_no_body(void **state)
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

static void a_prefix_of_the_server_stands_before_each_target(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_autofree char *url = kc_asprintf("%s/api/", s->plain_url);
    kc_auto(kc_transport) *t = transport_to(url);
    assert_int_equal(GET(t, "/v1"), 200);
}

/* ---- certificates ---- */

static void an_unknown_authority_is_refused_before_anything_is_sent(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_transport) *t = transport_to(s->tls_url);
    assert_int_equal(request(t, "GET", "/version", NULL, &out, &err), -1);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "certificate");
    assert_int_equal(err.code, 0);
    const kc_config insecure = {.server = s->tls_url, .insecure = true};
    kc_auto(kc_transport) *any = transport_of(&insecure);
    assert_int_equal(GET(any, "/version"), 200);
}

static void a_certificate_of_another_name_is_accepted_by_that_name(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(&(stage_opts){.name = "kubernetes.test"});
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    kc_config config = tls_config(s);
    kc_auto(kc_transport) *wrong = transport_of(&config);
    assert_int_equal(request(wrong, "GET", "/version", NULL, &out, &err), -1);
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

static void a_client_certificate_says_who_we_are(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(&(stage_opts){.refuse_anonymous = true});
    kc_config config = tls_config(s);
    kc_auto(kc_transport) *nobody = transport_of(&config);
    assert_int_equal(GET(nobody, MAPS), 401);
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

static void missing_files_are_named_at_once(void **state)
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

/* ---- long answers ---- */

static void fill(kc_transport *t, int n, size_t size)
{
    for (int i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof(name), "m%d", i);
        create_map(t, name, size);
    }
}

/* Lists that nobody reads do not keep others from being answered. */
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
        kc_http_close(lists[i]);
    }
}

static void unread_lists_hold_up_nobody_over_tls(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    const kc_config config = tls_config(s);
    kc_auto(kc_transport) *t = transport_of(&config);
    check_unread_lists(t);
}

static void unread_lists_hold_up_nobody_over_plain_http(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *t = transport_to(s->plain_url);
    check_unread_lists(t);
}

static void a_watch_gives_each_event_when_it_happens(void **state)
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
        const ssize_t n = kc_http_read(w, chunk, sizeof(chunk) - 1, NULL);
        assert_true(n > 0);
        chunk[n] = '\0';
        snprintf(part, sizeof(part), "\"name\":\"w%d\"", i);
        assert_contains(chunk, part);
    }
}

static void a_read_may_end_early_and_go_on(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *t = transport_to(s->plain_url);
    kc_scoped(kc_error) err = {0};
    char chunk[4096];
    kc_auto(kc_http_response) *w = kc_transport_open(
        t, &(kc_http_request){.method = "GET", .target = KC_STR(MAPS "?watch=1")}, NULL);
    w->read_deadline = kc_clock_deadline(kc_clock_real(), 20 * KC_MILLISECOND);
    assert_int_equal(kc_http_read(w, chunk, sizeof(chunk), &err), -KC_TIMEOUT);
    create_map(t, "late", 10);
    w->read_deadline = 0;
    assert_true(kc_http_read(w, chunk, sizeof(chunk), &err) > 0);
}

static void a_server_that_stops_ends_its_watches(void **state)
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
    kc_apiserver_stop(kc_take(s->server), 5 * KC_SECOND);
    read_all(w, &out, &err);
    assert_int_equal(request(t, "GET", "/version", NULL, &out, &err), -1);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "");
    assert_int_equal(err.code, 0);
}

static void a_whole_answer_is_had_by_one_call(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(NULL);
    kc_auto(kc_transport) *t = transport_to(s->plain_url);
    kc_scoped(kc_buf) body = {0}, small = {.limit = 10};
    kc_scoped(kc_error) err = {0};
    const kc_http_request version = {.method = "GET", .target = KC_STR("/version")};
    assert_int_equal(kc_http_fetch(t, &version, &body, &err), 200);
    assert_contains(kc_buf_cstr(&body), "gitVersion");
    assert_int_equal(kc_http_fetch(t, &version, &small, &err), -KC_TOO_LARGE);
    assert_error(&err, KC_TOO_LARGE, "longer than 10 bytes");
    const kc_http_request nothing = {.method = "GET", .target = KC_STR("/nothing")};
    assert_int_equal(kc_http_fetch(t, &nothing, &body, &err), 404);
}

TESTS(a_whole_answer_is_had_by_one_call, objects_come_and_go_over_plain_http,
      objects_come_and_go_over_tls, an_answer_has_its_fields_in_lower_case, a_head_has_no_body,
      a_prefix_of_the_server_stands_before_each_target,
      an_unknown_authority_is_refused_before_anything_is_sent,
      a_certificate_of_another_name_is_accepted_by_that_name, a_client_certificate_says_who_we_are,
      missing_files_are_named_at_once, unread_lists_hold_up_nobody_over_tls,
      unread_lists_hold_up_nobody_over_plain_http, a_watch_gives_each_event_when_it_happens,
      a_read_may_end_early_and_go_on, a_server_that_stops_ends_its_watches)
