/* SPDX-License-Identifier: Apache-2.0 */
/* Heads of responses: which status follows from them. */
#include "testing.h"

#include "grpc/response.h"

typedef struct scene {
    kc__grpc_response response;
    kc__grpc_status failure, status;
} scene;

static void field(scene *s, const char *name, const char *value)
{
    assert_true(kc__grpc_response_field(&s->response, kc_cstr(name), kc_cstr(value), &s->failure));
}

static void accept_call(scene *s)
{
    field(s, ":status", "200");
    field(s, "content-type", "application/grpc");
    assert_int_equal(kc__grpc_response_head(&s->response, false, &s->failure),
                     KC__GRPC_HEAD_OPENED);
}

static void scene_done(scene *s)
{
    kc__grpc_response_clear(&s->response);
    kc__grpc_status_done(&s->failure);
    kc__grpc_status_done(&s->status);
}

static void finish(scene *s, kc__grpc_code code, const char *text)
{
    kc__grpc_response_finish(&s->response, &s->status);
    assert_int_equal(s->status.code, code);
    assert_contains(s->status.message, text);
    scene_done(s);
}

static void trailers_have_the_status(void **state)
{
    (void)state;
    scene s = {0};
    accept_call(&s);
    field(&s, "grpc-message", "not%20found");
    field(&s, "grpc-status", "5");
    assert_int_equal(kc__grpc_response_head(&s.response, true, &s.failure), KC__GRPC_HEAD_INTERIM);
    finish(&s, KC__GRPC_NOT_FOUND, "not found");
}

static void trailers_only_response_has_the_status(void **state)
{
    (void)state;
    scene s = {0};
    field(&s, ":status", "200");
    field(&s, "content-type", "application/grpc");
    field(&s, "grpc-status", "7");
    assert_int_equal(kc__grpc_response_head(&s.response, true, &s.failure), KC__GRPC_HEAD_INTERIM);
    finish(&s, KC__GRPC_PERMISSION_DENIED, "");
}

static void status_in_the_first_head_does_not_count_if_more_follows(void **state)
{
    (void)state;
    scene s = {0};
    field(&s, "grpc-status", "0");
    accept_call(&s);
    finish(&s, KC__GRPC_INTERNAL, "no grpc-status");
}

static void grpc_status_wins_over_the_http_status(void **state)
{
    (void)state;
    scene s = {0};
    field(&s, ":status", "503");
    field(&s, "grpc-status", "8");
    kc__grpc_response_head(&s.response, true, &s.failure);
    finish(&s, KC__GRPC_RESOURCE_EXHAUSTED, "");
}

static void response_of_a_proxy_gets_the_code_of_its_http_status(void **state)
{
    (void)state;
    scene s = {0};
    field(&s, ":status", "502");
    field(&s, "content-type", "text/html");
    assert_int_equal(kc__grpc_response_head(&s.response, false, &s.failure), KC__GRPC_HEAD_FAILED);
    assert_int_equal(s.failure.code, KC__GRPC_UNAVAILABLE);
    assert_contains(s.failure.message, "HTTP status 502");
    finish(&s, KC__GRPC_UNAVAILABLE, "HTTP status 502");
}

static void other_content_types_are_refused(void **state)
{
    (void)state;
    static const char *const types[] = {"text/html", "application/grpcx", "application/json", ""};
    for (size_t i = 0; i < KC_COUNT(types); i++) {
        scene s = {0};
        field(&s, ":status", "200");
        field(&s, "content-type", types[i]);
        assert_int_equal(kc__grpc_response_head(&s.response, false, &s.failure),
                         KC__GRPC_HEAD_FAILED);
        assert_int_equal(s.failure.code, KC__GRPC_UNKNOWN);
        assert_contains(s.failure.message, types[i]);
        scene_done(&s);
    }
}

static void content_types_with_a_suffix_are_accepted(void **state)
{
    (void)state;
    static const char *const types[] = {"application/grpc+proto", "application/grpc;charset=utf-8",
                                        "Application/gRPC"};
    for (size_t i = 0; i < KC_COUNT(types); i++) {
        scene s = {0};
        field(&s, ":status", "200");
        field(&s, "content-type", types[i]);
        assert_int_equal(kc__grpc_response_head(&s.response, false, &s.failure),
                         KC__GRPC_HEAD_OPENED);
        scene_done(&s);
    }
}

static void interim_response_is_skipped(void **state)
{
    (void)state;
    scene s = {0};
    field(&s, ":status", "103");
    assert_int_equal(kc__grpc_response_head(&s.response, false, &s.failure), KC__GRPC_HEAD_INTERIM);
    accept_call(&s);
    scene_done(&s);
}

static void head_above_the_limit_is_refused_and_each_head_counts_alone(void **state)
{
    (void)state;
    scene s = {0};
    char value[2001] = {0};
    memset(value, 'v', sizeof(value) - 1);
    for (int i = 0; i < 30; i++)
        field(&s, "x-large", value);
    accept_call(&s);
    for (int i = 0; i < 30; i++)
        field(&s, "x-large", value);
    bool accepted = true;
    for (int i = 0; i < 10 && accepted; i++)
        accepted = kc__grpc_response_field(&s.response, KC_STR("x"), kc_cstr(value), &s.failure);
    assert_false(accepted);
    assert_int_equal(s.failure.code, KC__GRPC_RESOURCE_EXHAUSTED);
    scene_done(&s);
}

TESTS(trailers_have_the_status, trailers_only_response_has_the_status,
      status_in_the_first_head_does_not_count_if_more_follows,
      grpc_status_wins_over_the_http_status, response_of_a_proxy_gets_the_code_of_its_http_status,
      other_content_types_are_refused, content_types_with_a_suffix_are_accepted,
      interim_response_is_skipped, head_above_the_limit_is_refused_and_each_head_counts_alone)
