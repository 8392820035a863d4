/* SPDX-License-Identifier: Apache-2.0 */
#include "client_testing.h"

#include "kc/metrics.h"

#define MAPS &kc_kind_config_map

/* The error of a GET that is answered so. */
static void fail_with(bench *b, const scripted *what, kc_error *err)
{
    bench_script(b, what);
    assert_null(kc_client_get(b->client, MAPS, KEY("a"), NULL, err));
}

/* ---- errors ---- */

static void status_response_is_an_error_with_all_fields(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_error) err = {0};
    fail_with(b,
              &(scripted){.status = 422,
                          .body = "{'kind':'Status','status':'Failure','message':'no','reason':"
                                  "'Invalid','code':422,'details':{'name':'a','group':'g','kind':"
                                  "'K','uid':'u','causes':[{'reason':'FieldValueRequired',"
                                  "'message':'Required value','field':'spec.x'}],"
                                  "'retryAfterSeconds':3}}"},
              &err);
    assert_int_equal(err.reason, KC_INVALID);
    assert_int_equal(err.code, 422);
    assert_string_equal(err.message, "no");
    assert_string_equal(err.name, "a");
    assert_string_equal(err.group, "g");
    assert_string_equal(err.kind, "K");
    assert_string_equal(err.uid, "u");
    assert_int_equal(err.retry_after_seconds, 3);
    assert_int_equal(err.causes.n, 1);
    assert_string_equal(err.causes.items[0].reason, "FieldValueRequired");
    assert_string_equal(err.causes.items[0].field, "spec.x");
    assert_string_equal(err.causes.items[0].message, "Required value");
}

static void unknown_reason_is_derived_from_the_code(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_error) err = {0};
    fail_with(b,
              &(scripted){.status = 403, .body = "{'kind':'Status','reason':'Odd','message':'m'}"},
              &err);
    assert_error(&err, KC_FORBIDDEN, "m");
    fail_with(b, &(scripted){.status = 418, .body = "{'kind':'Status'}"}, &err);
    assert_int_equal(err.reason, KC_UNKNOWN);
    assert_int_equal(err.code, 418);
    fail_with(b, &(scripted){.status = 404, .body = "{'kind':'Status','code':200,'details':7}"},
              &err);
    assert_error(&err, KC_NOT_FOUND, "could not find the requested resource");
    assert_int_equal(err.code, 404);
}

static void non_status_body_is_quoted_in_one_line(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    static const struct {
        scripted what;
        kc_reason reason;
        const char *text;
    } cases[] = {
        {{.status = 502, .body = "<html>\n<h1>Bad\tGateway</h1>"},
         KC_INTERNAL,
         "(502): <html> <h1>Bad Gateway</h1>"},
        {{.status = 503},
         KC_SERVICE_UNAVAILABLE,
         "the server is currently unable to handle the request (503)"},
        {{.status = 504}, KC_TIMEOUT, "may still be processing"},
        {{.status = 401, .body = "Unauthorized\n"}, KC_UNAUTHORIZED, "(401): Unauthorized"},
        {{.status = 404, .body = "404 page not found\n"}, KC_NOT_FOUND, "404 page not found"},
        {{.status = 429, .body = "slow"}, KC_TOO_MANY_REQUESTS, "too many requests"},
        {{.status = 413}, KC_TOO_LARGE, "too large"},
        {{.status = 301}, KC_UNKNOWN, "(301)"},
        {{.status = 500, .body = "{'kind':'Other'}"}, KC_INTERNAL, "{\"kind\":\"Other\"}"},
        {{.status = 500, .body = "half", .breaks = true}, KC_INTERNAL, "half"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_error) err = {0};
        fail_with(b, &cases[i].what, &err);
        assert_error(&err, cases[i].reason, cases[i].text);
        assert_int_equal(err.code, cases[i].what.status);
    }
}

static void conflict_of_create_is_already_exists(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *object = config_map("a", "v");
    kc_scoped(kc_error) err = {0};
    bench_script(b, &(scripted){.status = 409});
    assert_null(kc_client_create(b->client, object, NULL, &err));
    assert_true(kc_is_already_exists(&err));
    bench_script(b, &(scripted){.status = 409});
    assert_null(kc_client_update(b->client, object, NULL, &err));
    assert_true(kc_is_conflict(&err));
}

static void unreadable_response_is_an_internal_error(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_error) err = {0};
    fail_with(b, &(scripted){.status = 200, .body = "<html>"}, &err);
    assert_error(&err, KC_INTERNAL, "response: ");
    fail_with(b, &(scripted){.status = 200, .body = "{'a':", .breaks = true}, &err);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "connection lost");
}

static void errors_may_be_ignored(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    fail_with(b, &(scripted){.status = 500}, NULL);
    fail_with(b, &(scripted){.status = 410, .body = "{'kind':'Status','code':410}"}, NULL);
    kc_object_list list;
    assert_true(kc_client_list(b->client, MAPS, &(kc_list_opts){.ns = "/"}, &list, NULL) < 0);
}

/* ---- retries ---- */

static const scripted too_many = {.status = 429, .fields = {{"retry-after", "0"}}},
                      not_now = {.status = 503, .fields = {{"retry-after", "0"}}},
                      broken = {.reason = KC_SERVICE_UNAVAILABLE, .code = 503},
                      unsent = {.reason = KC_SERVICE_UNAVAILABLE, .code = 0};

static void retry_after_is_honored(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *object = config_map("a", "v");
    bench_script(b, &too_many);
    bench_script(b, &not_now);
    kc_auto(kc_object) *now = kc_client_create(b->client, object, NULL, NULL);
    assert_non_null(now);
    assert_int_equal(bench_count(b), 3);
}

static void retries_end_after_ten_attempts(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    for (int i = 0; i < 20; i++)
        bench_script(b, &too_many);
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_get(b->client, MAPS, KEY("a"), NULL, &err));
    assert_true(kc_is_too_many_requests(&err));
    assert_int_equal(bench_count(b), 10);
}

static void error_without_retry_after_is_not_retried(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_error) err = {0};
    fail_with(b, &(scripted){.status = 429}, &err);
    fail_with(b, &(scripted){.status = 503, .fields = {{"retry-after", "tomorrow"}}}, &err);
    fail_with(b, &(scripted){.status = 409, .fields = {{"retry-after", "0"}}}, &err);
    assert_int_equal(bench_count(b), 3);
}

static void retry_after_beyond_deadline_is_not_waited_for(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_error) err = {0};
    const int64_t began = kc_clock_now(kc_clock_real());
    fail_with(b, &(scripted){.status = 503, .fields = {{"retry-after", "61"}}}, &err);
    assert_true(kc_is_unavailable(&err));
    assert_int_equal(err.retry_after_seconds, 61);
    assert_true(kc_clock_now(kc_clock_real()) - began < 30 * KC_SECOND);
}

typedef struct getter {
    kc_client *client;
    kc_error err;
} getter;

static void get_a(void *user)
{
    getter *g = user;
    kc_object_unref(kc_client_get(g->client, MAPS, KEY("a"), NULL, &g->err));
}

/* Waits until a thread waits for this time. */
static void await_deadline(kc_clock *clock, int64_t deadline)
{
    int64_t next = 0;
    while (!kc_clock_next_deadline(clock, &next) || next != deadline)
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
}

static void retry_waits_for_the_given_seconds(void **state)
{
    (void)state;
    kc_clock *clock = kc_clock_virtual_new(1763368200 * KC_SECOND);
    kc_auto(bench) *b = bench_start_with((kc_client_opts){.clock = clock});
    bench_script(b, &(scripted){.status = 429, .fields = {{"retry-after", "7"}}});
    getter g = {.client = b->client};
    kc_thread *thread = kc_thread_start("getter", get_a, &g, NULL);
    await_deadline(clock, kc_clock_now(clock) + 7 * KC_SECOND);
    kc_clock_advance(clock, 7 * KC_SECOND - 1);
    assert_int_equal(bench_count(b), 1);
    kc_clock_advance(clock, 1);
    kc_thread_join(thread);
    assert_true(kc_is_not_found(&g.err));
    assert_int_equal(bench_count(b), 2);
    kc_error_done(&g.err);
}

static void retry_wait_can_be_cancelled(void **state)
{
    (void)state;
    kc_clock *clock = kc_clock_virtual_new(1763368200 * KC_SECOND);
    kc_auto(bench) *b = bench_start_with((kc_client_opts){.clock = clock});
    kc_auto(kc_cancel) *cancel = kc_cancel_new(NULL);
    kc_auto(kc_client) *c = kc_client_with(b->client, &(kc_client_overrides){.cancel = cancel});
    bench_script(b, &(scripted){.status = 429, .fields = {{"retry-after", "7"}}});
    getter g = {.client = c};
    kc_thread *thread = kc_thread_start("getter", get_a, &g, NULL);
    await_deadline(clock, kc_clock_now(clock) + 7 * KC_SECOND);
    kc_cancel_fire(cancel);
    kc_thread_join(thread);
    assert_true(kc_is_too_many_requests(&g.err));
    assert_int_equal(bench_count(b), 1);
    kc_error_done(&g.err);
}

static void reads_are_retried_when_the_connection_breaks(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_object_unref(created(b, "a"));
    bench_script(b, &broken);
    bench_script(b, &unsent);
    kc_auto(kc_object) *read = got(b, "a");
    assert_non_null(read);
    bench_forget(b);
    for (int i = 0; i < 9; i++)
        bench_script(b, &broken);
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_get(b->client, MAPS, KEY("a"), NULL, &err));
    assert_true(kc_is_unavailable(&err));
    assert_int_equal(bench_count(b), 4);
}

static void writes_are_retried_only_if_not_sent(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *object = config_map("a", "v");
    bench_script(b, &unsent);
    kc_auto(kc_object) *now = kc_client_create(b->client, object, NULL, NULL);
    assert_non_null(now);
    assert_int_equal(bench_count(b), 2);
    bench_forget(b);
    bench_script(b, &broken);
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_update(b->client, now, NULL, &err));
    assert_true(kc_is_unavailable(&err));
    assert_int_equal(bench_count(b), 1);
}

static void timeout_is_not_retried(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_error) err = {0};
    fail_with(b, &(scripted){.reason = KC_TIMEOUT, .code = 504}, &err);
    assert_true(kc_is_timeout(&err));
    assert_int_equal(bench_count(b), 1);
}

typedef struct counting_fence {
    kc_fence base;
    int left;
} counting_fence;

static int count_down(kc_fence *fence, int64_t *ret_deadline, kc_error *err)
{
    counting_fence *f = kc_container_of(fence, counting_fence, base);
    *ret_deadline = KC_FOREVER;
    return f->left-- > 0 ? 0 : kc_error_set(err, KC_FORBIDDEN, "the term is over");
}

static void fence_is_checked_before_each_attempt(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    counting_fence f = {.base.check = count_down, .left = 1};
    kc_auto(kc_client) *c = kc_client_with(b->client, &(kc_client_overrides){.fence = &f.base});
    kc_auto(kc_object) *object = config_map("a", "v");
    kc_scoped(kc_error) err = {0};
    bench_script(b, &too_many);
    assert_null(kc_client_create(c, object, NULL, &err));
    assert_error(&err, KC_FORBIDDEN, "the term is over");
    assert_int_equal(bench_count(b), 1);
}

/* ---- shares of requests ---- */

static void requests_beyond_the_burst_are_delayed(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start_with((kc_client_opts){.qps = 50, .burst = 5});
    const int64_t began = kc_clock_now(kc_clock_real());
    for (int i = 0; i < 5; i++)
        kc_object_unref(got(b, "a"));
    for (int i = 0; i < 5; i++)
        kc_object_unref(got(b, "a"));
    const int64_t took = kc_clock_now(kc_clock_real()) - began;
    assert_true(took >= 99 * KC_MILLISECOND);
}

static void delay_beyond_the_deadline_is_a_timeout(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start_with((kc_client_opts){.qps = 0.001, .burst = 1});
    kc_object_unref(got(b, "a"));
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_get(b->client, MAPS, KEY("a"), NULL, &err));
    assert_error(&err, KC_TIMEOUT, "client rate limiter");
    assert_int_equal(bench_count(b), 1);
}

/* ---- others ---- */

static void retries_and_delays_are_counted_in_metrics(void **state)
{
    (void)state;
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_auto(bench) *b =
        bench_start_with((kc_client_opts){.metrics = metrics, .qps = 1000, .burst = 100});
    bench_script(b, &too_many);
    bench_script(b, &broken);
    kc_object_unref(got(b, "a"));
    kc_scoped(kc_buf) out = {0};
    kc_metrics_write(metrics, &out);
    const char *text = kc_buf_cstr(&out);
    assert_contains(text, "rest_client_request_retries_total{code=\"429\",verb=\"GET\"} 1");
    assert_contains(text, "rest_client_request_retries_total{code=\"<error>\",verb=\"GET\"} 1");
    assert_contains(text, "rest_client_rate_limiter_duration_seconds_count{verb=\"GET\"} 3");
}

static void keep_line(kc_str line, void *user)
{
    kc_buf_append(user, line);
}

static void server_warnings_are_logged(void **state)
{
    (void)state;
    kc_scoped(kc_buf) lines = {0};
    kc_auto(kc_log) *log = kc_log_new(&(kc_log_opts){.write = keep_line, .user = &lines});
    kc_auto(bench) *b = bench_start_with((kc_client_opts){.log = log});
    bench_script(b, &(scripted){.status = 200,
                                .body = "{'kind':'ConfigMap','apiVersion':'v1'}",
                                .fields = {{"warning", "299 - \"deprecated\""}}});
    kc_object_unref(got(b, "a"));
    assert_contains(kc_buf_cstr(&lines), "deprecated");
}

static void raw_request_uses_any_path(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    kc_buf_puts(&out, "before ");
    assert_int_equal(
        kc_client_raw(b->client, "GET", KC_STR("/version"), (kc_str){0}, (kc_str){0}, &out, NULL),
        0);
    assert_contains(kc_buf_cstr(&out), "before {");
    assert_contains(kc_buf_cstr(&out), "gitVersion");
    const size_t n = out.n;
    assert_int_equal(
        kc_client_raw(b->client, "GET", KC_STR("/nowhere"), (kc_str){0}, (kc_str){0}, &out, &err),
        -KC_NOT_FOUND);
    assert_int_equal(out.n, n);
    assert_true(kc_client_raw(b->client, "GET", KC_STR("version"), (kc_str){0}, (kc_str){0}, &out,
                              &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "must begin with '/'");
}

static void raw_write_is_fenced_and_dry_run(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    counting_fence f = {.base.check = count_down, .left = 0};
    kc_auto(kc_client) *fenced =
        kc_client_with(b->client, &(kc_client_overrides){.fence = &f.base});
    kc_auto(kc_client) *dry = kc_client_with(b->client, &(kc_client_overrides){.dry_run = true});
    const kc_str target = KC_STR("/api/v1/namespaces"), type = KC_STR("application/json"),
                 body = KC_STR("{\"metadata\":{\"name\":\"x\"}}");
    kc_scoped(kc_buf) out = {0};
    assert_true(kc_client_raw(fenced, "POST", target, type, body, &out, NULL) < 0);
    assert_int_equal(kc_client_raw(dry, "POST", target, type, body, &out, NULL), 0);
    assert_contains(bench_sent(b, 0), "POST /api/v1/namespaces?dryRun=All application/json {");
    assert_int_equal(kc_client_raw(b->client, "POST", target, type, body, &out, NULL), 0);
}

static void response_beyond_the_limit_is_refused(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_buf) out = {.limit = 10};
    kc_scoped(kc_error) err = {0};
    assert_true(kc_client_raw(b->client, "GET", KC_STR("/version"), (kc_str){0}, (kc_str){0}, &out,
                              &err) < 0);
    assert_error(&err, KC_TOO_LARGE, "exceeds 10 bytes");
}

static void stopped_server_returns_unavailable(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    b->server = kc_embedded_server_stop(b->server);
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_get(b->client, MAPS, KEY("a"), NULL, &err));
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "has stopped");
    assert_int_equal(bench_count(b), 4);
}

TESTS(status_response_is_an_error_with_all_fields, unknown_reason_is_derived_from_the_code,
      non_status_body_is_quoted_in_one_line, conflict_of_create_is_already_exists,
      unreadable_response_is_an_internal_error, errors_may_be_ignored, retry_after_is_honored,
      retries_end_after_ten_attempts, error_without_retry_after_is_not_retried,
      retry_after_beyond_deadline_is_not_waited_for, retry_waits_for_the_given_seconds,
      retry_wait_can_be_cancelled, reads_are_retried_when_the_connection_breaks,
      writes_are_retried_only_if_not_sent, timeout_is_not_retried,
      fence_is_checked_before_each_attempt, requests_beyond_the_burst_are_delayed,
      delay_beyond_the_deadline_is_a_timeout, retries_and_delays_are_counted_in_metrics,
      server_warnings_are_logged, raw_request_uses_any_path, raw_write_is_fenced_and_dry_run,
      response_beyond_the_limit_is_refused, stopped_server_returns_unavailable)
