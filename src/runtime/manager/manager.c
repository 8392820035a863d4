/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manager.c: creates, inspects, extends and frees a manager. manager_run.c starts and stops its
 * parts.
 *
 * Clients: `live` reads and writes at the server, `cached` reads from the cache, `fenced` also
 * checks the election before each write; controllers get the last one. Without an election `fenced`
 * and `cached` are the same.
 */
#include "runtime/manager/manager_internal.h"

#include "kc/json.h"
#include "runtime/controller/controller_internal.h"
#include "runtime/crash/quarantine.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

/* ---- lifecycle ---- */

static void runnable_failed(const char *name, kc_error *err, void *user)
{
    kc__manager_fail(user, name, err);
}

static int make_client(kc_manager *m, const kc_manager_opts *opts, kc_error *err)
{
    if (opts->client) {
        m->live = kc_client_ref(opts->client);
        return 0;
    }
    m->live = kc_client_new(&(kc_client_opts){.config = opts->config,
                                              .user_agent = m->name,
                                              .field_manager = m->name,
                                              .clock = opts->clock,
                                              .rand = &m->rand,
                                              .log = m->log,
                                              .metrics = m->metrics},
                            err);
    return m->live ? 0 : kc_error_result(err);
}

static int make_election(kc_manager *m, const kc_manager_opts *opts, kc_error *err)
{
    if (!opts->election.name)
        return 0;
    kc_election_opts election = opts->election;
    election.client = m->live;
    election.led = kc__manager_on_started_leading;
    election.lost = kc__manager_on_stopped_leading;
    election.user = m;
    election.rand = &m->rand;
    election.log = m->log;
    election.metrics = m->metrics;
    m->election = kc_election_new(&election, err);
    return m->election ? 0 : kc_error_result(err);
}

/* A new reference to a client that acts as a user; NULL: to the client itself. */
static kc_client *client_as(kc_client *client, const kc_client_user *user)
{
    return user ? kc_client_with(client, &(kc_client_overrides){.act_as = user})
                : kc_client_ref(client);
}

static int make_parts(kc_manager *m, const kc_manager_opts *opts, kc_error *err)
{
    if (make_client(m, opts, err) < 0)
        return kc_error_result(err);
    kc_auto(kc_client) *reading = m->live;
    m->live = client_as(reading, opts->act_as);
    if (make_election(m, opts, err) < 0)
        return kc_error_result(err);
    kc_cache_opts cache = opts->cache;
    cache.client = reading;
    cache.clock = m->clock;
    cache.rand = &m->rand;
    cache.log = m->log;
    cache.metrics = m->metrics;
    m->cache = kc_cache_new(&cache);
    kc_auto(kc_client) *cached = kc_cache_client(m->cache);
    m->cached = client_as(cached, opts->act_as);
    kc_client_overrides fence = {.fence = m->election ? kc_election_fence(m->election) : NULL};
    m->fenced = kc_client_with(m->cached, &fence);
    m->recorder = kc_recorder_new(&(kc_recorder_opts){.client = m->live,
                                                      .component = m->name,
                                                      .rand = &m->rand,
                                                      .log = m->log,
                                                      .metrics = m->metrics},
                                  err);
    return m->recorder ? 0 : kc_error_result(err);
}

static int check_caches(void *user, kc_error *err)
{
    return kc_cache_check(user, err);
}

static int check_election(void *user, kc_error *err)
{
    return kc_election_check(user, 20 * KC_SECOND, err);
}

static int check_ping(void *user, kc_error *err)
{
    (void)user;
    (void)err;
    return 0;
}

/* A paused controller does nothing until the next start; this check reports it to a supervisor. */
static int check_paused(void *user, kc_error *err)
{
    kc_manager *m = user;
    int failed = 0;
    kc_locked (&m->mutex)
        kc_vec_each (&m->controllers, c)
            if (!failed && kc__controller_paused(*c))
                failed =
                    kc_error_set(err, KC_INTERNAL, "controller %s is paused after repeated panics",
                                 kc_controller_name(*c));
    return failed;
}

static void write_metrics(kc_buf *out, void *user)
{
    kc_metrics_write(user, out);
}

static void write_queues(kc_buf *out, void *user)
{
    kc_manager *m = user;
    kc_buf_puts(out, "{");
    kc_locked (&m->mutex) {
        const char *comma = "";
        kc_vec_each (&m->controllers, c) {
            kc_buf_puts(out, comma);
            kc_json_quote(out, kc_cstr(kc_controller_name(*c)));
            kc_buf_puts(out, ":");
            kc__controller_write(*c, out);
            comma = ",";
        }
    }
    kc_buf_puts(out, "}\n");
}

/* Creates the pages of every manager. */
static void make_pages(kc_manager *m)
{
    m->health_pages = kc__debug_server_new();
    m->metrics_pages = kc__debug_server_new();
    kc__debug_server_add_check(m->health_pages, "/healthz", "ping", check_ping, NULL, NULL);
    if (m->election)
        kc__debug_server_add_check(m->health_pages, "/healthz", "leaderElection", check_election,
                                   m->election, NULL);
    kc__debug_server_add_check(m->health_pages, "/healthz", "controllers", check_paused, m, NULL);
    kc__debug_server_add_check(m->health_pages, "/readyz", "ping", check_ping, NULL, NULL);
    kc__debug_server_add_check(m->health_pages, "/readyz", "caches", check_caches, m->cache, NULL);
    kc__debug_server_add_page(m->health_pages, "/debug/queue", "application/json", write_queues, m,
                              NULL);
    kc__debug_server_add_page(m->metrics_pages, "/metrics", KC_METRICS_CONTENT_TYPE, write_metrics,
                              m->metrics, NULL);
}

static void manager_take_options(kc_manager *m, const kc_manager_opts *opts)
{
    m->name = kc_strdup(opts->name ? opts->name : program_invocation_short_name);
    m->clock = opts->clock ? opts->clock
                           : (opts->client ? kc_client_clock(opts->client) : kc_clock_real());
    if (opts->rand)
        m->rand = kc_rand_split(opts->rand);
    else
        kc_rand_seed_os(&m->rand);
    kc_auto(kc_log) *standard = opts->log ? NULL : kc_log_new(&(kc_log_opts){.clock = m->clock});
    m->log = opts->log ? kc_log_child(opts->log, NULL) : kc_log_child(standard, m->name);
    m->owns_metrics = !opts->metrics;
    m->metrics = opts->metrics ? opts->metrics : kc_metrics_new();
    m->crash_journal = opts->crash_journal;
    m->quarantine = kc__quarantine_new(m->crash_journal, m->clock, m->log);
    m->restart_on_lost_lease = opts->restart_on_lost_lease;
    m->no_signal_handlers = opts->no_signal_handlers;
    m->grace = opts->grace ? opts->grace : 30 * KC_SECOND;
    m->no_local_trust = opts->no_local_trust;
    m->health_address = opts->health_address ? kc_strdup(opts->health_address) : NULL;
    m->metrics_address = opts->metrics_address ? kc_strdup(opts->metrics_address) : NULL;
}

kc_manager *kc_manager_new(const kc_manager_opts *opts, kc_error *err)
{
    static const kc_manager_opts defaults = {0};
    opts = opts ? opts : &defaults;
    kc_auto(kc_manager) *m = kc_new(kc_manager);
    manager_take_options(m, opts);
    kc_mutex_init(&m->mutex);
    kc_cond_init(&m->changed);
    m->stop = kc_cancel_new(NULL);
    m->election_stop = kc_cancel_new(NULL);
    for (size_t i = 0; i < KC__MANAGER_GROUPS; i++)
        kc__runnable_group_init(&m->groups[i], m->clock, runnable_failed, m);
    if (make_parts(m, opts, err) < 0)
        return NULL;
    make_pages(m);
    return kc_take(m);
}

void kc_manager_defer(kc_manager *manager, void *state, void (*free_it)(void *state))
{
    kc_locked (&manager->mutex)
        kc_vec_push(&manager->kept, ((kc__manager_deferred){state, free_it}));
}

static void free_kept(kc_manager *m)
{
    while (m->kept.n) {
        const kc__manager_deferred last = m->kept.items[--m->kept.n];
        last.free_it(last.state);
    }
    kc_vec_done(&m->kept);
}

kc_manager *kc_manager_free(kc_manager *m)
{
    if (!m)
        return NULL;
    kc_manager_stop(m);
    if (m->started)
        kc_manager_wait(m, NULL);
    for (size_t i = KC__MANAGER_GROUPS; i-- > 0;)
        kc__runnable_group_done(&m->groups[i]);
    kc_vec_done(&m->controllers);
    free_kept(m);
    kc__debug_server_free(m->health_pages);
    kc__debug_server_free(m->metrics_pages);
    kc_recorder_stop(m->recorder, 0);
    kc_vec_each (&m->acting, client)
        kc_client_unref(*client);
    kc_vec_done(&m->acting);
    kc_client_unref(m->fenced);
    kc_client_unref(m->cached);
    kc_cache_free(m->cache);
    kc_election_free(m->election);
    kc_client_unref(m->live);
    kc_cancel_unref(m->election_stop);
    kc_cancel_unref(m->stop);
    kc__quarantine_free(m->quarantine);
    kc_error_done(&m->failure);
    kc_cond_done(&m->changed);
    kc_mutex_done(&m->mutex);
    if (m->owns_metrics)
        kc_metrics_free(m->metrics);
    kc_log_free(m->log);
    free(m->health_address);
    free(m->metrics_address);
    free(m->name);
    free(m);
    return NULL;
}

/* ---- registration ---- */

int kc_manager_add(kc_manager *manager, const kc_runnable *runnable, kc_error *err)
{
    assert(runnable->group <= KC_RUNNABLE_LEADER);
    return kc__runnable_group_add(&manager->groups[runnable->group], runnable, NULL, err);
}

int kc_manager_add_healthz_check(kc_manager *manager, const char *name, kc_health_check_fn *check,
                                 void *user, kc_error *err)
{
    return kc__debug_server_add_check(manager->health_pages, "/healthz", name, check, user, err);
}

int kc_manager_add_readyz_check(kc_manager *manager, const char *name, kc_health_check_fn *check,
                                void *user, kc_error *err)
{
    return kc__debug_server_add_check(manager->health_pages, "/readyz", name, check, user, err);
}

int kc_manager_check_ready(kc_manager *manager, kc_error *err)
{
    return kc__debug_server_check(manager->health_pages, "/readyz", err);
}

int kc_manager_add_page(kc_manager *manager, const char *path, const char *content_type,
                        void (*write)(kc_buf *out, void *user), void *user, kc_error *err)
{
    return kc__debug_server_add_page(manager->health_pages, path, content_type, write, user, err);
}

/* ---- controllers ---- */

static void free_controller(void *user)
{
    kc__controller_free(user);
}

static kc__runnable_group *group_of(kc_manager *m, const kc_controller *controller)
{
    return &m->groups[kc__controller_needs_leader(controller) ? KC_RUNNABLE_LEADER
                                                              : KC_RUNNABLE_OTHERS];
}

static bool name_is_taken(const kc_manager *m, const char *name)
{
    kc_vec_each (&m->controllers, c)
        if (strcmp(kc_controller_name(*c), name) == 0)
            return true;
    return false;
}

/* Holds the mutex from the check to the insertion, so that two controllers cannot take the same
 * name. */
static int manager_enter(kc_manager *m, kc_controller *controller, kc_error *err)
{
    bool taken = false;
    kc_locked (&m->mutex) {
        taken = name_is_taken(m, kc_controller_name(controller));
        if (!taken)
            kc_vec_push(&m->controllers, controller);
    }
    return taken ? kc_error_set(err, KC_ALREADY_EXISTS, "controller %s already exists",
                                kc_controller_name(controller))
                 : 0;
}

static void strike_out(kc_manager *m, const kc_controller *controller)
{
    kc_locked (&m->mutex)
        for (size_t i = 0; i < m->controllers.n; i++)
            if (m->controllers.items[i] == controller) {
                kc_vec_remove(&m->controllers, i);
                break;
            }
}

/* Frees what the options pass ownership of: the manager owns it even on failure. */
static kc_controller *decline(const kc_controller_opts *opts)
{
    return kc__controller_free(kc__controller_create(&(kc__controller_env){0}, opts, NULL));
}

/* The client of a controller; the manager keeps it. */
static kc_client *client_of_controller(kc_manager *m, const kc_controller_opts *opts)
{
    kc_client *client = opts->without_leader_election ? m->cached : m->fenced;
    if (!opts->act_as)
        return client;
    client = kc_client_with(client, &(kc_client_overrides){.act_as = opts->act_as});
    kc_locked (&m->mutex)
        kc_vec_push(&m->acting, client);
    return client;
}

kc_controller *kc_controller_new(kc_manager *manager, const kc_controller_opts *opts, kc_error *err)
{
    kc_manager *m = manager;
    if (!m || (err && err->reason))
        return decline(opts);
    kc__controller_env env = {
        .manager = m,
        .client = client_of_controller(m, opts),
        .cache = m->cache,
        .recorder = m->recorder,
        .log = m->log,
        .metrics = m->metrics,
        .clock = m->clock,
        .rand = &m->rand,
        .crash_journal = m->crash_journal,
        .quarantine = m->quarantine,
    };
    kc_controller *controller = kc__controller_create(&env, opts, err);
    if (!controller)
        return NULL;
    kc_runnable runnable = {.name = kc_controller_name(controller),
                            .run = kc__controller_begin,
                            .end = kc__controller_end,
                            .user = controller};
    if (manager_enter(m, controller, err) == 0) {
        if (kc__runnable_group_add(group_of(m, controller), &runnable, free_controller, err) == 0)
            return controller;
        strike_out(m, controller);
    }
    kc__controller_free(controller);
    return NULL;
}

void kc_controller_remove(kc_controller *controller)
{
    kc_manager *m = kc__controller_manager(controller);
    strike_out(m, controller);
    kc__runnable_group_remove(group_of(m, controller), controller);
}

/* ---- accessors ---- */

kc_client *kc_manager_client(kc_manager *manager)
{
    return manager->fenced;
}

kc_client *kc_manager_live_client(kc_manager *manager)
{
    return manager->live;
}

kc_cache *kc_manager_cache(kc_manager *manager)
{
    return manager->cache;
}

kc_recorder *kc_manager_recorder(kc_manager *manager)
{
    return manager->recorder;
}

kc_log *kc_manager_log(kc_manager *manager)
{
    return manager->log;
}

kc_metrics *kc_manager_metrics(kc_manager *manager)
{
    return manager->metrics;
}

const kc_clock *kc_manager_clock(kc_manager *manager)
{
    return manager->clock;
}

kc_rand kc_manager_rand(kc_manager *manager)
{
    kc_rand rand;
    kc_locked (&manager->mutex)
        rand = kc_rand_split(&manager->rand);
    return rand;
}

int kc_manager_health_port(const kc_manager *manager)
{
    return kc__debug_server_port(manager->health_pages);
}

int kc_manager_metrics_port(const kc_manager *manager)
{
    return kc__debug_server_port(manager->metrics_pages);
}

int kc_manager_exit(const kc_error *err)
{
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, kc_error_text(err));
    return 1;
}
