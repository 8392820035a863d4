/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.c: runnables on threads of their own.
 *
 * A member's thread is joined when the group is started anew, or freed; until then a member that
 * has returned is only counted out. So stopping with a deadline needs no way to kill a thread: it
 * gives up waiting, and says so.
 */
#include "runtime/group.h"

#include <assert.h>

typedef struct member {
    kc_link link;
    kc__group *group;
    kc_runnable what; /* The name is its own. */
    void (*free_user)(void *user);
    kc_cancel *stop; /* A child of the group's. */
    kc_thread *thread;
    bool running; /* With the group's mutex. */
} member;

void kc__group_init(kc__group *group, const kc_clock *clock,
                    void (*failed)(const char *name, kc_error *err, void *user), void *user)
{
    *group = (kc__group){.clock = clock, .failed = failed, .user = user};
    kc_mutex_init(&group->mutex);
    kc_cond_init(&group->ended);
    kc_list_init(&group->members);
}

static void run_member(void *user)
{
    member *m = user;
    kc__group *group = m->group;
    kc_scoped(kc_error) err = {0};
    if (m->what.run(m->stop, m->what.user, &err) < 0 && group->failed)
        group->failed(m->what.name, &err, group->user);
    kc_locked (&group->mutex) {
        m->running = false;
        group->running--;
        kc_cond_broadcast(&group->ended);
    }
}

/* With the mutex held; the last run, if any, has ended. */
static int start_member(member *m, kc_error *err)
{
    kc__group *group = m->group;
    m->thread = kc_thread_join(m->thread);
    kc_cancel_unref(m->stop);
    m->stop = kc_cancel_new(group->stop);
    m->thread = kc_thread_start(m->what.name, run_member, m, err);
    if (!m->thread)
        return -1;
    m->running = true;
    group->running++;
    return 0;
}

static void member_free(member *m)
{
    kc_thread_join(m->thread);
    kc_list_remove(&m->link);
    kc_cancel_unref(m->stop);
    if (m->free_user)
        m->free_user(m->what.user);
    free((char *)m->what.name);
    free(m);
}

void kc__group_done(kc__group *group)
{
    kc__group_stop(group, KC_FOREVER);
    kc_list_each (&group->members, member, link, m)
        member_free(m);
    kc_cond_done(&group->ended);
    kc_mutex_done(&group->mutex);
}

int kc__group_add(kc__group *group, const kc_runnable *runnable, void (*free_user)(void *user),
                  kc_error *err)
{
    member *m = kc_new(member);
    m->group = group;
    m->what = *runnable;
    m->what.name = kc_strdup(runnable->name ? runnable->name : "runnable");
    m->free_user = free_user;
    int added = 0;
    kc_locked (&group->mutex) {
        kc_list_push(&group->members, &m->link);
        if (group->stop)
            added = start_member(m, err);
        if (added < 0)
            kc_list_remove(&m->link);
    }
    if (added < 0) {
        m->free_user = NULL;
        member_free(m);
    }
    return added;
}

static member *find(kc__group *group, const void *user)
{
    kc_list_each (&group->members, member, link, m)
        if (m->what.user == user)
            return m;
    return NULL;
}

void kc__group_remove(kc__group *group, const void *user)
{
    member *m = NULL;
    kc_locked (&group->mutex) {
        m = find(group, user);
        if (!m)
            break;
        kc_list_remove(&m->link);
        kc_cancel_fire(m->stop);
        while (m->running)
            kc_cond_wait_until(&group->ended, &group->mutex, group->clock, KC_FOREVER);
    }
    if (m)
        member_free(m);
}

int kc__group_start(kc__group *group, kc_cancel *parent, kc_error *err)
{
    int started = 0;
    kc_locked (&group->mutex) {
        assert(!group->stop);
        group->stop = kc_cancel_new(parent);
        kc_list_each (&group->members, member, link, m) {
            assert(!m->running);
            started = start_member(m, err);
            if (started < 0)
                break;
        }
    }
    return started;
}

static const char *not_ready(kc__group *group)
{
    const char *name = NULL;
    kc_locked (&group->mutex)
        kc_list_each (&group->members, member, link, m)
            if (m->running && m->what.ready && !m->what.ready(m->what.user))
                name = m->what.name;
    return name;
}

bool kc__group_await_ready(kc__group *group, int64_t deadline, kc_cancel *cancel,
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

bool kc__group_stop(kc__group *group, int64_t deadline)
{
    bool all = true;
    kc_cancel *stop = NULL;
    kc_locked (&group->mutex)
        stop = kc_take(group->stop);
    kc_cancel_fire(stop);
    kc_cancel_unref(stop);
    kc_locked (&group->mutex) {
        while (group->running &&
               kc_cond_wait_until(&group->ended, &group->mutex, group->clock, deadline))
            ;
        all = group->running == 0;
    }
    return all;
}
