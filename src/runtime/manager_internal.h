/* SPDX-License-Identifier: Apache-2.0 */
/* manager_internal.h: a manager inside, for manager.c, which makes it, and manager_run.c, which
 * runs it. */
#ifndef KC_RUNTIME_MANAGER_INTERNAL_H
#define KC_RUNTIME_MANAGER_INTERNAL_H

#include "kc/controller.h"
#include "kc/manager.h"
#include "runtime/group.h"
#include "runtime/signals.h"
#include "runtime/site.h"

enum { KC__GROUPS = KC_GROUP_LEADER + 1 };

/* Something to be freed with it. */
typedef struct kc__kept {
    void *state;
    void (*free_it)(void *state);
} kc__kept;

struct kc_manager {
    char *name;
    const kc_clock *clock;
    kc_rand rand;
    kc_log *log;
    bool owns_metrics;
    kc_metrics *metrics;
    kc_client *live;   /* Reads and writes at the server. */
    kc_client *cached; /* Reads from the cache. */
    kc_client *fenced; /* The same, and writes only while we lead. */
    kc_cache *cache;
    kc_recorder *recorder;
    kc_election *election; /* NULL: we always lead. */
    bool outlive_leadership, leave_signals;
    int64_t grace;
    char *health_address, *metrics_address;
    kc__site *health_pages, *metrics_pages;

    kc__group groups[KC__GROUPS];
    kc__signals *signals;
    kc_cancel *stop;          /* Fired: it is to stop. */
    kc_cancel *election_stop; /* Fired when what leads has stopped. */
    kc_thread *election_thread;

    kc_mutex mutex; /* Guards what follows. */
    kc_cond changed;
    KC_VEC(kc_controller *) controllers; /* For their names and pages; their groups own them. */
    KC_VEC(kc__kept) kept;
    bool started, stopping, leads;
    kc_error failure; /* The first. */
};

/* Something failed: the manager stops, and kc_manager_run returns this. The error is moved. */
void kc__manager_fail(kc_manager *manager, const char *name, kc_error *err);

/* The election's callbacks; the manager is their user. */
void kc__manager_led(void *manager);
void kc__manager_lost(void *manager);

#endif
