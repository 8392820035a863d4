/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apiserver.c: puts the parts together: storage → store → kinds → REST → HTTP server, and takes
 * them apart in the opposite order.
 *
 * Going down: not ready any more (/readyz), watches end, no new connections; requests under way are
 * answered; then the loops stop, then the store commits what it has.
 */
#include "apiserver/apiserver.h"

#include "apiserver/admission/hooks.h"
#include "apiserver/admission/service_numbers.h"
#include "apiserver/crd/crd_resource.h"
#include "apiserver/openapi/openapi.h"
#include "apiserver/rest/api_metrics.h"
#include "apiserver/rest/bootstrap.h"
#include "apiserver/rest/call.h"
#include "apiserver/rest/definitions.h"
#include "http/fetch.h"

enum { MAX_READING = 400, MAX_MUTATING = 200 };

/* How long webhooks may still take once the server goes down. */
#define HOOK_GRACE (5 * KC_SECOND)

struct kc_apiserver {
    kc__api api;
    kc__api_metrics counts;
    kc__crds *definitions;
    kc_metrics *own_metrics;
    kc__authn *own_authn;
    kc__server *http;
    kc_str client_ca; /* While it starts. */
    kc_rand rand;
};

/* ---- what is served ---- */

/* The schema of a custom resource, as its definition has it. */
static kc_str custom_schema(const kc__resource *resource, void *user)
{
    (void)user;
    return resource->custom ? resource->custom->schema_text : (kc_str){0};
}

static int serve_kinds(kc_apiserver *server, kc_error *err)
{
    kc__api *api = &server->api;
    kc__snapshot *first = kc__snapshot_new(api->store, NULL, 0, err);
    if (!first)
        return -1;
    api->snapshots = kc__snapshots_new(first);
    api->openapi = kc__openapi_new(&(kc__openapi_source){.schema = custom_schema});
    api->namespaces = kc__store_cache(api->store, KC_STR("/registry/core/namespaces/"));
    api->definitions = kc__store_cache(
        api->store, KC_STR("/registry/apiextensions.k8s.io/customresourcedefinitions/"));
    api->hooks = kc__hooks_new(api->store, api->metrics, err);
    return api->hooks ? 0 : -1;
}

/* ---- loops ---- */

static void make_lanes(kc_apiserver *server, const kc__server *http)
{
    kc__api *api = &server->api;
    api->n_lanes = kc__server_loops(http);
    api->lanes = kc_calloc(api->n_lanes, sizeof(*api->lanes));
    for (size_t i = 0; i < api->n_lanes; i++) {
        api->lanes[i].loop = kc__server_loop(http, i);
        api->lanes[i].rand = kc_rand_split(&server->rand);
        kc_list_init(&api->lanes[i].watches);
        kc_list_init(&api->lanes[i].custom_watches);
    }
}

/* The loops run, and nobody is let in yet. */
static int starting(kc__server *http, void *user, kc_error *err)
{
    kc_apiserver *server = kc_container_of(user, kc_apiserver, api);
    make_lanes(server, http);
    if (kc__bootstrap_objects(&server->api, server->client_ca, err) < 0)
        return -1;
    server->api.numbers = kc__service_numbers_new(
        kc__store_cache(server->api.store, KC_STR("/registry/core/services/")));
    server->definitions = kc__crds_start(&server->api);
    return 0;
}

/* The last request is answered, and the loops still run. */
static void stopping(void *user)
{
    kc__api *api = user;
    kc_apiserver *server = kc_container_of(api, kc_apiserver, api);
    if (server->definitions)
        kc__crds_stop(server->definitions);
    kc__asker_stop(api->hooks->asker);
    api->store = kc__store_close(api->store);
}

/* ---- starting ---- */

static void set_defaults(kc_apiserver *server, const kc_apiserver_opts *opts)
{
    kc__api *api = &server->api;
    api->clock = opts->clock ? opts->clock : kc_clock_real();
    api->log = opts->log;
    api->request_timeout = opts->request_timeout ? opts->request_timeout : KC_MINUTE;
    api->max_reading = MAX_READING;
    api->max_mutating = MAX_MUTATING;
    api->counts = &server->counts;
    server->client_ca = opts->client_ca;
    if (opts->node_client_cert)
        api->fetcher = kc__fetcher_new(&(kc__fetcher_opts){.cert_file = opts->node_client_cert,
                                                           .key_file = opts->node_client_key});
    if (opts->rand)
        server->rand = kc_rand_split(opts->rand);
    else
        kc_rand_seed_os(&server->rand);
    api->metrics = opts->metrics ? opts->metrics : (server->own_metrics = kc_metrics_new());
    api->authn =
        opts->authn ? opts->authn : (server->own_authn = kc__authn_new(&(kc__authn_opts){0}, NULL));
}

static int open_store(kc_apiserver *server, const kc_apiserver_opts *opts, kc_error *err)
{
    kc__api *api = &server->api;
    api->store = kc__store_open(&(kc__store_opts){.storage = opts->storage,
                                                  .clock = api->clock,
                                                  .log = api->log,
                                                  .metrics = api->metrics},
                                err);
    return api->store ? 0 : -1;
}

/* In the words of Kubernetes; 3 MiB is what the HTTP server allows. */
static const kc__refusal too_large = {
    .type = KC_STR_INIT("application/json"),
    .body = KC_STR_INIT("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
                        "\"status\":\"Failure\",\"message\":\"Request entity too large: limit is "
                        "3145728\",\"reason\":\"RequestEntityTooLarge\",\"code\":413}"),
};

static int listen_on(kc_apiserver *server, const kc_apiserver_opts *opts, kc_error *err)
{
    server->http = kc__server_start(&(kc__server_opts){.listeners = opts->listeners,
                                                       .n_listeners = opts->n_listeners,
                                                       .loops = opts->loops,
                                                       .handle = kc__api_handle,
                                                       .user = &server->api,
                                                       .starting = starting,
                                                       .stopping = stopping,
                                                       .limits.too_large = too_large,
                                                       .log = opts->log,
                                                       .metrics = server->api.metrics,
                                                       .clock = opts->clock},
                                    err);
    return server->http ? 0 : -1;
}

kc_apiserver *kc_apiserver_start(const kc_apiserver_opts *opts, kc_error *err)
{
    kc_auto(kc_apiserver) *server = kc_new(kc_apiserver);
    set_defaults(server, opts);
    if (open_store(server, opts, err) < 0 ||
        kc__api_metrics_init(&server->counts, server->api.metrics, err) < 0 ||
        serve_kinds(server, err) < 0 || listen_on(server, opts, err) < 0)
        return NULL;
    return kc_take(server);
}

/* ---- going down ---- */

typedef struct drain_task {
    kc__task task;
    kc__lane *lane;
} drain_task;

static void drain_lane(kc__task *task)
{
    drain_task *t = kc_container_of(task, drain_task, task);
    kc__lane_drain(t->lane);
    free(t);
}

void kc_apiserver_drain(kc_apiserver *server)
{
    if (!server->http || atomic_exchange(&server->api.draining, true))
        return;
    kc__server_drain(server->http);
    kc__asker_end_by(server->api.hooks->asker, kc_clock_deadline(kc_clock_real(), HOOK_GRACE));
    for (size_t i = 0; i < server->api.n_lanes; i++) {
        drain_task *t = kc_new(drain_task);
        *t = (drain_task){.task.run = drain_lane, .lane = &server->api.lanes[i]};
        kc__loop_post(t->lane->loop, &t->task);
    }
}

kc_apiserver *kc_apiserver_stop(kc_apiserver *server, int64_t grace)
{
    if (!server)
        return NULL;
    kc_apiserver_drain(server);
    kc__fetcher_stop(server->api.fetcher);
    kc__server_stop(server->http, grace);
    kc__store_close(server->api.store); /* Only where the HTTP server never started. */
    kc__crds_free(server->definitions);
    for (size_t i = 0; i < server->api.n_lanes; i++)
        kc__snapshot_unref(server->api.lanes[i].snapshot);
    kc__snapshots_free(server->api.snapshots);
    kc__service_numbers_free(server->api.numbers);
    free(server->api.lanes);
    kc__openapi_free(server->api.openapi);
    kc__fetcher_free(server->api.fetcher);
    kc__hooks_free(server->api.hooks);
    kc__authn_free(server->own_authn);
    kc_metrics_free(server->own_metrics);
    free(server);
    return NULL;
}

int kc_apiserver_port(const kc_apiserver *server, size_t listener)
{
    return kc__server_port(server->http, listener);
}

kc__api *kc__apiserver_api(kc_apiserver *server)
{
    return &server->api;
}
