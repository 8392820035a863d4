/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_server.c: see kc/http_server.h.
 *
 *     loop: handle ──call──▶ thread: opts.handle ──begin──▶ loop: respond
 *                                    ──write──▶ pipe ──▶ loop: fill
 *                                    ──returns──▶ the pipe closes, the thread ends
 *
 * The request stays valid until its exchange has been fully answered. A client may disconnect
 * before the handler returns, which ends the exchange; a call therefore keeps everything that the
 * handler may read later in its own arena.
 */
#include "kc/http_server.h"

#include "http/client/pipe.h"
#include "http/message/query.h"
#include "http/server/server.h"
#include "http/tls/certificate.h"
#include "kc/base64.h"
#include "runtime/debug/debug_server.h"

#include <assert.h>
#include <openssl/sha.h>
#include <stdio.h>

enum { MAX_CALLS = 100, PIN_TEXT = 64 };

#define KEY_LIFETIME (3650 * 24 * KC_HOUR)

struct kc_http_call {
    kc_http_server *server;
    kc__exchange *x; /* Used only by the loop once the response has begun. */
    kc__loop_task task;
    kc_dlist_link link;
    kc_thread *thread;
    kc__pipe *pipe;
    kc_arena arena; /* Owns all strings of the call. */
    kc_str method, path, body, peer;
    kc__query query;
    kc__http_headers headers, answered; /* Of the request and of the response. */
    int status;
    const char *type;
    bool begun;
    int open; /* References: the thread, and the start of the response. Guarded by the server's
                 mutex. */
};

struct kc_http_server {
    kc_http_handler_fn *handle;
    void *user;
    const kc_clock *clock;
    kc_log *log;
    size_t max_calls;
    kc__tls *tls;
    kc_buf cert, key;
    char pin[PIN_TEXT];
    kc__http_server *http;

    kc_mutex mutex; /* Guards the fields below. */
    kc_cond changed;
    kc_dlist running, ended; /* Of kc_http_call. */
    size_t n_calls;          /* Number of calls in both lists. */
};

/* ---- calls ---- */

static void call_free(kc_http_call *call)
{
    kc_thread_join(call->thread);
    kc__pipe_unref(call->pipe);
    kc__http_headers_done(&call->headers);
    kc__http_headers_done(&call->answered);
    kc_arena_done(&call->arena);
    free(call);
}

/* Joins the threads that have ended. */
static void reap(kc_http_server *s)
{
    for (;;) {
        kc_http_call *call = NULL;
        kc_locked (&s->mutex) {
            if (kc_dlist_empty(&s->ended))
                break;
            call = kc_container_of(kc_dlist_pop(&s->ended), kc_http_call, link);
            s->n_calls--;
        }
        if (!call)
            return;
        call_free(call);
    }
}

/* Called when the thread has ended and when the response has begun; after both, nothing refers to
 * the call. */
static void close_one(kc_http_call *call)
{
    kc_http_server *s = call->server;
    kc_locked (&s->mutex) {
        if (--call->open > 0)
            break;
        kc_dlist_remove(&call->link);
        kc_dlist_push(&s->ended, &call->link);
        kc_cond_broadcast(&s->changed);
    }
}

/* Runs on the loop. */
static void http_server_begin(kc__loop_task *task)
{
    kc_http_call *call = kc_container_of(task, kc_http_call, task);
    kc__exchange_respond(call->x,
                         &(kc__http_response){.status = call->status,
                                              .type = kc_cstr(call->type),
                                              .headers = call->answered.list.items,
                                              .n_headers = call->answered.list.n,
                                              .source = &kc__pipe_source,
                                              .user = kc__pipe_read_by(call->pipe, call->x),
                                              .flush = true});
    close_one(call);
}

int kc_http_response_set_header(kc_http_call *call, const char *name, const char *value,
                                kc_error *err)
{
    assert(!call->begun);
    return kc__http_headers_add(&call->answered, kc_arena_str(&call->arena, kc_cstr(name)),
                                kc_arena_str(&call->arena, kc_cstr(value)), err);
}

void kc_http_response_begin(kc_http_call *call, int status, const char *type)
{
    assert(!call->begun);
    call->begun = true;
    call->status = status;
    call->type = kc_arena_strndup(&call->arena, type, strlen(type));
    call->task.run = http_server_begin;
    kc__loop_post(call->x->loop, &call->task);
}

bool kc_http_response_write(kc_http_call *call, kc_str bytes)
{
    assert(call->begun);
    return kc__pipe_write(call->pipe, bytes);
}

bool kc_http_request_wait_closed(kc_http_call *call, int64_t deadline)
{
    return kc__pipe_wait_gone(call->pipe, deadline);
}

void kc_http_response_send(kc_http_call *call, int status, const char *type, kc_str body)
{
    kc_http_response_begin(call, status, type);
    kc_http_response_write(call, body);
}

static void run_call(void *user)
{
    kc_http_call *call = user;
    kc_http_server *s = call->server;
    s->handle(call, s->user);
    if (!call->begun)
        kc_http_response_send(call, 500, "text/plain", KC_STR("the handler sent no response\n"));
    kc__pipe_close(call->pipe, false);
    close_one(call);
}

/* ---- request accessors ---- */

kc_str kc_http_request_method(const kc_http_call *call)
{
    return call->method;
}

kc_str kc_http_request_path(const kc_http_call *call)
{
    return call->path;
}

bool kc_http_request_query(const kc_http_call *call, const char *name, kc_str *ret)
{
    return kc__query_get(&call->query, kc_cstr(name), ret);
}

kc_str kc_http_request_header(const kc_http_call *call, const char *name)
{
    return kc__http_headers_get(&call->headers, kc_cstr(name));
}

kc_str kc_http_request_body(const kc_http_call *call)
{
    return call->body;
}

kc_str kc_http_request_peer(const kc_http_call *call)
{
    return call->peer;
}

/* ---- on the loop ---- */

static void http_server_reject(kc__exchange *x, int status, const char *text)
{
    kc__exchange_respond(x, &(kc__http_response){.status = status,
                                                 .type = KC_STR("text/plain; charset=utf-8"),
                                                 .body = kc_cstr(text)});
}

static void copy_headers(kc_http_call *call, const kc__http_headers *from)
{
    kc_vec_each (&from->list, header)
        kc__http_headers_add(&call->headers, kc_arena_str(&call->arena, header->name),
                             kc_arena_str(&call->arena, header->value), NULL);
}

static kc_http_call *call_of(kc_http_server *s, kc__exchange *x, kc_error *err)
{
    const kc__http_request *r = &x->request;
    kc_http_call *call = kc_new(kc_http_call);
    call->server = s;
    call->open = 2;
    call->x = x;
    call->pipe = kc__pipe_new(s->clock, KC__PIPE_ROOM);
    call->method = kc_arena_str(&call->arena, r->method);
    call->path = kc_arena_str(&call->arena, r->target.path);
    call->body = kc_arena_str(&call->arena, r->body);
    if (r->peer && r->peer->cert)
        call->peer = kc_arena_str(&call->arena, r->peer->cert->common_name);
    copy_headers(call, &r->headers);
    if (kc__query_parse(kc_arena_str(&call->arena, r->target.query), NULL, &call->arena,
                        &call->query, err) == 0)
        return call;
    call_free(call);
    return NULL;
}

static bool http_server_enter(kc_http_server *s, kc_http_call *call)
{
    bool room = false;
    kc_locked (&s->mutex) {
        room = s->n_calls < s->max_calls;
        if (!room)
            break;
        s->n_calls++;
        kc_dlist_push(&s->running, &call->link);
    }
    return room;
}

static void http_server_leave(kc_http_server *s, kc_http_call *call)
{
    kc_locked (&s->mutex) {
        s->n_calls--;
        kc_dlist_remove(&call->link);
        kc_cond_broadcast(&s->changed);
    }
    call_free(call);
}

static void http_server_handle(kc__exchange *x, void *user)
{
    kc_http_server *s = user;
    kc_scoped(kc_error) err = {0};
    reap(s);
    kc_http_call *call = call_of(s, x, &err);
    if (!call) {
        http_server_reject(x, 400, kc_error_text(&err));
    } else if (!http_server_enter(s, call)) {
        call_free(call);
        http_server_reject(x, 503, "too many requests in progress\n");
    } else if (!(call->thread = kc_thread_start("http-call", run_call, call, &err))) {
        http_server_leave(s, call);
        http_server_reject(x, 503, kc_error_text(&err));
    }
}

/* ---- certificate ---- */

static int hash_key(kc_http_server *s, const kc__cert_keypair *pair, kc_error *err)
{
    unsigned char *der = NULL, hash[SHA256_DIGEST_LENGTH];
    const int n = i2d_PUBKEY(pair->key, &der);
    if (n <= 0)
        return kc_error_set(err, KC_INTERNAL, "cannot encode the public key");
    SHA256(der, (size_t)n, hash);
    OPENSSL_free(der);
    kc_scoped(kc_buf) text = {0};
    kc_base64_write(&text, kc_str_of((const char *)hash, sizeof(hash)), KC_BASE64);
    snprintf(s->pin, sizeof(s->pin), "sha256//%s", kc_buf_cstr(&text));
    return 0;
}

static int make_key(kc_http_server *s, kc_error *err)
{
    const char *names[] = {"localhost", "127.0.0.1", "::1"};
    kc_scoped(kc__cert_keypair) issuer = {0}, pair = {0}; /* The issuer is discarded. */
    const int64_t wall = kc_clock_wall(kc_clock_real());
    const kc__cert_spec authority = {.use = KC__CERT_AUTHORITY,
                                     .common_name = "kubecontroller-http-server-ca",
                                     .lifetime = KEY_LIFETIME};
    const kc__cert_spec spec = {.use = KC__CERT_SERVER,
                                .common_name = "kubecontroller-http-server",
                                .names = names,
                                .n_names = KC_COUNT(names),
                                .lifetime = KEY_LIFETIME};
    if (kc__cert_keypair_generate(&authority, NULL, wall, &issuer, err) < 0 ||
        kc__cert_keypair_generate(&spec, &issuer, wall, &pair, err) < 0 ||
        kc__cert_write(pair.cert, &s->cert, err) < 0 ||
        kc__cert_key_write(pair.key, &s->key, err) < 0)
        return kc_error_result(err);
    return hash_key(s, &pair, err);
}

static kc__tls_opts tls_opts(const kc_http_server *s, kc_str client_ca)
{
    return (kc__tls_opts){
        .cert = kc_buf_str(&s->cert), .key = kc_buf_str(&s->key), .client_ca = client_ca};
}

int kc_http_server_set_client_ca(kc_http_server *server, kc_str client_ca, kc_error *err)
{
    const kc__tls_opts opts = tls_opts(server, client_ca);
    if (!server->tls)
        return kc_error_set(err, KC_BAD_REQUEST, "client certificates require TLS");
    return kc__tls_replace(server->tls, &opts, err);
}

const char *kc_http_server_pinned_key(const kc_http_server *server)
{
    return server->pin;
}

/* ---- start and stop ---- */

static int make_tls(kc_http_server *s, const kc_http_server_opts *opts, kc_error *err)
{
    if (!opts->tls)
        return 0;
    if (make_key(s, err) < 0)
        return kc_error_result(err);
    const kc__tls_opts tls = tls_opts(s, opts->client_ca);
    s->tls = kc__tls_new(&tls, err);
    return s->tls ? 0 : kc_error_result(err);
}

static int http_server_listen_on(kc_http_server *s, const char *address, kc_error *err)
{
    char host[64];
    kc__http_listener listener = {.address = host, .tls = s->tls};
    if (kc__debug_split_address(address, host, &listener.port, err) < 0)
        return kc_error_result(err);
    s->http = kc__http_server_start(&(kc__http_server_opts){.listeners = &listener,
                                                            .n_listeners = 1,
                                                            .loops = 1,
                                                            .handle = http_server_handle,
                                                            .user = s,
                                                            .log = s->log},
                                    err);
    return s->http ? 0 : kc_error_wrap(err, "serve %s", address);
}

kc_http_server *kc_http_server_start(const kc_http_server_opts *opts, kc_error *err)
{
    kc_auto(kc_http_server) *s = kc_new(kc_http_server);
    s->handle = opts->handle;
    s->user = opts->user;
    s->clock = opts->clock ? opts->clock : kc_clock_real();
    s->log = opts->log;
    s->max_calls = opts->max_calls > 0 ? (size_t)opts->max_calls : MAX_CALLS;
    kc_mutex_init(&s->mutex);
    kc_cond_init(&s->changed);
    kc_dlist_init(&s->running);
    kc_dlist_init(&s->ended);
    if (make_tls(s, opts, err) < 0 || http_server_listen_on(s, opts->address, err) < 0)
        return NULL;
    return kc_take(s);
}

int kc_http_server_port(const kc_http_server *server)
{
    return kc__http_server_port(server->http, 0);
}

/* Handlers that wait for a client observe that it has disconnected. */
static void leave_all(kc_http_server *s)
{
    kc_locked (&s->mutex)
        kc_dlist_each (&s->running, kc_http_call, link, call)
            kc__pipe_abandon(call->pipe);
}

kc_http_server *kc_http_server_stop(kc_http_server *server)
{
    if (!server)
        return NULL;
    if (server->http) {
        kc__http_server_drain(server->http);
        leave_all(server);
        kc__http_server_stop(server->http, KC_SECOND);
    }
    kc_locked (&server->mutex)
        while (!kc_dlist_empty(&server->running))
            kc_cond_wait_until(&server->changed, &server->mutex, server->clock, KC_FOREVER);
    reap(server);
    kc__tls_free(server->tls);
    kc_buf_done(&server->cert);
    kc_buf_wipe(&server->key);
    kc_cond_done(&server->changed);
    kc_mutex_done(&server->mutex);
    free(server);
    return NULL;
}
