/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of pods: requested once, renewed in time, kept when the server is away. The server is a
 * transport that numbers its tokens. */
#include "pods_testing.h"

#include "pods/pod_inputs.h"

#include <stdio.h>

#define START (INT64_C(1767322800) * KC_SECOND) /* 2026-01-02T03:00:00Z */

typedef struct issuer {
    kc_transport base;
    kc_time now;
    int64_t life; /* Seconds that it grants. */
    int issued;
    bool away;
    char target[256], body[1024];
} issuer;

typedef struct issued_response {
    kc_http_response base;
    char text[512];
    size_t read;
} issued_response;

static const kc_http_field json_type = {KC_STR_INIT("content-type"),
                                        KC_STR_INIT("application/json")};
static const kc_transport_ops issuer_ops;

static kc_http_response *issuer_open(kc_transport *t, const kc_http_request *request, kc_error *err)
{
    issuer *i = (issuer *)t;
    char expires[KC_TIME_TEXT];
    if (i->away) {
        kc_error_set(err, KC_FORBIDDEN, "away");
        return NULL;
    }
    snprintf(i->target, sizeof(i->target), "%.*s", KC_ARG(request->target));
    snprintf(i->body, sizeof(i->body), "%.*s", KC_ARG(request->body));
    issued_response *r = kc_new(issued_response);
    r->base =
        (kc_http_response){.ops = &issuer_ops, .status = 201, .fields = &json_type, .n_fields = 1};
    kc_time_print(i->now + i->life * KC_SECOND, expires);
    snprintf(r->text, sizeof(r->text),
             "{\"kind\":\"TokenRequest\",\"apiVersion\":\"authentication.k8s.io/v1\",\"metadata\":"
             "{},\"status\":{\"token\":\"t%d\",\"expirationTimestamp\":\"%s\"}}",
             ++i->issued, expires);
    return &r->base;
}

static ssize_t issuer_read(kc_http_response *response, char *bytes, size_t n, kc_error *err)
{
    issued_response *r = (issued_response *)response;
    const size_t some = KC_MIN(n, strlen(r->text) - r->read);
    (void)err;
    memcpy(bytes, r->text + r->read, some);
    r->read += some;
    return (ssize_t)some;
}

static void issuer_close(kc_http_response *response)
{
    free(response);
}

static void issuer_free(kc_transport *t)
{
    free(t);
}

static const kc_transport_ops issuer_ops = {issuer_open, issuer_read, issuer_close, issuer_free,
                                            NULL};

typedef struct fixture {
    issuer *server;
    kc_client *client;
    kc_pod *pod;
    kc__pod_record *record;
    kc_arena arena;
} fixture;

static void fixture_done(fixture *f)
{
    kc__pod_record_free(f->record);
    kc_pod_free(f->pod);
    kc_arena_done(&f->arena);
    kc_client_unref(f->client);
}

static fixture make_fixture(int64_t life)
{
    fixture f = {.server = kc_new(issuer)};
    kc_auto(kc_object) *object =
        object_of("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','namespace':'space',"
                  "'uid':'u'},'spec':{'serviceAccountName':'robot','containers':[]}}");
    f.server->base.ops = &issuer_ops;
    f.server->now = START;
    f.server->life = life;
    f.client = kc_client_new(&(kc_client_opts){.transport = &f.server->base}, NULL);
    f.pod = kc_pod_of(object, NULL);
    f.record = kc__pod_record_new(f.pod);
    return f;
}

/* The token at a time, or "error". */
static const char *token_at(fixture *f, kc_time now, const char *audience)
{
    kc_scoped(kc_error) err = {0};
    kc_str text;
    int64_t life = f->server->life;
    const kc_token_projection source = {
        .audience = (char *)audience, .expiration_seconds = &life, .path = (char *)"token"};
    const kc__pod_inputs in = {
        .client = f->client, .pod = f->pod, .state = f->record, .arena = &f->arena, .now = now};
    f->server->now = now;
    return kc__pod_token_text(&in, &source, &text, &err) < 0 ? "error" : text.p;
}

static void token_is_requested_for_the_pod(void **state)
{
    (void)state;
    kc_scoped(fixture) f = make_fixture(3600);
    assert_string_equal(token_at(&f, START, "vault"), "t1");
    assert_contains(f.server->target, "/api/v1/namespaces/space/serviceaccounts/robot/token");
    assert_contains(f.server->body, "\"audiences\":[\"vault\"]");
    assert_contains(f.server->body, "\"expirationSeconds\":3600");
    assert_contains(f.server->body,
                    "\"boundObjectRef\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"a\","
                    "\"uid\":\"u\"}");
}

static void token_is_renewed_after_most_of_its_life(void **state)
{
    (void)state;
    kc_scoped(fixture) f = make_fixture(3600);
    assert_string_equal(token_at(&f, START, NULL), "t1");
    assert_int_equal(kc__pod_tokens_renewal(f.record), START + 2880 * KC_SECOND);
    assert_string_equal(token_at(&f, START + 2879 * KC_SECOND, NULL), "t1");
    assert_string_equal(token_at(&f, START + 2880 * KC_SECOND, NULL), "t2");
    assert_int_equal(kc__pod_tokens_renewal(f.record), START + 2 * 2880 * KC_SECOND);
}

static void long_lived_token_is_renewed_daily(void **state)
{
    (void)state;
    kc_scoped(fixture) f = make_fixture(30 * 24 * 3600);
    assert_string_equal(token_at(&f, START, NULL), "t1");
    assert_int_equal(kc__pod_tokens_renewal(f.record), START + 24 * KC_HOUR);
}

static void each_audience_has_a_token(void **state)
{
    (void)state;
    kc_scoped(fixture) f = make_fixture(600);
    assert_string_equal(token_at(&f, START, "a"), "t1");
    assert_string_equal(token_at(&f, START, "b"), "t2");
    assert_string_equal(token_at(&f, START, "a"), "t1");
}

static void valid_token_stays_while_the_server_is_away(void **state)
{
    (void)state;
    kc_scoped(fixture) f = make_fixture(1000);
    assert_string_equal(token_at(&f, START, NULL), "t1");
    f.server->away = true;
    assert_string_equal(token_at(&f, START + 900 * KC_SECOND, NULL), "t1");
    assert_int_equal(kc__pod_tokens_renewal(f.record), START + 910 * KC_SECOND);
    assert_string_equal(token_at(&f, START + 1000 * KC_SECOND, NULL), "error");
    f.server->away = false;
    assert_string_equal(token_at(&f, START + 1001 * KC_SECOND, NULL), "t2");
}

TESTS(token_is_requested_for_the_pod, token_is_renewed_after_most_of_its_life,
      long_lived_token_is_renewed_daily, each_audience_has_a_token,
      valid_token_stays_while_the_server_is_away)
