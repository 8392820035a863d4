/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runnable_group.c: runs runnables on their own threads, or parked without one.
 *
 * A member's thread is joined when the group is started again or freed; until then a member that
 * has returned is only counted. Stopping with a deadline therefore needs no way to kill a thread:
 * it stops waiting, and returns false.
 *
 * One thread ends the parked members one after the other: all their tokens have fired, so that they
 * wind down at the same time.
 */
#include "runtime/manager/runnable_group.h"

#include <assert.h>

typedef struct runnable_group_member {
    kc_dlist_link link;
    kc__runnable_group *group;
    kc_runnable what; /* Owns its name. */
    void (*free_user)(void *user);
    kc_cancel *stop; /* A child of the group's token. */
    kc_thread *thread;
    /* Guarded by the group's mutex. */
    bool running;
    bool parked;
} runnable_group_member;

void kc__runnable_group_init(kc__runnable_group *group, const kc_clock *clock,
                             void (*failed)(const char *name, kc_error *err, void *user),
                             void *user)
{
    *group = (kc__runnable_group){.clock = clock, .failed = failed, .user = user};
    kc_mutex_init(&group->mutex);
    kc_cond_init(&group->ended);
    kc_dlist_init(&group->members);
}

static void count_out(runnable_group_member *m)
{
    kc__runnable_group *group = m->group;
    kc_locked (&group->mutex) {
        m->running = false;
        group->running--;
        kc_cond_broadcast(&group->ended);
    }
}

/* False if a stop was requested before: then the caller must end it. */
static bool park(runnable_group_member *m)
{
    bool parked = false;
    kc_locked (&m->group->mutex)
        parked = m->parked = !kc_cancel_fired(m->stop);
    return parked;
}

static void run_member(void *user)
{
    runnable_group_member *m = user;
    kc__runnable_group *group = m->group;
    kc_scoped(kc_error) err = {0};
    const int result = m->what.run(m->stop, m->what.user, &err);
    if (result == KC_RUN_PARKED && m->what.end) {
        if (park(m))
            return;
        m->what.end(m->what.user);
    } else if (result < 0 && group->failed) {
        group->failed(m->what.name, &err, group->user);
    }
    count_out(m);
}

/* A parked member, which the caller must end; NULL if there is none. */
static runnable_group_member *take_parked(kc__runnable_group *group)
{
    runnable_group_member *found = NULL;
    kc_locked (&group->mutex)
        kc_dlist_each (&group->members, runnable_group_member, link, m)
            if (m->parked && !found) {
                found = m;
                m->parked = false;
            }
    return found;
}

static void end_parked(void *user)
{
    for (runnable_group_member *m; (m = take_parked(user));) {
        m->what.end(m->what.user);
        count_out(m);
    }
}

/* With the mutex held; the previous run, if any, must have ended. */
static int start_member(runnable_group_member *m, kc_error *err)
{
    kc__runnable_group *group = m->group;
    m->thread = kc_thread_join(m->thread);
    kc_cancel_unref(m->stop);
    m->stop = kc_cancel_new(group->stop);
    m->thread = kc_thread_start(m->what.name, run_member, m, err);
    if (!m->thread)
        return kc_error_result(err);
    m->running = true;
    group->running++;
    return 0;
}

static void member_free(runnable_group_member *m)
{
    kc_thread_join(m->thread);
    kc_dlist_remove(&m->link);
    kc_cancel_unref(m->stop);
    if (m->free_user)
        m->free_user(m->what.user);
    free((char *)m->what.name);
    free(m);
}

void kc__runnable_group_done(kc__runnable_group *group)
{
    kc__runnable_group_stop(group, KC_FOREVER);
    group->stopper = kc_thread_join(group->stopper);
    kc_dlist_each (&group->members, runnable_group_member, link, m)
        member_free(m);
    kc_cond_done(&group->ended);
    kc_mutex_done(&group->mutex);
}

int kc__runnable_group_add(kc__runnable_group *group, const kc_runnable *runnable,
                           void (*free_user)(void *user), kc_error *err)
{
    runnable_group_member *m = kc_new(runnable_group_member);
    m->group = group;
    m->what = *runnable;
    m->what.name = kc_strdup(runnable->name ? runnable->name : "runnable");
    m->free_user = free_user;
    int added = 0;
    kc_locked (&group->mutex) {
        kc_dlist_push(&group->members, &m->link);
        if (group->stop)
            added = start_member(m, err);
        if (added < 0)
            kc_dlist_remove(&m->link);
    }
    if (added < 0) {
        m->free_user = NULL;
        member_free(m);
    }
    return added;
}

static runnable_group_member *runnable_group_find(kc__runnable_group *group, const void *user)
{
    kc_dlist_each (&group->members, runnable_group_member, link, m)
        if (m->what.user == user)
            return m;
    return NULL;
}

void kc__runnable_group_remove(kc__runnable_group *group, const void *user)
{
    runnable_group_member *m = NULL;
    bool parked = false;
    kc_locked (&group->mutex) {
        m = runnable_group_find(group, user);
        if (!m)
            break;
        kc_dlist_remove(&m->link);
        kc_cancel_fire(m->stop);
        parked = m->parked;
        m->parked = false;
    }
    if (parked) {
        m->what.end(m->what.user);
        count_out(m);
    }
    kc_locked (&group->mutex) {
        while (m && m->running)
            kc_cond_wait_until(&group->ended, &group->mutex, group->clock, KC_FOREVER);
    }
    if (m)
        member_free(m);
}

int kc__runnable_group_start(kc__runnable_group *group, kc_cancel *parent, kc_error *err)
{
    int started = 0;
    kc_locked (&group->mutex) {
        assert(!group->stop);
        group->stop = kc_cancel_new(parent);
        kc_dlist_each (&group->members, runnable_group_member, link, m) {
            assert(!m->running);
            started = start_member(m, err);
            if (started < 0)
                break;
        }
    }
    return started;
}

static const char *not_ready(kc__runnable_group *group)
{
    const char *name = NULL;
    kc_locked (&group->mutex)
        kc_dlist_each (&group->members, runnable_group_member, link, m)
            if (m->running && m->what.ready && !m->what.ready(m->what.user))
                name = m->what.name;
    return name;
}

bool kc__runnable_group_await_ready(kc__runnable_group *group, int64_t deadline, kc_cancel *cancel,
                                    const char **ret_name)
{
    for (const char *name; (name = not_ready(group));) {
        int64_t next = kc_clock_deadline(group->clock, 10 * KC_MILLISECOND);
        if (next > deadline || !kc_cancel_sleep_until(cancel, group->clock, next)) {
            *ret_name = name;
            return false;
        }
    }
    return true;
}

static bool has_parked(kc__runnable_group *group)
{
    bool has = false;
    kc_locked (&group->mutex)
        kc_dlist_each (&group->members, runnable_group_member, link, m)
            has = has || m->parked;
    return has;
}

/* On a thread, because stopping has a deadline. */
static void start_stopper(kc__runnable_group *group)
{
    if (!has_parked(group))
        return;
    kc_thread_join(group->stopper); /* From the last stop, in which all members ended. */
    group->stopper = kc_thread_start("kc-stop", end_parked, group, NULL);
    if (!group->stopper)
        end_parked(group);
}

bool kc__runnable_group_stop(kc__runnable_group *group, int64_t deadline)
{
    bool all = true;
    kc_cancel *stop = NULL;
    kc_locked (&group->mutex)
        stop = kc_take(group->stop);
    kc_cancel_fire(stop);
    kc_cancel_unref(stop);
    start_stopper(group);
    kc_locked (&group->mutex) {
        while (group->running &&
               kc_cond_wait_until(&group->ended, &group->mutex, group->clock, deadline))
            ;
        all = group->running == 0;
    }
    return all;
}
