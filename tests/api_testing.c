/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_testing.c: a carrier of exchanges (exchange.h) whose other end is a test.
 *
 *     test's thread                        loop's thread
 *     api_send: makes a `carried` ──post──▶ kc__rest_api_begin(&c->x), kc__rest_api_handle(&c->x)
 *               waits for `ended`           …
 *                                 ◀──────── answer(): copies head and body, or fills from the
 * source watch_line: waits for '\n'  ◀──────── wake() ──post──▶ pump(): fills again
 *
 * A carried exchange is freed when the server is stopped, so replies stay readable; what the loop
 * writes into it is guarded by its mutex.
 */
#include "api_testing.h"

#include "apiserver/storage/file/file_backend.h"
#include "kc/metrics.h"
#include "kc/path.h"
#include "kc/thread.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

enum { ROOM = 16 * 1024, TIMEOUT_SECONDS = 30 };

/* 2026-01-02T03:04:05Z */
#define VIRTUAL_START (INT64_C(1767323045) * KC_SECOND)

typedef struct carried {
    kc__exchange x;
    api *api;
    kc_arena arena;
    kc__http_headers headers;
    kc__loop_task start, pump, close;

    kc_mutex mutex; /* Guards what follows. */
    kc_cond changed;
    reply reply;
    KC_VEC(kc__http_header) answered; /* Its headers; the arena's. */
    kc_buf body;
    size_t read; /* Of body, by watch_line. */
    bool head, ended, posted, closed;

    /* The loop's. */
    size_t stall_after;
    kc__loop_task resume;
    const kc__http_body_source *source;
    const kc__exchange_item_source *items;
    kc__exchange_item_sink sink;
    kc_buf lines; /* Of items that were just taken. */
    void *user;

    KC_VEC(kc_object *) taken; /* Guarded by the mutex. */
} carried;

struct api {
    api_opts opts;
    char *folder;
    kc_clock *clock; /* NULL: real time. */
    kc__apiserver *server;
    kc_rand rand;
    KC_VEC(carried *) all;
    kc_arena arena; /* The test's thread's: texts. */
};

static carried *of(const reply *r)
{
    return kc_container_of((reply *)r, carried, reply);
}

/* ---- the loop's side ---- */

static void end_source(carried *c)
{
    const kc__http_body_source *source = c->source;
    const kc__exchange_item_source *items = c->items;
    c->source = NULL;
    c->items = NULL;
    if (source)
        source->done(c->user);
    if (items)
        items->done(c->user);
}

static bool has_source(const carried *c)
{
    return c->source || c->items;
}

/* An object that was handed over is shown as a line of a watch, and kept. */
static void take_item(kc__exchange_item_sink *sink, kc__exchange_item_type type,
                      const kc_object *object)
{
    static const char *const names[] = {
        [KC__EXCHANGE_ITEM_ADDED] = "ADDED",       [KC__EXCHANGE_ITEM_MODIFIED] = "MODIFIED",
        [KC__EXCHANGE_ITEM_DELETED] = "DELETED",   [KC__EXCHANGE_ITEM_BOOKMARK] = "BOOKMARK",
        [KC__EXCHANGE_ITEM_ERROR] = "ERROR",       [KC__EXCHANGE_ITEM_LISTED] = "LISTED",
        [KC__EXCHANGE_ITEM_LIST_END] = "LIST_END",
    };
    carried *c = kc_container_of(sink, carried, sink);
    kc_str json = kc_object_json(object);
    kc_buf_printf(&c->lines, "{\"type\":\"%s\",\"object\":%.*s}\n", names[type], KC_ARG(json));
    kc_locked (&c->mutex)
        kc_vec_push(&c->taken, kc_object_ref(object));
}

static kc__http_fill fill_piece(carried *c, kc_buf *piece)
{
    if (c->source)
        return c->source->fill(piece, ROOM, c->user);
    kc__http_fill more = c->items->fill(&c->sink, ROOM, c->user);
    kc_buf_append(piece, kc_buf_str(&c->lines));
    kc_buf_clear(&c->lines);
    return more;
}

static bool is_stalled(const carried *c)
{
    return c->stall_after && c->body.n >= c->stall_after;
}

static void fill_some(carried *c)
{
    kc__http_fill more = KC__HTTP_FILL_MORE;
    while (has_source(c) && more == KC__HTTP_FILL_MORE && !is_stalled(c)) {
        kc_scoped(kc_buf) piece = {0};
        more = fill_piece(c, &piece);
        if (more == KC__HTTP_FILL_END || more == KC__HTTP_FILL_ABORT)
            end_source(c);
        kc_locked (&c->mutex) {
            kc_buf_append(&c->body, kc_buf_str(&piece));
            c->ended = !has_source(c);
            c->reply.aborted = more == KC__HTTP_FILL_ABORT;
            kc_cond_broadcast(&c->changed);
        }
    }
}

static void run_pump(kc__loop_task *task)
{
    carried *c = kc_container_of(task, carried, pump);
    kc_locked (&c->mutex)
        c->posted = false;
    fill_some(c);
}

static void run_resume(kc__loop_task *task)
{
    carried *c = kc_container_of(task, carried, resume);
    c->stall_after = 0;
    fill_some(c);
}

static void wake(kc__exchange *x)
{
    carried *c = kc_container_of(x, carried, x);
    bool post = false;
    kc_locked (&c->mutex) {
        post = !c->posted;
        c->posted = true;
    }
    if (post)
        kc__loop_post(x->loop, &c->pump);
}

static void note_head(carried *c, const kc__http_response *answer)
{
    c->reply.status = answer->status;
    c->reply.type =
        kc_arena_strndup(&c->arena, answer->type.p ? answer->type.p : "", answer->type.n);
    for (size_t i = 0; i < answer->n_headers; i++)
        kc_vec_push(&c->answered,
                    (kc__http_header){kc_arena_str(&c->arena, answer->headers[i].name),
                                      kc_arena_str(&c->arena, answer->headers[i].value)});
}

static void answer(kc__exchange *x, const kc__http_response *answer)
{
    carried *c = kc_container_of(x, carried, x);
    bool bodiless = kc_str_is(x->request.method, "HEAD") || answer->status == 304;
    c->source = answer->source;
    c->items = answer->items;
    c->user = answer->user;
    if (bodiless)
        end_source(c);
    kc_locked (&c->mutex) {
        note_head(c, answer);
        if (!has_source(c) && !bodiless)
            kc_buf_append(&c->body, answer->body);
        c->head = true;
        c->ended = !has_source(c);
        kc_cond_broadcast(&c->changed);
    }
    if (answer->release)
        answer->release(answer->owner);
    fill_some(c);
}

static const kc__exchange_ops ops = {.respond = answer, .wake = wake};

static void run_start(kc__loop_task *task)
{
    carried *c = kc_container_of(task, carried, start);
    kc__exchange_grant grant = {0};
    if (kc__rest_api_begin(&c->x, &grant, api_inside(c->api)))
        kc__rest_api_handle(&c->x, api_inside(c->api));
}

static void run_close(kc__loop_task *task)
{
    carried *c = kc_container_of(task, carried, close);
    c->x.gone = true;
    end_source(c);
    kc_locked (&c->mutex) {
        c->ended = c->closed = true;
        kc_cond_broadcast(&c->changed);
    }
}

/* ---- the server ---- */

kc__rest_api *api_inside(api *a)
{
    return kc__apiserver_api(a->server);
}

long api_metric(api *a, const char *series)
{
    kc_scoped(kc_buf) out = {0};
    kc_metrics_write(api_inside(a)->metrics, &out);
    for (const char *at = kc_buf_cstr(&out); (at = strstr(at, series)); at++)
        if ((at == kc_buf_cstr(&out) || at[-1] == '\n') && at[strlen(series)] == ' ')
            return strtol(at + strlen(series), NULL, 10);
    return -1;
}

static void start(api *a)
{
    kc_scoped(kc_error) err = {0};
    kc__storage *storage = NULL;
    if (kc__storage_open(&kc__storage_file_backend, &(kc__storage_opts){.location = a->folder},
                         &storage, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    kc__apiserver_opts opts = a->opts.server;
    kc__admission_selection accounts = 0;
    kc__admission_selection_parse("ServiceAccount", &accounts, NULL);
    opts.disabled_plugins |= accounts & ~opts.enabled_plugins;
    opts.storage = storage;
    if (a->opts.client_ca)
        opts.client_trust = (kc__bootstrap_trust){
            .members = {{"client-ca-file", kc_cstr(a->opts.client_ca)}}, .n = 1};
    opts.clock = a->clock;
    opts.rand = &a->rand;
    a->server = kc__apiserver_start(&opts, &err);
    if (!a->server)
        fail_msg("%s", kc_error_text(&err));
}

api *api_start(const api_opts *opts)
{
    char folder[] = "/tmp/kc-api-XXXXXX";
    if (!mkdtemp(folder))
        abort();
    api *a = kc_new(api);
    a->folder = kc_strdup(folder);
    a->opts = opts ? *opts : (api_opts){0};
    kc_rand_seed(&a->rand, 7);
    if (opts && opts->virtual_time)
        a->clock = kc_clock_virtual_new(VIRTUAL_START);
    start(a);
    return a;
}

static void close_watches(api *a)
{
    kc_vec_each (&a->all, c)
        watch_close(&(*c)->reply);
}

void api_restart(api *a)
{
    close_watches(a);
    kc__apiserver_stop(a->server, 0);
    start(a);
}

void api_drain(api *a)
{
    kc__apiserver_drain(a->server);
}

void api_advance(api *a, int64_t ns)
{
    kc_clock_advance(a->clock, ns);
}

static void carried_free(carried *c)
{
    kc_vec_each (&c->taken, object)
        kc_object_unref(*object);
    kc_vec_done(&c->taken);
    kc_buf_done(&c->lines);
    kc_vec_done(&c->answered);
    kc_buf_done(&c->body);
    kc__http_headers_done(&c->headers);
    kc_cond_done(&c->changed);
    kc_mutex_done(&c->mutex);
    kc_arena_done(&c->arena);
    free(c);
}

static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(folder);
}

api *api_stop(api *a)
{
    if (!a)
        return NULL;
    close_watches(a);
    kc__apiserver_stop(a->server, 0);
    kc_vec_each (&a->all, c)
        carried_free(*c);
    kc_vec_done(&a->all);
    kc_clock_free(a->clock);
    remove_folder(a->folder);
    kc_arena_done(&a->arena);
    free(a->folder);
    free(a);
    return NULL;
}

/* ---- sending ---- */

static const kc__conn_peer peer = {.address = "127.0.0.1", .loopback = true};

static void add_header(carried *c, const char *name, const char *value)
{
    kc_str copy = kc_arena_str(&c->arena, kc_cstr(value));
    kc_scoped(kc_error) err = {0};
    if (kc__http_headers_add(&c->headers, kc_cstr(name), copy, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
}

static void add_headers(carried *c, const api_request *request)
{
    bool body = request->body || request->raw.p;
    if (request->type || body)
        add_header(c, "Content-Type", request->type ? request->type : "application/json");
    if (request->accept)
        add_header(c, "Accept", request->accept);
    if (request->agent)
        add_header(c, "User-Agent", request->agent);
    for (size_t i = 0; i < KC_COUNT(request->headers) && request->headers[i]; i++) {
        kc_str value = kc_cstr(request->headers[i]);
        kc_str name = kc_str_cut(&value, ':');
        add_header(c, kc_arena_strndup(&c->arena, name.p, name.n),
                   kc_arena_strndup(&c->arena, value.p, value.n));
    }
}

static kc_str body_of(carried *c, const api_request *request)
{
    if (request->raw.p)
        return kc_arena_str(&c->arena, request->raw);
    char *body = kc_arena_strndup(&c->arena, request->body ? request->body : "",
                                  request->body ? strlen(request->body) : 0);
    for (char *p = body; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    return kc_cstr(body);
}

static void fill_request(carried *c, const api_request *request)
{
    kc_scoped(kc_error) err = {0};
    kc__http_request *to = &c->x.request;
    to->method = kc_arena_str(&c->arena, kc_cstr(request->method));
    if (kc__target_parse(kc_cstr(request->target), NULL, &c->arena, &to->target, &err) < 0)
        fail_msg("%s: %s", request->target, kc_error_text(&err));
    add_headers(c, request);
    to->headers = c->headers;
    to->body = body_of(c, request);
    to->peer = &peer;
    to->protocol = "HTTP/1.1";
    to->arena = &c->arena;
}

static carried *carry(api *a, const api_request *request)
{
    carried *c = kc_new(carried);
    kc__rest_api *inside = api_inside(a);
    c->api = a;
    c->reply.type = c->reply.body = "";
    kc_mutex_init(&c->mutex);
    kc_cond_init(&c->changed);
    fill_request(c, request);
    c->x.loop = inside->contexts[a->all.n % inside->n_contexts].loop;
    c->x.ops = &ops;
    c->x.request.received = kc_clock_now(inside->clock);
    c->start.run = run_start;
    c->pump.run = run_pump;
    c->close.run = run_close;
    c->resume.run = run_resume;
    c->stall_after = request->stall_after;
    c->sink.take = take_item;
    c->x.request.takes_items = request->takes_items;
    kc_vec_push(&a->all, c);
    kc__loop_post(c->x.loop, &c->start);
    return c;
}

/* Until *what, in real time whatever clock the server has. Call with the mutex held. */
static void await(carried *c, const bool *what)
{
    const kc_clock *clock = kc_clock_real();
    int64_t deadline = kc_clock_deadline(clock, TIMEOUT_SECONDS * KC_SECOND);
    while (!*what && kc_cond_wait_until(&c->changed, &c->mutex, clock, deadline))
        ;
}

const reply *api_send(api *a, const api_request *request)
{
    carried *c = carry(a, request);
    bool ended = false;
    kc_locked (&c->mutex) {
        await(c, &c->ended);
        ended = c->ended;
        c->reply.body = kc_buf_cstr(&c->body);
        c->reply.length = c->body.n;
    }
    if (!ended)
        fail_msg("%s %s got no response", request->method, request->target);
    return &c->reply;
}

const reply *api_get(api *a, const char *target)
{
    return SEND(a, "GET", target);
}

const reply *api_delete(api *a, const char *target, const char *body)
{
    return SEND(a, "DELETE", target, body);
}

const reply *api_post(api *a, const char *target, const char *body)
{
    return SEND(a, "POST", target, body);
}

const reply *api_put(api *a, const char *target, const char *body)
{
    return SEND(a, "PUT", target, body);
}

const reply *api_patch(api *a, const char *target, const char *body)
{
    return SEND(a, "PATCH", target, body, .type = "application/merge-patch+json");
}

const char *text(api *a, const char *fmt, ...)
{
    kc_scoped(kc_buf) out = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&out, fmt, args);
    va_end(args);
    return kc_arena_strndup(&a->arena, kc_buf_cstr(&out), out.n);
}

/* ---- looking at answers ---- */

const char *r_header_at(const reply *r, const char *name, size_t i)
{
    kc_vec_each (&of(r)->answered, header)
        if (kc_str_eq_nocase(header->name, kc_cstr(name)) && !i--)
            return header->value.p;
    return NULL;
}

const char *r_header(const reply *r, const char *name)
{
    return r_header_at(r, name, 0);
}

static const char *at(api *a, kc_str json, const char *path)
{
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_view) *view = kc_view_parse(json, NULL, NULL);
    kc_auto(kc_path) *parsed = kc_path_parse(kc_cstr(path), NULL);
    const kc_value *value = view ? kc_path_get(parsed, kc_view_root(view)) : NULL;
    if (kc_value_type(value) == KC_JSON_STRING)
        kc_buf_append(&out, kc_value_as_str(value));
    else if (value)
        kc_json_write(&out, value);
    return kc_arena_strndup(&a->arena, kc_buf_cstr(&out), out.n);
}

const char *r_text(const reply *r, const char *path)
{
    return at(of(r)->api, kc_str_of(r->body, r->length), path);
}

size_t r_count(const reply *r, const char *path)
{
    kc_auto(kc_view) *view = kc_view_parse(kc_str_of(r->body, r->length), NULL, NULL);
    kc_auto(kc_path) *parsed = kc_path_parse(kc_cstr(path), NULL);
    return view ? kc_value_len(kc_path_get(parsed, kc_view_root(view))) : 0;
}

const char *r_names(const reply *r)
{
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_view) *view = kc_view_parse(kc_str_of(r->body, r->length), NULL, NULL);
    kc_value_each_item (view ? kc_value_get(kc_view_root(view), "items") : NULL, item)
        kc_buf_printf(&out, "%s%s", out.n ? " " : "",
                      kc_value_as_cstr(kc_value_get(kc_value_get(item, "metadata"), "name"), "?"));
    return kc_arena_strndup(&of(r)->api->arena, kc_buf_cstr(&out), out.n);
}

void api__assert_code(const reply *r, int code, const char *file, int line)
{
    if (r->status == code)
        return;
    print_error("expected: %d\n  actual: %d %s\n", code, r->status, r->body);
    _fail(file, line);
}

void api__assert_at(const reply *r, const char *path, const char *expected, const char *file,
                    int line)
{
    const char *actual = r_text(r, path);
    if (!strcmp(actual, expected))
        return;
    print_error("%s\nexpected: %s\n  actual: %s\n      in: %s\n", path, expected, actual, r->body);
    _fail(file, line);
}

void api__assert_status(const reply *r, int code, const char *reason, const char *message,
                        const char *file, int line)
{
    api__assert_code(r, code, file, line);
    api__assert_at(r, "kind", "Status", file, line);
    api__assert_at(r, "reason", reason, file, line);
    api__assert_at(r, "message", message, file, line);
}

/* ---- watches ---- */

watch *api_watch(api *a, const api_request *request)
{
    carried *c = carry(a, request);
    bool head = false;
    kc_locked (&c->mutex) {
        await(c, &c->head);
        head = c->head;
    }
    if (!head)
        fail_msg("%s %s got no response", request->method, request->target);
    return &c->reply;
}

/* The end of the line that is read next; NULL: it is not there yet. With the mutex held. */
static const char *line_end(carried *c)
{
    return c->body.n > c->read ? memchr(c->body.p + c->read, '\n', c->body.n - c->read) : NULL;
}

static const char *take_line(carried *c, const char *end)
{
    const char *start = c->body.p + c->read;
    size_t n = (size_t)(end - start);
    c->read += n + 1;
    return kc_arena_strndup(&c->api->arena, start, n);
}

const char *watch_line(watch *w)
{
    carried *c = of(w);
    const kc_clock *clock = kc_clock_real();
    int64_t deadline = kc_clock_deadline(clock, TIMEOUT_SECONDS * KC_SECOND);
    const char *line = NULL;
    bool ended = false;
    kc_locked (&c->mutex) {
        while (!line_end(c) && !c->ended &&
               kc_cond_wait_until(&c->changed, &c->mutex, clock, deadline))
            ;
        ended = c->ended;
        if (line_end(c))
            line = take_line(c, line_end(c));
    }
    if (!line && !ended)
        fail_msg("no event");
    return line;
}

const kc_object *watch_item(watch *w, size_t i)
{
    carried *c = of(w);
    const kc_object *object = NULL;
    kc_locked (&c->mutex)
        object = i < c->taken.n ? c->taken.items[i] : NULL;
    assert_non_null(object);
    return object;
}

bool watch_is_silent(watch *w)
{
    carried *c = of(w);
    bool silent = false;
    api_get(c->api, "/livez"); /* One turn of each loop: what was published is delivered. */
    for (size_t i = 0; i < api_inside(c->api)->n_contexts; i++)
        api_get(c->api, "/livez");
    kc_locked (&c->mutex)
        silent = !line_end(c);
    return silent;
}

void watch_resume(watch *w)
{
    kc__loop_post(of(w)->x.loop, &of(w)->resume);
}

void watch_close(watch *w)
{
    carried *c = of(w);
    kc_locked (&c->mutex) {
        if (!c->ended && !c->closed)
            kc__loop_post(c->x.loop, &c->close);
        await(c, &c->ended);
    }
}

const char *line_text(watch *w, const char *line, const char *path)
{
    return at(of(w)->api, kc_cstr(line), path);
}

const char *api__assert_event(watch *w, const char *type, const char *name, const char *file,
                              int line)
{
    const char *event = watch_line(w);
    if (event && !strcmp(line_text(w, event, "type"), type) &&
        !strcmp(line_text(w, event, "object.metadata.name"), name))
        return event;
    print_error("expected: %s of %s\n  actual: %s\n", type, name, event ? event : "(the end)");
    _fail(file, line);
    return NULL;
}
