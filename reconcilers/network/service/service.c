/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service.c: see service.h. HTTP in front of a ledger, which has the rules; calls are serialised.
 *
 * To add a call: a function, and its row in `routes`.
 */
#include "network/service/service.h"
#include "network/service/ledger.h"
#include "network/service/token.h"

#include "kc/http_server.h"
#include "kc/json.h"
#include "kc/thread.h"

#include <stdio.h>

enum { MAX_BODY = 16 << 10, MAX_DEPTH = 4 };

struct kc__network_service {
    kc_http_server *http; /* NULL: none. */
    bool is_here;         /* Listens on loopback only. */
    char *token;          /* The token that HTTP requests must carry. */
    kc_log *log;
    kc_mutex mutex; /* Guards the rest. */
    kc__network_ledger *ledger;
};

typedef struct network_service_call {
    kc__network_ledger *ledger;
    const kc__network_call *request;
    kc_str ns, name; /* From the path; empty: all networks. */
} network_service_call;

void kc__network_reply_done(kc__network_reply *reply)
{
    kc_buf_done(&reply->body);
}

/* ---- reads ---- */

static int get_all(const network_service_call *c, kc__network_reply *reply, kc_error *err)
{
    (void)err;
    const char *between = "";
    const kc__network_net *net;
    reply->status = 200;
    kc_buf_printf(&reply->body, "{\"generation\":%llu,\"networks\":[",
                  (unsigned long long)kc__network_ledger_generation(c->ledger));
    for (size_t i = 0; (net = kc__network_ledger_at(c->ledger, i)); i++) {
        if (c->request->owner.n && !kc_str_is(c->request->owner, net->owner))
            continue;
        kc_buf_puts(&reply->body, between);
        kc__network_net_write(&reply->body, net);
        between = ",";
    }
    kc_buf_puts(&reply->body, "]}");
    return 0;
}

static void network_service_notify(kc__network_reply *reply, int status, const kc__network_net *net)
{
    reply->status = status;
    reply->generation = net->generation;
    kc__network_net_write(&reply->body, net);
}

static int get_one(const network_service_call *c, kc__network_reply *reply, kc_error *err)
{
    const kc__network_net *net = kc__network_ledger_get(c->ledger, c->ns, c->name);
    if (!net)
        return kc_error_set(err, KC_NOT_FOUND, "network %.*s/%.*s not found", KC_ARG(c->ns),
                            KC_ARG(c->name));
    network_service_notify(reply, 200, net);
    return 0;
}

static int get_health(const network_service_call *c, kc__network_reply *reply, kc_error *err)
{
    (void)c;
    (void)err;
    reply->status = 200;
    kc_buf_puts(&reply->body, "{\"status\":\"ok\"}");
    return 0;
}

/* ---- writes ---- */

/* If-Match: "7", and If-None-Match: *. */
static int read_terms(const kc__network_call *request, kc__network_net_terms *ret, kc_error *err)
{
    const kc_str tag = kc_str_trim(request->if_match), none = kc_str_trim(request->if_none_match);
    ret->absent = none.n;
    ret->owner = request->owner;
    if (none.n && !kc_str_is(none, "*"))
        return kc_error_set(err, KC_BAD_REQUEST, "If-None-Match must be * or absent");
    if (!tag.n)
        return 0;
    if (tag.n < 3 || tag.p[0] != '"' || tag.p[tag.n - 1] != '"' ||
        !kc_str_to_u64(kc_str_sub(tag, 1, tag.n - 1), &ret->generation) || !ret->generation)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "If-Match must be a quoted generation; example: \"7\"");
    return 0;
}

/* A member that is a string or absent. */
static int network_service_read_text(const kc_value *root, const char *name, kc_str *ret,
                                     kc_error *err)
{
    const kc_value *value = kc_value_get(root, name);
    if (value && kc_value_type(value) != KC_JSON_STRING)
        return kc_error_set(err, KC_BAD_REQUEST, "%s must be a string, not %s", name,
                            kc_json_type_name(kc_value_type(value)));
    *ret = kc_value_as_str(value);
    return 0;
}

static int read_net_request(const kc_value *root, kc__network_net_request *ret, kc_error *err)
{
    if (kc_value_type(root) != KC_JSON_OBJECT)
        return kc_error_set(err, KC_BAD_REQUEST, "a network must be a JSON object");
    kc_value_each_member (root, name, value) {
        static const char *const known[] = {"cidr", "gateway",    "owner", "namespace",
                                            "name", "generation", NULL};
        (void)value;
        if (!kc_str_is_any(name, known))
            return kc_error_set(err, KC_BAD_REQUEST, "unknown field \"%.*s\"",
                                KC_ARG(kc_str_sub(name, 0, KC__NETWORK_CIDR_TEXT)));
    }
    if (network_service_read_text(root, "cidr", &ret->cidr, err) < 0 ||
        network_service_read_text(root, "gateway", &ret->gateway, err) < 0 ||
        network_service_read_text(root, "owner", &ret->owner, err) < 0)
        return kc_error_result(err);
    return 0;
}

static int network_service_put_one(const network_service_call *c, kc__network_reply *reply,
                                   kc_error *err)
{
    kc__network_net_request net_request = {.ns = c->ns, .name = c->name};
    kc__network_net_terms terms = {0};
    const kc__network_net *net = NULL;
    if (c->request->body.n > MAX_BODY)
        return kc_error_set(err, KC_TOO_LARGE, "a network must be at most %d bytes", MAX_BODY);
    kc_scoped(kc_error) bad = {0};
    kc_auto(kc_view) *view =
        kc_view_parse(c->request->body, &(kc_json_opts){.max_depth = MAX_DEPTH}, &bad);
    if (!view)
        return kc_error_set(err, KC_BAD_REQUEST, "%s", kc_error_text(&bad));
    if (read_net_request(kc_view_root(view), &net_request, err) < 0 ||
        read_terms(c->request, &terms, err) < 0)
        return kc_error_result(err);
    const int change = kc__network_ledger_put(c->ledger, &net_request, &terms, &net, err);
    if (change < 0)
        return change;
    network_service_notify(reply, change == KC__NETWORK_NET_MADE ? 201 : 200, net);
    return 0;
}

static int network_service_delete_one(const network_service_call *c, kc__network_reply *reply,
                                      kc_error *err)
{
    kc__network_net_terms terms = {0};
    if (read_terms(c->request, &terms, err) < 0 ||
        kc__network_ledger_remove(c->ledger, c->ns, c->name, &terms, err) < 0)
        return kc_error_result(err);
    reply->status = 200;
    kc_buf_puts(&reply->body, "{}");
    return 0;
}

/* ---- one call ---- */

typedef enum what { NOTHING, HEALTH, ALL, ONE } what;

static const struct {
    what of;
    const char *method;
    int (*run)(const network_service_call *c, kc__network_reply *reply, kc_error *err);
} routes[] = {
    {HEALTH, "GET", get_health},
    {ALL, "GET", get_all},
    {ONE, "GET", get_one},
    {ONE, "PUT", network_service_put_one},
    {ONE, "DELETE", network_service_delete_one},
};

static const char *const allowed[] = {[HEALTH] = "GET", [ALL] = "GET", [ONE] = "GET, PUT, DELETE"};

static what network_service_find(kc_str path, network_service_call *c)
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

static int network_service_run(network_service_call *c, kc__network_reply *reply, kc_error *err)
{
    const kc_str method = c->request->method;
    const what of = network_service_find(c->request->path, c);
    if (of == NOTHING)
        return kc_error_set(err, KC_NOT_FOUND, "not found; networks are at /v1/networks");
    for (size_t i = 0; i < KC_COUNT(routes); i++)
        if (routes[i].of == of && kc_str_is(method, routes[i].method))
            return routes[i].run(c, reply, err);
    reply->allow = allowed[of];
    return kc_error_set(err, KC_METHOD_NOT_ALLOWED, "method %.*s not allowed; allowed: %s",
                        KC_ARG(kc_str_sub(method, 0, 32)), reply->allow);
}

static void network_service_write_causes(kc_buf *out, const kc_error *err)
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

static void network_service_reject(kc__network_reply *reply, const kc_error *err)
{
    reply->status = err->code;
    kc_buf_clear(&reply->body);
    kc_buf_printf(&reply->body, "{\"code\":%d,\"reason\":", err->code);
    kc_json_quote(&reply->body, kc_cstr(kc_reason_text(err->reason)));
    kc_buf_puts(&reply->body, ",\"message\":");
    kc_json_quote(&reply->body, kc_cstr(kc_error_text(err)));
    network_service_write_causes(&reply->body, err);
    kc_buf_putc(&reply->body, '}');
}

void kc__network_service_call(kc__network_service *service, const kc__network_call *request,
                              kc__network_reply *reply)
{
    kc_scoped(kc_error) err = {0};
    int result = 0;
    kc_locked (&service->mutex) {
        network_service_call c = {.ledger = service->ledger, .request = request};
        result = network_service_run(&c, reply, &err);
    }
    if (result < 0)
        network_service_reject(reply, &err);
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
 * Any web page can make the browser on this host send requests here. No page knows the token, but
 * the response would still leak information: so requests with Origin or Sec-Fetch-Site, or with
 * another Host (DNS rebinding), are refused.
 */
static bool is_of_a_page(const kc_http_call *http, const kc__network_service *service)
{
    const kc_str host = kc_http_request_header(http, "Host");
    return kc_http_request_header(http, "Origin").n ||
           kc_http_request_header(http, "Sec-Fetch-Site").n ||
           (service->is_here && host.n && !is_here(host));
}

/* /healthz needs no token: probes have none. */
static bool is_authorized(const kc_http_call *http, const kc__network_service *service)
{
    return kc_str_is(kc_http_request_path(http), "/healthz") ||
           kc__network_token_matches(service->token, kc_http_request_header(http, "Authorization"));
}

static bool is_answered(kc_http_call *http, const kc__network_service *service)
{
    if (is_of_a_page(http, service)) {
        kc_http_response_send(
            http, 403, "application/json",
            KC_STR("{\"code\":403,\"reason\":\"Forbidden\",\"message\":\"requests from web "
                   "pages are refused\"}\n"));
        return false;
    }
    if (is_authorized(http, service))
        return true;
    kc_http_response_set_header(http, "WWW-Authenticate", "Bearer", NULL);
    kc_http_response_send(
        http, 401, "application/json",
        KC_STR("{\"code\":401,\"reason\":\"Unauthorized\",\"message\":\"bearer token "
               "required\"}\n"));
    return false;
}

static void network_service_handle(kc_http_call *http, void *user)
{
    if (!is_answered(http, user))
        return;
    kc__network_call request = {.method = kc_http_request_method(http),
                                .path = kc_http_request_path(http),
                                .if_match = kc_http_request_header(http, "If-Match"),
                                .if_none_match = kc_http_request_header(http, "If-None-Match"),
                                .body = kc_http_request_body(http)};
    kc_scoped(kc__network_reply) reply = {0};
    char etag[32];
    kc_http_request_query(http, "owner", &request.owner);
    kc__network_service_call(user, &request, &reply);
    snprintf(etag, sizeof(etag), "\"%llu\"", (unsigned long long)reply.generation);
    if (reply.generation)
        kc_http_response_set_header(http, "ETag", etag, NULL);
    if (reply.allow)
        kc_http_response_set_header(http, "Allow", reply.allow, NULL);
    kc_http_response_send(http, reply.status, "application/json", kc_buf_str(&reply.body));
}

kc__network_service *kc__network_service_start(const kc__network_service_opts *opts, kc_error *err)
{
    kc_auto(kc__network_service) *service = kc_new(kc__network_service);
    kc_mutex_init(&service->mutex);
    service->log = opts->log;
    service->ledger = kc__network_ledger_open(opts->file, err);
    if (!service->ledger)
        return NULL;
    if (!opts->address)
        return kc_take(service);
    if (!opts->token || !*opts->token) {
        kc_error_set(err, KC_INVALID, "the network service requires a bearer token to listen");
        return NULL;
    }
    service->token = kc_strdup(opts->token);
    service->is_here = is_here(kc_cstr(opts->address));
    service->http = kc_http_server_start(&(kc_http_server_opts){.address = opts->address,
                                                                .handle = network_service_handle,
                                                                .user = service,
                                                                .log = opts->log},
                                         err);
    return service->http ? kc_take(service) : NULL;
}

kc__network_service *kc__network_service_stop(kc__network_service *service)
{
    if (!service)
        return NULL;
    kc_http_server_stop(service->http);
    kc__network_ledger_close(service->ledger);
    if (service->token)
        explicit_bzero(service->token, strlen(service->token));
    free(service->token);
    kc_mutex_done(&service->mutex);
    free(service);
    return NULL;
}

int kc__network_service_port(const kc__network_service *service)
{
    return service->http ? kc_http_server_port(service->http) : 0;
}
