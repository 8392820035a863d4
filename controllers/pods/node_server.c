/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_server.c: see node_server.h.
 *
 * Whom to trust stands in the ConfigMap kube-system/extension-apiserver-authentication; it is read
 * again every ten minutes, and every few seconds while there is none: authorities change rarely.
 * Until it is known, nobody is answered.
 */
#include "pods/node_server.h"

#include "api/core_v1/zz_generated.h"
#include "pods/process_logs.h"

#include "kc/kinds.h"
#include "kc/view.h"

#define API_SERVER   "kube-apiserver-kubelet-client" /* As kubeadm calls it, too. */
#define LOOK_AGAIN   (10 * KC_MINUTE)
#define LOOK_SOON    (5 * KC_SECOND)
#define FOLLOW_EVERY (200 * KC_MILLISECOND)

struct kc__node_server {
    kc_manager *manager;
    const kc_pods_opts *opts;
    kc_http_server *http;
    kc_log *log;
    const kc_clock *clock;
    char *address;   /* Without the port. */
    char *client_ca; /* What is trusted now; of the thread that keeps it. */
};

/* ---- what is asked ---- */

typedef struct wish {
    kc_str ns, pod, container;
    kc__logs_opts opts;
    int64_t tail;
} wish;

static bool flag(const kc_http_call *call, const char *name)
{
    kc_str value;
    return kc_http_query(call, name, &value) && !kc_str_is(value, "false") &&
           !kc_str_is(value, "0");
}

/* Of a number that has to be positive, or `least`. */
static bool number(const kc_http_call *call, const char *name, int64_t least, int64_t *ret)
{
    kc_str text;
    return !kc_http_query(call, name, &text) || (kc_str_to_i64(text, ret) && *ret >= least);
}

static bool read_times(const kc_http_call *call, kc_time now, wish *w)
{
    int64_t seconds = 0;
    kc_str since;
    if (!number(call, "sinceSeconds", 1, &seconds))
        return false;
    if (seconds)
        w->opts.since = now - seconds * KC_SECOND;
    return !kc_http_query(call, "sinceTime", &since) ||
           kc_time_parse(since, &w->opts.since, NULL) == 0;
}

static bool read_wish(const kc_http_call *call, kc_time now, wish *w)
{
    kc_str path = kc_http_path(call), tail;
    kc_str_cut(&path, '/');
    kc_str_cut(&path, '/');
    *w = (wish){.ns = kc_str_cut(&path, '/'), .tail = -1};
    w->pod = kc_str_cut(&path, '/');
    w->container = path;
    w->opts.follow = flag(call, "follow");
    w->opts.previous = flag(call, "previous");
    w->opts.timestamps = flag(call, "timestamps");
    if (kc_http_query(call, "tailLines", &tail))
        w->opts.tail_lines = &w->tail;
    return number(call, "tailLines", 0, &w->tail) &&
           number(call, "limitBytes", 1, &w->opts.limit_bytes) && read_times(call, now, w);
}

/* ---- answering ---- */

static void refuse(kc_http_call *call, int status, const char *fmt, ...) KC_PRINTF(3, 4);

static void refuse(kc_http_call *call, int status, const char *fmt, ...)
{
    kc_scoped(kc_buf) text = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&text, fmt, args);
    va_end(args);
    kc_http_answer(call, status, "text/plain", kc_buf_str(&text));
}

/* Until it has ended, or nobody reads any more. */
static void pass_on(kc__node_server *s, kc_http_call *call, kc__logs *logs)
{
    kc_scoped(kc_buf) bytes = {0};
    kc__logs_more more;
    kc_http_begin(call, 200, "text/plain");
    do {
        kc_buf_clear(&bytes);
        more = kc__logs_read(logs, &bytes);
        if (bytes.n && !kc_http_write(call, kc_buf_str(&bytes)))
            return;
        if (more == KC__LOGS_WAIT && kc_http_left(call, kc_clock_deadline(s->clock, FOLLOW_EVERY)))
            return;
    } while (more != KC__LOGS_END);
}

static void answer_logs(kc__node_server *s, kc_http_call *call, const kc_object *pod, const wish *w)
{
    kc_scoped(kc_error) err = {0};
    if (s->opts->mode != KC_PODS_PROCESS) {
        refuse(call, 200, "%.*s is simulated, and writes nothing\n", KC_ARG(w->container));
        return;
    }
    kc_auto(kc__logs) *logs = kc__logs_open(s->opts->folder, kc_object_uid(pod), w->container,
                                            KC__LATEST, &w->opts, &err);
    if (logs)
        pass_on(s, call, logs);
    else if (w->opts.previous)
        refuse(call, 400, "previous terminated container \"%.*s\" in pod \"%.*s\" not found",
               KC_ARG(w->container), KC_ARG(w->pod));
    else
        refuse(call, 400, "container \"%.*s\" in pod \"%.*s\" is waiting to start: %s",
               KC_ARG(w->container), KC_ARG(w->pod), kc_error_text(&err));
}

static void answer_wish(kc__node_server *s, kc_http_call *call)
{
    wish w;
    if (!read_wish(call, kc_clock_wall(s->clock), &w)) {
        refuse(call, 422, "{\"message\": \"Invalid request.\"}");
        return;
    }
    kc_auto(kc_object) *pod =
        kc_cache_get(kc_manager_cache(s->manager), &kc_kind_pod, (kc_key){w.ns, w.pod}, NULL);
    if (!pod)
        refuse(call, 404, "pod \"%.*s\" does not exist", KC_ARG(w.pod));
    else
        answer_logs(s, call, pod, &w);
}

static void handle(kc_http_call *call, void *user)
{
    kc__node_server *s = user;
    if (!kc_str_is(kc_http_peer(call), API_SERVER))
        refuse(call, 401, "Unauthorized\n");
    else if (!kc_str_is(kc_http_method(call), "GET") ||
             !kc_str_starts(kc_http_path(call), KC_STR("/containerLogs/")))
        refuse(call, 404, "404 page not found\n");
    else
        answer_wish(s, call);
}

/* ---- whom to trust ---- */

/* True when somebody is trusted. */
static bool learn(kc__node_server *s, kc_client *client)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *map =
        kc_client_get(client, &kc_kind_config_map,
                      KC_KEY("kube-system", "extension-apiserver-authentication"), NULL, &err);
    if (!map)
        return s->client_ca;
    kc_auto(kc_view) *view = kc_view_of(map);
    const kc_str pem = kc_as_str(kc_dig(kc_view_root(view), "data.client-ca-file"));
    if (kc_str_empty(pem) || (s->client_ca && kc_str_is(pem, s->client_ca)))
        return s->client_ca;
    if (kc_http_server_trust(s->http, pem, &err) < 0) {
        kc_log_warn(s->log, "cannot trust the API server's authorities", kc_kv("err", &err));
        return s->client_ca;
    }
    free(s->client_ca);
    s->client_ca = kc_str_dup(pem);
    return true;
}

static int keep_trust(kc_cancel *stop, void *user, kc_error *err)
{
    (void)err;
    kc__node_server *s = user;
    kc_auto(kc_client) *client =
        kc_client_with(kc_manager_live_client(s->manager), &(kc_client_bind){.cancel = stop});
    bool known;
    do
        known = learn(s, client);
    while (kc_cancel_sleep_until(stop, s->clock,
                                 kc_clock_deadline(s->clock, known ? LOOK_AGAIN : LOOK_SOON)));
    return 0;
}

/* ---- life ---- */

/* "[::1]:0" is ::1. */
static char *host_of(const char *address)
{
    const char *colon = strrchr(address, ':');
    kc_str host = kc_str_of(address, colon ? (size_t)(colon - address) : strlen(address));
    if (kc_str_starts(host, KC_STR("[")) && kc_str_ends(host, KC_STR("]")))
        host = kc_str_sub(host, 1, host.n - 1);
    return kc_str_dup(host);
}

kc__node_server *kc__node_server_new(kc_manager *manager, const kc_pods_opts *opts, kc_error *err)
{
    kc__node_server *s = kc_new(kc__node_server);
    s->manager = manager;
    s->opts = opts;
    s->log = kc_manager_log(manager);
    s->clock = kc_manager_clock(manager);
    s->address = host_of(opts->address);
    s->http = kc_http_server_start(
        &(kc_http_server_opts){
            .address = opts->address, .handle = handle, .user = s, .tls = true, .log = s->log},
        err);
    const kc_runnable trust = {.name = "node-server", .run = keep_trust, .user = s};
    if (!s->http || kc_manager_add(manager, &trust, err) < 0)
        return kc__node_server_free(s);
    return s;
}

kc__node_server *kc__node_server_free(kc__node_server *server)
{
    if (!server)
        return NULL;
    kc_http_server_stop(server->http);
    free(server->address);
    free(server->client_ca);
    free(server);
    return NULL;
}

int kc__node_server_port(const kc__node_server *server)
{
    return kc_http_server_port(server->http);
}

const char *kc__node_server_address(const kc__node_server *server)
{
    return server->address;
}

const char *kc__node_server_key(const kc__node_server *server)
{
    return kc_http_server_key(server->http);
}
