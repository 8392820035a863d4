/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loopback.c: requests of the server to itself: a carrier of exchanges (http/server/exchange.h)
 * without a connection. The exchange runs on the loop of the call that waits for it, in a task of
 * its own, so that a phase never runs inside a phase. The waiting call is in flight until the
 * response, so the server does not stop before.
 *
 * The peer has no address, which marks a request of the process itself (kc__rest_is_own_request):
 * it is not rejected for load, where the waiting call would time out.
 */
#include "apiserver/call/loopback.h"

#include "apiserver/request/phases.h"
#include "kc/view.h"

#define USER  "system:apiserver"
#define AGENT "kube-apiserver"

typedef struct loopback_exchange {
    kc__exchange x; /* First member. */
    kc_arena arena;
    kc__http_headers headers;
    kc__conn_client_cert cert;
    kc__conn_peer peer;
    kc_str groups[1];
    kc__rest_api *api;
    kc__loop_task start;
    kc__rest_loopback_done_fn *done;
    void *user;
} loopback_exchange;

/* ---- the response ---- */

/* The error of a Status; a response that is none has only its code. */
static void read_status(int code, kc_str body, kc_error *ret)
{
    kc_auto(kc_view) *view = kc_view_parse(body, NULL, NULL);
    const kc_value *root = view ? kc_view_root(view) : NULL;
    const kc_str message = kc_value_as_str(kc_value_get(root, "message"));
    if (message.n)
        kc_error_set(ret, kc_reason_from(kc_value_as_str(kc_value_get(root, "reason"))), "%.*s",
                     KC_ARG(message));
    else
        kc_error_set(ret, KC_INTERNAL, "the server responded with the status code %d", code);
    ret->code = code;
}

static void free_loopback(loopback_exchange *l)
{
    kc__http_headers_done(&l->headers);
    kc_arena_done(&l->arena);
    free(l);
}

/* A response to a POST has a body, not a source; a source is dropped. */
static void loopback_respond(kc__exchange *x, const kc__http_response *response)
{
    loopback_exchange *l = kc_container_of(x, loopback_exchange, x);
    kc_scoped(kc_error) err = {0};
    if (response->status >= 300)
        read_status(response->status, response->body, &err);
    if (response->source)
        response->source->done(response->user);
    if (response->release)
        response->release(response->owner);
    kc__rest_loopback_done_fn *done = l->done;
    void *user = l->user;
    free_loopback(l);
    done(err.reason == KC_OK ? NULL : &err, user);
}

static void loopback_wake(kc__exchange *x)
{
    (void)x;
}

/* ---- the request ---- */

static void run_loopback(kc__loop_task *task)
{
    loopback_exchange *l = kc_container_of(task, loopback_exchange, start);
    kc__exchange_grant grant = {0};
    if (kc__rest_api_begin(&l->x, &grant, l->api))
        kc__rest_api_handle(&l->x, l->api);
}

static void set_loopback_user(loopback_exchange *l)
{
    l->groups[0] = KC_STR(KC__USER_GROUP_MASTERS);
    l->cert = (kc__conn_client_cert){
        .common_name = KC_STR(USER), .organizations = l->groups, .n_organizations = 1};
    l->peer = (kc__conn_peer){.loopback = true, .cert = &l->cert};
}

void kc__rest_loopback_post(kc__rest_call *call, kc_str path, kc_str json,
                            kc__rest_loopback_done_fn *done, void *user)
{
    static const kc__exchange_ops ops = {.respond = loopback_respond, .wake = loopback_wake};
    loopback_exchange *l = kc_new(loopback_exchange);
    kc__http_request *request = &l->x.request;
    set_loopback_user(l);
    l->api = call->api;
    l->done = done;
    l->user = user;
    l->x.loop = call->x->loop;
    l->x.ops = &ops;
    kc__target_parse(path, NULL, &l->arena, &request->target, NULL);
    kc__http_headers_add(&l->headers, KC_STR("Content-Type"), KC_STR("application/json"), NULL);
    kc__http_headers_add(&l->headers, KC_STR("User-Agent"), KC_STR(AGENT), NULL);
    request->method = KC_STR("POST");
    request->headers = l->headers;
    request->body = kc_arena_str(&l->arena, json);
    request->peer = &l->peer;
    request->protocol = "HTTP/1.1";
    request->arena = &l->arena;
    request->received = kc_clock_now(call->api->clock);
    l->start.run = run_loopback;
    kc__loop_post(l->x.loop, &l->start);
}
