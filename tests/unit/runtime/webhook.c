/* SPDX-License-Identifier: Apache-2.0 */
/* Webhooks as an API server meets them: over HTTPS, with the caBundle it was given. */
#include "testing.h"

#include "http/certificate.h"
#include "kc/base64.h"
#include "kc/controller.h"
#include "kc/embed.h"
#include "kc/kinds.h"
#include "kc/webhook.h"
#include "runtime/webhook_certs.h"

#include <openssl/ssl.h>
#include <stdio.h>
#include <unistd.h>

#define DAY (24 * KC_HOUR)

static const kc_kind robot = {
    .group = "robot.io", .version = "v1", .kind = "Robot", .plural = "robots", .namespaced = true};

/* A server, and a manager whose virtual time passes by itself, a little faster than real time. */
typedef struct stage {
    kc_embed *server;
    kc_client *client;
    kc_clock *clock;
    kc_log *log;
    kc_metrics *metrics;
    kc_manager *manager;
    kc_webhook_server *hooks;
    kc_thread *ticker;
    _Atomic bool stop;
    _Atomic int calls;
    kc_mutex mutex; /* Guards `held`. */
    kc_cond changed;
    bool held;
} stage;

static void say_nothing(kc_str line, void *user)
{
    (void)line;
    (void)user;
}

static void tick(void *user)
{
    stage *s = user;
    while (!atomic_load(&s->stop)) {
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
        kc_clock_advance(s->clock, 10 * KC_MILLISECOND);
    }
}

#define CONFIGURATION                                                           \
    "{'apiVersion':'admissionregistration.k8s.io/v1','kind':"                   \
    "'MutatingWebhookConfiguration','metadata':{'name':'hooks'},'webhooks':[{"  \
    "'name':'one.x.io','clientConfig':{'url':'https://127.0.0.1:9443/mutate'}," \
    "'rules':[{'operations':['CREATE'],'apiGroups':[''],'apiVersions':['v1'],"  \
    "'resources':['pods']}],'sideEffects':'None','admissionReviewVersions':['v1']}]}"

static const char *const configurations[] = {"hooks", NULL};

static stage *stage_new(const kc_webhook_server_opts *opts, int64_t ago)
{
    stage *s = kc_new(stage);
    kc_scoped(kc_error) err = {0};
    kc_webhook_server_opts with = opts ? *opts : (kc_webhook_server_opts){0};
    with.address = "127.0.0.1:0";
    with.configurations = configurations;
    kc_mutex_init(&s->mutex);
    kc_cond_init(&s->changed);
    s->server = kc_embed_start(NULL, NULL);
    s->client = kc_embed_client(s->server, NULL);
    kc_auto(kc_object) *configuration = object_of(CONFIGURATION);
    kc_object_unref(kc_client_create(s->client, configuration, NULL, NULL));
    s->clock = kc_clock_virtual_new(kc_clock_wall(kc_clock_real()) - ago);
    s->metrics = kc_metrics_new();
    s->log = kc_log_new(&(kc_log_opts){.write = say_nothing});
    s->manager = kc_manager_new(&(kc_manager_opts){.client = s->client,
                                                   .clock = s->clock,
                                                   .metrics = s->metrics,
                                                   .own_signals = true,
                                                   .health_address = "127.0.0.1:0",
                                                   .log = s->log},
                                &err);
    assert_non_null(s->manager);
    s->hooks = kc_webhook_server_new(s->manager, &with, &err);
    if (!s->hooks)
        fail_msg("%s", kc_error_text(&err));
    return s;
}

static stage *started(stage *s)
{
    kc_scoped(kc_error) err = {0};
    s->ticker = kc_thread_start("ticker", tick, s, NULL);
    if (kc_manager_start(s->manager, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return s;
}

static void stage_free(stage *s)
{
    if (!s)
        return;
    kc_manager_free(s->manager);
    atomic_store(&s->stop, true);
    kc_thread_join(s->ticker);
    kc_metrics_free(s->metrics);
    kc_log_free(s->log);
    kc_client_unref(s->client);
    kc_embed_stop(s->server);
    kc_clock_free(s->clock);
    kc_cond_done(&s->changed);
    kc_mutex_done(&s->mutex);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

/* ---- the API server's part ---- */

static kc_buf bundle(stage *s)
{
    kc_buf out = {0};
    kc_auto(kc_object) *c =
        kc_client_get(s->client, &kc_kind_mutating_webhook, KC_KEY("", "hooks"), NULL, NULL);
    kc_auto(kc_view) *view = kc_view_of(c);
    const kc_value *webhook = kc_at(kc_get(kc_view_root(view), "webhooks"), 0);
    assert_true(kc_base64_read(&out, kc_as_str(kc_get(kc_get(webhook, "clientConfig"), "caBundle")),
                               KC_BASE64));
    return out;
}

/* A way to the hooks for who trusts this bundle. */
static kc_transport *way_with(stage *s, kc_str ca, bool http1)
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

static kc_transport *way(stage *s)
{
    kc_scoped(kc_buf) ca = bundle(s);
    return way_with(s, kc_buf_str(&ca), false);
}

/* The status, or -1 when it cannot be reached; the body replaces `out`. */
static int call(kc_transport *t, const char *method, const char *path, const char *body,
                kc_buf *out)
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
        const ssize_t n = kc_http_read(r, chunk, sizeof(chunk), NULL);
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

static void assert_answer(kc_transport *t, const char *path, const char *body, const char *part)
{
    kc_scoped(kc_buf) out = {0};
    assert_int_equal(call(t, "POST", path, body, &out), 200);
    assert_contains(kc_buf_cstr(&out), part);
}

/* ---- the program's part ---- */

static int allow(const kc_admission *request, kc_admission_answer *ret, void *user, kc_error *err)
{
    stage *s = user;
    (void)request;
    (void)ret;
    (void)err;
    atomic_fetch_add(&s->calls, 1);
    return 0;
}

static int hold(const kc_admission *request, kc_admission_answer *ret, void *user, kc_error *err)
{
    stage *s = user;
    allow(request, ret, user, err);
    kc_locked (&s->mutex)
        while (s->held)
            kc_cond_wait(&s->changed, &s->mutex);
    return 0;
}

static int crash(const kc_admission *request, kc_admission_answer *ret, void *user, kc_error *err)
{
    (void)request;
    (void)ret;
    (void)user;
    (void)err;
    kc_reconcile_abort("oops");
}

static int set_defaults(kc_edit *edit, const kc_admission *request, void *user, kc_error *err)
{
    (void)request;
    (void)user;
    (void)err;
    kc_node *spec = kc_node_need_object(edit, kc_edit_root(edit), KC_STR("spec"));
    kc_node_set(edit, spec, KC_STR("arms"), kc_node_i64(edit, 2));
    return 0;
}

static int validate(const kc_admission *request, kc_warnings *warnings, void *user, kc_error *err)
{
    (void)user;
    kc_warn(warnings, "seen");
    return kc_str_is(request->name, "bad") ? kc_error_set(err, KC_INVALID, "it is bad") : 0;
}

static kc_object *convert(const kc_object *object, kc_str desired, void *user, kc_error *err)
{
    (void)user;
    (void)err;
    return kc_object_with_api_version(object, desired);
}

static stage *serving(void)
{
    stage *s = stage_new(NULL, 0);
    assert_int_equal(kc_webhook_handle(s->hooks, "/allow", allow, s, NULL), 0);
    return started(s);
}

/* ---- serving ---- */

static void every_kind_of_hook_has_its_path(void **state)
{
    (void)state;
    kc_auto(stage) *s = serving();
    kc_auto(kc_transport) *t = way(s);
    assert_int_equal(kc_webhook_default(s->hooks, &robot, set_defaults, s, NULL), 0);
    assert_int_equal(kc_webhook_default(s->hooks, &kc_kind_pod, set_defaults, s, NULL), 0);
    assert_int_equal(kc_webhook_validate(s->hooks, &robot, validate, s, NULL), 0);
    assert_int_equal(kc_webhook_convert(s->hooks,
                                        (kc_group_kind){KC_STR("robot.io"), KC_STR("Robot")},
                                        convert, NULL, NULL),
                     0);
    assert_answer(t, "/allow", REVIEW("a"), "\"uid\":\"u-a\",\"allowed\":true");
    assert_answer(t, "/mutate-robot-io-v1-robot?timeout=10s", REVIEW("a"), "JSONPatch");
    assert_answer(t, "/mutate--v1-pod", REVIEW("a"), "want /v1, Kind=Pod");
    assert_answer(t, "/validate-robot-io-v1-robot", REVIEW("a"), "\"warnings\":[\"seen\"]");
    assert_answer(t, "/validate-robot-io-v1-robot", REVIEW("bad"), "\"code\":422");
    assert_answer(t, "/convert",
                  "{'request':{'uid':'c','desiredAPIVersion':'robot.io/v2','objects':[{"
                  "'apiVersion':'robot.io/v1','kind':'Robot'}]}}",
                  "{\"apiVersion\":\"robot.io/v2\",\"kind\":\"Robot\"}");
}

static void paths_and_conversions_are_taken_once(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(NULL, 0);
    kc_scoped(kc_error) err = {0};
    const kc_group_kind kind = {KC_STR("robot.io"), KC_STR("Robot")};
    kc_webhook_handle(s->hooks, "/a", allow, s, NULL);
    assert_true(kc_webhook_handle(s->hooks, "/a", allow, s, &err) < 0);
    assert_error(&err, KC_ALREADY_EXISTS, "there is a webhook at /a already");
    assert_true(kc_webhook_handle(s->hooks, "a", allow, s, &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "a is not a path");
    assert_int_equal(kc_webhook_convert(s->hooks, kind, convert, NULL, NULL), 0);
    assert_true(kc_webhook_convert(s->hooks, kind, convert, NULL, &err) < 0);
    assert_error(&err, KC_ALREADY_EXISTS, "Robot.robot.io");
    assert_null(kc_webhook_server_new(s->manager, NULL, &err));
    assert_error(&err, KC_ALREADY_EXISTS, "webhook");
}

static void options_that_cannot_be_are_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(NULL, 0);
    static const char *const wrong[] = {"two words", NULL}, *const none[] = {NULL};
    static const struct {
        kc_webhook_server_opts opts;
        const char *said;
    } cases[] = {
        {{.address = "nowhere"}, "nowhere is not an address"},
        {{.names = wrong}, "\"two words\" is no name"},
        {{.names = none}, "has 1 to 64 names"},
        {{.secret_name = "x"}, "needs a namespace"},
        {{.secret_name = "x", .secret_ns = "y"}, "needs names"},
        {{.secret_name = "x", .secret_ns = "y", .cert_dir = "/"}, "not from both"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_error) err = {0};
        assert_null(kc_webhook_server_new(s->manager, &cases[i].opts, &err));
        assert_error(&err, KC_BAD_REQUEST, cases[i].said);
    }
}

static void other_paths_and_methods_are_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = serving();
    kc_auto(kc_transport) *t = way(s);
    kc_scoped(kc_buf) out = {0};
    assert_int_equal(call(t, "POST", "/nothing", REVIEW("a"), &out), 404);
    assert_int_equal(call(t, "GET", "/allow", "", &out), 405);
    assert_int_equal(call(t, "POST", "/allow", "", &out), 200);
    assert_contains(kc_buf_cstr(&out), "request body is empty");
}

static void a_body_beyond_the_limit_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = serving();
    kc_auto(kc_transport) *t = way(s);
    kc_scoped(kc_buf) out = {0};
    kc_autofree char *large = kc_calloc(1, (17 << 20) + 1);
    memset(large, ' ', 17 << 20);
    /* Who is still sending may see the end of the stream before the answer. */
    const int status = call(t, "POST", "/allow", large, &out);
    assert_true(status == 413 || status == -1);
    assert_int_equal(atomic_load(&s->calls), 0);
    assert_answer(t, "/allow", REVIEW("a"), "\"allowed\":true");
}

static void a_crash_is_answered_and_the_server_goes_on(void **state)
{
    (void)state;
    kc_auto(stage) *s = serving();
    kc_auto(kc_transport) *t = way(s);
    kc_webhook_handle(s->hooks, "/crash", crash, s, NULL);
    assert_answer(t, "/crash", REVIEW("a"), "panic: oops [recovered]");
    assert_answer(t, "/allow", REVIEW("a"), "\"allowed\":true");
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(s->metrics, &text);
    assert_contains(kc_buf_cstr(&text), "controller_runtime_webhook_panics_total 1\n");
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

static void many_are_answered_at_a_time(void **state)
{
    (void)state;
    kc_auto(stage) *s = serving();
    kc_auto(kc_transport) *t = way(s);
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

static void who_calls_when_it_stops_is_still_answered(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(NULL, 0);
    kc_webhook_handle(s->hooks, "/hold", hold, s, NULL);
    s->held = true;
    started(s);
    kc_auto(kc_transport) *t = way(s);
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

/* ---- readiness ---- */

static int readiness(stage *s, kc_buf *out)
{
    kc_autofree char *url = kc_asprintf("http://127.0.0.1:%d", kc_manager_health_port(s->manager));
    kc_auto(kc_config) *config = kc_config_for_url(url);
    kc_auto(kc_transport) *t = kc_transport_http_new(config, NULL, NULL);
    return call(t, "GET", "/readyz/webhook", "", out);
}

static void it_is_part_of_readiness(void **state)
{
    (void)state;
    kc_auto(stage) *s = serving();
    kc_scoped(kc_buf) out = {0};
    assert_int_equal(readiness(s, &out), 200);
}

/* ---- certificates ---- */

static void who_does_not_trust_us_does_not_talk_to_us(void **state)
{
    (void)state;
    kc_auto(stage) *s = serving(), *other = serving();
    kc_scoped(kc_buf) ca = bundle(other), out = {0};
    kc_auto(kc_transport) *t = way_with(s, kc_buf_str(&ca), false);
    assert_int_equal(call(t, "POST", "/allow", REVIEW("a"), &out), -1);
    assert_contains(kc_buf_cstr(&out), "certificate");
}

/* The serial number of what is shown would do; the end of the check is what an API server sees. */
static bool answers(stage *s, kc_str ca)
{
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_transport) *t = way_with(s, ca, true);
    return call(t, "POST", "/allow", REVIEW("a"), &out) == 200;
}

/* The certificate that is shown to who connects, as PEM. */
static char *shown_by(stage *s)
{
    kc_buf out = {0};
    char address[32];
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    BIO *bio = BIO_new_ssl_connect(ctx);
    SSL *ssl = NULL;
    snprintf(address, sizeof(address), "127.0.0.1:%d", kc_webhook_server_port(s->hooks));
    BIO_set_conn_hostname(bio, address);
    assert_int_equal(BIO_do_handshake(bio), 1);
    BIO_get_ssl(bio, &ssl);
    X509 *cert = SSL_get1_peer_certificate(ssl);
    kc__cert_write(cert, &out, NULL);
    X509_free(cert);
    BIO_free_all(bio);
    SSL_CTX_free(ctx);
    return kc_buf_take(&out);
}

/* Made sixty days ago, and renewed now: before and after are good for the same bundle. */
static void a_renewed_certificate_is_served_without_a_break(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(NULL, 60 * DAY);
    kc_webhook_handle(s->hooks, "/allow", allow, s, NULL);
    started(s);
    kc_scoped(kc_buf) ca = bundle(s);
    kc_autofree char *before = shown_by(s), *after = NULL;
    kc_auto(kc_transport) *open = way_with(s, kc_buf_str(&ca), false);
    assert_answer(open, "/allow", REVIEW("a"), "true");
    kc_clock_advance(s->clock, 60 * DAY);
    do {
        assert_true(answers(s, kc_buf_str(&ca)));
        assert_answer(open, "/allow", REVIEW("a"), "true");
        free(after);
        after = shown_by(s);
    } while (strcmp(before, after) == 0);
    assert_true(answers(s, kc_buf_str(&ca)));
}

/* Six hundred days ago: a new authority beside the old. */
static void a_renewed_authority_is_published_beside_the_old(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new(NULL, 600 * DAY);
    kc_webhook_handle(s->hooks, "/allow", allow, s, NULL);
    started(s);
    kc_scoped(kc_buf) first = bundle(s);
    kc_clock_advance(s->clock, 600 * DAY);
    kc_buf now = bundle(s);
    while (now.n == first.n) {
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
        kc_buf_done(&now);
        now = bundle(s);
    }
    assert_true(kc_str_ends(kc_buf_str(&now), kc_buf_str(&first)));
    while (!answers(s, kc_buf_str(&now)))
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
    kc_buf_done(&now);
}

/* ---- a folder ---- */

typedef struct folder {
    char path[40];
    kc__hook_certs certs;
} folder;

static void put(const folder *f, const char *name, const kc_buf *text)
{
    kc_autofree char *path = kc_asprintf("%s/%s", f->path, name);
    FILE *file = fopen(path, "w");
    assert_int_equal(fwrite(text->p, 1, text->n, file), text->n);
    fclose(file);
}

static void fill(folder *f)
{
    static const char *const names[] = {"127.0.0.1", NULL};
    const kc__hook_certs_spec spec = {.names = names, .valid = DAY};
    const char *why = NULL;
    kc__hook_certs_done(&f->certs);
    f->certs = (kc__hook_certs){0};
    assert_int_equal(
        kc__hook_certs_renew(&f->certs, &spec, kc_clock_wall(kc_clock_real()), &why, NULL), 0);
    put(f, "tls.crt", &f->certs.cert);
    put(f, "tls.key", &f->certs.key);
    put(f, "ca.crt", &f->certs.authorities);
}

static void folder_make(folder *f)
{
    *f = (folder){0};
    snprintf(f->path, sizeof(f->path), "/tmp/kc-webhook-XXXXXX");
    assert_non_null(mkdtemp(f->path));
}

static void folder_done(folder *f)
{
    static const char *const files[] = {"tls.crt", "tls.key", "ca.crt"};
    for (size_t i = 0; i < KC_COUNT(files); i++) {
        kc_autofree char *path = kc_asprintf("%s/%s", f->path, files[i]);
        unlink(path);
    }
    rmdir(f->path);
    kc__hook_certs_done(&f->certs);
}

static void files_that_change_are_read_again(void **state)
{
    (void)state;
    kc_scoped(folder) f;
    folder_make(&f);
    fill(&f);
    kc_auto(stage) *s = stage_new(&(kc_webhook_server_opts){.cert_dir = f.path}, 0);
    kc_webhook_handle(s->hooks, "/allow", allow, s, NULL);
    started(s);
    assert_true(answers(s, kc_buf_str(&f.certs.authorities)));
    kc_scoped(kc_buf) old = bundle(s);
    assert_true(kc_str_eq(kc_buf_str(&old), kc_buf_str(&f.certs.authorities)));
    fill(&f);
    assert_false(answers(s, kc_buf_str(&f.certs.authorities)));
    kc_clock_advance(s->clock, 11 * KC_SECOND);
    while (!answers(s, kc_buf_str(&f.certs.authorities)))
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
}

static void files_that_do_not_fit_are_not_served(void **state)
{
    (void)state;
    kc_scoped(folder) f, other;
    folder_make(&f);
    folder_make(&other);
    fill(&f);
    fill(&other);
    kc_auto(stage) *s = stage_new(&(kc_webhook_server_opts){.cert_dir = f.path}, 0);
    kc_webhook_handle(s->hooks, "/allow", allow, s, NULL);
    started(s);
    put(&f, "tls.crt", &other.certs.cert);
    for (int i = 0; i < 5; i++) {
        kc_clock_advance(s->clock, 11 * KC_SECOND);
        assert_true(answers(s, kc_buf_str(&f.certs.authorities)));
    }
    put(&f, "tls.key", &other.certs.key);
    kc_clock_advance(s->clock, 11 * KC_SECOND);
    while (!answers(s, kc_buf_str(&other.certs.authorities)))
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
}

static void a_folder_without_certificates_fails_the_manager(void **state)
{
    (void)state;
    kc_scoped(folder) f;
    kc_scoped(kc_error) err = {0};
    folder_make(&f);
    kc_auto(stage) *s = stage_new(&(kc_webhook_server_opts){.cert_dir = f.path}, 0);
    s->ticker = kc_thread_start("ticker", tick, s, NULL);
    assert_true(kc_manager_start(s->manager, &err) < 0);
    assert_error(&err, KC_NOT_FOUND, "tls.crt");
}

TESTS(every_kind_of_hook_has_its_path, paths_and_conversions_are_taken_once,
      options_that_cannot_be_are_refused, other_paths_and_methods_are_refused,
      a_body_beyond_the_limit_is_refused, a_crash_is_answered_and_the_server_goes_on,
      many_are_answered_at_a_time, who_calls_when_it_stops_is_still_answered,
      it_is_part_of_readiness, who_does_not_trust_us_does_not_talk_to_us,
      a_renewed_certificate_is_served_without_a_break,
      a_renewed_authority_is_published_beside_the_old, files_that_change_are_read_again,
      files_that_do_not_fit_are_not_served, a_folder_without_certificates_fails_the_manager)
