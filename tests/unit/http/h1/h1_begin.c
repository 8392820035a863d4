/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/1.1: decisions when the head is complete, and the resources used until then. */
#include "h1_testing.h"

static stage *begin_stage(void)
{
    stage *s = stage_new();
    s->m.conn.begin = begin;
    s->m.conn.abandon = abandon;
    s->grant = (kc__exchange_grant){.authenticated = true, .user = KC_STR("alice")};
    stage_open(s);
    return s;
}

static void repeat(kc_buf *out, char c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        kc_buf_putc(out, c);
}

static void body_is_read_after_begin_accepts(void **state)
{
    (void)state;
    kc_auto(stage) *s = begin_stage();
    feed(s, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n");
    assert_int_equal(s->begun, 1);
    assert_int_equal(s->seen.n, 0);
    feed(s, "hel");
    feed(s, "loGET /b HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(kc_buf_cstr(&s->seen), "POST /a HTTP/1.1 [hello]; GET /b HTTP/1.1 []; ");
    assert_int_equal(s->begun, 2);
    assert_int_equal(s->abandoned, 0);
    assert_true(s->m.conn.authenticated);
}

static void rejected_request_body_is_not_buffered(void **state)
{
    (void)state;
    kc_auto(stage) *s = begin_stage();
    s->reject = 401;
    feed(s, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n");
    assert_contains(output(s), "HTTP/1.1 401 Unauthorized");
    assert_contains(output(s), "Connection: close\r\n\r\nno");
    assert_int_equal(s->m.conn.disposition, KC__CONN_CLOSE);
    for (int i = 0; i < 100; i++)
        feed(s, "part of a refused body");
    assert_false(s->m.conn.full);
    assert_int_equal(s->seen.n, 0);
    assert_false(s->m.conn.authenticated);
}

static void rejected_request_with_complete_body_keeps_the_connection(void **state)
{
    (void)state;
    kc_auto(stage) *s = begin_stage();
    s->reject = 401;
    feed(s, "POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloGET /2 HTTP/1.1\r\n"
            "Host: x\r\n\r\n");
    assert_int_equal(s->begun, 2);
    assert_null(strstr(output(s), "Connection: close"));
    s->reject = 0;
    feed(s, "GET /3 HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(kc_buf_cstr(&s->seen), "GET /3 HTTP/1.1 []; ");
}

static void rejected_chunked_request_closes_the_connection(void **state)
{
    (void)state;
    kc_auto(stage) *s = begin_stage();
    s->reject = 403;
    feed(s,
         "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
         "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_int_equal(s->begun, 1);
    assert_int_equal(s->m.conn.disposition, KC__CONN_CLOSE);
}

static void continue_is_sent_only_after_acceptance(void **state)
{
    (void)state;
    const char *head =
        "PUT / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
    kc_auto(stage) *rejects = begin_stage(), *accepts = begin_stage();
    rejects->reject = 401;
    feed(rejects, head);
    assert_null(strstr(output(rejects), "100 Continue"));
    assert_contains(output(rejects), "HTTP/1.1 401");
    assert_int_equal(rejects->m.conn.disposition, KC__CONN_CLOSE);
    feed(accepts, head);
    assert_string_equal(output(accepts), "HTTP/1.1 100 Continue\r\n\r\n");
    feed(accepts, "hi");
    assert_string_equal(kc_buf_cstr(&accepts->seen), "PUT / HTTP/1.1 [hi]; ");
}

static void granted_body_size_is_enforced(void **state)
{
    (void)state;
    kc_auto(stage) *announced = begin_stage(), *chunked = begin_stage();
    announced->grant.max_body = chunked->grant.max_body = 4;
    feed(announced, "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n");
    assert_contains(output(announced), "HTTP/1.1 413");
    feed(chunked, "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello");
    assert_contains(output(chunked), "HTTP/1.1 413");
    assert_int_equal(announced->abandoned + chunked->abandoned, 2);
    assert_int_equal(announced->seen.n + chunked->seen.n, 0);
}

static void accepted_request_without_its_body_is_abandoned(void **state)
{
    (void)state;
    const char *head = "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhe";
    kc_auto(stage) *late = begin_stage(), *gone = begin_stage();
    feed(late, head);
    late->m.conn.protocol->expired(&late->m.conn);
    assert_contains(output(late), "HTTP/1.1 408");
    assert_int_equal(late->abandoned, 1);
    assert_int_equal(late->abandoned_with, 408);
    feed(gone, head);
    memory_conn_close(&gone->m);
    assert_int_equal(gone->abandoned, 1);
    assert_int_equal(gone->abandoned_with, 0);
    assert_int_equal(late->seen.n + gone->seen.n, 0);
}

/* ---- budgets ---- */

static void large_head_is_charged_until_it_is_authenticated(void **state)
{
    (void)state;
    kc_scoped(kc_buf) field = {0};
    kc__http_budget *budget =
        kc__http_budget_new(&(kc__http_budget_opts){.unauthenticated = 40000}, NULL);
    kc_auto(stage) *first = begin_stage(), *second = begin_stage(), *small = begin_stage();
    first->m.conn.budget = second->m.conn.budget = small->m.conn.budget = budget;
    kc_buf_puts(&field, "X: ");
    repeat(&field, 'x', 30000);
    feed(first, "GET /1 HTTP/1.1\r\nHost: x\r\n");
    feed(first, kc_buf_cstr(&field));
    feed(second, "GET /2 HTTP/1.1\r\nHost: x\r\n");
    feed(second, kc_buf_cstr(&field));
    assert_contains(output(second), "HTTP/1.1 429 Too Many Requests");
    assert_contains(output(second), "Retry-After: 1\r\n");
    feed(small, "GET /3 HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_contains(output(small), "HTTP/1.1 200");
    feed(first, "\r\n\r\n");
    assert_contains(output(first), "HTTP/1.1 200");
    kc_auto(stage) *third = begin_stage();
    third->m.conn.budget = budget;
    feed(third, "GET /4 HTTP/1.1\r\nHost: x\r\n");
    feed(third, kc_buf_cstr(&field));
    feed(third, "\r\n\r\n");
    assert_contains(output(third), "HTTP/1.1 200");
    stage *all[] = {first, second, small, third};
    for (size_t i = 0; i < KC_COUNT(all); i++)
        memory_conn_close(&all[i]->m);
    kc__http_budget_free(budget);
}

static void body_beyond_the_budget_is_refused_and_its_charge_released(void **state)
{
    (void)state;
    kc_scoped(kc_buf) body = {0};
    kc__http_budget *budget = kc__http_budget_new(
        &(kc__http_budget_opts){.in_flight = 1 << 20, .per_user = 100000}, NULL);
    kc_auto(stage) *first = begin_stage(), *second = begin_stage(), *other = begin_stage();
    stage *all[] = {first, second, other};
    const char *head = "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 70000\r\n\r\n";
    repeat(&body, 'b', 69999);
    other->grant.user = KC_STR("bob");
    for (size_t i = 0; i < KC_COUNT(all); i++) {
        all[i]->m.conn.budget = budget;
        feed(all[i], head);
        feed(all[i], kc_buf_cstr(&body));
    }
    assert_contains(output(second), "HTTP/1.1 429");
    assert_int_equal(second->abandoned, 1);
    feed(first, "b");
    feed(other, "b");
    assert_contains(output(first), "HTTP/1.1 200");
    assert_contains(output(other), "HTTP/1.1 200");
    feed(first, head);
    feed(first, kc_buf_cstr(&body));
    feed(first, "b");
    assert_int_equal(first->begun, 2);
    assert_null(strstr(output(first), "429"));
    for (size_t i = 0; i < KC_COUNT(all); i++)
        memory_conn_close(&all[i]->m);
    kc__http_budget_free(budget);
}

static void announced_length_alone_allocates_nothing(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc__http_budget *budget = kc__http_budget_new(&(kc__http_budget_opts){0}, metrics);
    kc_auto(stage) *s = begin_stage();
    kc_scoped(kc_buf) text = {0};
    s->m.conn.budget = budget;
    feed(s, "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n0123456789");
    kc_metrics_write(metrics, &text);
    assert_contains(kc_buf_cstr(&text), "http_server_request_bytes{budget=\"in_flight\"} 64\n");
    memory_conn_close(&s->m);
    kc__http_budget_free(budget);
}

static void unread_responses_of_unauthenticated_client_are_limited(void **state)
{
    (void)state;
    kc_auto(stage) *s = begin_stage();
    kc_scoped(kc_buf) many = {0};
    s->reject = 401;
    for (int i = 0; i < 1000; i++)
        kc_buf_puts(&many, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    feed(s, kc_buf_cstr(&many));
    assert_in_range(s->m.conn.out.n, KC__CONN_HIGH_UNAUTHENTICATED,
                    KC__CONN_HIGH_UNAUTHENTICATED + 200);
    assert_true(s->m.conn.full);
}

/* ---- eviction ---- */

static bool may_evict(const stage *s)
{
    int64_t since;
    return s->m.conn.protocol->evictable(&s->m.conn, &since);
}

static void connection_with_an_accepted_request_is_not_evictable(void **state)
{
    (void)state;
    kc_auto(stage) *s = begin_stage();
    assert_true(may_evict(s));
    feed(s, "PUT / HTTP/1.1\r\nHo");
    assert_true(may_evict(s));
    feed(s, "st: x\r\nContent-Length: 2\r\n\r\n");
    assert_false(may_evict(s));
    s->keeps = true;
    feed(s, "hi");
    assert_false(may_evict(s));
    kc__exchange_respond(s->late, &s->answer);
    memory_conn_fill(&s->m);
    assert_true(may_evict(s));
    feed(s, "GET");
    assert_false(may_evict(s)); /* It is authenticated, and has begun another request. */
}

/* ---- the request line ---- */

static void request_line_has_exactly_one_space_between_its_parts(void **state)
{
    (void)state;
    static const char *const table[] = {
        "GET  / HTTP/1.1\r\nHost: x\r\n\r\n",    "GET /  HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET   /   HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1 \r\nHost: x\r\n\r\n",
        " GET / HTTP/1.1\r\nHost: x\r\n\r\n",    "GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n",
    };
    for (size_t i = 0; i < 2 * KC_COUNT(table); i++) {
        kc_auto(stage) *s = begin_stage();
        const char *request = table[i / 2];
        if (i % 2)
            feed(s, request);
        for (const char *p = request; !(i % 2) && *p; p++)
            feed(s, (char[]){*p, 0});
        assert_contains(output(s), "HTTP/1.1 400 Bad Request");
        assert_int_equal(s->seen.n, 0);
    }
    kc_auto(stage) *s = begin_stage();
    feed(s,
         "\r\n\r\nOPTIONS /a HTTP/1.1\r\nHost: x\r\n\r\nGET http://h/ HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(kc_buf_cstr(&s->seen), "OPTIONS /a HTTP/1.1 []; GET / HTTP/1.1 []; ");
}

TESTS(body_is_read_after_begin_accepts, rejected_request_body_is_not_buffered,
      rejected_request_with_complete_body_keeps_the_connection,
      rejected_chunked_request_closes_the_connection, continue_is_sent_only_after_acceptance,
      granted_body_size_is_enforced, accepted_request_without_its_body_is_abandoned,
      large_head_is_charged_until_it_is_authenticated,
      body_beyond_the_budget_is_refused_and_its_charge_released,
      announced_length_alone_allocates_nothing,
      unread_responses_of_unauthenticated_client_are_limited,
      connection_with_an_accepted_request_is_not_evictable,
      request_line_has_exactly_one_space_between_its_parts)
