/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service.c: see service.h. HTTP around a ledger, which knows the rules; one call at a time.
 *
 * To add a call: a function, and its row in `routes`.
 */
#include "network/service/service.h"
#include "network/service/ledger.h"

#include "kc/http_server.h"
#include "kc/json.h"
#include "kc/thread.h"

#include <stdio.h>

enum { MAX_BODY = 16 << 10, MAX_DEPTH = 4 };

struct kc__network_service {
    kc_http_server *http; /* NULL: none. */
    bool is_here;         /* Reached from this machine alone. */
    kc_log *log;
    kc_mutex mutex; /* Guards what follows. */
    kc__ledger *ledger;
};

typedef struct call {
    kc__ledger *ledger;
    const kc__network_call *request;
    kc_str ns, name; /* Of the path; empty: of all. */
} call;

void kc__network_reply_done(kc__network_reply *reply)
{
    kc_buf_done(&reply->body);
}

/* ---- reading ---- */

static int get_all(const call *c, kc__network_reply *reply, kc_error *err)
{
    (void)err;
    const char *between = "";
    const kc__net *net;
    reply->status = 200;
    kc_buf_printf(&reply->body, "{\"generation\":%llu,\"networks\":[",
                  (unsigned long long)kc__ledger_generation(c->ledger));
    for (size_t i = 0; (net = kc__ledger_at(c->ledger, i)); i++) {
        if (c->request->owner.n && !kc_str_is(c->request->owner, net->owner))
            continue;
        kc_buf_puts(&reply->body, between);
        kc__net_write(&reply->body, net);
        between = ",";
    }
    kc_buf_puts(&reply->body, "]}");
    return 0;
}

static void tell(kc__network_reply *reply, int status, const kc__net *net)
{
    reply->status = status;
    reply->generation = net->generation;
    kc__net_write(&reply->body, net);
}

static int get_one(const call *c, kc__network_reply *reply, kc_error *err)
{
    const kc__net *net = kc__ledger_get(c->ledger, c->ns, c->name);
    if (!net)
        return kc_error_set(err, KC_NOT_FOUND, "there is no network %.*s/%.*s", KC_ARG(c->ns),
                            KC_ARG(c->name));
    tell(reply, 200, net);
    return 0;
}

static int get_health(const call *c, kc__network_reply *reply, kc_error *err)
{
    (void)c;
    (void)err;
    reply->status = 200;
    kc_buf_puts(&reply->body, "{\"status\":\"ok\"}");
    return 0;
}

/* ---- changing ---- */

/* If-Match: "7", and If-None-Match: *. */
static int read_terms(const kc__network_call *request, kc__net_terms *ret, kc_error *err)
{
    const kc_str tag = kc_str_trim(request->if_match), none = kc_str_trim(request->if_none_match);
    ret->absent = none.n;
    ret->owner = request->owner;
    if (none.n && !kc_str_is(none, "*"))
        return kc_error_set(err, KC_BAD_REQUEST, "If-None-Match is * or nothing here");
    if (!tag.n)
        return 0;
    if (tag.n < 3 || tag.p[0] != '"' || tag.p[tag.n - 1] != '"' ||
        !kc_str_to_u64(kc_str_sub(tag, 1, tag.n - 1), &ret->generation) || !ret->generation)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "If-Match is a generation between quotes, such as \"7\"");
    return 0;
}

/* A member that is text, or is not there. */
static int read_text(const kc_value *root, const char *name, kc_str *ret, kc_error *err)
{
    const kc_value *value = kc_get(root, name);
    if (value && kc_type_of(value) != KC_STRING)
        return kc_error_set(err, KC_BAD_REQUEST, "%s is text, not %s", name,
                            kc_type_name(kc_type_of(value)));
    *ret = kc_as_str(value);
    return 0;
}

static int read_wish(const kc_value *root, kc__net_wish *ret, kc_error *err)
{
    if (kc_type_of(root) != KC_OBJECT)
        return kc_error_set(err, KC_BAD_REQUEST, "a network is an object of JSON");
    kc_members (root, name, value) {
        static const char *const known[] = {"cidr", "gateway",    "owner", "namespace",
                                            "name", "generation", NULL};
        (void)value;
        if (!kc_str_is_any(name, known))
            return kc_error_set(err, KC_BAD_REQUEST, "a network has no \"%.*s\"",
                                KC_ARG(kc_str_sub(name, 0, KC__CIDR_TEXT)));
    }
    if (read_text(root, "cidr", &ret->cidr, err) < 0 ||
        read_text(root, "gateway", &ret->gateway, err) < 0 ||
        read_text(root, "owner", &ret->owner, err) < 0)
        return -1;
    return 0;
}

static int put_one(const call *c, kc__network_reply *reply, kc_error *err)
{
    kc__net_wish wish = {.ns = c->ns, .name = c->name};
    kc__net_terms terms = {0};
    const kc__net *net = NULL;
    if (c->request->body.n > MAX_BODY)
        return kc_error_set(err, KC_TOO_LARGE, "a network has %d bytes at most", MAX_BODY);
    kc_scoped(kc_error) bad = {0};
    kc_auto(kc_view) *view =
        kc_view_parse(c->request->body, &(kc_json_opts){.max_depth = MAX_DEPTH}, &bad);
    if (!view)
        return kc_error_set(err, KC_BAD_REQUEST, "%s", kc_error_text(&bad));
    if (read_wish(kc_view_root(view), &wish, err) < 0 || read_terms(c->request, &terms, err) < 0)
        return -1;
    const int change = kc__ledger_put(c->ledger, &wish, &terms, &net, err);
    if (change < 0)
        return -1;
    tell(reply, change == KC__NET_MADE ? 201 : 200, net);
    return 0;
}

static int delete_one(const call *c, kc__network_reply *reply, kc_error *err)
{
    kc__net_terms terms = {0};
    if (read_terms(c->request, &terms, err) < 0 ||
        kc__ledger_remove(c->ledger, c->ns, c->name, &terms, err) < 0)
        return -1;
    reply->status = 200;
    kc_buf_puts(&reply->body, "{}");
    return 0;
}

/* ---- one call ---- */

typedef enum what { NOTHING, HEALTH, ALL, ONE } what;

static const struct {
    what of;
    const char *method;
    int (*run)(const call *c, kc__network_reply *reply, kc_error *err);
} routes[] = {
    {HEALTH, "GET", get_health}, {ALL, "GET", get_all},       {ONE, "GET", get_one},
    {ONE, "PUT", put_one},       {ONE, "DELETE", delete_one},
};

static const char *const allowed[] = {[HEALTH] = "GET", [ALL] = "GET", [ONE] = "GET, PUT, DELETE"};

static what find(kc_str path, call *c)
{
    static const kc_str all = KC_STR_INIT("/v1/networks");
    if (kc_str_is(path, "/healthz"))
        return HEALTH;
    if (kc_str_eq(path, all))
        return ALL;
    if (!kc_str_starts(path, KC_STR("/v1/networks/")))
        return NOTHING;
    kc_str rest = kc_str_sub(path, all.n + 1, path.n);
    c->ns = kc_str_cut(&rest, '/');
    c->name = rest;
    return c->ns.n && c->name.n && kc_str_find(c->name, '/') < 0 ? ONE : NOTHING;
}

static int run(call *c, kc__network_reply *reply, kc_error *err)
{
    const kc_str method = c->request->method;
    const what of = find(c->request->path, c);
    if (of == NOTHING)
        return kc_error_set(err, KC_NOT_FOUND,
                            "there is nothing here; networks are at "
                            "/v1/networks");
    for (size_t i = 0; i < KC_COUNT(routes); i++)
        if (routes[i].of == of && kc_str_is(method, routes[i].method))
            return routes[i].run(c, reply, err);
    reply->allow = allowed[of];
    return kc_error_set(err, KC_METHOD_NOT_ALLOWED, "%.*s is not among %s",
                        KC_ARG(kc_str_sub(method, 0, 32)), reply->allow);
}

static void write_causes(kc_buf *out, const kc_error *err)
{
    if (!err->causes.n)
        return;
    kc_buf_puts(out, ",\"causes\":[");
    for (size_t i = 0; i < err->causes.n; i++) {
        kc_buf_puts(out, i ? ",{\"reason\":" : "{\"reason\":");
        kc_json_quote(out, kc_cstr(err->causes.items[i].reason));
        kc_buf_puts(out, ",\"field\":");
        kc_json_quote(out, kc_cstr(err->causes.items[i].field));
        kc_buf_puts(out, ",\"message\":");
        kc_json_quote(out, kc_cstr(err->causes.items[i].message));
        kc_buf_putc(out, '}');
    }
    kc_buf_putc(out, ']');
}

static void refuse(kc__network_reply *reply, const kc_error *err)
{
    reply->status = err->code;
    kc_buf_clear(&reply->body);
    kc_buf_printf(&reply->body, "{\"code\":%d,\"reason\":", err->code);
    kc_json_quote(&reply->body, kc_cstr(kc_reason_text(err->reason)));
    kc_buf_puts(&reply->body, ",\"message\":");
    kc_json_quote(&reply->body, kc_cstr(kc_error_text(err)));
    write_causes(&reply->body, err);
    kc_buf_putc(&reply->body, '}');
}

void kc__network_service_call(kc__network_service *service, const kc__network_call *request,
                              kc__network_reply *reply)
{
    kc_scoped(kc_error) err = {0};
    int result = 0;
    kc_locked (&service->mutex) {
        call c = {.ledger = service->ledger, .request = request};
        result = run(&c, reply, &err);
    }
    if (result < 0)
        refuse(reply, &err);
    kc_buf_putc(&reply->body, '\n');
    if (!kc_str_is(request->method, "GET"))
        kc_log_info(service->log, "call", kc_kv("method", request->method),
                    kc_kv("path", request->path), kc_kv("status", reply->status));
}

/* ---- over HTTP ---- */

static bool is_here(kc_str host)
{
    const kc_str name =
        kc_str_starts(host, KC_STR("[::1]")) ? KC_STR("[::1]") : kc_str_cut(&host, ':');
    return kc_str_is(name, "[::1]") || kc_str_eq_nocase(name, KC_STR("localhost")) ||
           kc_str_starts(name, KC_STR("127."));
}

/*
 * A browser of this machine reaches it for any page there is: nobody is asked who he is. But it
 * says so (Origin, Sec-Fetch-Site), or, for a page whose name was made to mean this machine, asks
 * for that name.
 */
static bool is_of_a_page(const kc_http_call *http, const kc__network_service *service)
{
    const kc_str host = kc_http_call_header(http, "Host");
    return kc_http_call_header(http, "Origin").n || kc_http_call_header(http, "Sec-Fetch-Site").n ||
           (service->is_here && host.n && !is_here(host));
}

static void handle(kc_http_call *http, void *user)
{
    if (is_of_a_page(http, user)) {
        kc_http_answer(http, 403, "application/json",
                       KC_STR("{\"code\":403,\"reason\":\"Forbidden\",\"message\":\"web pages are "
                              "not answered\"}\n"));
        return;
    }
    kc__network_call request = {.method = kc_http_method(http),
                                .path = kc_http_path(http),
                                .if_match = kc_http_call_header(http, "If-Match"),
                                .if_none_match = kc_http_call_header(http, "If-None-Match"),
                                .body = kc_http_body(http)};
    kc_scoped(kc__network_reply) reply = {0};
    char etag[32];
    kc_http_query(http, "owner", &request.owner);
    kc__network_service_call(user, &request, &reply);
    snprintf(etag, sizeof(etag), "\"%llu\"", (unsigned long long)reply.generation);
    if (reply.generation)
        kc_http_set_header(http, "ETag", etag, NULL);
    if (reply.allow)
        kc_http_set_header(http, "Allow", reply.allow, NULL);
    kc_http_answer(http, reply.status, "application/json", kc_buf_str(&reply.body));
}

kc__network_service *kc__network_service_start(const kc__network_service_opts *opts, kc_error *err)
{
    kc_auto(kc__network_service) *service = kc_new(kc__network_service);
    kc_mutex_init(&service->mutex);
    service->log = opts->log;
    service->ledger = kc__ledger_open(opts->file, err);
    if (!service->ledger)
        return NULL;
    if (!opts->address)
        return kc_take(service);
    service->is_here = is_here(kc_cstr(opts->address));
    service->http = kc_http_server_start(
        &(kc_http_server_opts){
            .address = opts->address, .handle = handle, .user = service, .log = opts->log},
        err);
    return service->http ? kc_take(service) : NULL;
}

kc__network_service *kc__network_service_stop(kc__network_service *service)
{
    if (!service)
        return NULL;
    kc_http_server_stop(service->http);
    kc__ledger_close(service->ledger);
    kc_mutex_done(&service->mutex);
    free(service);
    return NULL;
}

int kc__network_service_port(const kc__network_service *service)
{
    return service->http ? kc_http_server_port(service->http) : 0;
}
