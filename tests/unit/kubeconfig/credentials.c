/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials that change: files that are reloaded, and exec plugins that run again. */
#include "transport_testing.h"

#include "kubeconfig/exec_credential.h"
#include "kubeconfig/exec_process.h"

#include <sys/stat.h>

/* ---- fixture: server with one token ---- */

typedef struct guard {
    kc_mutex mutex; /* Guards token. */
    char token[64];
} guard;

static void guards(raw_server *s, client *c, int nth)
{
    guard *g = s->user;
    kc_scoped(kc_buf) in = {0};
    (void)nth;
    for (const char *text; (text = raw_next(s, c, &in));) {
        char line[128];
        kc_locked (&g->mutex)
            snprintf(line, sizeof(line), "Authorization: Bearer %s\r\n", g->token);
        client_send(c, strstr(text, line)
                           ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                           : "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno");
    }
}

static void guard_set(guard *g, const char *token)
{
    kc_locked (&g->mutex)
        snprintf(g->token, sizeof(g->token), "%s", token);
}

typedef struct fixture {
    char *folder;
    guard guard;
    raw_server *server;
    kc_clock *clock;
    kc_arena arena;
} fixture;

static fixture *fixture_new(const char *token)
{
    fixture *s = kc_new(fixture);
    s->folder = folder_make();
    kc_mutex_init(&s->guard.mutex);
    guard_set(&s->guard, token);
    s->server = raw_start(guards, &s->guard);
    s->clock = kc_clock_virtual_new(1700000000 * KC_SECOND);
    return s;
}

static void fixture_free(fixture *s)
{
    if (!s)
        return;
    raw_stop(s->server);
    kc_clock_free(s->clock);
    kc_mutex_done(&s->guard.mutex);
    folder_remove(s->folder);
    kc_arena_done(&s->arena);
    free(s);
}
KC_AUTO_DEFINE(fixture, fixture_free)

static const char *path(fixture *s, const char *name)
{
    return kc_arena_printf(&s->arena, "%s/%s", s->folder, name);
}

static kc_transport *open_with(fixture *s, const kc_config *config)
{
    kc_scoped(kc_error) err = {0};
    kc_transport *t =
        kc_transport_http_new(config, &(kc_transport_http_opts){.clock = s->clock}, &err);
    if (!t)
        fail_msg("%s", kc_error_text(&err));
    return t;
}

/* ---- files ---- */

static void token_file_is_reloaded_after_a_minute(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new("one");
    file_put(path(s, "token"), "one\n");
    const kc_config config = {.server = s->server->url, .token_file = path(s, "token")};
    kc_auto(kc_transport) *t = open_with(s, &config);
    assert_int_equal(GET(t, "/"), 200);
    file_put(path(s, "token"), "two\n");
    assert_int_equal(GET(t, "/"), 200);
    kc_clock_advance(s->clock, KC_MINUTE);
    guard_set(&s->guard, "two");
    assert_int_equal(GET(t, "/"), 200);
    assert_int_equal(raw_requests(s->server), 3);
}

static void unauthorized_token_is_reloaded_at_once(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new("one");
    file_put(path(s, "token"), "one");
    const kc_config config = {.server = s->server->url, .token_file = path(s, "token")};
    kc_auto(kc_transport) *t = open_with(s, &config);
    assert_int_equal(GET(t, "/"), 200);
    guard_set(&s->guard, "two");
    file_put(path(s, "token"), "two");
    assert_int_equal(request_status(t, "POST", "/", "{}"), 200);
    assert_int_equal(raw_requests(s->server), 3);
    /* Nothing new: the refusal stands, and is not repeated. */
    guard_set(&s->guard, "three");
    assert_int_equal(GET(t, "/"), 401);
    assert_int_equal(raw_requests(s->server), 4);
}

static void token_is_kept_while_its_file_is_missing(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new("one");
    file_put(path(s, "token"), "one");
    const kc_config config = {.server = s->server->url, .token_file = path(s, "token")};
    kc_auto(kc_transport) *t = open_with(s, &config);
    unlink(path(s, "token"));
    kc_clock_advance(s->clock, 2 * KC_MINUTE);
    assert_int_equal(GET(t, "/"), 200);
}

static void token_with_control_characters_is_refused(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new("one");
    kc_scoped(kc_error) err = {0};
    file_put(path(s, "token"), "one\r\nX-Evil: 1");
    const kc_config config = {.server = s->server->url, .token_file = path(s, "token")};
    assert_null(kc_transport_http_new(&config, NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "is not a valid token");
    file_put(path(s, "token"), " \n");
    assert_null(kc_transport_http_new(&config, NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "is empty");
}

static void changed_client_certificate_opens_new_connections(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_start(&(stage_opts){.refuse_anonymous = true});
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(1700000000 * KC_SECOND);
    kc_autofree char *cert = in_folder(s, "mine.crt");
    kc_autofree char *key = in_folder(s, "mine.key");
    /* Of an authority the server does not know. */
    identity untrusted = identity_new("alice", NULL, NULL);
    write_cert(&untrusted, cert);
    write_key(&untrusted, key);
    identity_done(&untrusted);
    const kc_config config = {
        .server = s->tls_url, .ca_file = s->ca_file, .cert_file = cert, .key_file = key};
    kc_auto(kc_transport) *t =
        kc_transport_http_new(&config, &(kc_transport_http_opts){.clock = clock}, NULL);
    kc_scoped(kc_buf) out = {0};
    assert_true(request(t, "GET", "/version", NULL, &out, NULL) < 0);
    assert_int_equal(rename(s->user_cert_file, cert), 0);
    assert_int_equal(rename(s->user_key_file, key), 0);
    kc_clock_advance(clock, KC_MINUTE);
    assert_int_equal(GET(t, "/api/v1/namespaces"), 200);
}

/* ---- programs ---- */

#define V1 "client.authentication.k8s.io/v1"

/* A program that counts its runs in the file "runs" and then does as the script says. */
static const char *program(fixture *s, const char *script)
{
    const char *file = path(s, "login");
    kc_autofree char *text =
        kc_asprintf("#!/bin/sh\ncd '%s'\necho run >> runs\n%s\n", s->folder, script);
    file_put(file, text);
    chmod(file, 0755);
    return file;
}

static int runs(fixture *s)
{
    int n = 0;
    FILE *file = fopen(path(s, "runs"), "r");
    for (int c; file && (c = fgetc(file)) != EOF;)
        n += c == '\n';
    if (file)
        fclose(file);
    return n;
}

#define PRINT(status) \
    "printf '%s' '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":{" status "}}'"

static kc_exec_config plugin(const char *command)
{
    return (kc_exec_config){.command = command, .api_version = V1, .interactive = KC_EXEC_NEVER};
}

static void exec_plugin_runs_once_for_all_requests(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new("t");
    const kc_exec_config exec = plugin(program(s, PRINT("\"token\":\"t\"")));
    const kc_config config = {.server = s->server->url, .exec = &exec};
    kc_auto(kc_transport) *t = open_with(s, &config);
    assert_int_equal(runs(s), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(GET(t, "/"), 200);
    assert_int_equal(runs(s), 1);
}

static void exec_plugin_runs_again_when_its_token_expires(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new("t");
    /* The virtual clock stands at 22:13:20. */
    const kc_exec_config exec = plugin(
        program(s, PRINT("\"token\":\"t\",\"expirationTimestamp\":\"2023-11-14T22:14:00Z\"")));
    const kc_config config = {.server = s->server->url, .exec = &exec};
    kc_auto(kc_transport) *t = open_with(s, &config);
    assert_int_equal(GET(t, "/"), 200);
    kc_clock_advance(s->clock, 39 * KC_SECOND);
    assert_int_equal(GET(t, "/"), 200);
    assert_int_equal(runs(s), 1);
    kc_clock_advance(s->clock, 2 * KC_SECOND);
    assert_int_equal(GET(t, "/"), 200);
    assert_int_equal(runs(s), 2);
}

static void exec_plugin_runs_again_when_its_token_is_unauthorized(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new("run1");
    const kc_exec_config exec =
        plugin(program(s, "echo \"{\\\"kind\\\":\\\"ExecCredential\\\",\\\"apiVersion\\\":\\\"" V1
                          "\\\",\\\"status\\\":{\\\"token\\\":\\\"run$(wc -l < runs)\\\"}}\""));
    const kc_config config = {.server = s->server->url, .exec = &exec};
    kc_auto(kc_transport) *t = open_with(s, &config);
    assert_int_equal(GET(t, "/"), 200);
    guard_set(&s->guard, "run2");
    assert_int_equal(GET(t, "/"), 200);
    assert_int_equal(runs(s), 2);
    guard_set(&s->guard, "nobody");
    assert_int_equal(GET(t, "/"), 401);
    assert_int_equal(runs(s), 3);
}

typedef struct getter {
    kc_transport *t;
    kc_thread *thread;
    int status;
} getter;

static void get_one(void *user)
{
    getter *g = user;
    kc_scoped(kc_buf) out = {0};
    g->status = request(g->t, "GET", "/", NULL, &out, NULL);
}

static void one_run_of_the_exec_plugin_serves_all_waiters(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new("t");
    const kc_exec_config exec = plugin(program(s, "sleep 0.3; " PRINT("\"token\":\"t\"")));
    const kc_config config = {.server = s->server->url, .exec = &exec};
    kc_auto(kc_transport) *t = open_with(s, &config);
    getter all[8];
    for (size_t i = 0; i < KC_COUNT(all); i++) {
        all[i] = (getter){.t = t};
        all[i].thread = kc_thread_start("get", get_one, &all[i], NULL);
    }
    for (size_t i = 0; i < KC_COUNT(all); i++) {
        kc_thread_join(all[i].thread);
        assert_int_equal(all[i].status, 200);
    }
    assert_int_equal(runs(s), 1);
}

static void wait_for_exec_plugin_ends_at_deadline(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new("t");
    kc_scoped(kc_error) err = {0};
    const kc_exec_config exec = plugin(program(s, "sleep 100"));
    const kc_config config = {.server = s->server->url, .exec = &exec};
    kc_auto(kc_transport) *t = kc_transport_http_new(&config, NULL, NULL);
    const kc_http_request late = {.method = "GET",
                                  .target = KC_STR("/"),
                                  .deadline =
                                      kc_clock_deadline(kc_clock_real(), 50 * KC_MILLISECOND)};
    assert_null(kc_transport_open(t, &late, &err));
    assert_error(&err, KC_TIMEOUT, "credentials");
    /* And freeing the transport ends the program, with what it started. */
}

static void exec_plugin_gets_arguments_environment_and_cluster(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new("t");
    kc_exec_config exec = plugin(program(
        s, "echo \"$1 $2\" > args; echo \"$COLOUR\" > colour; echo \"$KUBERNETES_EXEC_INFO\" > "
           "info; cat > stdin; " PRINT("\"token\":\"t\"")));
    exec.args = (const char *const[]){"get", "a b", NULL};
    exec.env = (const char *const[]){"COLOUR=red", NULL};
    exec.provide_cluster_info = true;
    exec.cluster_config = "{\"audience\":\"x\"}";
    const kc_config config = {.server = s->server->url,
                              .exec = &exec,
                              .tls_server_name = "n",
                              .ca_data = KC_STR("-----BEGIN X")};
    kc_auto(kc_transport) *t = open_with(s, &config);
    assert_int_equal(GET(t, "/"), 200);
    const char *expected = kc_arena_printf(
        &s->arena,
        "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"spec\":{\"cluster\":{\"server\":"
        "\"%s\",\"tls-server-name\":\"n\",\"certificate-authority-data\":\"LS0tLS1CRUdJTiBY\","
        "\"config\":{\"audience\":\"x\"}},\"interactive\":false}}\n",
        s->server->url);
    const char *const files[][2] = {
        {"args", "get a b\n"}, {"colour", "red\n"}, {"info", expected}, {"stdin", ""}};
    for (size_t i = 0; i < KC_COUNT(files); i++) {
        char text[1024] = "";
        FILE *file = fopen(path(s, files[i][0]), "r");
        text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
        fclose(file);
        assert_string_equal(text, files[i][1]);
    }
}

static void failed_exec_plugin_is_reported(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"exit 3", "failed with exit code 3"},
        {"kill -9 $$", "failed with exit code 137"},
        {"echo '{'", "decoding stdout"},
        {"echo '{\"kind\":\"Pod\"}'", "not an ExecCredential"},
        {"echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"x/v2\"}'",
         "configured to use API version " V1 ", plugin returned version x/v2"},
        {"echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\"}'",
         "didn't return a status field"},
        {PRINT(""), "didn't return a token or cert/key pair"},
        {PRINT("\"clientKeyData\":\"k\""), "only certificate or key, not both"},
        {PRINT("\"token\":\"t\",\"expirationTimestamp\":\"soon\""), "bad expirationTimestamp"},
        {PRINT("\"token\":\"a\\nb\""), "several lines"},
        {"yes 0123456789012345678901234567890123456789 | head -n 100000",
         "more than 1048576 bytes"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_auto(fixture) *s = fixture_new("t");
        kc_scoped(kc_error) err = {0};
        kc_scoped(kc_buf) out = {0};
        const kc_exec_config exec = plugin(program(s, cases[i][0]));
        const kc_config config = {.server = s->server->url, .exec = &exec};
        kc_auto(kc_transport) *t = open_with(s, &config);
        assert_int_equal(request(t, "GET", "/", NULL, &out, &err), -KC_UNAUTHORIZED);
        assert_error(&err, KC_UNAUTHORIZED, cases[i][1]);
        assert_contains(kc_error_text(&err), "getting credentials: ");
        assert_int_equal(raw_requests(s->server), 0);
    }
}

static void exec_plugin_runs_are_counted_in_metrics(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new("t");
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc_scoped(kc_buf) text = {0};
    const kc_exec_config exec = plugin(program(s, "exit 3"));
    const kc_config config = {.server = s->server->url, .exec = &exec};
    kc_auto(kc_transport) *t =
        kc_transport_http_new(&config, &(kc_transport_http_opts){.metrics = metrics}, NULL);
    assert_true(request(t, "GET", "/", NULL, &text, NULL) < 0);
    kc_metrics_write(metrics, &text);
    assert_contains(kc_buf_cstr(&text), "rest_client_exec_plugin_call_total{code=\"3\",call_status="
                                        "\"plugin_execution_error\"} 1");
}

static void missing_exec_plugin_is_reported_with_install_hint(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new("t");
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    kc_exec_config exec = plugin("no-such-program-of-kc");
    exec.install_hint = "take it from the shelf";
    const kc_config config = {.server = s->server->url, .exec = &exec};
    kc_auto(kc_transport) *t = open_with(s, &config);
    assert_int_equal(request(t, "GET", "/", NULL, &out, &err), -KC_UNAUTHORIZED);
    assert_error(&err, KC_UNAUTHORIZED, "executable no-such-program-of-kc not found");
    assert_contains(kc_error_text(&err), "take it from the shelf");
}

static void interactive_exec_plugin_is_not_run_without_terminal(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new("t");
    kc_scoped(kc_error) err = {0};
    kc_exec_config exec = plugin(program(s, PRINT("\"token\":\"t\"")));
    exec.interactive = KC_EXEC_ALWAYS;
    const kc_config config = {.server = s->server->url, .exec = &exec};
    kc__exec_credential credential;
    int status;
    if (isatty(STDIN_FILENO))
        skip();
    assert_int_equal(kc__exec_credential_get(&config, -1, &credential, &status, &err),
                     -KC_UNAUTHORIZED);
    assert_error(&err, KC_UNAUTHORIZED, "standard input is not a terminal");
    assert_int_equal(runs(s), 0);
}

static void exec_plugin_may_return_a_certificate(void **state)
{
    (void)state;
    kc_auto(stage) *g = stage_start(&(stage_opts){.refuse_anonymous = true});
    kc_auto(fixture) *s = fixture_new("t");
    const kc_exec_config exec = plugin(program(
        s, kc_arena_printf(
               &s->arena,
               "quote() { awk '{printf \"%%s\\\\n\", $0}' \"$1\"; }\n"
               "printf '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
               "\",\"status\":{\"clientCertificateData\":\"%%s\",\"clientKeyData\":\"%%s\"}}' "
               "\"$(quote %s)\" \"$(quote %s)\"",
               g->user_cert_file, g->user_key_file)));
    const kc_config config = {.server = g->tls_url, .ca_file = g->ca_file, .exec = &exec};
    kc_auto(kc_transport) *t = open_with(s, &config);
    assert_int_equal(GET(t, "/api/v1/namespaces"), 200);
}

static void token_takes_precedence_over_exec_plugin(void **state)
{
    (void)state;
    kc_auto(fixture) *s = fixture_new("mine");
    const kc_exec_config exec = plugin(program(s, PRINT("\"token\":\"t\"")));
    const kc_config config = {.server = s->server->url, .exec = &exec, .token = "mine"};
    kc_auto(kc_transport) *t = open_with(s, &config);
    assert_int_equal(GET(t, "/"), 200);
    assert_int_equal(runs(s), 0);
}

static void hanging_exec_process_is_killed(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    int status;
    const kc__exec_process process = {
        .command = "sh",
        .args = (const char *const[]){"-c", "sleep 100 & sleep 100", NULL},
        .timeout = 50 * KC_MILLISECOND,
        .max_output = 10,
        .stop_fd = -1};
    assert_int_equal(kc__exec_process_run(&process, &out, &status, &err), -KC_TIMEOUT);
}

TESTS(token_file_is_reloaded_after_a_minute, unauthorized_token_is_reloaded_at_once,
      token_is_kept_while_its_file_is_missing, token_with_control_characters_is_refused,
      changed_client_certificate_opens_new_connections, exec_plugin_runs_once_for_all_requests,
      exec_plugin_runs_again_when_its_token_expires,
      exec_plugin_runs_again_when_its_token_is_unauthorized,
      one_run_of_the_exec_plugin_serves_all_waiters, wait_for_exec_plugin_ends_at_deadline,
      exec_plugin_gets_arguments_environment_and_cluster, failed_exec_plugin_is_reported,
      exec_plugin_runs_are_counted_in_metrics, missing_exec_plugin_is_reported_with_install_hint,
      interactive_exec_plugin_is_not_run_without_terminal, exec_plugin_may_return_a_certificate,
      token_takes_precedence_over_exec_plugin, hanging_exec_process_is_killed)
