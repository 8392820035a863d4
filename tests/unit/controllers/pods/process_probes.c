/* SPDX-License-Identifier: Apache-2.0 */
/* Probes over the network. (Those that run a command are in process_contract.h.) */
#include "process_testing.h"

#include "kc/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* Answers one connection after the other with the same bytes. */
typedef struct server {
    int fd, port;
    const char *answer; /* NULL: none ever comes. */
    kc_thread *thread;
    kc_mutex mutex; /* Guards the rest. */
    kc_buf requests_seen;
} server;

static void serve(void *user)
{
    server *s = user;
    int fd;
    while ((fd = accept(s->fd, NULL, NULL)) >= 0) {
        char request[4096];
        const ssize_t n = read(fd, request, sizeof(request));
        kc_locked (&s->mutex)
            kc_buf_append(&s->requests_seen, kc_str_of(request, n > 0 ? (size_t)n : 0));
        if (s->answer && write(fd, s->answer, strlen(s->answer)) < 0)
            break;
        if (!s->answer && read(fd, request, 1) < 0)
            break; /* Until the other gives up. */
        close(fd);
    }
}

static void serve_begin(server *s, const char *answer)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(address);
    memset(s, 0, sizeof(*s));
    kc_mutex_init(&s->mutex);
    s->answer = answer;
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(s->fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(s->fd, 8), 0);
    assert_int_equal(getsockname(s->fd, (struct sockaddr *)&address, &n), 0);
    s->port = ntohs(address.sin_port);
    s->thread = kc_thread_start("server", serve, s, NULL);
}

static void server_done(server *s)
{
    shutdown(s->fd, SHUT_RDWR);
    kc_thread_join(s->thread);
    close(s->fd);
    kc_buf_done(&s->requests_seen);
    kc_mutex_done(&s->mutex);
}

/* A pod whose container has the port of the server, called "web", and this probe. */
static kc__pod_probe_result probe(int port, const char *how, kc_cancel *cancel, kc_error *err)
{
    kc_autofree char *spec =
        kc_asprintf("'containers':[{'name':'c','ports':[{'name':'web','containerPort':%d}],"
                    "'livenessProbe':{%s}}]",
                    port, how);
    kc_auto(kc_pod) *pod = pod_of(spec);
    const kc_container *c = &pod->spec.containers[0];
    const kc_probe *p = c->liveness_probe;
    if (p->http_get)
        return kc__process_probe_http(pod, c, p->http_get, p->timeout_seconds * KC_SECOND, cancel,
                                      err);
    return kc__process_probe_tcp(pod, c, p->tcp_socket, p->timeout_seconds * KC_SECOND, cancel,
                                 err);
}

#define GET                                                        \
    "'httpGet':{'port':'web','path':'/healthz?x=1','httpHeaders':" \
    "[{'name':'X-Probe','value':'yes'}]},'timeoutSeconds':5"

static void http_status_below_400_is_success(void **state)
{
    (void)state;
    static const struct {
        const char *answer;
        kc__pod_probe_result result;
    } cases[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", KC__POD_PROBE_OK},
        {"HTTP/1.1 204 No Content\r\n\r\n", KC__POD_PROBE_OK},
        {"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", KC__POD_PROBE_OK},
        {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", KC__POD_PROBE_FAILED},
        {"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", KC__POD_PROBE_FAILED},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(server) s;
        kc_scoped(kc_error) err = {0};
        serve_begin(&s, cases[i].answer);
        assert_int_equal(probe(s.port, GET, NULL, &err), cases[i].result);
        kc_locked (&s.mutex) {
            assert_contains(kc_buf_cstr(&s.requests_seen), "GET /healthz?x=1 HTTP/1.1\r\n");
            assert_contains(kc_buf_cstr(&s.requests_seen), "yes\r\n");
            assert_contains(kc_buf_cstr(&s.requests_seen), "kube-probe/");
        }
        if (i == 4)
            assert_string_equal(kc_error_text(&err), "HTTP probe failed with statuscode: 500");
    }
}

static void answer_well(kc_http_call *call, void *user)
{
    (void)user;
    const bool there = kc_str_is(kc_http_request_path(call), "/livez");
    kc_http_response_send(call, there ? 200 : 404, "text/plain", KC_STR("well\n"));
}

static void https_probe_does_not_verify_certificates(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_http_server) *s = kc_http_server_start(
        &(kc_http_server_opts){.address = "127.0.0.1:0", .tls = true, .handle = answer_well}, &err);
    assert_non_null(s);
    const int port = kc_http_server_port(s);
    assert_int_equal(probe(port,
                           "'httpGet':{'port':'web','scheme':'HTTPS','path':'livez'},"
                           "'timeoutSeconds':10",
                           NULL, &err),
                     KC__POD_PROBE_OK);
    assert_int_equal(
        probe(port, "'httpGet':{'port':'web','scheme':'HTTPS'},'timeoutSeconds':10", NULL, &err),
        KC__POD_PROBE_FAILED);
    assert_string_equal(kc_error_text(&err), "HTTP probe failed with statuscode: 404");
}

static void http_probe_without_response_times_out(void **state)
{
    (void)state;
    kc_scoped(server) s;
    kc_scoped(kc_error) err = {0};
    serve_begin(&s, NULL);
    const int64_t began = kc_clock_now(kc_clock_real());
    assert_int_equal(probe(s.port, "'httpGet':{'port':'web'},'timeoutSeconds':1", NULL, &err),
                     KC__POD_PROBE_FAILED);
    assert_true(kc_clock_now(kc_clock_real()) - began >= 900 * KC_MILLISECOND);
    assert_error(&err, KC_TIMEOUT, "Get \"http://127.0.0.1:");
}

static void tcp_probe_succeeds_on_connect(void **state)
{
    (void)state;
    kc_scoped(server) s;
    kc_scoped(kc_error) err = {0};
    serve_begin(&s, "");
    assert_int_equal(probe(s.port, "'tcpSocket':{'port':'web'},'timeoutSeconds':5", NULL, &err),
                     KC__POD_PROBE_OK);
}

static void refused_connection_is_a_failure(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_int_equal(
        probe(80, "'tcpSocket':{'port':1,'host':'127.0.0.1'},'timeoutSeconds':5", NULL, &err),
        KC__POD_PROBE_FAILED);
    assert_string_equal(kc_error_text(&err), "dial tcp 127.0.0.1:1: connect: Connection refused");
    assert_int_equal(probe(80, "'httpGet':{'port':1},'timeoutSeconds':5", NULL, &err),
                     KC__POD_PROBE_FAILED);
    assert_contains(kc_error_text(&err), "Get \"http://127.0.0.1:1/\"");
}

static void unknown_port_is_reported(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_int_equal(probe(80, "'tcpSocket':{'port':'other'},'timeoutSeconds':5", NULL, &err),
                     KC__POD_PROBE_FAILED);
    assert_error(&err, KC_INVALID, "couldn't find port: \"other\"");
    assert_int_equal(probe(80, "'tcpSocket':{'port':70000},'timeoutSeconds':5", NULL, &err),
                     KC__POD_PROBE_FAILED);
    assert_error(&err, KC_INVALID, "invalid port number: 70000");
}

static void cancelled_probe_ends(void **state)
{
    (void)state;
    kc_scoped(server) s;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_cancel) *cancel = kc_cancel_new(NULL);
    serve_begin(&s, NULL);
    kc_cancel_fire(cancel);
    assert_int_equal(probe(s.port, "'httpGet':{'port':'web'},'timeoutSeconds':60", cancel, &err),
                     KC__POD_PROBE_FAILED);
    assert_int_equal(probe(s.port, "'tcpSocket':{'port':'web'},'timeoutSeconds':60", cancel, &err),
                     KC__POD_PROBE_FAILED);
}

static void cancelled_or_late_exec_probe_is_killed(void **state)
{
    (void)state;
    kc_auto(node) *n = node_start(&(node_opts){0});
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_cancel) *cancel = kc_cancel_new(NULL);
    char seconds[32];
    snprintf(seconds, sizeof(seconds), "3%d", getpid());
    kc_autofree char *spec = kc_asprintf(
        "'containers':[{'name':'c','command':['sleep','60'],'livenessProbe':{'exec':{'command':"
        "['sleep','%s']},'timeoutSeconds':50},'readinessProbe':{'exec':{'command':"
        "['sleep','%s']},'timeoutSeconds':1}}]",
        seconds, seconds);
    kc_auto(kc_pod) *pod = pod_of(spec);
    const kc_container *c = &pod->spec.containers[0];
    start(n, pod, 0);
    kc_cancel_fire(cancel);
    assert_int_equal(n->runtime->ops->probe(n->runtime, pod, c, 0, c->liveness_probe, cancel, &err),
                     KC__POD_PROBE_FAILED);
    await(!process_exists(seconds));
    assert_int_equal(n->runtime->ops->probe(n->runtime, pod, c, 0, c->readiness_probe, NULL, &err),
                     KC__POD_PROBE_FAILED);
    await(!process_exists(seconds));
}

static void probe_of_stopped_container_fails(void **state)
{
    (void)state;
    kc_auto(node) *n = node_start(&(node_opts){0});
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_pod) *pod = pod_of("'containers':[{'name':'c','command':['true'],"
                                  "'livenessProbe':{'exec':{'command':['true']}}}]");
    const kc_container *c = &pod->spec.containers[0];
    assert_int_equal(n->runtime->ops->probe(n->runtime, pod, c, 0, c->liveness_probe, NULL, &err),
                     KC__POD_PROBE_FAILED);
    assert_error(&err, KC_NOT_FOUND, "container c is not running");
}

TESTS(http_status_below_400_is_success, https_probe_does_not_verify_certificates,
      http_probe_without_response_times_out, tcp_probe_succeeds_on_connect,
      refused_connection_is_a_failure, unknown_port_is_reported, cancelled_probe_ends,
      cancelled_or_late_exec_probe_is_killed, probe_of_stopped_container_fails)
