/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manager_run.c: the order in which a manager's parts start and stop.
 *
 *     start:  servers ─▶ webhooks ─▶ caches, synced ─▶ others ─▶ warm-up ─▶ elected ─▶ leader
 *     stop:   others ─▶ leader ─▶ warm-up ─▶ caches ─▶ webhooks ─▶ servers ─▶ election ─▶ recorder
 *
 * The lease is given back only when what leads has stopped, so that two never lead; events are sent
 * last, so that what happened while stopping is told. All of stopping shares one deadline.
 *
 * Losing the lease: what leads is stopped by the election's thread. Then the manager ends with an
 * error, or, told to outlive it, stands for election again.
 */
#include "runtime/manager_internal.h"

#include "kc/sim.h"

/* For events that still wait when all else has stopped: nobody wants to wait for thousands. */
#define LAST_EVENTS (5 * KC_SECOND)

/* ---- failing and stopping ---- */

void kc__manager_fail(kc_manager *manager, const char *name, kc_error *err)
{
    kc_log_error(manager->log, "failed", kc_kv("part", name), kc_kv("error", err));
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

/* ---- leading ---- */

static void set_leads(kc_manager *m, bool leads)
{
    kc_locked (&m->mutex) {
        m->leads = leads;
        kc_cond_broadcast(&m->changed);
    }
}

bool kc_manager_leads(const kc_manager *manager)
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

void kc__manager_led(void *manager)
{
    kc_manager *m = manager;
    kc_scoped(kc_error) err = {0};
    int started = 0;
    kc_locked (&m->mutex) {
        if (m->stopping)
            break;
        started = kc__group_start(&m->groups[KC_GROUP_LEADER], NULL, &err);
        m->leads = true;
        kc_cond_broadcast(&m->changed);
    }
    if (started < 0)
        kc__manager_fail(m, "leader", &err);
}

void kc__manager_lost(void *manager)
{
    kc_manager *m = manager;
    kc_scoped(kc_error) err = {0};
    set_leads(m, false);
    if (kc__group_stop(&m->groups[KC_GROUP_LEADER], stop_deadline(m)))
        return;
    kc_error_set(&err, KC_TIMEOUT, "what leads did not stop in time");
    kc__manager_fail(m, "election", &err);
}

/* Stands and leads, again and again if it may lose. */
static void run_election(void *user)
{
    kc_manager *m = user;
    for (;;) {
        kc_scoped(kc_error) err = {0};
        if (kc_election_run(m->election, m->election_stop, &err) == 0)
            return;
        if (!m->outlive_leadership) {
            kc__manager_fail(m, "election", &err);
            return;
        }
        kc_log_warn(m->log, "leadership lost, standing again", kc_kv("error", &err));
    }
}

static int start_leading(kc_manager *m, kc_error *err)
{
    if (m->election) {
        m->election_thread = kc_thread_start("election", run_election, m, err);
        return m->election_thread ? 0 : -1;
    }
    if (kc__group_start(&m->groups[KC_GROUP_LEADER], NULL, err) < 0)
        return -1;
    set_leads(m, true);
    return 0;
}

/* ---- starting ---- */

static int start_servers(kc_manager *m, kc_error *err)
{
    if (m->health_address && kc__site_serve(m->health_pages, m->health_address, m->log, err) < 0)
        return -1;
    if (m->metrics_address && kc__site_serve(m->metrics_pages, m->metrics_address, m->log, err) < 0)
        return -1;
    return 0;
}

static int start_group(kc_manager *m, kc_run_group which, kc_error *err)
{
    const char *late = NULL;
    int64_t deadline = kc_clock_deadline(m->clock, 2 * KC_MINUTE);
    if (kc__group_start(&m->groups[which], NULL, err) < 0)
        return -1;
    if (kc__group_await_ready(&m->groups[which], deadline, m->stop, &late))
        return 0;
    if (kc_cancel_fired(m->stop))
        return failure_of(m, err);
    return kc_error_set(err, KC_TIMEOUT, "%s was not ready in time", late);
}

static int start_caches(kc_manager *m, kc_error *err)
{
    int64_t deadline = kc_clock_deadline(m->clock, 2 * KC_MINUTE);
    if (kc_cache_start(m->cache, err) < 0 || start_group(m, KC_GROUP_CACHES, err) < 0)
        return -1;
    if (kc_cache_wait_synced(m->cache, deadline, m->stop) || kc_cancel_fired(m->stop))
        return 0;
    return kc_error_set(err, KC_TIMEOUT, "the caches were not synced in time");
}

static int start_all(kc_manager *m, kc_error *err)
{
    /* Signals belong to programs; a simulation has none. */
    if (!m->leave_signals && !kc_sim_current() && !(m->signals = kc__signals_catch(m->stop, err)))
        return -1;
    if (start_servers(m, err) < 0 || start_group(m, KC_GROUP_SERVERS, err) < 0 ||
        start_group(m, KC_GROUP_WEBHOOKS, err) < 0 || start_caches(m, err) < 0 ||
        start_group(m, KC_GROUP_OTHERS, err) < 0 || start_group(m, KC_GROUP_WARM_UP, err) < 0)
        return -1;
    return kc_cancel_fired(m->stop) ? 0 : start_leading(m, err);
}

int kc_manager_start(kc_manager *manager, kc_error *err)
{
    bool again = false;
    kc_locked (&manager->mutex) {
        again = manager->started;
        manager->started = true;
    }
    if (again)
        return kc_error_set(err, KC_CONFLICT, "a manager is started once");
    if (start_all(manager, err) == 0)
        return 0;
    kc_manager_stop(manager);
    kc_manager_wait(manager, NULL);
    return -1;
}

/* ---- stopping ---- */

/* The election goes on until what leads has stopped, and starts it no more. */
static bool stop_leading(kc_manager *m, int64_t deadline)
{
    kc_locked (&m->mutex)
        m->stopping = true;
    return kc__group_stop(&m->groups[KC_GROUP_LEADER], deadline);
}

static void stop_election(kc_manager *m)
{
    kc_cancel_fire(m->election_stop);
    m->election_thread = kc_thread_join(m->election_thread);
    set_leads(m, false);
}

/* Whatever has not started has nothing to stop. */
static bool stop_all(kc_manager *m)
{
    int64_t deadline = stop_deadline(m);
    bool all = kc__group_stop(&m->groups[KC_GROUP_OTHERS], deadline);
    all = stop_leading(m, deadline) && all;
    all = kc__group_stop(&m->groups[KC_GROUP_WARM_UP], deadline) && all;
    all = kc__group_stop(&m->groups[KC_GROUP_CACHES], deadline) && all;
    kc_cache_stop(m->cache);
    all = kc__group_stop(&m->groups[KC_GROUP_WEBHOOKS], deadline) && all;
    all = kc__group_stop(&m->groups[KC_GROUP_SERVERS], deadline) && all;
    kc__site_stop(m->health_pages);
    kc__site_stop(m->metrics_pages);
    stop_election(m);
    if (all) /* Else somebody may still use it. */
        m->recorder = kc_recorder_stop(m->recorder,
                                       KC_MIN(deadline, kc_clock_deadline(m->clock, LAST_EVENTS)));
    m->signals = kc__signals_release(m->signals);
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
    return kc_error_set(err, KC_TIMEOUT, "not everything stopped in time");
}

int kc_manager_run(kc_manager *manager, kc_error *err)
{
    return kc_manager_start(manager, err) < 0 ? -1 : kc_manager_wait(manager, err);
}
