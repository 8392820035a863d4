/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_testing.h: the API server over sockets, plain and TLS, in the test's own process, and
 * shorthands for requests. raw_server.h has a server that sends whatever a test wants.
 *
 *     kc_auto(stage) *s = stage_start(NULL);
 *     kc_auto(kc_transport) *t = transport_to(s->plain_url);
 *     assert_int_equal(GET(t, "/version"), 200);
 */
#ifndef TRANSPORT_TESTING_H
#define TRANSPORT_TESTING_H

#include "raw_server.h"
#include "tls_testing.h"

#include "apiserver/apiserver.h"
#include "apiserver/storage/memory/memory_backend.h"
#include "kc/transport.h"

/* ---- directories and files ---- */

/* Creates a temporary directory. */
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
    kc__storage_memory *memory;
    kc__authn *authn;
    kc__tls *tls;
    kc_metrics *metrics;
    kc__apiserver *server;
    char *plain_url, *tls_url; /* https://127.0.0.1:… */
    char *ca_file, *cert_file, *key_file, *user_cert_file, *user_key_file, *token_file;
} stage;

static inline char *in_folder(const stage *s, const char *name)
{
    return kc_asprintf("%s/%s", s->folder, name);
}

/* A CA, the server's certificate (for `name`), and a user's certificate. */
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

static inline kc__storage *stage_storage(stage *s)
{
    kc__storage *storage = NULL;
    assert_int_equal(kc__storage_open(&kc__storage_memory_backend,
                                      &(kc__storage_opts){.memory = s->memory}, &storage, NULL),
                     0);
    return storage;
}

static inline void stage_serve(stage *s, int plain_port, int tls_port)
{
    kc_scoped(kc_error) err = {0};
    const kc__http_listener listeners[] = {{.port = plain_port}, {.port = tls_port, .tls = s->tls}};
    s->server = kc__apiserver_start(&(kc__apiserver_opts){.storage = stage_storage(s),
                                                          .listeners = listeners,
                                                          .n_listeners = 2,
                                                          .metrics = s->metrics,
                                                          .authn = s->authn},
                                    &err);
    if (!s->server)
        fail_msg("the server did not start: %s", kc_error_text(&err));
}

/* Stops the server and starts it again on the same ports. */
static inline void stage_restart(stage *s, int64_t grace)
{
    const int plain = kc__apiserver_port(s->server, 0), tls = kc__apiserver_port(s->server, 1);
    kc__apiserver_stop(s->server, grace);
    stage_serve(s, plain, tls);
}

static inline stage *stage_start(const stage_opts *opts)
{
    static const stage_opts none;
    stage *s = kc_new(stage);
    kc_scoped(kc_error) err = {0};
    opts = opts ? opts : &none;
    s->folder = folder_make();
    s->memory = kc__storage_memory_new();
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
    s->plain_url = kc_asprintf("http://127.0.0.1:%d", kc__apiserver_port(s->server, 0));
    s->tls_url = kc_asprintf("https://127.0.0.1:%d", kc__apiserver_port(s->server, 1));
    return s;
}

static inline void stage_free(stage *s)
{
    if (!s)
        return;
    kc__apiserver_kill(s->server);
    kc__authn_free(s->authn);
    kc__tls_free(s->tls);
    kc__storage_memory_free(s->memory);
    folder_remove(s->folder);
    char *texts[] = {s->plain_url, s->tls_url,        s->ca_file,       s->cert_file,
                     s->key_file,  s->user_cert_file, s->user_key_file, s->token_file};
    for (size_t i = 0; i < KC_COUNT(texts); i++)
        free(texts[i]);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

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

/* Reads a whole body. Negative on error. */
static inline int read_all(kc_http_response *r, kc_buf *out, kc_error *err)
{
    for (;;) {
        char chunk[8192];
        const ssize_t n = kc_http_response_read(r, chunk, sizeof(chunk), err);
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
        return kc_error_result(err);
    const int status = r->status;
    return read_all(r, out, err) < 0 ? kc_error_result(err) : status;
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
