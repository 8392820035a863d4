/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_testing.h: the API server over sockets, plain and TLS, in the test's own process; a
 * server of the test's own that says whatever a test wants; and short forms for requests.
 *
 *     kc_auto(stage) *s = stage_start(NULL);
 *     kc_auto(kc_transport) *t = transport_to(s->plain_url);
 *     assert_int_equal(GET(t, "/version"), 200);
 */
#ifndef TRANSPORT_TESTING_H
#define TRANSPORT_TESTING_H

#include "tls_testing.h"

#include "apiserver/apiserver.h"
#include "apiserver/storage/storage_memory.h"
#include "kc/transport.h"

/* ---- folders and files ---- */

/* In a new folder. */
static inline char *folder_make(void)
{
    char *path = kc_strdup("/tmp/kc-transport-XXXXXX");
    assert_non_null(mkdtemp(path));
    return path;
}

static inline void folder_remove(char *path)
{
    kc_autofree char *command = kc_asprintf("rm -r '%s'", path);
    assert_int_equal(system(command), 0);
    free(path);
}

static inline void file_put(const char *path, const char *text)
{
    kc_autofree char *next = kc_asprintf("%s.next", path);
    FILE *file = fopen(next, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(rename(next, path), 0);
}

/* ---- the real server ---- */

typedef struct stage {
    char *folder;
    kc__memory *memory;
    kc__authn *authn;
    kc__tls *tls;
    kc_metrics *metrics;
    kc_apiserver *server;
    char *plain_url, *tls_url; /* https://127.0.0.1:… */
    char *ca_file, *cert_file, *key_file, *user_cert_file, *user_key_file, *token_file;
} stage;

static inline char *in_folder(const stage *s, const char *name)
{
    return kc_asprintf("%s/%s", s->folder, name);
}

/* An authority, the server's identity (for `name`), and one of a user. */
static inline void make_certificates(stage *s, const char *name)
{
    identity ca = identity_new("test authority", NULL, NULL);
    identity server = identity_new(name, NULL, &ca);
    identity user = identity_new("alice", (const char *const[]){"users", NULL}, &ca);
    write_cert(&ca, s->ca_file = in_folder(s, "ca.crt"));
    write_cert(&server, s->cert_file = in_folder(s, "server.crt"));
    write_key(&server, s->key_file = in_folder(s, "server.key"));
    write_cert(&user, s->user_cert_file = in_folder(s, "user.crt"));
    write_key(&user, s->user_key_file = in_folder(s, "user.key"));
    identity_done(&ca);
    identity_done(&server);
    identity_done(&user);
}

typedef struct stage_opts {
    const char *name;      /* In the server's certificate. Defaults to 127.0.0.1. */
    bool refuse_anonymous; /* Tokens are "good" and "better". */
    kc_metrics *metrics;   /* Defaults to none. */
} stage_opts;

static inline kc_storage *stage_storage(stage *s)
{
    kc_storage *storage = NULL;
    assert_int_equal(kc_storage_open(&kc_storage_memory, &(kc_storage_opts){.memory = s->memory},
                                     &storage, NULL),
                     0);
    return storage;
}

static inline void stage_serve(stage *s, int plain_port, int tls_port)
{
    kc_scoped(kc_error) err = {0};
    const kc__listener listeners[] = {{.port = plain_port}, {.port = tls_port, .tls = s->tls}};
    s->server = kc_apiserver_start(&(kc_apiserver_opts){.storage = stage_storage(s),
                                                        .listeners = listeners,
                                                        .n_listeners = 2,
                                                        .metrics = s->metrics,
                                                        .authn = s->authn},
                                   &err);
    if (!s->server)
        fail_msg("the server did not start: %s", kc_error_text(&err));
}

/* Stops the server and starts it again, at the same ports. */
static inline void stage_restart(stage *s, int64_t grace)
{
    const int plain = kc_apiserver_port(s->server, 0), tls = kc_apiserver_port(s->server, 1);
    kc_apiserver_stop(s->server, grace);
    stage_serve(s, plain, tls);
}

static inline stage *stage_start(const stage_opts *opts)
{
    static const stage_opts none;
    stage *s = kc_new(stage);
    kc_scoped(kc_error) err = {0};
    opts = opts ? opts : &none;
    s->folder = folder_make();
    s->memory = kc__memory_new();
    make_certificates(s, opts->name ? opts->name : "127.0.0.1");
    s->token_file = in_folder(s, "tokens.csv");
    file_put(s->token_file, "good,bob,1\nbetter,bob,1\n");
    s->tls = kc__tls_new(&(kc__tls_opts){.cert_file = s->cert_file,
                                         .key_file = s->key_file,
                                         .client_ca_file = s->ca_file},
                         &err);
    s->authn = kc__authn_new(
        &(kc__authn_opts){.token_file = s->token_file, .refuse_anonymous = opts->refuse_anonymous},
        &err);
    s->metrics = opts->metrics;
    stage_serve(s, 0, 0);
    s->plain_url = kc_asprintf("http://127.0.0.1:%d", kc_apiserver_port(s->server, 0));
    s->tls_url = kc_asprintf("https://127.0.0.1:%d", kc_apiserver_port(s->server, 1));
    return s;
}

static inline void stage_free(stage *s)
{
    if (!s)
        return;
    kc_apiserver_kill(s->server);
    kc__authn_free(s->authn);
    kc__tls_free(s->tls);
    kc__memory_free(s->memory);
    folder_remove(s->folder);
    char *texts[] = {s->plain_url, s->tls_url,        s->ca_file,       s->cert_file,
                     s->key_file,  s->user_cert_file, s->user_key_file, s->token_file};
    for (size_t i = 0; i < KC_COUNT(texts); i++)
        free(texts[i]);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

/* ---- a server of the test's own ---- */

typedef struct raw_server raw_server;

/* Serves one connection, the nth (from 0), on a thread of its own; `c` is freed after it. */
typedef void raw_serve(raw_server *s, client *c, int nth);

struct raw_server {
    int fd, port;
    char *url;
    raw_serve *serve;
    void *user;
    kc_thread *thread;
    kc_mutex mutex; /* Guards what follows. */
    kc_cond changed;
    KC_VEC(kc_thread *) threads;
    int connections, requests;
    bool released; /* For those who wait with raw_hold. */
};

typedef struct raw_connection {
    raw_server *server;
    client *c;
    int nth;
} raw_connection;

static inline void raw_run(void *user)
{
    raw_connection *r = user;
    r->server->serve(r->server, r->c, r->nth);
    client_free(r->c);
    free(r);
}

static inline void raw_accept(void *user)
{
    raw_server *s = user;
    for (int fd; (fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
        raw_connection *r = kc_new(raw_connection);
        r->server = s;
        r->c = kc_new(client);
        r->c->fd = fd;
        kc_locked (&s->mutex) {
            r->nth = s->connections++;
            kc_vec_push(&s->threads, kc_thread_start("raw", raw_run, r, NULL));
            kc_cond_broadcast(&s->changed);
        }
    }
}

static inline raw_server *raw_start(raw_serve *serve, void *user)
{
    raw_server *s = kc_new(raw_server);
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t length = sizeof(at);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->serve = serve;
    s->user = user;
    kc_mutex_init(&s->mutex);
    kc_cond_init(&s->changed);
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(s->fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(s->fd, 64), 0);
    assert_int_equal(getsockname(s->fd, (struct sockaddr *)&at, &length), 0);
    s->port = ntohs(at.sin_port);
    s->url = kc_asprintf("http://127.0.0.1:%d", s->port);
    s->thread = kc_thread_start("raw-accept", raw_accept, s, NULL);
    return s;
}

/* Lets those go on who wait with raw_hold. */
static inline void raw_release(raw_server *s)
{
    kc_locked (&s->mutex) {
        s->released = true;
        kc_cond_broadcast(&s->changed);
    }
}

static inline void raw_stop(raw_server *s)
{
    if (!s)
        return;
    raw_release(s);
    shutdown(s->fd, SHUT_RDWR);
    kc_thread_join(s->thread);
    kc_vec_each (&s->threads, thread)
        kc_thread_join(*thread);
    kc_vec_done(&s->threads);
    close(s->fd);
    kc_cond_done(&s->changed);
    kc_mutex_done(&s->mutex);
    free(s->url);
    free(s);
}
KC_AUTO_DEFINE(raw_server, raw_stop)

static inline void raw_hold(raw_server *s)
{
    kc_locked (&s->mutex)
        while (!s->released)
            kc_cond_wait(&s->changed, &s->mutex);
}

static inline int raw_requests(raw_server *s)
{
    int n = 0;
    kc_locked (&s->mutex)
        n = s->requests;
    return n;
}

static inline void raw_await_requests(raw_server *s, int n)
{
    kc_locked (&s->mutex)
        while (s->requests < n)
            kc_cond_wait(&s->changed, &s->mutex);
}

/* The next request, head and body, which then is forgotten; NULL at the end. In the client's `in`.
 */
static inline const char *raw_next(raw_server *s, client *c, kc_buf *out)
{
    const char *end, *length;
    while (!(end = strstr(kc_buf_cstr(&c->in), "\r\n\r\n")))
        if (!client_read(c))
            return NULL;
    length = strcasestr(kc_buf_cstr(&c->in), "Content-Length: ");
    const size_t body = length && length < end ? strtoul(length + 16, NULL, 10) : 0;
    const size_t all = (size_t)(end + 4 - c->in.p) + body;
    while (c->in.n < all)
        if (!client_read(c))
            return NULL;
    kc_buf_clear(out);
    kc_buf_append(out, kc_str_of(c->in.p, all));
    memmove(c->in.p, c->in.p + all, c->in.n - all);
    c->in.n -= all;
    kc_locked (&s->mutex) {
        s->requests++;
        kc_cond_broadcast(&s->changed);
    }
    return kc_buf_cstr(out);
}

/* ---- requests ---- */

static inline kc_transport *transport_of(const kc_config *config)
{
    kc_scoped(kc_error) err = {0};
    kc_transport *t = kc_transport_http_new(config, NULL, &err);
    if (!t)
        fail_msg("no transport: %s", kc_error_text(&err));
    return t;
}

static inline kc_transport *transport_to(const char *url)
{
    kc_auto(kc_config) *config = kc_config_for_url(url);
    return transport_of(config);
}

/* All of a body. Negative on error. */
static inline int read_all(kc_http_response *r, kc_buf *out, kc_error *err)
{
    for (;;) {
        char chunk[8192];
        const ssize_t n = kc_http_read(r, chunk, sizeof(chunk), err);
        if (n <= 0)
            return (int)n;
        kc_buf_append(out, kc_str_of(chunk, (size_t)n));
    }
}

/* The status; the body is appended. Negative on error. */
static inline int request(kc_transport *t, const char *method, const char *target, const char *body,
                          kc_buf *out, kc_error *err)
{
    const kc_http_field json = {KC_STR("Content-Type"), KC_STR("application/json")};
    kc_auto(kc_http_response) *r = kc_transport_open(t,
                                                     &(kc_http_request){.method = method,
                                                                        .target = kc_cstr(target),
                                                                        .body = kc_cstr(body),
                                                                        .fields = &json,
                                                                        .n_fields = body ? 1 : 0},
                                                     err);
    if (!r)
        return -1;
    const int status = r->status;
    return read_all(r, out, err) < 0 ? -1 : status;
}

static inline int request_status(kc_transport *t, const char *method, const char *target,
                                 const char *body)
{
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    const int status = request(t, method, target, body, &out, &err);
    if (status < 0)
        fail_msg("%s %s: %s", method, target, kc_error_text(&err));
    return status;
}
#define GET(t, target) request_status(t, "GET", target, NULL)

#endif
