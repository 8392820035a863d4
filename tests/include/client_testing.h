/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_testing.h: a client of the real server in this process, with a transport in between that
 * records requests and can respond instead of the server.
 *
 *     kc_auto(bench) *b = bench_start();
 *     kc_auto(kc_object) *a = created(b, "a");
 *     bench_script(b, &(scripted){.status = 429, .fields = {{"retry-after", "1"}}});
 *     kc_client_get(b->client, …);
 *     assert_string_equal(bench_sent(b, 0), "GET /api/v1/namespaces/default/configmaps/a");
 */
#ifndef KC_CLIENT_TESTING_H
#define KC_CLIENT_TESTING_H

#include "kc/embedded_server.h"
#include "kc/kinds.h"
#include "testing.h"

#include "kc/thread.h"

#include <stdio.h>

/* The response to the next request, instead of the server's. */
typedef struct scripted {
    int status; /* 0: none; `reason` is then the error of the transport. */
    kc_reason reason;
    int code;         /* Of that error. */
    const char *body; /* ' stands for ". */
    size_t piece;     /* Maximum bytes per read. */
    bool breaks;      /* The body ends with an error. */
    const char *fields[4][2];
    const char *accept; /* Instead of all this: forward to the server, with another Accept. */
} scripted;

typedef struct bench {
    kc_embedded_server *server;
    kc_clock *clock; /* NULL: real time. */
    kc_client *client;
    struct spy *spy;
} bench;

typedef struct spy {
    kc_transport base;
    kc_transport *inner;
    kc_mutex mutex; /* Guards the fields below. */
    KC_VEC(char *) sent;
    KC_VEC(scripted) script;
    size_t next;
} spy;

typedef struct canned {
    kc_http_response response;
    char *body;
    size_t at, n, piece;
    bool breaks;
    kc_http_field fields[4];
} canned;

static inline ssize_t canned_read(kc_http_response *response, char *bytes, size_t n, kc_error *err)
{
    canned *c = kc_container_of(response, canned, response);
    size_t give = KC_MIN(n, c->n - c->at);
    if (c->piece)
        give = KC_MIN(give, c->piece);
    if (!give && c->breaks)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "connection lost");
    memcpy(bytes, c->body + c->at, give);
    c->at += give;
    return (ssize_t)give;
}

static inline void canned_close(kc_http_response *response)
{
    canned *c = kc_container_of(response, canned, response);
    free(c->body);
    free(c);
}

static const kc_transport_ops canned_ops = {.read = canned_read, .close = canned_close};

static inline kc_http_response *canned_new(const scripted *s)
{
    canned *c = kc_new(canned);
    c->body = kc_strdup(s->body ? s->body : "");
    for (char *p = c->body; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    c->n = strlen(c->body);
    c->piece = s->piece;
    c->breaks = s->breaks;
    while (c->response.n_fields < 4 && s->fields[c->response.n_fields][0]) {
        const char *const *field = s->fields[c->response.n_fields];
        c->fields[c->response.n_fields++] = (kc_http_field){kc_cstr(field[0]), kc_cstr(field[1])};
    }
    c->response.ops = &canned_ops;
    c->response.status = s->status;
    c->response.fields = c->fields;
    return &c->response;
}

/* The script for this request; all zero: none. */
static inline scripted spy_note(spy *s, const kc_http_request *request)
{
    scripted what = {0};
    kc_scoped(kc_buf) line = {0};
    kc_buf_printf(&line, "%s %.*s", request->method, KC_ARG(request->target));
    for (size_t i = 0; i < request->n_fields; i++)
        if (kc_str_is(request->fields[i].name, "Content-Type"))
            kc_buf_printf(&line, " %.*s", KC_ARG(request->fields[i].value));
    if (request->body.n)
        kc_buf_printf(&line, " %.*s", KC_ARG(request->body));
    kc_locked (&s->mutex) {
        kc_vec_push(&s->sent, kc_buf_take(&line));
        if (s->next < s->script.n)
            what = s->script.items[s->next++];
    }
    return what;
}

static inline kc_http_response *spy_open(kc_transport *t, const kc_http_request *request,
                                         kc_error *err)
{
    spy *s = kc_container_of(t, spy, base);
    const scripted what = spy_note(s, request);
    if (what.accept) {
        kc_http_request other = *request;
        const kc_http_field accept = {KC_STR("Accept"), kc_cstr(what.accept)};
        other.fields = &accept;
        other.n_fields = 1;
        return kc_transport_open(s->inner, &other, err);
    }
    if (what.reason) {
        kc_error_set(err, what.reason, "the way broke");
        if (err)
            err->code = what.code;
        return NULL;
    }
    return what.status ? canned_new(&what) : kc_transport_open(s->inner, request, err);
}

static inline void spy_free(kc_transport *t)
{
    spy *s = kc_container_of(t, spy, base);
    kc_transport_free(s->inner);
    kc_vec_each (&s->sent, line)
        free(*line);
    kc_vec_done(&s->sent);
    kc_vec_done(&s->script);
    kc_mutex_done(&s->mutex);
    free(s);
}

static const kc_transport_ops spy_ops = {.open = spy_open, .free = spy_free};

static inline bench *bench_start_with(kc_client_opts opts)
{
    kc_scoped(kc_error) err = {0};
    bench *b = kc_new(bench);
    b->clock = (kc_clock *)opts.clock;
    b->server = kc_embedded_server_start(
        &(kc_embedded_server_opts){.clock = opts.clock, .threads = 1}, &err);
    if (!b->server)
        fail_msg("%s", kc_error_text(&err));
    b->spy = kc_new(spy);
    b->spy->base.ops = &spy_ops;
    b->spy->inner = kc_embedded_server_transport(b->server, NULL);
    kc_mutex_init(&b->spy->mutex);
    opts.transport = &b->spy->base;
    opts.field_manager = opts.field_manager ? opts.field_manager : "tests";
    b->client = kc_client_new(&opts, &err);
    if (!b->client)
        fail_msg("%s", kc_error_text(&err));
    return b;
}

static inline bench *bench_start(void)
{
    return bench_start_with((kc_client_opts){0});
}

static inline void bench_stop(bench *b)
{
    kc_client_unref(b->client);
    kc_embedded_server_stop(b->server);
    kc_clock_free(b->clock);
    free(b);
}
KC_AUTO_DEFINE(bench, bench_stop)

/* The n-th request since the last bench_forget: "METHOD target type body"; NULL: there was none. */
static inline const char *bench_sent(bench *b, size_t n)
{
    const char *line = NULL;
    kc_locked (&b->spy->mutex)
        line = n < b->spy->sent.n ? b->spy->sent.items[n] : NULL;
    return line;
}

static inline size_t bench_count(bench *b)
{
    size_t n = 0;
    kc_locked (&b->spy->mutex)
        n = b->spy->sent.n;
    return n;
}

static inline void bench_forget(bench *b)
{
    kc_locked (&b->spy->mutex) {
        kc_vec_each (&b->spy->sent, line)
            free(*line);
        kc_vec_clear(&b->spy->sent);
    }
}

/* Scripts the response to the next request, after those scripted before. */
static inline void bench_script(bench *b, const scripted *what)
{
    kc_locked (&b->spy->mutex)
        kc_vec_push(&b->spy->script, *what);
}

/* ---- objects ---- */

static inline kc_object *config_map(const char *name, const char *value)
{
    kc_autofree char *json =
        kc_asprintf("{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'%s','namespace':"
                    "'default'},'data':{'k':'%s'}}",
                    name, value);
    return object_of(json);
}

static inline kc_object *created_as(bench *b, const kc_object *object)
{
    kc_scoped(kc_error) err = {0};
    kc_object *now = kc_client_create(b->client, object, NULL, &err);
    if (!now)
        fail_msg("%s", kc_error_text(&err));
    return now;
}

static inline kc_object *created(bench *b, const char *name)
{
    kc_auto(kc_object) *object = config_map(name, "v");
    return created_as(b, object);
}

#define KEY(name) KC_KEY("default", name)

static inline kc_object *got(bench *b, const char *name)
{
    return kc_client_get(b->client, &kc_kind_config_map, KEY(name), NULL, NULL);
}

#endif
