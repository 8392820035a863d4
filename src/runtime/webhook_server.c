/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_server.c: a webhook server as part of a manager: made with it, run by it.
 *
 *     certificates ──▶ threads, listening ──▶ caBundles ──▶ ready ──▶ look again, and again
 *
 * Caches start when webhooks are ready, and listing objects may need a conversion of ours: so the
 * caBundles are patched before that. If they cannot be, we serve nevertheless: others may have
 * patched them, and it is tried again soon.
 *
 * Threads: `run` has one of its own, which keeps the certificates; the loops of the HTTP server
 * find the hook; those of the pool call it. Time is the manager's, except the HTTP server's own
 * timeouts, which are about the network. In a simulation there is no network: certificates are kept
 * and published, nothing listens.
 */
#include "kc/names.h"
#include "kc/sim.h"
#include "runtime/manager_internal.h"
#include "runtime/webhook_internal.h"
#include "runtime/webhook_review.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <unistd.h>

#define DAY            (24 * KC_HOUR)
#define STOPPING_GRACE (10 * KC_SECOND)

enum { WORKERS = 8, MAX_NAMES = 64, MAX_CONNECTIONS = 1000, MAX_STREAMS = 100 };

/* ---- options ---- */

static bool is_name(const char *text)
{
    unsigned char address[16];
    return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1 ||
           kc_name_valid(KC_NAME_DNS_SUBDOMAIN, kc_cstr(text)) ||
           kc_name_valid(KC_NAME_WILDCARD, kc_cstr(text));
}

static const char *copy_text(kc_webhook_server *s, const char *text)
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
        copy[i] = copy_text(s, texts[i]);
    return copy;
}

static int check_names(const kc_webhook_server_opts *opts, kc_error *err)
{
    size_t n = 0;
    if (opts->secret_name && !opts->names)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "a webhook certificate that is shared needs names: those of the host "
                            "are not the same everywhere");
    for (; opts->names && opts->names[n]; n++)
        if (!is_name(opts->names[n]))
            return kc_error_set(err, KC_BAD_REQUEST, "\"%s\" is no name for a certificate",
                                opts->names[n]);
    if (opts->names && (n == 0 || n > MAX_NAMES))
        return kc_error_set(err, KC_BAD_REQUEST, "a webhook certificate has 1 to %d names",
                            MAX_NAMES);
    return 0;
}

static int check(const kc_webhook_server_opts *opts, kc_error *err)
{
    char host[64];
    int port;
    if (opts->address && kc__split_address(opts->address, host, &port, err) < 0)
        return -1;
    if (opts->secret_name && !opts->secret_ns)
        return kc_error_set(err, KC_BAD_REQUEST, "the Secret %s needs a namespace",
                            opts->secret_name);
    if (opts->cert_dir && opts->secret_name)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "certificates come from a folder or from a Secret, not from both");
    return check_names(opts, err);
}

static const char *const *default_names(kc_webhook_server *s)
{
    char host[256] = "";
    const char *names[5] = {"localhost", "127.0.0.1", "::1"};
    if (gethostname(host, sizeof(host) - 1) == 0 && is_name(host) && strcmp(host, "localhost") != 0)
        names[3] = host;
    return copy_texts(s, names);
}

static void take_options(kc_webhook_server *s, const kc_webhook_server_opts *opts)
{
    s->opts = (kc_webhook_server_opts){
        .address = copy_text(s, opts->address ? opts->address : ":9443"),
        .workers = opts->workers > 0 ? opts->workers : WORKERS,
        .crash = opts->crash,
        .cert_dir = copy_text(s, opts->cert_dir),
        .names = opts->names ? copy_texts(s, opts->names) : default_names(s),
        .secret_ns = copy_text(s, opts->secret_ns),
        .secret_name = copy_text(s, opts->secret_name),
        .valid = opts->valid > 0 ? opts->valid : 90 * DAY,
        .configurations = copy_texts(s, opts->configurations),
        .definitions = copy_texts(s, opts->definitions),
    };
}

/* ---- serving ---- */

static void refuse(kc__exchange *x, int status, const char *text)
{
    kc__exchange_answer(x, &(kc__answer){.status = status,
                                         .type = KC_STR("text/plain; charset=utf-8"),
                                         .body = kc_cstr(text)});
}

static void handle(kc__exchange *x, void *user)
{
    kc_webhook_server *s = user;
    const kc__hook *hook = kc__webhook_find(s, x->request.target.path);
    if (!hook)
        refuse(x, 404, "404 page not found\n");
    else if (!kc_str_is(x->request.method, "POST"))
        refuse(x, 405, "method not allowed\n");
    else
        kc__hook_pool_take(s->pool, hook, x);
}

static int listen_on(kc_webhook_server *s, kc_error *err)
{
    char host[64];
    kc__listener listener = {.address = host, .tls = s->tls};
    if (kc_sim_current())
        return 0;
    const kc__hook_pool_opts pool = {.workers = (size_t)s->opts.workers,
                                     .crash = s->opts.crash,
                                     .log = s->log,
                                     .clock = s->clock};
    if (kc__split_address(s->opts.address, host, &listener.port, err) < 0 ||
        !(s->pool = kc__hook_pool_start(&pool, err)))
        return -1;
    s->http = kc__server_start(
        &(kc__server_opts){.listeners = &listener,
                           .n_listeners = 1,
                           .loops = 2,
                           .limits = {.max_body = KC__REVIEW_MAX, .max_streams = MAX_STREAMS},
                           .max_connections = MAX_CONNECTIONS,
                           .handle = handle,
                           .user = s,
                           .log = s->log},
        err);
    if (!s->http)
        return kc_error_wrap(err, "serve webhooks at %s", s->opts.address);
    atomic_store(&s->port, kc__server_port(s->http, 0));
    kc_log_info(s->log, "serving webhooks", kc_kv("port", kc_webhook_server_port(s)));
    return 0;
}

/* Whoever calls when the server stops is still answered. */
static void stop_listening(kc_webhook_server *s)
{
    atomic_store(&s->ready, false);
    s->http = kc__server_stop(s->http, STOPPING_GRACE);
    atomic_store(&s->port, 0);
    s->pool = kc__hook_pool_stop(s->pool);
    s->tls = kc__tls_free(s->tls);
}

/* ---- running ---- */

/* False: it is to stop. */
static bool pause_for(kc_webhook_server *s, kc_cancel *stop, bool failed)
{
    const int64_t until = kc_clock_deadline(s->clock, kc__webhook_pause(s, failed));
    kc_auto(kc_cancel) *pause = kc_cancel_new(stop);
    bool hurry = false;
    kc_locked (&s->mutex) {
        hurry = s->hurry;
        s->pause = pause;
    }
    if (!hurry)
        kc_cancel_sleep_until(pause, s->clock, until);
    kc_locked (&s->mutex) {
        s->pause = NULL;
        s->hurry = false;
    }
    return !kc_cancel_fired(stop);
}

void kc_webhook_server_publish(kc_webhook_server *s)
{
    kc_auto(kc_cancel) *pause = NULL;
    atomic_fetch_add(&s->asked, 1);
    kc_locked (&s->mutex) {
        s->hurry = true;
        pause = s->pause ? kc_cancel_ref(s->pause) : NULL;
    }
    kc_cancel_fire(pause);
}

/* False: it is to be tried again soon. */
static bool publish(kc_webhook_server *s, kc_cancel *stop)
{
    kc_scoped(kc_error) err = {0};
    const unsigned asked = atomic_load(&s->asked);
    const int result = kc__webhook_publish(s, &err);
    if (result == 0)
        atomic_store(&s->answered, asked);
    if (result < 0 && !kc_cancel_fired(stop))
        kc_log_error(s->log, "cannot patch caBundles", kc_kv("err", &err));
    return result == 0;
}

/* The first certificates. A Secret may have to wait for its server, a folder has to be there. */
static int await_certificates(kc_webhook_server *s, kc_cancel *stop, kc_error *err)
{
    while (!kc_cancel_fired(stop)) {
        kc_scoped(kc_error) why = {0};
        if (kc__webhook_look(s, &why) == 0)
            return 0;
        if (!s->opts.secret_name)
            return kc_error_move(err, &why);
        if (!kc_cancel_fired(stop))
            kc_log_error(s->log, "no certificates yet", kc_kv("err", &why));
        pause_for(s, stop, true);
    }
    return 0;
}

/* Until it is to stop. */
static void keep(kc_webhook_server *s, kc_cancel *stop)
{
    bool well = publish(s, stop);
    atomic_store(&s->ready, true);
    while (pause_for(s, stop, !well)) {
        kc_scoped(kc_error) err = {0};
        well = kc__webhook_look(s, &err) == 0;
        if (!well && !kc_cancel_fired(stop))
            kc_log_error(s->log, "cannot renew certificates", kc_kv("err", &err));
        well = publish(s, stop) && well;
    }
}

static int run(kc_cancel *stop, void *user, kc_error *err)
{
    kc_webhook_server *s = user;
    int result = 0;
    s->client =
        kc_client_with(kc_manager_live_client(s->manager), &(kc_client_bind){.cancel = stop});
    if (await_certificates(s, stop, err) < 0 || (s->tls && listen_on(s, err) < 0))
        result = -1;
    else if (s->tls)
        keep(s, stop);
    stop_listening(s);
    s->client = kc_client_unref(s->client);
    return result;
}

static bool is_ready(void *user)
{
    const kc_webhook_server *s = user;
    return atomic_load(&s->ready);
}

static int check_ready(void *user, kc_error *err)
{
    kc_webhook_server *s = user;
    if (!atomic_load(&s->ready))
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "webhooks are not served yet");
    if (atomic_load(&s->asked) != atomic_load(&s->answered))
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "caBundles are not written yet");
    if (atomic_load(&s->end) <= kc_clock_wall(s->clock) / KC_SECOND)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "the certificate has ended");
    return 0;
}

/* ---- making ---- */

static void server_free(void *user)
{
    kc_webhook_server *s = user;
    kc__webhook_forget_all(s);
    kc__hook_certs_done(&s->certs);
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
    if (check(opts, err) < 0)
        return NULL;
    kc_webhook_server *s = kc_new(kc_webhook_server);
    take_options(s, opts);
    kc_mutex_init(&s->mutex);
    s->manager = manager;
    s->log = kc_log_child(kc_manager_log(manager), "webhook");
    s->metrics = kc_manager_metrics(manager);
    s->clock = kc_manager_clock(manager);
    const kc_runnable runnable = {
        .name = "webhook", .group = KC_GROUP_WEBHOOKS, .run = run, .ready = is_ready, .user = s};
    if (kc_manager_add_ready(manager, "webhook", check_ready, s, err) == 0 &&
        kc__group_add(&manager->groups[KC_GROUP_WEBHOOKS], &runnable, server_free, err) == 0)
        return s;
    server_free(s);
    return NULL;
}

int kc_webhook_server_port(const kc_webhook_server *server)
{
    return atomic_load(&server->port);
}
