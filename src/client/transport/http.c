/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.c: the HTTP transport, based on libcurl.
 *
 * Transport loops. All requests share one connection pool, driven by one thread at a time (loop.c),
 * with one exception: before 8.1, libcurl cannot pause one stream of an HTTP/2 connection
 * without blocking all others on it, so a list that is read slowly would block the requests that
 * its reader sends in the meantime. With such a version, lists and watches use HTTP/1.1 connections
 * on a second loop, and all other requests are multiplexed.
 *
 * The transport gets the credential before each request, and again if the server responds with 401
 * and the credential can change. If there is a newer one, the request is sent once more: this is
 * safe because a request that was not authenticated was not executed.
 *
 * Threads: everything here runs on the callers' threads. To follow a request, read open below, then
 * http_request.c, loop.c, http_response.c, transfer.c.
 */
#include "kc/transport.h"

#include "client/transport/transport_http_internal.h"
#include "kubeconfig/kubeconfig_internal.h"

#include <errno.h>

/* The first libcurl version that can pause streams individually. */
#define CAN_PAUSE_STREAMS 0x080100

static kc__client_transport_http *http_of(kc_transport *t)
{
    return kc_container_of(t, kc__client_transport_http, transport);
}

static kc__client_transport_transfer *fetch_of(kc_http_response *response)
{
    return kc_container_of(response, kc__client_transport_transfer, response);
}

/* ---- the operations ---- */

/* Prepares the transfer and passes it to its loop. */
static int transport_http_start(kc__client_transport_transfer *x, const kc_http_request *request,
                                kc_error *err)
{
    x->handle = kc__client_transport_loop_take_handle(x->loop, x->credential);
    if (!x->handle)
        x->handle = kc__client_transport_handle_new(x->http, x->credential,
                                                    kc__client_transport_loop_is_http1(x->loop));
    if (!x->handle)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "out of memory");
    if (kc__client_transport_transfer_prepare(x, request, err) < 0)
        return kc_error_result(err);
    return kc__client_transport_loop_begin(x->loop, x, err);
}

/* Frees a transfer that was never passed to its loop. */
static void transport_http_drop(kc__client_transport_transfer *x)
{
    kc_cancel_remove_hook(x->cancel, &x->hook);
    kc_cancel_unref(x->cancel);
    kc__client_transport_transfer_unref(x);
}

/* Sends the request once, with one credential. NULL on error. */
static kc__client_transport_transfer *send_once(kc__client_transport_http *http,
                                                const kc_http_request *request,
                                                kc__credential *credential, kc_error *err)
{
    kc__client_transport_transfer *x = kc__client_transport_transfer_new(http, request);
    x->credential = kc__credential_ref(credential);
    if (transport_http_start(x, request, err) < 0) {
        transport_http_drop(x);
        return NULL;
    }
    if (kc__client_transport_transfer_wait_head(x, err) == 0)
        return x;
    kc__client_transport_transfer_close(x);
    return NULL;
}

/* After a 401: returns the same response, or that of a second request with a newer credential. */
static kc__client_transport_transfer *resend(kc__client_transport_http *http,
                                             const kc_http_request *request,
                                             kc__client_transport_transfer *x, int64_t deadline,
                                             kc_error *err)
{
    kc_auto(kc__credential) *newer =
        kc__credentials_get(http->credentials, x->credential, deadline, request->cancel, NULL);
    if (!newer || newer == x->credential)
        return x;
    kc__client_transport_transfer_close(x);
    return send_once(http, request, newer, err);
}

static kc_http_response *http_open(kc_transport *t, const kc_http_request *request, kc_error *err)
{
    kc__client_transport_http *http = http_of(t);
    const int64_t deadline = request->deadline ? request->deadline : KC_FOREVER;
    kc_auto(kc__credential) *credential =
        kc__credentials_get(http->credentials, NULL, deadline, request->cancel, err);
    if (!credential)
        return NULL;
    kc__client_transport_transfer *x = send_once(http, request, credential, err);
    if (x && x->response.status == 401 && kc__credentials_may_change(http->credentials))
        x = resend(http, request, x, deadline, err);
    return x ? &x->response : NULL;
}

static ssize_t http_read(kc_http_response *response, char *ret_bytes, size_t n, kc_error *err)
{
    return kc__client_transport_transfer_read(fetch_of(response), ret_bytes, n, err);
}

static void http_close(kc_http_response *response)
{
    kc__client_transport_transfer_close(fetch_of(response));
}

void kc__client_transport_refuse_credential(kc__client_transport_http *http,
                                            kc__credential *credential)
{
    kc_auto(kc__credential) *before = NULL;
    kc_locked (&http->mutex) {
        before = http->refused;
        http->refused = kc__credential_ref(credential);
    }
}

/* Returns the credential of a stream: newer than the last rejected one, if available. */
static kc__credential *stream_credential(kc__client_transport_http *http, kc_error *err)
{
    kc_auto(kc__credential) *refused = NULL;
    kc_locked (&http->mutex)
        refused = http->refused ? kc__credential_ref(http->refused) : NULL;
    return kc__credentials_get(http->credentials, refused, KC_FOREVER, NULL, err);
}

static kc_stream *http_start(kc_transport *t, const kc_http_request *request,
                             const kc_stream_callbacks *callbacks, void *user, kc_error *err)
{
    kc__client_transport_http *http = http_of(t);
    kc_http_request endless = *request;
    endless.deadline = 0;
    endless.cancel = NULL;
    kc_auto(kc__credential) *credential = stream_credential(http, err);
    if (!credential)
        return NULL;
    kc__client_transport_transfer *x = kc__client_transport_transfer_new(http, &endless);
    kc__client_transport_set_callbacks(x, callbacks, user);
    x->credential = kc__credential_ref(credential);
    if (transport_http_start(x, &endless, err) == 0)
        return &x->stream;
    transport_http_drop(x);
    return NULL;
}

static void http_free(kc_transport *t)
{
    kc__client_transport_http *http = http_of(t);
    if (http->slow != http->quick)
        kc__client_transport_loop_free(http->slow);
    kc__client_transport_loop_free(http->quick);
    kc__credential_unref(http->refused);
    kc_mutex_done(&http->mutex);
    kc__credentials_free(http->credentials);
    kc_config_free(http->config);
    kc_arena_done(&http->arena);
    curl_global_cleanup();
    free(http);
}

static const kc_transport_ops ops = {.open = http_open,
                                     .read = http_read,
                                     .close = http_close,
                                     .free = http_free,
                                     .start = http_start};

/* ---- construction ---- */

static bool is_loopback(const char *host)
{
    const kc_str h = kc_cstr(host);
    return kc_str_is(h, "localhost") || kc_str_starts(h, KC_STR("127.")) || kc_str_is(h, "[::1]");
}

/* The parts of a server's URL, as parsed by curl; all in the arena. */
typedef struct transport_http_parts {
    const char *scheme, *host, *port, *path;
} transport_http_parts;

static const char *part_of(CURLU *url, CURLUPart part, kc_arena *arena)
{
    char *text = NULL;
    if (curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK)
        return "";
    const char *copy = kc_arena_strndup(arena, text, strlen(text));
    curl_free(text);
    return copy;
}

static int split_url(const char *server, kc_arena *arena, transport_http_parts *ret, kc_error *err)
{
    CURLU *url = curl_url();
    const CURLUcode code = curl_url_set(url, CURLUPART_URL, server, 0);
    if (code == CURLUE_OK)
        *ret = (transport_http_parts){
            part_of(url, CURLUPART_SCHEME, arena), part_of(url, CURLUPART_HOST, arena),
            part_of(url, CURLUPART_PORT, arena), part_of(url, CURLUPART_PATH, arena)};
    curl_url_cleanup(url);
    if (code != CURLUE_OK)
        return kc_error_set(err, KC_BAD_REQUEST, "the server \"%s\" is not a valid URL: %s", server,
                            curl_url_strerror(code));
    if (strcmp(ret->scheme, "https") != 0 && strcmp(ret->scheme, "http") != 0)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "the server \"%s\" must begin with http:// or https://", server);
    return 0;
}

static int transport_http_set_position(kc__client_transport_http *http, kc_error *err)
{
    const char *name = http->config->tls_server_name;
    transport_http_parts url = {0};
    if (split_url(http->config->server, &http->arena, &url, err) < 0)
        return kc_error_result(err);
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

static void set_extra(kc__client_transport_http *http, const char *const *extra)
{
    for (; extra && extra[0] && extra[1]; extra += 2) {
        kc_scoped(kc_buf) name = {0};
        kc_buf_puts(&name, "Impersonate-Extra-");
        /* Escapes characters that are not allowed in a header field name, as other clients do. */
        for (const char *c = extra[0]; *c; c++)
            if (strchr("!#$&'*+-.^_`|~", *c) || (*c >= '0' && *c <= '9') ||
                (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z'))
                kc_buf_putc(&name, *c);
            else
                kc_buf_printf(&name, "%%%02X", (unsigned char)*c);
        http->impersonate = kc__client_transport_header_line(&http->arena, kc_buf_str(&name),
                                                             kc_cstr(extra[1]), http->impersonate);
    }
}

static int set_lines(kc__client_transport_http *http, kc_error *err)
{
    const kc_config *c = http->config;
    struct curl_slist *no_expect = kc_arena_new(&http->arena, struct curl_slist);
    no_expect->data = kc_arena_printf(&http->arena, "Expect:");
    http->fixed = no_expect;
    if (http->connect_to.data)
        http->fixed = kc__client_transport_header_line(&http->arena, KC_STR("Host"),
                                                       kc_cstr(http->host), http->fixed);
    http->impersonate = http->fixed;
    if (!c->impersonate_user)
        return 0;
    set_extra(http, c->impersonate_extra);
    for (const char *const *group = c->impersonate_groups; group && *group; group++)
        http->impersonate = kc__client_transport_header_line(
            &http->arena, KC_STR("Impersonate-Group"), kc_cstr(*group), http->impersonate);
    if (c->impersonate_uid)
        http->impersonate =
            kc__client_transport_header_line(&http->arena, KC_STR("Impersonate-Uid"),
                                             kc_cstr(c->impersonate_uid), http->impersonate);
    http->impersonate = kc__client_transport_header_line(
        &http->arena, KC_STR("Impersonate-User"), kc_cstr(c->impersonate_user), http->impersonate);
    for (const struct curl_slist *line = http->impersonate; line; line = line->next)
        if (strpbrk(line->data, "\r\n"))
            return kc_error_set(err, KC_BAD_REQUEST, "an impersonated name contains a line break");
    return 0;
}

/* A watch over HTTP/1.1 occupies a connection, so the limit must be high enough. */
static int connections(const kc_transport_http_opts *opts, bool http1)
{
    if (opts->max_connections > 0)
        return opts->max_connections;
    return http1 ? 1024 : 16;
}

static void make_loops(kc__client_transport_http *http, const kc_transport_http_opts *opts)
{
    const bool http1 = !http->tls || opts->http1;
    const bool split =
        !http1 && curl_version_info(CURLVERSION_NOW)->version_num < CAN_PAUSE_STREAMS;
    http->quick = kc__client_transport_loop_new("kc-http", http1, connections(opts, http1));
    http->slow = split
                     ? kc__client_transport_loop_new("kc-http-slow", true, connections(opts, true))
                     : http->quick;
}

static int transport_http_setup(kc__client_transport_http *http, const kc_transport_http_opts *opts,
                                kc_error *err)
{
    const char *agent = opts->user_agent ? opts->user_agent : program_invocation_short_name;
    const int64_t timeout = opts->connect_timeout ? opts->connect_timeout : 30 * KC_SECOND;
    http->clock = opts->clock ? opts->clock : kc_clock_real();
    http->user_agent = kc_arena_strndup(&http->arena, agent, strlen(agent));
    http->connect_timeout_ms = (long)KC_MAX(timeout / KC_MILLISECOND, 1);
    if (transport_http_set_position(http, err) < 0 || set_lines(http, err) < 0)
        return kc_error_result(err);
    http->credentials = kc__credentials_new(http->config, http->clock, opts->metrics, err);
    if (!http->credentials)
        return kc_error_result(err);
    make_loops(http, opts);
    return 0;
}

kc_transport *kc_transport_http_new(const kc_config *config, const kc_transport_http_opts *opts,
                                    kc_error *err)
{
    static const kc_transport_http_opts defaults;
    kc__client_transport_http *http = kc_new(kc__client_transport_http);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    http->transport.ops = &ops;
    kc_mutex_init(&http->mutex);
    http->config = kc__kubeconfig_config_copy(config);
    if (transport_http_setup(http, opts ? opts : &defaults, err) == 0)
        return &http->transport;
    http_free(&http->transport);
    return NULL;
}
