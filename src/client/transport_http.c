/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_http.c: requests over HTTP, by libcurl.
 *
 * Lanes. All requests share one pool of connections, moved by one thread (a lane). With one
 * exception: before 8.1, libcurl cannot pause one stream of an HTTP/2 connection without holding
 * up all others on it, so a list that is read slowly would stop the very requests its reader makes
 * meanwhile. There, lists and watches go over HTTP/1.1 connections of their own, on a second lane,
 * and everything else is multiplexed.
 *
 * Credentials are asked for before each request, and once more when the server answers 401 and
 * there may be newer ones; if there are, the request is sent again, once: a request that was not
 * authenticated was not carried out.
 *
 * Threads: everything here runs on the callers'. To follow a request: open below,
 * transport_http_request.c, _lane.c, _answer.c, _fetch.c.
 */
#include "kc/transport.h"

#include "client/kubeconfig_internal.h"
#include "client/transport_http_internal.h"

#include <errno.h>

/* The first libcurl whose streams can be paused one by one. */
#define CAN_PAUSE_STREAMS 0x080100

static kc__http *http_of(kc_transport *t)
{
    return kc_container_of(t, kc__http, transport);
}

static kc__fetch *fetch_of(kc_http_response *response)
{
    return kc_container_of(response, kc__fetch, response);
}

/* ---- the operations ---- */

/* Gives the fetch what it needs, and to its lane. */
static int start(kc__fetch *x, const kc_http_request *request, kc_error *err)
{
    x->handle = kc__lane_take_handle(x->lane, x->credential);
    if (!x->handle)
        x->handle = kc__handle_new(x->http, x->credential, kc__lane_is_http1(x->lane));
    if (!x->handle)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "out of memory");
    if (kc__fetch_prepare(x, request, err) < 0)
        return -1;
    kc__lane_post(x->lane, x, KC__WISH_START);
    return 0;
}

/* One that never got to its lane. */
static void drop(kc__fetch *x)
{
    kc_cancel_unhang(x->cancel, &x->hook);
    kc_cancel_unref(x->cancel);
    kc__fetch_unref(x);
}

/* Once, with one credential. NULL on error. */
static kc__fetch *send_once(kc__http *http, const kc_http_request *request,
                            kc__credential *credential, kc_error *err)
{
    kc__fetch *x = kc__fetch_new(http, request);
    x->credential = kc__credential_ref(credential);
    if (start(x, request, err) < 0) {
        drop(x);
        return NULL;
    }
    if (kc__fetch_await_head(x, err) == 0)
        return x;
    kc__fetch_close(x);
    return NULL;
}

/* After a 401: the same answer, or another one with a newer credential. */
static kc__fetch *send_again(kc__http *http, const kc_http_request *request, kc__fetch *x,
                             int64_t deadline, kc_error *err)
{
    kc_auto(kc__credential) *newer =
        kc__credentials_get(http->credentials, x->credential, deadline, request->cancel, NULL);
    if (!newer || newer == x->credential)
        return x;
    kc__fetch_close(x);
    return send_once(http, request, newer, err);
}

static kc_http_response *http_open(kc_transport *t, const kc_http_request *request, kc_error *err)
{
    kc__http *http = http_of(t);
    const int64_t deadline = request->deadline ? request->deadline : KC_FOREVER;
    kc_auto(kc__credential) *credential =
        kc__credentials_get(http->credentials, NULL, deadline, request->cancel, err);
    if (!credential)
        return NULL;
    kc__fetch *x = send_once(http, request, credential, err);
    if (x && x->response.status == 401 && kc__credentials_may_change(http->credentials))
        x = send_again(http, request, x, deadline, err);
    return x ? &x->response : NULL;
}

static ssize_t http_read(kc_http_response *response, char *ret_bytes, size_t n, kc_error *err)
{
    return kc__fetch_read(fetch_of(response), ret_bytes, n, err);
}

static void http_close(kc_http_response *response)
{
    kc__fetch_close(fetch_of(response));
}

static void http_free(kc_transport *t)
{
    kc__http *http = http_of(t);
    if (http->slow != http->quick)
        kc__lane_stop(http->slow);
    kc__lane_stop(http->quick);
    kc__credentials_free(http->credentials);
    kc_config_free(http->config);
    kc_arena_done(&http->arena);
    curl_global_cleanup();
    free(http);
}

static const kc_transport_ops ops = {http_open, http_read, http_close, http_free};

/* ---- making one ---- */

static bool is_loopback(const char *host)
{
    const kc_str h = kc_cstr(host);
    return kc_str_is(h, "localhost") || kc_str_starts(h, KC_STR("127.")) || kc_str_is(h, "[::1]");
}

/* The parts of a server's URL, as curl reads them; each in the arena. */
typedef struct parts {
    const char *scheme, *host, *port, *path;
} parts;

static const char *part_of(CURLU *url, CURLUPart part, kc_arena *arena)
{
    char *text = NULL;
    if (curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK)
        return "";
    const char *copy = kc_arena_strndup(arena, text, strlen(text));
    curl_free(text);
    return copy;
}

static int split_url(const char *server, kc_arena *arena, parts *ret, kc_error *err)
{
    CURLU *url = curl_url();
    const CURLUcode code = curl_url_set(url, CURLUPART_URL, server, 0);
    if (code == CURLUE_OK)
        *ret = (parts){part_of(url, CURLUPART_SCHEME, arena), part_of(url, CURLUPART_HOST, arena),
                       part_of(url, CURLUPART_PORT, arena), part_of(url, CURLUPART_PATH, arena)};
    curl_url_cleanup(url);
    if (code != CURLUE_OK)
        return kc_error_set(err, KC_BAD_REQUEST, "the server \"%s\" is no URL: %s", server,
                            curl_url_strerror(code));
    if (strcmp(ret->scheme, "https") != 0 && strcmp(ret->scheme, "http") != 0)
        return kc_error_set(err, KC_BAD_REQUEST, "the server \"%s\" is neither http nor https",
                            server);
    return 0;
}

static int set_place(kc__http *http, kc_error *err)
{
    const char *name = http->config->tls_server_name;
    parts url = {0};
    if (split_url(http->config->server, &http->arena, &url, err) < 0)
        return -1;
    kc_str path = kc_cstr(url.path);
    while (path.n && path.p[path.n - 1] == '/')
        path.n--;
    http->tls = !strcmp(url.scheme, "https");
    http->loopback = is_loopback(url.host);
    http->host = kc_arena_printf(&http->arena, "%s:%s", url.host, url.port);
    name = http->tls ? name : NULL;
    http->base = kc_arena_printf(&http->arena, "%s://%s:%s%.*s", url.scheme, name ? name : url.host,
                                 url.port, KC_ARG(path));
    if (name)
        http->connect_to.data = kc_arena_printf(&http->arena, "::%s", http->host);
    return 0;
}

static void set_extra(kc__http *http, const char *const *extra)
{
    for (; extra && extra[0] && extra[1]; extra += 2) {
        kc_scoped(kc_buf) name = {0};
        kc_buf_puts(&name, "Impersonate-Extra-");
        /* As other clients escape what no name of a field may hold. */
        for (const char *c = extra[0]; *c; c++)
            if (strchr("!#$&'*+-.^_`|~", *c) || (*c >= '0' && *c <= '9') ||
                (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z'))
                kc_buf_putc(&name, *c);
            else
                kc_buf_printf(&name, "%%%02X", (unsigned char)*c);
        http->impersonate =
            kc__header_line(&http->arena, kc_buf_str(&name), kc_cstr(extra[1]), http->impersonate);
    }
}

static int set_lines(kc__http *http, kc_error *err)
{
    const kc_config *c = http->config;
    struct curl_slist *no_expect = kc_arena_new(&http->arena, struct curl_slist);
    no_expect->data = kc_arena_printf(&http->arena, "Expect:");
    http->fixed = no_expect;
    if (http->connect_to.data)
        http->fixed =
            kc__header_line(&http->arena, KC_STR("Host"), kc_cstr(http->host), http->fixed);
    http->impersonate = http->fixed;
    if (!c->impersonate_user)
        return 0;
    set_extra(http, c->impersonate_extra);
    for (const char *const *group = c->impersonate_groups; group && *group; group++)
        http->impersonate = kc__header_line(&http->arena, KC_STR("Impersonate-Group"),
                                            kc_cstr(*group), http->impersonate);
    if (c->impersonate_uid)
        http->impersonate = kc__header_line(&http->arena, KC_STR("Impersonate-Uid"),
                                            kc_cstr(c->impersonate_uid), http->impersonate);
    http->impersonate = kc__header_line(&http->arena, KC_STR("Impersonate-User"),
                                        kc_cstr(c->impersonate_user), http->impersonate);
    for (const struct curl_slist *line = http->impersonate; line; line = line->next)
        if (strpbrk(line->data, "\r\n"))
            return kc_error_set(err, KC_BAD_REQUEST, "a name to impersonate has several lines");
    return 0;
}

/* A watch over HTTP/1.1 takes a connection for itself, so there must be enough of them. */
static int connections(const kc_transport_http_opts *opts, bool http1)
{
    if (opts->max_connections > 0)
        return opts->max_connections;
    return http1 ? 1024 : 16;
}

static int start_lanes(kc__http *http, const kc_transport_http_opts *opts, kc_error *err)
{
    const bool http1 = !http->tls || opts->http1;
    const bool split =
        !http1 && curl_version_info(CURLVERSION_NOW)->version_num < CAN_PAUSE_STREAMS;
    http->quick = kc__lane_start("kc-http", http1, connections(opts, http1), err);
    http->slow = http->quick;
    if (http->quick && split)
        http->slow = kc__lane_start("kc-http-slow", true, connections(opts, true), err);
    return http->quick && http->slow ? 0 : -1;
}

static int set_up(kc__http *http, const kc_transport_http_opts *opts, kc_error *err)
{
    const char *agent = opts->user_agent ? opts->user_agent : program_invocation_short_name;
    const int64_t timeout = opts->connect_timeout ? opts->connect_timeout : 30 * KC_SECOND;
    http->clock = opts->clock ? opts->clock : kc_clock_real();
    http->user_agent = kc_arena_strndup(&http->arena, agent, strlen(agent));
    http->connect_timeout_ms = (long)KC_MAX(timeout / KC_MILLISECOND, 1);
    if (set_place(http, err) < 0 || set_lines(http, err) < 0)
        return -1;
    http->credentials = kc__credentials_new(http->config, http->clock, opts->metrics, err);
    return http->credentials ? start_lanes(http, opts, err) : -1;
}

kc_transport *kc_transport_http_new(const kc_config *config, const kc_transport_http_opts *opts,
                                    kc_error *err)
{
    static const kc_transport_http_opts defaults;
    kc__http *http = kc_new(kc__http);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    http->transport.ops = &ops;
    http->config = kc__config_copy(config);
    if (set_up(http, opts ? opts : &defaults, err) == 0)
        return &http->transport;
    http_free(&http->transport);
    return NULL;
}
