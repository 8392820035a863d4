/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manager_internal.h: the internals of a manager, for manager.c, which creates it, and
 * manager_run.c, which runs it.
 */
#ifndef KC_RUNTIME_MANAGER_INTERNAL_H
#define KC_RUNTIME_MANAGER_INTERNAL_H

#include "kc/controller.h"
#include "kc/manager.h"
#include "runtime/debug/debug_server.h"
#include "runtime/manager/runnable_group.h"
#include "runtime/manager/signals.h"

enum { KC__MANAGER_GROUPS = KC_RUNNABLE_LEADER + 1 };

/* Something that is freed with the manager. */
typedef struct kc__manager_deferred {
    void *state;
    void (*free_it)(void *state);
} kc__manager_deferred;

struct kc_manager {
    char *name;
    const kc_clock *clock;
    kc_rand rand;
    kc_log *log;
    bool owns_metrics;
    kc_metrics *metrics;
    kc_client *live;            /* Reads and writes at the server. */
    kc_client *cached;          /* Reads from the cache. */
    kc_client *fenced;          /* Like `cached`, but writes only while this process leads. */
    KC_VEC(kc_client *) acting; /* Of controllers that act as another user. */
    kc_cache *cache;
    kc_recorder *recorder;
    kc_crash_journal *crash_journal; /* Owned by the caller; NULL: none. */
    struct kc__quarantine *quarantine;
    kc_election *election; /* NULL: always leader. */
    bool restart_on_lost_lease, no_signal_handlers;
    int64_t grace;
    char *health_address, *metrics_address;
    bool no_local_trust;
    kc__debug_server *health_pages, *metrics_pages;

    kc__runnable_group groups[KC__MANAGER_GROUPS];
    kc__manager_signals *signals;
    kc_cancel *stop;          /* Fired: the manager must stop. */
    kc_cancel *election_stop; /* Fired when the leader's runnables have stopped. */
    kc_thread *election_thread;

    kc_mutex mutex; /* Guards the fields below. */
    kc_cond changed;
    KC_VEC(kc_controller *) controllers; /* For names and debug pages; the groups own them. */
    KC_VEC(kc__manager_deferred) kept;
    bool started, stopping, leads;
    kc_error failure; /* The first failure. */
};

/* Something failed: the manager stops, and kc_manager_run returns this error, which is moved. */
void kc__manager_fail(kc_manager *manager, const char *name, kc_error *err);

/* Callbacks of the election; `user` is the manager. */
void kc__manager_on_started_leading(void *manager);
void kc__manager_on_stopped_leading(void *manager);

#endif
