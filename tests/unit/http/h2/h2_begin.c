/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/2: decisions when the head is complete, and the resources used until then. */
#include "h2_testing.h"

static char body[3 << 20];

static bool begin(kc__exchange *x, kc__exchange_grant *grant, void *user)
{
    plane *p = user;
    bool known = kc__http_headers_get(&x->request.headers, KC_STR("authorization")).n > 0;
    p->begun++;
    x->state = p;
    *grant =
        (kc__exchange_grant){.authenticated = known, .user = known ? KC_STR("alice") : (kc_str){0}};
    if (known || kc_str_is(x->request.target.path, "/open"))
        return true;
    p->rejected++;
    respond_text(x, 401, KC_STR("no"));
    return false;
}

static void abandon(kc__exchange *x, int status, void *user)
{
    plane *p = user;
    assert_ptr_equal(x->state, p);
    p->abandoned++;
    p->abandoned_with = status;
}

#define OPTS(...) (&(plane_opts){.begin = begin, .abandon = abandon, __VA_ARGS__})

static int32_t known(plane *p, const char *method, const char *path, kc_str upload, bool endless)
{
    nghttp2_nv field = nv("authorization", "Bearer t");
    return request(p, method, path, &field, 1, upload, endless);
}

static void rejected_request_is_answered_before_its_body(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, OPTS(0));
    int32_t id = post(&p, "/echo", kc_str_of(body, sizeof(body)));
    client_sends_frames(&p, 1); /* HEADERS. */
    server_to_client(&p);
    assert_int_equal(reply_of(&p, id)->status, 401);
    assert_true(reply_of(&p, id)->ended && reply_of(&p, id)->closed);
    assert_int_equal(reply_of(&p, id)->code, NGHTTP2_NO_ERROR);
    settle(&p);
    assert_int_equal(p.handled, 0);
    assert_int_equal(p.conn.authenticated, false);
    plane_close(&p);
}

static void window_of_rejected_bodies_is_returned(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, OPTS(0));
    for (int i = 0; i < 100; i++) {
        post(&p, "/", kc_str_of(body, 60000));
        settle(&p);
    }
    int32_t id = known(&p, "POST", "/echo", kc_str_of(body, sizeof(body)), false);
    settle(&p);
    assert_int_equal(reply_of(&p, id)->length, sizeof(body));
    assert_int_equal(p.rejected, 100);
    plane_close(&p);
}

static void continue_is_sent_only_after_acceptance(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, OPTS(0));
    nghttp2_nv expect[] = {nv("expect", "100-continue"), nv("authorization", "Bearer t")};
    int32_t rejected = request(&p, "PUT", "/echo", expect, 1, KC_STR("hi"), false);
    int32_t accepted = request(&p, "PUT", "/echo", expect, 2, (kc_str){0}, true);
    client_sends_frames(&p, 2);
    server_to_client(&p);
    assert_int_equal(reply_of(&p, rejected)->status, 401);
    assert_int_equal(reply_of(&p, accepted)->status, 100);
    plane_close(&p);
}

static void accepted_request_without_its_body_is_abandoned(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, OPTS(.limits.max_body = 1000));
    int32_t reset_one = known(&p, "PUT", "/", KC_STR("x"), true), late, large;
    client_sends_frames(&p, 1);
    assert_int_equal(p.begun, 1);
    reset(&p, reset_one);
    settle(&p);
    assert_int_equal(p.abandoned, 1);
    assert_int_equal(p.abandoned_with, 0);
    large = known(&p, "PUT", "/", (kc_str){0}, true);
    settle(&p);
    assert_int_equal(reply_of(&p, large)->status, 413);
    assert_int_equal(p.abandoned, 2);
    assert_int_equal(p.abandoned_with, 413);
    late = known(&p, "PUT", "/", (kc_str){0}, true);
    client_sends_frames(&p, 1);
    plane_cut(&p);
    assert_int_equal(p.abandoned, 3);
    assert_int_equal(p.handled, 0);
    (void)late;
    plane_close(&p);
}

/* ---- streams ---- */

static uint32_t allowed_streams(plane *p)
{
    return nghttp2_session_get_remote_settings(p->client, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

static void few_streams_are_open_before_the_first_authenticated_request(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, OPTS(0));
    assert_int_equal(allowed_streams(&p), 8);
    get(&p, "/");
    settle(&p);
    assert_int_equal(allowed_streams(&p), 8);
    int32_t id = known(&p, "GET", "/", (kc_str){0}, false);
    settle(&p);
    assert_int_equal(reply_of(&p, id)->status, 200);
    assert_int_equal(allowed_streams(&p), 250);
    int32_t ids[100];
    for (size_t i = 0; i < KC_COUNT(ids); i++)
        ids[i] = known(&p, "GET", "/hold", (kc_str){0}, false);
    settle(&p);
    assert_int_equal(p.n_held, KC_COUNT(ids));
    plane_close(&p);
}

static void unauthenticated_streams_beyond_the_limit_are_refused(void **state)
{
    plane p;
    (void)state;
    plane_start(&p, OPTS(.no_window = true));
    for (int i = 0; i < 20; i++)
        get(&p, "/");            /* Their answers have no room to go. */
    client_sends_frames(&p, 30); /* Before it has seen the server's settings. */
    settle(&p);
    size_t refused = 0;
    for (int32_t id = 1; id < 40; id += 2)
        refused += reply_of(&p, id)->code == NGHTTP2_REFUSED_STREAM;
    assert_int_equal(refused, 12);
    assert_int_equal(p.begun, 8);
    plane_close(&p);
}

static void server_without_begin_allows_all_streams_at_once(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, NULL);
    assert_int_equal(allowed_streams(&p), 250);
    plane_close(&p);
}

/* ---- heads ---- */

/* A request whose head is large but cheap: one field of 4000 bytes, again and again. */
static int32_t bomb(plane *p, size_t times, bool is_known)
{
    static char text[4001];
    nghttp2_nv fields[301];
    memset(text, 'b', sizeof(text) - 1);
    for (size_t i = 0; i < times; i++)
        fields[i] = nv("x-bomb", text);
    fields[times] = nv("authorization", "Bearer t");
    return request(p, "GET", "/hold", fields, times + is_known, (kc_str){0}, false);
}

static size_t unauthenticated_bytes(kc_metrics *metrics)
{
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(metrics, &text);
    const char *at = strstr(kc_buf_cstr(&text), "http_server_request_bytes{budget=\"unauth");
    return (size_t)strtod(strchr(at, '}') + 1, NULL);
}

static void charge_of_a_rejected_head_is_released(void **state)
{
    plane p;
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc__http_budget *budget = kc__http_budget_new(&(kc__http_budget_opts){0}, metrics);
    plane_open(&p, OPTS(.no_window = true, .budget = budget));
    for (int i = 0; i < 8; i++)
        bomb(&p, 15, false);
    settle(&p);
    assert_int_equal(p.rejected, 8);
    assert_true(unauthenticated_bytes(metrics) <= 8 * 4096);
    plane_cut(&p);
    assert_int_equal(unauthenticated_bytes(metrics), 0);
    plane_close(&p);
    kc__http_budget_free(budget);
}

static void decoded_heads_of_a_connection_are_bounded(void **state)
{
    plane p;
    int32_t ids[20];
    (void)state;
    plane_open(&p, OPTS(.limits.max_heads = 500000));
    known(&p, "GET", "/", (kc_str){0}, false);
    settle(&p);
    for (size_t i = 0; i < KC_COUNT(ids); i++)
        ids[i] = bomb(&p, 15, true);
    settle(&p);
    for (size_t i = 0; i < KC_COUNT(ids); i++)
        assert_int_equal(reply_of(&p, ids[i])->status, i < 8 ? 0 : 431);
    plane_close(&p);
}

static void heads_beyond_the_unauthenticated_budget_are_refused(void **state)
{
    plane p, q;
    (void)state;
    kc__http_budget *budget =
        kc__http_budget_new(&(kc__http_budget_opts){.unauthenticated = 130000}, NULL);
    plane_open(&p, OPTS(.budget = budget));
    plane_open(&q, OPTS(.budget = budget));
    /* A head that does not end. */
    kc_scoped(kc_buf) block = {0};
    kc_buf_append(&block, KC_STR("\x82\x86\x84\x01\x01x\x40\x06x-bomb\x7F\xA1\x1E"));
    for (int i = 0; i < 4000; i++)
        kc_buf_putc(&block, 'b');
    for (int i = 0; i < 30; i++)
        kc_buf_putc(&block, '\xBE');
    send_frame(&p, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM, 1, kc_buf_str(&block));
    int32_t refused = bomb(&q, 15, true), small = known(&q, "GET", "/", (kc_str){0}, false);
    client_sends_frames(&q, 4);
    server_to_client(&q);
    assert_int_equal(reply_of(&q, refused)->status, 429);
    assert_contains(kc_buf_cstr(&reply_of(&q, refused)->head), "retry-after: 1\n");
    assert_int_equal(reply_of(&q, small)->status, 200);
    plane_close(&p);
    plane_close(&q);
    kc__http_budget_free(budget);
}

static void body_beyond_the_share_of_its_user_is_refused(void **state)
{
    plane p;
    (void)state;
    kc__http_budget *budget =
        kc__http_budget_new(&(kc__http_budget_opts){.per_user = 100000}, NULL);
    plane_open(&p, OPTS(.budget = budget));
    int32_t large = known(&p, "PUT", "/echo", kc_str_of(body, 200000), false);
    settle(&p);
    assert_int_equal(reply_of(&p, large)->status, 429);
    int32_t small = known(&p, "PUT", "/echo", kc_str_of(body, 50000), false);
    settle(&p);
    assert_int_equal(reply_of(&p, small)->length, 50000);
    assert_int_equal(p.abandoned, 1);
    plane_close(&p);
    kc__http_budget_free(budget);
}

/* ---- eviction ---- */

static bool may_evict(const plane *p)
{
    int64_t since;
    return kc__h2_protocol.evictable(&p->conn, &since);
}

static void connection_with_an_accepted_request_is_not_evictable(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, OPTS(.no_window = true));
    assert_true(may_evict(&p));
    get(&p, "/"); /* Rejected, and its answer has no room to go. */
    settle(&p);
    assert_true(may_evict(&p));
    request(&p, "GET", "/open", NULL, 0, (kc_str){0}, true);
    client_sends_frames(&p, 1);
    assert_false(may_evict(&p));
    plane_close(&p);
}

static void authenticated_connection_is_evictable_while_idle(void **state)
{
    plane p;
    (void)state;
    plane_open(&p, OPTS(0));
    known(&p, "GET", "/hold", (kc_str){0}, false);
    settle(&p);
    assert_false(may_evict(&p));
    respond_held(&p);
    settle(&p);
    assert_true(may_evict(&p));
    plane_close(&p);
}

TESTS(rejected_request_is_answered_before_its_body, window_of_rejected_bodies_is_returned,
      continue_is_sent_only_after_acceptance, accepted_request_without_its_body_is_abandoned,
      few_streams_are_open_before_the_first_authenticated_request,
      unauthenticated_streams_beyond_the_limit_are_refused,
      server_without_begin_allows_all_streams_at_once, charge_of_a_rejected_head_is_released,
      decoded_heads_of_a_connection_are_bounded,
      heads_beyond_the_unauthenticated_budget_are_refused,
      body_beyond_the_share_of_its_user_is_refused,
      connection_with_an_accepted_request_is_not_evictable,
      authenticated_connection_is_evictable_while_idle)
