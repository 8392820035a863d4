/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apiserver.c: starts the parts of the API server in order (storage → store → kinds → REST → HTTP
 * server) and stops them in reverse order.
 *
 * Shutdown: /readyz fails, watches end, the listeners close; open requests are answered; then the
 * loops stop; then the store commits its pending writes.
 */
#include "apiserver/apiserver.h"

#include "apiserver/admission/pod_security/pod_security_metrics.h"
#include "apiserver/admission/policies/policy_registry.h"
#include "apiserver/admission/webhooks/webhook_registry.h"
#include "apiserver/audit/audit.h"
#include "apiserver/authz/webhook_authorizer.h"
#include "apiserver/background/account_objects.h"
#include "apiserver/background/bootstrap.h"
#include "apiserver/background/bootstrap_policy.h"
#include "apiserver/background/client_ca.h"
#include "apiserver/background/event_expiry.h"
#include "apiserver/background/role_aggregation.h"
#include "apiserver/background/service_endpoints.h"
#include "apiserver/background/service_repair.h"
#include "apiserver/background/system_crds.h"
#include "apiserver/call/call.h"
#include "apiserver/conversion/converter.h"
#include "apiserver/crd/crd_controller.h"
#include "apiserver/governor/governor.h"
#include "apiserver/governor/watch_quota.h"
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "apiserver/kinds/key_layout.h"
#include "apiserver/kinds/stored_value.h"
#include "apiserver/kinds/topology.h"
#include "apiserver/openapi/openapi.h"
#include "apiserver/people/people.h"
#include "apiserver/request/offload.h"
#include "apiserver/request/outgoing.h"
#include "apiserver/request/request_metrics.h"
#include "apiserver/services/service_numbers.h"
#include "apiserver/verbs/deletion.h"
#include "apiserver/verbs/watch_render.h"
#include "base/mem_trim.h"
#include "http/client/proxy.h"

enum { MAX_READING = 400, MAX_MUTATING = 200, MEMORY_ACCOUNTS = 16 };
enum { CONNECTION_BYTES = 64 << 10, MIN_CONNECTIONS = 1024 };

#define MAX_REQUEST_BYTES ((size_t)3 << 20)
#define MAX_OBJECT_BYTES  ((size_t)3 << 19)

/* How long webhook calls may continue after shutdown has begun. */
#define HOOK_GRACE (5 * KC_SECOND)

struct kc__apiserver {
    kc__rest_api api;
    kc__rest_metrics counts;
    kc__pod_security_metrics pod_security_metrics;
    kc__converter *converter;
    kc__crd_controller *crd_controller;
    kc__client_ca *client_ca_keeper;    /* NULL: the client CA is not published. */
    kc__authz_webhooks *authz_webhooks; /* NULL: none. */
    kc__aggregation *aggregation;       /* NULL: without the mode RBAC. */
    kc_metrics *own_metrics;
    kc__authn *own_authn;
    kc__audit *audit; /* Borrowed; NULL: none. */
    kc__http_server *http;
    kc__http_server *evictable; /* The same, constant once `serving` is set. */
    kc__mem_trimmer *trimmer;
    kc__service_repair *service_repair;
    kc__service_endpoints *service_endpoints; /* NULL: the server advertises no address. */
    kc__bootstrap_network network;            /* Used during start only; so are the next four. */
    kc__service_endpoint endpoint;
    kc__bootstrap_trust client_trust;
    const kc__bootstrap_crd *system_crds;
    size_t n_system_crds;
    kc__event_expiry_limits event_limits;
    bool portable;
    kc__people_opts people_opts; /* Without tokens: no people. */
    size_t max_request_bytes;
    char *too_large; /* The Status of a response to a body that is too large. */
    kc_rand rand;
    _Atomic bool serving; /* The contexts exist. */
};

/* ---- what the loops keep ---- */

static void refresh_context(kc__rest_api *api, kc__rest_context *context, uint64_t unused)
{
    (void)unused;
    kc__rest_catalog_slot_current(api->catalog_slot, &context->catalog);
    kc__admission_policies_current(api->policies, &context->policies);
}

/* A loop without requests would otherwise keep a replaced catalog, or replaced policies. */
static void refresh_contexts(void *user)
{
    kc__rest_each_context(user, refresh_context, 0);
}

/* ---- built-in resources ---- */

static int serve_kinds(kc__apiserver *server, const kc__apiserver_opts *opts, kc_error *err)
{
    kc__rest_api *api = &server->api;
    kc__rest_catalog *first = kc__rest_catalog_new(api->store, NULL, 0, err);
    if (!first)
        return kc_error_result(err);
    api->catalog_slot = kc__rest_catalog_slot_new(first);
    api->topologies = kc__resource_topology_cache_new();
    api->openapi = kc__openapi_new(kc__governor_account(api->governor, 0));
    api->namespaces =
        kc__store_watch_cache(api->store, kc__resource_key_builtin_prefix("", "namespaces"));
    api->crds = kc__store_watch_cache(
        api->store, kc__resource_key_builtin_prefix(KC__CRD_GROUP, "customresourcedefinitions"));
    api->quotas =
        kc__store_watch_cache(api->store, kc__resource_key_builtin_prefix("", "resourcequotas"));
    api->authz = kc__authz_new(&(kc__authz_opts){.modes = opts->authorization,
                                                 .chain = opts->authz_chain,
                                                 .reloads = opts->authz_reloads,
                                                 .store = api->store,
                                                 .memory = kc__governor_account(api->governor, 0),
                                                 .metrics = api->metrics},
                               err);
    if (!api->authz)
        return kc_error_result(err);
    api->policies =
        kc__admission_policies_new(&(kc__admission_policies_opts){.store = api->store,
                                                                  .catalog = api->catalog_slot,
                                                                  .topologies = api->topologies,
                                                                  .clock = api->clock,
                                                                  .log = api->log,
                                                                  .metrics = api->metrics,
                                                                  .published = refresh_contexts,
                                                                  .user = api},
                                   err);
    api->hooks = kc__admission_webhooks_new(api->store, api->metrics, err);
    api->numbers = kc__service_numbers_new(&(kc__service_numbers_opts){.store = api->store,
                                                                       .ports = opts->node_ports,
                                                                       .metrics = api->metrics},
                                           err);
    return api->hooks && api->policies && api->numbers ? 0 : kc_error_result(err);
}

/* ---- custom resources ---- */

/* Serves the built-in resources and these custom resources. The CRD controller calls it. */
static int publish_custom_resources(const kc__crd_publication *publication, void *user,
                                    kc_error *err)
{
    kc__rest_api *api = user;
    kc__rest_catalog *next =
        kc__rest_catalog_new(api->store, publication->sets, publication->n, err);
    if (!next)
        return kc_error_result(err);
    kc__rest_catalog_slot_replace(api->catalog_slot, next);
    refresh_contexts(api);
    if (publication->withdraws) {
        kc__rest_restart_watches(api, publication->revision);
        kc__rest_metrics_retain(api->counts, next);
    }
    return 0;
}

static int start_converter(kc__apiserver *server, const kc__apiserver_opts *opts, kc_error *err)
{
    kc__rest_api *api = &server->api;
    server->converter =
        kc__converter_start(&(kc__converter_opts){.store = api->store,
                                                  .clock = api->clock,
                                                  .log = api->log,
                                                  .metrics = api->metrics,
                                                  .memory = kc__governor_account(api->governor, 0),
                                                  .rand = kc_rand_split(&server->rand),
                                                  .kept_bytes = opts->conversion_bytes,
                                                  .send = opts->conversion_send},
                            err);
    return server->converter ? 0 : kc_error_result(err);
}

static kc__crd_controller *start_crd_controller(kc__apiserver *server, kc_error *err)
{
    kc__rest_api *api = &server->api;
    return kc__crd_controller_start(
        &(kc__crd_controller_opts){.store = api->store,
                                   .clock = api->clock,
                                   .log = api->log,
                                   .publish = publish_custom_resources,
                                   .mark_deleted = kc__rest_deletion_mark,
                                   .topologies = api->topologies,
                                   .converter = kc__converter_interface(server->converter),
                                   .metrics = api->metrics,
                                   .portable = server->portable,
                                   .user = api},
        err);
}

/* ---- loops ---- */

static void make_contexts(kc__apiserver *server, const kc__http_server *http)
{
    kc__rest_api *api = &server->api;
    api->n_contexts = kc__http_server_loops(http);
    api->contexts = kc_calloc(api->n_contexts, sizeof(*api->contexts));
    for (size_t i = 0; i < api->n_contexts; i++) {
        api->contexts[i].loop = kc__http_server_loop(http, i);
        api->contexts[i].rand = kc_rand_split(&server->rand);
        kc_dlist_init(&api->contexts[i].watches);
        kc_dlist_init(&api->contexts[i].custom_watches);
        kc_dlist_init(&api->contexts[i].outgoing);
        api->contexts[i].governor = api->governor;
        api->contexts[i].frames = kc__rest_near_frames_new(api->frames);
        api->contexts[i].memory = kc__governor_account(api->governor, i);
    }
}

/* Roles and bindings matter to the mode RBAC alone. */
static int start_policy(kc__apiserver *server, kc_error *err)
{
    if (!kc__authz_has_mode(server->api.authz, KC__AUTHZ_RBAC))
        return 0;
    if (kc__bootstrap_policy(&server->api, err) < 0)
        return kc_error_result(err);
    server->aggregation = kc__aggregation_start(&server->api, err);
    return server->aggregation ? 0 : kc_error_result(err);
}

static int load_system_crds(kc__apiserver *server, kc_error *err)
{
    if (!server->n_system_crds)
        return 0;
    server->api.system_crds =
        kc__bootstrap_crds_load(&server->api, server->system_crds, server->n_system_crds, err);
    return server->api.system_crds ? 0 : kc_error_result(err);
}

/* The loops run, and the server accepts no connections yet. */
static int starting(kc__http_server *http, void *user, kc_error *err)
{
    kc__apiserver *server = kc_container_of(user, kc__apiserver, api);
    make_contexts(server, http);
    if (kc__bootstrap_objects(&server->api, &server->client_trust, &server->network, err) < 0 ||
        load_system_crds(server, err) < 0 || start_policy(server, err) < 0)
        return kc_error_result(err);
    server->service_repair = kc__service_repair_start(&server->api, err);
    if (!server->service_repair)
        return kc_error_result(err);
    server->crd_controller = start_crd_controller(server, err);
    if (!server->crd_controller ||
        kc__admission_policies_start(server->api.policies,
                                     kc__aggregation_loop(server->aggregation), err) < 0)
        return kc_error_result(err);
    if (server->client_trust.n)
        server->client_ca_keeper = kc__client_ca_start(&server->api, &server->client_trust);
    server->api.event_expiry = kc__event_expiry_start(&server->api, &server->event_limits);
    if (server->api.accounts)
        server->api.account_objects =
            kc__account_objects_attach(&server->api, server->api.accounts);
    if (server->people_opts.tokens) {
        server->api.people = kc__people_start(&server->api, &server->people_opts, err);
        if (!server->api.people)
            return kc_error_result(err);
    }
    if (server->endpoint.address) {
        server->service_endpoints =
            kc__service_endpoints_start(&server->api, &server->endpoint, err);
        if (!server->service_endpoints)
            return kc_error_result(err);
    }
    server->evictable = http;
    atomic_store(&server->serving, true);
    return 0;
}

/* The last request is answered; the loops still run. */
static void stopping(void *user)
{
    kc__rest_api *api = user;
    kc__apiserver *server = kc_container_of(api, kc__apiserver, api);
    if (server->crd_controller)
        kc__crd_controller_stop(server->crd_controller);
    kc__admission_policies_stop(api->policies);
    kc__client_ca_stop(server->client_ca_keeper);
    kc__aggregation_stop(server->aggregation);
    if (api->event_expiry)
        kc__event_expiry_stop(api->event_expiry);
    kc__authn_stop(api->authn);
    if (server->authz_webhooks)
        kc__authz_webhooks_stop(server->authz_webhooks);
    kc__http_client_stop(api->hooks->http_client);
    kc__converter_stop(server->converter);
    kc__governor_stop(api->governor); /* The governor posts to the loops. */
    kc__offload_stop(api->offload);
    kc__people_stop(api->people);
    api->store = kc__store_close(api->store);
}

/* ---- start ---- */

static void set_defaults(kc__apiserver *server, const kc__apiserver_opts *opts)
{
    kc__rest_api *api = &server->api;
    api->clock = opts->clock ? opts->clock : kc_clock_real();
    api->log = opts->log;
    api->request_timeout = opts->request_timeout ? opts->request_timeout : KC_MINUTE;
    api->max_reading = opts->max_reading ? opts->max_reading : MAX_READING;
    api->max_mutating = opts->max_mutating ? opts->max_mutating : MAX_MUTATING;
    api->max_object_bytes = opts->max_object_bytes ? opts->max_object_bytes : MAX_OBJECT_BYTES;
    server->max_request_bytes =
        opts->max_request_bytes ? opts->max_request_bytes : MAX_REQUEST_BYTES;
    api->max_patched_bytes = KC_MAX(server->max_request_bytes, api->max_object_bytes);
    api->counts = &server->counts;
    api->plugins = kc__admission_selection_of(opts->enabled_plugins, opts->disabled_plugins);
    api->admission_config = opts->admission_config;
    api->pod_security_metrics = &server->pod_security_metrics;
    server->client_trust = opts->client_trust;
    server->network = (kc__bootstrap_network){opts->service_range, opts->advertise_port};
    server->endpoint = (kc__service_endpoint){opts->advertise_address, opts->advertise_port};
    server->system_crds = opts->system_crds;
    server->n_system_crds = opts->n_system_crds;
    server->event_limits = (kc__event_expiry_limits){.ttl = opts->event_ttl,
                                                     .max_namespace = opts->max_namespace_events,
                                                     .max_total = opts->max_events};
    if (opts->node_client_cert)
        api->http_proxy = kc__http_proxy_new(&(kc__http_proxy_opts){
            .cert_file = opts->node_client_cert, .key_file = opts->node_client_key});
    if (opts->rand)
        server->rand = kc_rand_split(opts->rand);
    else
        kc_rand_seed_os(&server->rand);
    api->metrics = opts->metrics ? opts->metrics : (server->own_metrics = kc_metrics_new());
    api->accounts = opts->accounts;
    api->kubectl = (kc__rest_kubectl_policy){
        .disabled = opts->kubectl.disabled,
        .ephemeral = opts->kubectl.ephemeral,
        .duration = opts->kubectl.duration ? opts->kubectl.duration : KC_HOUR};
    api->unrestricted_update = opts->unrestricted_update;
    server->portable = opts->portable;
    if (opts->people)
        server->people_opts =
            (kc__people_opts){.tokens = opts->accounts,
                              .session_lifetime = opts->session_lifetime,
                              .cost = {opts->password_log_n, opts->password_log_n ? 8 : 0, 1}};
    server->audit = opts->audit;
    api->audit = opts->audit ? kc__audit_log_of(opts->audit) : NULL;
    server->authz_webhooks = opts->authz_webhooks;
    api->authn =
        opts->authn ? opts->authn : (server->own_authn = kc__authn_new(&(kc__authn_opts){0}, NULL));
}

/* ---- memory ---- */

/* Called above the hard limit, on the governor's thread. */
static void shed(size_t bytes, void *user)
{
    kc__apiserver *server = user;
    if (!atomic_load(&server->serving))
        return;
    kc__store_revoke_holds(server->api.store);
    kc__converter_shed(server->converter);
    kc__rest_api_shed(&server->api, bytes);
}

/* Called above the soft limit, on the governor's thread. */
static void close_idle_connections(void *user)
{
    kc__apiserver *server = user;
    if (atomic_load(&server->serving))
        kc__http_server_evict_idle(server->evictable);
}

static int start_governor(kc__apiserver *server, const kc__apiserver_opts *opts, kc_error *err)
{
    kc__rest_api *api = &server->api;
    api->governor = kc__governor_start(&(kc__governor_opts){.soft = opts->memory_soft_limit,
                                                            .hard = opts->memory_hard_limit,
                                                            .accounts = MEMORY_ACCOUNTS,
                                                            .clock = api->clock,
                                                            .shed = shed,
                                                            .evict = close_idle_connections,
                                                            .user = server,
                                                            .log = api->log,
                                                            .metrics = api->metrics},
                                       err);
    api->watches = kc__watch_quota_new(
        &(kc__watch_quota_opts){.per_user = opts->max_watches_per_user, .metrics = api->metrics},
        err);
    if (api->governor)
        api->frames =
            kc__rest_frames_new(api->metrics, kc__governor_account(api->governor, 0), err);
    api->renders = kc__rest_watch_renders_new();
    if (api->governor && api->watches && api->frames)
        return 0;
    kc__storage_close(opts->storage);
    for (size_t i = 0; i < opts->n_overrides; i++)
        kc__storage_close(opts->overrides[i].storage);
    return kc_error_result(err);
}

/* ---- workers, storage ---- */

static int make_workers(kc__apiserver *server, const kc__apiserver_opts *opts, kc_error *err)
{
    kc__rest_api *api = &server->api;
    api->offload = kc__offload_new(&(kc__offload_opts){.threads = opts->request_workers,
                                                       .clock = api->clock,
                                                       .rand = &server->rand,
                                                       .metrics = api->metrics},
                                   err);
    return api->offload ? 0 : kc_error_result(err);
}

static kc__encryption_resource resource_of_prefix(kc_str prefix)
{
    kc__encryption_resource resource;
    kc__resource_key_resource(prefix, &resource.group, &resource.name);
    return resource;
}

static const void *kind_of_prefix(kc_str prefix)
{
    return kc__resource_value_kind(prefix);
}

static kc_object *decode_stored(const void *kind, kc_str value, bool *ret_lossy, kc_error *err)
{
    return kc__resource_value_decode(kind, value, ret_lossy, err);
}

static int encode_stored(const void *kind, const kc_object *object, kc_str older, kc_buf *out,
                         kc_error *err)
{
    return kc__resource_value_encode(kind, object, older, out, err);
}

static const kc__store_format stored_format = {
    .kind_of = kind_of_prefix, .decode = decode_stored, .encode = encode_stored};

static int open_store(kc__apiserver *server, const kc__apiserver_opts *opts, kc_error *err)
{
    kc__rest_api *api = &server->api;
    const kc__store_opts store = {.storage = opts->storage,
                                  .format = &stored_format,
                                  .clock = api->clock,
                                  .event_bytes = opts->history_bytes,
                                  .snapshot_bytes = opts->history_bytes,
                                  .memory = kc__governor_account(api->governor, 0),
                                  .encryption = opts->encryption,
                                  .resource_of = resource_of_prefix,
                                  .inconsistent = opts->inconsistent,
                                  .user = opts->inconsistent_user,
                                  .overrides = opts->overrides,
                                  .n_overrides = opts->n_overrides,
                                  .log = api->log,
                                  .metrics = api->metrics};
    api->encryption = opts->encryption;
    api->store = kc__store_open(&store, err);
    return api->store ? 0 : kc_error_result(err);
}

/* The 413 response, with the message of Kubernetes. */
static kc__http_refusal too_large(kc__apiserver *server)
{
    server->too_large =
        kc_asprintf("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
                    "\"status\":\"Failure\",\"message\":\"Request entity too large: limit is "
                    "%zu\",\"reason\":\"RequestEntityTooLarge\",\"code\":413}",
                    server->max_request_bytes);
    return (kc__http_refusal){.type = KC_STR("application/json"),
                              .body = kc_cstr(server->too_large)};
}

/* Kubernetes clients retry after Retry-After, which the HTTP server adds. */
static const kc__http_refusal too_many = {
    .type = KC_STR_INIT("application/json"),
    .body = KC_STR_INIT(
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
        "\"message\":\"too many requests in flight, please try again later\","
        "\"reason\":\"TooManyRequests\",\"details\":{\"retryAfterSeconds\":1},\"code\":429}"),
};

static void add_housekeeping(kc__apiserver *server, const kc__apiserver_opts *opts)
{
    if (opts->housekeeping && opts->memory_trim_interval > 0)
        server->trimmer = kc__mem_trimmer_new(opts->housekeeping, opts->memory_trim_interval,
                                              server->api.metrics);
    if (opts->housekeeping)
        kc__periodic_add(opts->housekeeping, KC__SERVICE_REPAIR_INTERVAL, kc__service_repair_run,
                         server->service_repair);
}

/* The number of idle connections, with TLS, whose memory is well below the soft limit. */
static size_t connections_of_memory(kc__governor *governor)
{
    const kc__memory_state state = kc__governor_state(governor);
    return state.soft ? KC_MAX(state.soft / CONNECTION_BYTES, (size_t)MIN_CONNECTIONS) : 0;
}

static int listen_on(kc__apiserver *server, const kc__apiserver_opts *opts, kc_error *err)
{
    server->http = kc__http_server_start(
        &(kc__http_server_opts){.listeners = opts->listeners,
                                .n_listeners = opts->n_listeners,
                                .loops = opts->loops,
                                .begin = kc__rest_api_begin,
                                .handle = kc__rest_api_handle,
                                .abandon = kc__rest_api_abandon,
                                .user = &server->api,
                                .starting = starting,
                                .stopping = stopping,
                                .limits = {.max_body = server->max_request_bytes,
                                           .too_large = too_large(server),
                                           .too_many = too_many,
                                           .handshake_timeout = opts->tls_handshake_timeout},
                                .budget = opts->budget,
                                .max_connections = opts->max_connections,
                                .max_default_connections =
                                    connections_of_memory(server->api.governor),
                                .log = opts->log,
                                .metrics = server->api.metrics,
                                .clock = opts->clock},
        err);
    return server->http ? 0 : kc_error_result(err);
}

kc__apiserver *kc__apiserver_start(const kc__apiserver_opts *opts, kc_error *err)
{
    kc_auto(kc__apiserver) *server = kc_new(kc__apiserver);
    set_defaults(server, opts);
    if (start_governor(server, opts, err) < 0 || open_store(server, opts, err) < 0 ||
        kc__rest_metrics_init(&server->counts, server->api.metrics, err) < 0 ||
        kc__pod_security_metrics_init(&server->pod_security_metrics, server->api.metrics, err) <
            0 ||
        make_workers(server, opts, err) < 0 || serve_kinds(server, opts, err) < 0 ||
        start_converter(server, opts, err) < 0 || listen_on(server, opts, err) < 0)
        return NULL;
    add_housekeeping(server, opts);
    return kc_take(server);
}

/* ---- shutdown ---- */

void kc__apiserver_leave(kc__apiserver *server, int64_t delay)
{
    atomic_store(&server->api.leaving, true);
    kc_clock_sleep(server->api.clock, delay / 2);
    kc__http_server_retire(server->http);
    kc_clock_sleep(server->api.clock, delay - delay / 2);
}

static void drain_context(kc__rest_api *api, kc__rest_context *context, uint64_t unused)
{
    (void)api, (void)unused;
    kc__rest_context_drain(context);
}

void kc__apiserver_drain(kc__apiserver *server)
{
    if (!server->http || atomic_exchange(&server->api.draining, true))
        return;
    kc__http_server_drain(server->http);
    if (server->audit)
        kc__audit_drain(server->audit);
    kc__http_client_end_by(server->api.hooks->http_client,
                           kc_clock_deadline(kc_clock_real(), HOOK_GRACE));
    kc__authn_end_by(server->api.authn, kc_clock_deadline(kc_clock_real(), HOOK_GRACE));
    if (server->authz_webhooks)
        kc__authz_webhooks_end_by(server->authz_webhooks,
                                  kc_clock_deadline(kc_clock_real(), HOOK_GRACE));
    kc__converter_end_by(server->converter, kc_clock_deadline(kc_clock_real(), HOOK_GRACE));
    kc__rest_each_context(&server->api, drain_context, 0);
}

kc__apiserver *kc__apiserver_stop(kc__apiserver *server, int64_t grace)
{
    if (!server)
        return NULL;
    kc__service_endpoints_stop(server->service_endpoints); /* Before requests are refused. */
    kc__apiserver_drain(server);
    kc__http_proxy_stop(server->api.http_proxy);
    kc__http_server_stop(server->http, grace);
    kc__mem_trimmer_free(server->trimmer);
    kc__governor_stop(server->api.governor);
    kc__store_close(server->api.store); /* Only if the HTTP server never started. */
    kc__offload_free(server->api.offload);
    kc__crd_controller_free(server->crd_controller);
    kc__client_ca_free(server->client_ca_keeper);
    kc__aggregation_free(server->aggregation);
    kc__event_expiry_free(server->api.event_expiry);
    kc__people_free(server->api.people);
    kc__account_objects_free(server->api.account_objects);
    kc__bootstrap_crds_free(server->api.system_crds);
    for (size_t i = 0; i < server->api.n_contexts; i++) {
        kc__rest_catalog_unref(server->api.contexts[i].catalog);
        kc_buf_done(&server->api.contexts[i].scratch);
        kc__rest_near_frames_free(server->api.contexts[i].frames);
        kc__admission_policy_set_unref(server->api.contexts[i].policies);
    }
    server->api.policies = kc__admission_policies_free(server->api.policies);
    kc__rest_catalog_slot_free(server->api.catalog_slot);
    kc__converter_free(server->converter);
    kc__service_repair_free(server->service_repair);
    kc__service_numbers_free(server->api.numbers);
    free(server->api.contexts);
    kc__resource_topology_cache_free(server->api.topologies);
    kc__openapi_free(server->api.openapi);
    kc__http_proxy_free(server->api.http_proxy);
    kc__admission_webhooks_free(server->api.hooks);
    kc__watch_quota_free(server->api.watches);
    kc__rest_watch_renders_free(server->api.renders);
    kc__rest_frames_free(server->api.frames);
    kc__authz_free(server->api.authz);
    kc__governor_free(server->api.governor);
    free(server->too_large);
    kc__authn_free(server->own_authn);
    kc_metrics_free(server->own_metrics);
    free(server);
    return NULL;
}

void kc__apiserver_publish_trust(kc__apiserver *server, const kc__bootstrap_trust *trust)
{
    kc__client_ca_replace(server->client_ca_keeper, trust);
}

int kc__apiserver_replace_authz(kc__apiserver *server, kc__authz_chain *chain, kc_error *err)
{
    return kc__authz_replace(server->api.authz, chain, err);
}

int kc__apiserver_port(const kc__apiserver *server, size_t listener)
{
    return kc__http_server_port(server->http, listener);
}

kc__rest_api *kc__apiserver_api(kc__apiserver *server)
{
    return &server->api;
}
