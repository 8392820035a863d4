/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runnable_group.h: runnables that are started together and stopped together.
 *
 *     kc__runnable_group_add(&m->others, &runnable, NULL, free_user, err);   before or after start
 *     kc__runnable_group_start(&m->others, stop, err);
 *     kc__runnable_group_stop(&m->others, deadline);
 *
 * Each member runs on its own thread, or is parked (kc_runnable): controllers are.
 *
 * A group may be started again after it was stopped. One thread at a time starts and stops it; any
 * thread may add members.
 */
#ifndef KC_RUNTIME_MANAGER_RUNNABLE_GROUP_H
#define KC_RUNTIME_MANAGER_RUNNABLE_GROUP_H

#include "kc/manager.h"

typedef struct kc__runnable_group {
    const kc_clock *clock;
    /* A member failed: called once per member, on its thread. */
    void (*failed)(const char *name, kc_error *err, void *user);
    void *user;

    kc_mutex mutex; /* Guards the fields below. Held while threads are started, never while one is
                       awaited. */
    kc_cond ended;  /* A member has returned. */
    kc_dlist members;
    kc_cancel *stop;    /* NULL while it is stopped. */
    size_t running;     /* Including parked ones. */
    kc_thread *stopper; /* Ends the parked ones. */
} kc__runnable_group;

void kc__runnable_group_init(kc__runnable_group *group, const kc_clock *clock,
                             void (*failed)(const char *name, kc_error *err, void *user),
                             void *user);
/* Blocks until all of its threads have ended. */
void kc__runnable_group_done(kc__runnable_group *group);

/* Copies the runnable. `free_user` (may be NULL) is called with its user when the member is
 * freed. */
int kc__runnable_group_add(kc__runnable_group *group, const kc_runnable *runnable,
                           void (*free_user)(void *user), kc_error *err);
/* Stops the member with this user and removes it. Blocks until it has returned. */
void kc__runnable_group_remove(kc__runnable_group *group, const void *user);

/* Starts all members; they also stop when `parent` fires. */
int kc__runnable_group_start(kc__runnable_group *group, kc_cancel *parent, kc_error *err);
/* Waits until each member is ready. False at the deadline or when cancelled; then `ret_name` is a
 * member that is not ready. */
bool kc__runnable_group_await_ready(kc__runnable_group *group, int64_t deadline, kc_cancel *cancel,
                                    const char **ret_name);
/* Tells all members to stop and waits for them. False at the deadline: some still run. */
bool kc__runnable_group_stop(kc__runnable_group *group, int64_t deadline);

#endif
