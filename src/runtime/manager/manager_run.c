/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manager_run.c: the order in which a manager's parts start and stop.
 *
 *     start:  servers ─▶ webhooks ─▶ caches, synced ─▶ others ─▶ warm-up ─▶ elected ─▶ leader
 *     stop:   others ─▶ leader ─▶ warm-up ─▶ caches ─▶ webhooks ─▶ servers ─▶ election ─▶ recorder
 *
 * The lease is released only after the leader's runnables have stopped, so that two processes never
 * lead at once; Events are sent last, so that those recorded during the stop are included. All of
 * stopping shares one deadline.
 *
 * When the lease is lost the election's thread stops the leader's runnables. Then the manager ends
 * with an error, or, if configured to survive it, re-enters the election.
 */
#include "runtime/manager/manager_internal.h"

#include "kc/sim.h"

/* Time for Events still queued when everything else has stopped; thousands of them must not delay
 * the exit. */
#define LAST_EVENTS (5 * KC_SECOND)

/* ---- fail and stop ---- */

void kc__manager_fail(kc_manager *manager, const char *name, kc_error *err)
{
    kc_log_error(manager->log, "component failed", kc_kv("component", name), kc_kv("err", err));
    kc_locked (&manager->mutex)
        if (!manager->failure.reason) {
            kc_error_wrap(err, "%s", name);
            kc_error_move(&manager->failure, err);
        }
    kc_cancel_fire(manager->stop);
}

void kc_manager_stop(kc_manager *manager)
{
    kc_cancel_fire(manager->stop);
}

static int failure_of(kc_manager *m, kc_error *err)
{
    int failed = 0;
    kc_locked (&m->mutex)
        if (m->failure.reason)
            failed = kc_error_move(err, &m->failure);
    return failed;
}

/* ---- election ---- */

static void set_leads(kc_manager *m, bool leads)
{
    kc_locked (&m->mutex) {
        m->leads = leads;
        kc_cond_broadcast(&m->changed);
    }
}

bool kc_manager_is_leader(const kc_manager *manager)
{
    kc_manager *m = (kc_manager *)manager;
    bool leads = false;
    kc_locked (&m->mutex)
        leads = m->leads;
    return leads;
}

static int64_t stop_deadline(const kc_manager *m)
{
    return m->grace < 0 ? KC_FOREVER : kc_clock_deadline(m->clock, m->grace);
}

void kc__manager_on_started_leading(void *manager)
{
    kc_manager *m = manager;
    kc_scoped(kc_error) err = {0};
    int started = 0;
    kc_locked (&m->mutex) {
        if (m->stopping)
            break;
        started = kc__runnable_group_start(&m->groups[KC_RUNNABLE_LEADER], NULL, &err);
        m->leads = true;
        kc_cond_broadcast(&m->changed);
    }
    if (started < 0)
        kc__manager_fail(m, "leader", &err);
}

void kc__manager_on_stopped_leading(void *manager)
{
    kc_manager *m = manager;
    kc_scoped(kc_error) err = {0};
    set_leads(m, false);
    if (kc__runnable_group_stop(&m->groups[KC_RUNNABLE_LEADER], stop_deadline(m)))
        return;
    kc_error_set(&err, KC_TIMEOUT, "timed out stopping the runnables of the leader");
    kc__manager_fail(m, "election", &err);
}

/* Runs the election, repeatedly if the manager survives losing the lease. */
static void run_election(void *user)
{
    kc_manager *m = user;
    for (;;) {
        kc_scoped(kc_error) err = {0};
        if (kc_election_run(m->election, m->election_stop, &err) == 0)
            return;
        if (!m->restart_on_lost_lease) {
            kc__manager_fail(m, "election", &err);
            return;
        }
        kc_log_warn(m->log, "lost the lease; re-entering election", kc_kv("err", &err));
    }
}

static int start_leading(kc_manager *m, kc_error *err)
{
    if (m->election) {
        m->election_thread = kc_thread_start("election", run_election, m, err);
        return m->election_thread ? 0 : kc_error_result(err);
    }
    if (kc__runnable_group_start(&m->groups[KC_RUNNABLE_LEADER], NULL, err) < 0)
        return kc_error_result(err);
    set_leads(m, true);
    return 0;
}

/* ---- start ---- */

static int serve_pages(kc_manager *m, kc__debug_server *pages, const char *address, kc_error *err)
{
    if (!address)
        return 0;
    return kc__debug_server_start(pages,
                                  &(kc__debug_server_opts){.address = address,
                                                           .client = m->live,
                                                           .no_local_trust = m->no_local_trust,
                                                           .clock = m->clock,
                                                           .log = m->log},
                                  err);
}

static int start_servers(kc_manager *m, kc_error *err)
{
    if (serve_pages(m, m->health_pages, m->health_address, err) < 0)
        return kc_error_result(err);
    return serve_pages(m, m->metrics_pages, m->metrics_address, err);
}

static int start_group(kc_manager *m, kc_runnable_group which, kc_error *err)
{
    const char *late = NULL;
    int64_t deadline = kc_clock_deadline(m->clock, 2 * KC_MINUTE);
    if (kc__runnable_group_start(&m->groups[which], NULL, err) < 0)
        return kc_error_result(err);
    if (kc__runnable_group_await_ready(&m->groups[which], deadline, m->stop, &late))
        return 0;
    if (kc_cancel_fired(m->stop))
        return failure_of(m, err);
    return kc_error_set(err, KC_TIMEOUT, "timed out waiting for %s to become ready", late);
}

static int start_caches(kc_manager *m, kc_error *err)
{
    int64_t deadline = kc_clock_deadline(m->clock, 2 * KC_MINUTE);
    if (kc_cache_start(m->cache, err) < 0 || start_group(m, KC_RUNNABLE_CACHES, err) < 0)
        return kc_error_result(err);
    if (kc_cache_wait_synced(m->cache, deadline, m->stop) || kc_cancel_fired(m->stop))
        return 0;
    return kc_error_set(err, KC_TIMEOUT, "timed out waiting for the caches to sync");
}

static int start_all(kc_manager *m, kc_error *err)
{
    /* Only programs handle signals; a simulation has none. */
    if (!m->no_signal_handlers && !kc_sim_current() &&
        !(m->signals = kc__manager_signals_catch(m->stop, err)))
        return kc_error_result(err);
    if (start_servers(m, err) < 0 || start_group(m, KC_RUNNABLE_SERVERS, err) < 0 ||
        start_group(m, KC_RUNNABLE_WEBHOOKS, err) < 0 || start_caches(m, err) < 0 ||
        start_group(m, KC_RUNNABLE_OTHERS, err) < 0 || start_group(m, KC_RUNNABLE_WARM_UP, err) < 0)
        return kc_error_result(err);
    return kc_cancel_fired(m->stop) ? 0 : start_leading(m, err);
}

int kc_manager_start(kc_manager *manager, kc_error *err)
{
    bool was_started = false;
    kc_locked (&manager->mutex) {
        was_started = manager->started;
        manager->started = true;
    }
    if (was_started)
        return kc_error_set(err, KC_CONFLICT, "the manager was already started");
    if (start_all(manager, err) == 0)
        return 0;
    kc_manager_stop(manager);
    kc_manager_wait(manager, NULL);
    return kc_error_result(err);
}

/* ---- stop ---- */

/* The election keeps renewing until the leader's runnables have stopped, and does not start them
 * again. */
static bool stop_leading(kc_manager *m, int64_t deadline)
{
    kc_locked (&m->mutex)
        m->stopping = true;
    return kc__runnable_group_stop(&m->groups[KC_RUNNABLE_LEADER], deadline);
}

static void stop_election(kc_manager *m)
{
    kc_cancel_fire(m->election_stop);
    m->election_thread = kc_thread_join(m->election_thread);
    set_leads(m, false);
}

/* Parts that have not started are skipped. */
static bool stop_all(kc_manager *m)
{
    int64_t deadline = stop_deadline(m);
    bool all = kc__runnable_group_stop(&m->groups[KC_RUNNABLE_OTHERS], deadline);
    all = stop_leading(m, deadline) && all;
    all = kc__runnable_group_stop(&m->groups[KC_RUNNABLE_WARM_UP], deadline) && all;
    all = kc__runnable_group_stop(&m->groups[KC_RUNNABLE_CACHES], deadline) && all;
    kc_cache_stop(m->cache);
    all = kc__runnable_group_stop(&m->groups[KC_RUNNABLE_WEBHOOKS], deadline) && all;
    all = kc__runnable_group_stop(&m->groups[KC_RUNNABLE_SERVERS], deadline) && all;
    kc__debug_server_stop(m->health_pages);
    kc__debug_server_stop(m->metrics_pages);
    stop_election(m);
    if (all) /* Otherwise a part that still runs may use it. */
        m->recorder = kc_recorder_stop(m->recorder,
                                       KC_MIN(deadline, kc_clock_deadline(m->clock, LAST_EVENTS)));
    m->signals = kc__manager_signals_release(m->signals);
    return all;
}

int kc_manager_wait(kc_manager *manager, kc_error *err)
{
    kc_cancel_sleep_until(manager->stop, manager->clock, KC_FOREVER);
    bool all = stop_all(manager);
    kc_locked (&manager->mutex)
        manager->started = false;
    int failed = failure_of(manager, err);
    if (failed < 0 || all)
        return failed;
    return kc_error_set(err, KC_TIMEOUT, "timed out stopping the runnables");
}

int kc_manager_run(kc_manager *manager, kc_error *err)
{
    return kc_manager_start(manager, err) < 0 ? kc_error_result(err)
                                              : kc_manager_wait(manager, err);
}
