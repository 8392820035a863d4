/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_testing.h: a server with a webhook configuration, a manager with a webhook server, and
 * the calling side of an API server: over HTTPS, with the published caBundle.
 *
 *     kc_auto(stage) *s = stage_new(NULL, 0);
 *     kc_webhook_add_handler(s->hooks, "/allow", allow, s, NULL);
 *     started(s);
 *     kc_auto(kc_transport) *t = transport_to_webhook(s);
 *     assert_answer(t, "/allow", REVIEW("a"), "true");
 */
#ifndef KC_WEBHOOK_TESTING_H
#define KC_WEBHOOK_TESTING_H

#include "testing.h"

#include "kc/base64.h"
#include "kc/controller.h"
#include "kc/embedded_server.h"
#include "kc/kinds.h"
#include "kc/webhook.h"

/* A server, and a manager whose virtual time advances by itself, a little faster than real time. */
typedef struct stage {
    kc_embedded_server *server;
    kc_client *client;
    kc_clock *clock;
    kc_log *log;
    kc_metrics *metrics;
    kc_manager *manager;
    kc_webhook_server *hooks;
    kc_thread *ticker;
    _Atomic bool stop;
    _Atomic int calls;
    kc_mutex mutex; /* Guards the fields below. */
    kc_cond changed;
    bool held;
} stage;

static inline KC_UNUSED void discard_line(kc_str line, void *user)
{
    (void)line;
    (void)user;
}

static inline KC_UNUSED void tick(void *user)
{
    stage *s = user;
    while (!atomic_load(&s->stop)) {
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
        kc_clock_advance(s->clock, 10 * KC_MILLISECOND);
    }
}

/* Ends the thread that advances virtual time: from now on only the test itself does. */
static inline KC_UNUSED void pause_time(stage *s)
{
    atomic_store(&s->stop, true);
    kc_thread_join(s->ticker);
    s->ticker = NULL;
}

#define CONFIGURATION                                                           \
    "{'apiVersion':'admissionregistration.k8s.io/v1','kind':"                   \
    "'MutatingWebhookConfiguration','metadata':{'name':'hooks'},'webhooks':[{"  \
    "'name':'one.x.io','clientConfig':{'url':'https://127.0.0.1:9443/mutate'}," \
    "'rules':[{'operations':['CREATE'],'apiGroups':[''],'apiVersions':['v1'],"  \
    "'resources':['pods']}],'sideEffects':'None','admissionReviewVersions':['v1']}]}"

static const char *const configurations[] = {"hooks", NULL};

static inline KC_UNUSED stage *stage_new(const kc_webhook_server_opts *opts, int64_t ago)
{
    stage *s = kc_new(stage);
    kc_scoped(kc_error) err = {0};
    kc_webhook_server_opts with = opts ? *opts : (kc_webhook_server_opts){0};
    with.address = "127.0.0.1:0";
    with.configurations = configurations;
    kc_mutex_init(&s->mutex);
    kc_cond_init(&s->changed);
    s->server = kc_embedded_server_start(NULL, NULL);
    s->client = kc_embedded_server_client(s->server, NULL);
    kc_auto(kc_object) *configuration = object_of(CONFIGURATION);
    kc_object_unref(kc_client_create(s->client, configuration, NULL, NULL));
    s->clock = kc_clock_virtual_new(kc_clock_wall(kc_clock_real()) - ago);
    s->metrics = kc_metrics_new();
    s->log = kc_log_new(&(kc_log_opts){.write = discard_line});
    s->manager = kc_manager_new(&(kc_manager_opts){.client = s->client,
                                                   .clock = s->clock,
                                                   .metrics = s->metrics,
                                                   .no_signal_handlers = true,
                                                   .health_address = "127.0.0.1:0",
                                                   .log = s->log},
                                &err);
    assert_non_null(s->manager);
    s->hooks = kc_webhook_server_new(s->manager, &with, &err);
    if (!s->hooks)
        fail_msg("%s", kc_error_text(&err));
    return s;
}

static inline KC_UNUSED stage *started(stage *s)
{
    kc_scoped(kc_error) err = {0};
    s->ticker = kc_thread_start("ticker", tick, s, NULL);
    if (kc_manager_start(s->manager, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return s;
}

static inline KC_UNUSED void stage_free(stage *s)
{
    if (!s)
        return;
    kc_manager_free(s->manager);
    atomic_store(&s->stop, true);
    kc_thread_join(s->ticker);
    kc_metrics_free(s->metrics);
    kc_log_free(s->log);
    kc_client_unref(s->client);
    kc_embedded_server_stop(s->server);
    kc_clock_free(s->clock);
    kc_cond_done(&s->changed);
    kc_mutex_done(&s->mutex);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

/* ---- API server side ---- */

static inline KC_UNUSED kc_buf bundle(stage *s)
{
    kc_buf out = {0};
    kc_auto(kc_object) *c =
        kc_client_get(s->client, &kc_kind_mutating_webhook, KC_KEY("", "hooks"), NULL, NULL);
    kc_auto(kc_view) *view = kc_view_of(c);
    const kc_value *webhook = kc_value_at(kc_value_get(kc_view_root(view), "webhooks"), 0);
    assert_true(kc_base64_read(
        &out, kc_value_as_str(kc_value_get(kc_value_get(webhook, "clientConfig"), "caBundle")),
        KC_BASE64));
    return out;
}

/* A transport to the hooks that trusts this CA bundle. */
static inline KC_UNUSED kc_transport *transport_with_ca(stage *s, kc_str ca, bool http1)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *url = kc_asprintf("https://127.0.0.1:%d", kc_webhook_server_port(s->hooks));
    const kc_config config = {.server = url, .ca_data = ca, .ns = "default"};
    kc_transport *t =
        kc_transport_http_new(&config, &(kc_transport_http_opts){.http1 = http1}, &err);
    if (!t)
        fail_msg("%s", kc_error_text(&err));
    return t;
}

static inline KC_UNUSED kc_transport *transport_to_webhook(stage *s)
{
    kc_scoped(kc_buf) ca = bundle(s);
    return transport_with_ca(s, kc_buf_str(&ca), false);
}

/* The status, or -1 if the server cannot be reached; the body replaces `out`. */
static inline KC_UNUSED int call(kc_transport *t, const char *method, const char *path,
                                 const char *body, kc_buf *out)
{
    kc_scoped(kc_error) err = {0};
    kc_autofree char *text = kc_strdup(body);
    const kc_http_field type = {KC_STR("Content-Type"), KC_STR("application/json")};
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    const kc_http_request request = {.method = method,
                                     .target = kc_cstr(path),
                                     .fields = &type,
                                     .n_fields = 1,
                                     .body = kc_cstr(text)};
    kc_auto(kc_http_response) *r = kc_transport_open(t, &request, &err);
    kc_buf_clear(out);
    if (!r) {
        kc_buf_puts(out, kc_error_text(&err));
        return -1;
    }
    for (char chunk[4096];;) {
        const ssize_t n = kc_http_response_read(r, chunk, sizeof(chunk), NULL);
        if (n <= 0)
            return n < 0 ? -1 : r->status;
        kc_buf_append(out, kc_str_of(chunk, (size_t)n));
    }
}

#define REVIEW(name)                                                                         \
    "{'kind':'AdmissionReview','apiVersion':'admission.k8s.io/v1','request':{'uid':'u-" name \
    "','operation':'CREATE','name':'" name                                                   \
    "','kind':{'group':'robot.io','version':'v1','kind':'Robot'},"                           \
    "'object':{'apiVersion':'robot.io/v1','kind':'Robot','metadata':{'name':'" name "'}}}}"

static inline KC_UNUSED void assert_answer(kc_transport *t, const char *path, const char *body,
                                           const char *part)
{
    kc_scoped(kc_buf) out = {0};
    assert_int_equal(call(t, "POST", path, body, &out), 200);
    assert_contains(kc_buf_cstr(&out), part);
}

/* ---- program side ---- */

static inline KC_UNUSED int allow(const kc_admission_request *request, kc_admission_response *ret,
                                  void *user, kc_error *err)
{
    stage *s = user;
    (void)request;
    (void)ret;
    (void)err;
    atomic_fetch_add(&s->calls, 1);
    return 0;
}

/* ---- readiness ---- */

static inline KC_UNUSED int readiness(stage *s, kc_buf *out)
{
    kc_autofree char *url = kc_asprintf("http://127.0.0.1:%d", kc_manager_health_port(s->manager));
    kc_auto(kc_config) *config = kc_config_for_url(url);
    kc_auto(kc_transport) *t = kc_transport_http_new(config, NULL, NULL);
    return call(t, "GET", "/readyz/webhook", "", out);
}

#endif
