/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_table.c: the table of pod records, by uid (the runtime knows no names) and by key (the
 * controller knows no uids).
 *
 * A key has one worker at a time, which uses the record of its key without a lock; the tables have
 * one.
 */
#include "pods/pods.h"

#include "common/indexes.h"

#include "kc/kinds.h"

#include <stdio.h>

/* ---- lookup ---- */

kc__pod_record *kc__pods_find(kc__pods *pods, kc_key key)
{
    kc_scoped(kc_buf) text = {0};
    kc__pod_record *state = NULL;
    kc_key_write(&text, key);
    kc_locked (&pods->mutex)
        state = kc_map_get(&pods->by_key, kc_buf_str(&text));
    return state;
}

void kc__pods_wake(kc__pods *pods, kc_str uid)
{
    kc_autofree char *ns = NULL, *name = NULL;
    kc_locked (&pods->mutex) {
        const kc__pod_record *state = kc_map_get(&pods->by_uid, uid);
        ns = state ? kc_strdup(state->ns) : NULL;
        name = state ? kc_strdup(state->name) : NULL;
    }
    if (!name)
        return;
    kc_locked (&pods->wake_mutex)
        if (pods->queue)
            kc_queue_add_with(pods->queue, KC_KEY(ns, name),
                              &(kc_queue_add_opts){
                                  .cause = &(kc_queue_cause){.reason = KC_QUEUE_REASON_GENERIC}});
}

/* ---- addresses ---- */

/* 10.0.0.1 and up, skipping addresses in use; needs the lock. */
static void assign_address(kc__pods *pods, kc__pod_record *state)
{
    do {
        const uint32_t n = ++pods->next_address & 0xffffff;
        if ((n & 255) == 0 || (n & 255) == 255)
            continue;
        snprintf(state->ip, sizeof(state->ip), "10.%u.%u.%u", n >> 16 & 255, n >> 8 & 255, n & 255);
    } while (!*state->ip || kc_map_get(&pods->addresses, kc_cstr(state->ip)));
}

/* Addresses of resumed pods are reserved first: see kc__pods_resume. */
static void keep_address(kc__pods *pods, kc__pod_record *state)
{
    if (pods->opts.mode == KC_PODS_SIMULATE && *state->ip &&
        strcmp(state->ip, state->node->ip) != 0)
        kc_map_put(&pods->addresses, kc_cstr(state->ip), state);
}

void kc__pods_address(kc__pods *pods, const kc_pod *pod, kc__pod_record *state)
{
    if (*state->ip)
        return;
    if (pods->opts.mode != KC_PODS_SIMULATE || pod->spec.host_network)
        snprintf(state->ip, sizeof(state->ip), "%s", state->node->ip);
    else
        kc_locked (&pods->mutex) {
            assign_address(pods, state);
            keep_address(pods, state);
        }
}

/* ---- add and remove ---- */

kc__pod_record *kc__pods_persist(kc__pods *pods, const kc_pod *pod, kc__pods_node *node)
{
    kc__pod_record *state = kc__pod_record_new(pod);
    state->node = node;
    kc__pod_record_resume(state, pod, pods->runtime);
    kc_locked (&pods->mutex) {
        keep_address(pods, state);
        kc_map_put(&pods->by_uid, kc_cstr(state->uid), state);
        kc_map_put(&pods->by_key, kc_cstr(state->key), state);
    }
    kc__pods_add_references(pods, pod, state);
    if (state->start_time || state->prepared) { /* An earlier process has admitted it. */
        kc__pods_account(pods, pod, state);
        state->admitted = true;
    }
    return state;
}

void kc__pods_forget(kc__pods *pods, kc__pod_record *state)
{
    kc__pods_release(pods, state);
    kc__pods_remove_references(pods, state);
    kc_locked (&pods->mutex) {
        kc_map_remove(&pods->by_key, kc_cstr(state->key));
        kc_map_remove(&pods->by_uid, kc_cstr(state->uid));
        if (kc_map_get(&pods->addresses, kc_cstr(state->ip)) == state)
            kc_map_remove(&pods->addresses, kc_cstr(state->ip));
    }
    pods->runtime->ops->remove(pods->runtime, kc_cstr(state->uid));
    kc__pod_record_free(state);
}

/* ---- resume ---- */

static bool take_up_node(kc__pods *pods, kc__pods_node *node)
{
    kc_scoped(kc_pod_list) list = {0};
    const kc_list_opts which = {.index = KC__COMMON_INDEX_NODE, .value = node->name};
    kc_scoped(kc_error) err = {0};
    if (kc_pod_lister_list(pods->cache, &which, &list, &err) < 0) {
        kc_log_error(pods->log, "failed to load the pods of a node", kc_kv("node", node->name),
                     kc_kv("err", &err));
        return false;
    }
    for (size_t i = 0; i < list.n; i++)
        kc__pods_persist(pods, list.items[i], node);
    return true;
}

typedef struct orphaned_pods {
    kc__pods *pods;
    KC_VEC(char *) uids;
} orphaned_pods;

static void note_orphaned(kc_str uid, void *user)
{
    orphaned_pods *s = user;
    bool known = false;
    kc_locked (&s->pods->mutex)
        known = kc_map_get(&s->pods->by_uid, uid);
    if (!known)
        kc_vec_push(&s->uids, kc_str_dup(uid));
}

/* Removes pods that the runtime has and the server does not. */
static void remove_orphaned(kc__pods *pods)
{
    orphaned_pods s = {.pods = pods};
    pods->runtime->ops->each(pods->runtime, note_orphaned, &s);
    kc_vec_each (&s.uids, uid) {
        pods->runtime->ops->remove(pods->runtime, kc_cstr(*uid));
        free(*uid);
    }
    kc_vec_done(&s.uids);
}

void kc__pods_resume(kc__pods *pods)
{
    bool mine = false;
    kc_locked (&pods->mutex) {
        mine = !pods->taken_up && !pods->taking_up;
        pods->taking_up = true;
        while (!mine && !pods->taken_up)
            kc_cond_wait_until(&pods->taken, &pods->mutex, pods->clock, KC_FOREVER);
    }
    if (!mine)
        return;
    bool all = true;
    for (size_t i = 0; i < pods->nodes->n; i++)
        all = take_up_node(pods, &pods->nodes->items[i]) && all;
    if (all) /* Otherwise a pod that is missing from the cache might be removed. */
        remove_orphaned(pods);
    kc_locked (&pods->mutex) {
        pods->taken_up = true;
        kc_cond_broadcast(&pods->taken);
    }
}

/* ---- queue ---- */

static int source_start(void *user, kc_queue *queue, kc_error *err)
{
    (void)err;
    kc__pods *pods = user;
    kc_locked (&pods->wake_mutex)
        pods->queue = queue;
    return 0;
}

static void source_stop(void *user)
{
    kc__pods *pods = user;
    kc_locked (&pods->wake_mutex)
        pods->queue = NULL;
}

static const kc_source_ops source_ops = {.start = source_start, .stop = source_stop};

kc_source *kc__pods_wake_source(kc__pods *pods)
{
    return kc_source_new(&source_ops, pods);
}
