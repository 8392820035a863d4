/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_probe.c: probes and hooks: a command in the container, an HTTP GET, a TCP connection.
 *
 * Failure texts are the kubelet's, as far as known. Everything has a deadline in real time and ends
 * soon after a cancellation: waits use poll with an eventfd that the cancel hook writes to.
 *
 * A GET does not follow redirects; they count as success. Certificates are not verified, as in the
 * kubelet.
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

#define MAX_OUTPUT ((size_t)10 << 10) /* Output of a command, kept for the event. */

/* ---- waits ---- */

typedef struct process_probe_waiter {
    kc_cancel_hook hook;
    int fd;
    int64_t deadline; /* On the real clock. */
} process_probe_waiter;

static void process_probe_wake(kc_cancel_hook *hook)
{
    const uint64_t one = 1;
    const process_probe_waiter *w = kc_container_of(hook, process_probe_waiter, hook);
    if (write(w->fd, &one, sizeof(one)) < 0)
        return; /* The eventfd is full: the waiter is awake already. */
}

static bool waiter_begin(process_probe_waiter *w, int64_t timeout, kc_cancel *cancel)
{
    *w = (process_probe_waiter){.hook.fire = process_probe_wake,
                                .deadline = kc_clock_deadline(kc_clock_real(), timeout)};
    w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return kc_cancel_add_hook(cancel, &w->hook);
}

static void waiter_end(process_probe_waiter *w, kc_cancel *cancel)
{
    kc_cancel_remove_hook(cancel, &w->hook);
    if (w->fd >= 0)
        close(w->fd);
}

/* 1: one of the two (-1: none) is ready; 0: timed out or cancelled. */
static int process_probe_wait(const process_probe_waiter *w, int first, short events, int second)
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

/* ---- exec ---- */

static void read_output(int fd, kc_buf *out)
{
    char chunk[4096];
    ssize_t n;
    while ((n = read(fd, chunk, sizeof(chunk))) > 0)
        kc_buf_append(out,
                      kc_str_of(chunk, KC_MIN((size_t)n, MAX_OUTPUT - KC_MIN(out->n, MAX_OUTPUT))));
}

/* True if it exited in time. Reads its output meanwhile, so that it does not block. */
static bool await_command(const process_probe_waiter *w, kc__process_spawned *s, kc_buf *out)
{
    for (;;) {
        if (!process_probe_wait(w, s->out, POLLIN, s->pidfd))
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

static int exit_code(const kc__process_spawned *s)
{
    siginfo_t info = {0};
    while (waitid((idtype_t)P_PIDFD, (id_t)s->pidfd, &info, WEXITED) < 0)
        if (errno != EINTR)
            return -1;
    return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

static kc__pod_probe_result process_probe_evaluate(int code, const kc_buf *out, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (code == 0)
        return KC__POD_PROBE_OK;
    kc__process_text_put(&text, kc_str_trim(kc_buf_str(out)), MAX_OUTPUT);
    if (text.n)
        kc_error_set(err, KC_UNKNOWN, "%s", kc_buf_cstr(&text));
    else
        kc_error_set(err, KC_UNKNOWN, "command exited with code %d", code);
    return KC__POD_PROBE_FAILED;
}

static kc__pod_probe_result run_command(kc__process_runtime *rt, kc__process_proc *proc,
                                        const kc_exec_action *exec, int64_t timeout,
                                        kc_cancel *cancel, kc_error *err)
{
    kc_auto(kc__process_launch) *l =
        kc__process_launch_exec(proc, exec->command, exec->n_command, err);
    kc__process_spawned spawned;
    kc_scoped(kc_buf) out = {0};
    process_probe_waiter w;
    if (!l || kc__process_spawn(rt->spawner, l, true, &spawned, err) < 0 ||
        kc__process_spawn_go(l, &spawned, err) < 0)
        return KC__POD_PROBE_FAILED;
    const bool waits = waiter_begin(&w, timeout, cancel);
    const bool ended = waits && await_command(&w, &spawned, &out);
    waiter_end(&w, waits ? cancel : NULL);
    kc__pod_probe_result result = KC__POD_PROBE_FAILED;
    if (ended) {
        result = process_probe_evaluate(exit_code(&spawned), &out, err);
        kc__process_spawned_close(&spawned);
    } else {
        kc__process_spawn_cancel(&spawned);
        kc_error_set(err, KC_TIMEOUT, "command timed out: \"%s\" timed out after %llds", l->argv[0],
                     (long long)(timeout / KC_SECOND));
    }
    return result;
}

/* ---- addresses ---- */

/* A port number, or the name of one of the container's ports. */
static int find_port(const kc_container *c, const kc_int_or_string *port, kc_error *err)
{
    uint64_t number = port->is_string ? 0 : (uint64_t)KC_MAX(port->number, 0);
    if (port->is_string && !kc_str_to_u64(kc_cstr(port->text), &number))
        for (size_t i = 0; i < c->n_ports; i++)
            if (c->ports[i].name && strcmp(c->ports[i].name, port->text) == 0)
                number = (uint64_t)c->ports[i].container_port;
    if (number > 0 && number < 65536)
        return (int)number;
    if (port->is_string)
        return kc_error_set(err, KC_INVALID, "couldn't find port: \"%s\"", port->text);
    return kc_error_set(err, KC_INVALID, "invalid port number: %d", port->number);
}

/* Defaults to the pod's address, which is the host. */
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

/* ---- TCP ---- */

static int try_connect(const struct addrinfo *address, const process_probe_waiter *w)
{
    const int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    int error = connect(fd, address->ai_addr, address->ai_addrlen) < 0 ? errno : 0;
    socklen_t n = sizeof(error);
    if (error == EINPROGRESS && !process_probe_wait(w, fd, POLLOUT, -1))
        error = ETIMEDOUT;
    else if (error == EINPROGRESS)
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n);
    close(fd);
    return error;
}

/* errno; -1: unknown host name. */
static int connect_to(const char *host, int port, const process_probe_waiter *w)
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

kc__pod_probe_result kc__process_probe_tcp(const kc_pod *pod, const kc_container *container,
                                           const kc_tcp_socket_action *tcp, int64_t timeout,
                                           kc_cancel *cancel, kc_error *err)
{
    const char *host = find_host(pod, tcp->host);
    const int port = find_port(container, &tcp->port, err);
    kc_scoped(kc_buf) where = {0};
    process_probe_waiter w;
    if (port < 0)
        return KC__POD_PROBE_FAILED;
    const bool waits = waiter_begin(&w, timeout, cancel);
    const int error = waits ? connect_to(host, port, &w) : ETIMEDOUT;
    waiter_end(&w, waits ? cancel : NULL);
    if (error == 0)
        return KC__POD_PROBE_OK;
    write_host(&where, host, port);
    if (error == -1)
        kc_error_set(err, KC_UNKNOWN, "dial tcp: lookup %s: no such host", host);
    else if (error == ETIMEDOUT)
        kc_error_set(err, KC_TIMEOUT, "dial tcp %s: i/o timeout", kc_buf_cstr(&where));
    else
        kc_error_set(err, KC_UNKNOWN, "dial tcp %s: connect: %s", kc_buf_cstr(&where),
                     strerrordesc_np(error));
    return KC__POD_PROBE_FAILED;
}

/* ---- HTTP ---- */

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

/* The body is read and discarded. */
static void process_probe_read_some(kc_http_response *response)
{
    char chunk[4096];
    for (size_t read = 0; read < MAX_OUTPUT;) {
        const ssize_t n = kc_http_response_read(response, chunk, sizeof(chunk), NULL);
        if (n <= 0)
            break;
        read += (size_t)n;
    }
}

static kc__pod_probe_result send_get(const char *server, const char *path,
                                     const kc_http_get_action *get, int64_t timeout,
                                     kc_cancel *cancel, kc_error *err)
{
    kc_config config = {.server = server, .insecure = true};
    const kc_transport_http_opts opts = {
        .user_agent = "kube-probe/1.34", .http1 = true, .connect_timeout = timeout};
    kc_http_field fields[MAX_HEADERS + 1];
    kc_auto(kc_transport) *transport = kc_transport_http_new(&config, &opts, err);
    if (!transport)
        return KC__POD_PROBE_FAILED;
    kc_http_request request = {.method = "GET",
                               .target = kc_cstr(path),
                               .fields = fields,
                               .n_fields = set_fields(get, fields),
                               .deadline = kc_clock_deadline(kc_clock_real(), timeout),
                               .cancel = cancel};
    kc_auto(kc_http_response) *response = kc_transport_open(transport, &request, err);
    if (!response) {
        kc_error_wrap(err, "Get \"%s%s\"", server, path);
        return KC__POD_PROBE_FAILED;
    }
    process_probe_read_some(response);
    if (response->status >= 200 && response->status < 400)
        return KC__POD_PROBE_OK;
    kc_error_set(err, KC_UNKNOWN, "HTTP probe failed with statuscode: %d", response->status);
    return KC__POD_PROBE_FAILED;
}

kc__pod_probe_result kc__process_probe_http(const kc_pod *pod, const kc_container *container,
                                            const kc_http_get_action *get, int64_t timeout,
                                            kc_cancel *cancel, kc_error *err)
{
    const int port = find_port(container, &get->port, err);
    kc_scoped(kc_buf) server = {0};
    if (port < 0)
        return KC__POD_PROBE_FAILED;
    const bool https = get->scheme && strcasecmp(get->scheme, "HTTPS") == 0;
    kc_buf_puts(&server, https ? "https://" : "http://");
    write_host(&server, find_host(pod, get->host), port);
    const char *path = get->path ? get->path : "";
    kc_autofree char *target = kc_asprintf("%s%s", path[0] == '/' ? "" : "/", path);
    return send_get(kc_buf_cstr(&server), target, get, timeout, cancel, err);
}

/* ---- all types ---- */

kc__pod_probe_result kc__process_probe(kc__pods_runtime *runtime, const kc_pod *pod,
                                       const kc_container *container, int attempt,
                                       const kc_probe *probe, kc_cancel *cancel, kc_error *err)
{
    kc__process_runtime *rt = kc__process_runtime_of(runtime);
    const int64_t timeout = KC_MAX(probe->timeout_seconds, 1) * KC_SECOND;
    if (probe->http_get)
        return kc__process_probe_http(pod, container, probe->http_get, timeout, cancel, err);
    if (probe->tcp_socket)
        return kc__process_probe_tcp(pod, container, probe->tcp_socket, timeout, cancel, err);
    if (!probe->exec) {
        kc_error_set(err, KC_INVALID, "missing probe handler for container %s", container->name);
        return KC__POD_PROBE_FAILED;
    }
    const kc__pod_container_id id = {kc_cstr(pod->metadata.uid), kc_cstr(container->name), attempt};
    kc__process_proc *proc = kc__process_proc_use(rt, id);
    if (!proc) {
        kc_error_set(err, KC_NOT_FOUND, "container %s is not running", container->name);
        return KC__POD_PROBE_FAILED;
    }
    const kc__pod_probe_result result = run_command(rt, proc, probe->exec, timeout, cancel, err);
    kc__process_proc_release(rt, proc);
    return result;
}
