/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_server.c: see node_server.h.
 *
 * The CA that signs the API server's client certificate comes from a file of the operator and never
 * from an object: a client that may write the object could insert its own CA and read all logs. The
 * file is read again every minute, and every few seconds while it is missing; a replaced CA takes
 * effect without a restart. Until a CA is loaded, and without a file, every request is refused.
 */
#include "pods/node_server.h"

#include "api/core_v1/zz_generated.h"
#include "pods/process_logs.h"

#include "kc/file.h"
#include "kc/kinds.h"

#define API_SERVER      "kube-apiserver-kubelet-client" /* kubeadm's name for it, too. */
#define MAX_CA_FILE     ((size_t)1 << 20)
#define RELOAD_INTERVAL KC_MINUTE
#define RELOAD_SOON     (2 * KC_SECOND)
#define FOLLOW_EVERY    (200 * KC_MILLISECOND)

struct kc__pods_node_server {
    kc_manager *manager;
    const kc_pods_opts *opts;
    kc_http_server *http;
    kc_log *log;
    const kc_clock *clock;
    char *address;   /* Address without the port. */
    char *client_ca; /* The current CA; used by the thread that reloads it, with the next one. */
    char *warned;    /* The last error of loading. */
};

/* ---- query parameters ---- */

typedef struct pods_node_server_log_request {
    kc_str ns, pod, container;
    kc__process_logs_opts opts;
    int64_t tail;
} pods_node_server_log_request;

static bool flag(const kc_http_call *call, const char *name)
{
    kc_str value;
    return kc_http_request_query(call, name, &value) && !kc_str_is(value, "false") &&
           !kc_str_is(value, "0");
}

/* Parses a number that must be positive, or at least `least`. */
static bool number(const kc_http_call *call, const char *name, int64_t least, int64_t *ret)
{
    kc_str text;
    return !kc_http_request_query(call, name, &text) || (kc_str_to_i64(text, ret) && *ret >= least);
}

static bool read_times(const kc_http_call *call, kc_time now, pods_node_server_log_request *w)
{
    int64_t seconds = 0;
    kc_str since;
    if (!number(call, "sinceSeconds", 1, &seconds))
        return false;
    if (seconds)
        w->opts.since = now - seconds * KC_SECOND;
    return !kc_http_request_query(call, "sinceTime", &since) ||
           kc_time_parse(since, &w->opts.since, NULL) == 0;
}

static bool read_log_request(const kc_http_call *call, kc_time now, pods_node_server_log_request *w)
{
    kc_str path = kc_http_request_path(call), tail;
    kc_str_cut(&path, '/');
    kc_str_cut(&path, '/');
    *w = (pods_node_server_log_request){.ns = kc_str_cut(&path, '/'), .tail = -1};
    w->pod = kc_str_cut(&path, '/');
    w->container = path;
    w->opts.follow = flag(call, "follow");
    w->opts.previous = flag(call, "previous");
    w->opts.timestamps = flag(call, "timestamps");
    if (kc_http_request_query(call, "tailLines", &tail))
        w->opts.tail_lines = &w->tail;
    return number(call, "tailLines", 0, &w->tail) &&
           number(call, "limitBytes", 1, &w->opts.limit_bytes) && read_times(call, now, w);
}

/* ---- responses ---- */

static void pods_node_server_reject(kc_http_call *call, int status, const char *fmt, ...)
    KC_PRINTF(3, 4);

static void pods_node_server_reject(kc_http_call *call, int status, const char *fmt, ...)
{
    kc_scoped(kc_buf) text = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&text, fmt, args);
    va_end(args);
    kc_http_response_send(call, status, "text/plain", kc_buf_str(&text));
}

/* Until the container has exited or the client has disconnected. */
static void pods_node_server_forward(kc__pods_node_server *s, kc_http_call *call,
                                     kc__process_logs *logs)
{
    kc_scoped(kc_buf) bytes = {0};
    kc__process_logs_more more;
    kc_http_response_begin(call, 200, "text/plain");
    do {
        kc_buf_clear(&bytes);
        more = kc__process_logs_read(logs, &bytes);
        if (bytes.n && !kc_http_response_write(call, kc_buf_str(&bytes)))
            return;
        if (more == KC__PROCESS_LOGS_WAIT &&
            kc_http_request_wait_closed(call, kc_clock_deadline(s->clock, FOLLOW_EVERY)))
            return;
    } while (more != KC__PROCESS_LOGS_END);
}

static void answer_logs(kc__pods_node_server *s, kc_http_call *call, const kc_object *pod,
                        const pods_node_server_log_request *w)
{
    kc_scoped(kc_error) err = {0};
    if (s->opts->mode != KC_PODS_PROCESS) {
        pods_node_server_reject(call, 200, "%.*s is simulated and has no output\n",
                                KC_ARG(w->container));
        return;
    }
    kc_auto(kc__process_logs) *logs = kc__process_logs_open(
        s->opts->dir, kc_object_uid(pod), w->container, KC__POD_LATEST_ATTEMPT, &w->opts, &err);
    if (logs)
        pods_node_server_forward(s, call, logs);
    else if (w->opts.previous)
        pods_node_server_reject(call, 400,
                                "previous terminated container \"%.*s\" in pod \"%.*s\" not found",
                                KC_ARG(w->container), KC_ARG(w->pod));
    else
        pods_node_server_reject(call, 400,
                                "container \"%.*s\" in pod \"%.*s\" is waiting to start: %s",
                                KC_ARG(w->container), KC_ARG(w->pod), kc_error_text(&err));
}

static void serve_log_request(kc__pods_node_server *s, kc_http_call *call)
{
    pods_node_server_log_request w;
    if (!read_log_request(call, kc_clock_wall(s->clock), &w)) {
        pods_node_server_reject(call, 422, "{\"message\": \"Invalid request.\"}");
        return;
    }
    kc_auto(kc_object) *pod =
        kc_cache_get(kc_manager_cache(s->manager), &kc_kind_pod, (kc_key){w.ns, w.pod}, NULL);
    if (!pod)
        pods_node_server_reject(call, 404, "pod \"%.*s\" does not exist", KC_ARG(w.pod));
    else
        answer_logs(s, call, pod, &w);
}

static void pods_node_server_handle(kc_http_call *call, void *user)
{
    kc__pods_node_server *s = user;
    if (!kc_str_is(kc_http_request_peer(call), API_SERVER))
        pods_node_server_reject(call, 401, "Unauthorized\n");
    else if (!kc_str_is(kc_http_request_method(call), "GET") ||
             !kc_str_starts(kc_http_request_path(call), KC_STR("/containerLogs/")))
        pods_node_server_reject(call, 404, "404 page not found\n");
    else
        serve_log_request(s, call);
}

/* ---- client CA ---- */

/* Logs each error once. */
static void pods_node_server_warn(kc__pods_node_server *s, const kc_error *err)
{
    if (s->warned && !strcmp(s->warned, kc_error_text(err)))
        return;
    free(s->warned);
    s->warned = kc_strdup(kc_error_text(err));
    kc_log_warn(s->log, "cannot load the client CA of the node server; refusing log requests",
                kc_kv("err", err));
}

/* True if a CA is loaded. */
static bool load_client_ca(kc__pods_node_server *s)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) pem = {0};
    if (kc_file_read(s->opts->client_ca_file, MAX_CA_FILE, &pem, &err) < 0) {
        pods_node_server_warn(s, &err);
        return s->client_ca;
    }
    if (s->client_ca && !strcmp(s->client_ca, kc_buf_cstr(&pem)))
        return true;
    if (kc_http_server_set_client_ca(s->http, kc_buf_str(&pem), &err) < 0) {
        kc_error_wrap(&err, "%s", s->opts->client_ca_file);
        pods_node_server_warn(s, &err);
        return s->client_ca;
    }
    free(s->client_ca);
    s->client_ca = kc_buf_take(&pem);
    return true;
}

static int keep_trust(kc_cancel *stop, void *user, kc_error *err)
{
    (void)err;
    kc__pods_node_server *s = user;
    bool known;
    if (!s->opts->client_ca_file) {
        kc_log_info(s->log, "no client CA configured for the node server; refusing log requests");
        return 0;
    }
    do
        known = load_client_ca(s);
    while (kc_cancel_sleep_until(
        stop, s->clock, kc_clock_deadline(s->clock, known ? RELOAD_INTERVAL : RELOAD_SOON)));
    return 0;
}

/* ---- start and stop ---- */

/* "[::1]:0" is ::1. */
static char *pods_node_server_host_of(const char *address)
{
    const char *colon = strrchr(address, ':');
    kc_str host = kc_str_of(address, colon ? (size_t)(colon - address) : strlen(address));
    if (kc_str_starts(host, KC_STR("[")) && kc_str_ends(host, KC_STR("]")))
        host = kc_str_sub(host, 1, host.n - 1);
    return kc_str_dup(host);
}

kc__pods_node_server *kc__pods_node_server_new(kc_manager *manager, const kc_pods_opts *opts,
                                               kc_error *err)
{
    kc__pods_node_server *s = kc_new(kc__pods_node_server);
    s->manager = manager;
    s->opts = opts;
    s->log = kc_manager_log(manager);
    s->clock = kc_manager_clock(manager);
    s->address = pods_node_server_host_of(opts->address);
    s->http = kc_http_server_start(&(kc_http_server_opts){.address = opts->address,
                                                          .handle = pods_node_server_handle,
                                                          .user = s,
                                                          .tls = true,
                                                          .log = s->log},
                                   err);
    const kc_runnable trust = {.name = "node-server", .run = keep_trust, .user = s};
    if (!s->http || kc_manager_add(manager, &trust, err) < 0)
        return kc__pods_node_server_free(s);
    return s;
}

kc__pods_node_server *kc__pods_node_server_free(kc__pods_node_server *server)
{
    if (!server)
        return NULL;
    kc_http_server_stop(server->http);
    free(server->address);
    free(server->client_ca);
    free(server->warned);
    free(server);
    return NULL;
}

int kc__pods_node_server_port(const kc__pods_node_server *server)
{
    return kc_http_server_port(server->http);
}

const char *kc__pods_node_server_address(const kc__pods_node_server *server)
{
    return server->address;
}

const char *kc__pods_node_server_key(const kc__pods_node_server *server)
{
    return kc_http_server_pinned_key(server->http);
}
