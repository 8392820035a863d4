/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_probe.c: probes and hooks: a command in the container, a GET, a connection.
 *
 * Texts of failures are those that the kubelet's events have, as far as they are known. Everything
 * has a deadline of real time, and ends soon after it was cancelled: what waits, waits in poll with
 * an eventfd that the token's hook writes to.
 *
 * A GET is sent as it is said: redirects are not followed, they are a success as such. Certificates
 * are not looked at, as everywhere in probes.
 */
#include "pods/process_internal.h"

#include "kc/transport.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_OUTPUT ((size_t)10 << 10) /* Of a command, kept for the event. */

/* ---- waiting ---- */

typedef struct waiter {
    kc_cancel_hook hook;
    int fd;
    int64_t deadline; /* Of the real clock. */
} waiter;

static void wake(kc_cancel_hook *hook)
{
    const uint64_t one = 1;
    const waiter *w = kc_container_of(hook, waiter, hook);
    if (write(w->fd, &one, sizeof(one)) < 0)
        return; /* It is full: whoever waits is awake. */
}

static bool waiter_begin(waiter *w, int64_t timeout, kc_cancel *cancel)
{
    *w = (waiter){.hook.fire = wake, .deadline = kc_clock_deadline(kc_clock_real(), timeout)};
    w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return kc_cancel_hang(cancel, &w->hook);
}

static void waiter_end(waiter *w, kc_cancel *cancel)
{
    kc_cancel_unhang(cancel, &w->hook);
    if (w->fd >= 0)
        close(w->fd);
}

/* 1: one of the two (-1: none) is ready; 0: the time is over or it was cancelled. */
static int await(const waiter *w, int first, short events, int second)
{
    struct pollfd fds[] = {{.fd = w->fd, .events = POLLIN},
                           {.fd = first, .events = events},
                           {.fd = second, .events = POLLIN}};
    for (;;) {
        const int64_t left = w->deadline - kc_clock_now(kc_clock_real());
        if (left <= 0)
            return 0;
        const int n = poll(fds, KC_COUNT(fds), (int)KC_MIN(left / KC_MILLISECOND + 1, 60000));
        if (n > 0)
            return fds[0].revents ? 0 : 1;
    }
}

/* ---- a command in the container ---- */

static void read_output(int fd, kc_buf *out)
{
    char chunk[4096];
    ssize_t n;
    while ((n = read(fd, chunk, sizeof(chunk))) > 0)
        kc_buf_append(out,
                      kc_str_of(chunk, KC_MIN((size_t)n, MAX_OUTPUT - KC_MIN(out->n, MAX_OUTPUT))));
}

/* True when it has ended in time. Its output is read meanwhile, so that it does not block. */
static bool await_command(const waiter *w, kc__spawned *s, kc_buf *out)
{
    for (;;) {
        if (!await(w, s->out, POLLIN, s->pidfd))
            return false;
        read_output(s->out, out);
        struct pollfd ended = {.fd = s->pidfd, .events = POLLIN};
        if (poll(&ended, 1, 0) == 1) {
            read_output(s->out, out);
            return true;
        }
        struct pollfd closed = {.fd = s->out, .events = POLLIN};
        if (poll(&closed, 1, 0) == 1 && closed.revents & POLLHUP && !(closed.revents & POLLIN)) {
            close(s->out);
            s->out = -1;
        }
    }
}

static int exit_code(const kc__spawned *s)
{
    siginfo_t info = {0};
    while (waitid((idtype_t)P_PIDFD, (id_t)s->pidfd, &info, WEXITED) < 0)
        if (errno != EINTR)
            return -1;
    return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

static kc__probe_result judge(int code, const kc_buf *out, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (code == 0)
        return KC__PROBE_OK;
    kc__text_put(&text, kc_str_trim(kc_buf_str(out)), MAX_OUTPUT);
    if (text.n)
        kc_error_set(err, KC_UNKNOWN, "%s", kc_buf_cstr(&text));
    else
        kc_error_set(err, KC_UNKNOWN, "command exited with code %d", code);
    return KC__PROBE_FAILED;
}

static kc__probe_result run_command(kc__process_runtime *rt, kc__proc *proc,
                                    const kc_exec_action *exec, int64_t timeout, kc_cancel *cancel,
                                    kc_error *err)
{
    kc_auto(kc__launch) *l = kc__launch_exec(proc, exec->command, exec->n_command, err);
    kc__spawned spawned;
    kc_scoped(kc_buf) out = {0};
    waiter w;
    if (!l || kc__spawn(rt->spawner, l, true, &spawned, err) < 0 ||
        kc__spawn_go(l, &spawned, err) < 0)
        return KC__PROBE_FAILED;
    const bool waits = waiter_begin(&w, timeout, cancel);
    const bool ended = waits && await_command(&w, &spawned, &out);
    waiter_end(&w, waits ? cancel : NULL);
    kc__probe_result result = KC__PROBE_FAILED;
    if (ended) {
        result = judge(exit_code(&spawned), &out, err);
        kc__spawned_close(&spawned);
    } else {
        kc__spawn_cancel(&spawned);
        kc_error_set(err, KC_TIMEOUT, "command timed out: \"%s\" timed out after %llds", l->argv[0],
                     (long long)(timeout / KC_SECOND));
    }
    return result;
}

/* ---- addresses ---- */

/* A number, or the name of one of the container's ports. */
static int find_port(const kc_container *c, const kc_int_or_text *port, kc_error *err)
{
    uint64_t number = port->is_text ? 0 : (uint64_t)KC_MAX(port->number, 0);
    if (port->is_text && !kc_str_to_u64(kc_cstr(port->text), &number))
        for (size_t i = 0; i < c->n_ports; i++)
            if (c->ports[i].name && strcmp(c->ports[i].name, port->text) == 0)
                number = (uint64_t)c->ports[i].container_port;
    if (number > 0 && number < 65536)
        return (int)number;
    if (port->is_text)
        return kc_error_set(err, KC_INVALID, "couldn't find port: \"%s\"", port->text);
    return kc_error_set(err, KC_INVALID, "invalid port number: %d", port->number);
}

/* Where nothing is said: the pod's, which is this machine. */
static const char *find_host(const kc_pod *pod, const char *host)
{
    if (host && host[0])
        return host;
    return pod->status.pod_ip && pod->status.pod_ip[0] ? pod->status.pod_ip : "127.0.0.1";
}

static void write_host(kc_buf *out, const char *host, int port)
{
    const bool v6 = strchr(host, ':') != NULL;
    kc_buf_printf(out, "%s%s%s:%d", v6 ? "[" : "", host, v6 ? "]" : "", port);
}

/* ---- a connection ---- */

static int try_connect(const struct addrinfo *address, const waiter *w)
{
    const int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    int error = connect(fd, address->ai_addr, address->ai_addrlen) < 0 ? errno : 0;
    socklen_t n = sizeof(error);
    if (error == EINPROGRESS && !await(w, fd, POLLOUT, -1))
        error = ETIMEDOUT;
    else if (error == EINPROGRESS)
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n);
    close(fd);
    return error;
}

/* errno; -1: the name is not known. */
static int connect_to(const char *host, int port, const waiter *w)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    char text[16];
    snprintf(text, sizeof(text), "%d", port);
    if (getaddrinfo(host, text, &hints, &found) != 0)
        return -1;
    int error = EADDRNOTAVAIL;
    for (const struct addrinfo *a = found; a && error; a = a->ai_next)
        error = try_connect(a, w);
    freeaddrinfo(found);
    return error;
}

kc__probe_result kc__probe_tcp(const kc_pod *pod, const kc_container *container,
                               const kc_tcp_socket_action *tcp, int64_t timeout, kc_cancel *cancel,
                               kc_error *err)
{
    const char *host = find_host(pod, tcp->host);
    const int port = find_port(container, &tcp->port, err);
    kc_scoped(kc_buf) where = {0};
    waiter w;
    if (port < 0)
        return KC__PROBE_FAILED;
    const bool waits = waiter_begin(&w, timeout, cancel);
    const int error = waits ? connect_to(host, port, &w) : ETIMEDOUT;
    waiter_end(&w, waits ? cancel : NULL);
    if (error == 0)
        return KC__PROBE_OK;
    write_host(&where, host, port);
    if (error == -1)
        kc_error_set(err, KC_UNKNOWN, "dial tcp: lookup %s: no such host", host);
    else if (error == ETIMEDOUT)
        kc_error_set(err, KC_TIMEOUT, "dial tcp %s: i/o timeout", kc_buf_cstr(&where));
    else
        kc_error_set(err, KC_UNKNOWN, "dial tcp %s: connect: %s", kc_buf_cstr(&where),
                     strerrordesc_np(error));
    return KC__PROBE_FAILED;
}

/* ---- a GET ---- */

#define MAX_HEADERS 64

static size_t set_fields(const kc_http_get_action *get, kc_http_field fields[MAX_HEADERS + 1])
{
    size_t n = 0;
    bool accept = false;
    for (size_t i = 0; i < get->n_http_headers && n < MAX_HEADERS; i++) {
        const kc_http_header *h = &get->http_headers[i];
        accept = accept || kc_str_eq_nocase(kc_cstr(h->name), KC_STR("accept"));
        fields[n++] = (kc_http_field){kc_cstr(h->name), kc_cstr(h->value)};
    }
    if (!accept)
        fields[n++] = (kc_http_field){KC_STR("accept"), KC_STR("*/*")};
    return n;
}

/* A body is of no interest, but a server should see that it was read. */
static void read_some(kc_http_response *response)
{
    char chunk[4096];
    for (size_t read = 0; read < MAX_OUTPUT;) {
        const ssize_t n = kc_http_read(response, chunk, sizeof(chunk), NULL);
        if (n <= 0)
            break;
        read += (size_t)n;
    }
}

static kc__probe_result send_get(const char *server, const char *path,
                                 const kc_http_get_action *get, int64_t timeout, kc_cancel *cancel,
                                 kc_error *err)
{
    kc_config config = {.server = server, .insecure = true};
    const kc_transport_http_opts opts = {
        .user_agent = "kube-probe/1.34", .http1 = true, .connect_timeout = timeout};
    kc_http_field fields[MAX_HEADERS + 1];
    kc_auto(kc_transport) *transport = kc_transport_http_new(&config, &opts, err);
    if (!transport)
        return KC__PROBE_FAILED;
    kc_http_request request = {.method = "GET",
                               .target = kc_cstr(path),
                               .fields = fields,
                               .n_fields = set_fields(get, fields),
                               .deadline = kc_clock_deadline(kc_clock_real(), timeout),
                               .cancel = cancel};
    kc_auto(kc_http_response) *response = kc_transport_open(transport, &request, err);
    if (!response) {
        kc_error_wrap(err, "Get \"%s%s\"", server, path);
        return KC__PROBE_FAILED;
    }
    read_some(response);
    if (response->status >= 200 && response->status < 400)
        return KC__PROBE_OK;
    kc_error_set(err, KC_UNKNOWN, "HTTP probe failed with statuscode: %d", response->status);
    return KC__PROBE_FAILED;
}

kc__probe_result kc__probe_http(const kc_pod *pod, const kc_container *container,
                                const kc_http_get_action *get, int64_t timeout, kc_cancel *cancel,
                                kc_error *err)
{
    const int port = find_port(container, &get->port, err);
    kc_scoped(kc_buf) server = {0};
    if (port < 0)
        return KC__PROBE_FAILED;
    const bool https = get->scheme && strcasecmp(get->scheme, "HTTPS") == 0;
    kc_buf_puts(&server, https ? "https://" : "http://");
    write_host(&server, find_host(pod, get->host), port);
    const char *path = get->path ? get->path : "";
    kc_autofree char *target = kc_asprintf("%s%s", path[0] == '/' ? "" : "/", path);
    return send_get(kc_buf_cstr(&server), target, get, timeout, cancel, err);
}

/* ---- all of them ---- */

kc__probe_result kc__process_probe(kc__runtime *runtime, const kc_pod *pod,
                                   const kc_container *container, int attempt,
                                   const kc_probe *probe, kc_cancel *cancel, kc_error *err)
{
    kc__process_runtime *rt = kc__process_of(runtime);
    const int64_t timeout = KC_MAX(probe->timeout_seconds, 1) * KC_SECOND;
    if (probe->http_get)
        return kc__probe_http(pod, container, probe->http_get, timeout, cancel, err);
    if (probe->tcp_socket)
        return kc__probe_tcp(pod, container, probe->tcp_socket, timeout, cancel, err);
    if (!probe->exec) {
        kc_error_set(err, KC_INVALID, "missing probe handler for container %s", container->name);
        return KC__PROBE_FAILED;
    }
    const kc__container_id id = {kc_cstr(pod->metadata.uid), kc_cstr(container->name), attempt};
    kc__proc *proc = kc__proc_use(rt, id);
    if (!proc) {
        kc_error_set(err, KC_NOT_FOUND, "container %s is not running", container->name);
        return KC__PROBE_FAILED;
    }
    const kc__probe_result result = run_command(rt, proc, probe->exec, timeout, cancel, err);
    kc__proc_release(rt, proc);
    return result;
}
