/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.h: things that run together: started together, stopped together, each on a thread of its
 * own.
 *
 *     kc__group_add(&m->others, &runnable, err);      before it is started, or while it runs
 *     kc__group_start(&m->others, stop, err);
 *     kc__group_stop(&m->others, deadline);
 *
 * A group may be started again after it was stopped. Whoever starts and stops it does that on one
 * thread at a time; adding is for any thread.
 */
#ifndef KC_RUNTIME_GROUP_H
#define KC_RUNTIME_GROUP_H

#include "kc/manager.h"

typedef struct kc__group {
    const kc_clock *clock;
    /* One of them failed: once for each, on its thread. */
    void (*failed)(const char *name, kc_error *err, void *user);
    void *user;

    kc_mutex mutex; /* Guards what follows. Held while threads are started, never while one is
                       awaited. */
    kc_cond ended;  /* One of them has returned. */
    kc_list members;
    kc_cancel *stop; /* NULL while it is stopped. */
    size_t running;
} kc__group;

void kc__group_init(kc__group *group, const kc_clock *clock,
                    void (*failed)(const char *name, kc_error *err, void *user), void *user);
/* Blocks until all of its threads have ended. */
void kc__group_done(kc__group *group);

/* Copied. `free_user` (may be NULL) is called with its user at the end. */
int kc__group_add(kc__group *group, const kc_runnable *runnable, void (*free_user)(void *user),
                  kc_error *err);
/* Stops the one with this user and takes it out. Blocks until it has returned. */
void kc__group_remove(kc__group *group, const void *user);

/* Starts all; they stop with `parent` too. */
int kc__group_start(kc__group *group, kc_cancel *parent, kc_error *err);
/* Until each of them says that it is ready. False at the deadline or when cancelled; then
 * `ret_name` is one that is not. */
bool kc__group_await_ready(kc__group *group, int64_t deadline, kc_cancel *cancel,
                           const char **ret_name);
/* Tells all to stop and waits until they have. False at the deadline: some still run. */
bool kc__group_stop(kc__group *group, int64_t deadline);

#endif
