/* SPDX-License-Identifier: Apache-2.0 */
/* The webhook server as an API server uses it: paths, responses, limits, threads. */
#include "crash_testing.h"
#include "webhook_testing.h"

static const kc_kind robot = {
    .group = "robot.io", .version = "v1", .kind = "Robot", .plural = "robots", .namespaced = true};

static int hold(const kc_admission_request *request, kc_admission_response *ret, void *user,
                kc_error *err)
{
    stage *s = user;
    allow(request, ret, user, err);
    kc_locked (&s->mutex)
        while (s->held)
            kc_cond_wait(&s->changed, &s->mutex);
    return 0;
}

static int crash(const kc_admission_request *request, kc_admission_response *ret, void *user,
                 kc_error *err)
{
    (void)request;
    (void)ret;
    (void)user;
    (void)err;
    kc_reconcile_abort("oops");
}

static int set_defaults(kc_edit *edit, const kc_admission_request *request, void *user,
                        kc_error *err)
{
    (void)request;
    (void)user;
    (void)err;
    kc_node *spec = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("spec"));
    kc_node_set(edit, spec, KC_STR("arms"), kc_node_i64(edit, 2));
    return 0;
}

static int validate(const kc_admission_request *request, kc_warnings *warnings, void *user,
                    kc_error *err)
{
    (void)user;
    kc_warnings_add(warnings, "seen");
    return kc_str_is(request->name, "bad") ? kc_error_set(err, KC_INVALID, "it is bad") : 0;
}

static kc_object *convert(const kc_object *object, kc_str desired, void *user, kc_error *err)
{
    (void)user;
    (void)err;
    return kc_object_with_api_version(object, desired);
}

static stage *serving_with(const kc_webhook_server_opts *opts)
{
    stage *s = stage_new(opts, 0);
    assert_int_equal(kc_webhook_add_handler(s->hooks, "/allow", allow, s, NULL), 0);
    return started(s);
}

static stage *serving(void)
{
    return serving_with(NULL);
}

/* ---- serving ---- */

static void every_kind_of_webhook_has_its_path(void **state)
{
    (void)state;
    kc_auto(stage) *s = serving();
    kc_auto(kc_transport) *t = transport_to_webhook(s);
    assert_int_equal(kc_webhook_add_defaulter(s->hooks, &robot, set_defaults, s, NULL), 0);
    assert_int_equal(kc_webhook_add_defaulter(s->hooks, &kc_kind_pod, set_defaults, s, NULL), 0);
    assert_int_equal(kc_webhook_add_validator(s->hooks, &robot, validate, s, NULL), 0);
    assert_int_equal(kc_webhook_add_defaulter_at(s->hooks, "/mine", &robot, set_defaults, s, NULL),
                     0);
    assert_int_equal(kc_webhook_add_validator_at(s->hooks, "/too", &robot, validate, s, NULL), 0);
    assert_int_equal(kc_webhook_add_converter(s->hooks,
                                              (kc_group_kind){KC_STR("robot.io"), KC_STR("Robot")},
                                              convert, NULL, NULL),
                     0);
    assert_answer(t, "/allow", REVIEW("a"), "\"uid\":\"u-a\",\"allowed\":true");
    assert_answer(t, "/mutate-robot-io-v1-robot?timeout=10s", REVIEW("a"), "JSONPatch");
    assert_answer(t, "/mutate--v1-pod", REVIEW("a"), "expected /v1, Kind=Pod");
    assert_answer(t, "/validate-robot-io-v1-robot", REVIEW("a"), "\"warnings\":[\"seen\"]");
    assert_answer(t, "/validate-robot-io-v1-robot", REVIEW("bad"), "\"code\":422");
    assert_answer(t, "/mine", REVIEW("a"), "JSONPatch");
    assert_answer(t, "/too", REVIEW("a"), "\"warnings\":[\"seen\"]");
    assert_answer(t, "/convert",
                  "{'request':{'uid':'c','desiredAPIVersion':'robot.io/v2','objects':[{"
                  "'apiVersion':'robot.io/v1','kind':'Robot'}]}}",
                  "{\"apiVersion\":\"robot.io/v2\",\"kind\":\"Robot\"}");
}

static void duplicate_path_or_conversion_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(NULL, 0);
    kc_scoped(kc_error) err = {0};
    const kc_group_kind kind = {KC_STR("robot.io"), KC_STR("Robot")};
    kc_webhook_add_handler(s->hooks, "/a", allow, s, NULL);
    assert_true(kc_webhook_add_handler(s->hooks, "/a", allow, s, &err) < 0);
    assert_error(&err, KC_ALREADY_EXISTS, "a webhook is already registered at /a");
    assert_true(kc_webhook_add_handler(s->hooks, "a", allow, s, &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "a is not a path");
    assert_int_equal(kc_webhook_add_converter(s->hooks, kind, convert, NULL, NULL), 0);
    assert_true(kc_webhook_add_converter(s->hooks, kind, convert, NULL, &err) < 0);
    assert_error(&err, KC_ALREADY_EXISTS, "Robot.robot.io");
    assert_null(kc_webhook_server_new(s->manager, NULL, &err));
    assert_error(&err, KC_ALREADY_EXISTS, "webhook");
}

static void invalid_options_are_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(NULL, 0);
    static const char *const wrong[] = {"two words", NULL}, *const none[] = {NULL};
    static const struct {
        kc_webhook_server_opts opts;
        const char *message;
    } cases[] = {
        {{.address = "nowhere"}, "nowhere is not a valid address"},
        {{.names = wrong}, "\"two words\" is not a valid name"},
        {{.names = none}, "must have 1 to 64 names"},
        {{.secret_name = "x"}, "requires a namespace"},
        {{.secret_name = "x", .secret_ns = "y"}, "requires names"},
        {{.secret_name = "x", .secret_ns = "y", .cert_dir = "/"}, "are mutually exclusive"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_error) err = {0};
        assert_null(kc_webhook_server_new(s->manager, &cases[i].opts, &err));
        assert_error(&err, KC_BAD_REQUEST, cases[i].message);
    }
}

static void other_paths_and_methods_are_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = serving();
    kc_auto(kc_transport) *t = transport_to_webhook(s);
    kc_scoped(kc_buf) out = {0};
    assert_int_equal(call(t, "POST", "/nothing", REVIEW("a"), &out), 404);
    assert_int_equal(call(t, "GET", "/allow", "", &out), 405);
    assert_int_equal(call(t, "POST", "/allow", "", &out), 200);
    assert_contains(kc_buf_cstr(&out), "request body is empty");
}

static void body_beyond_the_limit_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = serving();
    kc_auto(kc_transport) *t = transport_to_webhook(s);
    kc_scoped(kc_buf) out = {0};
    kc_autofree char *large = kc_calloc(1, (17 << 20) + 1);
    memset(large, ' ', 17 << 20);
    /* Who is still sending may see the end of the stream before the answer. */
    const int status = call(t, "POST", "/allow", large, &out);
    assert_true(status == 413 || status < 0);
    assert_int_equal(atomic_load(&s->calls), 0);
    assert_answer(t, "/allow", REVIEW("a"), "\"allowed\":true");
}

static void crash_with_recovery_is_answered_and_the_server_continues(void **state)
{
    (void)state;
    kc_auto(stage) *s = serving_with(&(kc_webhook_server_opts){.crash_recovery = true});
    kc_auto(kc_transport) *t = transport_to_webhook(s);
    kc_webhook_add_handler(s->hooks, "/crash", crash, s, NULL);
    assert_answer(t, "/crash", REVIEW("a"), "panic: oops [recovered]");
    assert_answer(t, "/allow", REVIEW("a"), "\"allowed\":true");
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(s->metrics, &text);
    assert_contains(kc_buf_cstr(&text), "controller_runtime_webhook_panics_total 1\n");
}

static void call_without_recovery(void *user)
{
    kc_scoped(kc_buf) out = {0};
    stage *s = serving();
    kc_transport *t = transport_to_webhook(s);
    (void)user;
    kc_webhook_add_handler(s->hooks, "/crash", crash, s, NULL);
    call(t, "POST", "/crash", REVIEW("a"), &out);
}

static void crash_without_recovery_ends_the_process(void **state)
{
    (void)state;
    assert_int_equal(in_child(call_without_recovery, NULL), -SIGABRT);
}

typedef struct caller {
    kc_transport *t;
    kc_thread *thread;
    const char *path;
    int times, failed;
} caller;

static void call_often(void *user)
{
    caller *c = user;
    for (int i = 0; i < c->times; i++) {
        kc_scoped(kc_buf) out = {0};
        c->failed += call(c->t, "POST", c->path, REVIEW("a"), &out) != 200 ||
                     !strstr(kc_buf_cstr(&out), "\"allowed\":true");
    }
}

static void concurrent_requests_are_answered(void **state)
{
    (void)state;
    kc_auto(stage) *s = serving();
    kc_auto(kc_transport) *t = transport_to_webhook(s);
    caller callers[12] = {0};
    for (size_t i = 0; i < KC_COUNT(callers); i++) {
        callers[i] = (caller){.t = t, .path = "/allow", .times = 20};
        callers[i].thread = kc_thread_start("caller", call_often, &callers[i], NULL);
    }
    for (size_t i = 0; i < KC_COUNT(callers); i++) {
        kc_thread_join(callers[i].thread);
        assert_int_equal(callers[i].failed, 0);
    }
    assert_int_equal(atomic_load(&s->calls), 240);
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(s->metrics, &text);
    assert_contains(kc_buf_cstr(&text),
                    "controller_runtime_webhook_requests_total{webhook=\"/allow\",code=\"200\"} "
                    "240\n");
    assert_contains(kc_buf_cstr(&text),
                    "controller_runtime_webhook_latency_seconds_count{webhook=\"/allow\"} 240\n");
    assert_contains(kc_buf_cstr(&text),
                    "controller_runtime_webhook_requests_in_flight{webhook=\"/allow\"} 0\n");
}

static void release(void *user)
{
    stage *s = user;
    kc_clock_sleep(kc_clock_real(), 20 * KC_MILLISECOND);
    kc_locked (&s->mutex) {
        s->held = false;
        kc_cond_broadcast(&s->changed);
    }
}

static void request_during_stop_is_answered(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(NULL, 0);
    kc_webhook_add_handler(s->hooks, "/hold", hold, s, NULL);
    s->held = true;
    started(s);
    kc_auto(kc_transport) *t = transport_to_webhook(s);
    caller c = {.t = t, .path = "/hold", .times = 1};
    c.thread = kc_thread_start("caller", call_often, &c, NULL);
    while (!atomic_load(&s->calls))
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
    kc_thread *later = kc_thread_start("release", release, s, NULL);
    kc_manager_stop(s->manager);
    assert_int_equal(kc_manager_wait(s->manager, NULL), 0);
    kc_thread_join(later);
    kc_thread_join(c.thread);
    assert_int_equal(c.failed, 0);
    assert_int_equal(kc_webhook_server_port(s->hooks), 0);
}

static void webhook_server_is_part_of_readiness(void **state)
{
    (void)state;
    kc_auto(stage) *s = serving();
    kc_scoped(kc_buf) out = {0};
    assert_int_equal(readiness(s, &out), 200);
}

TESTS(every_kind_of_webhook_has_its_path, duplicate_path_or_conversion_is_refused,
      invalid_options_are_refused, other_paths_and_methods_are_refused,
      body_beyond_the_limit_is_refused, crash_without_recovery_ends_the_process,
      crash_with_recovery_is_answered_and_the_server_continues, concurrent_requests_are_answered,
      request_during_stop_is_answered, webhook_server_is_part_of_readiness)
