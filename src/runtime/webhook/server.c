/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c: a webhook server as part of a manager: created with it and run by it.
 *
 *     certificates ──▶ threads, listening ──▶ caBundles ──▶ ready ──▶ check again periodically
 *
 * Caches start when webhooks are ready, and listing objects may need a conversion by this server,
 * so the caBundles are patched before that. If patching fails the server serves nevertheless:
 * another process may have patched them, and the server retries soon.
 *
 * Threads: `run` has its own thread, which maintains the certificates; the loops of the HTTP server
 * find the hook; threads of the pool call it. Time comes from the manager's clock, except for the
 * HTTP server's own timeouts, which concern the network. A simulation has no network: certificates
 * are maintained and published, but nothing listens.
 */
#include "kc/names.h"
#include "kc/sim.h"
#include "runtime/manager/manager_internal.h"
#include "runtime/webhook/review.h"
#include "runtime/webhook/webhook_internal.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <unistd.h>

#define DAY            (24 * KC_HOUR)
#define STOPPING_GRACE (10 * KC_SECOND)

enum { WORKERS = 8, MAX_NAMES = 64, MAX_CONNECTIONS = 1000, MAX_STREAMS = 100 };

/* ---- options ---- */

static bool webhook_server_is_name(const char *text)
{
    unsigned char address[16];
    return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1 ||
           kc_name_valid(KC_NAME_DNS_SUBDOMAIN, kc_cstr(text)) ||
           kc_name_valid(KC_NAME_WILDCARD, kc_cstr(text));
}

static const char *webhook_server_copy_text(kc_webhook_server *s, const char *text)
{
    return text ? kc_arena_strndup(&s->arena, text, strlen(text)) : NULL;
}

static const char *const *copy_texts(kc_webhook_server *s, const char *const *texts)
{
    size_t n = 0;
    if (!texts)
        return NULL;
    while (texts[n])
        n++;
    const char **copy = kc_arena_calloc(&s->arena, n + 1, sizeof(char *));
    for (size_t i = 0; i < n; i++)
        copy[i] = webhook_server_copy_text(s, texts[i]);
    return copy;
}

static int webhook_server_check_names(const kc_webhook_server_opts *opts, kc_error *err)
{
    size_t n = 0;
    if (opts->secret_name && !opts->names)
        return kc_error_set(
            err, KC_BAD_REQUEST,
            "a shared webhook certificate requires names: host names differ between replicas");
    for (; opts->names && opts->names[n]; n++)
        if (!webhook_server_is_name(opts->names[n]))
            return kc_error_set(err, KC_BAD_REQUEST, "\"%s\" is not a valid name for a certificate",
                                opts->names[n]);
    if (opts->names && (n == 0 || n > MAX_NAMES))
        return kc_error_set(err, KC_BAD_REQUEST, "a webhook certificate must have 1 to %d names",
                            MAX_NAMES);
    return 0;
}

static int webhook_server_check(const kc_webhook_server_opts *opts, kc_error *err)
{
    char host[64];
    int port;
    if (opts->address && kc__debug_split_address(opts->address, host, &port, err) < 0)
        return kc_error_result(err);
    if (opts->secret_name && !opts->secret_ns)
        return kc_error_set(err, KC_BAD_REQUEST, "Secret %s requires a namespace",
                            opts->secret_name);
    if (opts->cert_dir && opts->secret_name)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "certificate directory and Secret are mutually exclusive");
    return webhook_server_check_names(opts, err);
}

static const char *const *default_names(kc_webhook_server *s)
{
    char host[256] = "";
    const char *names[5] = {"localhost", "127.0.0.1", "::1"};
    if (gethostname(host, sizeof(host) - 1) == 0 && webhook_server_is_name(host) &&
        strcmp(host, "localhost") != 0)
        names[3] = host;
    return copy_texts(s, names);
}

static void webhook_server_take_options(kc_webhook_server *s, const kc_webhook_server_opts *opts)
{
    s->opts = (kc_webhook_server_opts){
        .address = webhook_server_copy_text(s, opts->address ? opts->address : ":9443"),
        .workers = opts->workers > 0 ? opts->workers : WORKERS,
        .crash_recovery = opts->crash_recovery,
        .cert_dir = webhook_server_copy_text(s, opts->cert_dir),
        .names = opts->names ? copy_texts(s, opts->names) : default_names(s),
        .secret_ns = webhook_server_copy_text(s, opts->secret_ns),
        .secret_name = webhook_server_copy_text(s, opts->secret_name),
        .valid = opts->valid > 0 ? opts->valid : 90 * DAY,
        .configurations = copy_texts(s, opts->configurations),
        .definitions = copy_texts(s, opts->definitions),
    };
}

/* ---- serving ---- */

static void webhook_server_reject(kc__exchange *x, int status, const char *text)
{
    kc__exchange_respond(x, &(kc__http_response){.status = status,
                                                 .type = KC_STR("text/plain; charset=utf-8"),
                                                 .body = kc_cstr(text)});
}

static void webhook_server_handle(kc__exchange *x, void *user)
{
    kc_webhook_server *s = user;
    const kc__webhook_handler *hook = kc__webhook_find(s, x->request.target.path);
    if (!hook)
        webhook_server_reject(x, 404, "404 page not found\n");
    else if (!kc_str_is(x->request.method, "POST"))
        webhook_server_reject(x, 405, "method not allowed\n");
    else
        kc__webhook_pool_submit(s->pool, hook, x);
}

static int webhook_server_listen_on(kc_webhook_server *s, kc_error *err)
{
    char host[64];
    kc__http_listener listener = {.address = host, .tls = s->tls};
    if (kc_sim_current())
        return 0;
    const kc__webhook_pool_opts pool = {.workers = (size_t)s->opts.workers,
                                        .crash_recovery = s->opts.crash_recovery,
                                        .log = s->log,
                                        .clock = s->clock};
    if (kc__debug_split_address(s->opts.address, host, &listener.port, err) < 0)
        return kc_error_result(err);
    s->pool = kc__webhook_pool_start(&pool);
    s->http =
        kc__http_server_start(&(kc__http_server_opts){.listeners = &listener,
                                                      .n_listeners = 1,
                                                      .loops = 1,
                                                      .limits = {.max_body = KC__WEBHOOK_REVIEW_MAX,
                                                                 .max_streams = MAX_STREAMS},
                                                      .max_connections = MAX_CONNECTIONS,
                                                      .handle = webhook_server_handle,
                                                      .user = s,
                                                      .log = s->log},
                              err);
    if (!s->http)
        return kc_error_wrap(err, "serve webhooks at %s", s->opts.address);
    atomic_store(&s->port, kc__http_server_port(s->http, 0));
    kc_log_info(s->log, "serving webhooks", kc_kv("port", kc_webhook_server_port(s)));
    return 0;
}

/* Requests that arrive while the server stops are still answered. */
static void stop_listening(kc_webhook_server *s)
{
    atomic_store(&s->ready, false);
    s->http = kc__http_server_stop(s->http, STOPPING_GRACE);
    atomic_store(&s->port, 0);
    s->pool = kc__webhook_pool_stop(s->pool);
    s->tls = kc__tls_free(s->tls);
}

/* ---- running ---- */

/* False: the server must stop. */
static bool pause_for(kc_webhook_server *s, kc_cancel *stop, bool failed)
{
    const int64_t until = kc_clock_deadline(s->clock, kc__webhook_pause(s, failed));
    kc_auto(kc_cancel) *pause = kc_cancel_new(stop);
    bool skip_pause = false;
    kc_locked (&s->mutex) {
        skip_pause = s->skip_pause;
        s->pause = pause;
    }
    if (!skip_pause)
        kc_cancel_sleep_until(pause, s->clock, until);
    kc_locked (&s->mutex) {
        s->pause = NULL;
        s->skip_pause = false;
    }
    return !kc_cancel_fired(stop);
}

void kc_webhook_server_publish_ca(kc_webhook_server *s)
{
    kc_auto(kc_cancel) *pause = NULL;
    atomic_fetch_add(&s->publications_requested, 1);
    kc_locked (&s->mutex) {
        s->skip_pause = true;
        pause = s->pause ? kc_cancel_ref(s->pause) : NULL;
    }
    kc_cancel_fire(pause);
}

/* False: the caller must retry soon. */
static bool webhook_server_publish(kc_webhook_server *s, kc_cancel *stop)
{
    kc_scoped(kc_error) err = {0};
    const unsigned publications_requested = atomic_load(&s->publications_requested);
    const int result = kc__webhook_publish(s, &err);
    if (result == 0)
        atomic_store(&s->publications_done, publications_requested);
    if (result < 0 && !kc_cancel_fired(stop))
        kc_log_error(s->log, "failed to patch caBundles", kc_kv("err", &err));
    return result == 0;
}

/* Loads or creates the first certificates. A Secret may have to wait for its API server; a
 * directory must exist. */
static int await_certificates(kc_webhook_server *s, kc_cancel *stop, kc_error *err)
{
    while (!kc_cancel_fired(stop)) {
        kc_scoped(kc_error) why = {0};
        if (kc__webhook_check_certs(s, &why) == 0)
            return 0;
        if (!s->opts.secret_name)
            return kc_error_move(err, &why);
        if (!kc_cancel_fired(stop))
            kc_log_error(s->log, "failed to create certificates; retrying", kc_kv("err", &why));
        pause_for(s, stop, true);
    }
    return 0;
}

/* Maintains the certificates until the server must stop. */
static void webhook_server_retain(kc_webhook_server *s, kc_cancel *stop)
{
    bool well = webhook_server_publish(s, stop);
    atomic_store(&s->ready, true);
    while (pause_for(s, stop, !well)) {
        kc_scoped(kc_error) err = {0};
        well = kc__webhook_check_certs(s, &err) == 0;
        if (!well && !kc_cancel_fired(stop))
            kc_log_error(s->log, "failed to renew certificates", kc_kv("err", &err));
        well = webhook_server_publish(s, stop) && well;
    }
}

static int webhook_server_run(kc_cancel *stop, void *user, kc_error *err)
{
    kc_webhook_server *s = user;
    int result = 0;
    s->client =
        kc_client_with(kc_manager_live_client(s->manager), &(kc_client_overrides){.cancel = stop});
    if (await_certificates(s, stop, err) < 0 || (s->tls && webhook_server_listen_on(s, err) < 0))
        result = kc_error_result(err);
    else if (s->tls)
        webhook_server_retain(s, stop);
    stop_listening(s);
    s->client = kc_client_unref(s->client);
    return result;
}

static bool webhook_server_is_ready(void *user)
{
    const kc_webhook_server *s = user;
    return atomic_load(&s->ready);
}

static int check_ready(void *user, kc_error *err)
{
    kc_webhook_server *s = user;
    if (!atomic_load(&s->ready))
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "webhooks are not served yet");
    if (atomic_load(&s->publications_requested) != atomic_load(&s->publications_done))
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "caBundles are not written yet");
    if (atomic_load(&s->end) <= kc_clock_wall(s->clock) / KC_SECOND)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "the certificate has expired");
    return 0;
}

/* ---- lifecycle ---- */

static void server_free(void *user)
{
    kc_webhook_server *s = user;
    kc__webhook_remove_all(s);
    kc__webhook_certs_done(&s->certs);
    kc_buf_done(&s->served);
    kc_log_free(s->log);
    kc_mutex_done(&s->mutex);
    kc_arena_done(&s->arena);
    free(s);
}

kc_webhook_server *kc_webhook_server_new(kc_manager *manager, const kc_webhook_server_opts *opts,
                                         kc_error *err)
{
    static const kc_webhook_server_opts defaults = {0};
    opts = opts ? opts : &defaults;
    if (webhook_server_check(opts, err) < 0)
        return NULL;
    kc_webhook_server *s = kc_new(kc_webhook_server);
    webhook_server_take_options(s, opts);
    kc_mutex_init(&s->mutex);
    s->manager = manager;
    s->log = kc_log_child(kc_manager_log(manager), "webhook");
    s->metrics = kc_manager_metrics(manager);
    s->clock = kc_manager_clock(manager);
    const kc_runnable runnable = {.name = "webhook",
                                  .group = KC_RUNNABLE_WEBHOOKS,
                                  .run = webhook_server_run,
                                  .ready = webhook_server_is_ready,
                                  .user = s};
    if (kc_manager_add_readyz_check(manager, "webhook", check_ready, s, err) == 0 &&
        kc__runnable_group_add(&manager->groups[KC_RUNNABLE_WEBHOOKS], &runnable, server_free,
                               err) == 0)
        return s;
    server_free(s);
    return NULL;
}

int kc_webhook_server_port(const kc_webhook_server *server)
{
    return atomic_load(&server->port);
}
